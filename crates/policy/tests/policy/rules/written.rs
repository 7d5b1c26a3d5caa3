//! Tests of rules as written: validation, matching, and decisions.

use crate::support::{TestCall, decision_effect, policy_file, policy_with_rules, rule};
use policy::{
    ApprovalScope, ArgumentPattern, ArgumentRule, ClaimRule, DecisionReason, DecisionSource, Grants, Hash, Policy,
    PolicyAct, PolicyDecision, PolicyFile, PolicyRule, Preset, ReviewState, RuleDirection, RuleEffect, RuleError,
    RuleFit, RuleRef, RuleScope, RuleSet, RuleSource, SamplingUse, ToolClaims, escape_glob,
};
use serde_json::{Value, json};

pub(crate) fn rule_problem(rule: PolicyRule) -> Option<RuleError> {
    RuleSet::compile(RuleSource::User, vec![rule]).err().map(|problem| problem.error)
}

#[test]
fn invalid_rules_are_rejected() {
    let claims = ClaimRule { read_only_hint: Some(true), ..ClaimRule::default() };
    let allow = || rule(RuleEffect::Allow, "s", None);
    let ask = || rule(RuleEffect::Ask, "s", None);
    let argument = |at: &str, is| vec![ArgumentRule { at: at.to_owned(), is }];
    let bad = [
        ("annotations never allow", PolicyRule { annotations: Some(claims), ..allow() }),
        ("what a server asks for is never allowed", PolicyRule { direction: RuleDirection::FromServer, ..allow() }),
        ("nor with all else", PolicyRule { direction: RuleDirection::Both, ..allow() }),
        ("a form has no tool", PolicyRule { direction: RuleDirection::FromServer, tool: Some("t".into()), ..ask() }),
        ("no server", PolicyRule { server: String::new(), ..ask() }),
        ("no tool", PolicyRule { tool: Some(String::new()), ..ask() }),
        ("trust in several servers", PolicyRule { trusted_server: true, server: "*".into(), ..allow() }),
        ("trust that asks", PolicyRule { trusted_server: true, ..ask() }),
        (
            "a pointer without its slash",
            PolicyRule { arguments: argument("path", ArgumentPattern::Glob("x".into())), ..ask() },
        ),
        ("allowing by what a server is", PolicyRule { identity: Some("npx *".into()), ..allow() }),
        ("no identity", PolicyRule { identity: Some(String::new()), ..ask() }),
        ("asking after others' words only", PolicyRule { after_untrusted: true, ..ask() }),
        (
            "an expression that fits all",
            PolicyRule { arguments: argument("/p", ArgumentPattern::Regex(String::new())), ..ask() },
        ),
        (
            "a Windows path with single backslashes",
            PolicyRule { arguments: argument("/p", ArgumentPattern::Glob(r"C:\secret\*".into())), ..ask() },
        ),
        ("half an expression", PolicyRule { arguments: argument("/p", ArgumentPattern::Regex("(".into())), ..ask() }),
        ("a relative folder", PolicyRule { arguments: argument("/p", ArgumentPattern::Folder("x".into())), ..ask() }),
        ("a date beyond all calendars", PolicyRule { expires_at: Some(u64::MAX), ..ask() }),
        ("a long note", PolicyRule { note: "x".repeat(1_001), ..ask() }),
    ];
    for (what, rule) in bad {
        assert!(rule_problem(rule).is_some(), "{what}: must be invalid");
    }
    assert_eq!(rule_problem(PolicyRule { annotations: Some(claims), ..ask() }), None, "annotations may make it ask");
    let many = vec![ask(); RuleSet::MAX_RULES + 1];
    assert_eq!(
        RuleSet::compile(RuleSource::User, many).unwrap_err().error,
        RuleError::TooMany,
        "the number of rules is limited"
    );
    let twice = vec![PolicyRule { id: 3, ..ask() }, PolicyRule { id: 3, ..ask() }];
    assert_eq!(
        RuleSet::compile(RuleSource::User, twice).unwrap_err().error,
        RuleError::SameId(3),
        "identifiers are unique"
    );
}

