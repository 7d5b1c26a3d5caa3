//! One task per running server: it is the session's owner and runs its driver, keeps the server's catalog and activity, and passes to the
//! owner only what the owner must know, at a bounded rate. A server that floods is slowed down here, and no other notices.

mod link;
mod outcome;
mod questions;
mod redacted;
mod refresh;
mod run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::call::Progress;
use mcp_proto::session::{
    Answer, CallError, ClientNotification, ClientRequest, Deadline, Facts, ListKind, ServerQuestion, ServerRequestId,
    ServerResult, SessionConfig, TaskView,
};
use mcp_transport::driver::TransportFound;
use mcp_transport::http::{Authorizer, KnownServer};
use offers::catalog::Catalog;
use ports::server_config::HttpKind;
use ports::time::SharedClock;
use process::orphans::RunningRecord;
use process::{SearchPath, ServerCommand};
use secrecy::SecretString;
use supervision::activity::Activity;
use supervision::limits::{Limits, UsageGauge};
use tokio::sync::{mpsc, oneshot};

use crate::owner::{Passed, WeakOwner};
use crate::view::{CallTimes, Failure};

pub(crate) use outcome::{not_found as outcome_not_found, unresolved as outcome_unresolved};
pub(crate) use run::PING;

/// The most commands that wait for a connection.
const MAX_COMMANDS: usize = 256;

/// Names one run of one server; a server that is started again has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RunId(pub(crate) u64);

/// Names one call of a connection, chosen by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// What a connection needs to start.
pub(crate) struct Start {
    pub(crate) run: RunId,
    pub(crate) target: Passed<Target>,
    pub(crate) session: SessionConfig,
    pub(crate) times: CallTimes,
    pub(crate) activity: Arc<Mutex<Activity>>,
    /// How much of everything it gets.
    pub(crate) limits: Limits,
    /// Where it is shown how much it uses.
    pub(crate) used: Arc<Mutex<UsageGauge>>,
    /// The time of day, by which lists stay fresh.
    pub(crate) clock: SharedClock,
}

/// What is started or connected to.
pub(crate) enum Target {
    /// A local program that was found.
    Process { command: ServerCommand, program: PathBuf, path: SearchPath },
    /// A remote server.
    Url(HttpStart),
}

impl Target {
    /// How long it may be silent before it is asked whether it lives.
    pub(crate) const fn ping_interval(&self) -> Duration {
        match self {
            Self::Process { .. } => Duration::from_secs(60),
            Self::Url(_) => Duration::from_secs(30),
        }
    }
}

/// A remote server, with the secrets in its headers.
pub(crate) struct HttpStart {
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// The secrets in them, until they are hidden.
    pub(crate) secrets: Vec<SecretString>,
    pub(crate) kind: Option<HttpKind>,
    pub(crate) known: Option<KnownServer>,
    /// What signs its requests, if the user may have to sign in.
    pub(crate) authorizer: Option<Arc<dyn Authorizer>>,
}

/// What the owner tells a connection.
#[derive(Debug)]
pub(crate) enum Tell {
    Call {
        ticket: Ticket,
        request: Passed<ClientRequest>,
        deadline: Deadline,
    },
    Cancel {
        ticket: Ticket,
    },
    Answer {
        request: ServerRequestId,
        answer: Passed<Answer>,
    },
    Notify(ClientNotification),
    /// Read a list again now.
    Refresh {
        kind: ListKind,
        reply: oneshot::Sender<Arc<Catalog>>,
    },
    /// Lists that are no longer fresh are to be read again.
    ReadStale,
    /// It has to show that it lives.
    Ping,
    Stop,
}

/// What a connection tells the owner.
#[derive(Debug)]
pub(crate) enum News {
    Started {
        pid: u32,
        record: RunningRecord,
    },
    /// A remote server was reached.
    Connected {
        transport: TransportFound,
        how: String,
    },
    Ready(Box<Facts>),
    /// The session was opened anew.
    Reopened(Box<Facts>),
    /// Whether changes are told; if not, why.
    Listening {
        lost: Option<String>,
    },
    Task {
        ticket: Ticket,
        task: TaskView,
    },
    Asked {
        request: ServerRequestId,
        ticket: Option<Ticket>,
        question: Box<ServerQuestion>,
    },
    Withdrawn {
        request: ServerRequestId,
    },
    Progress {
        ticket: Ticket,
        progress: Progress,
    },
    Done {
        ticket: Ticket,
        result: Box<Result<ServerResult, CallError>>,
    },
    Catalog(Arc<Catalog>),
    ResourceUpdated {
        uri: String,
    },
    Activity {
        last: u64,
    },
    /// How many of its questions were refused here so far, since they were too many.
    RefusedUnseen {
        refused: u64,
    },
    /// Nothing of the server is left. No failure: it was stopped.
    Ended(Option<Failure>),
}

impl News {
    /// Takes a turn of the owner with it.
    fn tell(self, owner: &WeakOwner, run: RunId) {
        // The owner is only gone when the host has ended. Then nobody needs it.
        let _ = owner.turn(self.name(), |owner| owner.on_news(run, self));
    }

    /// Its name, for the log.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "news: started",
            Self::Connected { .. } => "news: connected",
            Self::Ready(_) => "news: ready",
            Self::Reopened(_) => "news: reopened",
            Self::Listening { .. } => "news: listening",
            Self::Task { .. } => "news: task",
            Self::Asked { .. } => "news: asked",
            Self::Withdrawn { .. } => "news: withdrawn",
            Self::Progress { .. } => "news: progress",
            Self::Done { .. } => "news: done",
            Self::Catalog(_) => "news: catalog",
            Self::ResourceUpdated { .. } => "news: resource updated",
            Self::RefusedUnseen { .. } => "news: refused unseen",
            Self::Activity { .. } => "news: activity",
            Self::Ended(_) => "news: ended",
        }
    }
}

/// A running connection, as the owner holds it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) run: RunId,
    /// In boxes: the channel holds room for many, and most connections stand idle.
    pub(crate) tell: mpsc::Sender<Box<Tell>>,
}

/// Starts a connection. The owner takes a turn for each of its news.
pub(crate) fn connect(start: Start, owner: WeakOwner) -> Connection {
    let run = start.run;
    let (tell, told) = mpsc::channel(MAX_COMMANDS);
    let start = Box::new(start);
    tokio::spawn(async move {
        let failure = run::run(start, told, &owner).await;
        News::Ended(failure).tell(&owner, run);
    });
    Connection { run, tell }
}
