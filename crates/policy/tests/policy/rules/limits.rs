//! Tests of the limits of rules, their directions, and the acts to which a rule doesn't apply.

use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, ClaimRule, DecisionReason, Hash, PolicyAct, PolicyDecision,
    PolicyRule, ReviewState, RuleDirection, RuleEffect, RuleError, RuleFit, RuleSet, RuleSource, SamplingBudget,
    SamplingUse,
};
use serde_json::json;

use crate::support::{TestCall, policy_with_rules, rule};

fn rule_problem(rule: PolicyRule) -> Option<RuleError> {
    RuleSet::compile(RuleSource::User, vec![rule]).err().map(|problem| problem.error)
}

fn ask_rule() -> PolicyRule {
    rule(RuleEffect::Ask, "server", None)
}

fn argument_rules(count: usize) -> Vec<ArgumentRule> {
    vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentPattern::Glob("x".to_owned()) }; count]
}

fn read_only_claim() -> ClaimRule {
    ClaimRule { read_only_hint: Some(true), ..ClaimRule::default() }
}

/// Creates a policy with only this rule, and returns the result of matching the rule with an act.
fn single_rule_fit(rule: PolicyRule, act: &PolicyAct<'_>) -> RuleFit {
    policy_with_rules(&[], &[rule]).explain(act, 0).considered[0].fit
}

#[test]
fn rule_limits_are_inclusive() {
    assert_eq!(rule_problem(PolicyRule { arguments: argument_rules(20), ..ask_rule() }), None, "20 conditions");
    for count in [21, 22] {
        let refused = rule_problem(PolicyRule { arguments: argument_rules(count), ..ask_rule() });
        assert_eq!(refused, Some(RuleError::TooLong { part: "list of arguments", most: 20 }), "{count} conditions");
    }
    assert_eq!(rule_problem(PolicyRule { note: "x".repeat(1_000), ..ask_rule() }), None, "a note of 1,000 bytes");
    assert_eq!(
        rule_problem(PolicyRule { note: "x".repeat(1_001), ..ask_rule() }),
        Some(RuleError::TooLong { part: "note", most: 1_000 }),
        "a note of more bytes must be refused"
    );
    let end_of_9999 = 253_402_300_799_999;
    assert_eq!(rule_problem(PolicyRule { expires_at: Some(end_of_9999), ..ask_rule() }), None, "the last date");
    assert_eq!(
        rule_problem(PolicyRule { expires_at: Some(end_of_9999 + 1), ..ask_rule() }),
        Some(RuleError::Date),
        "a date after the year 9999 must be refused"
    );
}

#[test]
fn tool_rule_does_not_apply_to_other_acts() {
    let read = PolicyAct::Read { needs_no_consent: true, server: "server", conversation: None };
    let of_tools = [
        PolicyRule { tool: Some("tool".to_owned()), ..ask_rule() },
        PolicyRule { arguments: argument_rules(1), ..ask_rule() },
        PolicyRule { annotations: Some(read_only_claim()), ..ask_rule() },
    ];
    for rule in of_tools {
        assert_eq!(single_rule_fit(rule.clone(), &read), RuleFit::OtherTool, "{rule:?}");
        for direction in [RuleDirection::FromServer, RuleDirection::Both] {
            let refused = rule_problem(PolicyRule { direction, ..rule.clone() });
            assert_eq!(
                refused,
                Some(RuleError::ToolConditionsOnServerRequests),
                "a server's requests have no tool: {rule:?}"
            );
        }
    }
    assert_eq!(single_rule_fit(ask_rule(), &read), RuleFit::Fits, "a rule without a tool covers reads");
}

#[test]
fn only_a_deny_rule_in_both_directions_prevents_a_start() {
    let command = Hash::of_json(&json!("npx files"));
    let start = PolicyAct::StartServer { server: "server", command: &command };
    let deny = rule(RuleEffect::Deny, "server", None);
    assert_eq!(single_rule_fit(PolicyRule { direction: RuleDirection::Both, ..deny.clone() }, &start), RuleFit::Fits);
    for direction in [RuleDirection::ToServer, RuleDirection::FromServer] {
        assert_eq!(
            single_rule_fit(PolicyRule { direction, ..deny.clone() }, &start),
            RuleFit::OtherKindOfAct,
            "{direction:?}"
        );
    }
    let both = PolicyRule { direction: RuleDirection::Both, ..ask_rule() };
    assert_eq!(single_rule_fit(both, &start), RuleFit::OtherKindOfAct, "starts have their own approvals");
}

