//! Converts a package or remote to an [`InstallPlan`]. No part of the host's environment enters a plan, and nothing
//! is started.
//!
//! Source: `server.json` of the schema 2025-12-11. Where it leaves a choice (named arguments, versions of PyPI), VS
//! Code's behaviour is followed.

mod command;
mod inputs;
mod package;
mod remote;

use installs::InstallPlan;

pub(crate) use command::is_sha256;
pub use package::plan_package;
pub use remote::plan_remote;

/// Method of installing a package: by a command, or by downloading a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackageInstall {
    /// A plan with the command by which a launcher downloads and runs the package.
    Plan(InstallPlan),
    /// A bundle to download. Its own manifest contains the command.
    Bundle(BundleDownload),
}

/// A bundle (`.mcpb`) to download, and the hash that the registry lists for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleDownload {
    /// HTTPS URL of the bundle.
    pub url: String,
    /// Expected SHA-256 of the bundle, in lowercase hexadecimal.
    pub sha256: String,
}

/// Reason why no plan can be created for a package or a remote endpoint. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Drawbridge does not support this kind of package.
    #[error(
        "packages of the kind {0} can't be installed by Drawbridge; read at the publisher how to, and add the command by hand"
    )]
    PackageKind(String),
    /// The server in the package listens on HTTP, so the user must start it. Contains the transport.
    #[error("this package is a server that is started apart and reached over {0}; start it yourself, and add its URL")]
    NotStdio(String),
    /// The transport of a remote endpoint is not supported. Contains the transport.
    #[error("Drawbridge does not support the transport {0}")]
    Transport(String),
    /// This package name could be mistaken for another argument on a command line.
    #[error("{0} is not a valid package name")]
    Identifier(String),
    /// This package version is a range or a tag, or could be mistaken for another argument on a command line.
    #[error("{0} is not an exact version; the publisher must specify one")]
    Version(String),
    /// The package is in this package registry, which can't be selected on the launcher's command line.
    #[error(
        "it comes from the package registry {0}, which can't be named on the command line; set it up in the launcher's own settings, and add the command by hand"
    )]
    PackageRegistry(String),
    /// The package has arguments for a runtime other than the launcher that Drawbridge would run it with. Contains the name
    /// of that runtime.
    #[error(
        "it has arguments for the program {0}, which Drawbridge does not use for such a package; add the command by hand"
    )]
    Runtime(String),
    /// The registry entry of the bundle has no valid SHA-256.
    #[error(
        "the bundle has no SHA-256 (fileSha256), so the download could not be verified; the publisher has to add it"
    )]
    NoHash,
    /// The URL of a remote endpoint or bundle is not valid. Contains the URL and the reason.
    #[error("the address {0} can't be used: {1}")]
    Address(String, String),
    /// The name of a variable or header is not valid, as the message describes.
    #[error("{0}")]
    Name(String),
    /// A text of the publisher refers to one of Drawbridge's secrets. Contains the name of the part with that text.
    #[error("{0} names a secret of Drawbridge's; a publisher must not")]
    NamesSecret(String),
    /// The plan would have more inputs than `installs::MAX_PLAN_INPUTS`.
    #[error("it asks for more than {} values", installs::MAX_PLAN_INPUTS)]
    TooManyInputs,
}
