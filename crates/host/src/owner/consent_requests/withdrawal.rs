//! Withdrawal of consent requests that no longer need a decision: the server withdrew its request, the tool changed, or
//! the run ended. Used by `Owner::on_connection_event`, and by code that ends a call or a run.

use std::sync::Arc;

use domain::call::{CallFailure, CallState};
use domain::consent_request::ConsentRequestOutcome;
use host_state::AuditedDecision;
use policy::{ApprovalScope, Hash};
use ports::AuditEntry;

use crate::owner::Owner;
use crate::owner::gate::OutgoingPayload;
use crate::owner::state::{PendingRequest, RequestPurpose, Requester, originator_name};
use crate::view::{ConsentRequestBody, HostEvent, ServerState};

impl Owner {
    /// Replaces the definitions in pending consent requests for calls of a server's tools by the current ones, after
    /// the list of tools was read again. Requests for tools that no longer exist are withdrawn.
    pub(in crate::owner) fn update_tools_in_consent_requests(&mut self, server: &str) {
        let Some(catalog) = self.servers.records.get(server).map(|record| Arc::clone(&record.offer.catalog)) else {
            return;
        };
        self.withdraw_requests_if(|p| match &p.view.body {
            ConsentRequestBody::Tool { tool, app: None, .. } => {
                p.view.server == server && catalog.tool(&tool.name).is_none()
            }
            _ => false,
        });
        for at in 0..self.consent.pending.len() {
            let pending = &mut self.consent.pending[at];
            if pending.view.server == server
                && let ConsentRequestBody::Tool { tool, app: None, changed_since_allowed, .. } = &mut pending.view.body
                && let Some(now) = catalog.tool(&tool.name)
                && **tool != now
            {
                let shown = std::mem::replace(&mut **tool, now);
                *changed_since_allowed = true;
                self.update_review_warnings_of_changed_tool(at, &shown);
                self.emit_consent_request(at);
            }
        }
    }

    /// Removes a request and its pending consent request, because its server or app no longer waits for a response.
    pub(crate) fn on_request_withdrawn(&mut self, requester: Requester) {
        self.models.sampling.end_requests(|own| own == requester);
        if let Requester::Server { run, request } = requester {
            self.withdraw_roots_response((run, request));
        }
        self.withdraw_requests_if(
            |p| matches!(&p.purpose, RequestPurpose::Request { requester: own, .. } if *own == requester),
        );
    }

    /// Withdraws the consent requests for which `is_over` returns `true`.
    pub(in crate::owner) fn withdraw_requests_if(&mut self, is_over: impl Fn(&PendingRequest) -> bool) {
        for pending in self.consent.remove_ended(is_over) {
            self.audit_request_outcome(&pending, ConsentRequestOutcome::Withdrawn, None);
            self.events.emit(HostEvent::ConsentRequestClosed {
                id: pending.view.id,
                outcome: ConsentRequestOutcome::Withdrawn,
            });
            match pending.purpose {
                RequestPurpose::Call(call) => {
                    let server = pending.view.server;
                    let is_ready = self.servers.records.get(&server).is_some_and(|r| r.state == ServerState::Ready);
                    let is_cancelled = is_ready || self.lifetime.is_closing;
                    let failure = if is_cancelled { CallFailure::Cancelled } else { CallFailure::NotReady { server } };
                    self.end_call(&call, Err(failure));
                }
                // Dropping the reply's sender notifies the app.
                RequestPurpose::Request { requester: requester @ Requester::App { .. }, .. } => {
                    drop(self.models.sampling.take_app_request(requester));
                }
                RequestPurpose::Request { call: Some(call), .. } => self.resume_call_if_all_requests_decided(&call),
                // Dropping the sender notifies the sign-in.
                RequestPurpose::SignIn(number) => {
                    drop(self.sign_ins.replies.remove(&number));
                    self.resume_call(&pending.view.origin);
                }
                // Dropping the result's sender notifies the model's run.
                RequestPurpose::Result(call) => drop(self.calls.held_results.remove(&call)),
                RequestPurpose::Start | RequestPurpose::Request { .. } | RequestPurpose::Page => {}
            }
        }
    }

    /// Sets the state of a call to running after one of its consent requests was decided, unless another is pending.
    pub(in crate::owner) fn resume_call_if_all_requests_decided(&mut self, call: &str) {
        let more = self.consent.waits_for_input(call);
        if let Some(record) = self.calls.records.get_mut(call) {
            record.entry_position = self.audits.last_position;
        }
        if !more {
            self.set_call_state(call, CallState::Running);
        }
    }

    /// Submits the audit entry of a consent request that ended without a payload being sent.
    pub(in crate::owner) fn audit_request_outcome(
        &mut self,
        pending: &PendingRequest,
        outcome: ConsentRequestOutcome,
        scope: Option<ApprovalScope>,
    ) {
        let entry = self.request_outcome_audit_entry(
            pending,
            outcome,
            scope,
            (&pending.view.hash, &mut OutgoingPayload::displayed(pending)),
        );
        self.audit_entry_without_waiting(entry);
    }

    /// Creates the audit entry about the outcome of a consent request. `shown` is the payload hash that the user saw.
    /// Moves the content out of `outgoing`.
    pub(in crate::owner) fn request_outcome_audit_entry(
        &self,
        pending: &PendingRequest,
        outcome: ConsentRequestOutcome,
        scope: Option<ApprovalScope>,
        (shown, outgoing): (&Hash, &mut OutgoingPayload),
    ) -> AuditEntry {
        let (view, content) = (&pending.view, outgoing.content.take());
        self.make_audit_entry(AuditedDecision {
            server: &view.server,
            kind: outgoing.kind,
            subject: &outgoing.subject,
            decision: outcome.name(),
            scope,
            by: if outcome == ConsentRequestOutcome::Withdrawn { "policy" } else { self.options.decider_name },
            hash: shown.as_str(),
            asker: originator_name(&view.origin),
            content,
            rule: view.reason.into(),
            conversation: view.origin.conversation(),
        })
    }
}
