//! Searches the settings files of other apps for servers. Nothing is started or written.

mod disabled_servers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use ports::server_config::{ConfigProblem, ServerEntry};

use crate::app_environment::AppEnvironment;
use crate::apps::{APPS, FileLayout, SettingsPath, SourceApp, TOML_LAYOUT, find_source_app, match_settings_file};
use crate::files::EnvFileVariable;
use crate::found_server::{EntrySource, FoundServer, to_found_server, unparsable_server};
use crate::{files, merge, pasted, settings_reader};

/// Settings files in which a scan searches for servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanScope {
    /// Settings files of all known apps.
    All,
    /// Settings files of one app, given by its identifier or display name.
    App(String),
    /// A single file, or the settings files of all apps in a project folder.
    Path(PathBuf),
}

/// A settings file that a scan has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// Identifier of the app that the file belongs to.
    pub app: &'static str,
    /// Path of the settings file.
    pub file: String,
    /// Number of servers that the settings file defines, before they are merged with those of other files.
    pub servers: usize,
}

/// Result of searching the settings files of other apps for servers.
#[derive(Debug, Clone, Default)]
pub struct ScanReport {
    /// Servers that the scan has found, merged over all files.
    pub servers: Vec<FoundServer>,
    /// Settings files that the scan has read.
    pub files: Vec<ScannedFile>,
    /// Errors of the settings files that could not be read or parsed.
    pub problems: Vec<ConfigProblem>,
}

/// Text used as the app's identifier if a settings file belongs to no known app.
const UNKNOWN_APP_ID: &str = "file";
/// Identifier of Claude Code, which stores the names of disabled servers in files other than those that define the
/// servers.
const CLAUDE_CODE_ID: &str = "claude-code";
/// Maximum number of servers that one scan returns.
pub const MAX_SCANNED_SERVERS: usize = 5_000;

/// Searches for servers, and compares them with the configured servers in `configured`.
///
/// # Errors
///
/// Returns [`ConfigProblem`] if the app or file doesn't exist, or a file chosen by the user can't be read.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
/// use std::fs;
///
/// use other_apps::{AppEnvironment, ImportStatus, OperatingSystem, ScanScope, scan_settings};
///
/// let home = tempfile::tempdir()?;
/// fs::create_dir(home.path().join(".cursor"))?;
/// let settings = r#"{ "mcpServers": { "notes": { "command": "npx", "args": ["-y", "@alice/notes"] } } }"#;
/// fs::write(home.path().join(".cursor/mcp.json"), settings)?;
///
/// let environment = AppEnvironment {
///     home: home.path().to_owned(),
///     systems: vec![OperatingSystem::Linux],
///     runs_on: OperatingSystem::Linux,
///     variables: BTreeMap::new(),
///     workspace: None,
/// };
/// let report = scan_settings(&ScanScope::All, &environment, &[])?;
/// let [server] = &report.servers[..] else { panic!("one app has one server") };
/// assert_eq!((server.name.as_str(), server.status), ("notes", ImportStatus::New));
/// assert_eq!(server.origins[0].app, "cursor");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scan_settings(
    scope: &ScanScope,
    environment: &AppEnvironment,
    configured: &[ServerEntry],
) -> Result<ScanReport, ConfigProblem> {
    let mut scan = SettingsScan {
        environment,
        roots: files::allowed_roots(environment),
        project: None,
        scanned: BTreeSet::new(),
        found: Vec::new(),
        report: ScanReport::default(),
    };
    match scope {
        ScanScope::All => APPS.iter().for_each(|app| scan.scan_app(app)),
        ScanScope::App(name) => scan.scan_app(find_source_app(name).ok_or_else(|| unknown_app_problem(name))?),
        ScanScope::Path(path) if path.is_dir() => scan.scan_project(path),
        ScanScope::Path(path) => scan.scan_path(path)?,
    }
    let mut report = scan.report;
    report.servers = merge::merge_servers(scan.found, configured);
    Ok(report)
}

fn unknown_app_problem(name: &str) -> ConfigProblem {
    let known: Vec<&str> = APPS.iter().map(|app| app.id).collect();
    let message = format!("there is neither an app nor a file {name:?}; the apps are {}", known.join(", "));
    ConfigProblem { file: None, line: None, column: None, message }
}

struct SettingsScan<'s> {
    environment: &'s AppEnvironment,
    roots: Vec<PathBuf>,
    /// Project folder that is searched, or `None` if the user's settings are searched.
    project: Option<String>,
    scanned: BTreeSet<PathBuf>,
    found: Vec<FoundServer>,
    report: ScanReport,
}

