//! Opening request: a request to open a file or link, as it is sent to the page. `openings` queues these requests.

use serde::Serialize;

/// A file or link that the user or another program asked Drawbridge to open, or the reason why it is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(crate) enum OpeningRequest {
    /// An existing file whose name has the extension of a bundle. Its content is not checked yet.
    Bundle {
        /// Absolute path of the bundle file.
        path: String,
    },
    /// A link with the scheme `drawbridge:`. It may contain secrets, so it must not be logged.
    Link {
        /// Link as it was received.
        link: String,
    },
    /// A file or link that is rejected.
    Refused {
        /// Path or link, truncated if it is long.
        what: String,
        /// Reason for the rejection.
        reason: OpeningRefusal,
    },
    /// Files and links that were ignored because the queue was full.
    Dropped {
        /// Number of files and links that were ignored since the last report.
        count: u32,
    },
}

/// Reason why a file or link is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpeningRefusal {
    /// The file does not exist.
    NotFound,
    /// The path is a folder, a pipe or a device.
    NotAFile,
    /// The name does not have the extension of a bundle.
    NotABundle,
    /// The path is not valid Unicode.
    NotUnicode,
    /// The link is not an install link of Drawbridge.
    NotAnInstallLink,
    /// The link is longer than the maximum for install links.
    LinkTooLong,
    /// Opening `drawbridge:` links is turned off in the settings.
    LinksOff,
}

/// The opening request that the page currently handles, with its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NumberedOpeningRequest {
    /// Number of the request since the start of Drawbridge, starting at 1.
    pub(crate) id: u64,
    /// File or link, or the reason why it is rejected.
    pub(crate) opening: OpeningRequest,
}
