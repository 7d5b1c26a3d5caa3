//! Calls of tools, prompts and resources: asked about, sent, followed, ended.

mod deciding;
mod ending;
mod resources;
mod sending;

use std::sync::Arc;

use domain::call::{Call, CallFailure, CallKind, CallState};
use mcp_proto::session::{ClientRequest, ServerResult};
use policy::Hash;
use ports::AuditEntry;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::call_request::CallRequest;
use super::gate::Departure;
use super::provenance::CallOrigin;
use super::questions::For;

use super::Owner;
use crate::connection::{RunId, Tell, Ticket};
use crate::view::{HostEvent, QuestionBody};

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
pub(super) struct CallRecord {
    pub(super) view: Call,
    /// Who makes it.
    origin: CallOrigin,
    /// What is to be sent; none once it was.
    request: Option<CallRequest>,
    /// The hash of a prompt's definition as the user wants it; none if it is in no list.
    wanted: Option<Hash>,
    /// What the user made of the arguments.
    edited: Option<Map<String, Value>>,
    /// Who wants to know that it is sent.
    sent: Option<Sent>,
    /// How often it has asked for input.
    pub(in crate::owner) round: u32,
    ticket: Option<(RunId, Ticket)>,
    /// Set if its tool said, when it was sent, that it reaches an open world.
    open_world: bool,
    /// The place of the latest entry in the audit log that it rests on; 0 for none.
    pub(super) entry: u64,
    /// Set while the links on its paths are followed.
    following: Option<u64>,
    /// Set while its entry is on the way to the audit log.
    pub(super) writing: Option<u64>,
    /// How it ended, while that entry is not durable.
    pub(super) held: Option<Result<ServerResult, CallFailure>>,
    reply: oneshot::Sender<CallReply>,
}

/// What a ticket stands for.
pub(super) enum TicketUse {
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

impl CallRecord {
    /// Who makes it.
    pub(super) const fn origin(&self) -> &CallOrigin {
        &self.origin
    }
}

impl TicketUse {
    const fn run(&self) -> RunId {
        match self {
            Self::Call { run, .. } | Self::Plain { run, .. } => *run,
        }
    }
}

/// What happens to a call.
pub(super) enum Way {
    /// It is sent once this is written down.
    Write(Box<AuditEntry>, Departure),
    /// The user decides.
    Ask(CallQuestion),
}

/// What is asked about a call, why, and for how long an approval may hold.
pub(super) type CallQuestion = (QuestionBody, policy::Rule, &'static [policy::Scope]);

/// The most calls under way at a time, over all servers.
const MAX_CALLS: usize = 1_000;

impl Owner {
    /// Takes a call up. Its answer goes to `reply`.
    pub(crate) fn take_call(&mut self, call: NewCall, reply: oneshot::Sender<CallReply>) {
        if let Err(failure) = self.begin(&call) {
            // The caller may have gone away.
            let _ = reply.send(Err(failure));
            return;
        }
        let NewCall { id, server, kind, name, origin, request, shown, sent } = call;
        let view = Call {
            id,
            server,
            kind,
            name,
            started_at: self.now(),
            state: CallState::AwaitingApproval,
            progress: None,
            task: None,
            conversation: origin.conversation().map(str::to_owned),
        };
        let record = Box::new(CallRecord {
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
        });
        self.follow_and_decide(record, shown);
    }

    /// Cancels a call, whether it was sent or still waits for the user.
    pub(crate) fn cancel_call(&mut self, id: &str) -> Result<(), CallFailure> {
        let record = self.calls.records.get(id).ok_or_else(|| CallFailure::NotFound(format!("call {id}")))?;
        match record.ticket {
            Some((_, ticket)) => {
                let server = record.view.server.clone();
                self.servers.tell(&server, Tell::Cancel { ticket })?;
            }
            None => {
                self.note_cancelled_in_writing(id);
                self.end_questions(|p| matches!(&p.what_for, For::Call(call) if call == id));
                self.end_call(id, Err(CallFailure::Cancelled));
            }
        }
        Ok(())
    }

    pub(super) fn set_call(&mut self, id: &str, state: CallState) {
        if let Some(record) = self.calls.records.get_mut(id) {
            record.view.state = state;
            self.emit_call(id);
        }
    }

    /// Tells how a call is, if anybody listens.
    fn emit_call(&mut self, id: &str) {
        if self.events.is_observed()
            && let Some(record) = self.calls.records.get(id)
        {
            let view = record.view.clone();
            self.events.emit(HostEvent::CallChanged(view));
        }
    }
}
