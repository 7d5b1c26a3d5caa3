//! The folders that servers may know of, as they are in memory and in their file.

use std::collections::BTreeMap;

use crate::owner::roots::SharedRoots;

/// Folders by server.
#[derive(Default)]
pub(in crate::owner) struct FolderShares {
    pub(in crate::owner) shared: BTreeMap<String, SharedRoots>,
    /// The same as they are in the file.
    pub(in crate::owner) in_file: BTreeMap<String, SharedRoots>,
}
