//! The data that policy decisions depend on, except for the definitions of tools.

mod approved_calls;
mod revoked;
mod stored_uses;
mod uses;

pub use approved_calls::{ApprovedCall, ApprovedCalls, CALL_REPETITION_PERIOD};
pub use revoked::{GrantBasis, RestoreGrantError, RevokedGrants};
pub use stored_uses::{UnwrittenUses, with_last_uses};
pub use uses::PermissionUses;

use std::collections::HashMap;
use std::path::PathBuf;

use domain::Millis;
use domain::call::CallFailure;
use domain::history::ReadContent;
use offers::definitions::{DefinitionDigest, allows_call_repetition};
use policy::{
    ApprovalScope, DecisionReason, GrantSubject, Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile,
    PolicyRule, ResolvedPaths, ReviewState, RuleSource, ToolClaims,
};
use ports::server_config::{ServerConfig, ServerTransport, config_hash};
use serde_json::{Map, Value};

use super::{CallOrigin, DataFlowTable, FolderShares};
use crate::rules::{DryRunResult, RuleFile, RulesView, TrustDuration};
use crate::view::{ConsentRequestBody, ConsentRequestView};

/// The data that policy decisions depend on: rules, grants, data flow settings, and shared folders.
pub struct Permissions {
    /// Policy that decides about actions: its rules, grants and muted servers.
    pub policy: Policy,
    /// Version of the data that decisions about calls depend on. Incremented on each change of rules, grants,
    /// definitions, tool lists, reviews, or data flow settings, and when a model reads content of servers.
    pub version: u64,
    /// State of the two rule files.
    pub rule_files: RuleFiles,
    /// Data that determines whether a model's call may depend on untrusted content: the servers whose content each
    /// conversation contains, and the data flow settings of servers.
    pub data_flow: DataFlowTable,
    /// Folders that the user shares with servers.
    pub folders: FolderShares,
    /// Last uses of rules, grants and shared folders, for display only.
    pub uses: PermissionUses,
    /// Grants that the user revoked recently and can restore.
    pub revoked: RevokedGrants,
    /// Tool calls that the user approved recently and can repeat without another consent request.
    pub approved_calls: ApprovedCalls,
}

/// The two files of rules, as last read.
#[derive(Debug, Default)]
pub struct RuleFiles {
    /// State of the user's rule file.
    pub user: RuleFile,
    /// State of the system-wide rule file, which nothing overrides.
    pub managed: RuleFile,
    /// Set once both files were read. Changes made by another process can only be detected afterwards.
    pub were_read: bool,
}

impl RuleFiles {
    /// Returns `true` if the file with the rules of this source is invalid, so that its current rules may not be known.
    const fn is_invalid(&self, source: RuleSource) -> bool {
        match source {
            RuleSource::Managed => self.managed.problem.is_some(),
            RuleSource::User => self.user.problem.is_some(),
            RuleSource::Session => false,
        }
    }
}

/// Last known definition of the tool whose call a dry run evaluates.
pub struct DryRunTool {
    /// Hash of the definition and the server's settings, to which grants for the tool are bound. If the server is not
    /// running, the hash of the stored grant.
    pub grant_hash: Hash,
    /// Review state of the definition.
    pub review_state: ReviewState,
    /// Annotations of the tool, such as `readOnlyHint`, as declared by the server.
    pub claims: ToolClaims,
    /// Set if the tool's definition demands the user's consent for every call.
    pub asks_each_time: bool,
    /// Set if the definition is assumed to be unchanged because its server is not running.
    pub assumed_unchanged: bool,
}

/// Content of a rule file with `true` if the file exists, or the reason why the file is invalid.
type ParsedRules = Result<(bool, PolicyFile), String>;

impl Permissions {
    /// Creates permissions without rules, since the rule files are read later.
    pub fn new(grants: Grants, data_flow: DataFlowTable, folders: FolderShares) -> Self {
        Self {
            policy: Policy::new(grants),
            version: 0,
            rule_files: RuleFiles::default(),
            data_flow,
            folders,
            uses: PermissionUses::default(),
            revoked: RevokedGrants::default(),
            approved_calls: ApprovedCalls::default(),
        }
    }

