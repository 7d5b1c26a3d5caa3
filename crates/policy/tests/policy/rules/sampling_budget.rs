//! Tests of rules that allow sampling within a budget.

use super::written::rule_problem;
use crate::support::{TestCall, decision_effect, policy_file, policy_with_rules, rule};
use policy::{
    Policy, PolicyAct, PolicyFile, PolicyRule, Preset, RuleDirection, RuleEffect, RuleFit, SamplingBudget, SamplingUse,
};

#[test]
fn sampling_is_allowed_within_a_budget_and_asks_beyond_it() {
    let budget = SamplingBudget { requests_per_hour: 10, tokens_per_hour: 5_000 };
    let allow = PolicyRule {
        direction: RuleDirection::FromServer,
        sampling: Some(budget),
        ..rule(RuleEffect::Allow, "s", None)
    };
    assert_eq!(
        rule_problem(allow.clone()),
        None,
        "[sampling-approval-controls]: the user can let a server ask a model"
    );
    let none = SamplingBudget { tokens_per_hour: 0, ..budget };
    for (what, bad) in [
        ("without a budget", PolicyRule { sampling: None, ..allow.clone() }),
        ("with an empty one", PolicyRule { sampling: Some(none), ..allow.clone() }),
        ("with all requests of the server", PolicyRule { direction: RuleDirection::Both, ..allow.clone() }),
        ("with calls", PolicyRule { direction: RuleDirection::ToServer, ..allow.clone() }),
        ("with a tool", PolicyRule { tool: Some("t".into()), ..allow.clone() }),
        ("with deny", PolicyRule { effect: RuleEffect::Deny, ..allow.clone() }),
        ("with ask", PolicyRule { effect: RuleEffect::Ask, ..allow.clone() }),
        ("as trust", PolicyRule { trusted_server: true, ..allow.clone() }),
    ] {
        assert!(rule_problem(bad).is_some(), "no rule allows sampling {what}");
    }
    let policy = policy_with_rules(&[], std::slice::from_ref(&allow));
    let sample = |server, requests, tokens| PolicyAct::Sample { server, would_use: SamplingUse { requests, tokens } };
    let decided = |policy: &Policy, act: &PolicyAct<'_>| decision_effect(policy.decide(act, 0));
    for (what, act, expected) in [
        ("within the budget", sample("s", 10, 5_000), RuleEffect::Allow),
        ("one request more", sample("s", 11, 10), RuleEffect::Ask),
        ("one token more", sample("s", 1, 5_001), RuleEffect::Ask),
        ("another server", sample("t", 1, 1), RuleEffect::Ask),
        ("a form", PolicyAct::FillForm { server: "s" }, RuleEffect::Ask),
        ("a page", PolicyAct::OpenUrl { server: "s" }, RuleEffect::Ask),
        ("folders", PolicyAct::ShareRoots { server: "s", decided: false }, RuleEffect::Ask),
    ] {
        assert_eq!(decided(&policy, &act), expected, "[sampling-rate-limit]: {what}");
    }
    let beyond = policy.explain(&sample("s", 11, 10), 0);
    assert_eq!(
        beyond.considered[0].fit,
        RuleFit::OverBudget,
        "[sampling-rate-limit]: the explanation says why it asks"
    );
    let call = TestCall { server: "s".to_owned(), ..TestCall::default() };
    assert_eq!(
        decision_effect(call.with_act(|act| policy.decide(&act, 0))),
        RuleEffect::Ask,
        "the rule doesn't allow calls"
    );
    let careful = PolicyFile { preset: Preset::Careful, ..policy_file(Vec::new()) };
    let mut policy = policy;
    policy.set_managed_rules(careful).unwrap();
    assert_eq!(
        decided(&policy, &sample("s", 1, 1)),
        RuleEffect::Ask,
        "[sampling-human-in-loop]: the careful preset asks"
    );
    policy.mute_server("s");
    assert_eq!(
        decided(&policy, &sample("s", 1, 1)),
        RuleEffect::Deny,
        "[sampling-human-in-loop]: a muted server is refused"
    );
}
