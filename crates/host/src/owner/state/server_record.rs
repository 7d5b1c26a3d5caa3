//! A server with its state, in the parts that change together: its session, its start, its lists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::Millis;
use launches::packages::LoadedPackage;
use mcp_proto::session::Facts;
use mcp_proto::types::{LogLevel, SamplingCapability};
use offers::catalog::Catalog;
use offers::definitions::Definitions;
use offers::review::KindNames;
use policy::Hash;
use ports::server_config::{ServerConfig, StdioConfig};
use ports::time::SharedClock;
use process::sandbox::Plan;
use process::{LaunchFiles, SearchPath};
use supervision::activity::{Activity, ActivityKind};
use supervision::limits::Counted;

use crate::connection::Connection;
use crate::owner::marks::Said;
use crate::owner::sign_in::Access;
use crate::owner::supervision::Supervision;
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
    pub(crate) used: Arc<Mutex<Counted>>,
    pub(in crate::owner) supervision: Supervision,
    /// Whether to start it again once it has stopped.
    pub(crate) start_again: bool,
    pub(in crate::owner) access: Access,
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
            access: Access::default(),
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
    /// Why changes are not told at the moment.
    pub(crate) subscriptions_lost: Option<String>,
    /// Watched resources and the level of the log that the user set up with a server that is being brought back.
    pub(crate) to_restore: (Vec<String>, Option<LogLevel>),
    /// The capability for sampling that its session was opened with.
    pub(in crate::owner) sampling_offered: Option<SamplingCapability>,
}

/// The command of a local server, between the consent request and the end of its process.
#[derive(Default)]
pub(crate) struct Launch {
    /// Where its command was found, and how, between the approval's question and the start.
    pub(crate) found: Option<(PathBuf, SearchPath)>,
    /// What it reaches in its sandbox, if it has one, from when its command was found to its end.
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
    /// Over what was started or connected to.
    pub(crate) identity: Option<Hash>,
    /// What it says of itself, looked through.
    pub(in crate::owner) said: Said,
}
