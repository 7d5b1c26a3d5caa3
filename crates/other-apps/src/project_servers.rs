//! Counts the servers that a project's settings files define, without being asked by the user. So little is read: only
//! small files that define nothing but servers, and no file that they refer to.

use std::path::Path;

use policy::Hash;
use ports::server_config::ServerEntry;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::app_environment::AppEnvironment;
use crate::apps::{APPS, SettingsPath, SourceApp};
use crate::files::{self, EnvFileVariable, PROJECT_SETTINGS_FILES};
use crate::found_server::{EntrySource, FoundServer, ImportStatus, to_found_server};
use crate::server_candidate::ServerCandidate;
use crate::{merge, settings_reader};

/// Maximum number of servers that are counted. Further ones are ignored, since each server is compared with all others.
const MAX_COUNTED_SERVERS: usize = 100;

/// Servers that the settings files in a project folder define, and that are not configured here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProjectServers {
    /// Path of the project folder.
    pub folder: String,
    /// Paths of the settings files that define servers, relative to the folder.
    pub files: Vec<String>,
    /// Number of the servers that can be imported, up to a maximum.
    pub count: u32,
    /// Hash of the contents of the settings files that define servers.
    pub hash: String,
}

/// Counts the servers that the settings files in a project folder define and that can be imported. Returns `None` if
/// there are none, if the folder is the home folder, or if its path is not Unicode. Counts at most
/// `MAX_COUNTED_SERVERS`.
///
/// A file that is not readable, too large, invalid, or a link to a file outside of the folder counts as missing.
#[must_use]
pub fn project_servers(
    folder: &Path,
    environment: &AppEnvironment,
    configured: &[ServerEntry],
) -> Option<ProjectServers> {
    let project = folder.to_str()?;
    let real = folder.canonicalize().ok()?;
    // Files with these names in the home folder are the user's own settings.
    if environment.home.canonicalize().is_ok_and(|home| home == real) {
        return None;
    }
    let roots = [real];
    let no_variables = |_: &str| -> Option<Vec<EnvFileVariable>> { None };
    let mut found: Vec<FoundServer> = Vec::new();
    let mut contents: Vec<[String; 2]> = Vec::new();
    for file in PROJECT_SETTINGS_FILES {
        let Some((app, place)) = find_project_path(file) else { continue };
        let path = folder.join(file);
        let Ok(Some(text)) = files::read_file(&path, files::MAX_SETTINGS_FILE_BYTES, Some(&roots)) else { continue };
        let shown = path.display().to_string();
        let Ok(entries) = settings_reader::read_entries(&text, &shown, Some(app), place.layout) else { continue };
        let source = EntrySource { app: Some(app), id: app.id, file: &shown, project: Some(project) };
        let candidates: Vec<ServerCandidate> = entries.into_iter().filter_map(|entry| entry.candidate.ok()).collect();
        if candidates.is_empty() {
            continue;
        }
        contents.push([file.to_owned(), Hash::of_bytes(text.as_bytes()).as_str().to_owned()]);
        for candidate in candidates.into_iter().take(MAX_COUNTED_SERVERS - found.len()) {
            found.push(to_found_server(candidate, source, environment, &no_variables));
        }
    }
    let is_importable = |row: &&FoundServer| matches!(row.status, ImportStatus::New | ImportStatus::Conflict);
    let count = merge::merge_servers(found, configured).iter().filter(is_importable).count();
    if count == 0 {
        return None;
    }
    Some(ProjectServers {
        folder: project.to_owned(),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        hash: Hash::of_json(&json!(contents)).as_str().to_owned(),
        files: contents.into_iter().map(|[file, _]| file).collect(),
    })
}

/// Returns the first app in [`APPS`](crate::apps::APPS) that has `file` as a settings file of projects, and the
/// matching entry.
fn find_project_path(file: &str) -> Option<(&'static SourceApp, &'static SettingsPath)> {
    APPS.iter().find_map(|app| {
        let place = app.project_paths.iter().find(|place| place.path == file)?;
        Some((app, place))
    })
}
