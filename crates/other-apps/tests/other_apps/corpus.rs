//! Tests with the settings of 70 real servers from their READMEs, as pasted text and as the settings file of another
//! app.

use std::collections::BTreeMap;
use std::fs;

use other_apps::{AppEnvironment, ImportStatus, OperatingSystem, ScanScope, parse_pasted_servers, scan_settings};
use ports::server_config::ServerConfig;
use serde_json::{Value, json};

use crate::table::{ImportTable, fixtures};

/// Returns the settings of the real servers in the test data by name, parsed without this crate.
fn corpus() -> BTreeMap<String, Value> {
    let file = fixtures().join("corpus/livemcpbench.json");
    let entries: Vec<Value> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let servers = entries.iter().flat_map(|entry| entry["config"]["mcpServers"].as_object().unwrap().clone());
    servers.collect()
}

fn assert_config_equals(name: &str, config: &ServerConfig, expected: &Value) {
    let stdio = config.as_stdio().unwrap_or_else(|| panic!("{name} is local"));
    assert_eq!(expected["command"], stdio.command, "{name}: the command");
    assert_eq!(expected["args"], json!(stdio.args), "{name}: the arguments");
    let env = expected.get("env").cloned().unwrap_or(json!({}));
    assert_eq!(env, json!(stdio.env), "{name}: the variables");
}

#[test]
fn each_entry_can_be_pasted() {
    for (name, expected) in corpus() {
        let text = json!({ "mcpServers": { &name: expected } }).to_string();
        let found = parse_pasted_servers(&text, &[]).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        assert_eq!(found.len(), 1, "{name} is parsed as one server");
        assert!(found[0].usable && found[0].name == name, "{name} can be added unchanged: {found:?}");
        assert_config_equals(&name, &found[0].config, &expected);
    }
}

#[test]
fn all_entries_are_imported_from_one_settings_file() {
    let corpus = corpus();
    assert_eq!(corpus.len(), 70, "no two servers have the same name");
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".cursor");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mcp.json"), json!({ "mcpServers": corpus }).to_string()).unwrap();
    let home = home.path().canonicalize().unwrap();
    let systems = vec![OperatingSystem::Linux];
    let surroundings = AppEnvironment {
        home: home.clone(),
        systems,
        runs_on: OperatingSystem::Linux,
        variables: BTreeMap::new(),
        workspace: None,
    };
    let report = scan_settings(&ScanScope::All, &surroundings, &[]).unwrap();
    assert_eq!(report.problems, [], "the whole file is read");
    let mut table = ImportTable::new();
    table.add("livemcpbench", &home, &report);
    table.expect(&fixtures().join("corpus/expected.tsv"));
    let mut origins: Vec<&str> =
        report.servers.iter().flat_map(|server| &server.origins).map(|origin| origin.name.as_str()).collect();
    origins.sort_unstable();
    assert_eq!(origins, corpus.keys().map(String::as_str).collect::<Vec<_>>(), "every server is found exactly once");
    let names: Vec<&str> = report.servers.iter().map(|server| server.name.as_str()).collect();
    for (name, expected) in &corpus {
        let found = report.servers.iter().find(|server| server.origins.iter().any(|origin| origin.name == *name));
        let found = found.unwrap_or_else(|| panic!("{name} is among {names:?}"));
        assert_eq!(found.status, ImportStatus::New, "{name}: {:?}", found.notes);
        if let Some(remote) = found.config.as_http() {
            let words = expected["args"].as_array().unwrap();
            assert!(words.iter().any(|word| *word == remote.url), "{name} is the target of its bridge: {}", remote.url);
        } else if found.origins[0].name == *name {
            assert_config_equals(name, &found.config, expected);
        }
    }
}
