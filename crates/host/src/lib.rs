//! The host: runs a session with each configured server, applies the policy, maintains the queue of consent requests,
//! and handles requests of servers. Its access to the outside is defined by [`ports`].
//!
//! One owner has all state. [`Host`] is the public handle to it. A server affects the owner only through its
//! connection, which enforces limits.

mod connection;
mod handle;
mod owner;

pub use handle::{EventReceiver, Host, ReplacedServer, SandboxStartError, ServerSetup, SetupError, StorageError};
pub use host_state::{AppToolCommand, HostClosed, NumberedEvent, PermissionUses, rules, view};
pub use launches::sandbox::BUNDLES_FOLDER_NAME;
pub use owner::{
    AppTools, AppToolsForModel, CallOrigin, DataFlowError, DataFlowLabel, DecisionError, DefinitionShownToUser,
    RestoreGrantError, ResultOrigin, ResultReviewVerdict, ReviewError, SamplingError, SentCall, SentNotifier,
    ServerError, ServerForModel,
};

use std::time::Duration;

use mcp_proto::session::SessionTimeouts;
pub use mcp_proto::session::TraceContext;
use mcp_proto::types::Implementation;
use policy::UsedBy;
use process::{LaunchFiles, SharedSearchPath};

/// Options of a host, fixed at its start.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Name and version of the client, as sent to servers.
    pub client: Implementation,
    /// Set to start the servers with an approved command or address when the host starts, except those whose
    /// configuration says that they do not start with it.
    pub autostart: bool,
    /// Timeouts of session handshakes and pings.
    pub timeouts: SessionTimeouts,
    /// Timeouts of requests to servers: calls, list requests and completions.
    pub call_timeouts: view::CallTimeouts,
    /// Name of whoever decides on consent requests, as recorded in audit entries: `user`, `answers` for an answers file
    /// of the command line, or `policy` if nobody does.
    pub decider_name: &'static str,
    /// Originator of the starts that the user requests, which is displayed as the last user of the grant that allowed
    /// such a start. Default: the user in the window.
    pub user_origin: UsedBy,
    /// Time for which a server is muted after the user denied three of its requests in a row.
    pub cool_down: Duration,
    /// Maximum total size of the activity logs of all servers, in bytes. If it is exceeded, the oldest entries of the
    /// largest logs are dropped. Default: 64 MiB.
    pub max_activity_bytes: usize,
    /// Search path for programs. The default one is read from the login shell.
    pub search_path: SharedSearchPath,
    /// Function that reads the files that a start's command runs once more: when the user decides on the start, and
    /// directly before the start. May block as long as the file system does.
    pub reread_launch_files: fn(&LaunchFiles) -> LaunchFiles,
    /// Set if MCP apps can be shown, which is then announced to servers (extension `io.modelcontextprotocol/ui`).
    pub shows_apps: bool,
    /// Parent of this host's calls in a distributed trace, if any. Sent to servers of revision 2026-07-28.
    pub trace: Option<TraceContext>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            client: Implementation {
                name: "drawbridge".to_owned(),
                title: Some("Drawbridge".to_owned()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..Implementation::default()
            },
            autostart: false,
            timeouts: SessionTimeouts::default(),
            call_timeouts: view::CallTimeouts::default(),
            decider_name: "user",
            user_origin: UsedBy::User,
            cool_down: Duration::from_secs(5 * 60),
            max_activity_bytes: supervision::activity::MAX_TOTAL_ACTIVITY_BYTES,
            search_path: SharedSearchPath::default(),
            reread_launch_files: LaunchFiles::reread,
            shows_apps: false,
            trace: None,
        }
    }
}
