//! The reasons for refusing an update.

use semver::Version;
use serde::Serialize;

/// The reason why an update is refused. Safe to print: foreign text in it is short and escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateRefusal {
    /// The embedded public key or address is invalid.
    #[error("this build can't check for updates: {0}")]
    Build(String),
    /// The server doesn't answer, or the response was interrupted.
    #[error("the address of the releases could not be reached: {0}; check the network and try again")]
    Unreachable(String),
    /// The request exceeded the timeout, in seconds.
    #[error("no answer within {0} s; check the network and try again")]
    TooSlow(u64),
    /// The server returned an error status.
    #[error("the address of the releases answers with status {0}; try again later")]
    Failed(u16),
    /// A redirect leads to HTTP or to no address, or there are too many.
    #[error("the address of the releases redirects {0}, which is not followed")]
    Redirect(String),
    /// The manifest or its signature is larger than any that the project publishes.
    #[error("the announcement is larger than {0} bytes, which none of the project's is")]
    ManifestTooLarge(usize),
    /// The signature of the manifest is not valid.
    #[error("the announcement is not signed by the Drawbridge project: {0}")]
    ManifestSignature(SignatureProblem),
    /// The manifest is signed, but invalid.
    #[error("the announcement can't be used: {0}")]
    ManifestUnusable(String),
    /// The release has no file for this system.
    #[error("version {version} is not available for this system ({platform})")]
    NoPlatform {
        /// Version that the manifest announces.
        version: Version,
        /// Platform of this system.
        platform: String,
    },
    /// The file doesn't have the announced size.
    #[error("the download has not the announced size of {0} bytes")]
    Size(u64),
    /// The signature of the file is not valid.
    #[error("the download is not signed by the Drawbridge project: {0}")]
    FileSignature(SignatureProblem),
    /// The file was signed as another version than the announced one.
    #[error("the download was signed as version {signed}, and announced as {announced}")]
    OtherVersion {
        /// Version in the signature.
        signed: String,
        /// Version in the manifest.
        announced: String,
    },
    /// The file's signature names no version.
    #[error("the signature of the download names no version")]
    NoVersion,
    /// The installation is updated by something else, or not at all.
    #[error("this installation of Drawbridge does not update itself")]
    NotHere,
    /// The user stopped the download.
    #[error("the download was stopped")]
    Stopped,
    /// Another step is in progress, the previous step is missing, or another release has been found since.
    #[error("check for updates first")]
    NotReady,
    /// The file could not be put in place.
    #[error("the update could not be installed: {0}")]
    Install(String),
}

/// A problem with a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureProblem {
    /// The text is not a signature.
    #[error("the signature file has no signature")]
    Unreadable,
    /// The signature was made with another key.
    #[error("it is signed with another key")]
    OtherKey,
    /// The key is right, but the data, the signature or its comment was changed.
    #[error("something was changed after it was signed")]
    Changed,
}

impl From<&minisign_verify::Error> for SignatureProblem {
    fn from(error: &minisign_verify::Error) -> Self {
        match error {
            minisign_verify::Error::UnexpectedKeyId => Self::OtherKey,
            minisign_verify::Error::InvalidEncoding => Self::Unreadable,
            _ => Self::Changed,
        }
    }
}

/// The kind of a refusal, from which the page chooses its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// A problem of the network or the server; trying again may help.
    Network,
    /// Something differs from what the project signed.
    Signature,
    /// The announcement is invalid.
    Announcement,
    /// There is no file for this system.
    Platform,
    /// The installation doesn't update itself.
    NotHere,
    /// The file could not be put in place.
    Install,
}

impl UpdateRefusal {
    /// Returns the kind of the refusal.
    #[must_use]
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::Unreachable(_) | Self::TooSlow(_) | Self::Failed(_) => RefusalKind::Network,
            Self::ManifestSignature(_)
            | Self::FileSignature(_)
            | Self::OtherVersion { .. }
            | Self::NoVersion
            | Self::Size(_) => RefusalKind::Signature,
            Self::Redirect(_) | Self::ManifestTooLarge(_) | Self::ManifestUnusable(_) => RefusalKind::Announcement,
            Self::NoPlatform { .. } => RefusalKind::Platform,
            Self::Build(_) | Self::NotHere | Self::NotReady | Self::Stopped => RefusalKind::NotHere,
            Self::Install(_) => RefusalKind::Install,
        }
    }
}
