//! Denials of consent requests by the user or by a rule, and the responses to whatever requested consent. Used by
//! `decisions.rs`, by `handle/consent.rs`, and by code that denies pending requests without the user
//! (`rules/pending.rs`, `gate.rs`, `muting.rs`).

use domain::call::{CallFailure, CallRefusal};
use domain::consent_request::ConsentRequestOutcome;
use host_state::AuditedDecision;
use policy::DecisionSource;

use crate::owner::Owner;
use crate::owner::gate::authorize_denial_response;
use crate::owner::state::{
    PendingRequest, RequestPurpose, SignInAnswer, consent_kind, consent_subject, originator_name, refusal_response,
};
use crate::owner::tool_filter::TOOL_TURNED_OFF_REASON;
use crate::view::{ConsentRequestBody, HostEvent, ServerFailure};

/// Maximum length of the reason for a denial, in characters.
const MAX_DENIAL_REASON_CHARS: usize = 2_000;

impl Owner {
    /// Denies or dismisses a consent request as decided by the user. If a server caused the request, this counts
    /// towards muting that server.
    pub(super) fn refuse_for_user(&mut self, at: usize, outcome: ConsentRequestOutcome, reason: Option<&str>) {
        let requesting_server =
            Some(&self.consent.pending[at]).filter(|p| p.is_from_server()).map(|p| p.view.server.clone());
        let is_about_folders = self.consent.pending[at].view.body == ConsentRequestBody::Roots;
        self.refuse_request(at, outcome, reason);
        if let Some(server) =
            requesting_server.as_deref().filter(|_| is_about_folders && outcome == ConsentRequestOutcome::Denied)
        {
            self.share_no_folders(server, reason);
        }
        if let Some(server) = requesting_server {
            self.count_decision_for_muting(&server, true);
        }
    }

    /// Records an empty list of shared folders for a server whose request for roots the user denied, and denies the
    /// server's other pending requests for roots. The user can share folders on the page of the server later.
    fn share_no_folders(&mut self, server: &str, reason: Option<&str>) {
        if let Some(none) = self.servers.share_for_command(server, Vec::new()) {
            self.share_roots(server, none);
            self.emit_server_change(server);
        }
        let same = |p: &PendingRequest| {
            p.view.server == server && p.view.body == ConsentRequestBody::Roots && p.can_be_denied()
        };
        while let Some(at) = self.consent.pending.iter().position(same) {
            self.refuse_request(at, ConsentRequestOutcome::Denied, reason);
        }
    }

    fn refuse_request(&mut self, at: usize, outcome: ConsentRequestOutcome, reason: Option<&str>) {
        let pending = self.consent.pending.remove(at);
        if outcome == ConsentRequestOutcome::Denied && matches!(pending.view.body, ConsentRequestBody::Tool { .. }) {
            self.permissions.forget_approved_calls(&pending.view.server);
        }
        self.audit_request_outcome(&pending, outcome, None);
        let reason = reason.map(|reason| truncate_reason(reason, MAX_DENIAL_REASON_CHARS));
        let why = reason.as_ref().map(|reason| format!(", who says: {reason}")).unwrap_or_default();
        let text = format!("by the {}{why}", self.options.decider_name);
        self.notify_refusal(&pending, outcome, CallRefusal::DeniedByUser { reason }, text);
    }

    /// Denies a pending consent request because a rule denies it.
    pub(in crate::owner) fn refuse_by_rule(&mut self, at: usize, by: DecisionSource) {
        let refusal = CallRefusal::DeniedByRule { rule: by.to_string() };
        self.refuse_without_user(at, &by.to_string(), refusal, format!("by {by}"));
    }

    /// Denies a pending consent request for a call of a tool that the user turned off for models and apps.
    pub(in crate::owner) fn refuse_disabled_tool(&mut self, at: usize) {
        self.refuse_without_user(at, "settings", CallRefusal::NotOffered, TOOL_TURNED_OFF_REASON.to_owned());
    }

    /// Denies a pending consent request on behalf of the policy or the settings, with an audit entry.
    fn refuse_without_user(&mut self, at: usize, rule: &str, refusal: CallRefusal, text: String) {
        let pending = self.consent.pending.remove(at);
        self.audit_without_waiting(AuditedDecision {
            server: &pending.view.server,
            kind: consent_kind(&pending.view.body),
            subject: &consent_subject(&pending.view.body),
            decision: "denied",
            by: "policy",
            hash: pending.view.hash.as_str(),
            asker: originator_name(&pending.view.origin),
            rule: rule.to_owned().into(),
            conversation: pending.view.origin.conversation(),
            ..AuditedDecision::default()
        });
        self.notify_refusal(&pending, ConsentRequestOutcome::Denied, refusal, text);
    }

    /// Fails the start or call for which consent was denied, or notifies the waiting server, app, sign-in or model run.
    /// `text` describes the cause `refusal`.
    pub(in crate::owner) fn notify_refusal(
        &mut self,
        pending: &PendingRequest,
        outcome: ConsentRequestOutcome,
        refusal: CallRefusal,
        text: String,
    ) {
        self.events.emit(HostEvent::ConsentRequestClosed { id: pending.view.id, outcome });
        match &pending.purpose {
            RequestPurpose::Start => {
                let failure = if let CallRefusal::DeniedByRule { rule } = &refusal {
                    ServerFailure::denied_by_rule(rule)
                } else {
                    let hint = self.handle_denied_package_version(&pending.view.server, &pending.view.body);
                    ServerFailure { hint, ..ServerFailure::refused_by_user(outcome) }
                };
                self.fail_server(&pending.view.server, failure);
            }
            RequestPurpose::Call(call) => {
                let failure = match outcome {
                    ConsentRequestOutcome::Denied => CallFailure::refused(refusal, text),
                    _ => CallFailure::Cancelled,
                };
                self.end_call(call, Err(failure));
            }
            RequestPurpose::Request { requester, call } => {
                let refusal = authorize_denial_response(refusal_response(&pending.view.body, outcome));
                self.send_response(&pending.view.server, *requester, refusal);
                if let Some(call) = call {
                    self.resume_call_if_all_requests_decided(call);
                }
            }
            RequestPurpose::SignIn(number) => {
                let answered =
                    if outcome == ConsentRequestOutcome::Denied { SignInAnswer::No } else { SignInAnswer::Cancelled };
                self.decide_sign_in(&pending.view, *number, answered);
            }
            RequestPurpose::Result(call) => self.calls.withhold_result(call, outcome, text),
            RequestPurpose::Page => {}
        }
    }

    /// Denies all pending requests of a server and, with `mute` set, its future requests. A URL that is being opened
    /// can no longer be denied, unlike an approved payload that still waits for its audit entry.
    pub(crate) fn deny_all_requests(&mut self, server: &str, mute: bool) {
        if mute {
            self.permissions.policy.mute_server(server);
        }
        self.permissions.forget_approved_calls(server);
        self.reset_refusals_of_server(server, mute);
        self.stop_sampling_by_rule(server);
        let is_open = |p: &PendingRequest| p.view.server == server && p.can_be_denied();
        let is_requested = self.consent.pending.iter().any(|p| is_open(p) && p.is_from_server());
        // Includes requests that the user caused, since the queue should be empty after "deny all".
        while let Some(at) = self.consent.pending.iter().position(is_open) {
            self.refuse_request(at, ConsentRequestOutcome::Denied, None);
        }
        // All requests together count as one denial.
        if is_requested {
            self.count_decision_for_muting(server, true);
        }
        self.emit_server_change(server);
    }
}

fn truncate_reason(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}
