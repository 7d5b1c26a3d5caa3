//! A sandbox around a local server: it reaches the folders that the user named, what its program needs to run, and a home of its
//! own; of the network what the user said: nothing, named hosts, or all of it.
//!
//! [`Plan::make`] says what a server would reach and what would hold it; the same plan is then carried out where it is started.
//! What can't be held as it was asked for does not start.
//!
//! - [`reach`]: what a program needs beside the folders that were named
//! - [`egress`]: named hosts, through a proxy that is the only way out
//! - [`limits`]: how much of this computer it may use
//! - `linux`: bubblewrap, else Landlock, and in both no sockets to other programs of this computer
//! - `seatbelt`, `macos`: sandbox-exec. Not run by anybody yet
//! - `unsupported`: Windows has no sandbox here yet, so none is promised

pub mod egress;
pub mod limits;
mod missing;
pub mod reach;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Gate, REFUSED, Restriction, Watch, refused_at_start};

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unsupported;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use unsupported as system;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use egress::{HostPattern, Network};
#[cfg(target_os = "linux")]
pub(crate) use limits::Bounds;
pub use limits::{Exceeded, Meter, Resource, ResourceLimits, ResourceUse};
pub use missing::{Missing, missing};
pub use reach::Reach;

use crate::stdio::{SearchPath, ServerCommand};

/// What a server may reach, as its user has named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The folders, each by its whole path with no link in it.
    pub folders: Vec<Folder>,
    /// The hosts that the sandbox lets the server connect to.
    pub network: Network,
    /// A folder that is the server's own: its home and its temporary files. It is made when the server is started.
    pub home: PathBuf,
    /// Folders of which it must see nothing, also where they lie in one that it reaches. Each by its whole path with no link in it.
    pub hidden: Vec<PathBuf>,
    /// How much of this computer it may use.
    pub limits: ResourceLimits,
}

/// A folder that a server may reach, with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its whole path.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading, and running what lies there.
    Read,
    /// Changing as well.
    Write,
}

/// What holds a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mechanism {
    /// Namespaces of the Linux kernel, set up by this program.
    Bubblewrap(PathBuf),
    /// Landlock and seccomp of the Linux kernel.
    Landlock,
    /// macOS's `sandbox-exec`.
    Seatbelt,
}

impl Mechanism {
    /// Its name, as people know it.
    pub fn name(&self) -> &'static str {
        match self {
            Mechanism::Bubblewrap(_) => "bubblewrap",
            Mechanism::Landlock => "Landlock",
            Mechanism::Seatbelt => "sandbox-exec",
        }
    }
}

/// Why a server can't be held as its user wants. It does not start then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// A path starts somewhere else than at the root.
    #[error("the sandbox's folder {0} must be a whole path, from the root")]
    NotWhole(PathBuf),
    /// A folder is not there.
    #[error("the sandbox's folder {folder} can't be used: {cause}; make it, or take it out of the server's settings")]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// A path leads elsewhere, which whoever may write beside it could change.
    #[error("the sandbox's folder {folder} leads to {target}; name that one in the server's settings")]
    Leads {
        /// The folder as it is named.
        folder: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A folder is to be read only and lies in one that may be changed.
    #[error("the sandbox's folder {inner} is to be read only, but lies in {outer}, which may be changed")]
    Contradiction {
        /// The folder that is to be read only.
        inner: PathBuf,
        /// The one that it lies in.
        outer: PathBuf,
    },
    /// A folder that it reaches holds one that it must see nothing of, and this mechanism only adds to what is reached.
    #[error(
        "the sandbox reaches {folder}, in which Drawbridge keeps its records, secrets or settings ({hidden}); Landlock can't leave that out. Name smaller folders, or install bubblewrap"
    )]
    Exposes {
        /// The folder that is reached.
        folder: PathBuf,
        /// The folder in it.
        hidden: PathBuf,
    },
    /// What it would reach is not what was approved.
    #[error("what the sandbox would let it reach changed since it was approved; start it again to see how")]
    Changed,
    /// The working folder is none that it may reach.
    #[error("the working folder {0} lies in none of the sandbox's folders; name it there, or choose another one")]
    OutOfReach(PathBuf),
    /// Nothing here can hold it.
    #[error("no sandbox can be set up here: {cause}. {next}")]
    NotHere {
        /// What was tried, and what became of it.
        cause: String,
        /// What to do.
        next: &'static str,
    },
    /// The hosts that it may reach can't be used.
    #[error("the sandbox's network can't be used: {0}")]
    Hosts(String),
    /// What holds servers here can't keep one to named hosts.
    #[error(
        "{mechanism} can't keep a server to named hosts, so it does not start. Install bubblewrap (the package is called bubblewrap), or {}",
        CHOOSE_ANOTHER_NETWORK
    )]
    NoHosts {
        /// What holds servers here.
        mechanism: &'static str,
    },
    /// The server's own folder can't be made.
    #[error("the sandbox's own folder {folder} can't be made: {cause}")]
    NoHome {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        cause: String,
    },
}

/// What helps where named hosts can't be held.
const CHOOSE_ANOTHER_NETWORK: &str = "choose \"Files only\" or \"Full network\" in the server's settings";
/// The same, as a sentence of its own.
#[cfg(target_os = "linux")]
const NEXT_WITHOUT_HOSTS: &str = "Choose \"Files only\" or \"Full network\" in the server's settings";

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
    /// What the process gives up before the program runs.
    pub(crate) restriction: Option<Restriction>,
    /// Holds its program back until its way out is there, if that is a proxy.
    #[cfg(target_os = "linux")]
    pub(crate) gate: Option<Gate>,
}

/// What a process gives up before its program runs: nothing on systems whose sandbox is a program of its own.
#[cfg(not(target_os = "linux"))]
pub(crate) enum Restriction {}

#[cfg(not(target_os = "linux"))]
impl Restriction {
    pub(crate) fn install(self, _command: &mut tokio::process::Command) {
        match self {}
    }
}

impl Plan {
    /// Finds out whether and how `program`, which was found for the command, can be held. Changes nothing. None if the command
    /// has no sandbox.
    ///
    /// # Errors
    /// [`SandboxError`], if it can't be held as it was asked for.
    pub async fn make(
        command: &ServerCommand,
        program: &Path,
        path: &SearchPath,
    ) -> Result<Option<Plan>, SandboxError> {
        let Some(sandbox) = &command.sandbox else { return Ok(None) };
        check(sandbox)?;
        if let Some(directory) = &command.working_directory {
            let is_in = |folder: &Folder| directory.starts_with(&folder.path);
            let real = directory.canonicalize().is_ok_and(|real| real == *directory);
            if !real || !sandbox.folders.iter().any(is_in) {
                return Err(SandboxError::OutOfReach(directory.clone()));
            }
        }
        if let Some(problem) = sandbox.network.problem() {
            return Err(SandboxError::Hosts(problem));
        }
        let mechanism = system::mechanism(path).await?;
        if matches!(sandbox.network, Network::Hosts(_)) && !matches!(mechanism, Mechanism::Bubblewrap(_)) {
            return Err(SandboxError::NoHosts { mechanism: mechanism.name() });
        }
        let reach = Reach::of(sandbox, program, &path.of_command(command));
        if let (Mechanism::Landlock, Some(hidden)) = (&mechanism, reach.hidden.first()) {
            let folder = reach.covering(hidden).unwrap_or(hidden).to_owned();
            return Err(SandboxError::Exposes { folder, hidden: hidden.clone() });
        }
        Ok(Some(Plan { mechanism, reach, network: sandbox.network.clone(), limits: sandbox.limits }))
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
