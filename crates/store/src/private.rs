//! Files and folders that only their owner can read, and how a file is told from another one under the same name.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::path::Path;

use domain::StoreError;

/// Makes folders that only their owner can enter.
pub(crate) fn folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes files that only their owner can read. Files that are there keep their permissions.
pub(crate) fn file_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "the folder of the user is already theirs alone"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes everybody else's permissions from a file, if it is there.
#[cfg_attr(not(unix), expect(clippy::unnecessary_wraps, reason = "the folder of the user is already theirs alone"))]
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        match std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(crate::files::failed(path, "make it private", &error));
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Another number when something else lies under the name, as far as the system tells.
#[cfg(unix)]
pub(crate) fn identity(metadata: &Metadata) -> u128 {
    use std::os::unix::fs::MetadataExt as _;
    (u128::from(metadata.dev()) << 64) | u128::from(metadata.ino())
}

/// Another number when something else lies under the name, as far as the system tells.
#[cfg(not(unix))]
pub(crate) fn identity(metadata: &Metadata) -> u128 {
    metadata
        .created()
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos())
}
