//! State of one server by lifetime: its launch, its lists, and its supervision. A record of `host` connects them with
//! the session (`host/src/owner/state/server_record.rs`).

mod self_description;
mod supervision;

pub use self_description::SelfDescription;
pub use supervision::Supervision;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use launches::packages::LoadedPackage;
use offers::catalog::Catalog;
use offers::definitions::Definitions;
use offers::review::KindNameIndexes;
use policy::Hash;
use ports::server_config::StdioConfig;
use process::sandbox::ResolvedSandbox;
use process::{LaunchFiles, SearchPath};

/// The command of a local server, from its resolution to the end of its process.
#[derive(Default)]
pub struct LaunchState {
    /// Resolved path of the program and the search path, between the consent request and the start.
    pub found: Option<(PathBuf, SearchPath)>,
    /// Sandbox plan, if the server has a sandbox, from the resolution of the command to the end of the process.
    pub plan: Option<ResolvedSandbox>,
    /// Files that determine what the command runs, as resolved.
    pub files: Option<LaunchFiles>,
    /// Command to run, including the version of its package, once resolved.
    pub command: Option<StdioConfig>,
    /// Package that the command loads, once it was looked up.
    pub package: Option<LoadedPackage>,
    /// Set if the user requested the start in progress.
    pub started_by_user: bool,
    /// Set if the start in progress requests consent even if a grant covers it.
    pub must_ask: bool,
}

/// The lists of a server, and values derived from them.
#[derive(Default)]
pub struct OfferState {
    /// Lists of the server, as last read.
    pub catalog: Arc<Catalog>,
    /// Cached definitions of the listed tools.
    pub definitions: Definitions,
    /// Names of the reviewed definitions, computed on first use.
    pub pinned_names: OnceLock<KindNameIndexes>,
    /// Number of unreviewed definitions, computed on first use.
    pub unreviewed: OnceLock<[usize; 2]>,
    /// Hash of what was started or connected to.
    pub identity: Option<Hash>,
    /// Examined information of the server about itself.
    pub description: SelfDescription,
}
