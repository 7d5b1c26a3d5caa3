//! Why a bundle is not read, unpacked or removed.

use std::io;

use foreign::visible;

use crate::{FolderChange, ManifestError, Refusal, TreeChange};

/// The reason why a bundle is not read, unpacked or removed. The texts are safe to print.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The disk does not do what is asked of it.
    #[error("{what}: {cause}")]
    Io {
        /// What failed.
        what: &'static str,
        /// Why.
        cause: io::Error,
    },
    /// The archive is refused.
    #[error("the bundle is refused: {0}")]
    Refused(#[from] Refusal),
    /// The manifest can't be used.
    #[error("the bundle's manifest.json can't be used: {0}")]
    Manifest(#[from] ManifestError),
    /// A file is larger than its reader takes.
    #[error("{} is larger than {max} bytes", visible(.path))]
    TooLargeToRead {
        /// The path in the bundle.
        path: String,
        /// How many bytes are read.
        max: u64,
    },
    /// The file is not what it was when it was opened.
    #[error("the bundle's file has changed since it was opened; open it again")]
    Changed,
    /// The bundle is unpacked already, and its files have changed since.
    #[error("the bundle is installed already, and its files have changed ({0}); remove it first")]
    Differs(TreeChange),
    /// The bundle is unpacked already, and its folder holds other files by now.
    #[error(
        "the bundle is installed already, and its folder holds other files by now; remove the servers that use it first"
    )]
    FolderDiffers(#[source] FolderChange),
    /// Another program keeps the folder with bundles for itself.
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
