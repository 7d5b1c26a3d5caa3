//! Errors of installations.

use std::path::PathBuf;

use bundles::BundleError;
use domain::StoreError;
use foreign::escape_invisible;
use host::{HostClosed, ServerError, SetupError};
use installs::FillError;
use ports::SecretError;
use registry::{BundleDownload, DownloadError, RegistryError};

/// Error of an installation. Messages are escaped for display.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The registry doesn't respond, or its response is invalid, as the source error describes.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The registry setting has a header, but its value is not in the keychain.
    #[error(
        "the value of the header {} for the registry {address} is not in the keychain; enter it in Settings, under Registry",
        escape_invisible(.header)
    )]
    NoHeaderValue {
        /// Name of the header in the registry setting.
        header: String,
        /// Address of the registry that requires the header.
        address: String,
    },
    /// The keychain can't be used, as the source error describes.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The registry can't be set because the environment or the command line names one.
    #[error(
        "the registry is named by DRAWBRIDGE_REGISTRY or --registry, which counts more than the setting; unset it first"
    )]
    RegistryNamed,
    /// A header was entered for the official registry, which needs none.
    #[error("a header needs the address of your own registry; the official one gets none")]
    OfficialHeader,
    /// The cache of the registry can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The data folder can't be used, for the contained reason.
    #[error("the data folder can't be used: {0}")]
    DataFolder(String),
    /// The home folder is unknown, although plans of bundles may refer to it.
    #[error("there is no home folder; set HOME")]
    NoHome,
    /// The bundle listed by the registry can't be downloaded.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The opened file is not a bundle, or can't be installed for the contained reason.
    #[error("{}: {cause}", escape_invisible(&.file.to_string_lossy()))]
    Bundle {
        /// Path of the file that was opened as a bundle.
        file: PathBuf,
        /// Reason why the bundle can't be installed.
        cause: BundleError,
    },
    /// The bundle file is not the one that was expected.
    #[error("the bundle is another one: its SHA-256 is {found}, and not {expected}; do not use it")]
    OtherBundle {
        /// SHA-256 of the bundle file in hexadecimal.
        found: String,
        /// Expected SHA-256 of the bundle file in hexadecimal.
        expected: String,
    },
    /// No plan can be created for the source of the installation.
    #[error(transparent)]
    NotInstallable(#[from] NotInstallable),
    /// The values that the user entered do not match the install plan.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The sandbox that the user chose can't be used, for the contained reason.
    #[error("the sandbox can't be used: {0}")]
    Sandbox(String),
    /// This server was not installed by Drawbridge, so it can't be upgraded.
    #[error(
        "{} was not installed from a registry or a bundle, so there is no newer version of it",
        escape_invisible(.0)
    )]
    NotInstalled(String),
    /// This server was installed from a bundle file, so an upgrade requires the file of the new version from the user.
    #[error("{} was installed from a file; name the file of its newer version", escape_invisible(.0))]
    NoSource(String),
    /// The source of the upgrade contains another server.
    #[error(
        "the offered server is {}, and not another version of {}",
        escape_invisible(.offered),
        escape_invisible(.installed)
    )]
    OtherServer {
        /// Name of the installed server, as its source states it.
        installed: String,
        /// Name of the server in the source of the upgrade.
        offered: String,
    },
    /// The version that is offered for the upgrade is already installed.
    #[error("{} {} is installed already", escape_invisible(.name), escape_invisible(.version))]
    SameVersion {
        /// Name of the server in the user's settings.
        name: String,
        /// Version of both the installed and the offered server.
        version: String,
    },
    /// This server is running, and the user has not agreed to stop it.
    #[error("{} is running; stop it first, or agree that it is stopped", escape_invisible(.0))]
    Running(String),
    /// The source or the settings have changed since the preview, so the installation would have another result than
    /// the user approved.
    #[error("the installation changed since it was shown; review it again")]
    Stale,
    /// The bundle can't be unpacked. None of its files remain on disk.
    #[error(transparent)]
    Unpack(BundleError),
    /// The server was removed, but the folder of its bundle could not be removed.
    #[error("the server is removed, but the files of its bundle could not be: {0}")]
    NotRemoved(BundleError),
    /// The folder of bundles is locked by another process, or can't be locked.
    #[error(transparent)]
    Locked(BundleError),
    /// The server can't be added to the settings. Files that were unpacked for it are removed.
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

/// Reason why no install plan can be created for a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstallable {
    /// The server has several packages or remote endpoints, but the source does not say which one to use.
    #[error("it has several packages and remotes; choose one of them")]
    NotChosen,
    /// The source selects a package or remote endpoint that the server doesn't have.
    #[error("it has no package or remote of this number; choose another one")]
    NoTarget,
    /// The server has neither packages nor remote endpoints.
    #[error("the registry lists no package and no remote of this server")]
    Nothing,
    /// The registry lists the server as deleted.
    #[error("it is not installed, because it was deleted from the registry, usually for spam or malware")]
    Deleted,
    /// The server is a bundle that must be downloaded first, because its manifest contains the plan.
    #[error("it is a bundle; its command is known once it is downloaded")]
    Download(BundleDownload),
    /// The registry's description of the server yields no install plan.
    #[error(transparent)]
    Registry(#[from] registry::PlanError),
    /// The manifest of the bundle yields no install plan.
    #[error("the bundle can't be run here: {0}")]
    Bundle(#[from] bundles::PlanError),
}
