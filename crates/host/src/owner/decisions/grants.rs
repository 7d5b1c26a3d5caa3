//! Listing and revoking grants. Used by `handle/rules.rs`.

use domain::StoreError;
use policy::GrantSubject;
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::owner::audited_decision::AuditedDecision;
use crate::view::HostEvent;

impl Owner {
    pub(crate) fn grants(&self) -> Vec<policy::Grant> {
        self.permissions.policy.grants().iter().cloned().collect()
    }

    /// Revokes a grant, effective immediately. `reply` receives `false` if no grant has this id, otherwise `true` once
    /// the file no longer contains the grant.
    pub(crate) fn revoke_grant(&mut self, id: policy::GrantId, reply: oneshot::Sender<Result<bool, StoreError>>) {
        let Some(grant) = self.permissions.policy.grants_mut().revoke(id) else {
            let _ = reply.send(Ok(false));
            return;
        };
        self.permissions.judgement += 1;
        let subject = match &grant.subject {
            GrantSubject::Command => grant.words.clone(),
            GrantSubject::Tool(tool) => tool.clone(),
        };
        let entry = AuditedDecision {
            server: &grant.server,
            kind: "revoke",
            subject: &subject,
            decision: "denied",
            scope: Some(grant.scope),
            by: self.options.decides,
            hash: grant.rests_on.as_str(),
            ..AuditedDecision::default()
        };
        self.audit_without_waiting(entry);
        if grant.subject == GrantSubject::Command {
            self.on_approval_revoked(&grant.server);
        }
        self.events.emit(HostEvent::CatalogChanged(grant.server.clone()));
        self.emit_server(&grant.server);
        self.write_grants(&grant.server, Some(&grant.subject), move |_, kept| {
            let _ = reply.send(kept.map(|()| true));
        });
    }
}
