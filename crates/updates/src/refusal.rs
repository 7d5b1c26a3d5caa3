//! Reasons why an update fails or is refused.

use semver::Version;
use serde::Serialize;

/// Reason why a step of an update of Drawbridge fails or is refused. Untrusted text in messages is truncated and
/// escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateRefusal {
    /// The public key or the manifest URL of this build is invalid, for the contained reason.
    #[error("this build can't check for updates: {0}")]
    Build(String),
    /// The release server doesn't respond, or the connection failed before the end of the response. Contains the cause.
    #[error("the address of the releases could not be reached: {0}; check the network and try again")]
    Unreachable(String),
    /// The request exceeded its timeout. Contains the timeout in seconds.
    #[error("no answer within {0} s; check the network and try again")]
    TooSlow(u64),
    /// The release server responded with this error status.
    #[error("the address of the releases answers with status {0}; try again later")]
    Failed(u16),
    /// A redirect leads to an unencrypted or invalid URL, or there are too many. Contains a description.
    #[error("the address of the releases redirects {0}, which is not followed")]
    Redirect(String),
    /// The manifest or its signature is larger than this limit in bytes.
    #[error("the announcement is larger than {0} bytes, which none of the project's is")]
    ManifestTooLarge(usize),
    /// The signature of the manifest is not valid.
    #[error("the announcement is not signed by the Drawbridge project: {0}")]
    ManifestSignature(SignatureProblem),
    /// The manifest was signed by the project, but is not a valid manifest, for the contained reason.
    #[error("the announcement can't be used: {0}")]
    ManifestUnusable(String),
    /// The manifest lists no file for this platform.
    #[error("version {version} is not available for this system ({platform})")]
    NoPlatform {
        /// Version of the release that the manifest announces.
        version: Version,
        /// Key of this platform in manifests, such as `linux-x86_64`.
        platform: String,
    },
    /// The downloaded file has another size than the manifest states. Contains the stated size in bytes.
    #[error("the download has not the announced size of {0} bytes")]
    Size(u64),
    /// The signature of the downloaded file is not valid.
    #[error("the download is not signed by the Drawbridge project: {0}")]
    FileSignature(SignatureProblem),
    /// The signature of the file was made for another version than the manifest announces.
    #[error("the download was signed as version {signed}, and announced as {announced}")]
    OtherVersion {
        /// Version that the signature of the downloaded file contains.
        signed: String,
        /// Version of the release that the manifest announces.
        announced: String,
    },
    /// The signature of the downloaded file does not contain a version.
    #[error("the signature of the download names no version")]
    NoVersion,
    /// This kind of installation is not updated by Drawbridge itself.
    #[error("this installation of Drawbridge does not update itself")]
    NotHere,
    /// The user stopped the download before it was complete.
    #[error("the download was stopped")]
    Stopped,
    /// Another check, download or installation is running, or the version to install is not the one that the last check
    /// found.
    #[error("check for updates first")]
    NotReady,
    /// The downloaded file could not be installed, for the contained reason.
    #[error("the update could not be installed: {0}")]
    Install(String),
}

/// Reason why the signature of a manifest or file is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureProblem {
    /// The text is not a minisign signature encoded in base64.
    #[error("the signature file has no signature")]
    Unreadable,
    /// The signature was made with another key than the project's.
    #[error("it is signed with another key")]
    OtherKey,
    /// The signature was made with the project's key, but the data, the signature or its comment was changed.
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

/// Kind of an [`UpdateRefusal`], by which the settings page chooses a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateRefusalKind {
    /// The network or the server failed. A retry may help.
    Network,
    /// The manifest or the downloaded file is not signed by the project.
    Signature,
    /// The manifest was signed by the project, but is not a valid manifest.
    Announcement,
    /// The release has no file for this platform.
    Platform,
    /// This kind of installation is not updated by Drawbridge itself.
    NotHere,
    /// The downloaded file could not be installed.
    Install,
}

impl UpdateRefusal {
    /// Returns the kind of this refusal, by which the settings page chooses a text.
    #[must_use]
    pub fn kind(&self) -> UpdateRefusalKind {
        match self {
            Self::Unreachable(_) | Self::TooSlow(_) | Self::Failed(_) => UpdateRefusalKind::Network,
            Self::ManifestSignature(_)
            | Self::FileSignature(_)
            | Self::OtherVersion { .. }
            | Self::NoVersion
            | Self::Size(_) => UpdateRefusalKind::Signature,
            Self::Redirect(_) | Self::ManifestTooLarge(_) | Self::ManifestUnusable(_) => {
                UpdateRefusalKind::Announcement
            }
            Self::NoPlatform { .. } => UpdateRefusalKind::Platform,
            Self::Build(_) | Self::NotHere | Self::NotReady | Self::Stopped => UpdateRefusalKind::NotHere,
            Self::Install(_) => UpdateRefusalKind::Install,
        }
    }
}
