//! Property tests that hold for all rules and all acts.

use crate::support::{TestCall, decision_effect, policy_file, rule};
use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, ClaimRule, DecisionSource, Grant, GrantId, GrantSubject, Grants,
    Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, PolicyRule, Preset, ReviewState, RuleDirection, RuleEffect,
    RuleFit, SamplingBudget, SamplingUse, ToolClaims,
};
use proptest::prelude::*;
use serde_json::json;

fn any_claims() -> impl Strategy<Value = ToolClaims> {
    any::<(bool, bool, bool, bool)>().prop_map(|(read_only, destructive, idempotent, open_world)| ToolClaims {
        read_only,
        destructive,
        idempotent,
        open_world,
    })
}

fn any_call() -> impl Strategy<Value = TestCall> {
    let server = prop::sample::select(vec!["a", "ab", "b"]);
    let tool = prop::sample::select(vec!["read", "send", "send_all"]);
    let review_state = prop::sample::select(vec![ReviewState::Reviewed, ReviewState::New, ReviewState::Changed]);
    let path = prop::sample::select(vec!["/home/ann/x", "/etc/passwd", "x", "/home/ann/../x"]);
    let flags = (prop::bool::weighted(0.2), any::<bool>());
    (server, tool, review_state, any_claims(), path, flags).prop_map(
        |(server, tool, review_state, claims, path, (asks_each_time, after_untrusted))| TestCall {
            server: server.to_owned(),
            tool: tool.to_owned(),
            review_state,
            claims,
            asks_each_time,
            arguments: json!({ "path": path }),
            after_untrusted,
            ..TestCall::default()
        },
    )
}

fn any_condition() -> impl Strategy<Value = ArgumentRule> {
    prop::sample::select(vec![
        ArgumentPattern::Glob("/home/*".into()),
        ArgumentPattern::Regex("ann".into()),
        ArgumentPattern::Folder("/etc".into()),
        ArgumentPattern::Folder("/home/ann".into()),
    ])
    .prop_map(|is| ArgumentRule { at: "/path".into(), is })
}

fn any_claim_rule() -> impl Strategy<Value = ClaimRule> {
    any::<(Option<bool>, Option<bool>, Option<bool>)>().prop_map(
        |(read_only_hint, destructive_hint, open_world_hint)| ClaimRule {
            read_only_hint,
            destructive_hint,
            idempotent_hint: None,
            open_world_hint,
        },
    )
}

/// Generates a valid rule about tool calls.
fn any_rule() -> impl Strategy<Value = PolicyRule> {
    let effect = prop::sample::select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::Deny]);
    let server = prop::sample::select(vec!["a", "b", "a*", "*", "?b"]);
    let tool = prop::option::of(prop::sample::select(vec!["read", "send", "send*", "*"]));
    let direction = prop::sample::select(vec![RuleDirection::ToServer, RuleDirection::FromServer, RuleDirection::Both]);
    let identity = prop::option::weighted(0.2, prop::sample::select(vec!["npx *", "*evil*"]));
    let more = (
        direction,
        prop::option::of(any_claim_rule()),
        prop::option::of(any_condition()),
        identity,
        any::<(bool, bool)>(),
    );
    (effect, server, tool, more).prop_map(|(effect, server, tool, more)| {
        let (direction, annotations, condition, identity, (expires, after)) = more;
        let annotations = annotations.filter(|_| effect != RuleEffect::Allow);
        let is_of_tools = tool.is_some() || annotations.is_some() || condition.is_some();
        let is_narrow = is_of_tools || effect == RuleEffect::Allow;
        PolicyRule {
            direction: if is_narrow { RuleDirection::ToServer } else { direction },
            annotations,
            arguments: condition.into_iter().collect(),
            expires_at: expires.then_some(50),
            identity: identity.filter(|_| effect != RuleEffect::Allow).map(str::to_owned),
            after_untrusted: after && effect == RuleEffect::Allow,
            ..rule(effect, server, tool)
        }
    })
}

/// Generates a rule that allows sampling within a budget of two requests.
fn any_sampling_budget_rule() -> impl Strategy<Value = PolicyRule> {
    prop::sample::select(vec!["a", "*", "?b"]).prop_map(|server| PolicyRule {
        direction: RuleDirection::FromServer,
        sampling: Some(SamplingBudget { requests_per_hour: 2, tokens_per_hour: 1_000 }),
        ..rule(RuleEffect::Allow, server, None)
    })
}

fn any_rules() -> impl Strategy<Value = Vec<PolicyRule>> {
    prop::collection::vec(prop_oneof![8 => any_rule(), 1 => any_sampling_budget_rule()], 0..6)
}

