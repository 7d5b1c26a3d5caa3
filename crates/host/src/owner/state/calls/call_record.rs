//! A call in progress, and the purpose of a ticket of a connection. Used by `owner/calls` and `owner/audit.rs`.

use std::sync::Arc;

use domain::Millis;
use domain::call::{CallFailure, CallKind, CallState, ServerCall};
use mcp_proto::session::{ClientRequest, ServerResult};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{CallOrigin, CallRequest};
use crate::connection::{CallTicket, RunId};

/// Result of a call.
pub(crate) type CallReply = Result<ServerResult, CallFailure>;

/// Notified when a call is sent to its server, with the arguments if the user changed them. Dropped if it is never
/// sent.
pub type SentNotifier = oneshot::Sender<Option<Map<String, Value>>>;

/// A call to make.
pub(crate) struct NewCall {
    pub(crate) id: String,
    pub(crate) server: String,
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) origin: CallOrigin,
    pub(crate) request: ClientRequest,
    /// Hash of the prompt's definition as displayed to the caller.
    pub(crate) shown: Option<String>,
    /// Notified when the call is sent.
    pub(crate) sent: Option<SentNotifier>,
}

/// A call in progress.
pub(in crate::owner) struct CallRecord {
    pub(in crate::owner) view: ServerCall,
    /// Originator of the call.
    pub(in crate::owner) origin: CallOrigin,
    /// Request to send, or `None` once it was sent.
    pub(in crate::owner) request: Option<CallRequest>,
    /// Hash of the requested prompt definition, or `None` if the prompt is not listed.
    pub(in crate::owner) wanted: Option<Hash>,
    /// Arguments as edited by the user.
    pub(in crate::owner) edited: Option<Map<String, Value>>,
    /// Notified when the call is sent.
    pub(in crate::owner) sent: Option<SentNotifier>,
    /// Number of rounds of input requests so far.
    pub(in crate::owner) round: u32,
    pub(in crate::owner) ticket: Option<(RunId, CallTicket)>,
    /// Set if its tool claimed, when the call was sent, that it reaches an open world.
    pub(in crate::owner) open_world: bool,
    /// Position of the latest audit entry that the call rests on, or 0 if there is none.
    pub(in crate::owner) entry: u64,
    /// Set while links in its paths are being resolved.
    pub(in crate::owner) following: Option<u64>,
    /// Set while its audit entry is being written.
    pub(in crate::owner) writing: Option<u64>,
    /// Result of the call, withheld until that entry is durable.
    pub(in crate::owner) held: Option<Result<ServerResult, CallFailure>>,
    pub(in crate::owner) reply: oneshot::Sender<CallReply>,
}

impl CallRecord {
    /// Creates the record of a call that was not decided yet.
    pub(in crate::owner) fn new(call: NewCall, started_at: Millis, reply: oneshot::Sender<CallReply>) -> Self {
        let NewCall { id, server, kind, name, origin, request, shown: _, sent } = call;
        let view = ServerCall {
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

/// The purpose of a ticket.
pub(in crate::owner) enum TicketUse {
    Call {
        run: RunId,
        id: Arc<str>,
    },
    /// A request that is not displayed: a completion, a subscription, or a log level.
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
