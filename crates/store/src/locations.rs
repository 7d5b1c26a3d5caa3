//! Default locations of files, by the conventions of each system.

use std::path::PathBuf;

use domain::StoreError;
use etcetera::BaseStrategy;

/// Paths of the settings file and the data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocations {
    /// Path of `mcp.json`, which contains the servers.
    pub config_file: PathBuf,
    /// Folder for documents (such as rules and grants), secrets, the audit log and conversations.
    pub data_dir: PathBuf,
}

/// Returns the cache folder of this user, where for instance `npx` and `uvx` store packages: `~/.cache` on Linux.
/// Returns `None` if the operating system reports no home folder.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    etcetera::base_strategy::choose_native_strategy().ok().map(|base| base.cache_dir())
}

/// Returns the folder for cached responses of registries, for [`CacheFolder::open`](crate::CacheFolder::open):
/// `~/.cache/drawbridge/registries` on Linux. Returns `None` if the operating system reports no home folder.
#[must_use]
pub fn registry_cache_folder() -> Option<PathBuf> {
    let own = if cfg!(any(target_os = "macos", windows)) { "Drawbridge" } else { "drawbridge" };
    cache_folder().map(|folder| folder.join(own).join("registries"))
}

/// Returns the default locations: `~/.config/drawbridge/mcp.json` and `~/.local/share/drawbridge` on Linux (or
/// according to `XDG_CONFIG_HOME` and `XDG_DATA_HOME`), `~/Library/Application Support/Drawbridge` on macOS,
/// `%APPDATA%\Drawbridge` on Windows.
///
/// # Errors
/// Returns [`StoreError`] if the operating system reports no home folder.
pub fn default_locations() -> Result<FileLocations, StoreError> {
    let base = etcetera::base_strategy::choose_native_strategy().map_err(|error| StoreError {
        path: String::from("~"),
        cause: format!(
            "the home folder is unknown ({error}); set HOME, or specify the files with --config and --data-dir"
        ),
    })?;
    Ok(if cfg!(any(target_os = "macos", windows)) {
        let folder = base.data_dir().join("Drawbridge");
        FileLocations { config_file: folder.join("mcp.json"), data_dir: folder }
    } else {
        FileLocations {
            config_file: base.config_dir().join("drawbridge").join("mcp.json"),
            data_dir: base.data_dir().join("drawbridge"),
        }
    })
}
