//! Finds servers in a project's `.mcp.json` that are disabled in Claude Code, which stores their names in other files.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use ports::server_config::{ImportNote, ImportNoteKind};
use serde::Deserialize;

use super::SettingsScan;
use crate::files;
use crate::found_server::FoundServer;
use crate::json_text::{JsonDialect, JsonText, without_byte_order_mark};

/// Name of the file in a project folder that defines the project's servers in Claude Code.
const PROJECT_SERVERS_FILE: &str = ".mcp.json";
/// Claude Code's settings files that may list disabled servers, relative to the project folder or the home folder.
const CLAUDE_SETTINGS_FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
/// Key of the list of servers that are disabled although `.mcp.json` defines them.
const DISABLED_SERVERS_KEY: &str = "disabledMcpjsonServers";
/// Maximum number of names of disabled servers that are read from one file.
const MAX_DISABLED_NAMES: usize = 1_000;

#[derive(Deserialize)]
struct ClaudeStateFile<'t> {
    #[serde(borrow, default)]
    projects: BTreeMap<Cow<'t, str>, ClaudeProject>,
}

#[derive(Deserialize)]
struct ClaudeProject {
    #[serde(default, rename = "disabledMcpjsonServers")]
    turned_off: Vec<String>,
}

impl SettingsScan<'_> {
    /// Marks those servers in a project's file that the user has disabled in Claude Code.
    pub(super) fn mark_disabled_servers(&self, file: &Path, servers: &mut [FoundServer]) {
        let Some(folder) = file.parent().filter(|_| file.file_name().is_some_and(|name| name == PROJECT_SERVERS_FILE))
        else {
            return;
        };
        let names = self.disabled_servers_in_project(folder);
        for server in servers.iter_mut().filter(|server| !server.off) {
            if server.origins.iter().any(|origin| names.contains(&origin.name)) {
                server.off = true;
                server.notes.push(ImportNote::new(ImportNoteKind::Off, "it is turned off there"));
            }
        }
    }

    /// Returns the names of the servers that the user has disabled in a project. Ignores unreadable files, since a scan
    /// only reports problems of files that define servers.
    fn disabled_servers_in_project(&self, folder: &Path) -> BTreeSet<String> {
        let home = &self.environment.home;
        let mut roots = files::allowed_roots(self.environment);
        roots.extend(folder.canonicalize());
        let read = |path: PathBuf, limit| files::read_file(&path, limit, Some(&roots)).ok().flatten();
        let paths =
            [folder, home.as_path()].into_iter().flat_map(|folder| CLAUDE_SETTINGS_FILES.map(|file| folder.join(file)));
        let mut names: BTreeSet<String> = paths
            .filter_map(|path| read(path, files::MAX_SETTINGS_FILE_BYTES))
            .flat_map(|text| disabled_servers_in_settings(&text))
            .collect();
        if let Some(text) = read(home.join(".claude.json"), files::MAX_CLAUDE_STATE_FILE_BYTES) {
            names.extend(disabled_servers_in_state(&text, folder));
        }
        names
    }
}

fn disabled_servers_in_settings(text: &str) -> Vec<String> {
    let Ok(Some(Value::Object(root))) =
        JsonText::without_file(without_byte_order_mark(text)).parse(JsonDialect::WithComments)
    else {
        return Vec::new();
    };
    let items = root.get_array(DISABLED_SERVERS_KEY).into_iter().flat_map(|list| &list.elements);
    items.filter_map(Value::as_string_lit).map(|name| name.value.to_string()).take(MAX_DISABLED_NAMES).collect()
}

fn disabled_servers_in_state(text: &str, folder: &Path) -> Vec<String> {
    let Ok(mut state) = serde_json::from_str::<ClaudeStateFile<'_>>(without_byte_order_mark(text)) else {
        return Vec::new();
    };
    // The app stores the path by which the user opened the folder, which may be a link.
    let real = folder.canonicalize().ok();
    let names = [Some(folder), real.as_deref()].into_iter().flatten();
    let project = names.filter_map(Path::to_str).find_map(|folder| state.projects.remove(folder));
    project.map(|project| project.turned_off.into_iter().take(MAX_DISABLED_NAMES).collect()).unwrap_or_default()
}
