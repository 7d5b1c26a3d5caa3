//! Calls of tools, prompts and resources: asked about, sent, followed, ended.

mod deciding;
mod ending;
mod resources;
mod sending;

use domain::call::{CallFailure, CallState};
use ports::AuditEntry;
use tokio::sync::oneshot;

use super::Owner;
use super::gate::Departure;
use super::state::{CallRecord, CallReply, NewCall, RequestPurpose};
use crate::connection::Tell;
use crate::view::{HostEvent, QuestionBody};

/// The decision about a call.
pub(super) enum CallDisposition {
    /// It is sent once this is written down.
    Write(Box<AuditEntry>, Departure),
    /// The user decides.
    Ask(CallQuestion),
}

/// What is asked about a call, why, and for how long an approval may hold.
pub(super) type CallQuestion = (QuestionBody, policy::Rule, &'static [policy::Scope]);

impl Owner {
    /// Takes a call up. Its answer goes to `reply`.
    pub(crate) fn take_call(&mut self, call: NewCall, reply: oneshot::Sender<CallReply>) {
        if let Err(failure) = self.begin(&call) {
            // The caller may have gone away.
            let _ = reply.send(Err(failure));
            return;
        }
        let shown = call.shown.clone();
        let record = Box::new(CallRecord::new(call, self.now(), reply));
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
                self.end_questions(|p| matches!(&p.purpose, RequestPurpose::Call(call) if call == id));
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
