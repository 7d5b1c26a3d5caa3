//! Tests of inspecting and installing bundles.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::bundle_file::Bundle;

use crate::program::TestFolder;

fn unpacked_bundle_count(folder: &TestFolder) -> usize {
    let entries = fs::read_dir(folder.path("data/bundles")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_dir()).count()
}

#[test]
fn bundle_is_inspected_with_its_inputs() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::with_inputs().write(&folder.path("a.mcpb"));
    let ended = folder.run(&["bundle", "inspect", &bundle]);
    let inspected = ended.value();
    let sha256 = format!("{:x}", Sha256::digest(fs::read(&bundle).unwrap()));
    assert_eq!(inspected["sha256"], sha256, "the hash should identify the bundle");
    assert_eq!(inspected["signature"], json!({ "state": "absent" }), "the bundle should have no signature");
    assert_eq!(inspected["manifest"]["version"], "1.2.3", "the manifest should be included");
    let home = std::env::var("HOME").unwrap();
    let args = json!(["--level", [{ "input": "level" }], [{ "input": "level" }, format!("-of-{home}")]]);
    assert_eq!(inspected["plan"]["args"], args, "arguments should contain placeholders");
    let command = inspected["plan"]["command"].as_str().unwrap();
    assert!(
        command.starts_with(folder.path("data/bundles").to_str().unwrap()),
        "the program should be shown: {command}"
    );
    assert_eq!(inspected["plan"]["env"], json!({ "API_KEY": [{ "input": "key" }] }), "variables should be shown");
    let files: Vec<&Value> = inspected["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(files, ["manifest.json", "server/demo"], "the files should be listed");
    assert_eq!(inspected["files"][1]["size"], 10, "the sizes should be listed");
    let output = folder.command().args(["bundle", "inspect", &bundle]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in ["argument    ⟨level⟩\n", "How much is said", "signature   not signed\n", &sha256] {
        assert!(words.contains(part), "expected {part:?} in the text: {words}");
    }
    assert_eq!(unpacked_bundle_count(&folder), 0, "nothing should be unpacked");
}

#[test]
fn invalid_bundle_is_rejected() {
    let folder = TestFolder::with_config("{}");
    fs::write(folder.path("a.mcpb"), "no archive").unwrap();
    let file = folder.path("a.mcpb").display().to_string();
    for arguments in [&["bundle", "inspect", &file][..], &["install", &file, "--yes"]] {
        let ended = folder.run(arguments);
        assert!(ended.error(2).1.contains("the bundle is refused"), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn installed_bundle_runs_in_its_sandbox_after_consent() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::demo().write(&folder.path("demo.mcpb"));
    let ended = folder.run(&["install", &bundle, "--yes"]);
    assert_eq!(ended.value()["added"], true);
    assert!(ended.decided_requests().is_empty(), "nothing should be started: {ended:?}");
    let server = &folder.settings()["demo"];
    let place = folder.path("data/bundles").join(bundle_folder_of(&ended));
    assert_eq!(server["command"], json!(place.join("server/demo")), "the program should be in the bundle's folder");
    assert!(place.join("server/demo").is_file(), "the program should be unpacked");
    assert_eq!(server["sandbox"]["folders"], json!([{ "path": place.canonicalize().unwrap(), "access": "read" }]));
    let call = ["call", "demo", "add", "--args", r#"{"a": 2, "b": 40}"#];
    folder.run(&call).error(3);
    let allowed = folder.run_with_answers(&crate::program::allowing_answers(json!([])), &call);
    assert_eq!(allowed.value()["content"][0]["text"], "2 + 40 = 42", "the program should run in its folder");
}

#[test]
fn server_cannot_be_given_write_access_to_a_bundle() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::small().write(&folder.path("demo.mcpb"));
    folder.run(&["install", &bundle, "--yes"]).value();
    folder.run(&["sandbox", "demo"]).value();
    let place = folder.settings()["demo"]["sandbox"]["folders"][0]["path"].as_str().unwrap().to_owned();
    let all = folder.path("data/bundles").canonicalize().unwrap().display().to_string();
    for (name, access, path) in [("a", "--write", &place), ("b", "--read", &all), ("c", "--write", &all)] {
        folder.run(&["install", &bundle, "--yes", "--name", name, access, path]).value();
        let ended = folder.run(&["sandbox", name]);
        assert!(ended.error(1).1.contains("Drawbridge's own"), "{access} {path}: {ended:?}");
    }
}

fn bundle_folder_of(ended: &crate::program::ProgramResult) -> String {
    let folder = ended.value()["origin"]["bundle"]["folder"].as_str().unwrap();
    folder.rsplit('/').next().unwrap().to_owned()
}

#[test]
fn install_adds_nothing_without_confirmation() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::small().write(&folder.path("demo.mcpb"));
    let ended = folder.run(&["install", &bundle]);
    ended.error(3);
    assert_eq!(ended.result()["value"]["server"]["args"], json!(["--era", "both"]), "the server should be shown");
    let ended = folder.run(&["install", &bundle, "--dry-run"]);
    assert_eq!(ended.value()["added"], false);
    assert_eq!(
        (folder.settings(), unpacked_bundle_count(&folder)),
        (Value::Null, 0),
        "there should be no server and no files"
    );
}

#[test]
fn failed_installation_leaves_no_files() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::small().write(&folder.path("demo.mcpb"));
    let ended = folder.run(&["install", &bundle, "--yes", "--name", "a\nb"]);
    assert_eq!(ended.result()["ok"], false, "the name should be rejected: {ended:?}");
    assert_eq!(unpacked_bundle_count(&folder), 0, "no files should remain");
    folder.run(&["install", &bundle, "--yes"]).value();
    let ended = folder.run(&["install", &bundle, "--yes"]);
    assert_eq!(ended.error(1).0, "bad_name", "no server should be replaced");
    let ended = folder.run(&["install", &bundle, "--yes", "--name", "a\nb"]);
    assert_eq!(ended.result()["ok"], false);
    assert_eq!(unpacked_bundle_count(&folder), 1, "the files of another server should be preserved");
}

#[test]
fn bundle_with_another_hash_is_rejected() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::small().write(&folder.path("demo.mcpb"));
    let ended = folder.run(&["install", &bundle, "--yes", "--sha256", &"0".repeat(64)]);
    assert!(ended.error(3).1.contains("the bundle is another one"), "{ended:?}");
    assert_eq!(folder.settings(), Value::Null);
}

