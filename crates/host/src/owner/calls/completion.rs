//! Progress and results of calls that were sent, and the end of calls. Used by `Owner::on_connection_event` for reports
//! of a connection, and by code that ends a call or a run.

use std::sync::Arc;

use domain::call::{CallFailure, CallProgress, CallRefusal, CallState, ServerCall};
use domain::consent_request::ConsentRequestOrigin;
use domain::history::{ReadContent, ReadContentKind};
use mcp_proto::session::{CallError, CloseReason, ServerResult, TaskState};
use mcp_proto::types::ElicitParams;
use policy::{PolicyAct, PolicyDecision};
use supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS;

use crate::connection::{CallTicket, RunId};
use crate::owner::Owner;
use crate::owner::state::{CallRecord, CallTicketPurpose, RequestPurpose};
use crate::view::{ConsentRequestBody, HostEvent};

impl Owner {
    pub(in crate::owner) fn on_progress(&mut self, ticket: CallTicket, progress: CallProgress) {
        let Some(CallTicketPurpose::Call { id, .. }) = self.calls.tickets.get(&ticket) else { return };
        let id = Arc::clone(id);
        if let Some(record) = self.calls.records.get_mut(&id) {
            record.view.progress = Some(progress);
            self.emit_call_state(&id);
        }
    }

    pub(in crate::owner) fn on_task_update(&mut self, ticket: CallTicket, task: TaskState) {
        let Some(CallTicketPurpose::Call { id, .. }) = self.calls.tickets.get(&ticket) else { return };
        let id = Arc::clone(id);
        if let Some(record) = self.calls.records.get_mut(&id) {
            record.view.task = Some(task.into());
            self.emit_call_state(&id);
        }
    }

    pub(in crate::owner) fn on_call_done(&mut self, ticket: CallTicket, result: Result<ServerResult, CallError>) {
        match self.calls.tickets.remove(&ticket) {
            Some(CallTicketPurpose::Call { id, .. }) => {
                if let Err(CallError::UrlRequired(pages)) = &result {
                    self.request_url_consents(&id, pages.clone());
                }
                let Some(record) = self.calls.records.remove(&id) else { return };
                let reply = result.map_err(|error| match error {
                    CallError::Cancelled => CallFailure::Cancelled,
                    CallError::Refused => CallFailure::refused(CallRefusal::InputRefused, error.to_string()),
                    error => CallFailure::Session { server: record.view.server.clone(), error: Box::new(error) },
                });
                self.reply_when_durable(id, record, reply);
            }
            Some(CallTicketPurpose::Plain { server, reply, .. }) => {
                let _ = reply.send(result.map_err(|error| match error {
                    CallError::Cancelled => CallFailure::Cancelled,
                    error => CallFailure::Session { server, error: Box::new(error) },
                }));
            }
            None => {}
        }
    }

    /// Requests the user's consent to open the URLs that a server requires to be visited before the failed call is
    /// repeated (revision 2025-11-25). The user repeats the call afterwards.
    fn request_url_consents(&mut self, id: &str, pages: Vec<ElicitParams>) {
        let Some(record) = self.calls.records.get(id) else { return };
        let server = record.view.server.clone();
        let origin = self.calls.consent_origin(Some(id));
        for page in pages.into_iter().take(DEFAULT_MAX_CONSENT_REQUESTS) {
            if !self.consent.has_capacity_for(&server) {
                break;
            }
            if let ElicitParams::Url { message, url, .. } = page
                && let PolicyDecision::Ask { reason, scopes, .. } =
                    self.permissions.policy.decide(&PolicyAct::OpenUrl { server: &server }, self.now())
            {
                self.request_consent(
                    &server,
                    origin.clone(),
                    ConsentRequestBody::Url { message, url },
                    scopes,
                    reason,
                    RequestPurpose::Page,
                );
            }
        }
    }

    /// Sets the state of the call for which a consent request was decided to running, if the call waited for approval.
    pub(in crate::owner) fn resume_call(&mut self, origin: &ConsentRequestOrigin) {
        if let ConsentRequestOrigin::Call { call, .. } = origin
            && self.calls.awaits_approval(call)
        {
            self.set_call_state(call, CallState::Running);
        }
    }

    pub(in crate::owner) fn end_call(&mut self, id: &str, reply: Result<ServerResult, CallFailure>) {
        if let Some(record) = self.calls.records.remove(id) {
            self.report_call_result(record, reply);
        }
    }

    /// Reports an error for each call and request that is still registered for a run, because the run has ended.
    pub(in crate::owner) fn end_calls_of_run(&mut self, run: RunId) {
        for ticket in self.calls.tickets_of_run(run) {
            self.on_call_done(ticket, Err(CallError::Closed(CloseReason::ServerClosedOutput)));
        }
    }

    /// Reports the result of a call to its caller and to observers, after the call was removed from the table of calls.
    pub(in crate::owner) fn report_call_result(
        &mut self,
        mut record: Box<CallRecord>,
        reply: Result<ServerResult, CallFailure>,
    ) {
        // The text of a session error was written by the server, so it also counts as content of the server.
        if let (Some(conversation), Ok(_) | Err(CallFailure::Session { .. })) = (record.origin.conversation(), &reply) {
            self.record_conversation_servers(conversation, std::slice::from_ref(&record.view.server), false);
            let ServerCall { server, kind, name, .. } = &record.view;
            let content = ReadContent::new(server, ReadContentKind::from(*kind), name);
            let content = ReadContent { open_world: record.open_world, ..content };
            self.permissions.record_read_content(conversation, &[content]);
        }
        if reply.is_ok() {
            let until = self.permissions.approved_calls.repeatable_until(&record.view.id, self.now());
            record.view.repeatable_until = until;
        }
        record.view.state = match &reply {
            Ok(_) => CallState::Done,
            Err(CallFailure::Cancelled) => CallState::Cancelled,
            Err(CallFailure::Refused { .. }) => CallState::Refused,
            Err(_) => CallState::Failed,
        };
        self.events.emit(HostEvent::CallChanged(record.view));
        // The caller may have stopped waiting.
        let _ = record.reply.send(reply);
    }
}
