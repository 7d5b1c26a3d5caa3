//! The plan of a sandbox: what it would reach and what would hold it. The host shows it for approval; the start of a server makes it again,
//! compares it, and carries it out.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::Gate;
use super::{Access, Folder, Mechanism, Network, Reach, ResourceLimits, Sandbox, SandboxError, system};
use crate::launch::ChildSetup;
use crate::programs::SearchPath;

/// A sandbox that can be set up: what holds the server, and all that it reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What holds it.
    pub mechanism: Mechanism,
    /// What it reaches.
    pub reach: Reach,
    /// The hosts that the sandbox lets the server connect to.
    pub network: Network,
    /// How much of this computer it may use.
    pub limits: ResourceLimits,
}

/// How a program is started, inside a sandbox or without one.
pub(crate) struct Inside {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Has the process give up rights before the program runs.
    pub(crate) setup: Option<ChildSetup>,
    /// Holds its program back until its way out is there, if that is a proxy.
    #[cfg(target_os = "linux")]
    pub(crate) gate: Option<Gate>,
}

impl Plan {
    /// Finds out whether and how `program`, which runs `scripts`, can be held in this sandbox. bubblewrap is looked for on `path`, and
    /// interpreters on `path_of_command`. Changes nothing.
    ///
    /// # Errors
    /// [`SandboxError`], if it can't be held as it was asked for.
    pub(crate) async fn of(
        sandbox: &Sandbox,
        working_directory: Option<&Path>,
        program: &Path,
        scripts: &[PathBuf],
        path: &SearchPath,
        path_of_command: &SearchPath,
    ) -> Result<Plan, SandboxError> {
        check(sandbox)?;
        if let Some(directory) = working_directory {
            let is_in = |folder: &Folder| directory.starts_with(&folder.path);
            let real = directory.canonicalize().is_ok_and(|real| real == directory);
            if !real || !sandbox.folders.iter().any(is_in) {
                return Err(SandboxError::OutOfReach(directory.to_owned()));
            }
        }
        if let Some(problem) = sandbox.network.problem() {
            return Err(SandboxError::Hosts(problem));
        }
        let mechanism = system::mechanism(path).await?;
        if matches!(sandbox.network, Network::Hosts(_)) && !matches!(mechanism, Mechanism::Bubblewrap(_)) {
            return Err(SandboxError::NoHosts { mechanism: mechanism.name() });
        }
        let reach = Reach::of(sandbox, program, scripts, path_of_command);
        if let (Mechanism::Landlock, Some(hidden)) = (&mechanism, reach.hidden.first()) {
            let folder = reach.covering(hidden).unwrap_or(hidden).to_owned();
            return Err(SandboxError::Exposes { folder, hidden: hidden.clone() });
        }
        Ok(Plan { mechanism, reach, network: sandbox.network.clone(), limits: sandbox.limits })
    }

    /// Makes the server's own folders, and says how what would be started without a sandbox is started in it.
    ///
    /// # Errors
    /// [`SandboxError`], if a folder can't be made or the kernel does not take the restriction.
    pub(crate) fn inside(&self, server: Inside, directory: &Path) -> Result<Inside, SandboxError> {
        make_private(&self.reach.temporary())
            .map_err(|cause| SandboxError::NoHome { folder: self.reach.home.clone(), cause: cause.to_string() })?;
        system::inside(self, server, directory)
    }
}

/// Whether the folders are what they seem.
fn check(sandbox: &Sandbox) -> Result<(), SandboxError> {
    for Folder { path, access } in &sandbox.folders {
        if !path.is_absolute() {
            return Err(SandboxError::NotWhole(path.clone()));
        }
        let no_folder = |cause: String| SandboxError::NoFolder { folder: path.clone(), cause };
        let real = path.canonicalize().map_err(|error| no_folder(error.to_string()))?;
        if !real.is_dir() {
            return Err(no_folder("it is not a folder".to_owned()));
        }
        if real != *path {
            return Err(SandboxError::Leads { folder: path.clone(), target: real });
        }
        let holds = |outer: &&Folder| outer.access == Access::Write && path.starts_with(&outer.path);
        if *access == Access::Read
            && let Some(outer) = sandbox.folders.iter().find(holds)
        {
            return Err(SandboxError::Contradiction { inner: path.clone(), outer: outer.path.clone() });
        }
    }
    Ok(())
}

/// Makes a folder that only its user may look into.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
