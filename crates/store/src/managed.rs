//! The rules that whoever runs this computer sets for all its users: one file in a folder of the system, only ever read.

use std::path::PathBuf;

use host::ports::{ManagedPolicy, StoreError};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::files;

/// The file is small; more is not read.
const LIMIT: u64 = 4 << 20;

/// The system-wide file of rules.
#[derive(Debug, Clone)]
pub struct ManagedFile {
    path: PathBuf,
}

impl ManagedFile {
    /// The file at another place, as tests have it.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where this system has it: `/etc/drawbridge/policy.json` on Linux, `/Library/Application Support/Drawbridge/policy.json`
    /// on macOS, `%ProgramData%\Drawbridge\policy.json` on Windows. Nothing that a user sets names another place, but for that
    /// variable of Windows.
    #[must_use]
    pub fn of_this_system() -> Self {
        let folder = if cfg!(windows) {
            let data = std::env::var_os("ProgramData").map_or_else(|| PathBuf::from(r"C:\ProgramData"), PathBuf::from);
            data.join("Drawbridge")
        } else if cfg!(target_os = "macos") {
            PathBuf::from("/Library/Application Support/Drawbridge")
        } else {
            PathBuf::from("/etc/drawbridge")
        };
        Self::at(folder.join("policy.json"))
    }
}

impl ManagedPolicy for ManagedFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self) -> Result<Option<Value>, StoreError> {
        let Some(bytes) = files::read(&self.path, LIMIT)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError {
            path: self.path.display().to_string(),
            cause: format!("line {}: it is not JSON ({error})", error.line()),
        })
    }

    fn watch(&self, changed: mpsc::Sender<()>) {
        crate::watch::start("managed policy", self.path.clone(), changed);
    }
}
