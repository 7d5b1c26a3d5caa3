//! Systems without a sandbox, such as Windows: folders and the network can be restricted for a process only with an
//! AppContainer, which Rust's standard library can't start yet. A server that should be sandboxed does not start.

use std::path::Path;

use super::{Inside, Mechanism, Plan, SandboxError};
use crate::programs::SearchPath;

fn not_here() -> SandboxError {
    SandboxError::NotHere {
        cause: "Drawbridge has no sandbox on this system yet".to_owned(),
        next: "Turn the sandbox off in the server's settings, or run the server in a container",
    }
}

pub(super) async fn mechanism(_path: &SearchPath) -> Result<Mechanism, SandboxError> {
    Err(not_here())
}

pub(super) async fn parts(_path: &SearchPath) -> Vec<(&'static str, Result<(), String>)> {
    Vec::new()
}

pub(super) fn inside(_plan: &Plan, _server: Inside, _directory: &Path) -> Result<Inside, SandboxError> {
    Err(not_here())
}
