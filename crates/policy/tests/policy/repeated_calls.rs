//! Tests of calls with which the user repeats an approved call.

use policy::{
    ApprovalScope, DecisionReason, DecisionSource, Grant, GrantId, GrantSubject, Grants, Hash, Policy, PolicyDecision,
    PolicyFile, Preset, ReviewState, RuleEffect,
};
use serde_json::json;

use crate::support::{TestCall, policy_file, policy_with_rules, rule};

/// Decides about a repeated call, and checks that the decision about an ordinary call requires consent.
fn decide_repetition_of_call_requiring_consent(policy: &Policy, call: &TestCall) -> PolicyDecision {
    let ordinary = call.with_act(|act| policy.decide(&act, 0));
    assert!(matches!(ordinary, PolicyDecision::Ask { .. }), "an ordinary call requires consent: {ordinary:?}");
    call.with_act(|act| policy.decide_repeated_call(&act, 0))
}

fn decision_reason(decision: PolicyDecision) -> Option<DecisionReason> {
    match decision {
        PolicyDecision::Ask { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn repeated_call_is_allowed_where_a_call_requires_consent_by_default() {
    let policy = policy_with_rules(&[], &[]);
    let decision = decide_repetition_of_call_requiring_consent(&policy, &TestCall::default());
    assert_eq!(decision, PolicyDecision::Allow { by: DecisionSource::RepeatedApproval });
}

#[test]
fn repetition_of_unreviewed_or_always_asking_call_requires_consent() {
    let policy = policy_with_rules(&[], &[]);
    for (what, call) in [
        ("a new definition", TestCall { review_state: ReviewState::New, ..TestCall::default() }),
        ("a changed definition", TestCall { review_state: ReviewState::Changed, ..TestCall::default() }),
        ("a tool that asks each time", TestCall { asks_each_time: true, ..TestCall::default() }),
        ("untrusted content", TestCall { after_untrusted: true, ..TestCall::default() }),
    ] {
        let decision = decide_repetition_of_call_requiring_consent(&policy, &call);
        assert!(decision_reason(decision).is_some(), "{what} requires consent: {decision:?}");
    }
}

#[test]
fn rules_and_presets_take_precedence_over_a_repeated_approval() {
    let call = TestCall::default();
    let asks = policy_with_rules(&[], &[rule(RuleEffect::Ask, "server", None)]);
    assert_eq!(
        decision_reason(decide_repetition_of_call_requiring_consent(&asks, &call)),
        Some(DecisionReason::RuleAsks),
        "a rule asks"
    );
    let managed_asks = policy_with_rules(&[rule(RuleEffect::Ask, "server", None)], &[]);
    assert_eq!(
        decision_reason(decide_repetition_of_call_requiring_consent(&managed_asks, &call)),
        Some(DecisionReason::RuleAsks),
        "a managed rule asks"
    );
    let mut careful = policy_with_rules(&[], &[]);
    careful.set_user_rules(PolicyFile { preset: Preset::Careful, ..policy_file(Vec::new()) }).unwrap();
    assert_eq!(
        decision_reason(decide_repetition_of_call_requiring_consent(&careful, &call)),
        Some(DecisionReason::PresetAsks),
        "the preset asks"
    );
    let mut unusable = policy_with_rules(&[], &[]);
    unusable.mark_user_rules_unusable();
    assert_eq!(
        decision_reason(decide_repetition_of_call_requiring_consent(&unusable, &call)),
        Some(DecisionReason::PolicyUnusable),
        "the file is unusable"
    );
    let denies = policy_with_rules(&[], &[rule(RuleEffect::Deny, "server", None)]);
    let decision = call.with_act(|act| denies.decide_repeated_call(&act, 0));
    assert!(
        matches!(decision, PolicyDecision::Deny { reason: DecisionReason::RuleDenies, by: DecisionSource::Rule(_) }),
        "a rule denies: {decision:?}"
    );
    let allows = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None)]);
    let decision = call.with_act(|act| allows.decide_repeated_call(&act, 0));
    assert!(
        matches!(decision, PolicyDecision::Allow { by: DecisionSource::Rule(_) }),
        "the decision names the rule that allows: {decision:?}"
    );
}

#[test]
fn repeated_call_requires_consent_if_a_grant_is_for_another_definition() {
    let mut grants = Grants::default();
    let grant = Grant {
        id: GrantId::default(),
        server: "server".to_owned(),
        subject: GrantSubject::Tool("tool".to_owned()),
        rests_on: Hash::of_json(&json!("an earlier definition")),
        scope: ApprovalScope::Always,
        conversation: None,
        since: 0,
        expires_at: None,
        words: String::new(),
        last_use: None,
    };
    grants.add(grant).unwrap();
    let decision = decide_repetition_of_call_requiring_consent(&Policy::new(grants), &TestCall::default());
    assert_eq!(decision_reason(decision), Some(DecisionReason::ToolChanged));
}

#[test]
fn repeated_approval_has_a_stable_name() {
    assert_eq!(DecisionSource::RepeatedApproval.text(), "repeated approval");
    assert_eq!(DecisionSource::RepeatedApproval.to_string(), "repeated approval");
}
