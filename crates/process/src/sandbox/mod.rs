//! Sandboxes of local servers. A sandboxed server has access to the folders that the user named, to the files that its
//! program needs, to a home folder of its own, and to the network as configured: none, named hosts, or all of it.
//!
//! [`ResolvedSandbox::for_command`] (`command.rs`) plans the access of a server and its enforcement with
//! `ResolvedSandbox::resolve` (`resolved_sandbox.rs`). The start of the server (`server::spawn`) carries out the same
//! plan. A server whose sandbox can't be enforced as configured does not start.
//!
//! - `resolved_sandbox`: the plan, and how it changes the start of a program
//! - [`reachable_paths`]: the paths that are accessible in addition to the named folders
//! - `installed_files`: the files that a program was installed with
//! - `folder_proposals`: folders that may be accessible or proposed without the user naming them
//! - [`egress`]: access to named hosts, through a proxy that is the server's only network connection
//! - [`limits`]: resource limits
//! - [`sandbox_support`]: the sandbox mechanisms of this computer
//! - `linux`: bubblewrap, else Landlock, both without sockets to other programs of this computer
//! - `seatbelt`, `macos`: `sandbox-exec`, untested on a real system
//! - `unsupported`: Windows, which has no sandbox yet

pub mod egress;
mod error;
pub(crate) mod folder_proposals;
pub(crate) mod installed_files;
pub mod limits;
pub mod reachable_paths;
mod resolved_sandbox;
pub mod sandbox_support;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "linux")]
pub(crate) use linux::{SANDBOX_SETUP_FAILURE_ERRNO, StartBarrier, UsageWatch, sandbox_error_at_start};

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
use error::CHOOSE_ANOTHER_NETWORK_SENTENCE;

pub use egress::{HostPattern, NetworkAccess};
pub use error::{SandboxError, SandboxProblem};
#[cfg(target_os = "linux")]
pub(crate) use limits::ResourceBounds;
pub use limits::{ExceededLimit, LimitedResource, ResourceLimits, ResourceMeter, ResourceUsage};
pub use reachable_paths::ReachablePaths;
pub(crate) use resolved_sandbox::LaunchCommand;
pub use resolved_sandbox::ResolvedSandbox;

/// The access of a server to files and the network, and its resource limits, as the user configured them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Folders that are accessible to the server, each by its canonical path.
    pub folders: Vec<AllowedFolder>,
    /// Network access of the server: none, named hosts, or all.
    pub network: NetworkAccess,
    /// Folder that belongs to this server only and contains its home folder and its temporary files. Created when the
    /// server starts.
    pub home: PathBuf,
    /// Canonical paths of Drawbridge's own folders, which must stay inaccessible to the server, even inside an
    /// accessible folder.
    pub hidden: Vec<PathBuf>,
    /// Limits of the server's memory, processes, disk space and processor time.
    pub limits: ResourceLimits,
}

/// A folder that is accessible to a server, including its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedFolder {
    /// Absolute path of the accessible folder.
    pub path: PathBuf,
    /// Permission to read the folder's content, or to read and change it.
    pub access: AccessMode,
}

/// Kind of access that a server has to a folder and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Permission to read files and execute them.
    Read,
    /// Permission to read, execute and change files.
    Write,
}

/// The mechanism that enforces a server's sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxMechanism {
    /// Namespaces of the Linux kernel, which the bubblewrap program at this path sets up.
    Bubblewrap(PathBuf),
    /// The Linux kernel's Landlock, together with seccomp filters.
    Landlock,
    /// The program `sandbox-exec` of macOS, which applies a profile to a process.
    Seatbelt,
}

impl SandboxMechanism {
    /// Returns the name of the mechanism for display.
    pub fn name(&self) -> &'static str {
        match self {
            SandboxMechanism::Bubblewrap(_) => "bubblewrap",
            SandboxMechanism::Landlock => "Landlock",
            SandboxMechanism::Seatbelt => "sandbox-exec",
        }
    }
}
