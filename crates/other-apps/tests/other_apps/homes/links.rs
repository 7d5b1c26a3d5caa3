//! Settings files that are symbolic links, and paths that are not regular files.

use std::fs;

use other_apps::{OperatingSystem, ScanScope, scan_settings};

use super::environment_of_home;

const ONE_SERVER_JSON: &str = r#"{ "mcpServers": { "one": { "command": "x" } } }"#;

#[cfg(unix)]
#[test]
fn symbolic_link_is_followed_within_the_home_only() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join(".cursor")).unwrap();
    fs::create_dir_all(home.join(".kiro/settings")).unwrap();
    fs::create_dir_all(home.join("dotfiles")).unwrap();
    fs::write(folder.path().join("outside.json"), ONE_SERVER_JSON).unwrap();
    fs::write(home.join("dotfiles/kiro.json"), ONE_SERVER_JSON).unwrap();
    symlink(folder.path().join("outside.json"), home.join(".cursor/mcp.json")).unwrap();
    symlink("../../dotfiles/kiro.json", home.join(".kiro/settings/mcp.json")).unwrap();
    let report =
        scan_settings(&ScanScope::All, &environment_of_home(home.clone(), OperatingSystem::Linux), &[]).unwrap();
    let found: Vec<&str> = report.files.iter().map(|file| file.app).collect();
    assert_eq!(found, ["kiro"], "only the link within the home is followed");
    let problem = report.problems.first().expect("the other link is reported");
    assert!(problem.message.contains("out of the home folder"), "with the reason: {problem}");
    assert_eq!(problem.file.as_deref(), home.join(".cursor/mcp.json").to_str(), "and the file");
    // A parent folder of the file may be the link, too.
    fs::remove_dir_all(home.join(".cursor")).unwrap();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    fs::write(folder.path().join("elsewhere/mcp.json"), ONE_SERVER_JSON).unwrap();
    symlink(folder.path().join("elsewhere"), home.join(".cursor")).unwrap();
    let report =
        scan_settings(&ScanScope::App("cursor".into()), &environment_of_home(home, OperatingSystem::Linux), &[])
            .unwrap();
    assert_eq!((report.servers.len(), report.problems.len()), (0, 1), "nothing is read through it");
}

#[cfg(unix)]
#[test]
fn folder_named_by_a_variable_may_be_outside_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let (home, codex) = (folder.path().join("home"), folder.path().join("codex"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&codex).unwrap();
    fs::write(codex.join("config.toml"), "mcp_servers.one.command = \"x\"").unwrap();
    let mut surroundings = environment_of_home(home, OperatingSystem::Linux);
    surroundings.variables.insert("CODEX_HOME".into(), codex);
    let report = scan_settings(&ScanScope::All, &surroundings, &[]).unwrap();
    assert_eq!(report.servers.len(), 1, "the server is found: {report:?}");
}

#[test]
fn folder_in_place_of_a_settings_file_is_reported_separately() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".cursor/mcp.json")).unwrap();
    fs::create_dir_all(home.path().join(".kiro/settings")).unwrap();
    fs::write(home.path().join(".kiro/settings/mcp.json"), ONE_SERVER_JSON).unwrap();
    let report =
        scan_settings(&ScanScope::All, &environment_of_home(home.path().to_owned(), OperatingSystem::Linux), &[])
            .unwrap();
    assert_eq!((report.servers.len(), report.problems.len()), (1, 1), "the other file is read: {report:?}");
}
