//! Everything that a decision rests on, beside the definitions of tools.

use std::collections::HashMap;
use std::path::PathBuf;

use domain::Millis;
use domain::call::CallFailure;
use domain::history::Reading;
use policy::{
    Act, Claims, Decision, Grants, Hash, PathFacts, Policy, PolicyFile, PolicyRule, RuleSource, Scope, Standing,
    Subject,
};
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value};

use super::{FlowTable, FolderShares};
use crate::rules::{DryRunResult, RuleFile, RulesView, Trust};

/// Rules, grants, data flow and shared folders.
pub(in crate::owner) struct Permissions {
    pub(in crate::owner) policy: Policy,
    /// Grows whenever something changes that calls are judged by: rules, approvals, definitions, what was seen of them.
    pub(in crate::owner) judgement: u64,
    pub(in crate::owner) rule_files: RuleFiles,
    pub(in crate::owner) data_flow: FlowTable,
    pub(in crate::owner) folders: FolderShares,
}

/// The two files of rules, as they were read last.
#[derive(Debug, Default)]
pub(in crate::owner) struct RuleFiles {
    pub(in crate::owner) user: RuleFile,
    pub(in crate::owner) managed: RuleFile,
    /// Set once they were read. What changed before that nobody can say.
    pub(in crate::owner) were_read: bool,
}

/// The tool that a dry run is about, as far as it is known.
pub(in crate::owner) struct KnownTool {
    pub(in crate::owner) definition: Hash,
    pub(in crate::owner) standing: Standing,
    pub(in crate::owner) claims: Claims,
    /// True if its server is taken to offer it still as it did.
    pub(in crate::owner) assumed_unchanged: bool,
}

/// The content of a file of rules, with whether there is one; or why it can't be used.
type ParsedRules = Result<(bool, PolicyFile), String>;

impl Permissions {
    pub(in crate::owner) fn new(grants: Grants, data_flow: FlowTable, folders: FolderShares) -> Self {
        Self { policy: Policy::new(grants), judgement: 0, rule_files: RuleFiles::default(), data_flow, folders }
    }

    /// Takes over the system-wide file of rules. One that can't be used makes everything ask.
    pub(in crate::owner) fn take_managed(&mut self, read: ParsedRules, path: PathBuf) {
        let (exists, problem) = match read {
            Ok((exists, file)) => (exists, self.policy.set_managed(file).err().map(|problem| problem.to_string())),
            Err(cause) => {
                self.policy.managed_unusable();
                (true, Some(cause))
            }
        };
        self.rule_files.managed = RuleFile { path, exists, problem, changed: None };
    }

    /// Takes over the user's file of rules. One that can't be used makes everything ask.
    pub(in crate::owner) fn take_user(&mut self, read: ParsedRules, path: PathBuf) {
        let (exists, problem) = match read {
            Ok((exists, file)) => (exists, self.policy.set_user(file).err().map(|problem| problem.to_string())),
            Err(cause) => {
                self.policy.user_unusable();
                (true, Some(cause))
            }
        };
        let changed = self.rule_files.user.changed;
        self.rule_files.user = RuleFile { path, exists, problem, changed };
    }

    /// All rules.
    pub(in crate::owner) fn rules_view(&self) -> RulesView {
        let of = |source| self.policy.rules(source).map(move |rule| (source, rule.clone()));
        RulesView {
            preset: self.policy.preset_of(RuleSource::User),
            managed_preset: self.policy.preset_of(RuleSource::Managed),
            rules: of(RuleSource::Managed).chain(of(RuleSource::User)).chain(of(RuleSource::Session)).collect(),
            user: self.rule_files.user.clone(),
            managed: self.rule_files.managed.clone(),
        }
    }

    /// For how long a server is trusted.
    pub(in crate::owner) fn trust_in(&self, server: &str, now: Millis) -> Trust {
        let stands = |rule: &PolicyRule| rule.trusts(server) && rule.expires_at.is_none_or(|end| end > now);
        if self.policy.rules(RuleSource::User).any(stands) {
            Trust::Always
        } else if self.policy.is_trusted_for_run(server) {
            Trust::Run
        } else {
            Trust::No
        }
    }

    /// Notes what was read from servers in a conversation.
    pub(in crate::owner) fn note_readings(&mut self, conversation: &str, readings: &[Reading]) {
        if !readings.is_empty() {
            self.data_flow.labels.add_readings(conversation, readings);
            // A call that waits to be written down may be one that asks now.
            self.judgement += 1;
        }
    }

    /// Returns an error if what would ask at each key press, such as a completion, must not be sent, as it would ask. It is not written
    /// down, since the log would be full of it.
    pub(in crate::owner) fn may_read_quietly(&self, server: &str, now: Millis) -> Result<(), CallFailure> {
        match self.policy.decide(&Act::ReadAtUsersWish { server, conversation: None }, now) {
            Decision::Allow { .. } => Ok(()),
            Decision::Ask { by, .. } | Decision::Deny { by, .. } => Err(CallFailure::Refused(format!("by {by}"))),
        }
    }

    /// Returns true if a rule keeps a server out.
    pub(in crate::owner) fn keeps_out(&self, server: &str, config: &ServerConfig, now: Millis) -> bool {
        let hash = config_hash(config);
        let act = match &config.transport {
            ServerTransport::Stdio(_) => Act::StartServer { server, command: &hash },
            ServerTransport::Http(_) => Act::ConnectServer { server, address: &hash },
        };
        matches!(self.policy.decide(&act, now), Decision::Deny { .. })
    }

    /// The decision about a call that nobody makes.
    pub(in crate::owner) fn dry_call(
        &self,
        server: &str,
        (tool, arguments, paths): (&str, &Map<String, Value>, &PathFacts),
        known: KnownTool,
        conversation: Option<&str>,
        after_untrusted: bool,
        now: Millis,
    ) -> DryRunResult {
        let KnownTool { definition, standing, claims, assumed_unchanged } = known;
        let act = Act::CallTool {
            server,
            tool,
            definition: &definition,
            standing,
            claims,
            arguments,
            paths,
            after_untrusted,
            conversation,
        };
        let explanation = self.policy.explain(&act, now);
        DryRunResult { explanation, assumed_unchanged, standing: Some(standing) }
    }

    /// The definitions on which the standing approvals of a server's tools rest, but those of one conversation.
    pub(in crate::owner) fn granted_tools(&self, server: &str, at: Millis) -> HashMap<String, Hash> {
        let of_all = self.policy.grants().iter();
        let own = of_all.filter(|grant| grant.server == server && grant.scope != Scope::Conversation);
        own.filter(|grant| !grant.has_expired(at))
            .filter_map(|grant| match &grant.subject {
                Subject::Tool(tool) => Some((tool.clone(), grant.rests_on.clone())),
                Subject::Command => None,
            })
            .collect()
    }

    /// Tells if the policy lets this command start without a question.
    pub(in crate::owner) fn starts_unasked(&self, name: &str, hash: &Hash, now: Millis) -> bool {
        let act = Act::StartServer { server: name, command: hash };
        matches!(self.policy.decide(&act, now), Decision::Allow { .. })
    }
}

#[cfg(test)]
mod tests;
