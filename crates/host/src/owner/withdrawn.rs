//! Calls that were allowed and written down, and then did not leave: what allowed them was revoked before the log had the entry, the
//! server went away, or the user cancelled; and results that nobody was left to read. Another entry says so, under the same hash, so
//! that the log tells what left.

use domain::call::{Call, CallKind};
use policy::Hash;

use super::Owner;
use super::audit::{Decided, Waiting};
use super::gate::Leaving;
use super::state::{CallOrigin, PendingRequest, kind_of, subject_of};

/// What tells such an entry from a consent request that was withdrawn.
const NOT_SENT: &str = "allowed-not-sent";

impl Owner {
    /// Writes down that an allowed call did not leave.
    pub(super) fn note_withdrawn(&mut self, call: &Call, origin: &CallOrigin, hash: &Hash) {
        let kind = match call.kind {
            CallKind::Tool => "tool",
            CallKind::Prompt => "prompt",
            CallKind::Resource => "resource",
        };
        self.note(Decided {
            server: &call.server,
            kind,
            subject: &call.name,
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: hash.as_str(),
            asker: origin.asker(),
            conversation: call.conversation.as_deref(),
            ..Decided::default()
        });
    }

    /// The same for a result that was allowed and that no model read.
    pub(super) fn note_unread(&mut self, pending: &PendingRequest) {
        let conversation = self.calls.conversation_of(&pending.view.why);
        self.note(Decided {
            server: &pending.view.server,
            kind: kind_of(&pending.view.body),
            subject: &subject_of(&pending.view.body),
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: pending.view.hash.as_str(),
            asker: "model",
            conversation: conversation.as_deref(),
            ..Decided::default()
        });
    }

    /// Writes down that what the user approved did not leave: its consent request went away or changed before the log had the entry.
    pub(super) fn note_not_sent(&mut self, server: &str, leaving: &Leaving, asker: &'static str) {
        self.note(Decided {
            server,
            kind: leaving.kind,
            subject: &leaving.subject,
            decision: "withdrawn",
            by: "policy",
            rule: NOT_SENT.into(),
            hash: leaving.logged.as_str(),
            asker,
            ..Decided::default()
        });
    }

    /// The same for a request to a model that a rule allowed.
    pub(super) fn note_not_asked(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("sampling", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(Decided { server, kind, subject, decision, by, rule, hash, asker: "server", ..Decided::default() });
    }

    /// The same for the answer of a model.
    pub(super) fn note_not_answered(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("sampling-answer", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(Decided { server, kind, subject, decision, by, rule, hash, asker: "server", ..Decided::default() });
    }

    /// The same for folders that a server was not told of.
    pub(super) fn note_not_told(&mut self, server: &str, subject: &str, hash: &Hash) {
        let (kind, decision, by, rule) = ("roots", "withdrawn", "policy", NOT_SENT.into());
        let hash = hash.as_str();
        self.note(Decided { server, kind, subject, decision, by, rule, hash, asker: "server", ..Decided::default() });
    }

    /// The same for a start that a rule or a grant allowed.
    pub(super) fn note_not_started(&mut self, server: &str, kind: &'static str, subject: &str, hash: &Hash) {
        let (decision, by, rule, hash) = ("withdrawn", "policy", NOT_SENT.into(), hash.as_str());
        self.note(Decided { server, kind, subject, decision, by, rule, hash, asker: "host", ..Decided::default() });
    }

    /// The same for a call that the user cancels while its entry is on the way to the log.
    pub(super) fn note_cancelled_in_writing(&mut self, call: &str) {
        let Some(record) = self.calls.records.get(call) else { return };
        let Some(writing) = record.writing else { return };
        let is_it = |waiting: &&Waiting| matches!(waiting, Waiting::Call { number, .. } if *number == writing);
        let Some(Waiting::Call { departure, .. }) = self.audits.waiting().find(is_it) else { return };
        let allowed = departure.leaves().clone();
        let (view, origin) = (record.view.clone(), record.origin.clone());
        self.note_withdrawn(&view, &origin, &allowed);
    }
}
