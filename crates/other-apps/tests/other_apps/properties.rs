//! Property tests of importing and exporting: whatever the files of apps contain, each server is found exactly once,
//! and no value that looks like a secret is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use other_apps::{AppEnvironment, ImportStatus, OperatingSystem, ScanScope, ServerExportFormat, export, scan_settings};
use ports::server_config::ServerEntry;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Text in each generated secret that occurs nowhere else in the files. Compared in lower case.
const SECRET_MARKER: &str = "f00dbabe7e57";

/// Generates API keys in the formats of real services. Each key contains the marker.
fn any_secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "sk-proj-f00dbabe7e57[A-Za-z0-9]{12}",
        "ghp_f00dbabe7e57[A-Za-z0-9]{24}",
        "xoxb-123456-f00dbabe7e57",
        "AKIAF00DBABE7E57[A-Z0-9]{4}",
        "f00dbabe7e57[0-9a-f]{28}",
        "postgres://ann:f00dbabe7e57@db\\.example/app",
        "eyJf00dbabe7e57[A-Za-z0-9]{12}\\.[A-Za-z0-9]{20}",
    ]
}

/// Generates passwords, which are only recognized as secrets by their names.
fn any_password() -> impl Strategy<Value = String> {
    prop_oneof![Just("f00dbabe7e57".to_owned()), Just("my f00dbabe7e57 dog".to_owned())]
}

fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,8}", 1 => "\\PC{0,12}", 1 => "[$%{}:=?&/@\\\\\"' <>*a-z-]{0,14}", 1 => "\\$\\{(env:|input:|secret:)?[A-Z]{1,5}(:-[a-z]{2})?\\}"]
}

fn any_text() -> BoxedStrategy<String> {
    prop_oneof![
        3 => any_word(),
        1 => any_secret(),
        1 => (any_word(), any_secret(), any_word()).prop_map(|(before, secret, after)| format!("{before} {secret} {after}")),
        1 => (any_word(), any_secret()).prop_map(|(name, secret)| format!("--{name}={secret}")),
        1 => (any_secret_name(), any_password()).prop_map(|(name, secret)| format!("--{name}={secret}")),
        1 => (any_secret_name(), any_password()).prop_map(|(name, secret)| format!("{name}: {secret}")),
        1 => any_secret().prop_map(|secret| format!("https://a.example/mcp?q={secret}")),
        1 => any_secret().prop_map(|secret| format!("${{X:-{secret}}}")),
    ]
    .boxed()
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![1 => "[A-Z]{2,6}", 1 => any_secret_name()]
}

fn any_secret_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z]{2,4}_(KEY|TOKEN|SECRET|PASSWORD)",
        Just("Authorization".to_owned()),
        Just("X-API-Key".to_owned())
    ]
}

fn any_values() -> impl Strategy<Value = BTreeMap<String, String>> {
    let value = prop_oneof![
        3 => (any_name(), any_text()),
        1 => (any_secret_name(), any_password()),
        1 => (any_secret_name(), any_password()).prop_map(|(name, password)| (name, format!("Bearer {password}"))),
    ];
    prop::collection::vec(value, 0..4).prop_map(|values| values.into_iter().collect())
}

fn any_entry() -> BoxedStrategy<Value> {
    let local = (any_word(), prop::collection::vec(any_text(), 0..5), any_values(), prop::option::of(any_text()))
        .prop_map(|(command, args, env, cwd)| json!({ "command": command, "args": args, "env": env, "cwd": cwd }));
    let bridge = (any_text(), prop::collection::vec(any_text(), 0..3), any_values()).prop_map(|(url, headers, env)| {
        let headers = headers.into_iter().flat_map(|header| ["--header".to_owned(), header]);
        let args: Vec<String> = ["-y".into(), "mcp-remote".into(), url].into_iter().chain(headers).collect();
        json!({ "command": "npx", "args": args, "env": env })
    });
    let container = prop::collection::vec((any_name(), any_text()), 0..3).prop_map(|variables| {
        let variables = variables.into_iter().flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={value}")]);
        let args: Vec<String> =
            std::iter::once("run".to_owned()).chain(variables).chain(["image".to_owned()]).collect();
        json!({ "command": "docker", "args": args })
    });
    let url = prop_oneof![
        Just("https://a.example/mcp".to_owned()),
        any_secret().prop_map(|secret| format!("https://a.example/{secret}/mcp")),
        any_secret().prop_map(|secret| format!("https://a.example/mcp?api_key={secret}#x")),
        any_text(),
    ];
    let client = (prop::option::of("[0-9a-f]{32}"), prop::option::of(prop_oneof![any_secret(), any_password()]));
    let remote = (url, any_values(), client)
        .prop_map(|(url, headers, (id, secret))| json!({ "type": "http", "url": url, "headers": headers, "oauth": { "clientId": id, "clientSecret": secret } }));
    let broken = prop_oneof![
        Just(json!(1)),
        Just(json!({ "args": 1 })),
        Just(json!({ "type": "ws", "url": "wss://a" })),
        Just(json!({ "command": {} }))
    ];
    prop_oneof![4 => local.boxed(), 1 => bridge.boxed(), 1 => container.boxed(), 3 => remote.boxed(), 1 => broken.boxed()].boxed()
}

