//! Determines whether a planned server can be sandboxed, and proposes a sandbox.
//!
//! A package loaded by `npx` or `uvx` can't start without a network, but only the user knows which hosts the server
//! itself needs. So the page proposes the hosts of the package registry, along with a bundle's own folder, and the
//! user adds the server's hosts. The command line proposes none and never allows a network on its own: the user names
//! the hosts with `--network`, since its options are complete.

use installs::{InstallPlan, PlanTarget};
use launches::sandbox_proposal::package_network;
use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess, SandboxConfig};
use serde::{Deserialize, Serialize};

use crate::{InstallError, InstallOffer, Installer};

/// The availability of a sandbox for a server to be installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum InstallContainment {
    /// A sandbox is available.
    Possible,
    /// The server is a container, which confines it as far as its arguments allow. A sandbox would block access to
    /// the service that runs containers.
    Container,
    /// The server is remote. Data sent to it is received by its operator.
    Remote,
    /// No sandbox works on this computer.
    Impossible {
        /// Description of the cause.
        cause: String,
    },
}

impl Installer {
    /// Determines whether the server of a plan can be sandboxed.
    pub async fn containment(&self, plan: &InstallPlan) -> InstallContainment {
        match &plan.target {
            PlanTarget::Remote { .. } => InstallContainment::Remote,
            PlanTarget::Command { command, .. } if matches!(command.as_str(), "docker" | "podman") => {
                InstallContainment::Container
            }
            PlanTarget::Command { .. } => match &self.local_runtime().await.means.mechanism {
                Ok(_) => InstallContainment::Possible,
                Err(error) => InstallContainment::Impossible { cause: error.to_string() },
            },
        }
    }
}

impl InstallOffer {
    /// Returns the sandbox proposed initially: the folder of a bundle, and the hosts that packages are loaded from.
    /// The user adds what the server needs.
    #[must_use]
    pub fn proposed_sandbox(&self, plan: &InstallPlan) -> SandboxConfig {
        let bundle = self.origin.bundle();
        let folders = bundle
            .map(|file| AllowedFolder { path: file.folder.clone(), access: AccessMode::Read })
            .into_iter()
            .collect();
        let network = match &plan.target {
            PlanTarget::Command { command, .. } => package_network(command),
            PlanTarget::Remote { .. } => NetworkAccess::None,
        };
        SandboxConfig { folders, network }
    }
}

/// Checks that a requested sandbox can be used.
pub(crate) fn check_sandbox(
    sandbox: Option<&SandboxConfig>,
    containment: &InstallContainment,
) -> Result<(), InstallError> {
    let Some(sandbox) = sandbox else { return Ok(()) };
    let unfit = |cause: &str| Err(InstallError::Sandbox(cause.to_owned()));
    match containment {
        InstallContainment::Container => unfit("a container does not get one"),
        InstallContainment::Remote => unfit("a remote server does not get one"),
        InstallContainment::Impossible { cause } => unfit(cause),
        InstallContainment::Possible => sandbox.problem().map_or(Ok(()), |problem| unfit(&problem)),
    }
}
