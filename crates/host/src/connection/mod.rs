//! The task of a running server. It owns the session and runs its driver, maintains the server's catalog and activity
//! log, and forwards to the host's owner only necessary reports, at a bounded rate. A server that floods the connection
//! is slowed down here without affecting other servers.

mod failures;
mod server_link;
mod session_run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::call::CallProgress;
use mcp_proto::session::{
    CallDeadline, CallError, ClientNotification, ClientRequest, ClientResponse, ListKind, ServerFacts, ServerRequest,
    ServerRequestId, ServerResult, SessionConfig, TaskState,
};
use mcp_transport::driver::DetectedTransport;
use mcp_transport::http::{Authorizer, KnownServerConnection};
use offers::catalog::ServerCatalog;
use ports::server_config::HttpKind;
use ports::time::SharedClock;
use process::orphans::RunningServerRecord;
use process::{SearchPath, ServerCommand};
use secrecy::SecretString;
use supervision::activity::SharedActivityLog;
use supervision::limits::{LatestServerUsage, ServerLimits};
use tokio::sync::{mpsc, oneshot};

use crate::owner::{AuthorizedPayload, WeakOwner};
use crate::view::{CallTimeouts, ServerFailure};

pub(crate) use host_state::{CallTicket, RunId};
pub(crate) use session_run::PING_TIMEOUT;

/// Capacity of the channel for commands to a connection.
const MAX_QUEUED_COMMANDS: usize = 256;

/// Parameters for starting a connection.
pub(crate) struct ConnectionStart {
    pub(crate) run: RunId,
    pub(crate) target: AuthorizedPayload<ConnectionTarget>,
    pub(crate) session: SessionConfig,
    pub(crate) times: CallTimeouts,
    pub(crate) activity: SharedActivityLog,
    /// Limits on the resources that the server may use.
    pub(crate) limits: ServerLimits,
    /// Gauge on which the connection reports the resource usage of the server.
    pub(crate) used: Arc<Mutex<LatestServerUsage>>,
    /// Wall clock for determining when cached lists are stale.
    pub(crate) clock: SharedClock,
}

/// The local or remote server to which a connection is opened.
pub(crate) enum ConnectionTarget {
    /// A local server: its command, the resolved path of its program, and the search path.
    Process { command: ServerCommand, program: PathBuf, path: SearchPath },
    /// A remote server: its address and headers.
    Url(HttpStart),
}

impl ConnectionTarget {
    /// Returns the time without messages after which the server is pinged.
    pub(crate) const fn ping_interval(&self) -> Duration {
        match self {
            Self::Process { .. } => Duration::from_secs(60),
            Self::Url(_) => Duration::from_secs(30),
        }
    }
}

/// Address and headers of a remote server, and the secrets in these headers.
pub(crate) struct HttpStart {
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// Secrets in the headers. Moved to the activity log, which redacts them.
    pub(crate) secrets: Vec<SecretString>,
    pub(crate) kind: Option<HttpKind>,
    pub(crate) known: Option<KnownServerConnection>,
    /// Signs requests with a token, or `None` if the server never requires a sign-in.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
}

/// A command that the owner sends to a connection.
#[derive(Debug)]
pub(crate) enum ConnectionCommand {
    Call {
        ticket: CallTicket,
        request: AuthorizedPayload<ClientRequest>,
        deadline: CallDeadline,
    },
    Cancel {
        ticket: CallTicket,
    },
    Answer {
        request: ServerRequestId,
        answer: AuthorizedPayload<ClientResponse>,
    },
    Notify(ClientNotification),
    /// Reads a list again: immediately or, if it is being read already, after that.
    Refresh {
        kind: ListKind,
        reply: oneshot::Sender<Arc<ServerCatalog>>,
    },
    /// Reads those lists again whose cache lifetime has expired.
    ReadStale,
    /// Sends a ping, to check that the server responds.
    Ping,
    Stop,
}

/// A report that a connection sends to the owner.
#[derive(Debug)]
pub(crate) enum ConnectionEvent {
    Started {
        pid: u32,
        record: RunningServerRecord,
    },
    /// A remote server was reached, and its transport was detected.
    Connected {
        transport: DetectedTransport,
        how: String,
    },
    Ready(Box<ServerFacts>),
    /// The connection opened a new session, because the server had dropped the previous one.
    Reopened(Box<ServerFacts>),
    /// The state of the change notifications changed. `lost` is the reason if they stopped, otherwise `None`.
    Listening {
        lost: Option<String>,
    },
    Task {
        ticket: CallTicket,
        task: TaskState,
    },
    RequestReceived {
        request: ServerRequestId,
        ticket: Option<CallTicket>,
        server_request: Box<ServerRequest>,
    },
    Withdrawn {
        request: ServerRequestId,
    },
    Progress {
        ticket: CallTicket,
        progress: CallProgress,
    },
    Done {
        ticket: CallTicket,
        result: Box<Result<ServerResult, CallError>>,
    },
    Catalog(Arc<ServerCatalog>),
    ResourceUpdated {
        uri: String,
    },
    Activity {
        last: u64,
    },
    /// Number of requests that the connection refused in this run, because the server sent too many.
    RequestsRefused {
        refused: u64,
    },
    /// The server and its processes have ended. `None` if the user stopped the server.
    Ended(Option<ServerFailure>),
}

impl ConnectionEvent {
    /// Locks the host's state, and lets the owner handle this report about the server's run `run`.
    fn deliver(self, owner: &WeakOwner, run: RunId) {
        // The owner no longer exists after the host has shut down, when reports are not needed.
        let _ = owner.run_turn(self.name(), |owner| owner.on_connection_event(run, self));
    }

    /// Returns the name of the report, for log messages.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "report: started",
            Self::Connected { .. } => "report: connected",
            Self::Ready(_) => "report: ready",
            Self::Reopened(_) => "report: reopened",
            Self::Listening { .. } => "report: listening",
            Self::Task { .. } => "report: task",
            Self::RequestReceived { .. } => "report: request received",
            Self::Withdrawn { .. } => "report: withdrawn",
            Self::Progress { .. } => "report: progress",
            Self::Done { .. } => "report: done",
            Self::Catalog(_) => "report: catalog",
            Self::ResourceUpdated { .. } => "report: resource updated",
            Self::RequestsRefused { .. } => "report: refused unseen",
            Self::Activity { .. } => "report: activity",
            Self::Ended(_) => "report: ended",
        }
    }
}

/// The owner's handle to the running connection of a server.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) run: RunId,
    /// Sender of commands to the task of the connection. Each command is boxed to keep the channel's memory small,
    /// since most connections are idle.
    pub(crate) sender: mpsc::Sender<Box<ConnectionCommand>>,
}

/// Starts the task of a connection, which locks the host's state for each report.
pub(crate) fn connect(start: ConnectionStart, owner: WeakOwner) -> Connection {
    let run = start.run;
    let (sender, commands) = mpsc::channel(MAX_QUEUED_COMMANDS);
    let start = Box::new(start);
    tokio::spawn(async move {
        let failure = session_run::run_connection(start, commands, &owner).await;
        ConnectionEvent::Ended(failure).deliver(&owner, run);
    });
    Connection { run, sender }
}
