//! A server with its state, in the parts that change together: its session, its start, its lists.

mod self_description;
mod sign_in_state;
mod supervision;

pub(crate) use self_description::SelfDescription;
pub(crate) use sign_in_state::SignOutReply;
pub(in crate::owner) use sign_in_state::{AfterSession, AfterSignOut, SignInState};
pub(in crate::owner) use supervision::Supervision;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ::supervision::activity::{Activity, ActivityKind};
use ::supervision::limits::UsageGauge;
use domain::Millis;
use launches::packages::LoadedPackage;
use mcp_proto::Revision;
use mcp_proto::session::Facts;
use mcp_proto::types::{ContentBlock, LogLevel, SamplingCapability, SamplingContent};
use offers::catalog::Catalog;
use offers::definitions::Definitions;
use offers::review::KindNames;
use policy::Hash;
use ports::server_config::{ServerConfig, StdioConfig};
use ports::time::SharedClock;
use process::sandbox::Plan;
use process::{LaunchFiles, SearchPath};

use crate::connection::Connection;
use crate::owner::sign_in::SignIn;
use crate::view::{Connected, ServerState};

/// A server, with all that is known of it.
pub(crate) struct ServerRecord {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) state: ServerState,
    pub(crate) since: Millis,
    pub(crate) session: SessionState,
    pub(crate) launch: Launch,
    pub(crate) offer: Offer,
    pub(crate) activity: Arc<Mutex<Activity>>,
    /// How much it uses of what each server gets.
    pub(crate) used: Arc<Mutex<UsageGauge>>,
    pub(in crate::owner) supervision: Supervision,
    /// Set if it is started again once it has stopped.
    pub(crate) start_again: bool,
    pub(in crate::owner) access: SignInState,
    clock: SharedClock,
}

impl ServerRecord {
    pub(in crate::owner) fn new(config: ServerConfig, activity: Activity, clock: SharedClock) -> Self {
        Self {
            config: Arc::new(config),
            state: ServerState::Stopped,
            since: clock.now(),
            session: SessionState::default(),
            launch: Launch::default(),
            offer: Offer::default(),
            activity: Arc::new(Mutex::new(activity)),
            used: Arc::default(),
            supervision: Supervision::default(),
            start_again: false,
            access: SignInState::default(),
            clock,
        }
    }

    /// A line in its activity.
    pub(in crate::owner) fn note(&self, kind: ActivityKind, text: &str) {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner).line(kind, text);
    }

    pub(in crate::owner) fn set(&mut self, state: ServerState) {
        if self.state != state {
            self.state = state;
            self.since = self.clock.now();
        }
    }

    /// Its session is over: what the user had set up in it is to be set up in the next one, beside what no session took up
    /// since it was set up.
    pub(in crate::owner) fn restore_later(&mut self) {
        let (uris, level) = &mut self.session.to_restore;
        for uri in std::mem::take(&mut self.session.subscriptions) {
            if !uris.contains(&uri) {
                uris.push(uri);
            }
        }
        *level = self.session.log_level.take().or(*level);
    }

    /// The sign-in as it can be used at once. One that signs for a connection, or is under way, serves until that ends, though
    /// what it was made of may be others.
    pub(in crate::owner) fn usable_sign_in(&self) -> Option<&SignIn> {
        let is_in_use = self.session.connection.is_some() || self.access.flow.is_some();
        if is_in_use { self.access.sign_in.as_ref() } else { self.access.current() }
    }

    /// Notes if a sign-in is under way with a server that waits for it, and why it still needs one.
    pub(in crate::owner) fn signs_in(&mut self, signing_in: bool, cause: Option<String>) {
        if let ServerState::NeedsSignIn(needed) = &mut self.state {
            needed.signing_in = signing_in;
            needed.cause = cause.unwrap_or_else(|| std::mem::take(&mut needed.cause));
        }
    }

    /// A text without the tokens of this server.
    pub(in crate::owner) fn redacted(&self, text: String) -> String {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner).redacted(text)
    }
}

/// The session of a server, from its start to its end.
#[derive(Default)]
pub(crate) struct SessionState {
    pub(crate) connection: Option<Connection>,
    pub(crate) facts: Option<Facts>,
    pub(crate) pid: Option<u32>,
    /// How a remote server was reached.
    pub(crate) connected: Option<Connected>,
    pub(crate) subscriptions: Vec<String>,
    pub(crate) log_level: Option<LogLevel>,
    /// The cause why changes are not told at the moment.
    pub(crate) subscriptions_lost: Option<String>,
    /// Watched resources and the level of the log that the user set up with a server that is being brought back.
    pub(crate) to_restore: (Vec<String>, Option<LogLevel>),
    /// The capability for sampling that its session was opened with.
    pub(in crate::owner) sampling_offered: Option<SamplingCapability>,
}

impl SessionState {
    /// Returns true if the revision that the server speaks has room for this content of a model's answer.
    pub(in crate::owner) fn can_carry(&self, content: &SamplingContent) -> bool {
        let Some(facts) = &self.facts else { return true };
        let is_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
        let blocks = content.blocks();
        let fits_in_one = blocks.len() == 1 || blocks.iter().all(is_text);
        let has = |wanted: fn(&ContentBlock) -> bool| blocks.iter().any(wanted);
        let has_audio = has(|block| matches!(block, ContentBlock::Audio(_)));
        let has_tools = has(|block| matches!(block, ContentBlock::ToolUse(_)));
        (fits_in_one || facts.revision.has_sampling_content_list())
            && (!has_audio || facts.revision > Revision::V2024_11_05)
            && (!has_tools || facts.revision.has_sampling_tools())
    }
}

/// The command of a local server, between the consent request and the end of its process.
#[derive(Default)]
pub(crate) struct Launch {
    /// Where its command was found, and how, between the approval's question and the start.
    pub(crate) found: Option<(PathBuf, SearchPath)>,
    /// The reach of its sandbox, if it has one, from when its command was found to its end.
    pub(crate) plan: Option<Plan>,
    /// The files that decide what it runs, as they were found.
    pub(crate) files: Option<LaunchFiles>,
    /// The command that runs, with the version of the package that it loads; from when it was found.
    pub(in crate::owner) command: Option<StdioConfig>,
    /// The package that its command loads, from when that was looked up.
    pub(in crate::owner) package: Option<LoadedPackage>,
    /// The start that is under way was asked for by the user.
    pub(in crate::owner) started_by_user: bool,
}

/// The lists of a server, and what they come to.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) definitions: Definitions,
    /// The names of what was seen of it, made when they are needed.
    pub(in crate::owner) pinned_names: OnceLock<KindNames>,
    /// How many definitions the user has not seen as they are now, worked out when it is needed.
    pub(in crate::owner) unreviewed: OnceLock<[usize; 2]>,
    /// Over what was started or connected to.
    pub(crate) identity: Option<Hash>,
    /// Its words about itself, looked through.
    pub(in crate::owner) description: SelfDescription,
}
