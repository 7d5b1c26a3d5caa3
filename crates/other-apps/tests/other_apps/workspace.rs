//! Tests of the folder that the user chooses for `${workspaceFolder}` in settings of other apps.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use other_apps::{AppEnvironment, FoundServer, OperatingSystem, ScanScope, scan_settings};
use serde_json::json;

fn scan(scope: &ScanScope, home: &Path, workspace: Option<PathBuf>) -> FoundServer {
    let environment = AppEnvironment {
        home: home.to_owned(),
        systems: vec![OperatingSystem::Linux],
        runs_on: OperatingSystem::Linux,
        variables: BTreeMap::new(),
        workspace,
    };
    let mut servers = scan_settings(scope, &environment, &[]).unwrap().servers;
    assert_eq!(servers.len(), 1, "{servers:?}");
    servers.remove(0)
}

fn write_server(folder: &Path) {
    let entry = json!({
        "command": "${workspaceFolder}/serve",
        "args": ["--name", "${workspaceFolderBasename}"],
        "env": { "DATA": "${workspaceFolder}/data" },
    });
    fs::create_dir_all(folder.join(".cursor")).unwrap();
    fs::write(folder.join(".cursor/mcp.json"), json!({ "mcpServers": { "one": entry } }).to_string()).unwrap();
}

#[test]
fn chosen_folder_replaces_the_workspace_in_settings_of_the_user() {
    let home = tempfile::tempdir().unwrap();
    write_server(home.path());
    let before = scan(&ScanScope::All, home.path(), None);
    assert!(before.needs_workspace, "the folder is unknown: {before:?}");
    assert_eq!(before.config.as_stdio().unwrap().command, "${workspaceFolder}/serve");
    assert_eq!(before.placeholders.len(), 2, "{before:?}");

    let after = scan(&ScanScope::All, home.path(), Some("/work/app".into()));
    let stdio = after.config.as_stdio().unwrap();
    assert_eq!((stdio.command.as_str(), stdio.env["DATA"].as_str()), ("/work/app/serve", "/work/app/data"));
    assert_eq!(after.placeholders.len(), 1, "only the name of the folder remains: {after:?}");
    assert!(!after.needs_workspace);
    assert_ne!(after.fingerprint(), before.fingerprint(), "the user sees the server with the folder");
}

#[test]
fn settings_of_a_project_keep_their_own_folder() {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_server(project.path());
    let scope = ScanScope::Path(project.path().to_owned());
    let found = scan(&scope, home.path(), Some("/work/app".into()));
    let expected = format!("{}/serve", project.path().display());
    assert_eq!(found.config.as_stdio().unwrap().command, expected);
    assert!(!found.needs_workspace);
}
