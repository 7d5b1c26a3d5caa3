//! The rules that whoever runs this computer sets for all its users: one file in a folder of the system, only ever read.

use std::path::{Path, PathBuf};

use domain::StoreError;
use ports::ManagedPolicy;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::files;

/// The file is small; more is not read.
const LIMIT: u64 = 4 << 20;

/// The system-wide file of rules.
#[derive(Debug, Clone)]
pub struct ManagedFile {
    path: PathBuf,
    /// Whether only who manages the computer may be able to write it.
    is_guarded: bool,
}

impl ManagedFile {
    /// The file at another place, as tests have it.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path, is_guarded: false }
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
        Self { path: folder.join("policy.json"), is_guarded: true }
    }
}

impl ManagedPolicy for ManagedFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self) -> Result<Option<Value>, StoreError> {
        let Some(bytes) = files::read(&self.path, LIMIT)? else { return Ok(None) };
        if self.is_guarded {
            guarded(&self.path, ADMINISTRATOR)
                .map_err(|cause| StoreError { path: self.path.display().to_string(), cause })?;
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError {
            path: self.path.display().to_string(),
            cause: format!("line {}: it is not JSON ({error})", error.line()),
        })
    }

    fn watch(&self, changed: mpsc::Sender<()>) {
        crate::watch::start("managed policy", self.path.clone(), changed);
    }
}

/// The number of the user who manages a computer, where users have numbers.
const ADMINISTRATOR: u32 = 0;

/// Checks that a file and its folder are `owner`'s and that nobody else may write them: else whoever may could loosen what is
/// set for all.
#[cfg(unix)]
fn guarded(path: &Path, owner: u32) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;

    for place in [Some(path), path.parent()].into_iter().flatten() {
        let facts = place.metadata().map_err(|error| error.to_string())?;
        if facts.uid() != owner || facts.mode() & 0o022 != 0 {
            let shown = place.display();
            return Err(format!(
                "others than who manages this computer may write {shown}; give it to root, and take the right to write it from all others"
            ));
        }
    }
    Ok(())
}

/// Windows lets only administrators write where this file lies, unless they have said otherwise.
#[cfg(not(unix))]
fn guarded(_path: &Path, _owner: u32) -> Result<(), String> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn a_file_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        std::fs::write(&path, "{}").unwrap();
        let owner = path.metadata().unwrap().uid();
        let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        for (folder_mode, mode, is_good) in
            [(0o755, 0o644, true), (0o755, 0o664, false), (0o755, 0o646, false), (0o777, 0o644, false)]
        {
            set(folder.path(), folder_mode);
            set(&path, mode);
            let checked = guarded(&path, owner);
            assert_eq!(checked.is_ok(), is_good, "folder {folder_mode:o}, file {mode:o}: {checked:?}");
        }
        set(folder.path(), 0o755);
        assert!(guarded(&path, owner + 1).is_err(), "somebody else's file");
    }
}
