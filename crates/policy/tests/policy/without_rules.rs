//! Tests of decisions without rules.

use std::sync::LazyLock;

use policy::{
    ApprovalScope, DecisionReason, Grant, GrantId, GrantSubject, Grants, Hash, PartialHash, Policy, PolicyAct,
    PolicyDecision, ResolvedPaths, ReviewState, SamplingUse, ToolClaims, canonical_json, canonical_json_object,
};
use serde_json::{Map, Value, json};

static NO_ARGUMENTS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

fn text_hash(text: &str) -> Hash {
    Hash::of_json(&json!(text))
}

fn policy_with_grants(grants: &[(&str, GrantSubject, &str, ApprovalScope)]) -> Policy {
    let mut all = Grants::default();
    for (server, subject, rests_on, scope) in grants {
        all.add(grant(server, subject.clone(), rests_on, *scope)).unwrap();
    }
    Policy::new(all)
}

fn grant(server: &str, subject: GrantSubject, rests_on: &str, scope: ApprovalScope) -> Grant {
    Grant {
        id: GrantId::default(),
        server: server.to_owned(),
        subject,
        rests_on: text_hash(rests_on),
        scope,
        conversation: None,
        since: 0,
        expires_at: None,
        words: String::new(),
        last_use: None,
    }
}

fn tool_call<'a>(server: &'a str, tool: &'a str, grant_hash: &'a Hash) -> PolicyAct<'a> {
    PolicyAct::CallTool {
        server,
        tool,
        grant_hash,
        review_state: ReviewState::Reviewed,
        claims: ToolClaims::default(),
        asks_each_time: false,
        arguments: &NO_ARGUMENTS,
        paths: &ResolvedPaths::Elsewhere,
        after_untrusted: false,
        conversation: None,
    }
}

fn decision_reason(decision: PolicyDecision) -> Option<DecisionReason> {
    match decision {
        PolicyDecision::Ask { reason, .. } | PolicyDecision::Deny { reason, .. } => Some(reason),
        PolicyDecision::Allow { .. } => None,
    }
}

