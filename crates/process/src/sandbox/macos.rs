//! Sandboxes on macOS: `sandbox-exec`, with a profile for each server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Inside, Mechanism, Plan, SandboxError, seatbelt};
use crate::programs::SearchPath;

const PROGRAM: &str = "/usr/bin/sandbox-exec";

pub(super) async fn mechanism(_path: &SearchPath) -> Result<Mechanism, SandboxError> {
    if Path::new(PROGRAM).is_file() {
        return Ok(Mechanism::Seatbelt);
    }
    Err(SandboxError::NotHere {
        cause: format!("{PROGRAM} is not there"),
        next: "Turn the sandbox off in the server's settings",
    })
}

pub(super) async fn parts(path: &SearchPath) -> Vec<(&'static str, Result<(), String>)> {
    vec![("sandbox-exec", mechanism(path).await.map(drop).map_err(|error| error.to_string()))]
}

pub(super) fn inside(plan: &Plan, server: Inside, _directory: &Path) -> Result<Inside, SandboxError> {
    let profile = seatbelt::profile(plan)
        .map_err(|folder| SandboxError::NoFolder { folder, cause: "its path is not Unicode text".to_owned() })?;
    let mut arguments: Vec<OsString> = vec!["-p".into(), profile.into(), server.program.into()];
    arguments.extend(server.arguments);
    Ok(Inside { program: PathBuf::from(PROGRAM), arguments, ..server })
}
