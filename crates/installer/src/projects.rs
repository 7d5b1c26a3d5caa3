//! Projects among the shared folders whose settings files for other apps define servers. The user is told about them
//! once for each content of the files. Used by the commands of `api`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use domain::StoreError;
use host::view::Snapshot;
use host::{Host, StorageError};
use other_apps::{AppEnvironment, ProjectServers, project_servers};
use ports::{Document, Ports};
use serde_json::{Value, json};

use crate::imports::configured_servers;

/// Maximum number of shared folders whose settings files are read by one call.
const MAX_PROJECT_FOLDERS_READ_PER_CALL: usize = 100;

/// Returns the shared folders (roots) with settings files that define servers, except those whose files the user has
/// already seen with this content. Nothing is started, and no other files are read.
///
/// # Errors
///
/// Returns [`StorageError::Store`] if the stored hashes can't be read, and [`StorageError::Closed`] if the host has
/// shut down.
pub async fn find_projects_with_unseen_servers(
    host: &Host,
    environment: Arc<AppEnvironment>,
) -> Result<Vec<ProjectServers>, StorageError> {
    let snapshot = host.snapshot().await?;
    let folders = shared_folders(&snapshot);
    let configured = configured_servers(snapshot);
    // Blocking, since the folders may be on a slow disk.
    let read = move |ports: &Ports| -> Result<Vec<ProjectServers>, StoreError> {
        let seen = parse_seen_project_hashes(ports.documents.read(Document::Projects)?);
        let projects = folders
            .iter()
            .take(MAX_PROJECT_FOLDERS_READ_PER_CALL)
            .filter_map(|folder| project_servers(folder, &environment, &configured));
        Ok(projects.filter(|project| seen.get(&project.folder) != Some(&project.hash)).collect())
    };
    Ok(host.with_ports_blocking(read).await??)
}

/// Records that the user has seen the servers of the project `folder`, whose settings files have the hash `hash`.
/// Hashes of folders that are no longer shared are removed.
///
/// # Errors
///
/// Returns [`StorageError::Store`] if the hash can't be written, and [`StorageError::Closed`] if the host has shut
/// down.
pub async fn mark_project_seen(host: &Host, folder: String, hash: String) -> Result<(), StorageError> {
    let shared = shared_folders(&host.snapshot().await?);
    let write = move |ports: &Ports| {
        ports.documents.update(Document::Projects, &mut |stored| {
            let mut seen = parse_seen_project_hashes(stored);
            seen.insert(folder.clone(), hash.clone());
            seen.retain(|folder, _| shared.contains(&PathBuf::from(folder)));
            json!(seen)
        })
    };
    Ok(host.with_ports_blocking(write).await??)
}

/// Returns all folders that are shared with a server as roots.
pub(crate) fn shared_folders(snapshot: &Snapshot) -> BTreeSet<PathBuf> {
    snapshot.servers.iter().filter_map(|server| server.roots.as_ref()).flatten().cloned().collect()
}

/// Parses the content of `projects.json`. Invalid content counts as missing, so that the user is told about the
/// projects again.
fn parse_seen_project_hashes(stored: Option<Value>) -> BTreeMap<String, String> {
    stored.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_default()
}
