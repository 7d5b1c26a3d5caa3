//! Settings files of other apps in `tests/import`, for the import tests of `api` and `cli`.

use std::path::{Path, PathBuf};

/// Returns the absolute path of a home folder or hostile file in `tests/import`.
///
/// # Panics
/// Panics if there is no fixture with this name.
pub fn import_fixture_path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import").join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
