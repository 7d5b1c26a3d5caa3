//! Tests with the home folders in `tests/import`, one for each operating system and each special case. The results are
//! compared with a table of expected results.

mod limits;
mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use other_apps::{
    AppEnvironment, FoundServer, ImportNoteKind, ImportStatus, OperatingSystem, ScanReport, ScanScope, scan_settings,
};
use ports::server_config::{ConfigProblem, ServerEntry, StdioConfig};

use crate::table::{ImportTable, fixtures, notes_text};

pub(crate) fn environment_of_home(home: PathBuf, system: OperatingSystem) -> AppEnvironment {
    AppEnvironment {
        home,
        systems: vec![system],
        runs_on: OperatingSystem::Linux,
        variables: BTreeMap::new(),
        workspace: None,
    }
}

/// Returns configured servers with which a scan compares the found ones in the home folder "same".
fn configured_servers() -> Vec<ServerEntry> {
    let local = |name: &str, command: &str, args: &[&str]| ServerEntry {
        name: name.to_owned(),
        config: StdioConfig {
            command: command.to_owned(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            ..StdioConfig::default()
        }
        .into(),
    };
    vec![local("demo", "/usr/bin/demo", &["--fast"]), local("Taken", "mine", &[])]
}

#[test]
fn servers_found_in_every_home_match_the_table() {
    let all = fixtures();
    let mut table = ImportTable::new();
    for (home, system) in
        [("linux", OperatingSystem::Linux), ("macos", OperatingSystem::MacOs), ("windows", OperatingSystem::Windows)]
    {
        let folder = all.join("homes").join(home);
        let report = scan_settings(&ScanScope::All, &environment_of_home(folder.clone(), system), &[]).unwrap();
        table.add(home, &folder, &report);
    }
    let project = all.join("homes/project");
    let report = scan_settings(
        &ScanScope::Path(project.clone()),
        &environment_of_home(all.join("homes/linux"), OperatingSystem::Linux),
        &[],
    )
    .unwrap();
    table.add("project", &project, &report);
    let mut traps: Vec<PathBuf> = fs::read_dir(all.join("traps")).unwrap().map(|entry| entry.unwrap().path()).collect();
    traps.sort();
    for trap in traps {
        let name = trap.file_name().unwrap().to_str().unwrap().to_owned();
        let set_up = if name == "same" { configured_servers() } else { Vec::new() };
        let from = match name.as_str() {
            "exports" => ScanScope::Path(trap.join("cherry-studio.json")),
            _ => ScanScope::All,
        };
        let report = scan_settings(&from, &environment_of_home(trap.clone(), OperatingSystem::Linux), &set_up).unwrap();
        table.add(&name, &trap, &report);
    }
    table.expect(&all.join("expected.tsv"));
}

/// Secret values in the test files, none of which may be written to a file or displayed.
const PLANTED_SECRETS: [&str; 19] = [
    "hunter2",
    "pplx-0123456789",
    "ATATT3xFfGF0",
    "lin_api_0123",
    "c0ffee5ecret",
    "ghp_0123456789",
    "sk-inline",
    "gem-s3cret",
    "hf_abcdefghij",
    "sk-bridge",
    "abc0123456789",
    "tok-123",
    "s3cret-value",
    "an0ther-one",
    "\"9f86d081884c7d659a2feaa0c55ad015\"",
    "xoxb-1234",
    "abcdef&",
    "TmV2ZXJ",
    "sk-default",
];

#[test]
fn unconfigured_account_of_a_configured_server_is_new() {
    let home = fixtures().join("traps/accounts");
    let mut mail = ServerEntry {
        name: "mail-home".into(),
        config: StdioConfig { command: "mail".into(), ..StdioConfig::default() }.into(),
    };
    mail.config.as_stdio_mut().unwrap().env.insert("MAIL_TOKEN".into(), "${secret:mail-home.MAIL_TOKEN}".into());
    let report = scan_settings(&ScanScope::All, &environment_of_home(home, OperatingSystem::Linux), &[mail]).unwrap();
    let statuses: Vec<(&str, &str)> =
        report.servers.iter().map(|one| (one.name.as_str(), one.status.json_name())).collect();
    assert_eq!(
        statuses,
        [("mail-work", "new"), ("mail-home", "same")],
        "the server with the same name is already configured"
    );
}

fn home_with_files(files: &[(&str, serde_json::Value)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (file, content) in files {
        let path = home.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content.to_string()).unwrap();
    }
    home
}

fn scan_home(home: &tempfile::TempDir, set_up: &[ServerEntry]) -> Vec<FoundServer> {
    scan_settings(&ScanScope::All, &environment_of_home(home.path().to_owned(), OperatingSystem::Linux), set_up)
        .unwrap()
        .servers
}

#[test]
fn server_of_several_projects_is_found_once_with_their_folders() {
    let one = serde_json::json!({ "mcpServers": { "db": { "command": "db" } } });
    let home = home_with_files(&[(
        ".claude.json",
        serde_json::json!({ "projects": { "/work/a": one.clone(), "/work/b": one } }),
    )]);
    let servers = scan_home(&home, &[]);
    assert_eq!(servers.len(), 1, "{servers:?}");
    assert_eq!(servers[0].origins.len(), 2, "each project is an origin");
    let notes = notes_text(&servers[0]);
    assert!(notes.contains("/work/a") && notes.contains("/work/b"), "both folders are named: {notes}");
}

#[test]
fn bridge_expands_variables_for_any_app() {
    let home = home_with_files(&[(
        ".config/Claude/claude_desktop_config.json",
        serde_json::json!({ "mcpServers": { "far": { "command": "npx", "args":
            ["mcp-remote", "https://far.example/mcp", "--header", "Authorization: Bearer ${TOKEN}"] } } }),
    )]);
    let servers = scan_home(&home, &[]);
    assert_eq!(servers[0].pending["Authorization"].before, "Bearer ", "{:?}", servers[0]);
    assert!(servers[0].secrets.is_empty(), "the reference is not a secret");
}

#[test]
fn references_to_stored_secrets_are_removed_after_many_others() {
    let value = format!("{}${{secret:other.Authorization}}", "${A}".repeat(100));
    let home = home_with_files(&[(
        ".cursor/mcp.json",
        serde_json::json!({ "mcpServers": { "far": { "url": "https://far.example/mcp", "headers": { "X-Team": value } } } }),
    )]);
    let shown = format!("{:?}", scan_home(&home, &[])[0]);
    assert!(!shown.contains("secret:other"), "{shown}");
}

#[test]
fn named_project_file_belongs_to_its_project() {
    let home = home_with_files(&[("work/.mcp.json", serde_json::json!({ "bare": { "command": "x" } }))]);
    let from = ScanScope::Path(home.path().join("work/.mcp.json"));
    let report =
        scan_settings(&from, &environment_of_home(home.path().to_owned(), OperatingSystem::Linux), &[]).unwrap();
    let origins: Vec<(&str, &str)> =
        report.servers.iter().map(|one| (one.origins[0].app.as_str(), one.name.as_str())).collect();
    assert_eq!(origins, [("claude-code", "bare")]);
}

/// Scans a file with this text at a path in a home folder, as if the user had chosen it.
fn scan_chosen_file(name: &str, text: &str) -> Result<ScanReport, ConfigProblem> {
    let home = tempfile::tempdir().unwrap();
    let environment = environment_of_home(home.path().to_owned(), OperatingSystem::Linux);
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    scan_settings(&ScanScope::Path(path), &environment, &[])
}

#[test]
fn chosen_yaml_file_without_servers_is_a_problem() {
    let expected = "there is no server in this file: expected servers under \"mcpServers\" or \"extensions\"";
    for text in ["", "# nothing\n", "~\n", "tools: [one]\n", "mcpServers: []\n", "extensions: {}\n"] {
        for name in ["servers.yaml", "servers.yml"] {
            let problem = scan_chosen_file(name, text).unwrap_err();
            assert_eq!(problem.message, expected, "{text:?}");
            assert!(problem.file.as_deref().is_some_and(|file| file.ends_with(name)), "the file is named: {problem:?}");
        }
        for name in [".continue/config.yaml", ".config/goose/config.yaml"] {
            let report = scan_chosen_file(name, text).unwrap();
            assert_eq!(report.servers.len(), 0, "settings of a known app may have no servers: {text:?}");
        }
    }
    for text in ["mcpServers:\n  - name: one\n    command: x\n", "extensions:\n  one:\n    type: stdio\n    cmd: x\n"] {
        assert_eq!(scan_chosen_file("servers.yaml", text).unwrap().servers.len(), 1, "{text:?}");
    }
}

#[test]
fn chosen_toml_file_without_servers_is_a_problem() {
    let scan = scan_chosen_file;
    let other_table = "[servers.one]\ncommand = \"x\"\n";
    let problem = scan("servers.toml", other_table).unwrap_err();
    assert_eq!(problem.message, "there is no server in this file: expected the table \"mcp_servers\"");
    let report = scan("servers.toml", &other_table.replace("servers", "mcp_servers")).unwrap();
    assert_eq!(report.servers.len(), 1);
    let report = scan(".codex/config.toml", other_table).unwrap();
    assert_eq!(report.servers.len(), 0, "settings of a known app may have no servers");
}

#[test]
fn yaml_aliases_are_bounded() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".continue")).unwrap();
    let text = format!("big: &a \"\\n{}\"\nall: [{}]\n", "x".repeat(500_000), "*a,".repeat(40_000));
    fs::write(home.path().join(".continue/config.yaml"), text).unwrap();
    let report =
        scan_settings(&ScanScope::All, &environment_of_home(home.path().to_owned(), OperatingSystem::Linux), &[])
            .unwrap();
    assert!(report.problems[0].message.contains("4 MB"), "{:?}", report.problems);
}

