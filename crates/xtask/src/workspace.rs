//! Paths of the repository's folders.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::problem::Problem;

/// The repository's top folder.
pub(crate) fn root_folder() -> PathBuf {
    // crates/xtask is two levels below; the path is that of the checkout which this binary was built from.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Returns the path of the page's folder.
pub(crate) fn ui_folder() -> PathBuf {
    root_folder().join("ui")
}

/// The folder of the suites that cross crates.
pub(crate) fn tests_folder() -> PathBuf {
    root_folder().join("tests")
}

/// Returns the path of Cargo's target folder.
pub(crate) fn target_directory() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        // Relative to where cargo was called, like cargo itself takes it.
        Some(folder) => env::current_dir().unwrap_or_else(|_| root_folder()).join(folder),
        None => root_folder().join("target"),
    }
}

/// A binary of ours, as `cargo build` leaves it.
pub(crate) fn binary_path(profile: &str, name: &str) -> PathBuf {
    target_directory().join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// An example of ours, as `cargo build --all-targets` leaves it.
pub(crate) fn example_path(name: &str) -> PathBuf {
    binary_path("debug/examples", name)
}

/// A folder below the target folder, made when it is not there yet.
pub(crate) fn target_folder(name: &str) -> Result<PathBuf, Problem> {
    let folder = target_directory().join(name);
    fs::create_dir_all(&folder).map_err(Problem::file(&folder))?;
    Ok(folder)
}