#[test]
fn sampling_budget_rule_allows_sampling_only() {
    let budget = SamplingBudget { requests_per_hour: 1, tokens_per_hour: 1 };
    let allow = || PolicyRule {
        direction: RuleDirection::FromServer,
        sampling: Some(budget),
        ..rule(RuleEffect::Allow, "server", None)
    };
    assert_eq!(rule_problem(allow()), None, "the smallest budget");
    let none = [
        PolicyRule { sampling: Some(SamplingBudget { requests_per_hour: 0, ..budget }), ..allow() },
        PolicyRule { sampling: Some(SamplingBudget { tokens_per_hour: 0, ..budget }), ..allow() },
        PolicyRule { direction: RuleDirection::Both, ..allow() },
        PolicyRule { trusted_server: true, ..allow() },
        PolicyRule { effect: RuleEffect::Ask, ..allow() },
    ];
    for rule in none {
        assert_eq!(rule_problem(rule.clone()), Some(RuleError::SamplingOnly), "{rule:?}");
    }
    let others = [
        PolicyAct::FillForm { server: "server" },
        PolicyAct::OpenUrl { server: "server" },
        PolicyAct::ShareRoots { server: "server", decided: false },
    ];
    for act in others {
        assert_eq!(single_rule_fit(allow(), &act), RuleFit::OtherKindOfAct, "{act:?}");
    }
    let sample = PolicyAct::Sample { server: "server", would_use: SamplingUse::default() };
    assert_ne!(single_rule_fit(allow(), &sample), RuleFit::OtherKindOfAct, "the rule is about sampling");
}

#[test]
fn annotation_rule_matches_the_claims_of_the_tool() {
    let mut call = TestCall::default();
    let rule = PolicyRule { annotations: Some(read_only_claim()), ..ask_rule() };
    for (claim, expected) in [(true, RuleFit::Fits), (false, RuleFit::OtherAnnotations)] {
        call.claims.read_only = claim;
        assert_eq!(call.with_act(|act| single_rule_fit(rule.clone(), &act)), expected, "readOnlyHint is {claim}");
    }
}

#[test]
fn ineffective_approval_scope_is_not_offered() {
    let both = |rule: PolicyRule| PolicyRule { direction: RuleDirection::Both, ..rule };
    let policy = policy_with_rules(&[], &[both(ask_rule()), rule(RuleEffect::Allow, "server", Some("tool"))]);
    let changed = TestCall { review_state: ReviewState::Changed, ..TestCall::default() };
    let scopes = |decision: PolicyDecision| match decision {
        PolicyDecision::Ask { reason, scopes, .. } => (reason, scopes.to_vec()),
        other => panic!("expected a consent request: {other:?}"),
    };
    let outcome = changed.with_act(|act| scopes(policy.decide(&act, 0)));
    assert_eq!(
        outcome,
        (DecisionReason::ToolChanged, vec![ApprovalScope::Once]),
        "the rule asks for the next call again"
    );
    let unruled = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", Some("tool"))]);
    let (_, offered) = changed.with_act(|act| scopes(unruled.decide(&act, 0)));
    assert!(offered.contains(&ApprovalScope::Always), "without the rule a lasting approval takes effect");
    let roots = PolicyAct::ShareRoots { server: "server", decided: false };
    let outcome = scopes(policy.decide(&roots, 0));
    assert_eq!(outcome, (DecisionReason::RootsAsk, vec![ApprovalScope::Always]), "folders are decided once");
}

#[test]
fn conditions_are_explained_only_for_matching_rules() {
    let with = |server: &str, tool: &str| PolicyRule {
        arguments: argument_rules(1),
        ..rule(RuleEffect::Ask, server, Some(tool))
    };
    let call = TestCall { arguments: json!({"path": "y"}), ..TestCall::default() };
    for (rule, judged) in [(with("server", "tool"), 1), (with("other", "tool"), 0), (with("server", "other"), 0)] {
        let explained = call.with_act(|act| policy_with_rules(&[], std::slice::from_ref(&rule)).explain(&act, 0));
        assert_eq!(explained.considered[0].arguments.len(), judged, "{rule:?}");
    }
}

