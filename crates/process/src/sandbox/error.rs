//! Why a sandbox can't be set up, in words for its user.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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

/// Stable identifier of the cause for which a sandbox can't be set up. The page has words and a button for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SandboxProblem {
    /// A path of the sandbox is not absolute.
    NotWhole,
    /// A folder of the sandbox does not exist or can't be used.
    NoFolder,
    /// A folder of the sandbox is a link to another one.
    Leads,
    /// A folder that may only be read is inside one that may be changed.
    Contradiction,
    /// A folder of the sandbox contains files of Drawbridge itself.
    Exposes,
    /// The reach of the sandbox changed after its approval.
    Changed,
    /// The working folder is in none of the folders of the sandbox.
    OutOfReach,
    /// This computer has no mechanism that can set up the sandbox.
    NotHere,
    /// The list of hosts can't be used.
    Hosts,
    /// The mechanism of this computer can't limit a server to named hosts.
    NoHosts,
    /// The home directory of the sandbox can't be created.
    NoHome,
}

impl SandboxError {
    /// Returns the stable identifier of the error.
    #[must_use]
    pub const fn problem(&self) -> SandboxProblem {
        match self {
            Self::NotWhole(_) => SandboxProblem::NotWhole,
            Self::NoFolder { .. } => SandboxProblem::NoFolder,
            Self::Leads { .. } => SandboxProblem::Leads,
            Self::Contradiction { .. } => SandboxProblem::Contradiction,
            Self::Exposes { .. } => SandboxProblem::Exposes,
            Self::Changed => SandboxProblem::Changed,
            Self::OutOfReach(_) => SandboxProblem::OutOfReach,
            Self::NotHere { .. } => SandboxProblem::NotHere,
            Self::Hosts(_) => SandboxProblem::Hosts,
            Self::NoHosts { .. } => SandboxProblem::NoHosts,
            Self::NoHome { .. } => SandboxProblem::NoHome,
        }
    }
}

/// What helps where named hosts can't be held.
const CHOOSE_ANOTHER_NETWORK: &str = "choose \"Files only\" or \"Full network\" in the server's settings";
/// The same, as a sentence of its own.
#[cfg(target_os = "linux")]
pub(super) const NEXT_WITHOUT_HOSTS: &str = "Choose \"Files only\" or \"Full network\" in the server's settings";