    /// Applies the content of the system-wide rule file. If the file is invalid, everything requires consent.
    pub fn apply_managed_rules(&mut self, read: ParsedRules, path: PathBuf) {
        let (exists, problem) = match read {
            Ok((exists, file)) => {
                (exists, self.policy.set_managed_rules(file).err().map(|problem| problem.to_string()))
            }
            Err(cause) => {
                self.policy.mark_managed_rules_unusable();
                (true, Some(cause))
            }
        };
        self.rule_files.managed = RuleFile { path, exists, problem, changed: None };
    }

    /// Applies the content of the user's rule file. If the file is invalid, everything requires consent.
    pub fn apply_user_rules(&mut self, read: ParsedRules, path: PathBuf) {
        let (exists, problem) = match read {
            Ok((exists, file)) => (exists, self.policy.set_user_rules(file).err().map(|problem| problem.to_string())),
            Err(cause) => {
                self.policy.mark_user_rules_unusable();
                (true, Some(cause))
            }
        };
        let changed = self.rule_files.user.changed;
        self.rule_files.user = RuleFile { path, exists, problem, changed };
    }

    /// Returns the view of all rules and of the problems of their files.
    pub fn rules_view(&self) -> RulesView {
        let of = |source| self.policy.rules(source).map(move |rule| (source, rule.clone()));
        RulesView {
            preset: self.policy.preset_from(RuleSource::User),
            managed_preset: self.policy.preset_from(RuleSource::Managed),
            rules: of(RuleSource::Managed).chain(of(RuleSource::User)).chain(of(RuleSource::Session)).collect(),
            user: self.rule_files.user.clone(),
            managed: self.rule_files.managed.clone(),
        }
    }

    /// Returns how long the user trusts a server. While a server is trusted, calls of its reviewed tools need no
    /// consent.
    pub fn server_trust_duration(&self, server: &str, now: Millis) -> TrustDuration {
        let stands = |rule: &PolicyRule| rule.is_trust_rule_for(server) && rule.expires_at.is_none_or(|end| end > now);
        if self.policy.rules(RuleSource::User).any(stands) {
            TrustDuration::Always
        } else if self.policy.is_trusted_until_quit(server) {
            TrustDuration::Run
        } else {
            TrustDuration::No
        }
    }

    /// Records that a model has read this content of servers in the conversation.
    pub fn record_read_content(&mut self, conversation: &str, read_contents: &[ReadContent]) {
        if !read_contents.is_empty() {
            self.data_flow.labels.add_read_contents(conversation, read_contents);
            // A call that waits for its audit entry may now require consent.
            self.version += 1;
        }
    }

    /// Decides about a call of a server's tool with this definition. `repeats` is the id of an earlier call that the
    /// user repeats with this one. If the user approved that one recently and the payload and its receiver are the
    /// same, no consent is required where calls require consent by default.
    pub fn decide_tool_call_by_policy(
        &self,
        act: &PolicyAct<'_>,
        definition: &DefinitionDigest,
        repeats: Option<&str>,
        now: Millis,
    ) -> PolicyDecision {
        let is_approved = |of: &str| match act {
            PolicyAct::CallTool { server, arguments, conversation, .. } => {
                let called = ApprovedCall {
                    server: (*server).to_owned(),
                    conversation: conversation.map(str::to_owned),
                    hash: definition.call_hash(arguments).0,
                    grant_hash: definition.grant_hash.clone(),
                };
                self.approved_calls.covers(of, &called, now)
            }
            _ => false,
        };
        if repeats.is_some_and(is_approved) {
            self.policy.decide_repeated_call(act, now)
        } else {
            self.policy.decide(act, now)
        }
    }

