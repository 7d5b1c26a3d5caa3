//! Tests of searching a registry on loopback and showing its servers, also without a network.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::bundle_file::Bundle;
use testkit::registry::{TestRegistry, bundle_registry_entry};
pub(crate) use testkit::registry::{active_registry_metadata, notes_registry_entry};
use tokio::runtime::Runtime;

use crate::program::{ProgramResult, TestFolder};

/// Registry on the loopback interface whose listed entries a test can change.
pub(crate) struct TestRegistryWithEntries {
    pub(crate) registry: TestRegistry,
    _runtime: Runtime,
}

impl TestRegistryWithEntries {
    pub(crate) fn start(entries: Vec<Value>) -> Self {
        let runtime = Runtime::new().unwrap();
        let registry = runtime.block_on(TestRegistry::start(entries));
        Self { registry, _runtime: runtime }
    }

    /// Applies a change to the listed entries.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<Value>)) {
        change(&mut self.registry.entries.lock().unwrap());
    }

    /// Lists a bundle with this version as the first entry, and returns the hash of the bundle.
    pub(crate) fn add_bundle_entry(&self, version: &str, bundle: &Bundle) -> String {
        let folder = tempfile::tempdir().unwrap();
        let bytes = std::fs::read(bundle.write(&folder.path().join("demo.mcpb"))).unwrap();
        let sha256 = format!("{:x}", Sha256::digest(&bytes));
        self.registry.files.lock().unwrap().insert("/demo.mcpb".to_owned(), bytes);
        let url = self.registry.server.url("/demo.mcpb");
        self.registry.entries.lock().unwrap().insert(0, bundle_registry_entry(version, &url, &sha256));
        sha256
    }

    pub(crate) fn run(&self, folder: &TestFolder, arguments: &[&str]) -> ProgramResult {
        self.run_with_input(folder, arguments, "")
    }

    pub(crate) fn run_with_input(&self, folder: &TestFolder, arguments: &[&str], input: &str) -> ProgramResult {
        let address = self.registry.server.url("");
        let mut arguments = arguments.to_vec();
        arguments.extend(["--registry", &address]);
        folder.run_with_input(&arguments, input)
    }
}

#[test]
fn server_is_found_and_cached_while_the_registry_is_offline() {
    let folder = TestFolder::with_config("{}");
    let deprecated = json!({ "status": "deprecated", "statusMessage": "Use another", "isLatest": true });
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(deprecated)]);
    let ended = listed.run(&folder, &["registry", "search", "notes"]);
    let found = &ended.value()["servers"][0];
    assert_eq!((&found["name"], &found["version"]), (&json!("io.github.alice/notes"), &json!("1.2.0")));
    assert_eq!((&found["status"], &found["statusMessage"]), (&json!("deprecated"), &json!("Use another")));
    assert!(
        found["publisher"].as_str().unwrap().starts_with("the GitHub account alice"),
        "the publisher should be listed: {found}"
    );
    assert_eq!(ended.value()["fromCache"], false);
    assert_eq!(
        listed.run(&folder, &["registry", "search", "absent"]).value()["servers"],
        json!([]),
        "only this server should be found"
    );
    let ended = listed.run(&folder, &["registry", "show", "io.github.alice/absent"]);
    assert_eq!(ended.error(1).0, "not_found", "{ended:?}");

    let address = listed.registry.server.url("");
    drop(listed);
    let search = |text: &str| folder.run_with_input(&["registry", "search", text, "--registry", &address], "");
    let cached = search("notes");
    assert_eq!(cached.value()["fromCache"], true, "a fresh response should be cached: {cached:?}");
    let cached = search("note");
    assert!(cached.value()["offline"].is_string(), "the unavailable registry should be reported: {cached:?}");
    assert_eq!(cached.value()["servers"][0]["name"], "io.github.alice/notes", "cached servers should be searched");
}

#[test]
fn exact_command_and_address_of_a_server_are_shown() {
    let folder = TestFolder::with_config("{}");
    let listed = TestRegistryWithEntries::start(vec![notes_registry_entry(active_registry_metadata())]);
    let ended = listed.run(&folder, &["registry", "show", "io.github.alice/notes@1.2.0"]);
    let plan = &ended.value()["packages"][0]["plan"];
    assert_eq!((&plan["command"], &plan["args"]), (&json!("npx"), &json!(["-y", "@alice/notes@1.2.0"])));
    assert_eq!(plan["inputs"][0]["description"], "From your account", "inputs should be described");
    assert_eq!(ended.value()["remotes"][0]["plan"]["url"], "https://notes.example/mcp");
    let mut command = folder.command();
    command.env("XDG_CACHE_HOME", folder.path("cache")).args(["registry", "show", "io.github.alice/notes"]);
    let output = command.args(["--registry", &listed.registry.server.url("")]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in ["argument    @alice/notes@1.2.0\n", "header      X-Team: ⟨X-Team⟩\n", "answered just now"] {
        assert!(words.contains(part), "expected {part:?} in the text: {words}");
    }
    assert!(!words.contains('\u{1b}'), "X11: escape sequences should be escaped: {words:?}");
}

#[test]
fn unencrypted_registry_is_rejected() {
    let folder = TestFolder::with_config("{}");
    let ended = folder.run_with_input(&["registry", "search", "a", "--registry", "http://registry.example"], "");
    assert!(ended.error(2).1.contains("not encrypted"), "{ended:?}");
}
