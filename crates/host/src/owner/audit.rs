//! Audit entries of decisions. An entry is *written* (committed) before its payload is sent, and *durable* (synced to
//! the disk) before the result is shown.
//!
//! The owner submits each entry and never waits for the disk. An action that requires a written entry continues when
//! the log confirms the entry ([`ActAwaitingAudit`]). Entries are in the order of the decisions. The log's queue is
//! bounded. If it is full, or the entry can't be written, the action is not executed. Each continuation checks its
//! preconditions again. If it therefore doesn't send the payload, another entry records that (`withdrawn_acts.rs`).

use std::sync::Arc;

use domain::StoreError;
use domain::call::{CallFailure, CallRefusal, CallState};
use host_state::AuditedDecision;
use mcp_proto::session::{ClientResponse, ServerRequestId, ServerResult};
use policy::Hash;
use ports::{AuditAppendStatus, AuditEntry, AuditReceipts, WrittenAuditEntry};
use rustc_hash::FxHashMap;

use super::Owner;
use super::gate::{AuthorizedPayload, SendPermit};
use super::state::CallRecord;
use crate::connection::{CallTicket, RunId};
use crate::view::{AppSettings, HostEvent};

/// Action that is executed once its audit entry is written.
pub(super) enum ActAwaitingAudit {
    /// Sends the call `id` to the server run `run`, or decides about it again if the permissions have changed since
    /// `permissions_version`. `write_id` identifies the write, not the entry.
    Call { id: Arc<str>, write_id: u64, run: RunId, permissions_version: u64, permit: SendPermit },
    /// Responds to a server with its roots, if the user still shares the folders that this response contains.
    SendRoots(PendingRootsResponse),
    /// Calls a closure for any other action that requires a written entry.
    Act(AuditedActCallback),
    /// No action: the entry records a denial, or something that has already happened.
    Nothing,
}

/// Response to a server's request for roots, which is sent once its audit entry is written.
pub(super) struct PendingRootsResponse {
    pub(super) server: String,
    pub(super) run: RunId,
    pub(super) request: ServerRequestId,
    /// Ticket of the call during which the server sent the request, if known.
    pub(super) ticket: Option<CallTicket>,
    pub(super) answer: AuthorizedPayload<ClientResponse>,
    pub(super) subject: String,
    pub(super) hash: Hash,
}

/// Closure that executes an action, given the result of writing the action's audit entry.
type AuditedActCallback = Box<dyn FnOnce(&mut Owner, Result<(), StoreError>) + Send>;

/// Audit entries that were submitted to the log and not confirmed yet.
#[derive(Default)]
pub(super) struct PendingAudits {
    pub(super) receipts: Arc<AuditReceipts>,
    last_ticket: u64,
    waiting: FxHashMap<u64, (ActAwaitingAudit, Option<AuditEntry>)>,
    /// [`WrittenAuditEntry::position`] of the last written entry.
    pub(super) last_position: u64,
    /// Ids of calls whose results are retained until the audit entries about these calls are durable.
    held: Vec<Arc<str>>,
    /// Set once the user has started to change the retention of the log in this run.
    pub(super) is_retention_set: bool,
}

impl PendingAudits {
    /// Returns the actions that wait for their entries to be written.
    pub(super) fn pending_acts(&self) -> impl Iterator<Item = &ActAwaitingAudit> {
        self.waiting.values().map(|(waiting, _)| waiting)
    }
}

impl Owner {
    /// Submits the audit entry of a decision, and calls `act` with the result of writing it. If `act` receives an
    /// error, it must not execute the action.
    pub(super) fn audit_then(
        &mut self,
        decided: AuditedDecision<'_>,
        act: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let entry = self.make_audit_entry(decided);
        self.audit_entry_then(entry, act);
    }

    /// Submits a complete audit entry, and calls `act` with the result of writing it.
    pub(super) fn audit_entry_then(
        &mut self,
        entry: AuditEntry,
        act: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.write_then_act(entry, ActAwaitingAudit::Act(Box::new(act)));
    }

    /// Submits an audit entry, and executes `waiting` once the entry is written or the write has failed.
    fn write_then_act(&mut self, entry: AuditEntry, waiting: ActAwaitingAudit) {
        match self.submit_audit_entry(entry, waiting) {
            Ok(Some(waiting)) => self.run_pending_act(waiting, Ok(())),
            Ok(None) => {}
            Err((error, waiting)) => self.run_pending_act(waiting, Err(error)),
        }
    }