#[test]
fn rule_matches_its_conditions() {
    let call = TestCall {
        arguments: json!({"path": "/home/ann/x", "to": ["a@b.org", "c@d.org"], "n": 3}),
        ..TestCall::default()
    };
    let at = |at: &str, is| vec![ArgumentRule { at: at.to_owned(), is }];
    let glob = |text: &str| ArgumentPattern::Glob(text.to_owned());
    let ask = || rule(RuleEffect::Ask, "server", None);
    let cases: Vec<(PolicyRule, RuleFit)> = vec![
        (ask(), RuleFit::Fits),
        (rule(RuleEffect::Ask, "serv*", Some("to?l")), RuleFit::Fits),
        (rule(RuleEffect::Ask, "other", None), RuleFit::OtherServer),
        (rule(RuleEffect::Ask, "server", Some("tool2")), RuleFit::OtherTool),
        (PolicyRule { direction: RuleDirection::FromServer, ..ask() }, RuleFit::OtherKindOfAct),
        (PolicyRule { direction: RuleDirection::Both, ..ask() }, RuleFit::Fits),
        (PolicyRule { expires_at: Some(1_000), ..ask() }, RuleFit::Expired),
        (PolicyRule { expires_at: Some(1_001), ..ask() }, RuleFit::Fits),
        (
            PolicyRule { scope: RuleScope::Conversation { conversation: "c2".into() }, ..ask() },
            RuleFit::OtherConversation,
        ),
        (PolicyRule { scope: RuleScope::Conversation { conversation: "c1".into() }, ..ask() }, RuleFit::Fits),
        (PolicyRule { arguments: at("/path", ArgumentPattern::Folder("/home/ann".into())), ..ask() }, RuleFit::Fits),
        (
            PolicyRule { arguments: at("/path", ArgumentPattern::Folder("/etc".into())), ..ask() },
            RuleFit::OtherArgument(0),
        ),
        (PolicyRule { arguments: at("/to", glob("*@d.org")), ..ask() }, RuleFit::Fits),
        (PolicyRule { arguments: at("/to/0", glob("*@d.org")), ..ask() }, RuleFit::OtherArgument(0)),
        (PolicyRule { arguments: at("/n", glob("3")), ..ask() }, RuleFit::Fits),
        (PolicyRule { arguments: at("/missing", glob("*")), ..ask() }, RuleFit::OtherArgument(0)),
        (
            PolicyRule { arguments: at("/path", ArgumentPattern::Regex("^/home/[a-z]+/".into())), ..ask() },
            RuleFit::Fits,
        ),
        (
            PolicyRule {
                annotations: Some(ClaimRule { destructive_hint: Some(false), ..ClaimRule::default() }),
                ..ask()
            },
            RuleFit::OtherAnnotations,
        ),
    ];
    for (rule, expected) in cases {
        let policy = policy_with_rules(&[], std::slice::from_ref(&rule));
        let in_session = rule.scope != RuleScope::Always;
        let policy = if in_session { policy_with_session_rule(rule.clone()) } else { policy };
        let explained = call.with_act(|act| policy.explain(&act, 1_000));
        assert_eq!(explained.considered.len(), 1, "one rule was considered");
        assert_eq!(explained.considered[0].fit, expected, "{rule:?}");
    }
}

fn policy_with_session_rule(rule: PolicyRule) -> Policy {
    let mut policy = Policy::new(Grants::default());
    policy.rules_until_quit_mut().add(rule).unwrap();
    policy
}