#[test]
fn each_act_has_its_decision_reason() {
    let none = policy_with_grants(&[]);
    let granted = policy_with_grants(&[
        ("files", GrantSubject::Command, "npx files", ApprovalScope::Always),
        ("files", GrantSubject::Tool("read".into()), "v1", ApprovalScope::Session),
    ]);
    let (npx, other, v1, v2) = (text_hash("npx files"), text_hash("npx files --all"), text_hash("v1"), text_hash("v2"));
    let start = |command| PolicyAct::StartServer { server: "files", command };
    let connect = |server, address| PolicyAct::ConnectServer { server, address };
    let cases: &[(&str, &Policy, PolicyAct<'_>, Option<DecisionReason>)] = &[
        ("a new command asks", &none, start(&npx), Some(DecisionReason::NewCommand)),
        ("the approved command starts", &granted, start(&npx), None),
        ("a changed argument asks again", &granted, start(&other), Some(DecisionReason::CommandChanged)),
        ("a new address asks", &none, connect("far", &v1), Some(DecisionReason::NewAddress)),
        ("the approved address is connected to", &granted, connect("files", &npx), None),
        ("a changed address asks again", &granted, connect("files", &other), Some(DecisionReason::AddressChanged)),
        ("a tool asks", &none, tool_call("files", "read", &v1), Some(DecisionReason::ToolsAsk)),
        ("an allowed tool runs", &granted, tool_call("files", "read", &v1), None),
        (
            "a changed definition voids the grant",
            &granted,
            tool_call("files", "read", &v2),
            Some(DecisionReason::ToolChanged),
        ),
        ("a grant is for one tool", &granted, tool_call("files", "write", &v1), Some(DecisionReason::ToolsAsk)),
        ("a grant is for one server", &granted, tool_call("Files", "read", &v1), Some(DecisionReason::ToolsAsk)),
        (
            "sampling asks",
            &granted,
            PolicyAct::Sample { server: "files", would_use: SamplingUse::default() },
            Some(DecisionReason::SamplingAsks),
        ),
        ("a form asks", &granted, PolicyAct::FillForm { server: "files" }, Some(DecisionReason::FormsAsk)),
        ("a URL asks", &granted, PolicyAct::OpenUrl { server: "files" }, Some(DecisionReason::UrlsAsk)),
        (
            "folders ask first",
            &granted,
            PolicyAct::ShareRoots { server: "files", decided: false },
            Some(DecisionReason::RootsAsk),
        ),
        ("decided folders are shared", &granted, PolicyAct::ShareRoots { server: "files", decided: true }, None),
        (
            "signing in asks",
            &granted,
            PolicyAct::SignIn { server: "files", steps_up: false },
            Some(DecisionReason::SignInAsks),
        ),
        (
            "a step-up asks",
            &granted,
            PolicyAct::SignIn { server: "files", steps_up: true },
            Some(DecisionReason::SignInAsks),
        ),
        (
            "reading is the user's own act",
            &none,
            PolicyAct::Read { needs_no_consent: true, server: "files", conversation: None },
            None,
        ),
    ];
    for (what, policy, act, expected) in cases {
        assert_eq!(decision_reason(policy.decide(act, 0)), *expected, "{what}");
    }
}

#[test]
fn requests_of_servers_can_only_be_approved_once() {
    let policy = policy_with_grants(&[]);
    for act in [
        PolicyAct::Sample { server: "s", would_use: SamplingUse::default() },
        PolicyAct::FillForm { server: "s" },
        PolicyAct::OpenUrl { server: "s" },
    ] {
        let PolicyDecision::Ask { scopes, .. } = policy.decide(&act, 0) else { panic!("{act:?} must require consent") };
        assert_eq!(scopes, &[ApprovalScope::Once], "{act:?} offers no lasting approval");
    }
}

#[test]
fn muted_server_is_denied_only_its_own_requests() {
    let mut policy = policy_with_grants(&[]);
    policy.mute_server("loud");
    let grant_hash = text_hash("v1");
    let decide = |policy: &Policy, act: PolicyAct<'_>| decision_reason(policy.decide(&act, 0));
    let sample = |server| PolicyAct::Sample { server, would_use: SamplingUse::default() };
    assert_eq!(decide(&policy, sample("loud")), Some(DecisionReason::Muted), "sampling is denied");
    assert_eq!(
        decide(&policy, PolicyAct::ShareRoots { server: "loud", decided: true }),
        Some(DecisionReason::Muted),
        "muting beats the decision about folders"
    );
    let sign_in = |steps_up| decide(&policy, PolicyAct::SignIn { server: "loud", steps_up });
    assert_eq!(sign_in(true), Some(DecisionReason::Muted), "a step-up is denied");
    assert_eq!(sign_in(false), Some(DecisionReason::SignInAsks), "the user can still sign in");
    assert_eq!(
        decide(&policy, sample("calm")),
        Some(DecisionReason::SamplingAsks),
        "sampling of other servers must still require consent"
    );
    assert_eq!(
        decide(&policy, tool_call("loud", "t", &grant_hash)),
        Some(DecisionReason::ToolsAsk),
        "the user can still call its tools"
    );
    policy.unmute_server("loud");
    assert_eq!(decide(&policy, sample("loud")), Some(DecisionReason::SamplingAsks), "sampling requires consent again");
}

#[test]
fn session_grants_are_not_persisted() {
    let policy = policy_with_grants(&[
        ("s", GrantSubject::Command, "a", ApprovalScope::Always),
        ("s", GrantSubject::Tool("t".into()), "b", ApprovalScope::Session),
    ]);
    let persistent = policy.grants().persistent_grants();
    assert_eq!(persistent.len(), 1, "only the lasting grant is persisted");
    let again = Grants::from_persisted(persistent);
    assert!(again.find("s", &GrantSubject::Command).is_some(), "the lasting grant is restored");
    assert!(again.find("s", &GrantSubject::Tool("t".into())).is_none(), "the session grant is not restored");
}

#[test]
fn stored_grants_cannot_add_excess_grants_or_one_time_approvals() {
    let one = policy_with_grants(&[("s", GrantSubject::Command, "a", ApprovalScope::Always)])
        .grants()
        .persistent_grants()
        .remove(0);
    let many = (0..Grants::MAX_GRANTS + 10).map(|i| policy::Grant { server: format!("s{i}"), ..one.clone() }).collect();
    assert_eq!(
        Grants::from_persisted(many).iter().count(),
        Grants::MAX_GRANTS,
        "the limit applies to persisted grants"
    );
    let once = vec![policy::Grant { scope: ApprovalScope::Once, ..one }];
    assert_eq!(Grants::from_persisted(once).iter().count(), 0, "an approval for one act is never restored");
}

#[test]
fn start_requires_consent_again_after_its_grant_is_revoked() {
    let mut policy = policy_with_grants(&[("s", GrantSubject::Command, "a", ApprovalScope::Always)]);
    let (command, id) = (text_hash("a"), policy.grants().iter().next().unwrap().id);
    assert!(policy.grants_mut().revoke(id).is_some(), "the grant existed");
    assert!(policy.grants_mut().revoke(id).is_none(), "the grant is already revoked");
    let act = PolicyAct::StartServer { server: "s", command: &command };
    assert_eq!(
        decision_reason(policy.decide(&act, 0)),
        Some(DecisionReason::NewCommand),
        "a revoked start requires consent"
    );
}

#[test]
fn canonical_json_depends_on_everything_but_key_order() {
    let a = json!({"b": [1, {"y": null, "x": "é"}], "a": 1.5});
    let b = json!({"a": 1.5, "b": [1, {"x": "é", "y": null}]});
    assert_eq!(canonical_json(&a), canonical_json(&b), "the order of keys does not matter");
    assert_eq!(canonical_json(&a), r#"{"a":1.5,"b":[1,{"x":"é","y":null}]}"#, "keys are sorted at every depth");
    for other in [json!({"a": 1.5, "b": [{"x": "é", "y": null}, 1]}), json!({"a": 1.5}), json!({"a": "1.5", "b": []})]
    {
        assert_ne!(Hash::of_json(&a), Hash::of_json(&other), "{other} is another value");
    }
}

#[test]
fn strings_are_escaped_like_json() {
    for string in ["", "plain", "é 😀", "quote \" slash / back \\", "\u{0}\u{1f}\n\t\u{7f}\u{2028}"] {
        let value = json!({ string: string });
        assert_eq!(canonical_json(&value), value.to_string(), "{string:?} is escaped as serde_json does");
        assert_eq!(canonical_json_object(value.as_object().unwrap()), value.to_string(), "{string:?}as an object");
    }
}

#[test]
fn partial_hash_continues_to_the_hash_of_the_whole() {
    let begun = PartialHash::from_prefix("a".repeat(64).as_bytes());
    for rest in [String::new(), "b".to_owned(), "c".repeat(200)] {
        let whole = Hash::of_bytes(format!("{}{rest}", "a".repeat(64)).as_bytes());
        assert_eq!(begun.finish_with(rest.as_bytes()), whole, "the same bytes have the same hash");
    }
}

#[test]
fn hash_is_the_sha_256_of_the_canonical_json() {
    let of_nothing = Hash::of_bytes(b"");
    assert_eq!(of_nothing.as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(of_nothing.to_string(), of_nothing.as_str(), "a hash must be displayed as it is stored");
    assert_eq!(Hash::of_json(&json!({"b": 1, "a": 2})), Hash::of_bytes(br#"{"a":2,"b":1}"#));
    for text in ["\"", "\\", "\n", "\u{1}", " ", "~", ""] {
        assert_eq!(canonical_json(&json!(text)), serde_json::to_string(text).unwrap(), "{text:?} alone");
    }
}
