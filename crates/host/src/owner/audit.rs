//! What is written down of decisions: before anything crosses, and durable before its result is shown.
//!
//! The owner hands each entry over and never waits for the disk: what may only happen once it is written down goes on when the log
//! says that it is ([`Waiting`]). Entries are in the order in which they were handed over, which is that of the decisions. The log's
//! queue is bounded; what it has no room for, or can't write, does not happen. Whatever goes on looks again at what it rests on, as
//! that may have changed meanwhile; if it does not leave any more, another entry says so (`withdrawn.rs`).

use std::borrow::Cow;
use std::sync::{Arc, PoisonError};

use domain::StoreError;
use domain::call::{CallFailure, CallState};
use mcp_proto::session::{Answer, ServerRequestId, ServerResult};
use policy::Hash;
use ports::{Appended, AuditEntry, AuditReceipts, Written};
use rustc_hash::FxHashMap;

use super::Owner;
use super::gate::{Departure, Passed};
use super::state::CallRecord;
use crate::connection::{RunId, Ticket};
use crate::view::{AppSettings, HostEvent};

/// A decision, for the audit log.
pub(super) struct Decided<'a> {
    pub(super) server: &'a str,
    pub(super) kind: &'static str,
    pub(super) subject: &'a str,
    pub(super) decision: &'static str,
    pub(super) scope: Option<policy::Scope>,
    pub(super) by: &'static str,
    pub(super) hash: &'a str,
    /// Who asked for it.
    pub(super) asker: &'static str,
    /// What crosses or would have.
    pub(super) content: Option<String>,
    /// The rule or the grant that decided.
    pub(super) rule: Cow<'static, str>,
    pub(super) conversation: Option<&'a str>,
}

impl Default for Decided<'_> {
    fn default() -> Self {
        Self {
            server: "",
            kind: "",
            subject: "",
            decision: "",
            scope: None,
            by: "",
            hash: "",
            asker: "user",
            content: None,
            rule: Cow::Borrowed(""),
            conversation: None,
        }
    }
}

/// What goes on once an entry is written.
pub(super) enum Waiting {
    /// A call is sent, to this run of its server, if nothing changed that it was judged by.
    Call { id: Arc<str>, number: u64, run: RunId, judgement: u64, departure: Departure },
    /// A server is told of its folders, if they are still shared as the entry says.
    Folders(WaitingFolders),
    /// Something else that may only happen once it is written down.
    Act(AuditedAct),
    /// Nothing: it is a refusal, or has happened.
    Nothing,
}

/// Folders that a server asked for, with the entry that allows them.
pub(super) struct WaitingFolders {
    pub(super) server: String,
    pub(super) run: RunId,
    pub(super) request: ServerRequestId,
    /// The call in which the server asked.
    pub(super) ticket: Option<Ticket>,
    pub(super) answer: Passed<Answer>,
    pub(super) subject: String,
    pub(super) hash: Hash,
}

/// Goes on once its entry is written, or can't be.
type AuditedAct = Box<dyn FnOnce(&mut Owner, Result<(), StoreError>) + Send>;

/// The entries under way.
#[derive(Default)]
pub(super) struct Audits {
    pub(super) receipts: Arc<AuditReceipts>,
    last_ticket: u64,
    waiting: FxHashMap<u64, (Waiting, Option<AuditEntry>)>,
    /// The place of the last entry that was written.
    pub(super) last: u64,
    /// Calls with a result that is not shown yet.
    held: Vec<Arc<str>>,
    /// Set once the user begins in this run to change how much the log keeps.
    pub(super) is_retention_set: bool,
}

impl Audits {
    /// What waits until its entry is written.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.values().map(|(waiting, _)| waiting)
    }
}

impl Owner {
    /// Writes a decision down, and goes on with `act`. What can't be written down must not happen.
    pub(super) fn audit(
        &mut self,
        decided: Decided<'_>,
        act: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let entry = self.entry(decided);
        self.audit_entry(entry, act);
    }

    /// The same for an entry that is made already.
    pub(super) fn audit_entry(
        &mut self,
        entry: AuditEntry,
        act: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.write_and_go_on(entry, Waiting::Act(Box::new(act)));
    }

