//! Inputs of the policy other than rules: presets, mutes, unreadable files, and the stable names of causes.

use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, DecisionReason, DecisionSource, Grant, GrantId, GrantSubject, Hash,
    Policy, PolicyAct, PolicyDecision, PolicyFile, PolicyRule, Preset, ReviewState, RuleDirection, RuleEffect, RuleFit,
    RuleRef, RuleSource, StricterReason,
};
use serde_json::{Value, json};

use crate::support::{TestCall, decision_effect, policy_file, policy_with_rules, rule};

fn decide(policy: &Policy, call: &TestCall) -> RuleEffect {
    decision_effect(call.with_act(|act| policy.decide(&act, 0)))
}

#[test]
fn unreadable_policy_file_makes_every_act_ask_and_keeps_denials() {
    let rules = [rule(RuleEffect::Allow, "server", None), rule(RuleEffect::Deny, "server", Some("drop"))];
    let calls = [TestCall::default(), TestCall { tool: "drop".to_owned(), ..TestCall::default() }];
    for (unusable, cause) in [
        (Policy::mark_managed_rules_unusable as fn(&mut Policy), DecisionReason::ManagedUnusable),
        (Policy::mark_user_rules_unusable as fn(&mut Policy), DecisionReason::PolicyUnusable),
    ] {
        let mut policy = policy_with_rules(&rules, &rules);
        assert_eq!(calls.each_ref().map(|call| decide(&policy, call)), [RuleEffect::Allow, RuleEffect::Deny], "before");
        unusable(&mut policy);
        assert_eq!(
            calls.each_ref().map(|call| decide(&policy, call)),
            [RuleEffect::Ask, RuleEffect::Deny],
            "{cause:?}"
        );
        let decided = calls[0].with_act(|act| policy.decide(&act, 0));
        assert!(
            matches!(decided, PolicyDecision::Ask { reason, .. } if reason == cause),
            "{decided:?} names the cause"
        );
    }
}

#[test]
fn stricter_preset_of_managed_and_user_policy_applies() {
    let (balanced, careful) = (Preset::Balanced, Preset::Careful);
    for (managed, user, expected) in
        [(balanced, balanced, balanced), (careful, balanced, careful), (balanced, careful, careful)]
    {
        let mut policy = policy_with_rules(&[], &[]);
        policy.set_managed_rules(PolicyFile { preset: managed, ..policy_file(Vec::new()) }).unwrap();
        policy.set_user_rules(PolicyFile { preset: user, ..policy_file(Vec::new()) }).unwrap();
        assert_eq!(policy.effective_preset(), expected, "{managed:?} and {user:?}");
        let own = [policy.preset_from(RuleSource::Managed), policy.preset_from(RuleSource::User)];
        assert_eq!(own, [managed, user], "each file's preset is still reported");
    }
}

#[test]
fn any_arguments_are_allowed_only_without_conditions_on_arguments() {
    let allows_any = |rules: &[PolicyRule]| {
        let policy = policy_with_rules(&[], rules);
        TestCall::default().with_act(|act| policy.allows_any_arguments(&act, 0))
    };
    let with_condition = |effect| PolicyRule {
        arguments: vec![ArgumentRule { at: "/path".to_owned(), is: ArgumentPattern::Glob("/home/*".to_owned()) }],
        ..rule(effect, "server", Some("tool"))
    };
    let allow = rule(RuleEffect::Allow, "server", Some("tool"));
    assert!(!allows_any(&[]), "a call without rules asks");
    assert!(allows_any(std::slice::from_ref(&allow)), "a rule without conditions allows all arguments");
    assert!(!allows_any(&[with_condition(RuleEffect::Allow)]), "a conditional rule allows some arguments only");
    for stricter in [RuleEffect::Ask, RuleEffect::Deny] {
        let rules = [allow.clone(), with_condition(stricter)];
        assert!(!allows_any(&rules), "{stricter:?} may apply to other arguments");
        let other_tool = PolicyRule { tool: Some("other".to_owned()), ..with_condition(stricter) };
        assert!(allows_any(&[allow.clone(), other_tool]), "{stricter:?} is about another tool");
    }
}

