//! The settings of other apps in `tests/import`. Callers: the import tests of `api` and of `drawbridge-cli`.

use std::path::{Path, PathBuf};

/// The absolute path of a home or a trap in `tests/import`.
///
/// # Panics
/// If there is none of this name.
pub fn import_fixtures(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import").join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
