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

/// The way to install a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackageInstall {
    /// A command that loads and runs the package.
    Plan(InstallPlan),
    /// A bundle to download, check and unpack, which contains its own plan.
    Bundle(BundleDownload),
}

/// A bundle (`.mcpb`) to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleDownload {
    /// HTTPS URL of the bundle.
    pub url: String,
    /// Expected SHA-256 of the file, in lowercase hexadecimal digits.
    pub sha256: String,
}

/// The reason why there is no plan. Safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Packages of this kind are not supported.
    #[error(
        "packages of the kind {0} can't be installed by Drawbridge; read at the publisher how to, and add the command by hand"
    )]
    PackageKind(String),
    /// The package is a local HTTP server.
    #[error("this package is a server that is started apart and reached over {0}; start it yourself, and add its URL")]
    NotStdio(String),
    /// The transport of a remote is not supported.
    #[error("Drawbridge does not support the transport {0}")]
    Transport(String),
    /// The package's name could be mistaken for something else on a command line.
    #[error("{0} is not a valid package name")]
    Identifier(String),
    /// The package's version is a range or a tag, or could be mistaken for something else on a command line.
    #[error("{0} is not an exact version; the publisher must specify one")]
    Version(String),
    /// The package comes from a registry that its launcher can't be told to use.
    #[error(
        "it comes from the package registry {0}, which can't be named on the command line; set it up in the launcher's own settings, and add the command by hand"
    )]
    PackageRegistry(String),
    /// There are arguments for a program that is not used.
    #[error(
        "it has arguments for the program {0}, which Drawbridge does not use for such a package; add the command by hand"
    )]
    Runtime(String),
    /// The bundle has no valid hash.
    #[error(
        "the bundle has no SHA-256 (fileSha256), so what is downloaded could not be checked; the publisher has to add it"
    )]
    NoHash,
    /// An address is not valid.
    #[error("the address {0} can't be used: {1}")]
    Address(String, String),
    /// The name of a variable or header is not valid.
    #[error("{0}")]
    Name(String),
    /// A text refers to one of Drawbridge's secrets.
    #[error("{0} names a secret of Drawbridge's; a publisher must not")]
    NamesSecret(String),
    /// There are too many inputs.
    #[error("it asks for more than {} values", installs::MAX_INPUTS)]
    TooManyInputs,
}
