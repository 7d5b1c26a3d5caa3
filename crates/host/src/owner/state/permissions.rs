//! Everything that a decision rests on, beside the definitions of tools.

use domain::Millis;
use domain::call::CallFailure;
use policy::{Act, Decision, Grants, Hash, PathFacts, Policy};
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value};

use super::{FlowTable, FolderShares};
use crate::owner::rules::{KnownTool, RuleFiles};
use crate::rules::DryRunResult;

/// Rules, grants, data flow and shared folders.
pub(in crate::owner) struct Permissions {
    pub(in crate::owner) policy: Policy,
    /// Grows whenever something changes that calls are judged by: rules, approvals, definitions, what was seen of them.
    pub(in crate::owner) judgement: u64,
    pub(in crate::owner) rule_files: RuleFiles,
    pub(in crate::owner) data_flow: FlowTable,
    pub(in crate::owner) folders: FolderShares,
}

impl Permissions {
    pub(in crate::owner) fn new(grants: Grants, data_flow: FlowTable, folders: FolderShares) -> Self {
        Self { policy: Policy::new(grants), judgement: 0, rule_files: RuleFiles::default(), data_flow, folders }
    }
}

impl Permissions {
    /// Whether what would ask at each key press, such as a completion, may be sent: only if it would not ask. It is not written
    /// down, since the log would be full of it.
    pub(in crate::owner) fn may_read_quietly(&self, server: &str, now: Millis) -> Result<(), CallFailure> {
        match self.policy.decide(&Act::ReadAtUsersWish { server, conversation: None }, now) {
            Decision::Allow { .. } => Ok(()),
            Decision::Ask { by, .. } | Decision::Deny { by, .. } => Err(CallFailure::Refused(format!("by {by}"))),
        }
    }

    /// Whether a rule keeps a server out.
    pub(in crate::owner) fn keeps_out(&self, server: &str, config: &ServerConfig, now: Millis) -> bool {
        let hash = config_hash(config);
        let act = match &config.transport {
            ServerTransport::Stdio(_) => Act::StartServer { server, command: &hash },
            ServerTransport::Http(_) => Act::ConnectServer { server, address: &hash },
        };
        matches!(self.policy.decide(&act, now), Decision::Deny { .. })
    }

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

    /// Tells if the policy lets this command start without a question.
    pub(in crate::owner) fn starts_unasked(&self, name: &str, hash: &Hash, now: Millis) -> bool {
        let act = Act::StartServer { server: name, command: hash };
        matches!(self.policy.decide(&act, now), Decision::Allow { .. })
    }
}

#[cfg(test)]
mod tests {
    use ports::server_config::StdioConfig;

    use super::*;

    #[test]
    fn without_a_rule_or_a_grant_a_start_asks() {
        let permissions = Permissions::new(Grants::default(), FlowTable::default(), FolderShares::default());
        assert!(permissions.may_read_quietly("s", 0).is_ok(), "the user themselves wants to read it");
        assert!(!permissions.starts_unasked("s", &Hash::of_bytes(b"command"), 0), "a start asks");
        let config = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }.into();
        assert!(!permissions.keeps_out("s", &config, 0), "and is not denied");
    }

    #[test]
    fn a_muted_server_may_still_be_started() {
        let mut permissions = Permissions::new(Grants::default(), FlowTable::default(), FolderShares::default());
        permissions.policy.mute("s");
        let config = StdioConfig { command: "server".to_owned(), ..StdioConfig::default() }.into();
        assert!(!permissions.keeps_out("s", &config, 0), "the user mutes its requests, not its start");
    }
}
