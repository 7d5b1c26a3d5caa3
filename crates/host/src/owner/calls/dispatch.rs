//! Sends calls for which a permit exists, and requests that require no consent. Calls are sent by `decision.rs`,
//! `audit.rs` and `decisions/approvals.rs`, requests by `handle/calls.rs` and `supervision.rs`.

use std::sync::Arc;

use domain::call::{CallFailure, CallKind};
use mcp_proto::session::{CallDeadline, ClientRequest, ServerResult};
use policy::{DecisionSource, Hash};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::connection::{CallTicket, ConnectionCommand, RunId};
use crate::owner::Owner;
use crate::owner::gate::SendPermit;
use crate::owner::state::{CallRecord, CallTicketPurpose};
use crate::view::HostEvent;

impl Owner {
    /// Sends a permitted call with the original arguments, which the user did not edit.
    pub(in crate::owner) fn send_call_unmodified(&mut self, id: &str, permit: SendPermit) {
        if let Some(record) = self.calls.records.remove(id) {
            self.send(record, permit);
        }
    }

    /// Sends a permitted tool call with the arguments that the user approved.
    pub(in crate::owner) fn send_approved_call(&mut self, id: &str, arguments: Map<String, Value>, permit: SendPermit) {
        let Some(mut record) = self.calls.records.remove(id) else { return };
        if record.request.as_mut().is_some_and(|request| request.change_arguments(&arguments)) {
            record.sent_call.edited = Some(arguments);
        }
        self.send(record, permit);
    }

    /// Sends a permitted call to its server, or ends the call if that fails.
    pub(in crate::owner) fn send(&mut self, record: Box<CallRecord>, permit: SendPermit) {
        let allowed = permit.payload_hash().clone();
        if let Err((record, failure)) = self.try_send_call(record, permit) {
            self.audit_unsent_call(&record.view, &record.origin, record.app.as_ref(), &allowed);
            self.report_call_result(record, Err(failure));
        }
    }

    fn try_send_call(
        &mut self,
        mut record: Box<CallRecord>,
        permit: SendPermit,
    ) -> Result<(), (Box<CallRecord>, CallFailure)> {
        if record.view.kind == CallKind::Prompt {
            // The prompt may have changed while the call waited for the user.
            let requested_prompt = record.requested_prompt.as_ref().map(Hash::as_str);
            if let Err(failure) = self.check_same_prompt(&record.view.server, &record.view.name, requested_prompt) {
                return Err((record, failure));
            }
            self.pin_prompt(&record.view.server, &record.view.name);
        }
        let Some(request) = record.request.take() else { return Ok(()) };
        let (allowed_by, repeats) = (permit.source(), request.repeats().map(str::to_owned));
        let (request, open_world) = match self.authorize_call(&record.view, record.app.as_ref(), request, permit) {
            Ok(passed) => passed,
            Err(failure) => return Err((record, failure)),
        };
        record.entry_position = self.audits.last_position;
        record.open_world = open_world;
        if let Some(app) = record.app.clone() {
            return self.send_call_to_app(record, &app, request);
        }
        if record.view.kind == CallKind::Tool {
            // Equal to the definition that `authorize_call` has just compared with the permit.
            let definition = self.current_tool_definition(&record.view.server, &record.view.name);
            record.sent_call.definition = definition.and_then(|own| own.definition_with_output_schema());
        }
        let ticket = CallTicket(self.events.next_unique_id());
        let (idle, total) = match record.view.kind {
            CallKind::Tool => self.options.call_timeouts.tool,
            CallKind::Prompt | CallKind::Resource => self.options.call_timeouts.read,
        };
        let command = ConnectionCommand::Call { ticket, request, deadline: CallDeadline { idle, total } };
        match self.servers.send_command(&record.view.server, command) {
            Ok(run) => {
                if let (Some(DecisionSource::RepeatedApproval), Some(repeats)) = (allowed_by, repeats) {
                    self.permissions.approved_calls.add_repetition(&repeats, record.view.id.clone());
                }
                if let Some(by) = allowed_by {
                    self.record_use(by, &record.view.server, Some(&record.view.name), record.origin.used_by());
                }
                self.register_sent_call(record, run, ticket);
                Ok(())
            }
            Err(failure) => Err((record, failure)),
        }
    }

    /// Registers a call that was sent to its server with this ticket, and notifies its caller and observers.
    pub(in crate::owner) fn register_sent_call(&mut self, mut record: Box<CallRecord>, run: RunId, ticket: CallTicket) {
        let id: Arc<str> = record.view.id.as_str().into();
        self.calls.tickets.insert(ticket, CallTicketPurpose::Call { run, id: Arc::clone(&id) });
        record.ticket = Some((run, ticket));
        record.mark_sent_and_notify();
        if self.events.is_observed() {
            self.events.emit(HostEvent::CallChanged(record.view.clone()));
        }
        self.calls.records.insert(id, record);
    }

    /// Notifies the caller and the observers that the task of an app has sent the call with this ticket to the app's
    /// page. Has no effect if the call has ended.
    pub(in crate::owner) fn on_call_sent_to_app_page(&mut self, ticket: CallTicket) {
        let Some(id) = self.calls.call_of_ticket(ticket) else { return };
        if let Some(record) = self.calls.records.get_mut(id.as_str()) {
            record.mark_sent_and_notify();
            self.emit_call_state(&id);
        }
    }

    /// Sends a request that requires no consent and that observers don't see as a call.
    pub(crate) fn send_request(
        &mut self,
        server: &str,
        request: ClientRequest,
        (idle, total): (std::time::Duration, std::time::Duration),
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    ) {
        let request = match self.authorize_unaudited_request(server, request) {
            Ok(request) => request,
            Err(failure) => {
                let _ = reply.send(Err(failure));
                return;
            }
        };
        let ticket = CallTicket(self.events.next_unique_id());
        match self
            .servers
            .send_command(server, ConnectionCommand::Call { ticket, request, deadline: CallDeadline { idle, total } })
        {
            Ok(run) => {
                self.calls.tickets.insert(ticket, CallTicketPurpose::Plain { run, server: server.to_owned(), reply });
            }
            Err(failure) => {
                let _ = reply.send(Err(failure));
            }
        }
    }
}
