//! Paths of folders in the repository.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::problem::Problem;

/// Returns the root folder of the repository.
pub(crate) fn root_folder() -> PathBuf {
    // The folder of this crate is two levels below the root of the checkout in which xtask was built.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Returns the folder `ui` with the sources of the page.
pub(crate) fn ui_folder() -> PathBuf {
    root_folder().join("ui")
}

/// Returns the folder of the test suites that involve several crates.
pub(crate) fn tests_folder() -> PathBuf {
    root_folder().join("tests")
}

/// Returns the path of Cargo's target folder.
pub(crate) fn target_directory() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        // Cargo resolves a relative path against the current folder.
        Some(folder) => env::current_dir().unwrap_or_else(|_| root_folder()).join(folder),
        None => root_folder().join("target"),
    }
}

/// Returns the path of a binary of the workspace, as built by `cargo build`.
pub(crate) fn binary_path(profile: &str, name: &str) -> PathBuf {
    target_directory().join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// Returns the path of an example of the workspace, as built by `cargo build --all-targets`.
pub(crate) fn example_binary_path(name: &str) -> PathBuf {
    binary_path("debug/examples", name)
}

/// Returns the path of the subfolder `name` of Cargo's target folder, after creating it if it does not exist.
pub(crate) fn create_folder_in_target(name: &str) -> Result<PathBuf, Problem> {
    let folder = target_directory().join(name);
    fs::create_dir_all(&folder).map_err(Problem::file_error(&folder))?;
    Ok(folder)
}
