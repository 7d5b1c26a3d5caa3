//! The errors of reading, unpacking and removing a bundle.

use std::io;

use foreign::visible;

use crate::{ArchiveRefusal, FolderChange, ManifestError, TreeChange};

/// The error of reading, unpacking or removing a bundle. The texts are safe to print.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A disk operation failed.
    #[error("{what}: {cause}")]
    Io {
        /// Description of the operation.
        what: &'static str,
        /// Cause of the failure.
        cause: io::Error,
    },
    /// The archive is refused.
    #[error("the bundle is refused: {0}")]
    Refused(#[from] ArchiveRefusal),
    /// The manifest is invalid.
    #[error("the bundle's manifest.json can't be used: {0}")]
    Manifest(#[from] ManifestError),
    /// A file is larger than the limit for reading it.
    #[error("{} is larger than {max} bytes", visible(.path))]
    TooLargeToRead {
        /// Path in the bundle.
        path: String,
        /// Limit of the size, in bytes.
        max: u64,
    },
    /// The file has changed since it was opened.
    #[error("the bundle's file has changed since it was opened; open it again")]
    Changed,
    /// The bundle is already unpacked, and its files have changed since.
    #[error("the bundle is installed already, and its files have changed ({0}); remove it first")]
    Differs(TreeChange),
    /// The bundle is already unpacked, and its folder contains other files now.
    #[error(
        "the bundle is installed already, and its folder holds other files by now; remove the servers that use it first"
    )]
    FolderDiffers(#[source] FolderChange),
    /// Another program holds the lock of the bundles folder.
    #[error("another Drawbridge is installing or removing a bundle; try again when it is done")]
    Busy,
    /// The folder is not that of a bundle below the root.
    #[error("this is not the folder of an installed bundle")]
    NotInstalled,
}

impl BundleError {
    pub(crate) fn io(what: &'static str, cause: io::Error) -> Self {
        Self::Io { what, cause }
    }
}
