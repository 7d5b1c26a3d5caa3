//! The plan of a sandbox: its mechanism, and everything that is accessible in it. The host shows the plan to the user
//! for approval. The start of a server makes the plan again, compares it with the approved one, and carries it out.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::StartBarrier;
use super::{
    AccessMode, AllowedFolder, NetworkAccess, ReachablePaths, ResourceLimits, SandboxError, SandboxMechanism,
    SandboxSettings, system,
};
use crate::launch::ChildSetup;
use crate::programs::SearchPath;

/// The plan of a sandbox, which the user approves: its mechanism, its limits, and everything that is accessible in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedSandbox {
    /// Mechanism of this computer that enforces the plan.
    pub mechanism: SandboxMechanism,
    /// Paths that are accessible in the sandbox, and the hidden folders inside them.
    pub reach: ReachablePaths,
    /// Network access of the server, as the user configured it.
    pub network: NetworkAccess,
    /// Resource limits at which the server is stopped.
    pub limits: ResourceLimits,
}

/// The command line and environment with which a program is started, either directly or through a sandbox mechanism,
/// with the steps that precede the program.
pub(crate) struct LaunchCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Function that makes the child process restrict itself before the server's program runs, or `None`.
    pub(crate) setup: Option<ChildSetup>,
    /// Barrier that delays the server's program until the egress proxy listens. `None` if the network is not restricted
    /// to named hosts.
    #[cfg(target_os = "linux")]
    pub(crate) barrier: Option<StartBarrier>,
}

impl ResolvedSandbox {
    /// Determines the mechanism and the accessible paths for `program`, which runs `scripts`. bubblewrap is looked up
    /// on `path`, and interpreters on `path_of_command`. Changes no file.
    ///
    /// # Errors
    /// Returns [`SandboxError`] if the requested sandbox can't be enforced.
    pub(crate) async fn resolve(
        sandbox: &SandboxSettings,
        working_directory: Option<&Path>,
        program: &Path,
        scripts: &[PathBuf],
        path: &SearchPath,
        path_of_command: &SearchPath,
    ) -> Result<ResolvedSandbox, SandboxError> {
        check_sandbox_folders(sandbox)?;
        if let Some(directory) = working_directory {
            let is_in = |folder: &AllowedFolder| directory.starts_with(&folder.path);
            let real = directory.canonicalize().is_ok_and(|real| real == directory);
            if !real || !sandbox.folders.iter().any(is_in) {
                return Err(SandboxError::WorkingDirectoryOutside(directory.to_owned()));
            }
        }
        if let Some(problem) = sandbox.network.problem() {
            return Err(SandboxError::InvalidHosts(problem));
        }
        let mechanism = system::find_sandbox_mechanism(path).await?;
        if matches!(sandbox.network, NetworkAccess::Hosts(_)) && !matches!(mechanism, SandboxMechanism::Bubblewrap(_)) {
            return Err(SandboxError::HostsUnsupported { mechanism: mechanism.name() });
        }
        let reach = ReachablePaths::resolve(sandbox, program, scripts, path_of_command);
        if let (SandboxMechanism::Landlock, Some(hidden)) = (&mechanism, reach.hidden.first()) {
            let folder = reach.containing_path(hidden).unwrap_or(hidden).to_owned();
            return Err(SandboxError::HiddenFolderExposed { folder, hidden: hidden.clone() });
        }
        Ok(ResolvedSandbox { mechanism, reach, network: sandbox.network.clone(), limits: sandbox.limits })
    }

    /// Creates the server's own folders, and returns the command that runs the command `server` inside the sandbox.
    ///
    /// # Errors
    /// Returns [`SandboxError::NoHome`] if a folder can't be created, or another [`SandboxError`] if the mechanism
    /// rejects the plan.
    pub(crate) fn wrap_in_sandbox(
        &self,
        server: LaunchCommand,
        directory: &Path,
    ) -> Result<LaunchCommand, SandboxError> {
        create_private_folder(&self.reach.temporary_folder())
            .map_err(|cause| SandboxError::NoHome { folder: self.reach.home.clone(), cause: cause.to_string() })?;
        system::wrap_in_sandbox(self, server, directory)
    }
}

/// Checks that the folders in the sandbox's settings exist, have canonical paths, and that no read-only folder is
/// inside a writable one.
fn check_sandbox_folders(sandbox: &SandboxSettings) -> Result<(), SandboxError> {
    for AllowedFolder { path, access } in &sandbox.folders {
        if !path.is_absolute() {
            return Err(SandboxError::RelativePath(path.clone()));
        }
        let no_folder = |cause: String| SandboxError::NoFolder { folder: path.clone(), cause };
        let real = path.canonicalize().map_err(|error| no_folder(error.to_string()))?;
        if !real.is_dir() {
            return Err(no_folder("it is not a folder".to_owned()));
        }
        if real != *path {
            return Err(SandboxError::SymbolicLink { folder: path.clone(), target: real });
        }
        let holds = |outer: &&AllowedFolder| outer.access == AccessMode::Write && path.starts_with(&outer.path);
        if *access == AccessMode::Read
            && let Some(outer) = sandbox.folders.iter().find(holds)
        {
            return Err(SandboxError::ReadOnlyInsideWritable { inner: path.clone(), outer: outer.path.clone() });
        }
    }
    Ok(())
}

/// Creates a folder that is accessible only to its owner.
fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
