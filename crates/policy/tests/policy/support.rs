//! Helpers for tests: calls, rules and policies.

use policy::{
    Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, PolicyRule, ResolvedPaths, ReviewState, RuleEffect,
    RuleScope, ToolClaims,
};
use serde_json::{Value, json};

/// A tool call whose fields tests can change.
#[derive(Debug, Clone)]
pub(crate) struct TestCall {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) review_state: ReviewState,
    pub(crate) claims: ToolClaims,
    pub(crate) asks_each_time: bool,
    pub(crate) arguments: Value,
    pub(crate) paths: ResolvedPaths,
    pub(crate) after_untrusted: bool,
}

impl Default for TestCall {
    fn default() -> Self {
        Self {
            server: "server".to_owned(),
            tool: "tool".to_owned(),
            review_state: ReviewState::Reviewed,
            claims: ToolClaims::default(),
            asks_each_time: false,
            arguments: json!({}),
            paths: ResolvedPaths::Elsewhere,
            after_untrusted: false,
        }
    }
}

impl TestCall {
    /// Calls `look` with this call as an act, in the conversation `c1` and with the hash of `v1` as its grant hash.
    pub(crate) fn with_act<T>(&self, look: impl FnOnce(PolicyAct<'_>) -> T) -> T {
        let grant_hash = Hash::of_json(&json!("v1"));
        look(PolicyAct::CallTool {
            server: &self.server,
            tool: &self.tool,
            grant_hash: &grant_hash,
            review_state: self.review_state,
            claims: self.claims,
            asks_each_time: self.asks_each_time,
            arguments: self.arguments.as_object().unwrap(),
            paths: &self.paths,
            after_untrusted: self.after_untrusted,
            conversation: Some("c1"),
        })
    }
}

pub(crate) fn rule(effect: RuleEffect, server: &str, tool: Option<&str>) -> PolicyRule {
    PolicyRule { tool: tool.map(str::to_owned), ..PolicyRule::new(effect, server.to_owned()) }
}

pub(crate) fn policy_file(rules: Vec<PolicyRule>) -> PolicyFile {
    PolicyFile { rules, ..PolicyFile::default() }
}

pub(crate) fn policy_with_rules(managed: &[PolicyRule], user: &[PolicyRule]) -> Policy {
    let mut policy = Policy::new(Grants::default());
    policy.set_managed_rules(policy_file(managed.to_vec())).unwrap();
    policy
        .set_user_rules(policy_file(user.iter().filter(|rule| rule.scope == RuleScope::Always).cloned().collect()))
        .unwrap();
    policy
}

/// Returns the rule effect that corresponds to a decision.
pub(crate) fn decision_effect(decision: PolicyDecision) -> RuleEffect {
    match decision {
        PolicyDecision::Allow { .. } => RuleEffect::Allow,
        PolicyDecision::Ask { .. } => RuleEffect::Ask,
        PolicyDecision::Deny { .. } => RuleEffect::Deny,
    }
}