#[test]
fn removed_server_leaves_no_trust_to_another_of_its_name() {
    let deny_npx = PolicyRule {
        identity: Some("npx *".to_owned()),
        direction: RuleDirection::Both,
        ..rule(RuleEffect::Deny, "*", None)
    };
    let mut policy = policy_with_rules(&[], &[deny_npx]);
    for server in ["old", "other"] {
        policy.set_server_identity(server, vec!["uvx files".to_owned()]);
        policy.mute_server(server);
        policy.trust_until_quit(server).unwrap();
        let grant = Grant {
            id: GrantId::default(),
            server: server.to_owned(),
            subject: GrantSubject::Command,
            rests_on: Hash::of_json(&json!("uvx files")),
            scope: ApprovalScope::Always,
            conversation: None,
            since: 0,
            expires_at: None,
            words: String::new(),
            last_use: None,
        };
        policy.grants_mut().add(grant).unwrap();
    }
    policy.forget_server("old");
    let command = Hash::of_json(&json!("uvx files"));
    let start = |server| decision_effect(policy.decide(&PolicyAct::StartServer { server, command: &command }, 0));
    let effects_for = |server| {
        let has_grant = policy.grants().find(server, &GrantSubject::Command).is_some();
        (policy.is_muted(server), policy.is_trusted_until_quit(server), has_grant, start(server))
    };
    // A rule on identities applies to a server whose identity is unknown.
    assert_eq!(effects_for("old"), (false, false, false, RuleEffect::Deny), "the removed server");
    assert_eq!(effects_for("other"), (true, true, true, RuleEffect::Allow), "the other server is unchanged");
}

#[test]
fn decision_reasons_have_stable_names() {
    let by_rule = |source| DecisionSource::Rule(RuleRef { source, id: 3 });
    for (by, name) in [
        (DecisionSource::BuiltIn, "built-in"),
        (DecisionSource::Grant(GrantId(12)), "grant 12"),
        (by_rule(RuleSource::User), "rule 3"),
        (by_rule(RuleSource::Managed), "managed rule 3"),
        (by_rule(RuleSource::Session), "session rule 3"),
        (DecisionSource::Preset, "preset"),
        (DecisionSource::ManagedPreset, "managed preset"),
    ] {
        assert_eq!((by.text().as_ref(), by.to_string().as_str()), (name, name), "{by:?}");
    }
    let policy =
        policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None), rule(RuleEffect::Deny, "other", None)]);
    let explained =
        TestCall { review_state: ReviewState::New, ..TestCall::default() }.with_act(|act| policy.explain(&act, 0));
    let PolicyDecision::Ask { reason, .. } = explained.decision else { panic!("a new tool asks: {explained:?}") };
    let fits: Vec<&str> = explained.considered.iter().map(|one| one.fit.name()).collect();
    assert_eq!(
        (reason.name(), fits.contains(&"not-reviewed"), fits.contains(&"other-server")),
        ("new-tool", true, true)
    );
}

#[test]
fn each_kind_of_condition_round_trips() {
    let kinds = [
        json!({ "at": "/p", "glob": "/a/*" }),
        json!({ "at": "/p", "regex": "^a" }),
        json!({ "at": "/p", "folder": "/a" }),
        json!({ "at": "/p", "path": "/a/*" }),
        json!({ "at": "/p", "url": "https://a.x" }),
        json!({ "at": "/p", "number": "1..10" }),
    ];
    let read = |arguments: &[Value]| {
        let text = json!({ "version": 1, "rules": [{ "effect": "deny", "arguments": arguments }] });
        serde_json::from_value::<PolicyFile>(text).unwrap()
    };
    let file = read(&kinds);
    assert_eq!(file.rules[0].server, "*", "a rule that names no server is about all of them");
    let written = serde_json::to_value(&file).unwrap();
    assert_eq!(written["rules"][0]["arguments"], json!(kinds), "all kinds");
}

