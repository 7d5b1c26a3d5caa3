//! A call in progress, and the purpose of a ticket of a connection. Used by `host/src/owner/calls` and
//! `host/src/owner/audit.rs`.

use std::sync::Arc;

use domain::Millis;
use domain::call::{CallFailure, CallKind, CallState, ServerCall};
use mcp_proto::session::{ClientRequest, ServerResult};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{CallOrigin, CallRequest};
use crate::{CallTicket, RunId};

/// Result of a call.
pub type CallReply = Result<ServerResult, CallFailure>;

/// Notified when a call is sent to its server, with the arguments if the user changed them. Dropped if it is never
/// sent.
pub type SentNotifier = oneshot::Sender<Option<Map<String, Value>>>;

/// A call to make.
pub struct NewCall {
    /// Identifier, chosen by the caller and unique among the calls in progress.
    pub id: String,
    /// Name of the server that receives the call.
    pub server: String,
    /// Kind of the call: a tool, a prompt, or a resource.
    pub kind: CallKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Originator of the call.
    pub origin: CallOrigin,
    /// Request to send once the call is allowed.
    pub request: ClientRequest,
    /// Hash of the prompt's definition as displayed to the caller.
    pub shown: Option<String>,
    /// Notified when the call is sent.
    pub sent: Option<SentNotifier>,
}

/// A call in progress.
pub struct CallRecord {
    /// State of the call as displayed.
    pub view: ServerCall,
    /// Originator of the call.
    pub origin: CallOrigin,
    /// Request to send, or `None` once it was sent.
    pub request: Option<CallRequest>,
    /// Hash of the requested prompt definition, or `None` if the prompt is not listed.
    pub wanted: Option<Hash>,
    /// Arguments as edited by the user.
    pub edited: Option<Map<String, Value>>,
    /// Notified when the call is sent.
    pub sent: Option<SentNotifier>,
    /// Number of rounds of input requests so far.
    pub round: u32,
    /// Run and ticket under which the call was sent, or `None` if it is not with a connection.
    pub ticket: Option<(RunId, CallTicket)>,
    /// Set if its tool claimed, when the call was sent, that it reaches an open world.
    pub open_world: bool,
    /// Position of the latest audit entry that the call rests on, or 0 if there is none.
    pub entry: u64,
    /// Number of the running resolution of symbolic links in its paths, or `None`. Results with another number are
    /// ignored.
    pub following: Option<u64>,
    /// Number of the running write of its audit entry, or `None`.
    pub writing: Option<u64>,
    /// Result of the call, withheld until that entry is durable.
    pub held: Option<Result<ServerResult, CallFailure>>,
    /// Receives the result of the call.
    pub reply: oneshot::Sender<CallReply>,
}

impl CallRecord {
    /// Creates the record of a call that was not decided yet.
    pub fn new(call: NewCall, started_at: Millis, reply: oneshot::Sender<CallReply>) -> Self {
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
pub enum TicketUse {
    /// A call that is displayed.
    Call {
        /// Run of the server that received the call.
        run: RunId,
        /// Identifier of the call.
        id: Arc<str>,
    },
    /// A request that is not displayed: a completion, a subscription, or a log level.
    Plain {
        /// Run of the server that received the request.
        run: RunId,
        /// Name of the server.
        server: String,
        /// Receives the result of the request.
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    },
}

impl TicketUse {
    /// Returns the run that the ticket belongs to.
    pub const fn run(&self) -> RunId {
        match self {
            Self::Call { run, .. } | Self::Plain { run, .. } => *run,
        }
    }
}
