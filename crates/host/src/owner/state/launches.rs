//! The facts from which a local server is started: its package, the search path, and the files that its sandbox hides.

use std::collections::BTreeMap;
use std::sync::Arc;

use process::SearchPath;

use crate::owner::known::Remembered;
use crate::owner::packages::ApprovedPackage;
use crate::owner::sandbox::OwnFiles;

/// Facts about starts, by server where they differ.
pub(in crate::owner) struct Launches {
    /// The transport and revision that a server had when it ran last.
    pub(in crate::owner) known: BTreeMap<String, Remembered>,
    /// The version of its package that was approved last.
    pub(in crate::owner) packages: BTreeMap<String, ApprovedPackage>,
    pub(in crate::owner) own_files: OwnFiles,
    pub(in crate::owner) search_path: Arc<tokio::sync::Mutex<Option<SearchPath>>>,
}