#[test]
fn unresolvable_value_only_makes_a_decision_stricter() {
    let folder = |effect, folder: &str| PolicyRule {
        arguments: vec![ArgumentRule { at: "/path".into(), is: ArgumentPattern::Folder(folder.into()) }],
        ..rule(effect, "server", None)
    };
    let decide = |rule: PolicyRule, path: Value| {
        let call = TestCall { arguments: json!({ "path": path }), ..TestCall::default() };
        decision_effect(call.with_act(|act| policy_with_rules(&[], std::slice::from_ref(&rule)).decide(&act, 0)))
    };
    let doubtful = [
        json!("/home/ann/../../etc/passwd"),
        json!("notes.txt"),
        json!("file:///etc/passwd"),
        json!({"deep": true}),
        json!(["/home/ann/x", "/etc/x"]),
        json!("/home/ANN/x"),
        json!(format!("/home/ann/{}", "x".repeat(70_000))),
    ];
    for path in doubtful {
        let words: String = path.to_string().chars().take(60).collect();
        assert_eq!(
            decide(folder(RuleEffect::Allow, "/home/ann"), path.clone()),
            RuleEffect::Ask,
            "{words} is not allowed"
        );
        assert_eq!(decide(folder(RuleEffect::Deny, "/home/ann"), path), RuleEffect::Deny, "{words} is denied");
    }
    assert_eq!(
        decide(folder(RuleEffect::Allow, "/home/ann"), json!("/home/ann/x")),
        RuleEffect::Allow,
        "a path in the folder must be allowed"
    );
    assert_eq!(
        decide(folder(RuleEffect::Deny, "/home/ann"), json!("/etc/x")),
        RuleEffect::Ask,
        "a path elsewhere must not be denied"
    );
}

#[test]
fn condition_cannot_be_bypassed_by_another_json_shape() {
    let with = |effect, at: &str, is| PolicyRule {
        arguments: vec![ArgumentRule { at: at.into(), is }],
        ..rule(effect, "server", None)
    };
    let decide = |rule: PolicyRule, arguments: Value| {
        let call = TestCall { arguments, ..TestCall::default() };
        decision_effect(call.with_act(|act| policy_with_rules(&[], std::slice::from_ref(&rule)).decide(&act, 0)))
    };
    let glob = |text: &str| ArgumentPattern::Glob(text.into());
    let allow = |is| with(RuleEffect::Allow, "/path", is);
    let deny = |at: &str, is| with(RuleEffect::Deny, at, is);
    let cases = [
        ("a path in it", allow(glob("/safe/*")), json!({"path": "/safe/a"}), RuleEffect::Allow),
        ("one that climbs out", allow(glob("/safe/*")), json!({"path": "/safe/../etc/passwd"}), RuleEffect::Ask),
        ("the same of Windows", allow(glob("*.md")), json!({"path": r"a\..\b.md"}), RuleEffect::Ask),
        ("one of several", allow(glob("/safe/*")), json!({"path": ["/safe/a", "/safe/../b"]}), RuleEffect::Ask),
        (
            "an expression",
            allow(ArgumentPattern::Regex("/safe/".into())),
            json!({"path": "/etc/x#/safe/"}),
            RuleEffect::Ask,
        ),
        ("all of it", allow(ArgumentPattern::Regex("/safe/.*".into())), json!({"path": "/safe/a"}), RuleEffect::Allow),
        ("into it", deny("/path", glob("/secret/*")), json!({"path": "/safe/../secret/a"}), RuleEffect::Deny),
        ("words with dots", deny("/path", glob("*secret*")), json!({"path": "wait .. what"}), RuleEffect::Ask),
        (
            "a list on the way",
            deny("/files/path", glob("/etc/*")),
            json!({"files": [{"path": "/etc/x"}]}),
            RuleEffect::Deny,
        ),
        ("JSON in a text", deny("/o/path", glob("/etc/*")), json!({"o": "{\"path\":\"/etc/x\"}"}), RuleEffect::Deny),
        ("not there", deny("/o/path", glob("/etc/*")), json!({"o": {"other": 1}}), RuleEffect::Ask),
        ("a number", deny("/n", glob("1000")), json!({"n": 1000.0}), RuleEffect::Deny),
        ("another number", deny("/n", glob("1000")), json!({"n": 1001}), RuleEffect::Ask),
    ];
    for (what, rule, arguments, expected) in cases {
        assert_eq!(decide(rule, arguments), expected, "{what}");
    }
}

