//! Where things lie, by the rules of each system.

use std::path::PathBuf;

use domain::StoreError;
use etcetera::BaseStrategy;

/// The settings file and the folder for all else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locations {
    /// `mcp.json` with the servers.
    pub config_file: PathBuf,
    /// The folder for settings, grants, the audit log and conversations.
    pub data_dir: PathBuf,
}

/// The folder in which programs of this user keep what they can load again, such as the packages of `npx` and `uvx`: `~/.cache` on
/// Linux. None if the system names no home folder.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    etcetera::base_strategy::choose_native_strategy().ok().map(|base| base.cache_dir())
}

/// The folder for answers of registries, for [`CacheFolder::open`](crate::CacheFolder::open): `~/.cache/drawbridge/registries` on Linux. None if
/// the system names no home folder.
#[must_use]
pub fn registry_cache_folder() -> Option<PathBuf> {
    let own = if cfg!(any(target_os = "macos", windows)) { "Drawbridge" } else { "drawbridge" };
    cache_folder().map(|folder| folder.join(own).join("registries"))
}

/// Where things lie unless told otherwise: `~/.config/drawbridge/mcp.json` and `~/.local/share/drawbridge` on Linux (or where
/// `XDG_CONFIG_HOME` and `XDG_DATA_HOME` say), `~/Library/Application Support/Drawbridge` on macOS, `%APPDATA%\Drawbridge` on
/// Windows.
///
/// # Errors
/// If the system names no home folder.
pub fn default_locations() -> Result<Locations, StoreError> {
    let base = etcetera::base_strategy::choose_native_strategy().map_err(|error| StoreError {
        path: String::from("~"),
        cause: format!(
            "the home folder is not known ({error}); set HOME, or name the files with --config and --data-dir"
        ),
    })?;
    Ok(if cfg!(any(target_os = "macos", windows)) {
        let folder = base.data_dir().join("Drawbridge");
        Locations { config_file: folder.join("mcp.json"), data_dir: folder }
    } else {
        Locations {
            config_file: base.config_dir().join("drawbridge").join("mcp.json"),
            data_dir: base.data_dir().join("drawbridge"),
        }
    })
}
