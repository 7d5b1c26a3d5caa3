//! The app in its release form: the page built in, and the demo server next to it.

use std::path::PathBuf;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::workspace;

/// The folder below target/ of debug builds.
pub(crate) const DEBUG: &str = "debug";
/// The folder below target/ of release builds.
pub(crate) const RELEASE: &str = "release";

/// Returns the cargo call that builds the app and the demo server together, so that they share dependencies.
pub(crate) fn build_program(profile: &str) -> Program {
    let call = cargo().dir(workspace::root_folder()).arg("build");
    let call = if profile == RELEASE { call.arg("--release") } else { call };
    // Without this feature Tauri loads the page from the development server.
    call.args(["-p", "drawbridge", "-p", "demo-server", "--features", "drawbridge/custom-protocol"])
}

/// Returns the path of the built app.
pub(crate) fn app_path(profile: &str) -> Result<PathBuf, Problem> {
    let app = workspace::binary_path(profile, "drawbridge");
    if app.is_file() {
        Ok(app)
    } else {
        Err(Problem::Machine(format!("{} is not there after the build", app.display())))
    }
}
