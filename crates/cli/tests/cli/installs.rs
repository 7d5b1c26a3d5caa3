//! Installing what a registry lists.

use serde_json::{Value, json};

use crate::program::Folder;
use crate::registry::{Listed, active, notes};

const NAME: &str = "io.github.alice/notes";

#[test]
fn a_package_is_set_up_with_its_version_and_in_a_sandbox() {
    let folder = Folder::with_config("{}");
    let listed = Listed::of(vec![notes(active())]);
    let ended = listed.run(&folder, &["install", NAME, "--yes"]);
    let choice = ended.error(2).1;
    assert!(choice.contains("--package 1 (npm @alice/notes)") && choice.contains("--remote=1"), "{choice}");
    let ended = listed.run(&folder, &["install", NAME, "--package", "1", "--yes"]);
    assert!(ended.error(2).1.contains("NOTES_KEY: a value is required"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null, "nothing is added so far");
    let arguments = ["install", NAME, "--package", "1", "--secret", "NOTES_KEY", "--network", "all", "--yes"];
    let ended = listed.run_with_input(&folder, &arguments, "s3cret-value\n");
    assert_eq!(ended.value()["origin"]["registry"]["version"], "1.2.0");
    assert!(!format!("{ended:?}").contains("s3cret-value"), "the secret is not printed: {ended:?}");
    assert!(ended.questions().is_empty(), "nothing is started");
    let wanted = json!({
        "command": "npx", "args": ["-y", "@alice/notes@1.2.0"], "env": { "NOTES_KEY": "${secret:notes.NOTES_KEY}" },
        "sandbox": { "folders": [], "network": true },
    });
    assert_eq!(folder.settings()["notes"], wanted);
}

#[test]
fn a_remote_is_set_up_with_its_headers() {
    let folder = Folder::with_config("{}");
    let listed = Listed::of(vec![notes(active())]);
    let arguments = ["install", NAME, "--remote", "--set", "X-Team=red", "--name", "far", "--yes"];
    listed.run(&folder, &arguments).value();
    let wanted = json!({ "type": "http", "url": "https://notes.example/mcp", "headers": { "X-Team": "red" } });
    assert_eq!(folder.settings(), json!({ "far": wanted }));
}

#[test]
fn what_the_registry_says_now_is_shown_and_installed() {
    let folder = Folder::with_config("{}");
    let listed = Listed::of(vec![notes(active())]);
    let arguments = ["install", NAME, "--remote", "--set", "X-Team=red"];
    listed.run(&folder, &[&arguments[..], &["--dry-run"]].concat()).value();
    listed.change(|entries| entries[0]["server"]["remotes"][0]["url"] = "https://moved.example/mcp".into());
    listed.run(&folder, &[&arguments[..], &["--yes"]].concat()).value();
    assert_eq!(folder.settings()["notes"]["url"], "https://moved.example/mcp", "and not the answer that was kept");
}

#[test]
fn what_was_deleted_from_the_registry_is_not_installed() {
    let folder = Folder::with_config("{}");
    let listed = Listed::of(vec![notes(json!({ "status": "deleted", "statusMessage": "malware", "isLatest": true }))]);
    let ended = listed.run(&folder, &["install", NAME, "--remote", "--set", "X-Team=red", "--yes"]);
    assert!(ended.error(3).1.contains("malware"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null);
}

#[test]
fn a_bundle_of_a_registry_is_left_to_the_user() {
    let folder = Folder::with_config("{}");
    let hash = "ab".repeat(32);
    let mut entry = notes(active());
    entry["server"]["remotes"] = json!([]);
    entry["server"]["packages"] = json!([{
        "registryType": "mcpb", "identifier": "https://notes.example/notes.mcpb", "fileSha256": hash, "transport": { "type": "stdio" },
    }]);
    let listed = Listed::of(vec![entry]);
    let ended = listed.run(&folder, &["install", NAME, "--yes"]);
    let next = ended.error(1).1;
    assert!(next.contains("https://notes.example/notes.mcpb") && next.contains(&hash), "what to do is told: {next}");
}
