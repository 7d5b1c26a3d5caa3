//! The host: it knows the servers, runs a session for each, asks the policy, keeps the queue of questions, and routes what
//! servers ask for. Everything outside it comes through [`ports`].
//!
//! All state lies with one owner; [`Host`] is the handle to it. What a server does reaches the owner only
//! through that server's own connection, which bounds it.

mod closed;
mod connection;
mod handle;
mod owner;
pub mod rules;
pub mod skills;
pub mod view;

pub use closed::HostClosed;
pub use handle::{Events, Host, ImportError, ImportServerError, ReplacedServer, Setup, SetupError, StorageError};
pub use launches::sandbox::BUNDLES;
pub use owner::{
    AnswerError, CallOrigin, FlowError, Label, ResultOrigin, ResultVerdict, ReviewError, SamplingError, Sent,
    ServerError, ServerForModel, ShownDefinition,
};

use std::time::Duration;

use mcp_proto::session::Timeouts;
pub use mcp_proto::session::TraceContext;
use mcp_proto::types::Implementation;
use process::{LaunchFiles, SearchPath};

/// How a host behaves.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// What servers are told of the host.
    pub client: Implementation,
    /// Whether servers with an approved command start with the host.
    pub autostart: bool,
    /// How long openings and pings may take.
    pub timeouts: Timeouts,
    /// How long calls may take.
    pub times: view::CallTimes,
    /// Who answers questions, for the audit log: `user`, or `answers` for a file of answers.
    pub decides: &'static str,
    /// For how long a server is muted after the user refused three of its questions in a row.
    pub cool_down: Duration,
    /// How many bytes of activity are kept of all servers together; then the oldest of the largest go. 64 MiB.
    pub kept_together: usize,
    /// The folders that programs are searched in; what the login shell tells if none is given.
    pub search_path: Option<SearchPath>,
    /// Looks at the files of a command again: when the user answers its start, and right before it. It may block for as long as their
    /// file system does.
    pub look_at_files: fn(&LaunchFiles) -> LaunchFiles,
    /// Where the calls of this host belong in a distributed trace; servers of 2026-07-28 are told.
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
            timeouts: Timeouts::default(),
            times: view::CallTimes::default(),
            decides: "user",
            cool_down: Duration::from_secs(5 * 60),
            kept_together: supervision::activity::MAX_TOGETHER,
            search_path: None,
            look_at_files: LaunchFiles::again,
            trace: None,
        }
    }
}

/// An event with its number. Numbers grow by one.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedEvent {
    /// Its number.
    pub number: u64,
    /// What changed.
    pub event: view::HostEvent,
}