#[test]
fn texts_are_matched_up_to_64_kib() {
    let rule = |effect| PolicyRule {
        arguments: vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentPattern::Glob("x*".to_owned()) }],
        ..rule(effect, "server", None)
    };
    let fit = |effect, length: usize| {
        let call = TestCall { arguments: json!({"path": "x".repeat(length)}), ..TestCall::default() };
        call.with_act(|act| single_rule_fit(rule(effect), &act))
    };
    for length in [1, 2_000, 64 * 1024] {
        assert_eq!(fit(RuleEffect::Allow, length), RuleFit::Fits, "{length} bytes");
    }
    assert_eq!(fit(RuleEffect::Allow, 64 * 1024 + 1), RuleFit::OtherArgument(0), "a longer text is not allowed");
    assert_eq!(fit(RuleEffect::Deny, 64 * 1024 + 1), RuleFit::Fits, "a longer text is denied");
}

#[test]
fn patterns_are_limited_to_1_024_bytes() {
    let kinds = [
        (ArgumentPattern::Glob as fn(String) -> ArgumentPattern, "a", "pattern"),
        (ArgumentPattern::Regex, "a", "expression"),
        (ArgumentPattern::Folder, "/a", "folder"),
        (ArgumentPattern::Path, "/a", "path"),
        (ArgumentPattern::Address, "https://x/a", "address"),
    ];
    for (kind, begin, part) in kinds {
        let of_length = |length: usize| {
            let is = kind(format!("{begin}{}", "a".repeat(length - begin.len())));
            rule_problem(PolicyRule { arguments: vec![ArgumentRule { at: "/path".to_owned(), is }], ..ask_rule() })
        };
        assert_eq!(of_length(1_024), None, "the longest {part}");
        for length in [1_025, 2_048] {
            assert_eq!(of_length(length), Some(RuleError::TooLong { part, most: 1_024 }), "{part} of {length} bytes");
        }
    }
}

#[test]
fn rule_set_holds_500_rules_with_unique_ids() {
    let most = RuleSet::compile(RuleSource::User, vec![ask_rule(); RuleSet::MAX_RULES]);
    assert_eq!(most.unwrap().iter().count(), RuleSet::MAX_RULES, "a set of the maximum size");
    let numbered = |id| PolicyRule { id, ..ask_rule() };
    let mut set = RuleSet::compile(RuleSource::User, vec![numbered(2), ask_rule(), numbered(7), ask_rule()]).unwrap();
    let ids = |set: &RuleSet| set.iter().map(|rule| rule.id).collect::<Vec<_>>();
    assert_eq!(ids(&set), [2, 1, 7, 3], "identifiers stay, and free ones are assigned");
    assert_eq!(set.add(numbered(2)).unwrap(), 8, "an added rule gets a new identifier");
    assert_eq!(ids(&set), [2, 1, 7, 3, 8]);
    assert!(set.remove_matching(|rule| rule.id == 7) && !set.remove_matching(|rule| rule.id == 7), "removed once");
    assert_eq!(ids(&set), [2, 1, 3, 8]);
}

#[test]
fn trust_applies_to_the_exact_server_name() {
    let trust = PolicyRule::for_trusted_server("a*");
    assert!(trust.is_trust_rule_for("a*"), "a star in a name is a literal");
    assert!(!trust.is_trust_rule_for("ab") && !trust.is_trust_rule_for("a"), "the name is not a pattern");
    let allows = PolicyRule { trusted_server: false, ..PolicyRule::for_trusted_server("files") };
    assert!(!allows.is_trust_rule_for("files"), "a rule that allows is not a trust rule");
}

#[test]
fn restored_rules_leave_ids_for_new_rules() {
    let mut set = RuleSet::compile(RuleSource::User, vec![ask_rule()]).unwrap();
    for id in [0, 1, u64::MAX] {
        let restored = set.restore(PolicyRule { id, ..ask_rule() }).unwrap();
        let is_new = set.iter().filter(|own| own.id == restored).count() == 1;
        assert!(is_new && restored < 10, "{id} becomes {restored}");
    }
    assert_eq!(set.restore(PolicyRule { id: 7, ..ask_rule() }).unwrap(), 7);
    assert_eq!(set.add(ask_rule()).unwrap(), 8, "the next rule has the next number");
    let mut full = RuleSet::compile(RuleSource::User, vec![ask_rule(); RuleSet::MAX_RULES]).unwrap();
    let more = full.restore(PolicyRule { id: 1_000_000, ..ask_rule() }).unwrap_err();
    assert_eq!(more.error, RuleError::TooMany);
}
