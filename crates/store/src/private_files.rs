//! Files and folders that are accessible only to their owner, and the identity of files.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::path::Path;

use domain::StoreError;

/// Returns a builder for folders that are accessible only to their owner.
pub(crate) fn private_folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Returns options that create files accessible only to their owner. Existing files keep their permissions.
pub(crate) fn private_file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the folder of the user is already theirs alone"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Removes all permissions of other users from a file. Does nothing if the file does not exist.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "the folder of the user is already theirs alone"))]
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        match std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(crate::files::file_error(path, "make it private", &error));
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Returns a number that identifies a file on this computer: device and inode.
#[cfg(unix)]
pub(crate) fn file_identity(metadata: &Metadata) -> u128 {
    use std::os::unix::fs::MetadataExt as _;
    (u128::from(metadata.dev()) << 64) | u128::from(metadata.ino())
}

/// Returns a number that usually identifies a file on this computer: its creation time.
#[cfg(not(unix))]
pub(crate) fn file_identity(metadata: &Metadata) -> u128 {
    metadata
        .created()
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos())
}
