//! Errors of setting up a sandbox, with messages for the user.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The reason why a server can't be sandboxed as configured. The server does not start then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// A folder in the sandbox settings is not named by an absolute path.
    #[error("the sandbox's folder {0} must be an absolute path")]
    RelativePath(PathBuf),
    /// A folder in the sandbox settings does not exist or can't be opened.
    #[error("the sandbox's folder {folder} can't be used: {cause}; create it, or remove it from the server's settings")]
    NoFolder {
        /// Path of the sandbox's folder that can't be used.
        folder: PathBuf,
        /// Error message of the operating system.
        cause: String,
    },
    /// A configured path contains a symbolic link. Any program with write access to the folder of that link could
    /// change where it leads.
    #[error("the sandbox's folder {folder} leads to {target}; name that one in the server's settings")]
    SymbolicLink {
        /// Path that contains the link, as configured by the user.
        folder: PathBuf,
        /// Canonical path to which the link leads.
        target: PathBuf,
    },
    /// A read-only folder of the sandbox is inside a writable one.
    #[error("the sandbox's folder {inner} is read-only, but is inside {outer}, which can be changed")]
    ReadOnlyInsideWritable {
        /// The folder that the sandbox's settings make read-only.
        inner: PathBuf,
        /// The writable folder of the sandbox that contains the read-only one.
        outer: PathBuf,
    },
    /// A folder of the sandbox contains a folder that must stay hidden from the server, and the sandbox mechanism can't
    /// exclude a subfolder from an accessible folder.
    #[error(
        "the sandbox allows access to {folder}, in which Drawbridge stores its records, secrets or settings ({hidden}); Landlock can't exclude them. Choose smaller folders, or install bubblewrap"
    )]
    HiddenFolderExposed {
        /// The folder that the sandbox makes accessible.
        folder: PathBuf,
        /// The hidden folder inside the accessible folder.
        hidden: PathBuf,
    },
    /// The sandbox plan that was made again at the start differs from the one that the user approved.
    #[error(
        "the access that the sandbox allows has changed since it was approved; start it again to review the change"
    )]
    Changed,
    /// The working directory of the server is in none of the folders in the sandbox settings.
    #[error("the working folder {0} is outside the sandbox's folders; add it there, or choose another one")]
    WorkingDirectoryOutside(PathBuf),
    /// No sandbox mechanism is available on this computer.
    #[error("no sandbox can be set up here: {cause}. {next}")]
    NoMechanism {
        /// Names of the sandbox mechanisms that were tried, each with its error.
        cause: String,
        /// Advice that tells the user how to make a sandbox mechanism available, or which setting of the server to
        /// change.
        next: &'static str,
    },
    /// The list of hosts that the server may contact is invalid. Contains the explanation.
    #[error("the sandbox's network can't be used: {0}")]
    InvalidHosts(String),
    /// The sandbox mechanism of this computer can't restrict the network to named hosts.
    #[error(
        "{mechanism} can't limit a server to named hosts, so it does not start. Install bubblewrap (the package is called bubblewrap), or {}",
        CHOOSE_ANOTHER_NETWORK_ADVICE
    )]
    HostsUnsupported {
        /// Name of the sandbox mechanism that is available on this computer.
        mechanism: &'static str,
    },
    /// The folder that belongs to this server only can't be created.
    #[error("the sandbox's own folder {folder} can't be made: {cause}")]
    NoHome {
        /// Path of the folder that belongs to this server only.
        folder: PathBuf,
        /// Error message of the operating system.
        cause: String,
    },
}

/// Stable identifier of the reason why a sandbox can't be set up. Drawbridge's page has a text and a button for each of
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SandboxProblem {
    /// A folder in the sandbox settings is not named by an absolute path.
    NotWhole,
    /// A folder in the sandbox settings does not exist or can't be opened.
    NoFolder,
    /// The path of a folder in the sandbox settings contains a symbolic link.
    Leads,
    /// A read-only folder of the sandbox is inside a writable one.
    Contradiction,
    /// A folder in the sandbox settings contains a folder of Drawbridge, which must stay hidden, and the sandbox
    /// mechanism can't exclude it.
    Exposes,
    /// The sandbox plan at the start of the server differs from the one that the user approved.
    Changed,
    /// The working directory of the server is in none of the folders in the sandbox settings.
    OutOfReach,
    /// No sandbox mechanism is available on this computer.
    NotHere,
    /// The list of hosts that the server may contact is invalid.
    Hosts,
    /// The mechanism of this computer can't restrict a server to named hosts.
    NoHosts,
    /// The folder that belongs to this server only can't be created.
    NoHome,
}

impl SandboxError {
    /// Returns the stable identifier of the error, for which Drawbridge's page has a text and a button.
    #[must_use]
    pub const fn problem(&self) -> SandboxProblem {
        match self {
            Self::RelativePath(_) => SandboxProblem::NotWhole,
            Self::NoFolder { .. } => SandboxProblem::NoFolder,
            Self::SymbolicLink { .. } => SandboxProblem::Leads,
            Self::ReadOnlyInsideWritable { .. } => SandboxProblem::Contradiction,
            Self::HiddenFolderExposed { .. } => SandboxProblem::Exposes,
            Self::Changed => SandboxProblem::Changed,
            Self::WorkingDirectoryOutside(_) => SandboxProblem::OutOfReach,
            Self::NoMechanism { .. } => SandboxProblem::NotHere,
            Self::InvalidHosts(_) => SandboxProblem::Hosts,
            Self::HostsUnsupported { .. } => SandboxProblem::NoHosts,
            Self::NoHome { .. } => SandboxProblem::NoHome,
        }
    }
}

/// Advice for the user if the sandbox mechanism can't restrict a server to named hosts, as part of a sentence.
const CHOOSE_ANOTHER_NETWORK_ADVICE: &str = "choose \"Files only\" or \"Full network\" in the server's settings";
/// The same advice as [`CHOOSE_ANOTHER_NETWORK_ADVICE`], as a complete sentence.
#[cfg(target_os = "linux")]
pub(super) const CHOOSE_ANOTHER_NETWORK_SENTENCE: &str =
    "Choose \"Files only\" or \"Full network\" in the server's settings";
