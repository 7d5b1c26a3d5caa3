//! Grants and policy rules.

use host_state::PermissionUses;
use policy::{GrantId, PolicyRule, Preset, RuleRef};

use super::{Host, HostClosed, StorageError};
use crate::owner::RestoreGrantError;
use crate::rules::{DryRunAct, DryRunResult, RulesError, RulesView, TrustDuration};

impl Host {
    /// Returns all grants in effect.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn grants(&self) -> Result<Vec<policy::Grant>, HostClosed> {
        self.with_owner(|owner| owner.permissions.policy.grants().iter().cloned().collect()).await
    }

    /// Revokes a grant. Returns `false` if no grant has this id.
    ///
    /// # Errors
    ///
    /// Returns [`StorageError::Store`] if the revocation can't be written, in which case the grant becomes effective
    /// again on the next start, and [`StorageError::Closed`] if the host has shut down.
    pub async fn revoke_grant(&self, id: GrantId) -> Result<bool, StorageError> {
        self.with_owner_reply(move |owner, reply| owner.revoke_grant(id, reply)).await?.map_err(StorageError::Store)
    }

    /// Restores a grant that was revoked a few seconds ago, unchanged.
    ///
    /// # Errors
    ///
    /// Returns [`RestoreGrantError::NotRevoked`] if no grant with this id was revoked, [`RestoreGrantError::TooLate`] if that was
    /// too long ago, [`RestoreGrantError::Changed`] if its server or tool has changed since, and [`RestoreGrantError::Store`] if
    /// the grant can't be written, in which case it is in effect until Drawbridge exits.
    pub async fn restore_grant(&self, id: GrantId) -> Result<(), RestoreGrantError> {
        self.with_owner_reply_result(move |owner, reply| owner.restore_grant(id, reply)).await
    }

    /// Returns the last uses of rules, and of the folders shared with each server. A grant contains its own last use.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn permission_uses(&self) -> Result<PermissionUses, HostClosed> {
        self.with_owner(|owner| owner.permissions.uses.clone()).await
    }

    /// Returns all policy rules, and the problems of the rule files.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn rules_view(&self) -> Result<RulesView, HostClosed> {
        self.with_owner(|owner| owner.permissions.rules_view()).await
    }

    /// Adds a rule of the user, or replaces the user's rule with the same id.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Rule`] if the rule is invalid, [`RulesError::NoSuchRule`] if no rule has the id,
    /// [`RulesError::Unusable`] if the current rule file is invalid, [`RulesError::Store`] if the file or the audit log
    /// can't be written, and [`RulesError::Closed`] if the host has shut down.
    pub async fn set_rule(&self, rule: PolicyRule) -> Result<RuleRef, RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_rule(rule, reply)).await
    }

    /// Adds a removed rule of the user again, under the same id unless another rule has it by now.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Rule`] if the rule is invalid, [`RulesError::Unusable`] if the current rule file is
    /// invalid, [`RulesError::Store`] if the file or the audit log can't be written, and [`RulesError::Closed`] if the
    /// host has shut down.
    pub async fn restore_rule(&self, rule: PolicyRule) -> Result<RuleRef, RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.restore_rule(rule, reply)).await
    }

    /// Removes a rule of the user.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::NoSuchRule`] if the user has no such rule, [`RulesError::Unusable`] if the current rule
    /// file is invalid, [`RulesError::Store`] if the file or the audit log can't be written, and [`RulesError::Closed`]
    /// if the host has shut down.
    pub async fn remove_rule(&self, rule: RuleRef) -> Result<(), RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.remove_rule(rule, reply)).await
    }

    /// Sets the preset, which determines the decision about acts that no rule or grant matches.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::Unusable`] if the current rule file is invalid, [`RulesError::Store`] if the file or the
    /// audit log can't be written, and [`RulesError::Closed`] if the host has shut down.
    pub async fn set_preset(&self, preset: Preset) -> Result<(), RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_preset(preset, reply)).await
    }

    /// Sets how long a server is trusted. Calls of a trusted server's reviewed tools are allowed without consent.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::NoSuchServer`] if no server has this name, and [`RulesError::Store`] if the change can't
    /// be written.
    pub async fn set_server_trust(&self, server: String, trust: TrustDuration) -> Result<(), RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.set_server_trust(&server, trust, reply)).await
    }

    /// Returns the decision that the policy would make about an act, and the rules that lead to the decision.
    ///
    /// # Errors
    ///
    /// Returns [`RulesError::NoSuchServer`] if no server has this name, and [`RulesError::NoSuchTool`] if the server is
    /// running and has no such tool.
    pub async fn dry_run(&self, server: String, request: DryRunAct) -> Result<DryRunResult, RulesError> {
        self.with_owner_reply_result(move |owner, reply| owner.dry_run(server, request, reply)).await
    }
}
