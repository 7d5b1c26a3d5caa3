//! Saves files that the user exports from the window: shows the dialog, and creates and writes the file. Used by `api`,
//! and by the export of the audit log.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::storage::StorageError;
use super::{Host, HostClosed};

impl Host {
    /// Lets the user choose a path, and writes the file with permissions for the current user only. Returns `None` if
    /// the user cancels the dialog.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::File`] with the cause if the dialog or the write fails.
    pub async fn save_file<E: std::fmt::Display + Send + 'static>(
        &self,
        proposed_name: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E> + Send + 'static,
    ) -> Result<Option<PathBuf>, StorageError> {
        let picked = self.ports.platform.pick_save_file(proposed_name).await.map_err(StorageError::File)?;
        let Some(path) = picked else { return Ok(None) };
        let to = path.clone();
        let written = tokio::task::spawn_blocking(move || {
            let mut file = BufWriter::new(create_private_file(&to).map_err(|error| error.to_string())?);
            write(&mut file).map_err(|error| error.to_string())?;
            file.flush().map_err(|error| error.to_string())
        });
        match written.await {
            Ok(Ok(())) => Ok(Some(path)),
            Ok(Err(cause)) => Err(StorageError::File(format!("{}: {cause}", path.display()))),
            Err(error) => {
                tracing::error!(%error, "writing a saved file panicked");
                Err(HostClosed.into())
            }
        }
    }
}

/// Creates or truncates a file, and restricts its permissions to the current user even if it existed.
fn create_private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        // Some file systems have no permissions, for example on a USB stick. Saving there is the user's choice.
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            let _ = file.set_permissions(std::fs::Permissions::from_mode(0o600));
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn s13_export_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.jsonl");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(create_private_file(&path).unwrap());
        assert_eq!(mode(), 0o600, "a new file is private");
        std::fs::write(&path, "older").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        drop(create_private_file(&path).unwrap());
        assert_eq!(mode(), 0o600, "an existing file becomes private");
        assert_eq!(std::fs::read(&path).unwrap(), b"", "an existing file is truncated");
    }
}
