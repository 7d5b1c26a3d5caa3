//! Settings file that a target writes and that the code of the app reads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ports::secrets::SecretsInMemory;
use ports::{Ports, ServerSettings};
use store::FileBackedPlatform;
use tempfile::TempDir;

/// Settings file in a temporary folder that all fuzz targets in the process use in turn.
pub(crate) struct SharedSettings {
    ports: Ports,
    _folder: TempDir,
}

impl SharedSettings {
    /// Waits until no other caller uses the settings, and returns them.
    pub(crate) fn lock() -> MutexGuard<'static, SharedSettings> {
        static SETTINGS: OnceLock<Mutex<SharedSettings>> = OnceLock::new();
        let settings = SETTINGS.get_or_init(|| {
            let folder = crate::scratch::temporary_folder();
            let platform = Arc::new(FileBackedPlatform::new(folder.path()));
            let file = folder.path().join("mcp.json");
            let secrets = Arc::new(SecretsInMemory::default());
            let ports = store::open_with(&file, &folder.path().join("data"), platform, secrets);
            Mutex::new(SharedSettings { ports: ports.expect("the folder can be used"), _folder: folder })
        });
        settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the path of the settings file.
    pub(crate) fn file(&self) -> PathBuf {
        self.servers().path()
    }

    /// Returns the implementation of the host's port that reads and writes the file.
    pub(crate) fn servers(&self) -> &dyn ServerSettings {
        &*self.ports.servers
    }
}