    /// Records the tool call that the user approved in a consent request, so that the user can repeat it. Has no effect
    /// for calls that require consent each time, for calls that the user did not make in the window, and if calls were
    /// forgotten since the approval. `origin` is the originator of the call, `grant_hash` the hash of the tool's
    /// definition and the settings of its server, and `forgotten` the value of [`ApprovedCalls::forget_count`] at the
    /// time of the approval, before its audit entry was written.
    pub fn record_approved_call(
        &mut self,
        request: &ConsentRequestView,
        origin: Option<&CallOrigin>,
        scope: ApprovalScope,
        grant_hash: &Hash,
        (now, forgotten): (Millis, u64),
    ) {
        let (ConsentRequestBody::Tool { tool, app: None, .. }, Some(CallOrigin::User { conversation }), Some(call)) =
            (&request.body, origin, &request.call)
        else {
            return;
        };
        if forgotten != self.approved_calls.forget_count() {
            return;
        }
        // Any other reason is stricter than the approval of one call.
        let asks_by_default = request.reason == DecisionReason::ToolsAsk.name();
        if scope == ApprovalScope::Once && asks_by_default && allows_call_repetition(tool) {
            let approved = ApprovedCall {
                server: request.server.clone(),
                conversation: conversation.clone(),
                hash: request.hash.clone(),
                grant_hash: grant_hash.clone(),
            };
            self.approved_calls.add(call.clone(), approved, now);
        }
    }

    /// Ends the possibility to repeat approved calls of a server.
    pub fn forget_approved_calls(&mut self, server: &str) {
        if self.approved_calls.forget_server(server) {
            // A repeated call that waits for its audit entry now requires consent.
            self.version += 1;
        }
    }

    /// Checks that the policy allows requests such as completions, which are too frequent for consent requests and
    /// audit entries.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Refused`] if the policy denies the request or would require consent.
    pub fn check_unaudited_read(&self, server: &str, now: Millis) -> Result<(), CallFailure> {
        match self.policy.decide(&PolicyAct::Read { needs_no_consent: true, server, conversation: None }, now) {
            PolicyDecision::Allow { .. } => Ok(()),
            PolicyDecision::Ask { by, .. } | PolicyDecision::Deny { by, .. } => {
                Err(CallFailure::denied_by_rule(by.text()))
            }
        }
    }

    /// Returns `true` if the policy denies starting or connecting to a server.
    pub fn denies_start(&self, server: &str, config: &ServerConfig, now: Millis) -> bool {
        let hash = config_hash(config);
        let act = match &config.transport {
            ServerTransport::Stdio(_) => PolicyAct::StartServer { server, command: &hash },
            ServerTransport::Http(_) => PolicyAct::ConnectServer { server, address: &hash },
        };
        matches!(self.policy.decide(&act, now), PolicyDecision::Deny { .. })
    }

    /// Returns the policy decision about a tool call for a dry run, without making the call.
    pub fn dry_run_call(
        &self,
        server: &str,
        (tool, arguments, paths): (&str, &Map<String, Value>, &ResolvedPaths),
        known: DryRunTool,
        conversation: Option<&str>,
        after_untrusted: bool,
        now: Millis,
    ) -> DryRunResult {
        let DryRunTool { grant_hash, review_state, claims, asks_each_time, assumed_unchanged } = known;
        let act = PolicyAct::CallTool {
            server,
            tool,
            grant_hash: &grant_hash,
            review_state,
            claims,
            asks_each_time,
            arguments,
            paths,
            after_untrusted,
            conversation,
        };
        let explanation = self.policy.explain(&act, now);
        DryRunResult { explanation, assumed_unchanged, review_state: Some(review_state), turned_off: false }
    }

    /// Returns the names of a server's tools that a grant allows to call, each with the hash to which the grant is
    /// bound. Grants for a single conversation are excluded.
    pub fn granted_tools(&self, server: &str, at: Millis) -> HashMap<String, Hash> {
        let of_all = self.policy.grants().iter();
        let own = of_all.filter(|grant| grant.server == server && grant.scope != ApprovalScope::Conversation);
        own.filter(|grant| !grant.has_expired(at))
            .filter_map(|grant| match &grant.subject {
                GrantSubject::Tool(tool) => Some((tool.clone(), grant.rests_on.clone())),
                GrantSubject::Command => None,
            })
            .collect()
    }

    /// Returns `true` if the policy allows starting a command with this hash without consent.
    pub fn allows_start(&self, name: &str, hash: &Hash, now: Millis) -> bool {
        let act = PolicyAct::StartServer { server: name, command: hash };
        matches!(self.policy.decide(&act, now), PolicyDecision::Allow { .. })
    }
}

#[cfg(test)]
mod tests;
