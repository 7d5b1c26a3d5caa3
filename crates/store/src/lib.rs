//! Stores settings and logs on disk, by implementing the storage traits of the crate `ports`. Files are accessible only
//! to their owner. All of them are readable text files, except the databases of the audit log and the history.
//! `mcp.json` with the servers is in the configuration folder, all other files are in the data folder.

mod audit;
mod cache_folder;
mod content_key;
mod database;
mod document_mac;
mod documents;
mod file_backed_platform;
mod file_watch;
mod files;
mod folder_lock;
mod hex;
mod history;
mod lines_from_end;
mod locations;
mod mcp_json;
mod private_files;
mod process_memory;
mod secrets;
mod system_policy_file;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::StoreError;
use ports::{Documents, Platform, Ports, Secrets, ServerSettings};

pub use cache_folder::CacheFolder;
pub use file_backed_platform::FileBackedPlatform;
pub use files::copy_file;
pub use locations::{FileLocations, cache_folder, default_locations, registry_cache_folder};
pub use mcp_json::add_demo_server_if_first_start;
pub use process_memory::keep_process_memory_private;
pub use system_policy_file::SystemPolicyFile;

/// Name of the file in the data folder that is locked while a process changes `mcp.json`, a document or `secrets.json`.
const DATA_FOLDER_LOCK_FILE: &str = "lock";

/// Opens the settings file and the data folder, and returns implementations of the traits in the crate `ports` that use
/// them. Missing folders are created. Files are created when they are first written.
///
/// Several processes may use the same folders: files are written atomically, and the databases in transactions.
///
/// # Errors
/// Returns [`StoreError`] if a folder can't be created or a thread can't be started.
pub fn open(config_file: &Path, data_dir: &Path, platform: Arc<dyn Platform>) -> Result<Ports, StoreError> {
    let folder = canonical_folder(data_dir)?;
    let secrets = secrets::SecretsFile::new(&folder, folder_lock::FolderLock::new(folder.join(DATA_FOLDER_LOCK_FILE)));
    open_with(config_file, &folder, platform, Arc::new(secrets))
}

/// Opens the settings file and the data folder like [`open`], with an implementation of [`Secrets`] that the caller
/// provides.
///
/// # Errors
/// Returns [`StoreError`] if a folder can't be created or a thread can't be started.
pub fn open_with(
    config_file: &Path,
    data_dir: &Path,
    platform: Arc<dyn Platform>,
    secrets: Arc<dyn Secrets>,
) -> Result<Ports, StoreError> {
    let config_file = absolute_path(config_file)?;
    let data_dir = canonical_folder(data_dir)?;
    if let Some(folder) = config_file.parent() {
        files::make_folder(folder)?;
    }
    let lock = folder_lock::FolderLock::new(data_dir.join(DATA_FOLDER_LOCK_FILE));
    let keys = audit::MacKeyHolder::new(Arc::clone(&secrets));
    let authenticator = document_mac::DocumentAuthenticator::new(Arc::clone(&keys), Arc::clone(&secrets));
    Ok(Ports {
        servers: Arc::new(mcp_json::McpJson::new(config_file, lock.clone())),
        documents: Arc::new(documents::DocumentFolder::new(data_dir.clone(), lock.clone(), authenticator)),
        audit: Arc::new(audit::AuditDatabase::new(&data_dir, Arc::clone(&keys))?),
        history: Arc::new(history::HistoryDatabase::new(&data_dir, keys)),
        managed: Arc::new(SystemPolicyFile::for_system()),
        secrets,
        platform,
        clock: Arc::new(ports::time::SystemClock),
    })
}

/// Access to the settings file and to a part of the data folder that creates no file. Returned by [`open_read_only`].
pub struct ReadOnlyStore {
    /// Access to the servers in `mcp.json`.
    pub servers: Arc<dyn ServerSettings>,
    /// Access to the secrets in `secrets.json`, which are encrypted with a key in the keychain.
    pub secrets: Arc<dyn Secrets>,
    /// Access to the JSON documents in the data folder.
    pub documents: Arc<dyn Documents>,
}

/// Opens the settings file and the data folder at these paths for reading. No folder or file is created.
///
/// # Errors
/// Returns [`StoreError`] if a path can't be made absolute.
pub fn open_read_only(config_file: &Path, data_dir: &Path) -> Result<ReadOnlyStore, StoreError> {
    let folder = absolute_path(data_dir)?;
    let folder = if cfg!(windows) { folder } else { folder.canonicalize().unwrap_or(folder) };
    let lock = folder_lock::FolderLock::new(folder.join(DATA_FOLDER_LOCK_FILE));
    let servers = mcp_json::McpJson::new(absolute_path(config_file)?, lock.clone());
    let secrets: Arc<dyn Secrets> = Arc::new(secrets::SecretsFile::new(&folder, lock.clone()));
    let authenticator =
        document_mac::DocumentAuthenticator::new(audit::MacKeyHolder::new(Arc::clone(&secrets)), Arc::clone(&secrets));
    let documents = Arc::new(documents::DocumentFolder::new(folder, lock, authenticator));
    Ok(ReadOnlyStore { servers: Arc::new(servers), secrets, documents })
}

/// Creates the folder if it does not exist, and returns its path without symbolic links and `..`.
///
/// Keychain entries are named after this path, so with another spelling of it the existing entries would not be found.
fn canonical_folder(path: &Path) -> Result<PathBuf, StoreError> {
    let path = absolute_path(path)?;
    files::make_folder(&path)?;
    // Canonical paths on Windows have the prefix `\\?\`, which other programs do not understand.
    if cfg!(windows) {
        return Ok(path);
    }
    path.canonicalize().map_err(|error| files::file_error(&path, "determine its path", &error))
}

fn absolute_path(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| files::file_error(path, "determine its path", &error))
}

#[cfg(test)]
mod tests {
    #[test]
    fn random_generators_are_seeded_by_the_system() {
        let built_without_jitter = option_env!("AWS_LC_SYS_NO_JITTER_ENTROPY");
        assert_eq!(built_without_jitter, Some("1"), ".cargo/config.toml should set it");
    }
}