    /// Goes on with `waiting` once this entry is written, or can't be.
    fn write_and_go_on(&mut self, entry: AuditEntry, waiting: Waiting) {
        match self.audit_later(entry, waiting) {
            Ok(Some(waiting)) => self.go_on(waiting, Ok(())),
            Ok(None) => {}
            Err((error, waiting)) => self.go_on(waiting, Err(error)),
        }
    }

    /// Writes down what happens anyway, such as a refusal, without waiting for it.
    pub(super) fn note(&mut self, decided: Decided<'_>) {
        let entry = self.entry(decided);
        self.note_entry(entry);
    }

    /// The same for an entry that is made already.
    pub(super) fn note_entry(&mut self, entry: AuditEntry) {
        if let Err((error, _)) = self.audit_later(entry, Waiting::Nothing) {
            tracing::error!(%error, "a decision could not be written down");
        }
    }

    /// Hands an entry over. What waits for it comes back if it is written already, or can't be.
    #[expect(clippy::result_large_err, reason = "what waits comes back, and is moved once")]
    fn audit_later(&mut self, entry: AuditEntry, waiting: Waiting) -> Result<Option<Waiting>, (StoreError, Waiting)> {
        let told = self.events.is_observed().then(|| entry.clone());
        self.audits.last_ticket += 1;
        let ticket = self.audits.last_ticket;
        match self.ports.audit.append_later(entry, ticket) {
            Ok(Appended::Written(written)) => {
                self.written(written, told);
                Ok(Some(waiting))
            }
            Ok(Appended::Later) => {
                self.audits.waiting.insert(ticket, (waiting, told));
                Ok(None)
            }
            Err(error) => Err((error, waiting)),
        }
    }

    fn written(&mut self, written: Written, told: Option<AuditEntry>) {
        self.audits.last = written.place;
        if let Some(entry) = told {
            let entry = AuditEntry { number: written.number, ..entry };
            self.events.emit(HostEvent::AuditChanged(Some(Box::new(entry))));
        }
    }

    /// An entry as it is written: without secrets, and bounded.
    pub(super) fn entry(&self, decided: Decided<'_>) -> AuditEntry {
        let content = decided.content.filter(|_| self.settings.current.audit_contents);
        let activity = self.servers.records.get(decided.server).map(|record| &record.activity);
        let (subject, content) = match activity {
            None => (decided.subject.to_owned(), content),
            Some(activity) => {
                let activity = activity.lock().unwrap_or_else(PoisonError::into_inner);
                (activity.redacted(decided.subject.to_owned()), content.map(|content| activity.redacted(content)))
            }
        };
        let mut entry = AuditEntry {
            number: 0,
            at: self.now(),
            asker: decided.asker.into(),
            server: decided.server.to_owned(),
            kind: decided.kind.into(),
            subject,
            content,
            content_bytes: None,
            decision: decided.decision.into(),
            scope: decided.scope.map(|scope| scope_name(scope).into()),
            by: decided.by.into(),
            rule: decided.rule,
            conversation: decided.conversation.map(str::to_owned),
            hash: decided.hash.to_owned(),
            imported: false,
        };
        entry.bound();
        entry
    }

    /// Sends a call once this entry is written.
    pub(super) fn send_written(&mut self, mut record: Box<CallRecord>, entry: AuditEntry, departure: Departure) {
        let run = self.servers.records.get(&record.view.server).and_then(|server| server.session.connection.as_ref());
        let Some(run) = run.map(|connection| connection.run) else {
            let server = record.view.server.clone();
            return self.finish(record, Err(CallFailure::NotReady { server }));
        };
        let (id, number): (Arc<str>, _) = (record.view.id.as_str().into(), self.events.new_id());
        let waiting =
            Waiting::Call { id: Arc::clone(&id), number, run, judgement: self.permissions.judgement, departure };
        match self.audit_later(entry, waiting) {
            Ok(Some(Waiting::Call { departure, .. })) => self.send(record, departure),
            Ok(_) => {
                record.view.state = CallState::Running;
                record.writing = Some(number);
                self.calls.records.insert(id, record);
            }
            Err((error, _)) => self.finish(record, Err(CallFailure::Refused(error.to_string()))),
        }
    }

