//! Temporary folders for files that a target reads repeatedly, in memory if the system has such a file system.

use std::path::Path;

use tempfile::TempDir;

/// Creates a temporary folder, in memory if the system has such a file system. Dropping the value removes the folder.
pub(crate) fn temporary_folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}