#[test]
fn allowed_tool_asks_if_unreviewed_or_after_untrusted_content() {
    let policy = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None)]);
    let decide = |call: &TestCall| call.with_act(|act| policy.decide(&act, 0));
    let by = DecisionSource::Rule(RuleRef { source: RuleSource::User, id: 1 });
    assert_eq!(decide(&TestCall::default()), PolicyDecision::Allow { by }, "a rule allows what was reviewed");
    let new = decide(&TestCall { review_state: ReviewState::New, ..TestCall::default() });
    assert!(matches!(new, PolicyDecision::Ask { reason: DecisionReason::NewTool, .. }), "a new tool asks: {new:?}");
    let changed = decide(&TestCall { review_state: ReviewState::Changed, ..TestCall::default() });
    assert!(
        matches!(changed, PolicyDecision::Ask { reason: DecisionReason::ToolChanged, .. }),
        "a changed tool asks: {changed:?}"
    );
    let after = decide(&TestCall { after_untrusted: true, ..TestCall::default() });
    let once = matches!(
        after,
        PolicyDecision::Ask { reason: DecisionReason::AfterUntrusted, scopes: &[ApprovalScope::Once], .. }
    );
    assert!(once, "a call after another server's output asks each time: {after:?}");
    let claims = ToolClaims { read_only: true, open_world: false, ..ToolClaims::default() };
    let reads = decide(&TestCall { after_untrusted: true, claims, ..TestCall::default() });
    assert_eq!(decision_effect(reads), RuleEffect::Ask, "a read-only annotation doesn't loosen the decision");
    let even_then = PolicyRule { after_untrusted: true, ..rule(RuleEffect::Allow, "server", None) };
    let policy = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None), even_then]);
    let decided = TestCall { after_untrusted: true, ..TestCall::default() }.with_act(|act| policy.decide(&act, 0));
    let by = DecisionSource::Rule(RuleRef { source: RuleSource::User, id: 2 });
    assert_eq!(decided, PolicyDecision::Allow { by }, "a rule with `after_untrusted` allows the call");
    let nothing = policy_with_rules(&[], &[]);
    let decided = TestCall { after_untrusted: true, ..TestCall::default() }.with_act(|act| nothing.decide(&act, 0));
    let once = matches!(decided, PolicyDecision::Ask { scopes: &[ApprovalScope::Once], .. });
    assert!(once, "no lasting approval is offered after another server's output: {decided:?}");
}

#[test]
fn server_is_matched_by_its_identity_under_any_name() {
    let deny = PolicyRule {
        identity: Some("*evil-mcp*".into()),
        direction: RuleDirection::Both,
        ..rule(RuleEffect::Deny, "*", None)
    };
    let mut policy = policy_with_rules(&[deny], &[rule(RuleEffect::Allow, "*", None)]);
    let command = Hash::of_json(&json!("x"));
    let mut start = |server: &str, words: Option<&str>| {
        if let Some(words) = words {
            policy.set_server_identity(server, vec![words.to_owned(), "/usr/bin/npx".to_owned()]);
        }
        decision_effect(policy.decide(&PolicyAct::StartServer { server, command: &command }, 0))
    };
    assert_eq!(start("evil", Some("npx -y evil-mcp")), RuleEffect::Deny, "denied by its command line");
    assert_eq!(start("harmless", Some("npx -y evil-mcp@2")), RuleEffect::Deny, "denied under another name");
    assert_eq!(start("other", Some("npx -y good-mcp")), RuleEffect::Ask, "another server is not denied");
    assert_eq!(start("unknown", None), RuleEffect::Deny, "denied while the identity is unknown");
}

#[test]
fn careful_preset_asks_for_calls_and_requests_but_not_for_starts() {
    let mut policy = policy_with_rules(&[], &[rule(RuleEffect::Allow, "server", None)]);
    policy
        .set_user_rules(PolicyFile {
            preset: Preset::Careful,
            ..policy_file(vec![rule(RuleEffect::Allow, "server", None)])
        })
        .unwrap();
    let decided = TestCall::default().with_act(|act| policy.decide(&act, 0));
    let expected = PolicyDecision::Ask {
        reason: DecisionReason::PresetAsks,
        by: DecisionSource::Preset,
        scopes: &[ApprovalScope::Once],
    };
    assert_eq!(decided, expected, "an allowed call asks");
    let read = policy.decide(&PolicyAct::Read { needs_no_consent: true, server: "server", conversation: None }, 0);
    assert_eq!(read, expected, "reading must require consent as well");
    let command = Hash::of_json(&json!("x"));
    let start = policy.decide(&PolicyAct::StartServer { server: "server", command: &command }, 0);
    assert!(
        matches!(start, PolicyDecision::Ask { scopes: [ApprovalScope::Once, ApprovalScope::Always], .. }),
        "a start can be approved"
    );
}

