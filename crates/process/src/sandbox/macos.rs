//! Sandboxes on macOS, with `sandbox-exec` and a profile for each server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{LaunchCommand, ResolvedSandbox, SandboxError, SandboxMechanism, seatbelt};
use crate::programs::SearchPath;

const SANDBOX_EXEC_PROGRAM: &str = "/usr/bin/sandbox-exec";

pub(super) async fn find_sandbox_mechanism(_path: &SearchPath) -> Result<SandboxMechanism, SandboxError> {
    if Path::new(SANDBOX_EXEC_PROGRAM).is_file() {
        return Ok(SandboxMechanism::Seatbelt);
    }
    Err(SandboxError::NoMechanism {
        cause: format!("{SANDBOX_EXEC_PROGRAM} is not there"),
        next: "Turn the sandbox off in the server's settings",
    })
}

pub(super) async fn check_sandbox_features(path: &SearchPath) -> Vec<(&'static str, Result<(), String>)> {
    vec![("sandbox-exec", find_sandbox_mechanism(path).await.map(drop).map_err(|error| error.to_string()))]
}

pub(super) fn wrap_in_sandbox(
    plan: &ResolvedSandbox,
    server: LaunchCommand,
    _directory: &Path,
) -> Result<LaunchCommand, SandboxError> {
    let profile = seatbelt::build_seatbelt_profile(plan)
        .map_err(|folder| SandboxError::NoFolder { folder, cause: "its path is not Unicode text".to_owned() })?;
    let mut arguments: Vec<OsString> = vec!["-p".into(), profile.into(), server.program.into()];
    arguments.extend(server.arguments);
    Ok(LaunchCommand { program: PathBuf::from(SANDBOX_EXEC_PROGRAM), arguments, ..server })
}
