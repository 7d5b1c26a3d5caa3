//! A call under way, and the meaning of a ticket that a connection has. Callers: `owner/calls` and `owner/audit.rs`.

use std::sync::Arc;

use domain::Millis;
use domain::call::{Call, CallFailure, CallKind, CallState};
use mcp_proto::session::{ClientRequest, ServerResult};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{CallOrigin, CallRequest};
use crate::connection::{RunId, Ticket};

/// A call's answer.
pub(crate) type CallReply = Result<ServerResult, CallFailure>;

/// Told when a call is sent to its server, with its arguments if the user changed them. Dropped without a word if it never is.
pub type Sent = oneshot::Sender<Option<Map<String, Value>>>;

/// A call to make.
pub(crate) struct NewCall {
    pub(crate) id: String,
    pub(crate) server: String,
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) origin: CallOrigin,
    pub(crate) request: ClientRequest,
    /// The hash of the prompt's definition as it was shown to whoever wants it.
    pub(crate) shown: Option<String>,
    /// Who wants to know that it is sent.
    pub(crate) sent: Option<Sent>,
}

/// A call under way.
pub(in crate::owner) struct CallRecord {
    pub(in crate::owner) view: Call,
    /// Who makes it.
    pub(in crate::owner) origin: CallOrigin,
    /// The request to send; none once it was sent.
    pub(in crate::owner) request: Option<CallRequest>,
    /// The hash of a prompt's definition as the user wants it; none if it is in no list.
    pub(in crate::owner) wanted: Option<Hash>,
    /// The arguments as the user changed them.
    pub(in crate::owner) edited: Option<Map<String, Value>>,
    /// Who wants to know that it is sent.
    pub(in crate::owner) sent: Option<Sent>,
    /// How often it has asked for input.
    pub(in crate::owner) round: u32,
    pub(in crate::owner) ticket: Option<(RunId, Ticket)>,
    /// Set if its tool said, when it was sent, that it reaches an open world.
    pub(in crate::owner) open_world: bool,
    /// The place of the latest entry in the audit log that it rests on; 0 for none.
    pub(in crate::owner) entry: u64,
    /// Set while the links on its paths are followed.
    pub(in crate::owner) following: Option<u64>,
    /// Set while its entry is on the way to the audit log.
    pub(in crate::owner) writing: Option<u64>,
    /// How it ended, while that entry is not durable.
    pub(in crate::owner) held: Option<Result<ServerResult, CallFailure>>,
    pub(in crate::owner) reply: oneshot::Sender<CallReply>,
}

impl CallRecord {
    /// A call that nobody has decided about yet.
    pub(in crate::owner) fn new(call: NewCall, started_at: Millis, reply: oneshot::Sender<CallReply>) -> Self {
        let NewCall { id, server, kind, name, origin, request, shown: _, sent } = call;
        let view = Call {
            id,
            server,
            kind,
            name,
            started_at,
            state: CallState::AwaitingApproval,
            progress: None,
            task: None,
            conversation: origin.conversation().map(str::to_owned),
        };
        Self {
            view,
            origin,
            request: Some(CallRequest::new(request)),
            wanted: None,
            edited: None,
            sent,
            round: 0,
            ticket: None,
            open_world: false,
            entry: 0,
            following: None,
            writing: None,
            held: None,
            reply,
        }
    }
}

/// The request that a ticket stands for.
pub(in crate::owner) enum TicketUse {
    Call {
        run: RunId,
        id: Arc<str>,
    },
    /// A request that nobody needs to see: a completion, a subscription, a log level.
    Plain {
        run: RunId,
        server: String,
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    },
}

impl TicketUse {
    pub(in crate::owner) const fn run(&self) -> RunId {
        match self {
            Self::Call { run, .. } | Self::Plain { run, .. } => *run,
        }
    }
}
