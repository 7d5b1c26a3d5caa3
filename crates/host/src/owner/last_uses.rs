//! Last uses of permissions, which the user sees next to them. A use is recorded in memory when the act is sent, and
//! the uses of persisted permissions are written after [`USE_WRITE_DELAY`], when one is dropped, and at the host's end.

use std::time::Duration;

use host_state::with_last_uses;
use policy::{DecisionSource, Grant, LastUse, UsedBy};
use ports::Document;

use super::Owner;
use crate::view::ServerState;

/// Time between the first unwritten use of a permission and the write of all uses since.
const USE_WRITE_DELAY: Duration = Duration::from_secs(30);

impl Owner {
    /// Records that a rule or grant allowed an act that is being sent: a call of `tool`, or with `None` another act.
    pub(super) fn record_use(&mut self, by: DecisionSource, server: &str, tool: Option<&str>, used_by: UsedBy) {
        let last_use = LastUse { at: self.now(), by: used_by };
        let needs_write = match by {
            DecisionSource::Grant(id) => {
                let is_persisted = self.permissions.policy.grants_mut().record_grant_use(server, tool, id, last_use);
                is_persisted && self.permissions.uses.mark_grant_use_unwritten(id)
            }
            DecisionSource::Rule(of) => {
                let policy = &self.permissions.policy;
                let rule = || policy.rules(of.source).find(|own| own.id == of.id).cloned();
                self.permissions.uses.record_rule_use(of, last_use, rule)
            }
            DecisionSource::BuiltIn
            | DecisionSource::Preset
            | DecisionSource::ManagedPreset
            | DecisionSource::RepeatedApproval => false,
        };
        if needs_write {
            self.schedule_use_write();
        }
    }

    fn schedule_use_write(&mut self) {
        self.run_concurrently(tokio::time::sleep(USE_WRITE_DELAY), |owner, ()| owner.write_uses());
    }

    /// Records that a server is being started and, if `by` is given, that this rule or grant allowed the start.
    pub(super) fn record_start_use(&mut self, by: Option<DecisionSource>, server: &str) {
        let Some(record) = self.servers.records.get_mut(server) else { return };
        let used_by = record.launch.requested_by.take().unwrap_or(UsedBy::Host);
        if let Some(by) = by {
            self.record_use(by, server, None, used_by);
        }
    }

    /// Records that the user requested the start of a server, unless it is starting or running already.
    pub(super) fn record_start_request(&mut self, server: &str) {
        let by = self.options.user_origin;
        if let Some(record) = self.servers.records.get_mut(server)
            && !matches!(record.state, ServerState::AwaitingApproval | ServerState::Starting | ServerState::Ready)
        {
            record.launch.requested_by = Some(by);
        }
    }

    /// Records that a server received its shared folders.
    pub(super) fn record_roots_use(&mut self, server: &str) {
        let last_use = LastUse { at: self.now(), by: UsedBy::Server };
        if self.permissions.uses.record_shared_folders_use(server, last_use) {
            self.schedule_use_write();
        }
    }

    /// Writes the last uses of permissions to their files. Never adds a grant, since another process may have revoked
    /// it.
    pub(super) fn write_uses(&mut self) {
        let unwritten = self.permissions.uses.take_grants_with_unwritten_uses();
        let persisted =
            if unwritten.is_empty() { Vec::new() } else { self.permissions.policy.grants().persistent_grants() };
        let used: Vec<Grant> = persisted.into_iter().filter(|grant| unwritten.contains(&grant.id)).collect();
        if !used.is_empty() {
            let failure = "the last uses of grants could not be written";
            self.write_later(Document::Grants, failure, move |stored| with_last_uses(stored, &used));
        }
        if let Some(uses) = self.permissions.take_unwritten_uses() {
            let failure = "the last uses of rules and folders could not be written";
            self.write_later(Document::Uses, failure, move |stored| uses.merged_with(stored));
        }
    }
}