#[test]
fn unsolicited_resource_reads_by_mcp_apps_always_ask() {
    let mut policy = policy_with_rules(&[], &[]);
    let read = |needs_no_consent| PolicyAct::Read { needs_no_consent, server: "server", conversation: None };
    assert_eq!(policy.decide(&read(true), 0), PolicyDecision::Allow { by: DecisionSource::BuiltIn });
    policy.set_user_rules(policy_file(vec![rule(RuleEffect::Allow, "server", None)])).unwrap();
    let decision = policy.decide(&read(false), 0);
    assert!(
        matches!(
            decision,
            PolicyDecision::Ask { reason: DecisionReason::AppReadsAsk, scopes: [ApprovalScope::Once], .. }
        ),
        "a rule that allows tools should not allow the read: {decision:?}"
    );
    policy.set_user_rules(policy_file(vec![rule(RuleEffect::Deny, "server", None)])).unwrap();
    assert!(matches!(policy.decide(&read(false), 0), PolicyDecision::Deny { .. }));
}

#[test]
fn server_can_be_denied_completely() {
    let deny = PolicyRule { direction: RuleDirection::Both, ..rule(RuleEffect::Deny, "bad*", None) };
    let policy = policy_with_rules(&[deny], &[rule(RuleEffect::Allow, "*", None)]);
    let (command, server) = (Hash::of_json(&json!("x")), "bad-one");
    let acts = [
        PolicyAct::StartServer { server, command: &command },
        PolicyAct::ConnectServer { server, address: &command },
        PolicyAct::SignIn { server, steps_up: false },
        PolicyAct::Sample { server, would_use: SamplingUse::default() },
        PolicyAct::FillForm { server },
        PolicyAct::OpenUrl { server },
        PolicyAct::ShareRoots { server, decided: true },
        PolicyAct::Read { needs_no_consent: true, server, conversation: None },
    ];
    for act in acts {
        assert_eq!(decision_effect(policy.decide(&act, 0)), RuleEffect::Deny, "{act:?} is denied");
    }
}

#[test]
fn unusable_policy_file_makes_every_act_ask_and_keeps_denials() {
    let deny = rule(RuleEffect::Deny, "server", Some("drop"));
    let allow = rule(RuleEffect::Allow, "server", None);
    let broken = PolicyRule { server: String::new(), ..allow.clone() };
    for managed in [false, true] {
        let mut policy = policy_with_rules(&[], std::slice::from_ref(&allow));
        let set = |policy: &mut Policy, rules| {
            if managed {
                policy.set_managed_rules(policy_file(rules))
            } else {
                policy.set_user_rules(policy_file(rules))
            }
        };
        set(&mut policy, vec![deny.clone(), allow.clone()]).unwrap();
        assert_eq!(
            decision_effect(TestCall::default().with_act(|act| policy.decide(&act, 0))),
            RuleEffect::Allow,
            "the call is allowed"
        );
        assert!(set(&mut policy, vec![broken.clone()]).is_err(), "the file is refused");
        let decided = TestCall::default().with_act(|act| policy.decide(&act, 0));
        assert_eq!(decision_effect(decided), RuleEffect::Ask, "an unusable file makes everything ask");
        let reading =
            policy.decide(&PolicyAct::Read { needs_no_consent: true, server: "other", conversation: None }, 0);
        assert_eq!(decision_effect(reading), RuleEffect::Ask, "acts without a rule ask as well");
        let dropped = TestCall { tool: "drop".into(), ..TestCall::default() };
        assert_eq!(
            decision_effect(dropped.with_act(|act| policy.decide(&act, 0))),
            RuleEffect::Deny,
            "a previous denial still applies"
        );
        set(&mut policy, vec![allow.clone()]).unwrap();
        assert_eq!(
            decision_effect(TestCall::default().with_act(|act| policy.decide(&act, 0))),
            RuleEffect::Allow,
            "a repaired file takes effect"
        );
    }
}