fn any_servers() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::vec((prop_oneof![6 => any_word(), 1 => any_secret()], any_entry()), 0..8).prop_map(|servers| {
        let mut names = BTreeSet::new();
        servers.into_iter().filter(|(name, _)| names.insert(name.clone())).collect()
    })
}

/// Writes a value as TOML on one line. Members of objects without a value are left out, since TOML has no null.
fn inline_toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members: Vec<String> =
                members.map(|(name, value)| format!("{} = {}", json!(name), inline_toml(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline_toml).collect::<Vec<_>>().join(", ")),
        // The escapes of JSON are also those of TOML.
        other => other.to_string(),
    }
}

/// Returns the paths in a home folder of settings files in each format, with these servers.
fn settings_files(servers: [&[(String, Value)]; 4]) -> [(&'static str, String); 4] {
    let [one, other, yaml, toml] =
        servers.map(|servers| Value::Object(servers.iter().cloned().collect::<Map<String, Value>>()));
    [
        (".cursor/mcp.json", json!({ "mcpServers": one }).to_string()),
        (".gemini/settings.json", json!({ "mcpServers": other }).to_string()),
        (".config/goose/config.yaml", format!("extensions: {yaml}\n")),
        (".codex/config.toml", format!("mcp_servers = {}\n", inline_toml(&toml))),
    ]
}

/// Returns `true` if the debug output of a value contains part of a generated secret. The debug output of secret types
/// is redacted.
fn has_marker(value: &impl std::fmt::Debug) -> bool {
    format!("{value:?}").to_lowercase().contains(SECRET_MARKER)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn servers_are_neither_lost_nor_invented_and_no_secret_is_written(
        one in any_servers(),
        other in any_servers(),
        yaml in any_servers(),
        toml in any_servers(),
    ) {
        let home = tempfile::tempdir().unwrap();
        for (file, text) in settings_files([&one, &other, &yaml, &toml]) {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let surroundings =
            AppEnvironment { home: home.path().to_owned(), systems: vec![OperatingSystem::Linux], runs_on: OperatingSystem::Linux, variables: BTreeMap::new(), workspace: None };
        let report = scan_settings(&ScanScope::All, &surroundings, &[]).unwrap();
        prop_assert_eq!(&report.problems, &[], "the files are readable");
        let origins: usize = report.servers.iter().map(|server| server.origins.len()).sum();
        prop_assert_eq!(origins, one.len() + other.len() + yaml.len() + toml.len(), "each entry is the origin of one row");
        let usable: Vec<ServerEntry> = report
            .servers
            .iter()
            .filter(|server| server.status != ImportStatus::Unsupported)
            .map(|server| ServerEntry { name: server.name.clone(), config: server.config.clone() })
            .collect();
        let names: BTreeSet<String> = usable.iter().map(|entry| entry.name.to_lowercase()).collect();
        prop_assert_eq!(names.len(), usable.len(), "names are unique");
        for server in &report.servers {
            prop_assert!(!has_marker(server), "{server:?}");
            let id = server.config.as_http().and_then(|http| http.auth.as_ref()?.client_id.clone());
            prop_assert!(id.is_none_or(|id| id.len() == 32), "a client identifier is public: {server:?}");
        }
        for form in [ServerExportFormat::McpServers, ServerExportFormat::VsCode] {
            let document = export(&usable, form).document;
            let key = if form == ServerExportFormat::VsCode { "servers" } else { "mcpServers" };
            prop_assert_eq!(document[key].as_object().unwrap().len(), usable.len(), "each server is exported");
        }
        // Servers that were imported must be recognized at the next import.
        let again = scan_settings(&ScanScope::All, &surroundings, &usable).unwrap();
        for server in again.servers.iter().filter(|server| server.secrets.is_empty() && server.pending.is_empty()) {
            prop_assert!(matches!(server.status, ImportStatus::Same | ImportStatus::Unsupported), "{server:?} is already configured");
        }
    }

    #[test]
    fn export_contains_no_secret(env in any_values(), headers in any_values(), args in prop::collection::vec(any_text(), 0..4)) {
        let local = json!({ "mcpServers": { "a": { "command": "x", "args": args, "env": env } } });
        let remote = json!({ "mcpServers": { "b": { "url": "https://a.example/mcp", "headers": headers } } });
        let mut entries = Vec::new();
        for text in [local, remote] {
            let found = other_apps::parse_pasted_servers(&text.to_string(), &[]).unwrap();
            entries.extend(found.into_iter().map(|found| ServerEntry { name: found.name, config: found.config }));
        }
        for form in [ServerExportFormat::McpServers, ServerExportFormat::VsCode] {
            let document = export(&entries, form).document;
            prop_assert!(!has_marker(&document), "{document}");
        }
    }
}