    /// Submits the audit entry of an event that happens even if the entry can't be written, such as a denial.
    pub(super) fn audit_without_waiting(&mut self, decided: AuditedDecision<'_>) {
        let entry = self.make_audit_entry(decided);
        self.audit_entry_without_waiting(entry);
    }

    /// Submits a complete audit entry of an event that happens even if the entry can't be written.
    pub(super) fn audit_entry_without_waiting(&mut self, entry: AuditEntry) {
        if let Err((error, _)) = self.submit_audit_entry(entry, ActAwaitingAudit::Nothing) {
            tracing::error!(%error, "a decision could not be written down");
        }
    }

    /// Submits an audit entry, and stores the action `waiting` until the log confirms that the entry is written.
    /// Returns the action instead if the log has written the entry immediately or can't write it.
    #[expect(clippy::result_large_err, reason = "the continuation is returned, and is moved once")]
    fn submit_audit_entry(
        &mut self,
        entry: AuditEntry,
        waiting: ActAwaitingAudit,
    ) -> Result<Option<ActAwaitingAudit>, (StoreError, ActAwaitingAudit)> {
        let observed_entry = self.events.is_observed().then(|| entry.clone());
        self.audits.last_ticket += 1;
        let ticket = self.audits.last_ticket;
        match self.ports.audit.append_later(entry, ticket) {
            Ok(AuditAppendStatus::Written(written)) => {
                self.on_audit_entry_written(written, observed_entry);
                Ok(Some(waiting))
            }
            Ok(AuditAppendStatus::Later) => {
                self.audits.waiting.insert(ticket, (waiting, observed_entry));
                Ok(None)
            }
            Err(error) => Err((error, waiting)),
        }
    }

    fn on_audit_entry_written(&mut self, written: WrittenAuditEntry, observed_entry: Option<AuditEntry>) {
        self.audits.last_position = written.position;
        if let Some(entry) = observed_entry {
            let entry = AuditEntry { number: written.number, ..entry };
            self.events.emit(HostEvent::AuditChanged(Some(Box::new(entry))));
        }
    }