#[test]
fn always_asking_tool_asks_despite_rules_grants_and_trust() {
    let call = TestCall { asks_each_time: true, ..TestCall::default() };
    let granted = |careful: bool| {
        let mut grants = policy::Grants::default();
        grants
            .add(Grant {
                id: GrantId::default(),
                server: "server".to_owned(),
                subject: GrantSubject::Tool("tool".to_owned()),
                rests_on: Hash::of_json(&json!("v1")),
                scope: ApprovalScope::Always,
                conversation: None,
                since: 0,
                expires_at: None,
                words: String::new(),
                last_use: None,
            })
            .unwrap();
        let mut policy = Policy::new(grants);
        let preset = if careful { Preset::Careful } else { Preset::Balanced };
        policy.set_user_rules(PolicyFile { preset, ..policy_file(Vec::new()) }).unwrap();
        policy
    };
    let trusted = || {
        let mut policy = Policy::new(policy::Grants::default());
        policy.trust_until_quit("server").unwrap();
        policy
    };
    let after = PolicyRule { after_untrusted: true, ..rule(RuleEffect::Allow, "*", None) };
    let (allow, ask) = (rule(RuleEffect::Allow, "server", Some("tool")), rule(RuleEffect::Ask, "server", None));
    let own = DecisionReason::ToolAsksEachTime;
    let cases = [
        ("nothing", policy_with_rules(&[], &[]), own),
        ("a grant", granted(false), own),
        ("a grant under the careful preset", granted(true), own),
        ("trust in the server", trusted(), own),
        ("a rule", policy_with_rules(&[], std::slice::from_ref(&allow)), own),
        ("a system-wide rule", policy_with_rules(std::slice::from_ref(&allow), &[]), own),
        ("a rule that holds after untrusted content", policy_with_rules(&[], &[after]), own),
        ("a rule that asks", policy_with_rules(&[], &[allow, ask]), DecisionReason::RuleAsks),
    ];
    for (what, policy, expected) in cases {
        let decided = call.with_act(|act| policy.decide(&act, 0));
        let PolicyDecision::Ask { reason, scopes, .. } = decided else { panic!("{what}: it asks: {decided:?}") };
        assert_eq!((reason, scopes), (expected, &[ApprovalScope::Once][..]), "{what}: only this call can be approved");
    }
    let denying = policy_with_rules(&[], &[rule(RuleEffect::Deny, "server", None)]);
    assert_eq!(decide(&denying, &call), RuleEffect::Deny, "a rule that denies still denies");
}

#[test]
fn always_asking_tool_keeps_a_more_specific_reason() {
    let policy = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None)]);
    let cases = [
        (TestCall { review_state: ReviewState::New, ..TestCall::default() }, DecisionReason::NewTool),
        (TestCall { review_state: ReviewState::Changed, ..TestCall::default() }, DecisionReason::ToolChanged),
        (TestCall { after_untrusted: true, ..TestCall::default() }, DecisionReason::AfterUntrusted),
    ];
    for (call, expected) in cases {
        let call = TestCall { asks_each_time: true, ..call };
        let decided = call.with_act(|act| policy.decide(&act, 0));
        let PolicyDecision::Ask { reason, scopes, .. } = decided else { panic!("it asks: {decided:?}") };
        assert_eq!((reason, scopes), (expected, &[ApprovalScope::Once][..]), "{call:?}");
    }
}

#[test]
fn explanation_states_that_the_tool_always_asks() {
    let policy = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None)]);
    let call = TestCall { asks_each_time: true, ..TestCall::default() };
    let explained = call.with_act(|act| policy.explain(&act, 0));
    let fits: Vec<_> = explained.considered.iter().map(|one| one.fit).collect();
    assert_eq!(fits, [RuleFit::AsksEachTime], "the rule that allows has no effect");
    assert_eq!(RuleFit::AsksEachTime.name(), "asks-each-time", "the text must be a stable name");
    assert_eq!(DecisionReason::ToolAsksEachTime.name(), "tool-asks-each-time", "the text must be a stable name");
    assert_eq!(
        DecisionReason::ToolAsksEachTime.to_stricter_reason(),
        Some(StricterReason::EachTime),
        "it overrides the rule"
    );
    assert_eq!(
        DecisionReason::AppToolsAsk.to_stricter_reason(),
        Some(StricterReason::EachTime),
        "no rule allows tools of apps"
    );
    assert_eq!(DecisionReason::ToolsAsk.to_stricter_reason(), None, "a rule can allow what no rule allows yet");
}