    /// Tells a server of its folders once this entry is written.
    pub(super) fn tell_folders_written(&mut self, folders: WaitingFolders, entry: AuditEntry) {
        self.write_and_go_on(entry, Waiting::Folders(folders));
    }

    /// Drops the answer to a request for folders that the server has withdrawn, and notes that it was not sent.
    pub(super) fn withdraw_folders(&mut self, of: (RunId, ServerRequestId)) {
        let is_it = |waiting: &&mut (Waiting, Option<AuditEntry>)| matches!(&waiting.0, Waiting::Folders(folders) if (folders.run, folders.request) == of);
        let Some((waiting, _)) = self.audits.waiting.values_mut().find(is_it) else { return };
        if let Waiting::Folders(folders) = std::mem::replace(waiting, Waiting::Nothing) {
            self.note_not_told(&folders.server, &folders.subject, &folders.hash);
        }
    }

    /// The log tells what became of entries.
    pub(super) fn on_receipts(&mut self, receipts: Vec<(u64, Result<Written, StoreError>)>) {
        for (ticket, result) in receipts {
            let Some((waiting, told)) = self.audits.waiting.remove(&ticket) else { continue };
            let result = result.map(|written| self.written(written, told));
            self.go_on(waiting, result);
        }
        for id in std::mem::take(&mut self.audits.held) {
            let Some(mut record) = self.calls.records.remove(&id) else { continue };
            if let Some(reply) = record.held.take() {
                self.finish_durably(id, record, reply);
            } else {
                self.calls.records.insert(id, record);
            }
        }
    }

    fn go_on(&mut self, waiting: Waiting, written: Result<(), StoreError>) {
        match waiting {
            Waiting::Call { id, number, run, judgement, departure } => {
                let Some(record) = self.calls.take_written(&id, number) else { return };
                let server = &record.view.server;
                let is_there = self
                    .servers
                    .records
                    .get(server)
                    .and_then(|r| r.session.connection.as_ref())
                    .is_some_and(|c| c.run == run);
                match written {
                    Err(error) => self.finish(record, Err(CallFailure::Refused(error.to_string()))),
                    Ok(()) if is_there && judgement == self.permissions.judgement => self.send(record, departure),
                    Ok(()) if is_there => self.send_if_still_allowed(record, departure),
                    // What was decided for one process must not go to the next.
                    Ok(()) => {
                        let server = server.clone();
                        self.note_withdrawn(&record.view, &record.origin, departure.leaves());
                        self.finish(record, Err(CallFailure::NotReady { server }));
                    }
                }
            }
            Waiting::Folders(folders) => self.tell_folders(folders, written),
            Waiting::Act(act) => act(self, written),
            Waiting::Nothing => {
                if let Err(error) = written {
                    tracing::error!(%error, "a decision could not be written down");
                }
            }
        }
    }

    /// Tells how a call ended, as soon as the decisions that it rests on would survive the loss of power.
    pub(super) fn finish_durably(
        &mut self,
        id: Arc<str>,
        mut record: Box<CallRecord>,
        reply: Result<ServerResult, CallFailure>,
    ) {
        if record.entry == 0 {
            return self.finish(record, reply);
        }
        match self.ports.audit.durable() {
            Ok(durable) if durable >= record.entry => self.finish(record, reply),
            Ok(_) => {
                record.held = Some(reply);
                self.audits.held.push(Arc::clone(&id));
                self.calls.records.insert(id, record);
            }
            Err(error) => {
                let cause = format!("the audit log may be lost, so the result is not shown: {error}");
                self.finish(record, Err(CallFailure::Refused(cause)));
            }
        }
    }

    /// Tells the log how much of it the settings keep.
    pub(super) fn retain_audit(&self) {
        let AppSettings { audit_days, audit_megabytes, .. } = self.settings.current;
        self.ports.audit.retain(ports::AuditRetention { days: audit_days, megabytes: audit_megabytes });
    }
}

const fn scope_name(scope: policy::Scope) -> &'static str {
    match scope {
        policy::Scope::Once => "once",
        policy::Scope::Conversation => "conversation",
        policy::Scope::Session => "session",
        policy::Scope::Always => "always",
    }
}
