//! Builds the desktop app as it is released, with the page embedded and the demo server in the same folder.

use std::path::PathBuf;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::workspace;

/// Name of the folder below `target/` that contains debug builds.
pub(crate) const DEBUG_PROFILE: &str = "debug";
/// Name of the folder below `target/` that contains release builds.
pub(crate) const RELEASE_PROFILE: &str = "release";

/// Returns the cargo command that builds the desktop app and the demo server together, so that their dependencies are
/// built once.
pub(crate) fn desktop_app_build_command(profile: &str) -> Program {
    let call = cargo().dir(workspace::root_folder()).arg("build");
    let call = if profile == RELEASE_PROFILE { call.arg("--release") } else { call };
    // Without this feature Tauri loads the page from the development server.
    call.args(["-p", "drawbridge", "-p", "demo-server", "--features", "drawbridge/custom-protocol"])
}

/// Returns the path of the desktop app's executable in the build output.
pub(crate) fn desktop_app_path(profile: &str) -> Result<PathBuf, Problem> {
    let app = workspace::binary_path(profile, "drawbridge");
    if app.is_file() {
        Ok(app)
    } else {
        Err(Problem::Machine(format!("{} is not there after the build", app.display())))
    }
}