#[test]
fn disabled_tools_stay_disabled_whatever_they_are_called() {
    let home = home_with_files(&[(
        ".codeium/windsurf/mcp_config.json",
        serde_json::json!({ "mcpServers": { "one": { "command": "x", "disabledTools": ["*", "getJiraIssueByKey"] } } }),
    )]);
    assert_eq!(scan_home(&home, &[])[0].config.tools.disabled, ["*", "getJiraIssueByKey"]);
}

#[test]
fn merged_tool_list_that_exceeds_the_limit_is_not_imported() {
    let app = |prefix: &str, count: usize| {
        let tools: Vec<String> = (0..count).map(|number| format!("{prefix}_{number}")).collect();
        serde_json::json!({ "mcpServers": { "one": { "command": "x", "disabledTools": tools } } })
    };
    let merged = |count: usize| {
        let home = home_with_files(&[
            (".codeium/windsurf/mcp_config.json", app("a", 600)),
            (".cursor/mcp.json", app("b", count)),
        ]);
        let found = scan_home(&home, &[]);
        let [server] = &found[..] else { panic!("the apps have one server: {found:?}") };
        (server.status, server.config.tools.disabled.len(), notes_text(server))
    };
    assert_eq!(merged(400).0, ImportStatus::New, "as many as are stored");
    let (status, disabled, notes) = merged(401);
    assert_eq!((status, disabled), (ImportStatus::Unsupported, 1_001), "no denial is dropped: {notes}");
    assert!(notes.contains("more than 1000 names"), "the reason is named: {notes}");
}

