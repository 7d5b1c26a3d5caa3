//! Settings files and logs on disk, behind the host's ports. Everything belongs to its user alone, and is a readable text file
//! but for the audit log and the history, databases: `mcp.json` with the servers in the configuration folder, all else in the data folder.

mod audit;
mod cache_folder;
mod content_key;
mod database;
mod documents;
mod files;
mod hex;
mod history;
mod lines_from_end;
mod locations;
mod lock;
mod managed;
mod mcp_json;
mod platform_in_folder;
mod private;
mod process_memory;
mod sealed_document;
mod secrets;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::StoreError;
use ports::{Documents, Platform, Ports, Secrets, ServerSettings};

pub use cache_folder::CacheFolder;
pub use locations::{Locations, cache_folder, default_locations, registry_cache_folder};
pub use managed::ManagedFile;
pub use mcp_json::add_demo_server_if_first_start;
pub use platform_in_folder::PlatformInFolder;
pub use process_memory::keep_process_memory_private;

/// The file of the lock, in the data folder.
const LOCK: &str = "lock";

/// The ports on disk. Folders that are missing are made; files are made when first written.
///
/// Several programs may have the same folders open: files are written whole, and the log in transactions.
///
/// # Errors
/// If a folder can't be made.
pub fn open(config_file: &Path, data_dir: &Path, platform: Arc<dyn Platform>) -> Result<Ports, StoreError> {
    let folder = real_folder(data_dir)?;
    let secrets = secrets::SecretsFile::new(&folder, lock::Lock::new(folder.join(LOCK)));
    open_with(config_file, &folder, platform, Arc::new(secrets))
}

/// The same with another place for secrets.
///
/// # Errors
/// If a folder can't be made.
pub fn open_with(
    config_file: &Path,
    data_dir: &Path,
    platform: Arc<dyn Platform>,
    secrets: Arc<dyn Secrets>,
) -> Result<Ports, StoreError> {
    let config_file = absolute(config_file)?;
    let data_dir = real_folder(data_dir)?;
    if let Some(folder) = config_file.parent() {
        files::make_folder(folder)?;
    }
    let lock = lock::Lock::new(data_dir.join(LOCK));
    let keys = audit::KeyHolder::new(Arc::clone(&secrets));
    let sealer = sealed_document::DocumentSealer::new(Arc::clone(&keys), Arc::clone(&secrets));
    Ok(Ports {
        servers: Arc::new(mcp_json::McpJson::new(config_file, lock.clone())),
        documents: Arc::new(documents::DocumentFolder::new(data_dir.clone(), lock.clone(), sealer)),
        audit: Arc::new(audit::AuditDatabase::new(&data_dir, Arc::clone(&keys))?),
        history: Arc::new(history::HistoryDatabase::new(&data_dir, keys)),
        managed: Arc::new(ManagedFile::of_this_system()),
        secrets,
        platform,
        clock: Arc::new(ports::time::SystemClock),
    })
}

/// What [`look`] gives.
pub struct Looked {
    /// The servers.
    pub servers: Arc<dyn ServerSettings>,
    /// The keychain.
    pub secrets: Arc<dyn Secrets>,
    /// The documents.
    pub documents: Arc<dyn Documents>,
}

/// The servers, the secrets and the documents of these folders, for whoever only looks: no folder and no file is made.
///
/// # Errors
/// If it can't be told where the folders lie.
pub fn look(config_file: &Path, data_dir: &Path) -> Result<Looked, StoreError> {
    let folder = absolute(data_dir)?;
    let folder = if cfg!(windows) { folder } else { folder.canonicalize().unwrap_or(folder) };
    let lock = lock::Lock::new(folder.join(LOCK));
    let servers = mcp_json::McpJson::new(absolute(config_file)?, lock.clone());
    let secrets: Arc<dyn Secrets> = Arc::new(secrets::SecretsFile::new(&folder, lock.clone()));
    let sealer =
        sealed_document::DocumentSealer::new(audit::KeyHolder::new(Arc::clone(&secrets)), Arc::clone(&secrets));
    let documents = Arc::new(documents::DocumentFolder::new(folder, lock, sealer));
    Ok(Looked { servers: Arc::new(servers), secrets, documents })
}

/// Makes the folder if it is missing and resolves links and `..` in its path.
///
/// The keychain's entries are named after the path, so two spellings of it would be two places: one whose seals are known, and
/// one where nothing was ever sealed.
fn real_folder(path: &Path) -> Result<PathBuf, StoreError> {
    let path = absolute(path)?;
    files::make_folder(&path)?;
    // Canonical paths of Windows have a prefix that other programs do not read.
    if cfg!(windows) {
        return Ok(path);
    }
    path.canonicalize().map_err(|error| files::failed(&path, "find out where it lies", &error))
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|error| files::failed(path, "find out where it lies", &error))
}
