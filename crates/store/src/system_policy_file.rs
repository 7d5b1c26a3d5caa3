//! The file with system-wide rules, which an administrator writes in a system folder. Drawbridge only reads it.

use std::path::{Path, PathBuf};

use domain::StoreError;
use ports::ManagedPolicy;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::files;

/// Maximum size of the system-wide policy file, in bytes.
const MAX_POLICY_FILE_BYTES: u64 = 4 << 20;

/// The policy file with system-wide rules. Implements [`ManagedPolicy`](ports::ManagedPolicy).
#[derive(Debug, Clone)]
pub struct SystemPolicyFile {
    path: PathBuf,
    /// Set if the file is rejected when anyone other than an administrator can write to it.
    requires_admin_owner: bool,
}

impl SystemPolicyFile {
    /// Creates a policy file at another path. Its owner and permissions are not checked. For tests.
    #[must_use]
    pub const fn with_path(path: PathBuf) -> Self {
        Self { path, requires_admin_owner: false }
    }

    /// Returns the policy file of this operating system: `/etc/drawbridge/policy.json` on Linux, `/Library/Application
    /// Support/Drawbridge/policy.json` on macOS, `%ProgramData%\Drawbridge\policy.json` on Windows. No setting changes
    /// this path, except for the variable `ProgramData` on Windows.
    #[must_use]
    pub fn for_system() -> Self {
        let folder = if cfg!(windows) {
            let data = std::env::var_os("ProgramData").map_or_else(|| PathBuf::from(r"C:\ProgramData"), PathBuf::from);
            data.join("Drawbridge")
        } else if cfg!(target_os = "macos") {
            PathBuf::from("/Library/Application Support/Drawbridge")
        } else {
            PathBuf::from("/etc/drawbridge")
        };
        Self { path: folder.join("policy.json"), requires_admin_owner: true }
    }
}

impl ManagedPolicy for SystemPolicyFile {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self) -> Result<Option<Value>, StoreError> {
        let Some(bytes) = files::read(&self.path, MAX_POLICY_FILE_BYTES)? else { return Ok(None) };
        if self.requires_admin_owner {
            check_ownership(&self.path, ROOT_USER_ID)
                .map_err(|cause| StoreError { path: self.path.display().to_string(), cause })?;
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError {
            path: self.path.display().to_string(),
            cause: format!("line {}: it is not JSON ({error})", error.line()),
        })
    }

    fn watch(&self, changed: mpsc::Sender<()>) {
        crate::file_watch::watch_file(self.path.clone(), changed);
    }
}

/// User ID of the administrator on Unix.
const ROOT_USER_ID: u32 = 0;

/// Checks that a file and its folder belong to `owner`, and that no other user has write access. Other users could
/// otherwise relax the system-wide rules.
#[cfg(unix)]
fn check_ownership(path: &Path, owner: u32) -> Result<(), String> {
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

/// Accepts any file: on Windows, only administrators have write access to its folder by default.
#[cfg(not(unix))]
fn check_ownership(_path: &Path, _owner: u32) -> Result<(), String> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn file_writable_by_others_is_rejected() {
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
            let checked = check_ownership(&path, owner);
            assert_eq!(checked.is_ok(), is_good, "folder {folder_mode:o}, file {mode:o}: {checked:?}");
        }
        set(folder.path(), 0o755);
        assert!(check_ownership(&path, owner + 1).is_err(), "a file of another user must be refused");
    }
}