#[test]
fn server_with_a_denied_tool_that_looks_like_a_secret_is_not_imported() {
    let key = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z";
    let entry = serde_json::json!({ "command": "x", "disabledTools": ["push", key] });
    let settings = serde_json::json!({ "mcpServers": { "one": entry } });
    let home = home_with_files(&[(".codeium/windsurf/mcp_config.json", settings.clone())]);
    let found = &scan_home(&home, &[])[0];
    assert_eq!(found.status, ImportStatus::Unsupported, "{:?}", found.notes);
    assert!(!format!("{found:?}").contains(key), "the text that looks like a secret is not repeated");
    let pasted = other_apps::parse_pasted_servers(&settings.to_string(), &[]).unwrap();
    assert!(!pasted[0].usable, "{:?}", pasted[0].notes);
}

#[test]
fn tool_list_of_the_wrong_type_is_noted() {
    let entry = serde_json::json!({ "command": "x", "enabledTools": "read" });
    let home = home_with_files(&[(
        ".codeium/windsurf/mcp_config.json",
        serde_json::json!({ "mcpServers": { "one": entry } }),
    )]);
    let found = &scan_home(&home, &[])[0];
    assert!(found.config.tools.admits_all_tools(), "no tool is named");
    assert!(found.notes.iter().any(|note| note.text.contains("\"enabledTools\"")), "{:?}", found.notes);
}

