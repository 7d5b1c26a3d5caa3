//! Standing approvals, listed and revoked. Caller: `handle/rules.rs`.

use domain::StoreError;
use policy::Subject;
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::owner::audit::Decided;
use crate::view::HostEvent;

impl Owner {
    pub(crate) fn grants(&self) -> Vec<policy::Grant> {
        self.permissions.policy.grants().iter().cloned().collect()
    }

    /// Takes a standing approval back, at once. `reply` is told whether there was one, once the file has it no more.
    pub(crate) fn revoke(&mut self, id: policy::GrantId, reply: oneshot::Sender<Result<bool, StoreError>>) {
        let Some(grant) = self.permissions.policy.grants_mut().revoke(id) else {
            let _ = reply.send(Ok(false));
            return;
        };
        self.permissions.judgement += 1;
        let subject = match &grant.subject {
            Subject::Command => grant.words.clone(),
            Subject::Tool(tool) => tool.clone(),
        };
        let entry = Decided {
            server: &grant.server,
            kind: "revoke",
            subject: &subject,
            decision: "denied",
            scope: Some(grant.scope),
            by: self.options.decides,
            hash: grant.rests_on.as_str(),
            ..Decided::default()
        };
        self.note(entry);
        if grant.subject == Subject::Command {
            self.approval_revoked(&grant.server);
        }
        self.events.emit(HostEvent::CatalogChanged(grant.server.clone()));
        self.emit_server(&grant.server);
        self.keep_grants(&grant.server, Some(&grant.subject), move |_, kept| {
            let _ = reply.send(kept.map(|()| true));
        });
    }
}
