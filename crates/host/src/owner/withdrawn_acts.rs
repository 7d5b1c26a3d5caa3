//! Audit entries about payloads that were allowed and recorded, but not sent: the permission was revoked before the
//! entry was written, the server ended, the user cancelled, or the model's run ended before it read the result. Each
//! has the same hash as the first entry, so that the log shows which payloads were sent.

use std::borrow::Cow;

use domain::app_view::ProvidingApp;
use domain::call::{CallKind, ServerCall};
use host_state::AuditedDecision;
use policy::Hash;

use super::Owner;
use super::audit::ActAwaitingAudit;
use super::gate::OutgoingPayload;
use super::state::{
    APP_TOOL_CALL_AUDIT_KIND, CallOrigin, PendingRequest, Requester, app_tool_subject, consent_kind, consent_subject,
};

/// Value of `rule` in an audit entry about an allowed payload that was not sent. Entries about withdrawn consent
/// requests have another value.
const UNSENT_AUDIT_RULE: &str = "allowed-not-sent";

impl Owner {
    /// Records in the audit log that an allowed call was not sent to its server or app.
    pub(super) fn audit_unsent_call(
        &mut self,
        call: &ServerCall,
        origin: &CallOrigin,
        app: Option<&ProvidingApp>,
        hash: &Hash,
    ) {
        let (kind, subject) = match (call.kind, app) {
            (CallKind::Tool, Some(app)) => (APP_TOOL_CALL_AUDIT_KIND, Cow::Owned(app_tool_subject(app, &call.name))),
            (CallKind::Tool, None) => ("tool", Cow::Borrowed(call.name.as_str())),
            (CallKind::Prompt, _) => ("prompt", Cow::Borrowed(call.name.as_str())),
            (CallKind::Resource, _) => ("resource", Cow::Borrowed(call.name.as_str())),
        };
        self.audit_without_waiting(AuditedDecision {
            server: &call.server,
            kind,
            subject: &subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: hash.as_str(),
            asker: origin.audit_name(),
            conversation: call.conversation.as_deref(),
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that an approved result was not sent to a model, because the model's run had ended.
    pub(super) fn audit_unread_result(&mut self, pending: &PendingRequest) {
        self.audit_without_waiting(AuditedDecision {
            server: &pending.view.server,
            kind: consent_kind(&pending.view.body),
            subject: &consent_subject(&pending.view.body),
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: pending.view.hash.as_str(),
            asker: "model",
            conversation: pending.view.origin.conversation(),
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that an approved payload was not sent, because its consent request was removed or
    /// changed before its entry was written. `shown` is the hash that the user saw.
    pub(super) fn audit_unsent_payload(
        &mut self,
        server: &str,
        (shown, outgoing): (&Hash, &OutgoingPayload),
        asker: &'static str,
    ) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: outgoing.kind,
            subject: &outgoing.subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: shown.as_str(),
            asker,
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that an allowed sampling request was not sent to a model.
    pub(super) fn audit_unsent_sampling_request(
        &mut self,
        server: &str,
        subject: &str,
        hash: &Hash,
        requester: Requester,
    ) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "sampling",
            subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: hash.as_str(),
            asker: requester.audit_name(),
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that an allowed reply of a model was not sent to the server or its app.
    pub(super) fn audit_unsent_model_reply(&mut self, server: &str, subject: &str, hash: &Hash, requester: Requester) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "sampling-answer",
            subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: hash.as_str(),
            asker: requester.audit_name(),
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that allowed roots were not sent to a server.
    pub(super) fn audit_unsent_roots(&mut self, server: &str, subject: &str, hash: &Hash) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind: "roots",
            subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: hash.as_str(),
            asker: "server",
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that the allowed start of a server was not executed.
    pub(super) fn audit_unexecuted_start(&mut self, server: &str, kind: &'static str, subject: &str, hash: &Hash) {
        self.audit_without_waiting(AuditedDecision {
            server,
            kind,
            subject,
            decision: "withdrawn",
            by: "policy",
            rule: UNSENT_AUDIT_RULE.into(),
            hash: hash.as_str(),
            asker: "host",
            ..AuditedDecision::default()
        });
    }

    /// Records in the audit log that the user cancelled a call while the call's audit entry was being written.
    pub(super) fn audit_call_cancelled_during_entry_write(&mut self, call: &str) {
        let Some(record) = self.calls.records.get(call) else { return };
        let Some(writing) = record.pending.writing else { return };
        let is_it =
            |act: &&ActAwaitingAudit| matches!(act, ActAwaitingAudit::Call { write_id, .. } if *write_id == writing);
        let Some(ActAwaitingAudit::Call { permit, .. }) = self.audits.pending_acts().find(is_it) else { return };
        let allowed = permit.payload_hash().clone();
        let (view, origin, app) = (record.view.clone(), record.origin.clone(), record.app.clone());
        self.audit_unsent_call(&view, &origin, app.as_ref(), &allowed);
    }
}
