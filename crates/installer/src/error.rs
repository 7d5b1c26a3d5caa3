//! The errors of installations.

use std::path::PathBuf;

use bundles::BundleError;
use domain::StoreError;
use foreign::visible;
use host::{HostClosed, ServerError, SetupError};
use installs::FillError;
use ports::SecretError;
use registry::{BundleDownload, DownloadError, RegistryError};

/// The error of an installation. Safe to print.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The registry doesn't answer, or its response is invalid.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The registry setting has a header whose value is unknown.
    #[error(
        "the value of the header {} for the registry {address} is not in the keychain; enter it in Settings, under Registry",
        visible(.header)
    )]
    NoHeaderValue {
        /// Name of the header.
        header: String,
        /// Address of the registry.
        address: String,
    },
    /// The keychain returned an error.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The registry can't be set, because it is named by the environment or the command line.
    #[error(
        "the registry is named by DRAWBRIDGE_REGISTRY or --registry, which counts more than the setting; unset it first"
    )]
    RegistryNamed,
    /// The official registry takes no header.
    #[error("a header needs the address of your own registry; the official one gets none")]
    OfficialHeader,
    /// The registry's cache can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data folder can't be used.
    #[error("the data folder can't be used: {0}")]
    DataFolder(String),
    /// The home folder, which plans of bundles may refer to, is unknown.
    #[error("there is no home folder; set HOME")]
    NoHome,
    /// The bundle listed by the registry can't be downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The file is not a bundle that can be installed.
    #[error("{}: {cause}", visible(&.file.to_string_lossy()))]
    Bundle {
        /// Path of the file.
        file: PathBuf,
        /// Cause of the bundle's rejection.
        cause: BundleError,
    },
    /// The file is another bundle than the expected one.
    #[error("the bundle is another one: its SHA-256 is {found}, and not {expected}; do not use it")]
    OtherBundle {
        /// SHA-256 of the file.
        found: String,
        /// Expected SHA-256 in hexadecimal.
        expected: String,
    },
    /// There is no plan for the chosen source.
    #[error(transparent)]
    NotInstallable(#[from] NotInstallable),
    /// The values don't fit the plan.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The sandbox can't be used.
    #[error("the sandbox can't be used: {0}")]
    Sandbox(String),
    /// The server was not installed by Drawbridge, so it can't be upgraded.
    #[error("{} was not installed from a registry or a bundle, so there is no newer version of it", visible(.0))]
    NotInstalled(String),
    /// A bundle file is needed, since no registry lists the server.
    #[error("{} was installed from a file; name the file of its newer version", visible(.0))]
    NoSource(String),
    /// The offer is for another server, not another version.
    #[error("what is offered is {}, and not another version of {}", visible(.offered), visible(.installed))]
    OtherServer {
        /// Name of the installed server.
        installed: String,
        /// Name of the offered server.
        offered: String,
    },
    /// The offered version is already installed.
    #[error("{} {} is installed already", visible(.name), visible(.version))]
    SameVersion {
        /// The user's name for the server.
        name: String,
        /// Version of both the installation and the offer.
        version: String,
    },
    /// The server would have to be stopped, which the user has not agreed to.
    #[error("{} is running; stop it first, or agree that it is stopped", visible(.0))]
    Running(String),
    /// The result would differ from what was previewed.
    #[error("the installation changed since it was shown; review it again")]
    Stale,
    /// The bundle can't be unpacked. None of its files remain.
    #[error(transparent)]
    Unpack(BundleError),
    /// The server was removed, but the folder of its bundle could not be.
    #[error("the server is removed, but the files of its bundle could not be: {0}")]
    NotRemoved(BundleError),
    /// The folder of bundles is in use, or can't be locked.
    #[error(transparent)]
    Locked(BundleError),
    /// The server can't be added. No files of a bundle that was unpacked for it remain.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

impl From<ServerError> for InstallError {
    fn from(error: ServerError) -> Self {
        Self::Setup(error.into())
    }
}

impl From<HostClosed> for InstallError {
    fn from(closed: HostClosed) -> Self {
        Self::Setup(closed.into())
    }
}

/// The reason why there is no plan for a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstallable {
    /// The server has several packages and remotes, and none was chosen.
    #[error("it has several packages and remotes; choose one of them")]
    NotChosen,
    /// The server has no package or remote with this number.
    #[error("it has no package or remote of this number; choose another one")]
    NoTarget,
    /// The server has neither packages nor remotes.
    #[error("the registry lists no package and no remote of this server")]
    Nothing,
    /// The server was deleted from the registry.
    #[error("it is not installed, as it was deleted from the registry, mostly for spam or malware")]
    Deleted,
    /// The server is a bundle, whose plan is in its file.
    #[error("it is a bundle; what it would run is known once it is downloaded")]
    Download(BundleDownload),
    /// The server's description yields no command or address.
    #[error(transparent)]
    Registry(#[from] registry::PlanError),
    /// The bundle yields no command.
    #[error("the bundle can't be run here: {0}")]
    Bundle(#[from] bundles::PlanError),
}
