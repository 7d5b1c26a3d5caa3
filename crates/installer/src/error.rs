//! Why a server is not installed.

use std::path::PathBuf;

use bundles::BundleError;
use domain::StoreError;
use foreign::visible;
use host::{HostClosed, ServerError, SetupError};
use installs::FillError;
use ports::SecretError;
use registry::{BundleDownload, DownloadError, RegistryError};

/// The reason why a server is not installed. Safe to print.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The registry does not answer, or not in a form that can be used.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The setting of the registry has a header whose value is not known.
    #[error(
        "the value of the header {} for the registry {address} is not in the keychain; enter it in Settings, under Registry",
        visible(.header)
    )]
    NoHeaderValue {
        /// The header's name.
        header: String,
        /// The registry.
        address: String,
    },
    /// The keychain fails.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The registry can't be set, as it is named from outside.
    #[error(
        "the registry is named by DRAWBRIDGE_REGISTRY or --registry, which counts more than the setting; unset it first"
    )]
    RegistryNamed,
    /// The official registry takes no header.
    #[error("a header needs the address of your own registry; the official one gets none")]
    OfficialHeader,
    /// The registry's answers can't be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data folder is not known.
    #[error("the data folder can't be used: {0}")]
    DataFolder(String),
    /// The home folder is not known, which plans of bundles may name.
    #[error("there is no home folder; set HOME")]
    NoHome,
    /// The bundle that the registry lists can't be downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The file is no bundle that can be installed.
    #[error("{}: {cause}", visible(&.file.to_string_lossy()))]
    Bundle {
        /// The file.
        file: PathBuf,
        /// Why not.
        cause: BundleError,
    },
    /// The file is another bundle than the expected one.
    #[error("the bundle is another one: its SHA-256 is {found}, and not {expected}; do not use it")]
    OtherBundle {
        /// The SHA-256 of the file.
        found: String,
        /// The expected one.
        expected: String,
    },
    /// Nothing can be installed so.
    #[error(transparent)]
    NotInstallable(#[from] NotInstallable),
    /// The values do not fit.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The sandbox does not fit.
    #[error("the sandbox can't be used: {0}")]
    Sandbox(String),
    /// This server was not installed, so nothing can take its place.
    #[error("{} was not installed from a registry or a bundle, so there is no newer version of it", visible(.0))]
    NotInstalled(String),
    /// A bundle's file is needed, since no registry lists it.
    #[error("{} was installed from a file; name the file of its newer version", visible(.0))]
    NoSource(String),
    /// What is offered is another server, not another version.
    #[error("what is offered is {}, and not another version of {}", visible(.offered), visible(.installed))]
    OtherServer {
        /// What is installed.
        installed: String,
        /// What is offered.
        offered: String,
    },
    /// This very version is installed.
    #[error("{} {} is installed already", visible(.name), visible(.version))]
    SameVersion {
        /// The user's name for the server.
        name: String,
        /// The version.
        version: String,
    },
    /// The server would have to be stopped, and nobody agreed to that.
    #[error("{} is running; stop it first, or agree that it is stopped", visible(.0))]
    Running(String),
    /// Another server would result than the one that was shown.
    #[error("what would be installed is not what was shown; look at it again")]
    Stale,
    /// The bundle can't be unpacked. Nothing of it stays.
    #[error(transparent)]
    Unpack(BundleError),
    /// The server was removed, but the folder of its bundle could not be.
    #[error("the server is removed, but the files of its bundle could not be: {0}")]
    NotRemoved(BundleError),
    /// The folder with bundles is in use, or can't be locked.
    #[error(transparent)]
    Locked(BundleError),
    /// The server can't be added. Nothing of a bundle stays that was unpacked for it.
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

/// The reason why there is no plan for what was chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstallable {
    /// It has several packages and remotes, and none was chosen.
    #[error("it has several packages and remotes; choose one of them")]
    NotChosen,
    /// It has no package or remote of this number.
    #[error("it has no package or remote of this number; choose another one")]
    NoTarget,
    /// It has no package and no remote.
    #[error("the registry lists no package and no remote of this server")]
    Nothing,
    /// It was deleted from the registry.
    #[error("it is not installed, as it was deleted from the registry, mostly for spam or malware")]
    Deleted,
    /// It is a bundle, whose plan is in its file.
    #[error("it is a bundle; what it would run is known once it is downloaded")]
    Download(BundleDownload),
    /// Its description does not lead to a command or an address.
    #[error(transparent)]
    Registry(#[from] registry::PlanError),
    /// The bundle does not lead to a command.
    #[error("the bundle can't be run here: {0}")]
    Bundle(#[from] bundles::PlanError),
}