    /// Creates the entry of a decision, with secrets redacted and long texts truncated.
    pub(super) fn make_audit_entry(&self, decided: AuditedDecision<'_>) -> AuditEntry {
        let content = decided.content.filter(|_| self.settings.current.audit_contents);
        let activity = self.servers.records.get(decided.server).map(|record| &record.activity);
        let (subject, content) = match activity {
            None => (decided.subject.to_owned(), content),
            Some(activity) => {
                (activity.redact_text(decided.subject.to_owned()), content.map(|content| activity.redact_text(content)))
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
            scope: decided.scope.map(|scope| approval_scope_name(scope).into()),
            by: decided.by.into(),
            rule: decided.rule,
            conversation: decided.conversation.map(str::to_owned),
            hash: decided.hash.to_owned(),
            imported: false,
        };
        entry.truncate_fields();
        entry
    }

    /// Submits the audit entry of an allowed call, and sends the call to its server once the entry is written.
    pub(super) fn send_when_audited(&mut self, mut record: Box<CallRecord>, entry: AuditEntry, permit: SendPermit) {
        let run = self.servers.records.get(&record.view.server).and_then(|server| server.session.connection.as_ref());
        let Some(run) = run.map(|connection| connection.run) else {
            let server = record.view.server.clone();
            return self.report_call_result(record, Err(CallFailure::NotReady { server }));
        };
        let (id, write_id): (Arc<str>, _) = (record.view.id.as_str().into(), self.events.next_unique_id());
        let permissions_version = self.permissions.version;
        let waiting = ActAwaitingAudit::Call { id: Arc::clone(&id), write_id, run, permissions_version, permit };
        match self.submit_audit_entry(entry, waiting) {
            Ok(Some(ActAwaitingAudit::Call { permit, .. })) => self.send(record, permit),
            Ok(_) => {
                record.view.state = CallState::Running;
                record.pending.writing = Some(write_id);
                self.calls.records.insert(id, record);
            }
            Err((error, _)) => self.report_call_result(record, Err(CallFailure::not_audited(&error))),
        }
    }

    /// Submits the audit entry of an allowed response, and sends the roots to the server once the entry is written.
    pub(super) fn send_roots_when_audited(&mut self, folders: PendingRootsResponse, entry: AuditEntry) {
        self.write_then_act(entry, ActAwaitingAudit::SendRoots(folders));
    }

    /// Drops the pending response to a withdrawn request for roots. An audit entry records that it was not sent.
    pub(super) fn withdraw_roots_response(&mut self, of: (RunId, ServerRequestId)) {
        let is_it = |waiting: &&mut (ActAwaitingAudit, Option<AuditEntry>)| matches!(&waiting.0, ActAwaitingAudit::SendRoots(folders) if (folders.run, folders.request) == of);
        let Some((waiting, _)) = self.audits.waiting.values_mut().find(is_it) else { return };
        if let ActAwaitingAudit::SendRoots(folders) = std::mem::replace(waiting, ActAwaitingAudit::Nothing) {
            self.audit_unsent_roots(&folders.server, &folders.subject, &folders.hash);
        }
    }

    /// Handles the log's reports that entries were written or could not be: executes the actions that wait for them,
    /// and then reports the results of calls that wait for their entries to be durable.
    pub(super) fn on_audit_receipts(&mut self, receipts: Vec<(u64, Result<WrittenAuditEntry, StoreError>)>) {
        for (ticket, result) in receipts {
            let Some((waiting, observed_entry)) = self.audits.waiting.remove(&ticket) else { continue };
            let result = result.map(|written| self.on_audit_entry_written(written, observed_entry));
            self.run_pending_act(waiting, result);
        }
        for id in std::mem::take(&mut self.audits.held) {
            let Some(mut record) = self.calls.records.remove(&id) else { continue };
            if let Some(reply) = record.held.take() {
                self.reply_when_durable(id, record, reply);
            } else {
                self.calls.records.insert(id, record);
            }
        }
    }

    /// Executes an action after its audit entry was written, or handles the failure of the write.
    fn run_pending_act(&mut self, waiting: ActAwaitingAudit, written: Result<(), StoreError>) {
        match waiting {
            ActAwaitingAudit::Call { id, write_id, run, permissions_version, permit } => {
                let Some(record) = self.calls.take_call_after_audit_write(&id, write_id) else { return };
                let server = &record.view.server;
                let is_there = self
                    .servers
                    .records
                    .get(server)
                    .and_then(|r| r.session.connection.as_ref())
                    .is_some_and(|c| c.run == run);
                match written {
                    Err(error) => self.report_call_result(record, Err(CallFailure::not_audited(&error))),
                    Ok(()) if is_there && permissions_version == self.permissions.version => self.send(record, permit),
                    Ok(()) if is_there => self.send_if_still_allowed(record, permit),
                    // The decision applies to one process of the server, and not to the next one.
                    Ok(()) => {
                        let server = server.clone();
                        self.audit_unsent_call(
                            &record.view,
                            &record.origin,
                            record.app.as_ref(),
                            permit.payload_hash(),
                        );
                        self.report_call_result(record, Err(CallFailure::NotReady { server }));
                    }
                }
            }
            ActAwaitingAudit::SendRoots(folders) => self.continue_roots_response(folders, written),
            ActAwaitingAudit::Act(act) => act(self, written),
            ActAwaitingAudit::Nothing => {
                if let Err(error) = written {
                    tracing::error!(%error, "a decision could not be written down");
                }
            }
        }
    }

    /// Reports the result of a call once the audit entries about the call would survive a power loss.
    pub(super) fn reply_when_durable(
        &mut self,
        id: Arc<str>,
        mut record: Box<CallRecord>,
        reply: Result<ServerResult, CallFailure>,
    ) {
        if record.entry_position == 0 {
            return self.report_call_result(record, reply);
        }
        match self.ports.audit.durable_position() {
            Ok(durable) if durable >= record.entry_position => self.report_call_result(record, reply),
            Ok(_) => {
                record.held = Some(reply);
                self.audits.held.push(Arc::clone(&id));
                self.calls.records.insert(id, record);
            }
            Err(error) => {
                let cause = format!("the audit log may be lost, so the result is not shown: {error}");
                self.report_call_result(record, Err(CallFailure::refused(CallRefusal::ResultWithheld, cause)));
            }
        }
    }

    /// Passes the retention settings to the audit log, which then deletes older entries.
    pub(super) fn apply_audit_retention(&self) {
        let AppSettings { audit_days, audit_megabytes, .. } = self.settings.current;
        self.ports.audit.set_retention(ports::AuditRetention { days: audit_days, megabytes: audit_megabytes });
    }
}

const fn approval_scope_name(scope: policy::ApprovalScope) -> &'static str {
    match scope {
        policy::ApprovalScope::Once => "once",
        policy::ApprovalScope::Conversation => "conversation",
        policy::ApprovalScope::Session => "session",
        policy::ApprovalScope::Always => "always",
    }
}
