//! Sandboxes on other systems, such as Windows, are not supported: there, folders and the network can be restricted for
//! a process only with an AppContainer, which Rust's standard library can't start yet. A server that should be
//! sandboxed does not start.

use std::path::Path;

use super::{LaunchCommand, ResolvedSandbox, SandboxError, SandboxMechanism};
use crate::programs::SearchPath;

fn unsupported_error() -> SandboxError {
    SandboxError::NoMechanism {
        cause: "Drawbridge has no sandbox on this system yet".to_owned(),
        next: "Turn the sandbox off in the server's settings, or run the server in a container",
    }
}

pub(super) async fn find_sandbox_mechanism(_path: &SearchPath) -> Result<SandboxMechanism, SandboxError> {
    Err(unsupported_error())
}

pub(super) async fn check_sandbox_features(_path: &SearchPath) -> Vec<(&'static str, Result<(), String>)> {
    Vec::new()
}

pub(super) fn wrap_in_sandbox(
    _plan: &ResolvedSandbox,
    _server: LaunchCommand,
    _directory: &Path,
) -> Result<LaunchCommand, SandboxError> {
    Err(unsupported_error())
}
