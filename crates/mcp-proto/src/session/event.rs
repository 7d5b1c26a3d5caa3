//! What a session tells: answers, questions, news and faults.

use std::fmt;

use crate::jsonrpc::RequestId;
use crate::revision::Revision;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Implementation, LogMessage, Root,
    ServerCapabilities,
};

use super::tasks::TaskView;
use super::{CallError, CloseReason, ServerResult};

/// Name of a call within its session; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u64);

/// Name of a server's question within its session; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for ServerRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Where a message came from. Over HTTP this tells which stream carried it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StreamOrigin {
    /// The one output of a local server.
    Stdio,
    /// The answer, or the stream, of the POST that carried this request of ours.
    Post(RequestId),
    /// The standing GET stream, or the one stream of HTTP+SSE.
    Get,
}

/// Why a call is cancelled; told to the server as `reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelReason {
    /// The user did not want it any longer.
    User,
    /// A newer call takes its place, such as the next completion while typing.
    Superseded,
    /// The client is closing.
    Shutdown,
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CancelReason::User => "cancelled by the user",
            CancelReason::Superseded => "superseded by a newer request",
            CancelReason::Shutdown => "the client is closing",
            CancelReason::Other(reason) => reason,
        })
    }
}

/// What the opening found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// The revision that is spoken.
    pub revision: Revision,
    /// What the server calls itself: a claim, for display only.
    pub server: Option<Implementation>,
    /// What the server offers.
    pub capabilities: ServerCapabilities,
    /// How a model should use the server. Untrusted text.
    pub instructions: Option<String>,
}

/// What a server wants from the client, the same in every revision.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerQuestion {
    /// A model's answer (`client/sampling`).
    Sampling(Box<CreateMessageParams>),
    /// The user's input (`client/elicitation`).
    Elicitation(ElicitParams),
    /// The folders that it may use (`client/roots`).
    Roots,
}

/// What goes back.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To [`ServerQuestion::Sampling`].
    Sampling(Box<CreateMessageResult>),
    /// To [`ServerQuestion::Elicitation`], also when the user declined or cancelled.
    Elicitation(ElicitResult),
    /// To [`ServerQuestion::Roots`].
    Roots(Vec<Root>),
    /// To any. Up to 2025-11-25 the server gets this error. 2026-07-28 has no way to say no to sampling
    /// or roots, so there the call that led to the question is given up with [`CallError::Refused`].
    Refused {
        /// For instance -1, the user rejected it.
        code: i64,
        /// Why.
        message: String,
    },
}

/// News for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientNotification {
    /// The folders changed. Not sent to servers that cannot know it (2026-07-28).
    RootsListChanged,
}

/// Which list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
    /// The resources and their templates.
    Resources,
}

/// Why a question needs no answer any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// The server does not want it any longer.
    CancelledByServer,
    /// The call that led to it has ended.
    CallEnded,
    /// The session has ended.
    SessionEnded,
}

/// How an opening failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpeningFault {
    /// The server ended while it was probed: start it again with
    /// [`Opening::Initialize`](super::Opening::Initialize).
    ExitedOnProbe,
    /// The server did not answer in time.
    NoAnswer,
    /// The server ended.
    Exited,
    /// `initialize` failed with a 4xx status: perhaps the server speaks HTTP+SSE.
    NotStreamable,
    /// The server wants an authorization (401 or 403).
    Unauthorized,
    /// Nothing reached the server.
    Unreachable,
    /// The server failed (5xx, or its answer broke off): try again later.
    ServerError,
    /// The server refused, speaks no revision spoken here, or said something else than the protocol says.
    Refused,
}

/// An entry of a list that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedItem {
    /// Its name or URI, or its place in the page if it has none. Untrusted text.
    pub name: String,
    /// Why.
    pub cause: String,
}

/// What a session tells its owner.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// The server can be used.
    Ready(Box<Facts>),
    /// The server cannot be used; the transport should be closed.
    OpeningFailed {
        /// Why, in words.
        cause: String,
        /// What to act on.
        fault: OpeningFault,
    },
    /// The server wants something. To be answered once with [`Session::answer`](super::Session::answer).
    Asked {
        /// The question's name.
        request: ServerRequestId,
        /// The call that led to it, when that is known.
        call: Option<CallId>,
        /// The question.
        question: Box<ServerQuestion>,
    },
    /// A question needs no answer any longer.
    Withdrawn {
        /// The question's name.
        request: ServerRequestId,
        /// Why.
        why: Withdrawal,
    },
    /// A call goes on. Only the latest one of a call waits in the queue; `count` tells of those before it.
    Progress {
        /// The call.
        call: CallId,
        /// How many notifications of its progress have come by now, this one included.
        count: u64,
        /// How far it is; grows.
        progress: f64,
        /// How far it will go, if known.
        total: Option<f64>,
        /// What it is doing. Untrusted text.
        message: Option<String>,
    },
    /// A call has ended. Comes exactly once for each call.
    Done {
        /// The call.
        call: CallId,
        /// How it ended.
        result: Result<ServerResult, CallError>,
    },
    /// A list changed and should be read again.
    ListChanged(ListKind),
    /// A resource changed; it may lie below the one that was subscribed to.
    ResourceUpdated {
        /// The resource.
        uri: String,
    },
    /// The server logged something.
    Log {
        /// What.
        message: Box<LogMessage>,
        /// The call on whose stream it came, where streams tell.
        call: Option<CallId>,
    },
    /// Change notifications stopped and are asked for again, later and later if that keeps failing. What
    /// changed in between was not told.
    SubscriptionsLost {
        /// Why, in words.
        cause: String,
    },
    /// Change notifications come again.
    SubscriptionsRenewed,
    /// The server had forgotten the session, and a new one was opened (404 over Streamable HTTP). Lists
    /// should be read again.
    Reopened(Box<Facts>),
    /// A call goes on as a task of the server. Only the latest one of a call waits in the queue.
    TaskChanged {
        /// The call; it still ends with [`SessionEvent::Done`].
        call: CallId,
        /// The task.
        task: Box<TaskView>,
    },
    /// Entries of a list that was read are of no use and were left out.
    ItemsDropped {
        /// The list.
        list: ListKind,
        /// The entries.
        items: Vec<DroppedItem>,
    },
    /// What a URL was to be visited for is done.
    ElicitationComplete {
        /// As in [`ElicitParams::Url`].
        elicitation_id: String,
    },
    /// Something invalid came or something was dropped. The session goes on.
    Anomaly {
        /// What, in words.
        cause: String,
        /// The id that stood on it.
        id: Option<RequestId>,
    },
    /// The session is over. The last event.
    Closed(CloseReason),
}
