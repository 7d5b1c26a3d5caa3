//! Determines if a planned server can run in a sandbox, and proposes one.
//!
//! A package that `npx` or `uvx` loads can't start without a network, but only the user knows which hosts the server
//! itself needs. So the page proposes the hosts of the package registry and the folder of a bundle, and the user adds
//! the hosts of the server. The command line proposes none and never allows network access by default: the user names
//! hosts with `--network`.

use installs::{InstallPlan, PlannedTransport};
use launches::sandbox_proposal::network_access_to_package_registry;
use ports::server_config::{AccessMode, AllowedFolder, NetworkAccess, SandboxConfig};
use serde::{Deserialize, Serialize};

use crate::{InstallError, InstallOffer, Installer};

/// Answer to the question if a planned server can run in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum InstallContainment {
    /// The planned server can run in a sandbox.
    Possible,
    /// The server runs in a container, which confines it as far as the container's arguments allow. In a sandbox, it
    /// could not access the service that runs containers.
    Container,
    /// The server is remote, so it can't be confined. Its operator receives all data that is sent to it.
    Remote,
    /// No sandbox works on this computer, so the server would run with all rights of the user.
    Impossible {
        /// Human-readable reason why no sandbox works.
        cause: String,
    },
}

impl Installer {
    /// Determines if the server that results from a plan can run in a sandbox on this computer.
    pub async fn containment(&self, plan: &InstallPlan) -> InstallContainment {
        match &plan.target {
            PlannedTransport::Remote { .. } => InstallContainment::Remote,
            PlannedTransport::Command { command, .. } if process::is_container_engine(command) => {
                InstallContainment::Container
            }
            PlannedTransport::Command { .. } => match &self.path_and_sandbox_support().await.means.mechanism {
                Ok(_) => InstallContainment::Possible,
                Err(error) => InstallContainment::Impossible { cause: error.to_string() },
            },
        }
    }
}

impl InstallOffer {
    /// Returns the sandbox that the page proposes for a new server: it permits reading the folder of the bundle, and
    /// access to the hosts from which packages are loaded. The user adds what else the server needs.
    #[must_use]
    pub fn proposed_sandbox(&self, plan: &InstallPlan) -> SandboxConfig {
        let bundle = self.origin.bundle();
        let folders = bundle
            .map(|file| AllowedFolder { path: file.folder.clone(), access: AccessMode::Read })
            .into_iter()
            .collect();
        let network = match &plan.target {
            // Launchers in plans are separate programs such as `npx`, and not subcommands of another program.
            PlannedTransport::Command { command, .. } => network_access_to_package_registry(command, None),
            PlannedTransport::Remote { .. } => NetworkAccess::None,
        };
        SandboxConfig { folders, network }
    }
}

/// Checks that the sandbox that the user chose for a server can be used.
pub(crate) fn check_chosen_sandbox(
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