#[test]
fn tool_lists_of_each_form_are_imported() {
    let cases = [
        (serde_json::json!({}), None),
        (serde_json::json!({ "enabledTools": ["read", "list_*"] }), Some(vec!["read", "list_*"])),
        (serde_json::json!({ "enabledTools": ["*", "read"] }), None),
        (serde_json::json!({ "enabledTools": [] }), Some(vec![])),
        (serde_json::json!({ "tools": [] }), None),
        (serde_json::json!({ "enabledTools": null, "includeTools": ["read"] }), Some(vec!["read"])),
        (serde_json::json!({ "enabledTools": [1] }), Some(vec![])),
        (
            serde_json::json!({ "includeTools": ["read", "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"] }),
            Some(vec!["read"]),
        ),
    ];
    for (lists, expected) in cases {
        let mut entry = lists.clone();
        entry["command"] = "x".into();
        let home = home_with_files(&[(
            ".codeium/windsurf/mcp_config.json",
            serde_json::json!({ "mcpServers": { "one": entry } }),
        )]);
        let found = &scan_home(&home, &[])[0];
        let expected: Option<Vec<String>> = expected.map(|names| names.into_iter().map(str::to_owned).collect());
        assert_eq!(found.config.tools.enabled, expected, "{lists}");
        assert!(found.config.tools.disabled.is_empty(), "{lists}");
    }
}

#[test]
fn sandbox_of_another_app_is_noted_and_not_imported() {
    let sandbox = serde_json::json!({ "filesystem": { "allow": ["/work"] }, "network": {} });
    let entry = serde_json::json!({ "type": "stdio", "command": "x", "sandboxEnabled": true, "sandbox": sandbox });
    let ours = serde_json::json!({ "type": "stdio", "command": "y", "sandbox": { "folders": [], "network": true } });
    let servers = serde_json::json!({ "servers": { "one": entry, "ours": ours } });
    let found = scan_home(&home_with_files(&[(".config/Code/User/mcp.json", servers)]), &[]);
    assert_eq!(
        found[0].config.as_stdio().unwrap().sandbox,
        None,
        "a sandbox without any folder would break the server"
    );
    assert!(found[0].notes.iter().any(|note| note.text.contains("\"filesystem\"")), "{:?}", found[0].notes);
    assert!(found[1].config.as_stdio().unwrap().sandbox.is_some(), "Drawbridge's own sandbox is imported");
}

#[test]
fn parse_error_does_not_repeat_an_unquoted_secret() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".cursor")).unwrap();
    let text = r#"{ "mcpServers": { "a": { "command": "x", "env": { "KEY": ghp_abcd1234 } } } }"#;
    fs::write(home.path().join(".cursor/mcp.json"), text).unwrap();
    let report =
        scan_settings(&ScanScope::All, &environment_of_home(home.path().to_owned(), OperatingSystem::Linux), &[])
            .unwrap();
    let problems = format!("{:?}", report.problems);
    assert!(problems.contains("without quotes") && !problems.contains("ghp_"), "{problems}");
}

