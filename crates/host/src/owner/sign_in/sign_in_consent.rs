//! Consent requests of sign-ins. They are added to the common queue, and the decisions are sent to the waiting sign-in.

use credentials::sign_in::{EnteredClient, SignInReason};
use domain::call::CallState;
use domain::consent_request::ConsentRequestOrigin;
use policy::{ApprovalScope, PolicyAct, PolicyDecision};
use tokio::sync::oneshot;

use super::super::gate::{Approval, OutgoingPayload, PayloadMismatch};
use super::super::state::{DecisionError, DecisionProgress, RequestPurpose, SignInAnswer, consent_kind};
use super::super::{AuditedDecision, Owner};
use crate::view::{ConsentRequestBody, ConsentRequestView};

/// Maximum length of a client id or secret that the user enters, in bytes.
const MAX_CLIENT_CREDENTIAL_BYTES: usize = 2_048;

impl Owner {
    /// Adds a consent request of a sign-in to the queue. The decision is sent to `reply`, which is dropped if the
    /// request is withdrawn.
    pub(super) fn request_sign_in_consent(
        &mut self,
        server: &str,
        number: u64,
        body: ConsentRequestBody,
        reply: oneshot::Sender<SignInAnswer>,
    ) {
        if self.lifetime.is_closing || !self.servers.records.contains_key(server) || reply.is_closed() {
            return;
        }
        let operation = match &body {
            ConsentRequestBody::SignIn { reason: SignInReason::StepUp { operation }, .. } => Some(operation.clone()),
            _ => None,
        };
        let steps_up = operation.is_some();
        match self.permissions.policy.decide(&PolicyAct::SignIn { server, steps_up }, self.now()) {
            PolicyDecision::Ask { reason, scopes, .. } => {
                let call = operation.and_then(|operation| self.calls.only_running_call_with_method(server, &operation));
                let origin = if steps_up {
                    self.calls.consent_origin(call.as_deref())
                } else {
                    ConsentRequestOrigin::User { conversation: None }
                };
                if let Some(call) = call {
                    self.set_call_state(&call, CallState::AwaitingApproval);
                }
                self.sign_ins.replies.insert(number, reply);
                self.request_consent(server, origin, body, scopes, reason, RequestPurpose::SignIn(number));
            }
            PolicyDecision::Allow { .. } => {}
            PolicyDecision::Deny { reason, .. } => {
                let hash = super::super::state::consent_payload_hash(server, &body, None);
                let decided = AuditedDecision {
                    server,
                    kind: consent_kind(&body),
                    subject: reason.name(),
                    decision: "denied",
                    scope: None,
                    by: "policy",
                    hash: hash.as_str(),
                    ..AuditedDecision::default()
                };
                self.audit_without_waiting(decided);
                // The sign-in may have been cancelled meanwhile.
                let _ = reply.send(SignInAnswer::No);
            }
        }
        self.events.authorization_changed(server);
    }

    /// Withdraws the consent request of the sign-in `number`, which has stopped waiting for the decision.
    pub(super) fn withdraw_sign_in_request(&mut self, number: u64) {
        self.withdraw_requests_if(|p| p.purpose == RequestPurpose::SignIn(number));
    }

    /// Sends the user's decision on a consent request to the waiting sign-in.
    pub(in crate::owner) fn decide_sign_in(
        &mut self,
        request: &ConsentRequestView,
        number: u64,
        answered: SignInAnswer,
    ) {
        self.resume_call(&request.origin);
        if let Some(reply) = self.sign_ins.replies.remove(&number) {
            // The sign-in may have been cancelled meanwhile.
            let _ = reply.send(answered);
        }
        self.events.authorization_changed(&request.server);
    }

    pub(in crate::owner) fn allow_sign_in(
        &mut self,
        at: usize,
        approval: Approval,
        scope: ApprovalScope,
    ) -> Result<DecisionProgress, DecisionError> {
        let pending = &self.consent.pending[at];
        let ConsentRequestBody::SignIn { authorization_url, .. } = &pending.view.body else {
            return Err(DecisionError::WrongKind("it is not a sign-in"));
        };
        let outgoing = match authorization_url {
            Some(url) => OutgoingPayload::sign_in_url(pending, url),
            None => OutgoingPayload::displayed(pending),
        };
        self.audit_approval_and_remove(approval, scope, outgoing, |owner, pending, permit| {
            if let ConsentRequestBody::SignIn { issuer, endpoints, authorization_url, .. } = &pending.view.body {
                // If no page is opened, the issuer is part of the settings, which are pinned together with the address.
                if authorization_url.is_some() {
                    owner.pin_issuer(&pending.view.server, issuer);
                }
                owner.pin_endpoints(&pending.view.server, endpoints);
            }
            if let RequestPurpose::SignIn(number) = pending.purpose {
                owner.decide_sign_in(&pending.view, number, SignInAnswer::Yes(permit));
            }
            Ok(DecisionProgress::Done)
        })
    }

    /// Sends the client credentials that the user entered to the waiting sign-in.
    pub(in crate::owner) fn send_client_credentials(
        &mut self,
        at: usize,
        approval: Approval,
        client: EnteredClient,
    ) -> Result<DecisionProgress, DecisionError> {
        if !matches!(self.consent.pending[at].view.body, ConsentRequestBody::ClientId { .. }) {
            return Err(DecisionError::WrongKind("it is not a request for a client id"));
        }
        let is_usable =
            |text: &str| (1..=MAX_CLIENT_CREDENTIAL_BYTES).contains(&text.len()) && !text.chars().any(char::is_control);
        let secret = client.client_secret.as_deref();
        if !is_usable(&client.client_id) || secret.is_some_and(|secret| !is_usable(secret)) {
            return Err(DecisionError::WrongKind("an id and a secret must be a single line each"));
        }
        let outgoing = OutgoingPayload::client_credentials(&self.consent.pending[at], &client);
        self.audit_approval_and_remove(approval, ApprovalScope::Once, outgoing, |owner, pending, permit| {
            let client = permit
                .authorize_client_credentials(&pending.view.server, client)
                .map_err(|PayloadMismatch| DecisionError::Stale)?;
            if let RequestPurpose::SignIn(number) = pending.purpose {
                owner.decide_sign_in(&pending.view, number, SignInAnswer::Client(client));
            }
            Ok(DecisionProgress::Done)
        })
    }
}