/// All inputs of a decision: system-wide rules, user rules, presets and grants.
#[derive(Debug, Clone)]
struct PolicyInputs {
    managed: Vec<PolicyRule>,
    user: Vec<PolicyRule>,
    careful: (bool, bool),
    grants: Vec<(&'static str, &'static str, bool, Option<u64>)>,
}

fn any_inputs() -> impl Strategy<Value = PolicyInputs> {
    let grant = (
        prop::sample::select(vec!["a", "ab", "b"]),
        prop::sample::select(vec!["read", "send"]),
        any::<bool>(),
        prop::sample::select(vec![None, Some(50), Some(500)]),
    );
    let careful = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (any_rules(), any_rules(), careful, prop::collection::vec(grant, 0..4))
        .prop_map(|(managed, user, careful, grants)| PolicyInputs { managed, user, careful, grants })
}

const NOW: u64 = 100;

impl PolicyInputs {
    fn policy(&self) -> Policy {
        let mut grants = Grants::default();
        for (server, tool, is_same, expires_at) in &self.grants {
            let added = grants.add(Grant {
                id: GrantId::default(),
                server: (*server).to_owned(),
                subject: GrantSubject::Tool((*tool).to_owned()),
                rests_on: Hash::of_json(&json!(if *is_same { "v1" } else { "v0" })),
                scope: ApprovalScope::Always,
                conversation: None,
                since: 0,
                expires_at: *expires_at,
                words: String::new(),
                last_use: None,
            });
            added.unwrap();
        }
        let of = |rules: &[PolicyRule], careful: bool| PolicyFile {
            preset: if careful { Preset::Careful } else { Preset::Balanced },
            ..policy_file(rules.to_vec())
        };
        let mut policy = Policy::new(grants);
        policy.set_managed_rules(of(&self.managed, self.careful.0)).unwrap();
        policy.set_user_rules(of(&self.user, self.careful.1)).unwrap();
        policy
    }

    fn decide(&self, call: &TestCall) -> RuleEffect {
        let policy = self.policy();
        decision_effect(call.with_act(|act| policy.decide(&act, NOW)))
    }
}