#[test]
fn notes_and_origins_contain_no_secret_values() {
    let home = home_with_files(&[(
        ".cursor/mcp.json",
        serde_json::json!({ "mcpServers": {
            "ghp_abcd1234": { "command": "x" },
            "gateway": { "command": "npx", "args": ["supergateway", "--sse", "https://a.example/sse", "--key=hunter2", "--key", "hunter3"] },
            "proxy": { "command": "mcp-proxy", "args": ["--token=hunter2", "https://a.example/sse"] },
            "helped": { "url": "https://b.example/mcp", "headersHelper": "get-token --password hunter2" }
        } }),
    )]);
    let shown = format!("{:?}", scan_home(&home, &[]));
    assert!(!shown.contains("hunter") && !shown.contains("ghp_abcd"), "{shown}");
}

#[test]
fn merged_server_takes_missing_values_from_the_other_apps() {
    let with = |headers: serde_json::Value| serde_json::json!({ "mcpServers": { "shop": { "url": "https://shop.example/mcp", "headers": headers } } });
    let home = home_with_files(&[
        (".cursor/mcp.json", with(serde_json::json!({ "X-Team": "red" }))),
        (
            ".lmstudio/mcp.json",
            with(serde_json::json!({ "X-Team": "blue", "Authorization": "Bearer hunter2", "X-Area": "1" })),
        ),
    ]);
    let servers = scan_home(&home, &[]);
    assert_eq!(servers.len(), 1, "{servers:?}");
    assert_eq!(servers[0].secrets.keys().collect::<Vec<_>>(), ["Authorization"]);
    let headers = &servers[0].config.as_http().unwrap().headers;
    assert_eq!((headers["X-Team"].as_str(), headers["X-Area"].as_str()), ("red", "1"));
    let notes = notes_text(&servers[0]);
    assert!(notes.contains("values differ between its apps (\"X-Team\")"), "the differences are named: {notes}");
    let also = servers[0].notes.iter().find(|note| note.kind == ImportNoteKind::AlsoIn).unwrap();
    assert_eq!(also.names, ["LM Studio", "shop"], "the other app is named, and the server's name in it");
}

#[test]
fn server_with_another_folder_or_value_is_new() {
    let home = home_with_files(&[(
        ".cursor/mcp.json",
        serde_json::json!({ "mcpServers": {
            "folder": { "command": "a", "cwd": "/work/a" },
            "value": { "command": "b", "env": { "AREA": "one" } },
            "equal": { "command": "c", "env": { "AREA": "one" } }
        } }),
    )]);
    let entry = |command: &str, env: &[(&str, &str)]| ServerEntry {
        name: format!("mine-{command}"),
        config: StdioConfig {
            command: command.into(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..StdioConfig::default()
        }
        .into(),
    };
    let set_up = [entry("a", &[]), entry("b", &[("AREA", "two")]), entry("c", &[("AREA", "one")])];
    let statuses: Vec<(String, &str)> =
        scan_home(&home, &set_up).into_iter().map(|one| (one.name, one.status.json_name())).collect();
    let expected = [("folder", "new"), ("value", "new"), ("equal", "same")].map(|(name, word)| (name.to_owned(), word));
    assert_eq!(statuses, expected);
}

#[test]
fn fixture_secrets_are_never_shown() {
    let all = fixtures();
    let mut homes: Vec<PathBuf> = ["homes", "traps"]
        .iter()
        .flat_map(|folder| fs::read_dir(all.join(folder)).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    homes.sort();
    let mut servers = 0;
    for home in homes {
        let report = scan_settings(&ScanScope::All, &AppEnvironment::for_home(home.clone()), &[]).unwrap();
        let problems = format!("{:?}", report.problems);
        for secret in PLANTED_SECRETS {
            assert!(!problems.contains(secret), "{secret} of {} is in {problems}", home.display());
        }
        for server in &report.servers {
            servers += 1;
            let shown = format!("{server:?}");
            for secret in PLANTED_SECRETS {
                assert!(!shown.contains(secret), "{secret} of {} is in {shown}", home.display());
            }
        }
    }
    assert!(servers > 100, "the fixtures contain servers: {servers}");
}
