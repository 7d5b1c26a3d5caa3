//! Lists, revokes and restores grants. Used by `handle/rules.rs`.

use std::slice;
use std::sync::Arc;

use domain::StoreError;
use host_state::AuditedDecision;
use policy::{Grant, GrantSubject};
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::owner::state::{GrantBasis, RestoreGrantError};
use crate::view::HostEvent;

impl Owner {
    /// Revokes a grant, effective immediately. `reply` receives `false` if no grant has this id, otherwise `true` once
    /// the file no longer contains the grant. For a short time [`restore_grant`](Self::restore_grant) can revert that.
    pub(crate) fn revoke_grant(&mut self, id: policy::GrantId, reply: oneshot::Sender<Result<bool, StoreError>>) {
        let Some(grant) = self.permissions.policy.grants_mut().revoke(id) else {
            let _ = reply.send(Ok(false));
            return;
        };
        let (basis, now) = (self.grant_basis(&grant), self.now());
        self.permissions.revoked.push(grant.clone(), basis, now);
        self.permissions.forget_approved_calls(&grant.server);
        self.audit_grant(&grant, "revoke", "denied");
        if grant.subject == GrantSubject::Command {
            self.on_approval_revoked(&grant.server);
        }
        self.on_grant_changed(&grant);
        self.write_grants(&grant.server, Some(slice::from_ref(&grant.subject)), move |_, written| {
            let _ = reply.send(written.map(|()| true));
        });
    }

    /// Restores a grant that was just revoked, unless its server or tool has changed since. If the grant permits starts
    /// and the server still runs, later failures cause automatic restarts as before. A server that waited for a restart
    /// stays stopped.
    pub(crate) fn restore_grant(&mut self, id: policy::GrantId, reply: oneshot::Sender<Result<(), RestoreGrantError>>) {
        let grant = match self.readd_revoked_grant(id) {
            Ok(grant) => grant,
            Err(error) => {
                let _ = reply.send(Err(error));
                return;
            }
        };
        // Entries are written in order, so this one is written before that of any payload that the grant allows.
        self.audit_grant(&grant, "restore", "allowed");
        if grant.subject == GrantSubject::Command
            && let Some(record) = self.servers.records.get_mut(&grant.server)
        {
            record.supervision.on_approval_restored();
        }
        self.on_grant_changed(&grant);
        self.write_grants(&grant.server, Some(slice::from_ref(&grant.subject)), move |owner, written| {
            if written.is_err() {
                owner.permissions.policy.grants_mut().limit_until_quit(id);
            }
            let _ = reply.send(written.map_err(RestoreGrantError::from));
        });
    }

    /// Re-adds a revoked grant to the active grants and returns it, if its server and tool are unchanged.
    fn readd_revoked_grant(&mut self, id: policy::GrantId) -> Result<Grant, RestoreGrantError> {
        let now = self.now();
        let (grant, basis) = self.permissions.revoked.take(id, now)?;
        let is_unchanged = self.grant_basis(&grant) == basis;
        if is_unchanged && self.permissions.policy.grants_mut().restore(grant.clone()) {
            Ok(grant)
        } else {
            Err(RestoreGrantError::Changed)
        }
    }

    /// Returns the current server settings and tool definition of a grant, which must be unchanged for restoring it.
    fn grant_basis(&mut self, grant: &Grant) -> GrantBasis {
        let config = self.servers.records.get(&grant.server).map(|record| Arc::clone(&record.config));
        let definition = match &grant.subject {
            GrantSubject::Command => None,
            GrantSubject::Tool(tool) => self.current_tool_definition(&grant.server, tool),
        };
        GrantBasis { config, definition: definition.map(|own| (own.grant_hash.clone(), own.review_state)) }
    }

    /// Records the revocation or restoration of a grant in the audit log. `decision` is `denied` for a revocation and
    /// `allowed` for a restoration.
    fn audit_grant(&mut self, grant: &Grant, kind: &'static str, decision: &'static str) {
        let subject = match &grant.subject {
            GrantSubject::Command => grant.words.clone(),
            GrantSubject::Tool(tool) => tool.clone(),
        };
        let entry = AuditedDecision {
            server: &grant.server,
            kind,
            subject: &subject,
            decision,
            scope: Some(grant.scope),
            by: self.options.decider_name,
            hash: grant.rests_on.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_without_waiting(entry);
    }

    /// Handles a revoked or restored grant: calls that wait for their audit entries are decided again.
    fn on_grant_changed(&mut self, grant: &Grant) {
        self.permissions.version += 1;
        self.events.emit(HostEvent::CatalogChanged(grant.server.clone()));
        self.emit_server_change(&grant.server);
    }
}
