//! Tests of installing servers from a registry.

use serde_json::{Value, json};
use testkit::bundle_file::Bundle;

use crate::program::TestFolder;
use crate::registry::{TestRegistryWithEntries, active_registry_metadata, notes_registry_entry};

const SERVER_NAME: &str = "io.github.alice/notes";

#[test]
fn package_is_installed_with_its_version_and_a_sandbox() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(active_registry_metadata())]);
    let ended = listed.run(&folder, &["install", SERVER_NAME, "--yes"]);
    let choice = ended.error(2).1;
    assert!(choice.contains("--package 1 (npm @alice/notes)") && choice.contains("--remote=1"), "{choice}");
    let ended = listed.run(&folder, &["install", SERVER_NAME, "--package", "1", "--yes"]);
    assert!(ended.error(2).1.contains("NOTES_KEY: a value is required"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null, "nothing should be added yet");
    let arguments = ["install", SERVER_NAME, "--package", "1", "--secret", "NOTES_KEY", "--network", "all", "--yes"];
    let ended = listed.run_with_input(&folder, &arguments, "s3cret-value\n");
    assert_eq!(ended.value()["origin"]["registry"]["version"], "1.2.0");
    assert!(!format!("{ended:?}").contains("s3cret-value"), "the secret should not be printed: {ended:?}");
    assert!(ended.decided_requests().is_empty(), "nothing should be started");
    let expected = json!({
        "command": "npx", "args": ["-y", "@alice/notes@1.2.0"], "env": { "NOTES_KEY": "${secret:notes.NOTES_KEY}" },
        "sandbox": { "folders": [], "network": true },
    });
    assert_eq!(folder.settings()["notes"], expected);
}

#[test]
fn remote_server_is_installed_with_its_headers() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(active_registry_metadata())]);
    let arguments = ["install", SERVER_NAME, "--remote", "--set", "X-Team=red", "--name", "far", "--yes"];
    listed.run(&folder, &arguments).value();
    let expected = json!({ "type": "http", "url": "https://notes.example/mcp", "headers": { "X-Team": "red" } });
    assert_eq!(folder.settings(), json!({ "far": expected }));
}

#[test]
fn current_registry_entry_is_shown_and_installed() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(active_registry_metadata())]);
    let arguments = ["install", SERVER_NAME, "--remote", "--set", "X-Team=red"];
    listed.run(&folder, &[&arguments[..], &["--dry-run"]].concat()).value();
    listed.change(|entries| entries[0]["server"]["remotes"][0]["url"] = "https://moved.example/mcp".into());
    listed.run(&folder, &[&arguments[..], &["--yes"]].concat()).value();
    assert_eq!(
        folder.settings()["notes"]["url"],
        "https://moved.example/mcp",
        "the cached response should not be used"
    );
}

#[test]
fn deleted_registry_entry_is_not_installed() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(
        json!({ "status": "deleted", "statusMessage": "malware", "isLatest": true }),
    )]);
    let ended = listed.run(&folder, &["install", SERVER_NAME, "--remote", "--set", "X-Team=red", "--yes"]);
    assert!(ended.error(3).1.contains("malware"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null);
}

#[test]
fn registry_bundle_is_downloaded_and_upgraded() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(Vec::new());
    let hash = listed.add_bundle_entry("1.2.3", &Bundle::small());
    let name = "io.github.alice/demo";
    let ended = listed.run(&folder, &["install", name, "--no-sandbox", "--yes"]);
    assert_eq!(ended.value()["origin"]["registry"]["bundle"]["sha256"], hash.as_str(), "{ended:?}");
    let command = || folder.settings()["demo"]["command"].as_str().unwrap_or_default().to_owned();
    let first = command();
    assert!(std::path::Path::new(&first).is_file(), "the bundle should be unpacked: {first}");

    let mut newer = Bundle::small();
    newer.manifest["version"] = "1.3.0".into();
    listed.add_bundle_entry("1.3.0", &newer);
    let ended = listed.run(&folder, &["install", "--upgrade", "demo", "--dry-run"]);
    assert_eq!(ended.value()["origin"]["registry"]["version"], "1.3.0");
    assert_eq!(ended.value()["before"]["command"], first.as_str(), "{ended:?}");
    assert_eq!(command(), first, "a dry run should change nothing");
    let refused = listed.run(&folder, &["install", "--upgrade", "demo"]);
    assert!(refused.error(3).1.contains("--yes"), "the missing confirmation should be reported: {refused:?}");
    let ended = listed.run(&folder, &["install", "--upgrade", "demo", "--yes"]);
    assert_eq!(ended.value()["upgraded"], true, "{ended:?}");
    assert_ne!(command(), first);
    assert!(!std::path::Path::new(&first).exists(), "the files of the previous version should be removed");
    let ended = listed.run(&folder, &["install", "--upgrade", "demo", "--yes"]);
    assert!(ended.error(1).1.contains("1.3.0 is installed already"), "{ended:?}");
}

#[test]
fn registry_bundle_that_differs_from_its_listed_hash_is_rejected() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(Vec::new());
    listed.add_bundle_entry("1.2.3", &Bundle::small());
    listed.registry.files.lock().unwrap().insert("/demo.mcpb".to_owned(), b"another".to_vec());
    let ended = listed.run(&folder, &["install", "io.github.alice/demo", "--no-sandbox", "--yes"]);
    assert!(ended.error(3).1.contains("another file than the one in the registry"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null);
}
