//! Why an update is not taken.

use semver::Version;
use serde::Serialize;

/// The reason why an update is not taken. Safe to print: foreign text in it is short and made visible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The public key or the address that was built in is none.
    #[error("this build can't check for updates: {0}")]
    Build(String),
    /// Nobody answers, or the answer broke off.
    #[error("the address of the releases could not be reached: {0}; check the network and try again")]
    Unreachable(String),
    /// It took longer than the limit.
    #[error("no answer within {0} s; check the network and try again")]
    TooSlow(u64),
    /// The server answers with a status that is no success.
    #[error("the address of the releases answers with status {0}; try again later")]
    Failed(u16),
    /// A redirect to http, to no address, or one too many.
    #[error("the address of the releases redirects {0}, which is not followed")]
    Redirect(String),
    /// The manifest or its signature is larger than any that the project makes.
    #[error("the announcement is larger than {0} bytes, which none of the project's is")]
    ManifestTooLarge(usize),
    /// The signature of the manifest does not fit it.
    #[error("the announcement is not signed by the Drawbridge project: {0}")]
    ManifestSignature(SignatureProblem),
    /// The manifest is signed, and can't be used.
    #[error("the announcement can't be used: {0}")]
    ManifestUnusable(String),
    /// The release has nothing for this system.
    #[error("version {version} is not available for this system ({platform})")]
    NoPlatform {
        /// The announced version.
        version: Version,
        /// What was looked for.
        platform: String,
    },
    /// The file is not as large as announced.
    #[error("the download has not the announced size of {0} bytes")]
    Size(u64),
    /// The signature of the file does not fit it.
    #[error("the download is not signed by the Drawbridge project: {0}")]
    FileSignature(SignatureProblem),
    /// The file was signed as another version than the one that is announced.
    #[error("the download was signed as version {signed}, and announced as {announced}")]
    OtherVersion {
        /// The version in the signature.
        signed: String,
        /// The version in the manifest.
        announced: String,
    },
    /// The file's signature does not say which version it is for.
    #[error("the signature of the download names no version")]
    NoVersion,
    /// This installation is updated by something else, or by nothing.
    #[error("this installation of Drawbridge does not update itself")]
    NotHere,
    /// The user stopped the download.
    #[error("the download was stopped")]
    Stopped,
    /// Another step is going on, or the one before is missing, or what was found since is another release.
    #[error("check for updates first")]
    NotReady,
    /// The files could not be put in place.
    #[error("the update could not be installed: {0}")]
    Install(String),
}

/// What is wrong with a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureProblem {
    /// It is no signature at all.
    #[error("what stands there is no signature")]
    Unreadable,
    /// Another key made it.
    #[error("it is signed with another key")]
    OtherKey,
    /// The key is right, and something was changed: the bytes, the signature, or its comment.
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

/// What a refusal is about, for the page's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The network, or the server: trying again may help.
    Network,
    /// Something is not what the project signed.
    Signature,
    /// What is announced can't be used.
    Announcement,
    /// There is nothing for this system.
    Platform,
    /// This installation does not update itself.
    NotHere,
    /// The files could not be put in place.
    Install,
}

impl Refusal {
    /// What it is about.
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
