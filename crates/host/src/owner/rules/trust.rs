//! Trust in a server, which is a rule that allows calls of its tools. Used by `handle/rules.rs`, and by code that
//! removes a server from the settings.

use host_state::add_or_replace_rule;
use policy::{PolicyFile, PolicyRule, RuleSource};
use ports::Document;
use tokio::sync::oneshot;

use crate::owner::Owner;
use crate::rules::{RulesError, TrustDuration};

impl Owner {
    /// Sets or ends the user's trust in a server.
    pub(crate) fn set_server_trust(
        &mut self,
        server: &str,
        trust: TrustDuration,
        reply: oneshot::Sender<Result<(), RulesError>>,
    ) {
        if !self.servers.records.contains_key(server) {
            let _ = reply.send(Err(RulesError::NoSuchServer(server.to_owned())));
            return;
        }
        let (rule, server) = (PolicyRule::for_trusted_server(server), server.to_owned());
        let decision = if trust == TrustDuration::No { "denied" } else { "allowed" };
        self.audit_rule(&rule, decision, move |owner, written| match written {
            Ok(()) => owner.write_trust(server, trust, reply),
            Err(error) => drop(reply.send(Err(error.into()))),
        });
    }

    /// Returns how long the user trusts a server.
    pub(crate) fn server_trust_duration(&self, server: &str) -> TrustDuration {
        self.permissions.server_trust_duration(server, self.now())
    }

    fn write_trust(&mut self, server: String, trust: TrustDuration, reply: oneshot::Sender<Result<(), RulesError>>) {
        // Trust in memory is changed first, since ending it must not depend on a valid rule file.
        if trust == TrustDuration::Run {
            if let Err(error) = self.permissions.policy.trust_until_quit(&server) {
                let _ = reply.send(Err(error.into()));
                return;
            }
        } else {
            self.permissions.policy.revoke_trust_until_quit(&server);
        }
        let stands = self.permissions.policy.rules(RuleSource::User).any(|rule| rule.is_trust_rule_for(&server));
        if stands == (trust == TrustDuration::Always) && !self.documents.writer.has_pending_writes(Document::Policy) {
            self.emit_server_change(&server);
            self.on_rules_changed();
            let _ = reply.send(Ok(()));
            return;
        }
        self.on_rules_changed();
        let name = server.clone();
        let change = move |file: &mut PolicyFile| {
            file.rules.retain(|rule| !rule.is_trust_rule_for(&name));
            if trust == TrustDuration::Always {
                add_or_replace_rule(file, &PolicyRule::for_trusted_server(&name))?;
            }
            Ok(())
        };
        self.change_user_rules(change, move |owner, set| {
            owner.emit_server_change(&server);
            let _ = reply.send(set);
        });
    }

    /// Ends the trust in a removed server, since another server may get the same name.
    pub(in crate::owner) fn forget_trust(&mut self, server: &str) {
        if !self.permissions.policy.rules(RuleSource::User).any(|rule| rule.is_trust_rule_for(server)) {
            return;
        }
        let name = server.to_owned();
        let change = move |file: &mut PolicyFile| {
            file.rules.retain(|rule| !rule.is_trust_rule_for(&name));
            Ok(())
        };
        self.change_user_rules(change, |_, forgotten| {
            if let Err(error) = forgotten {
                tracing::error!(%error, "the trust in a removed server could not be removed from the rules");
            }
        });
    }
}
