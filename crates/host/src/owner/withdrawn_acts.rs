//! Payloads that were allowed and recorded, but not sent: the permission was revoked before the entry was written, the
//! server ended, or the user cancelled; also results that no model was left to read. Another entry with the same hash
//! records that, so that the log shows what was sent.

use domain::call::{CallKind, ServerCall};
use policy::Hash;

use super::Owner;
use super::audit::PendingAct;
use super::audited_decision::AuditedDecision;
use super::gate::OutgoingPayload;
use super::state::{CallOrigin, PendingRequest, kind_of, subject_of};

/// Distinguishes such an entry from a consent request that was withdrawn.
const NOT_SENT: &str = "allowed-not-sent";

impl Owner {
    /// Records that an allowed call was not sent.
    pub(super) fn note_withdrawn(&mut self, call: &ServerCall, origin: &CallOrigin, hash: &Hash) {
        let kind = match call.kind {
            CallKind::Tool => "tool",
            CallKind::Prompt => "prompt",
            CallKind::Resource => "resource",
        };
        self.note(AuditedDecision {
            server: &call.server,
            kind,
            subject: &call.name,
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: hash.as_str(),
            asker: origin.asker(),
            conversation: call.conversation.as_deref(),
            ..AuditedDecision::default()
        });
    }

    /// Records that an allowed result was not read by a model.
    pub(super) fn note_unread(&mut self, pending: &PendingRequest) {
        let conversation = self.calls.conversation_of(&pending.view.why);
        self.note(AuditedDecision {
            server: &pending.view.server,
            kind: kind_of(&pending.view.body),
            subject: &subject_of(&pending.view.body),
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: pending.view.hash.as_str(),
            asker: "model",
            conversation: conversation.as_deref(),
            ..AuditedDecision::default()
        });
    }

    /// Records that an approved payload was not sent, because its consent request was removed or changed before the
    /// entry was written.
    pub(super) fn note_not_sent(&mut self, server: &str, leaving: &OutgoingPayload, asker: &'static str) {
        self.note(AuditedDecision {
            server,
            kind: leaving.kind,
            subject: &leaving.subject,
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: leaving.logged.as_str(),
            asker,
            ..AuditedDecision::default()
        });
    }

    /// Records that an allowed request to a model was not sent.
    pub(super) fn note_not_asked(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("sampling", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(AuditedDecision {
            server,
            kind,
            subject,
            decision,
            by,
            rule,
            hash,
            asker: "server",
            ..AuditedDecision::default()
        });
    }

    /// Records that an allowed reply of a model was not sent.
    pub(super) fn note_not_answered(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("sampling-answer", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(AuditedDecision {
            server,
            kind,
            subject,
            decision,
            by,
            rule,
            hash,
            asker: "server",
            ..AuditedDecision::default()
        });
    }

    /// Records that allowed roots were not sent to a server.
    pub(super) fn note_not_told(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("roots", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(AuditedDecision {
            server,
            kind,
            subject,
            decision,
            by,
            rule,
            hash,
            asker: "server",
            ..AuditedDecision::default()
        });
    }

    /// Records that an allowed start was not executed.
    pub(super) fn note_not_started(&mut self, server: &str, kind: &'static str, subject: &str, hash: &Hash) {
        let (decision, by, rule, hash) = ("withdrawn", "policy", NOT_SENT.into(), hash.as_str());
        self.note(AuditedDecision {
            server,
            kind,
            subject,
            decision,
            by,
            rule,
            hash,
            asker: "host",
            ..AuditedDecision::default()
        });
    }

    /// Records that a call was cancelled by the user while its entry was being written.
    pub(super) fn note_cancelled_in_writing(&mut self, call: &str) {
        let Some(record) = self.calls.records.get(call) else { return };
        let Some(writing) = record.writing else { return };
        let is_it = |waiting: &&PendingAct| matches!(waiting, PendingAct::Call { number, .. } if *number == writing);
        let Some(PendingAct::Call { departure, .. }) = self.audits.pending_acts().find(is_it) else { return };
        let allowed = departure.leaves().clone();
        let (view, origin) = (record.view.clone(), record.origin.clone());
        self.note_withdrawn(&view, &origin, &allowed);
    }
}
