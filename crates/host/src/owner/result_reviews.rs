//! Results of tool calls that wait for the user's review before a model reads them. The displayed content is exactly
//! the content that the model would read, and is authorized by the gate. Models' calls wait for the user's decision
//! (`handle/results.rs`).

use domain::consent_request::ConsentRequestOrigin;
use domain::item::ToolResult;
use host_state::AuditedDecision;
use policy::{ApprovalScope, DecisionReason};
use tokio::sync::oneshot;

use super::Owner;
use super::gate::{PayloadMismatch, SendPermit};
use super::state::{
    PendingRequest, RequestPurpose, ResultOrigin, ResultReviewVerdict, ResultUnderReview, consent_kind,
    consent_payload_hash,
};
use crate::view::ConsentRequestBody;

impl Owner {
    /// Requests the user's review of a call's result before a model reads the result.
    pub(crate) fn request_result_review(
        &mut self,
        origin: ResultOrigin,
        result: ToolResult,
        body: ConsentRequestBody,
        reply: oneshot::Sender<ResultReviewVerdict>,
    ) {
        let ResultOrigin { conversation, call, server, .. } = origin;
        let origin = ConsentRequestOrigin::Model {
            conversation,
            untrusted_servers: Vec::new(),
            same_server_readings: Vec::new(),
        };
        self.calls.held_results.insert(call.clone(), ResultUnderReview { result, reply });
        self.request_consent(
            &server,
            origin,
            body,
            &[ApprovalScope::Once],
            DecisionReason::ResultReview,
            RequestPurpose::Result(call),
        );
    }

    /// Records in the audit log that a result was withheld from the model because it is too large for a review.
    pub(crate) fn audit_unreviewable_result(&mut self, origin: &ResultOrigin, body: &ConsentRequestBody) {
        self.audit_without_waiting(AuditedDecision {
            server: &origin.server,
            kind: consent_kind(body),
            subject: &origin.tool,
            decision: "denied",
            by: "policy",
            hash: consent_payload_hash(&origin.server, body, None).as_str(),
            asker: "model",
            rule: DecisionReason::ResultReview.name().into(),
            conversation: Some(&origin.conversation),
            ..AuditedDecision::default()
        });
    }

    /// Withdraws the consent request for reviewing a call's result, because the model's run has ended.
    pub(crate) fn withdraw_result_review(&mut self, call: &str) {
        self.withdraw_requests_if(|pending| matches!(&pending.purpose, RequestPurpose::Result(own) if own == call));
    }

    /// Sends a result that the user approved to the model's run that waits for it.
    pub(super) fn send_approved_result(&mut self, pending: &PendingRequest, permit: SendPermit) {
        let (RequestPurpose::Result(call), ConsentRequestBody::Result { tool, app, .. }) =
            (&pending.purpose, &pending.view.body)
        else {
            return;
        };
        let Some(ResultUnderReview { result, reply }) = self.calls.held_results.remove(call) else { return };
        let verdict = match permit.authorize_result(&pending.view.server, (tool, app.as_deref()), result) {
            Ok(passed) => ResultReviewVerdict::Passes(Box::new(passed.into_inner())),
            Err(PayloadMismatch) => {
                tracing::error!(
                    server = pending.view.server,
                    "a result differed from the approved one and was omitted"
                );
                ResultReviewVerdict::Withheld("because it differs from the displayed result".to_owned())
            }
        };
        let passes = matches!(verdict, ResultReviewVerdict::Passes(_));
        // The model's run may have ended during the review.
        if reply.send(verdict).is_err() || !passes {
            self.audit_unread_result(pending);
        }
    }
}