#[test]
fn trust_for_the_run_covers_calls_of_reviewed_tools_only() {
    let mut policy = Policy::new(Grants::default());
    policy.trust_until_quit("a*b").unwrap();
    policy.trust_until_quit("a*b").unwrap();
    assert_eq!(policy.rules(RuleSource::Session).count(), 1, "trusting twice adds one rule");
    let call = |server: &str| TestCall { server: server.to_owned(), ..TestCall::default() };
    let decide = |policy: &Policy, call: &TestCall| decision_effect(call.with_act(|act| policy.decide(&act, 0)));
    assert_eq!(decide(&policy, &call("a*b")), RuleEffect::Allow, "its calls are allowed");
    assert_eq!(decide(&policy, &call("axb")), RuleEffect::Ask, "the name is not a pattern");
    assert_eq!(
        decide(&policy, &TestCall { review_state: ReviewState::New, ..call("a*b") }),
        RuleEffect::Ask,
        "new tools ask"
    );
    let command = Hash::of_json(&json!("x"));
    for act in [
        PolicyAct::StartServer { server: "a*b", command: &command },
        PolicyAct::Sample { server: "a*b", would_use: SamplingUse::default() },
        PolicyAct::FillForm { server: "a*b" },
        PolicyAct::OpenUrl { server: "a*b" },
        PolicyAct::SignIn { server: "a*b", steps_up: true },
    ] {
        assert_eq!(decision_effect(policy.decide(&act, 0)), RuleEffect::Ask, "{act:?} still asks");
    }
    assert!(policy.revoke_trust_until_quit("a*b"), "trust can be ended");
    assert_eq!(decide(&policy, &call("a*b")), RuleEffect::Ask, "calls ask after the trust has ended");
}

#[test]
fn policy_file_is_parsed_strictly_and_round_trips() {
    let text = json!({
        "version": 1,
        "preset": "careful",
        "rules": [
            {
                "id": 1, "effect": "deny", "server": "files", "tool": "delete_*", "direction": "to_server",
                "arguments": [{ "at": "/path", "folder": "/etc" }, { "at": "/mode", "glob": "rm*" }],
                "annotations": { "destructiveHint": true },
                "expires_at": "2030-01-31T12:00:00Z", "note": "no system files"
            },
            { "id": 2, "effect": "allow", "server": "files", "direction": "to_server", "trusted_server": true }
        ]
    });
    let read: PolicyFile = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(read.rules[0].expires_at, Some(1_896_091_200_000), "dates are times");
    assert_eq!(serde_json::to_value(&read).unwrap(), text, "the file is written as it was read");
    let bad = [
        json!({ "rules": [] }),
        json!({ "version": 2 }),
        json!({ "version": 1, "rule": [] }),
        json!({ "version": 1, "preset": "open" }),
        json!({ "version": 1, "rules": [{ "effect": "allow", "sever": "x" }] }),
        json!({ "version": 1, "rules": [{ "effect": "maybe" }] }),
        json!({ "version": 1, "rules": [{ "effect": "deny", "expires_at": "soon" }] }),
        json!({ "version": 1, "rules": [{ "effect": "deny", "arguments": [{ "at": "/p" }] }] }),
        json!({ "version": 1, "rules": [{ "effect": "deny", "arguments": [{ "at": "/p", "glob": "a", "regex": "b" }] }] }),
        json!({ "version": 1, "rules": [{ "effect": "deny", "annotations": { "readOnly": true } }] }),
    ];
    for text in bad {
        assert!(serde_json::from_value::<PolicyFile>(text.clone()).is_err(), "{text} contains an unknown member");
    }
}

#[test]
fn escaped_glob_text_matches_literally() {
    assert_eq!(escape_glob("a*b?c\\"), "a\\*b\\?c\\\\", "wildcards are escaped");
}