impl SettingsScan<'_> {
    fn scan_app(&mut self, app: &'static SourceApp) {
        for place in app.user_paths {
            for path in files::existing_settings_files(place, self.environment) {
                self.scan_file(app, place, &path);
            }
        }
    }

    fn scan_project(&mut self, folder: &Path) {
        // Links in a cloned repository must not lead to files outside of it.
        self.roots = folder.canonicalize().into_iter().collect();
        self.project = absolute(folder).ok().and_then(|folder| folder.to_str().map(str::to_owned));
        for app in APPS {
            for place in app.project_paths {
                for path in files::matching_files(folder, place.path) {
                    self.scan_file(app, place, &path);
                }
            }
        }
    }

    fn scan_file(&mut self, app: &'static SourceApp, place: &SettingsPath, path: &Path) {
        // Two environment variables, or two apps, may refer to the same file.
        if !self.scanned.insert(path.to_owned()) {
            return;
        }
        let limit = if place.layout == FileLayout::ClaudeState {
            files::MAX_CLAUDE_STATE_FILE_BYTES
        } else {
            files::MAX_SETTINGS_FILE_BYTES
        };
        match files::read_file(path, limit, Some(&self.roots)) {
            Ok(None) => {}
            Ok(Some(text)) => self.parse_servers(Some(app), place.layout, path, &text),
            Err(problem) => self.report.problems.push(problem),
        }
    }

    /// Reads a file that the user chose, in the format of the app that has a settings file at this path. If no app has
    /// one, the file name extension or the content determines the format.
    fn scan_path(&mut self, path: &Path) -> Result<(), ConfigProblem> {
        let place = match_settings_file(path);
        let limit = if place.is_some_and(|(_, place)| place.layout == FileLayout::ClaudeState) {
            files::MAX_CLAUDE_STATE_FILE_BYTES
        } else {
            files::MAX_SETTINGS_FILE_BYTES
        };
        let Some(text) = files::read_file(path, limit, None)? else {
            return Err(files::file_problem(path, "there is no such file"));
        };
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        match (place, end.as_str()) {
            (Some((app, place)), _) => self.parse_servers(Some(app), place.layout, path, &text),
            (None, "toml") => self.parse_servers(None, TOML_LAYOUT, path, &text),
            (None, "yaml" | "yml") if text.lines().any(|line| line.starts_with("extensions:")) => {
                self.parse_servers(None, FileLayout::Goose, path, &text);
            }
            (None, "yaml" | "yml") => self.parse_servers(None, FileLayout::Continue, path, &text),
            _ => {
                let shown = path.display().to_string();
                let source = EntrySource { app: None, id: UNKNOWN_APP_ID, file: &shown, project: None };
                let candidates = pasted::parse_candidates(&text)
                    .map_err(|problem| ConfigProblem { file: Some(shown.clone()), ..problem })?;
                let variables = |file: &str| self.env_file_variables(path, file);
                let servers: Vec<FoundServer> = candidates
                    .into_iter()
                    .map(|candidate| to_found_server(candidate, source, self.environment, &variables))
                    .collect();
                self.add_servers(UNKNOWN_APP_ID, path, servers);
            }
        }
        // If the user chose the file, a problem is an error of the search.
        self.report.problems.pop().map_or(Ok(()), Err)
    }

    fn parse_servers(&mut self, app: Option<&'static SourceApp>, layout: FileLayout, path: &Path, text: &str) {
        let shown = path.display().to_string();
        let id = app.map_or(UNKNOWN_APP_ID, |app| app.id);
        let entries = match settings_reader::read_entries(text, &shown, app, layout) {
            Ok(entries) => entries,
            Err(problem) => return self.report.problems.push(problem),
        };
        let source = EntrySource { app, id, file: &shown, project: self.project.as_deref() };
        let variables = |file: &str| self.env_file_variables(path, file);
        let servers = entries.into_iter().map(|entry| match entry.candidate {
            Ok(candidate) => to_found_server(candidate, source, self.environment, &variables),
            Err(problem) => unparsable_server(entry.name, &problem, source),
        });
        let mut servers: Vec<FoundServer> = servers.collect();
        if id == CLAUDE_CODE_ID {
            self.mark_disabled_servers(path, &mut servers);
        }
        self.add_servers(id, path, servers);
    }

    fn add_servers(&mut self, app: &'static str, path: &Path, servers: Vec<FoundServer>) {
        if self.found.len() + servers.len() > MAX_SCANNED_SERVERS {
            let message = format!("it was skipped: there are more than {MAX_SCANNED_SERVERS} servers in all");
            return self.report.problems.push(files::file_problem(path, message));
        }
        self.report.files.push(ScannedFile { app, file: path.display().to_string(), servers: servers.len() });
        self.found.extend(servers);
    }

    /// Reads the environment file `file`, to which an entry in the settings file `settings` refers, and returns its
    /// variables. Returns `None` if the file is outside of the folders that the scan may read, can't be
    /// read, or contains a private key.
    fn env_file_variables(&self, settings: &Path, file: &str) -> Option<Vec<EnvFileVariable>> {
        let path = match file.strip_prefix("~/") {
            Some(rest) => self.environment.home.join(rest),
            None => settings.parent()?.join(file),
        };
        let text = files::read_file(&path, files::MAX_SETTINGS_FILE_BYTES, Some(&self.roots)).ok()??;
        // A private key may contain lines that end with an equals sign.
        (!text.contains("-----BEGIN ")).then(|| files::env_file_variables(&text))
    }
}
