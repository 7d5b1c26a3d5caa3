//! Standing approvals and rules, as the host is asked about them.

use policy::{GrantId, PolicyRule, Preset, RuleRef};

use super::{Host, HostClosed, StorageError};
use crate::rules::{DryAct, DryRunResult, RulesError, RulesView, Trust};

impl Host {
    /// All standing approvals.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn grants(&self) -> Result<Vec<policy::Grant>, HostClosed> {
        self.with(|owner| owner.grants()).await
    }

    /// Takes a standing approval back; whether there was one.
    ///
    /// # Errors
    /// If it could not be written down: it then stands again after a restart.
    pub async fn revoke(&self, id: GrantId) -> Result<bool, StorageError> {
        Ok(self.with_reply(move |owner, reply| owner.revoke(id, reply)).await??)
    }

    /// All rules, and what is wrong with their files.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn rules(&self) -> Result<RulesView, HostClosed> {
        self.with(|owner| owner.rules_view()).await
    }

    /// Adds a rule of the user's, or changes the one with its number.
    ///
    /// # Errors
    /// If it can't be used or written.
    pub async fn set_rule(&self, rule: PolicyRule) -> Result<RuleRef, RulesError> {
        self.with_reply(move |owner, reply| owner.set_rule(rule, reply)).await?
    }

    /// Removes a rule of the user's.
    ///
    /// # Errors
    /// If there is none, or the file can't be written.
    pub async fn remove_rule(&self, rule: RuleRef) -> Result<(), RulesError> {
        self.with_reply(move |owner, reply| owner.remove_rule(rule, reply)).await?
    }

    /// Chooses how much is asked about.
    ///
    /// # Errors
    /// If it can't be written.
    pub async fn set_preset(&self, preset: Preset) -> Result<(), RulesError> {
        self.with_reply(move |owner, reply| owner.set_preset(preset, reply)).await?
    }

    /// Trusts a server with the calls of its tools that the user has seen, or ends that.
    ///
    /// # Errors
    /// If there is no such server, or it can't be written.
    pub async fn trust(&self, server: String, trust: Trust) -> Result<(), RulesError> {
        self.with_reply(move |owner, reply| owner.trust(&server, trust, reply)).await?
    }

    /// What would happen, and which rules say so.
    ///
    /// # Errors
    /// If there is no such server.
    pub async fn dry_run(&self, server: String, asked: DryAct) -> Result<DryRunResult, RulesError> {
        self.with_reply(move |owner, reply| owner.dry_run(server, asked, reply)).await?
    }
}
