//! Tests of the `sandbox` setting of local servers in `mcp.json`: it is read, rejected with a line number, and changed
//! without other changes of the file.

use std::fs;

use crate::common::TestStore;
use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess, SandboxConfig, ServerEntry, StdioConfig};

fn sandboxed_entry(sandbox: Option<SandboxConfig>) -> ServerEntry {
    let config = StdioConfig { command: "npx".into(), sandbox, ..StdioConfig::default() };
    ServerEntry { name: "near".into(), config: config.into() }
}

fn allowed_folder(path: &str, access: AccessMode) -> AllowedFolder {
    AllowedFolder { path: path.into(), access }
}

fn settings_text(sandbox: &str) -> String {
    format!("{{\"mcpServers\": {{\"near\": {{\"command\": \"npx\", \"sandbox\": {sandbox}}}}}}}")
}

#[test]
fn sandbox_settings_round_trip() {
    let whole = SandboxConfig {
        folders: vec![
            allowed_folder("/home/ann/in", AccessMode::Read),
            allowed_folder("/home/ann/out", AccessMode::Write),
        ],
        network: NetworkAccess::Full,
    };
    let hosts = ["example.com", "*.example.org:8443", "[::1]"].map(|host| host.parse().unwrap());
    let named = SandboxConfig { network: NetworkAccess::Hosts(hosts.into()), ..SandboxConfig::default() };
    for sandbox in [None, Some(SandboxConfig::default()), Some(whole), Some(named)] {
        let store = TestStore::new();
        store.ports.servers.put(&sandboxed_entry(sandbox.clone()), None).unwrap();
        assert_eq!(
            store.ports.servers.load().unwrap(),
            [sandboxed_entry(sandbox.clone())],
            "the setting is read back as written"
        );
        for other in [Some(SandboxConfig { network: NetworkAccess::Full, ..SandboxConfig::default() }), sandbox, None] {
            store.ports.servers.put(&sandboxed_entry(other.clone()), None).unwrap();
            assert_eq!(
                store.ports.servers.load().unwrap(),
                [sandboxed_entry(other)],
                "the setting is read back after a change"
            );
        }
        let left = fs::read_to_string(store.config()).unwrap();
        assert!(!left.contains("sandbox"), "a removed setting is gone: {left}");
    }
}

#[test]
fn omitted_sandbox_settings_are_the_most_restrictive() {
    let store = TestStore::new();
    fs::write(store.config(), settings_text(r#"{"folders": [{"path": "/a"}]}"#)).unwrap();
    let expected =
        SandboxConfig { folders: vec![allowed_folder("/a", AccessMode::Read)], network: NetworkAccess::None };
    assert_eq!(store.ports.servers.load().unwrap(), [sandboxed_entry(Some(expected))], "read access and no network");
}

#[test]
fn invalid_sandbox_settings_are_rejected() {
    let store = TestStore::new();
    for (sandbox, words) in [
        ("true", "an object"),
        ("null", "must be an object such as"),
        (r#"{"folders": ["/a"]}"#, "must be an object such as"),
        (r#"{"folders": [{"path": "/a", "access": "rw"}]}"#, "\"read\" or \"write\""),
        (r#"{"folders": [{"path": "a"}]}"#, "absolute path"),
        (r#"{"folders": [{"path": "/"}]}"#, "whole disk"),
        (r#"{"network": "no"}"#, "true or false"),
        (r#"{"network": []}"#, "no host is named"),
        (r#"{"network": [true]}"#, "a text"),
        (r#"{"network": ["example.com", "https://example.org/"]}"#, "is not a host"),
        (r#"{"network": ["*"]}"#, "too broad"),
        (r#"{"network": ["example.com:0"]}"#, "1 to 65535"),
        (r#"{"network": false, "network": true}"#, "twice"),
    ] {
        fs::write(store.config(), settings_text(sandbox)).unwrap();
        let problem =
            store.ports.servers.load().expect_err("the server must not run without what it was meant to have");
        assert!(problem.message.contains(words), "the message for {sandbox}: {problem}");
        assert_eq!(problem.line, Some(1), "the problem has its line: {problem}");
    }
}

#[test]
fn misspelled_sandbox_key_is_rejected() {
    let store = TestStore::new();
    for name in
        ["Sandbox", "SANDBOX", "sandbox ", "sand-box", "sanbdox", "sandbx", "sandboxx", "sundbox", "sandboxOptions"]
    {
        fs::write(store.config(), settings_text("{}").replace("\"sandbox\"", &format!("{name:?}"))).unwrap();
        let problem =
            store.ports.servers.load().expect_err("the server must not run without what it was meant to have");
        assert!(problem.message.contains(&format!("must be called \"sandbox\", found {name:?}")), "{problem}");
    }
    for (name, value) in [("sandboxEnabled", "true"), ("note", "{}")] {
        fs::write(store.config(), settings_text(value).replace("\"sandbox\"", &format!("{name:?}"))).unwrap();
        assert_eq!(store.ports.servers.load().unwrap(), [sandboxed_entry(None)], "{name} is a different key");
    }
}

#[test]
fn equivalent_sandbox_settings_are_unchanged() {
    let store = TestStore::new();
    let written = settings_text("{ \"network\":true,\n   \"folders\" : [ ],  \"note\": 1 }");
    fs::write(store.config(), &written).unwrap();
    let same = sandboxed_entry(Some(SandboxConfig { network: NetworkAccess::Full, ..SandboxConfig::default() }));
    store.ports.servers.put(&same, None).unwrap();
    assert_eq!(fs::read_to_string(store.config()).unwrap(), written, "an unchanged setting does not change the file");
    store.ports.servers.put(&sandboxed_entry(Some(SandboxConfig::default())), None).unwrap();
    let changed = fs::read_to_string(store.config()).unwrap();
    assert!(changed.contains("\"note\": 1"), "unknown keys in the setting stay: {changed}");
}

#[test]
fn sandbox_host_names_keep_their_spelling() {
    let store = TestStore::new();
    let written = settings_text(r#"{"network": [ "API.Example.com", "bücher.example" ]}"#);
    fs::write(store.config(), &written).unwrap();
    let hosts = ["api.example.com", "xn--bcher-kva.example"].map(|host| host.parse().unwrap());
    let same = sandboxed_entry(Some(SandboxConfig {
        network: NetworkAccess::Hosts(hosts.into()),
        ..SandboxConfig::default()
    }));
    assert_eq!(
        store.ports.servers.load().unwrap(),
        std::slice::from_ref(&same),
        "the setting is read in its normal form"
    );
    store.ports.servers.put(&same, None).unwrap();
    assert_eq!(fs::read_to_string(store.config()).unwrap(), written, "an equivalent setting stays as written");
}

#[test]
fn pasted_server_keeps_its_sandbox() {
    let found = other_apps::parse_pasted_servers(
        &settings_text(r#"{"folders": [{"path": "/a", "access": "write"}], "network": true}"#),
        &[],
    )
    .unwrap();
    let expected =
        SandboxConfig { folders: vec![allowed_folder("/a", AccessMode::Write)], network: NetworkAccess::Full };
    assert_eq!(
        found[0].config,
        sandboxed_entry(Some(expected)).config,
        "a server pasted from Drawbridge settings keeps its sandbox"
    );
    let other = other_apps::parse_pasted_servers(&settings_text("\"read-only\""), &[]).unwrap();
    assert!(
        other[0].notes.iter().any(|note| note.text.contains("sandbox") && note.text.contains("omitted")),
        "a note says that the sandbox setting of another app is omitted: {:?}",
        other[0].notes
    );
}