#[test]
fn inputs_are_filled_in_and_secrets_read_from_standard_input() {
    let folder = TestFolder::with_config("{}");
    let bundle = Bundle::with_inputs().write(&folder.path("a.mcpb"));
    let ended = folder.run(&["install", &bundle, "--yes"]);
    assert!(ended.error(2).1.contains("level: a value is required"), "{ended:?}");
    let described = &ended.result()["value"]["plan"]["inputs"][0]["description"];
    assert_eq!(described, "How much is said", "the description should be included");
    let ended = folder.run(&["install", &bundle, "--yes", "--set", "level=1", "--set", "key=typed"]);
    assert!(ended.error(2).1.contains("--secret key"), "a secret on the command line should be rejected: {ended:?}");
    let arguments =
        ["install", &bundle, "--yes", "--set", "level=${HOME}", "--secret", "key", "--network", "a.example"];
    let ended = folder.run_with_input(&arguments, "s3cret-value\n");
    assert_eq!(ended.value()["added"], true);
    let server = &folder.settings()["demo"];
    let home = std::env::var("HOME").unwrap();
    let args = json!(["--level", "${HOME}", format!("${{HOME}}-of-{home}")]);
    assert_eq!(server["args"], args, "a value should not be expanded again");
    assert_eq!(server["env"]["API_KEY"], "${secret:demo.API_KEY}", "the settings should refer to the secret");
    assert_eq!(server["sandbox"]["network"], json!(["a.example"]));
    assert!(!format!("{ended:?}").contains("s3cret-value"), "the secret should not be printed: {ended:?}");
    assert!(ended.value()["secretsNotKept"].is_string(), "the missing keychain should be reported");
}
