//! The record of a server, with its state grouped by lifetime: session, launch, and lists.

mod sign_in_state;

pub(crate) use sign_in_state::SignOutReply;
pub(in crate::owner) use sign_in_state::{ActionAfterSession, ActionAfterSignOut, SignInState};

use std::sync::{Arc, Mutex};

use ::supervision::activity::{ActivityKind, ActivityLog, SharedActivityLog};
use ::supervision::limits::LatestServerUsage;
use domain::Millis;
use host_state::{LaunchState, OfferState, RestartState};
use mcp_proto::Revision;
use mcp_proto::session::ServerFacts;
use mcp_proto::types::{ContentBlock, LogLevel, SamplingCapability, SamplingContent};
use ports::server_config::ServerConfig;
use ports::time::SharedClock;

use crate::connection::Connection;
use crate::owner::sign_in::ServerSignIn;
use crate::view::{RemoteConnection, ServerState};

/// Current state of one server in the settings: its session, launch, lists, and sign-in.
pub(crate) struct ServerRecord {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) state: ServerState,
    pub(crate) since: Millis,
    pub(crate) session: SessionState,
    pub(crate) launch: LaunchState,
    pub(crate) offer: OfferState,
    pub(crate) activity: SharedActivityLog,
    /// Measured resource usage of the server, and the limits on it.
    pub(crate) used: Arc<Mutex<LatestServerUsage>>,
    pub(in crate::owner) supervision: RestartState,
    /// Set if the server has to be started again once it has stopped.
    pub(crate) start_again: bool,
    pub(in crate::owner) sign_in: SignInState,
    clock: SharedClock,
}

impl ServerRecord {
    pub(in crate::owner) fn new(config: ServerConfig, activity: ActivityLog, clock: SharedClock) -> Self {
        Self {
            config: Arc::new(config),
            state: ServerState::Stopped,
            since: clock.now(),
            session: SessionState::default(),
            launch: LaunchState::default(),
            offer: OfferState::default(),
            activity: SharedActivityLog::new(activity),
            used: Arc::default(),
            supervision: RestartState::default(),
            start_again: false,
            sign_in: SignInState::default(),
            clock,
        }
    }

    /// Adds a line to the server's activity log.
    pub(in crate::owner) fn log_activity_line(&self, kind: ActivityKind, text: &str) {
        self.activity.lock().append_line(kind, text);
    }

    pub(in crate::owner) fn set_state(&mut self, state: ServerState) {
        if self.state != state {
            self.state = state;
            self.since = self.clock.now();
        }
    }

    /// Saves the subscriptions and the log level of an ended session, so that they can be restored in the next session.
    pub(in crate::owner) fn save_session_state_for_restart(&mut self) {
        let (uris, level) = &mut self.session.to_restore;
        for uri in std::mem::take(&mut self.session.subscriptions) {
            if !uris.contains(&uri) {
                uris.push(uri);
            }
        }
        *level = self.session.log_level.take().or(*level);
    }

    /// Returns the sign-in if it can be used without creating a new one. A sign-in that a connection uses, or that is
    /// in progress, remains usable even if the server's settings have changed.
    pub(in crate::owner) fn usable_sign_in(&self) -> Option<&ServerSignIn> {
        let is_in_use = self.session.connection.is_some() || self.sign_in.flow.is_some();
        if is_in_use { self.sign_in.sign_in.as_ref() } else { self.sign_in.sign_in_with_current_secrets() }
    }

    /// Stores if a sign-in is in progress and, if `cause` is given, why it is required. Has no effect unless the server
    /// requires a sign-in.
    pub(in crate::owner) fn set_signing_in(&mut self, signing_in: bool, cause: Option<String>) {
        if let ServerState::NeedsSignIn(needed) = &mut self.state {
            needed.signing_in = signing_in;
            needed.cause = cause.unwrap_or_else(|| std::mem::take(&mut needed.cause));
        }
    }

    /// Returns `text` with all access tokens of this server redacted.
    pub(in crate::owner) fn redacted(&self, text: String) -> String {
        self.activity.redact_text(text)
    }
}

/// Data of a server's session, from its start to its end.
#[derive(Default)]
pub(crate) struct SessionState {
    pub(crate) connection: Option<Connection>,
    pub(crate) facts: Option<ServerFacts>,
    pub(crate) pid: Option<u32>,
    /// Connection to a remote server, or `None` before it was reached.
    pub(crate) connected: Option<RemoteConnection>,
    pub(crate) subscriptions: Vec<String>,
    pub(crate) log_level: Option<LogLevel>,
    /// Reason why change notifications stopped, or `None` if they work.
    pub(crate) subscriptions_lost: Option<String>,
    /// Resource subscriptions and log level to restore in the next session.
    pub(crate) to_restore: (Vec<String>, Option<LogLevel>),
    /// Sampling capability that was declared when the session was opened.
    pub(in crate::owner) sampling_offered: Option<SamplingCapability>,
}

impl SessionState {
    /// Returns `true` if the server's protocol revision supports this content of a model's reply.
    pub(in crate::owner) fn supports_content(&self, content: &SamplingContent) -> bool {
        let Some(facts) = &self.facts else { return true };
        let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
        let blocks = content.blocks();
        let fits_in_one = blocks.len() == 1 || blocks.iter().all(is_text);
        let has = |is_kind: fn(&ContentBlock) -> bool| blocks.iter().any(is_kind);
        let has_audio = has(|block| matches!(block, ContentBlock::Audio(_)));
        let has_tools = has(|block| matches!(block, ContentBlock::ToolUse(_)));
        (fits_in_one || facts.revision.has_sampling_content_list())
            && (!has_audio || facts.revision > Revision::V2024_11_05)
            && (!has_tools || facts.revision.has_sampling_tools())
    }
}
