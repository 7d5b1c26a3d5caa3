//! Last uses of permissions, which the user sees next to them. A use is recorded in memory when the act is sent, and
//! the uses of persisted grants are written together after [`USE_WRITE_DELAY`], and when the host closes.

use std::collections::HashMap;
use std::time::Duration;

use host_state::PermissionUses;
use policy::{DecisionSource, Grant, GrantSubject, LastUse, UsedBy};
use ports::Document;
use serde_json::{Value, json};

use super::Owner;
use super::state::CallOrigin;
use crate::view::ServerState;

/// Time between the first unwritten use of a grant and the write of all uses since.
const USE_WRITE_DELAY: Duration = Duration::from_secs(30);

impl Owner {
    /// Records that a rule or grant allowed an act that is being sent: a call of `tool`, or with `None` another act.
    pub(super) fn record_use(&mut self, by: DecisionSource, server: &str, tool: Option<&str>, used_by: UsedBy) {
        let last_use = LastUse { at: self.now(), by: used_by };
        match by {
            DecisionSource::Grant(id) => {
                let is_persisted = self.permissions.policy.grants_mut().note_use(server, tool, id, last_use);
                if is_persisted && self.permissions.uses.mark_unwritten(id) {
                    self.run_concurrently(tokio::time::sleep(USE_WRITE_DELAY), |owner, ()| owner.write_grant_uses());
                }
            }
            DecisionSource::Rule(of) => {
                let policy = &self.permissions.policy;
                let rule = || policy.rules(of.source).find(|own| own.id == of.id).cloned();
                self.permissions.uses.note_rule(of, last_use, rule);
            }
            DecisionSource::BuiltIn | DecisionSource::Preset | DecisionSource::ManagedPreset => {}
        }
    }

    /// Records that a server is launched and, if `by` is given, that this rule or grant allowed the start.
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
        self.permissions.uses.note_folders(server, last_use);
    }

    /// Writes the last uses of grants to their file. Never adds a grant, since another process may have revoked it.
    pub(super) fn write_grant_uses(&mut self) {
        let unwritten = self.permissions.uses.take_unwritten();
        let persisted =
            if unwritten.is_empty() { Vec::new() } else { self.permissions.policy.grants().persistent_grants() };
        let used: Vec<Grant> = persisted.into_iter().filter(|grant| unwritten.contains(&grant.id)).collect();
        if !used.is_empty() {
            let failure = "the last uses of grants could not be written";
            self.write_later(Document::Grants, failure, move |stored| with_last_uses(stored, &used));
        }
    }

    /// Returns the last uses of rules and of shared folders in this run.
    pub(crate) fn permission_uses(&self) -> PermissionUses {
        self.permissions.uses.clone()
    }
}

/// Returns the originator of a call.
pub(super) const fn call_originator(origin: &CallOrigin) -> UsedBy {
    match origin {
        CallOrigin::User { .. } => UsedBy::User,
        CallOrigin::Model { .. } => UsedBy::Model,
        CallOrigin::App { .. } => UsedBy::App,
        CallOrigin::CommandLine => UsedBy::CommandLine,
    }
}

/// Returns the content of the file of grants, with the last uses of those in `used` that it still contains unchanged.
fn with_last_uses(stored: Option<Value>, used: &[Grant]) -> Value {
    let Some(Ok(mut stored)) = stored.clone().map(serde_json::from_value::<Vec<Grant>>) else {
        return stored.unwrap_or_else(|| json!([]));
    };
    let used: HashMap<(&str, &GrantSubject), &Grant> =
        used.iter().map(|grant| ((grant.server.as_str(), &grant.subject), grant)).collect();
    for grant in &mut stored {
        let own = used.get(&(grant.server.as_str(), &grant.subject));
        // A grant that another process has given since has its own uses.
        if let Some(own) = own.filter(|own| (&own.rests_on, own.since) == (&grant.rests_on, grant.since)) {
            grant.merge_use(own.last_use);
        }
    }
    serde_json::to_value(stored).unwrap_or_else(|_| json!([]))
}

#[cfg(test)]
mod tests {
    use policy::{ApprovalScope, GrantId, Hash};

    use super::*;

    fn grant(server: &str, since: u64, at: Option<u64>) -> Grant {
        Grant {
            id: GrantId(1),
            server: server.to_owned(),
            subject: GrantSubject::Tool("read".to_owned()),
            rests_on: Hash::of_bytes(b"definition"),
            scope: ApprovalScope::Always,
            conversation: None,
            since,
            expires_at: None,
            words: String::new(),
            last_use: at.map(|at| LastUse { at, by: UsedBy::Model }),
        }
    }

    #[test]
    fn last_uses_are_merged_into_stored_grants_and_add_none() {
        let file = json!([grant("used", 1, None), grant("again", 2, None), grant("later", 1, Some(900))]);
        let own = ["used", "again", "later", "revoked"].map(|server| grant(server, 1, Some(500)));
        let written: Vec<Grant> = serde_json::from_value(with_last_uses(Some(file), &own)).unwrap_or_default();
        let uses: Vec<_> =
            written.iter().map(|grant| (grant.server.as_str(), grant.last_use.map(|used| used.at))).collect();
        assert_eq!(uses, [("used", Some(500)), ("again", None), ("later", Some(900))], "a revoked grant stays revoked");
    }

    #[test]
    fn missing_or_unexpected_grants_document_is_not_replaced() {
        let own = [grant("used", 1, Some(500))];
        assert_eq!(with_last_uses(None, &own), json!([]));
        assert_eq!(with_last_uses(Some(json!({ "a": 1 })), &own), json!({ "a": 1 }));
    }
}
