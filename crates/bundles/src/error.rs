//! The errors of reading, unpacking and removing a bundle.

use std::io;

use foreign::escape_invisible;

use crate::{ArchiveRefusal, FolderChange, ManifestError, TreeChange};

/// Error of reading, unpacking or removing a bundle. Messages are escaped for display.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Reading, writing, locking or removing a file or folder failed.
    #[error("{what}: {cause}")]
    Io {
        /// Sentence that names the failed operation. The error message begins with it.
        what: &'static str,
        /// Error of the operating system.
        cause: io::Error,
    },
    /// The archive of the bundle is refused for the contained reason.
    #[error("the bundle is refused: {0}")]
    Refused(#[from] ArchiveRefusal),
    /// The manifest of the bundle is invalid for the contained reason.
    #[error("the bundle's manifest.json can't be used: {0}")]
    Manifest(#[from] ManifestError),
    /// A file in the bundle is larger than the maximum that may be read into memory.
    #[error("{} is larger than {max} bytes", escape_invisible(.path))]
    TooLargeToRead {
        /// Path of the large file in the bundle.
        path: String,
        /// Maximum size of a file that is read into memory, in bytes.
        max: u64,
    },
    /// The bundle file was changed after it was opened.
    #[error("the bundle's file has changed since it was opened; open it again")]
    Changed,
    /// The bundle is already unpacked, and one of its files was changed or removed since then. Contains the change.
    #[error("the bundle is installed already, and its files have changed ({0}); remove it first")]
    FilesDiffer(TreeChange),
    /// The bundle is already unpacked, and files in its folder were added, changed or removed since then. Contains the
    /// first change.
    #[error("the bundle is installed already, and its folder was changed since; remove the servers that use it first")]
    FolderDiffers(#[source] FolderChange),
    /// Another process holds the lock of the folder of unpacked bundles, and did not release it within two minutes.
    #[error("another Drawbridge is installing or removing a bundle; try again when it is done")]
    Busy,
    /// The folder to remove is not directly below the folder of unpacked bundles.
    #[error("this is not the folder of an installed bundle")]
    NotInstalled,
}

impl BundleError {
    pub(crate) fn io(what: &'static str, cause: io::Error) -> Self {
        Self::Io { what, cause }
    }
}
