//! A folder for files that a target reads again and again: in memory where the system has such a place.

use std::path::Path;

use tempfile::TempDir;

/// A new folder, which is removed with the value.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a folder can be made")
}
