//! Fuzz target: the parsers of other apps' settings files.

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use other_apps::secret_detection::has_secret;
use other_apps::{AppEnvironment, ImportStatus, OperatingSystem, ScanScope, scan_settings};
use ports::server_config::{ServerEntry, ServerTransport};
use tempfile::TempDir;

use crate::settings_fixture::SharedSettings;
use crate::split_at_line_end;

/// Paths of other apps' settings files in the home folder, one for each supported file layout.
const APP_SETTINGS_FILES: [&str; 9] = [
    ".cursor/mcp.json",
    ".claude.json",
    ".config/Code/User/mcp.json",
    ".config/Code/User/settings.json",
    ".config/opencode/opencode.json",
    ".codex/config.toml",
    ".config/goose/config.yaml",
    ".continue/config.yaml",
    ".gemini/settings.json",
];
/// Maximum number of servers that may be found in one file.
const MAX_SERVERS_PER_FILE: usize = 500;

/// Tests the parser of other apps' settings files. The first line of `data` selects the file layout, and the remaining
/// lines are the file's content. Each found server must have a unique and printable name. A usable server must be equal
/// after it was written to Drawbridge's settings file and read again, and must contain no secret.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn app_settings(data: &[u8]) {
    static HOME_WITH_SETTINGS_FILES: OnceLock<TempDir> = OnceLock::new();
    let (layout, text) = split_at_line_end(data);
    let settings = SharedSettings::lock();
    let home = HOME_WITH_SETTINGS_FILES.get_or_init(crate::scratch::temporary_folder).path();
    let file = home
        .join(APP_SETTINGS_FILES[usize::from(layout.first().copied().unwrap_or_default()) % APP_SETTINGS_FILES.len()]);
    fs::create_dir_all(file.parent().expect("it is in the home folder")).expect("the folder can be made");
    fs::write(&file, text).expect("the file can be written");
    let surroundings = AppEnvironment {
        home: home.to_owned(),
        systems: vec![OperatingSystem::Linux],
        runs_on: OperatingSystem::Linux,
        variables: BTreeMap::new(),
        workspace: None,
    };
    let report = scan_settings(&ScanScope::All, &surroundings, &[]).expect("the settings of all apps can be read");
    fs::remove_file(&file).expect("the file can be removed");
    assert!(report.servers.len() <= MAX_SERVERS_PER_FILE, "{} servers", report.servers.len());
    assert!(report.problems.len() <= 1, "a file has at most one problem: {:?}", report.problems);
    let mut names = Vec::new();
    let _ = fs::remove_file(settings.file());
    for server in &report.servers {
        for text in server.notes.iter().map(|note| &note.text).chain([&server.name]) {
            assert!(!text.contains(|c: char| c.is_control() && c != '\t'), "{text:?} is safe to print");
        }
        if server.status == ImportStatus::Unsupported {
            continue;
        }
        let name = server.name.to_lowercase();
        assert!(!names.contains(&name), "the name {name} is unique");
        names.push(name);
        let texts: Vec<&str> = match &server.config.transport {
            ServerTransport::Stdio(config) => {
                let variables = config.env.iter().flat_map(|(name, value)| [name, value]);
                std::iter::once(&config.command).chain(&config.args).chain(variables).map(String::as_str).collect()
            }
            ServerTransport::Http(config) => {
                let headers = config.headers.iter().flat_map(|(name, value)| [name, value]);
                std::iter::once(&config.url).chain(headers).map(String::as_str).collect()
            }
        };
        assert!(!texts.into_iter().any(has_secret), "no secret is in {server:?}");
        let entry = ServerEntry { name: server.name.clone(), config: server.config.clone() };
        settings.servers().put(&entry, None).unwrap_or_else(|problem| panic!("{entry:?} can't be added: {problem}"));
        let loaded = settings.servers().load().unwrap_or_else(|problem| panic!("{entry:?} can't be read: {problem}"));
        assert_eq!(loaded.last(), Some(&entry), "the server that is read equals the found one");
    }
}
