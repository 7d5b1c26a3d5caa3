//! State of one server, divided by lifetime: its launch, its lists, and its restarts. The record of a server in
//! `host` combines them with the session (`host/src/owner/state/server_record.rs`).

mod entry;
mod restart_state;
mod self_description;
mod server_facts;

pub use entry::{ServerError, check_server_entry};
pub use restart_state::RestartState;
pub use self_description::ServerSelfDescription;
pub use server_facts::truncate_server_facts;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use launches::packages::LoadedPackage;
use offers::catalog::ServerCatalog;
use offers::definitions::ToolDefinitionCache;
use offers::review::ToolAndPromptNames;
use policy::{Hash, UsedBy};
use ports::server_config::StdioConfig;
use process::sandbox::ResolvedSandbox;
use process::{LaunchFiles, SearchPath};

/// Data about the start of a local server: its command, sandbox and package. Set from the resolution of the command to
/// the end of the process.
#[derive(Default)]
pub struct LaunchState {
    /// Resolved path of the program, and the search path in which it was found. Set from the creation of the consent
    /// request until the server is started.
    pub found: Option<(PathBuf, SearchPath)>,
    /// Sandbox plan of a sandboxed server. Set from the resolution of the command until the end of the server's
    /// process.
    pub plan: Option<ResolvedSandbox>,
    /// Files that determine what the command runs, or `None` before the command is resolved.
    pub files: Option<LaunchFiles>,
    /// Command to run, with the version of its package, or `None` before it is resolved.
    pub command: Option<StdioConfig>,
    /// Package that the command loads, or `None` before the look-up and if the command is not a package launcher.
    pub package: Option<LoadedPackage>,
    /// Set if the user requested the start that is in progress.
    pub started_by_user: bool,
    /// Originator of the start that is in progress, or `None` if the host starts the server by itself.
    pub requested_by: Option<UsedBy>,
    /// Set if the start in progress requests consent even if a grant covers it.
    pub must_ask: bool,
}

/// A server's lists, such as its tools, and values derived from them.
#[derive(Default)]
pub struct OfferState {
    /// Lists of the server, as last read.
    pub catalog: Arc<ServerCatalog>,
    /// Cache of hashes and other data that are computed from the definitions of the listed tools.
    pub definitions: ToolDefinitionCache,
    /// Names of the tools and prompts that the user has reviewed (pins). Computed on first use.
    pub pinned_names: OnceLock<ToolAndPromptNames>,
    /// Two counts of listed definitions: those that the user has never reviewed, and those that changed since their
    /// review. Computed on first use.
    pub unreviewed: OnceLock<[usize; 2]>,
    /// Hash of the command or address that the server was started with, or `None` if it was not started.
    pub identity: Option<Hash>,
    /// Name that the server claims, and warnings about its other information about itself.
    pub description: ServerSelfDescription,
}