/// Calls a closure with an act of each kind except a tool call.
fn for_each_act_except_tool_calls(server: &str, look: &mut dyn FnMut(&PolicyAct<'_>)) {
    let hash = Hash::of_json(&json!("v1"));
    look(&PolicyAct::StartServer { server, command: &hash });
    look(&PolicyAct::ConnectServer { server, address: &hash });
    look(&PolicyAct::Sample { server, would_use: SamplingUse { requests: 1, tokens: 1_000 } });
    look(&PolicyAct::Sample { server, would_use: SamplingUse { requests: 3, tokens: 10 } });
    look(&PolicyAct::FillForm { server });
    look(&PolicyAct::OpenUrl { server });
    look(&PolicyAct::ShareRoots { server, decided: true });
    look(&PolicyAct::ShareRoots { server, decided: false });
    look(&PolicyAct::SignIn { server, steps_up: true });
    look(&PolicyAct::Read { needs_no_consent: true, server, conversation: None });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn deny_beats_ask_and_ask_beats_allow(all in any_inputs(), call in any_call()) {
        let policy = all.policy();
        let explained = call.with_act(|act| policy.explain(&act, NOW));
        prop_assert_eq!(explained.decision, call.with_act(|act| policy.decide(&act, NOW)), "an explanation contains the actual decision");
        let strictest = explained.considered.iter().filter(|one| one.fit == RuleFit::Fits).map(|one| one.effect).max();
        let expected = strictest.unwrap_or(RuleEffect::Ask);
        prop_assert_eq!(decision_effect(explained.decision), expected, "the strictest rule that fits decides: {:?}", explained);
        if let Some(first) = explained.considered.first().filter(|one| one.fit == RuleFit::Fits) {
            prop_assert_eq!(first.effect, expected, "the deciding rule comes first");
        }
        if let PolicyDecision::Deny { by, .. } | PolicyDecision::Allow { by } = explained.decision {
            let named = explained.considered.iter().any(|one| one.by == by && one.fit == RuleFit::Fits);
            prop_assert!(named, "the named cause fits: {by}");
        }
    }

    #[test]
    fn managed_denials_and_asks_are_never_loosened(all in any_inputs(), call in any_call()) {
        let alone = PolicyInputs { user: Vec::new(), careful: (all.careful.0, false), grants: Vec::new(), ..all.clone() };
        // Without user rules and grants, every call requires at least consent. The lower bound is therefore the
        // strictest system-wide rule or preset that applies, not the decision.
        let policy = alone.policy();
        let managed = call.with_act(|act| policy.explain(&act, NOW));
        let fits = managed.considered.iter().filter(|one| one.fit == RuleFit::Fits);
        let floor = fits.map(|one| one.effect).max().unwrap_or(RuleEffect::Allow);
        prop_assert!(all.decide(&call) >= floor, "{:?} is the lower bound", floor);
    }

    #[test]
    fn tool_annotations_never_loosen_a_decision(all in any_inputs(), call in any_call(), other in any_claims()) {
        let without = |rules: &[PolicyRule]| rules.iter().filter(|rule| rule.annotations.is_none()).cloned().collect();
        let plain = PolicyInputs { managed: without(&all.managed), user: without(&all.user), ..all.clone() };
        prop_assert!(all.decide(&call) >= plain.decide(&call), "a rule on annotations only makes the decision stricter");
        let claiming = TestCall { claims: other, ..call.clone() };
        prop_assert_eq!(plain.decide(&call), plain.decide(&claiming), "annotations have no effect without such a rule");
    }

    #[test]
    fn added_deny_and_ask_rules_never_loosen_a_decision(
        all in any_inputs(),
        call in any_call(),
        added in any_rule().prop_filter("stricter", |rule| rule.effect != RuleEffect::Allow),
        managed in any::<bool>(),
    ) {
        let mut more = all.clone();
        if managed { more.managed.push(added) } else { more.user.push(added) }
        prop_assert!(more.decide(&call) >= all.decide(&call), "a rule that denies or asks can't allow more");
        let (before, after) = (all.policy(), more.policy());
        let mut held = true;
        for_each_act_except_tool_calls(&call.server, &mut |act| {
            held &= decision_effect(after.decide(act, NOW)) >= decision_effect(before.decide(act, NOW));
        });
        prop_assert!(held, "other acts are not loosened either");
    }

    #[test]
    fn rules_never_allow_starts_sign_ins_or_other_server_requests(all in any_inputs(), server in "a|b|ab") {
        let policy = all.policy();
        let mut allowed = Vec::new();
        for_each_act_except_tool_calls(&server, &mut |act| {
            let within = matches!(act, PolicyAct::Sample { would_use: SamplingUse { requests: 1, .. }, .. });
            if let PolicyDecision::Allow { by } = policy.decide(act, NOW) && by != DecisionSource::BuiltIn && !within {
                allowed.push(format!("{act:?}"));
            }
        });
        prop_assert!(allowed.is_empty(), "rules only allow calls, and sampling within a budget: {:?}", allowed);
    }

    #[test]
    fn always_asking_tool_is_never_loosened(all in any_inputs(), call in any_call()) {
        let policy = all.policy();
        let decide = |asks_each_time| {
            let call = TestCall { asks_each_time, ..call.clone() };
            call.with_act(|act| policy.decide(&act, NOW))
        };
        let (without, with) = (decide(false), decide(true));
        prop_assert_eq!(decision_effect(with), decision_effect(without).max(RuleEffect::Ask), "only an allowed call becomes stricter");
        match with {
            PolicyDecision::Ask { scopes, .. } => prop_assert_eq!(scopes, &[ApprovalScope::Once][..], "no approval is stored"),
            other => prop_assert_eq!(other, without, "a denial stays the same"),
        }
    }

    #[test]
    fn call_allowed_for_any_arguments_is_allowed_for_each(all in any_inputs(), call in any_call()) {
        let policy = all.policy();
        let of = |arguments: serde_json::Value| TestCall { arguments, ..call.clone() };
        let allows_any = |call: &TestCall| call.with_act(|act| policy.allows_any_arguments(&act, NOW));
        let paths = ["/home/ann/x", "/etc/passwd", "x", "/home/ann/../x"].map(|path| json!({ "path": path }));
        let calls = paths.into_iter().chain([json!({}), json!({ "path": 1 })]).map(of).collect::<Vec<_>>();
        let expected = allows_any(&call);
        for other in &calls {
            prop_assert_eq!(allows_any(other), expected, "the given arguments have no effect: {}", other.arguments);
            if expected {
                prop_assert_eq!(all.decide(other), RuleEffect::Allow, "allowed with {}", other.arguments);
            }
        }
        let has_conditions = all.managed.iter().chain(&all.user).any(|rule| !rule.arguments.is_empty());
        if !has_conditions {
            prop_assert_eq!(expected, all.decide(&call) == RuleEffect::Allow, "without conditions, both are equal");
        }
    }

    #[test]
    fn unreviewed_tool_is_never_allowed(all in any_inputs(), call in any_call()) {
        let call = TestCall { review_state: ReviewState::New, ..call };
        prop_assert!(all.decide(&call) > RuleEffect::Allow, "a new tool asks regardless of rules and grants");
    }
}
