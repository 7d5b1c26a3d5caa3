//! Policy with many rules, and a call to decide about. Of 100 rules, 98 are about other servers and two about folders
//! of the called one.

use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, Grant, GrantId, GrantSubject, Grants, Hash, Policy, PolicyAct,
    PolicyFile, PolicyRule, ResolvedPaths, ReviewState, RuleEffect, ToolClaims,
};
use serde_json::{Map, Value, json};

use crate::drawbridge::Outcome;

/// Number of rules in the policy for each rule about the called server, including that rule. The others are about other
/// servers.
const RULES_PER_RULE_FOR_CALLED_SERVER: usize = 50;
const CALLED_SERVER_NAME: &str = "server 7";
const CALLED_TOOL_NAME: &str = "tool 7";

/// Call of a tool that the user has approved, together with the policy that is asked for a decision on it.
#[derive(Debug)]
pub struct MeasuredDecision {
    policy: Policy,
    grant_hash: Hash,
    arguments: Map<String, Value>,
}

impl MeasuredDecision {
    /// Creates the call and a policy with this number of rules.
    ///
    /// # Errors
    /// Returns an error if the policy rejects a rule.
    pub fn with_rule_count(rules: usize) -> Outcome<Self> {
        let grant_hash = Hash::of_json(&json!("definition"));
        let arguments = Map::from_iter([("path".to_owned(), Value::from("/home/ann/notes.txt"))]);
        Ok(Self { policy: policy_with_rules(&grant_hash, rules)?, grant_hash, arguments })
    }

    /// Returns the policy's decision on the call at the time `now`, in milliseconds since 1970.
    #[must_use]
    pub fn decide(&self, now: u64) -> policy::PolicyDecision {
        let act = PolicyAct::CallTool {
            server: CALLED_SERVER_NAME,
            tool: CALLED_TOOL_NAME,
            grant_hash: &self.grant_hash,
            review_state: ReviewState::Reviewed,
            claims: ToolClaims::default(),
            asks_each_time: false,
            arguments: &self.arguments,
            paths: &ResolvedPaths::Elsewhere,
            after_untrusted: false,
            conversation: None,
        };
        self.policy.decide(&act, now)
    }
}

fn policy_with_rules(grant_hash: &Hash, rules: usize) -> Outcome<Policy> {
    let mut grants = Grants::default();
    let grant = Grant {
        id: GrantId::default(),
        server: CALLED_SERVER_NAME.to_owned(),
        subject: GrantSubject::Tool(CALLED_TOOL_NAME.to_owned()),
        rests_on: grant_hash.clone(),
        scope: ApprovalScope::Always,
        conversation: None,
        since: 0,
        expires_at: None,
        words: String::new(),
        last_use: None,
    };
    grants.add(grant).map_err(|_| "too many grants")?;
    let rules = (0..rules).map(|rule| match rule % RULES_PER_RULE_FOR_CALLED_SERVER {
        0 => deny_folder_rule(CALLED_SERVER_NAME.to_owned(), format!("/srv/{rule}")),
        _ => deny_folder_rule(format!("another {rule}"), "/etc".to_owned()),
    });
    let mut policy = Policy::new(grants);
    let file = PolicyFile { rules: rules.collect(), ..PolicyFile::default() };
    policy.set_user_rules(file).map_err(|_| "the rules can't be compiled")?;
    Ok(policy)
}

fn deny_folder_rule(server: String, folder: String) -> PolicyRule {
    PolicyRule {
        arguments: vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentPattern::Folder(folder) }],
        ..PolicyRule::new(RuleEffect::Deny, server)
    }
}
