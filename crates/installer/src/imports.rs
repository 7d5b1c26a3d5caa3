//! Servers in the settings of other apps: finds them, compares them with the configured servers, and imports them. Used
//! by the commands of `api` and the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::view::Snapshot;
use host::{Host, HostClosed, SetupError};
use other_apps::{
    AppEnvironment, FoundServer, ImportNoteKind, ImportStatus, ScanReport, ScanScope, project_files, scan_settings,
};
use ports::SecretPersistence;
use ports::server_config::{ConfigProblem, ServerEntry};

use crate::projects::shared_folders;

/// Error of searching for servers in the settings of other apps.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// The other app or its settings file doesn't exist, or the file can't be read.
    #[error("{}", .0.message)]
    Source(ConfigProblem),
    /// The folder is not shared with any server as a root, so the page must not search it.
    #[error("{} is not a folder that a server may know of", .0.display())]
    NoProject(PathBuf),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Error of importing one server of another app.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ImportServerError {
    /// The server's entry in the other app's settings is not supported, for this reason.
    #[error("{0}")]
    Unsupported(String),
    /// A configured server already has this name.
    #[error("there is a server {0:?} already")]
    NameTaken(String),
    /// The imported server can't be added to the settings.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// Searches for servers in the settings of other apps, and compares them with the configured servers. Nothing is
/// started or written.
///
/// # Errors
///
/// Returns [`ImportError::Source`] if the app or file doesn't exist, and [`ImportError::Closed`] if the host has
/// shut down.
pub async fn find_servers_of_other_apps(
    host: &Host,
    from: ScanScope,
    surroundings: Arc<AppEnvironment>,
) -> Result<ScanReport, ImportError> {
    let configured = configured_servers(host.snapshot().await?);
    // Blocking, since the files may be on a slow disk.
    let looked =
        tokio::task::spawn_blocking(move || scan_settings(&from, &surroundings, &configured)).await.map_err(|error| {
            tracing::error!(%error, "the search for servers of other apps panicked");
            HostClosed
        });
    looked?.map_err(ImportError::Source)
}

/// Searches for servers in the settings files of a project folder, which must be a root that is shared with a server.
///
/// # Errors
///
/// Returns [`ImportError::NoProject`] if the folder is not a root, and the errors of
/// [`find_servers_of_other_apps`].
pub async fn find_project_servers(
    host: &Host,
    folder: PathBuf,
    surroundings: Arc<AppEnvironment>,
) -> Result<ScanReport, ImportError> {
    check_folder_is_shared_root(host, &folder).await?;
    find_servers_of_other_apps(host, ScanScope::Path(folder), surroundings).await
}

/// Returns the paths of the existing settings files in a project folder, relative to the folder. The files are not
/// read.
///
/// # Errors
///
/// Returns [`ImportError::NoProject`] if the folder is not a root of a server, and [`ImportError::Closed`] if the
/// host has shut down.
pub async fn list_project_files(host: &Host, folder: PathBuf) -> Result<Vec<&'static str>, ImportError> {
    check_folder_is_shared_root(host, &folder).await?;
    // Blocking, since the folder may be on a slow disk.
    Ok(tokio::task::spawn_blocking(move || project_files(&folder)).await.map_err(|_| HostClosed)?)
}

/// Checks that a folder is a root that is shared with a server, so that the page can't search arbitrary folders. The
/// user sees the roots on the page of the server.
async fn check_folder_is_shared_root(host: &Host, folder: &Path) -> Result<(), ImportError> {
    let is_root = shared_folders(&host.snapshot().await?).contains(folder);
    if is_root { Ok(()) } else { Err(ImportError::NoProject(folder.to_owned())) }
}

/// Returns the settings of the configured servers, with which found servers are compared.
pub(crate) fn configured_servers(snapshot: Snapshot) -> Vec<ServerEntry> {
    let servers = snapshot.servers.into_iter();
    servers.map(|server| ServerEntry { name: server.name, config: server.config }).collect()
}

/// Adds a server of another app to the settings, under [`FoundServer::name`](other_apps::FoundServer::name). Its
/// secrets are stored in the keychain. For a secret that the user will enter later, the settings contain only a
/// reference. The server is neither started nor approved.
///
/// # Errors
///
/// Returns [`ImportServerError::Unsupported`] if the entry is not supported, [`ImportServerError::NameTaken`] if
/// the name is in use, and [`ImportServerError::Setup`] if the settings or secrets can't be written. In each case
/// no server is added.
pub async fn import_server(host: &Host, server: &FoundServer) -> Result<SecretPersistence, ImportServerError> {
    if server.status == ImportStatus::Unsupported {
        let reason = server.notes.iter().rfind(|note| note.kind == ImportNoteKind::Reason);
        return Err(ImportServerError::Unsupported(reason.map(|note| note.text.clone()).unwrap_or_default()));
    }
    let setup = host.begin_setup().await.map_err(SetupError::from)?;
    if setup.config(&server.name).is_ok() {
        return Err(ImportServerError::NameTaken(server.name.clone()));
    }
    Ok(setup.add_new(server.new_server()).await?)
}
