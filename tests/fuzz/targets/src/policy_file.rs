//! Fuzz target: the reader of policy files.

use policy::{
    Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, PolicyRule, ResolvedPaths, ReviewState, RuleEffect,
    ToolClaims,
};
use serde_json::{Map, Value, json};

const DECISION_TIME_MILLIS: u64 = 1_800_000_000_000;
const RULE_SERVER_NAMES: [&str; 3] = ["files", "mail", "*"];
const RULE_TOOL_NAMES: [&str; 3] = ["read", "send_mail", "?"];

/// Tests the parser of policy files. The first line of `data` is the file, and the remaining lines are the arguments of
/// a call. The decision on the call must stay the same if the file is serialized and parsed again or its rules are in
/// another order, and must agree with its explanation. An additional rule that denies must never allow more.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn policy(data: &[u8]) {
    let (file, arguments) = crate::split_at_line_end(data);
    let Ok(file) = serde_json::from_slice::<PolicyFile>(file) else { return };
    let written = serde_json::to_string(&file).expect("what was read can be written");
    let again: PolicyFile = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error} in {written}"));
    assert_eq!(again, file, "{written} is parsed to an equal file");
    let mut reversed = file.clone();
    reversed.rules.reverse();
    let mut stricter = file.clone();
    stricter.rules.push(rule_denying_one_server());
    let arguments: Map<String, Value> = serde_json::from_slice(arguments).unwrap_or_default();
    let (Some(own), Some(reread)) = (compile_policy(file), compile_policy(again)) else { return };
    let reversed = compile_policy(reversed).expect("the order makes no rule unusable");
    let stricter = compile_policy(stricter);
    let hash = Hash::of_json(&json!("v1"));
    for server in RULE_SERVER_NAMES {
        for tool in RULE_TOOL_NAMES {
            for review_state in [ReviewState::Reviewed, ReviewState::New] {
                let act = PolicyAct::CallTool {
                    server,
                    tool,
                    grant_hash: &hash,
                    review_state,
                    claims: ToolClaims::default(),
                    asks_each_time: tool == "?",
                    arguments: &arguments,
                    paths: &ResolvedPaths::Elsewhere,
                    after_untrusted: tool == "send_mail",
                    conversation: Some("c1"),
                };
                let decided = own.decide(&act, DECISION_TIME_MILLIS);
                assert_eq!(
                    reread.decide(&act, DECISION_TIME_MILLIS),
                    decided,
                    "the serialized file leads to the same decision"
                );
                assert_eq!(
                    rule_effect_of_decision(&reversed.decide(&act, DECISION_TIME_MILLIS)),
                    rule_effect_of_decision(&decided),
                    "the order of rules does not change the decision"
                );
                assert_eq!(
                    own.explain(&act, DECISION_TIME_MILLIS).decision,
                    decided,
                    "the explanation ends with the same decision"
                );
                if review_state == ReviewState::New {
                    assert_ne!(
                        rule_effect_of_decision(&decided),
                        RuleEffect::Allow,
                        "no rule allows an unreviewed tool"
                    );
                }
                if tool == "?" {
                    assert_ne!(
                        rule_effect_of_decision(&decided),
                        RuleEffect::Allow,
                        "a tool that requires consent for each call is never allowed by a rule"
                    );
                }
                if let Some(stricter) = &stricter {
                    let denied = rule_effect_of_decision(&stricter.decide(&act, DECISION_TIME_MILLIS));
                    assert!(
                        denied >= rule_effect_of_decision(&decided),
                        "a further rule that denies never allows more"
                    );
                    assert!(server != "mail" || denied == RuleEffect::Deny, "the added rule denies");
                }
            }
        }
        let start = PolicyAct::StartServer { server, command: &hash };
        assert_ne!(
            rule_effect_of_decision(&own.decide(&start, DECISION_TIME_MILLIS)),
            RuleEffect::Allow,
            "no rule allows a start"
        );
        let sign_in = PolicyAct::SignIn { server, steps_up: false };
        assert_ne!(
            rule_effect_of_decision(&own.decide(&sign_in, DECISION_TIME_MILLIS)),
            RuleEffect::Allow,
            "no rule allows a sign-in"
        );
    }
}

fn compile_policy(file: PolicyFile) -> Option<Policy> {
    let mut policy = Policy::new(Grants::default());
    policy.set_user_rules(file).ok()?;
    policy.set_server_identity("files", vec!["npx -y files-server /home/ann".to_owned()]);
    Some(policy)
}

/// Returns a rule that denies everything that concerns one server.
fn rule_denying_one_server() -> PolicyRule {
    serde_json::from_value(json!({ "effect": "deny", "server": "mail" })).expect("a rule")
}

const fn rule_effect_of_decision(decision: &PolicyDecision) -> RuleEffect {
    match decision {
        PolicyDecision::Allow { .. } => RuleEffect::Allow,
        PolicyDecision::Ask { .. } => RuleEffect::Ask,
        PolicyDecision::Deny { .. } => RuleEffect::Deny,
    }
}
