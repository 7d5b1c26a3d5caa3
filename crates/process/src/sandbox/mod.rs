//! A sandbox around a local server: it reaches the folders that the user named, what its program needs to run, and a home of its
//! own; of the network what the user said: nothing, named hosts, or all of it.
//!
//! [`Plan::make`] says what a server would reach and what would hold it; the same plan is then carried out where it is started
//! (`server::spawn`). What can't be held as it was asked for does not start.
//!
//! - `plan`: the plan, and how a start is changed to be in the sandbox
//! - [`reach`]: what a program needs beside the folders that were named
//! - `installation`: what a program was installed along with
//! - `breadth`: which folders may be reached or proposed without the user naming them
//! - [`egress`]: named hosts, through a proxy that is the only way out
//! - [`limits`]: how much of this computer it may use
//! - [`means`]: what could hold a server on this computer, for whoever looks for what is missing
//! - `linux`: bubblewrap, else Landlock, and in both no sockets to other programs of this computer
//! - `seatbelt`, `macos`: sandbox-exec. Not run by anybody yet
//! - `unsupported`: Windows has no sandbox here yet, so none is promised

pub(crate) mod breadth;
pub mod egress;
mod error;
pub(crate) mod installation;
pub mod limits;
pub mod means;
mod plan;
pub mod reach;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Gate, REFUSED, Watch, refused_at_start};

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

use std::path::PathBuf;

#[cfg(target_os = "linux")]
use error::NEXT_WITHOUT_HOSTS;

pub use egress::{HostPattern, Network};
pub use error::{SandboxError, SandboxProblem};
#[cfg(target_os = "linux")]
pub(crate) use limits::Bounds;
pub use limits::{Exceeded, Meter, Resource, ResourceLimits, ResourceUse};
pub(crate) use plan::Inside;
pub use plan::Plan;
pub use reach::Reach;

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
