//! Calls of tools, prompts and resources, from the decision to the result.

mod completion;
mod decision;
mod dispatch;
mod resource_reads;

use domain::call::{CallFailure, CallState};
use ports::AuditEntry;
use tokio::sync::oneshot;

use super::Owner;
use super::gate::SendPermit;
use super::state::{CallRecord, CallReply, NewCall, RequestPurpose};
use crate::connection::ConnectionCommand;
use crate::view::{ConsentRequestBody, HostEvent};

/// Result of the decision about a call, if the call is not denied.
pub(super) enum CallDisposition {
    /// The call is allowed, and is sent once this entry is written.
    Allow(Box<AuditEntry>, SendPermit),
    /// The call requires the user's consent.
    Ask(CallConsentRequest),
}

/// Content of the consent request for a call, reason why consent is required, and possible scopes of an approval.
pub(super) type CallConsentRequest = (ConsentRequestBody, policy::DecisionReason, &'static [policy::ApprovalScope]);

impl Owner {
    /// Registers a call and decides about it. The result of the call is sent to `reply`.
    pub(crate) fn accept_call(&mut self, call: NewCall, reply: oneshot::Sender<CallReply>) {
        if let Err(failure) = self.check_call_preconditions(&call) {
            // The caller may have stopped waiting.
            let _ = reply.send(Err(failure));
            return;
        }
        let shown = call.shown.clone();
        let record = Box::new(CallRecord::new(call, self.now(), reply));
        self.resolve_paths_and_decide(record, shown);
    }

    /// Cancels a call that was sent, or still waits for the user's decision.
    pub(crate) fn cancel_call(&mut self, id: &str) -> Result<bool, CallFailure> {
        let record = self.calls.records.get(id).ok_or_else(|| CallFailure::NotFound(format!("call {id}")))?;
        let is_sent = record.ticket.is_some();
        match record.ticket {
            Some((_, ticket)) => {
                if !record.cancel_in_app()? {
                    self.servers.send_command(&record.view.server, ConnectionCommand::Cancel { ticket })?;
                }
            }
            None => {
                self.audit_call_cancelled_during_entry_write(id);
                self.withdraw_requests_if(|p| matches!(&p.purpose, RequestPurpose::Call(call) if call == id));
                self.end_call(id, Err(CallFailure::Cancelled));
            }
        }
        Ok(is_sent)
    }

    pub(super) fn set_call_state(&mut self, id: &str, state: CallState) {
        if let Some(record) = self.calls.records.get_mut(id) {
            record.set_state(state);
            self.emit_call_state(id);
        }
    }

    /// Emits an event with the state of a call, if there are observers.
    fn emit_call_state(&mut self, id: &str) {
        if self.events.is_observed()
            && let Some(record) = self.calls.records.get(id)
        {
            let view = record.view.clone();
            self.events.emit(HostEvent::CallChanged(view));
        }
    }
}
