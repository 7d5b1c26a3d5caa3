//! Tests of grants: scope, expiry and subject.

use policy::{
    ApprovalScope, DecisionReason, Grant, GrantId, GrantSubject, Grants, Hash, Policy, PolicyAct, PolicyDecision,
    ResolvedPaths, ReviewState, RuleFit, ToolClaims,
};
use serde_json::{Map, json};

const NOW: u64 = 1_000;

fn tool_grant_hash() -> Hash {
    Hash::of_json(&json!("v1"))
}

/// Returns a grant for the tool `read` of scope `Always`.
fn tool_grant() -> Grant {
    Grant {
        id: GrantId::default(),
        server: "files".to_owned(),
        subject: GrantSubject::Tool("read".to_owned()),
        rests_on: tool_grant_hash(),
        scope: ApprovalScope::Always,
        conversation: None,
        since: 0,
        expires_at: None,
        words: String::new(),
        last_use: None,
    }
}

fn conversation_grant(id: &str) -> Grant {
    Grant { scope: ApprovalScope::Conversation, conversation: Some(id.to_owned()), ..tool_grant() }
}

/// Calls a closure with a policy that has these grants, and with a call of the tool `read`.
fn with_policy_and_call<T>(
    grants: &[Grant],
    conversation: Option<&str>,
    after_untrusted: bool,
    look: impl FnOnce(&Policy, &PolicyAct<'_>) -> T,
) -> T {
    let mut all = Grants::default();
    for grant in grants {
        all.add(grant.clone()).unwrap();
    }
    let (grant_hash, arguments) = (tool_grant_hash(), Map::new());
    let act = PolicyAct::CallTool {
        server: "files",
        tool: "read",
        grant_hash: &grant_hash,
        review_state: ReviewState::Reviewed,
        claims: ToolClaims::default(),
        asks_each_time: false,
        arguments: &arguments,
        paths: &ResolvedPaths::Elsewhere,
        after_untrusted,
        conversation,
    };
    look(&Policy::new(all), &act)
}

fn is_allowed(grants: &[Grant], conversation: Option<&str>) -> bool {
    with_policy_and_call(grants, conversation, false, |policy, act| {
        matches!(policy.decide(act, NOW), PolicyDecision::Allow { .. })
    })
}

fn grant_fit(grants: &[Grant], conversation: Option<&str>, after_untrusted: bool) -> RuleFit {
    with_policy_and_call(grants, conversation, after_untrusted, |policy, act| {
        policy.explain(act, NOW).considered[0].fit
    })
}

#[test]
fn grant_expires_at_its_time() {
    for (expires_at, holds) in [(None, true), (Some(NOW + 1), true), (Some(NOW), false), (Some(NOW - 1), false)] {
        let grant = Grant { expires_at, ..tool_grant() };
        assert_eq!(grant.has_expired(NOW), !holds, "{expires_at:?}");
        assert_eq!(is_allowed(std::slice::from_ref(&grant), None), holds, "a call with {expires_at:?}");
        assert_eq!(
            grant_fit(&[grant], None, false),
            if holds { RuleFit::Fits } else { RuleFit::Expired },
            "{expires_at:?}"
        );
    }
}

#[test]
fn conversation_grant_applies_in_its_conversation_only() {
    let own = [conversation_grant("c1")];
    assert!(is_allowed(&own, Some("c1")), "in its conversation");
    for elsewhere in [Some("c2"), Some(""), None] {
        assert!(!is_allowed(&own, elsewhere), "in {elsewhere:?}");
        assert_eq!(grant_fit(&own, elsewhere, false), RuleFit::OtherConversation, "in {elsewhere:?}");
    }
    let nowhere = [Grant { conversation: None, ..conversation_grant("c1") }];
    assert!(
        !is_allowed(&nowhere, None) && !is_allowed(&nowhere, Some("c1")),
        "a grant without a conversation applies in none"
    );
}

#[test]
fn grant_replaces_only_one_of_the_same_subject_and_conversation() {
    let mut grants = Grants::default();
    let older = grants.add(tool_grant()).unwrap();
    let others = [
        grants.add(conversation_grant("c1")).unwrap(),
        grants.add(conversation_grant("c2")).unwrap(),
        grants.add(Grant { subject: GrantSubject::Tool("write".to_owned()), ..tool_grant() }).unwrap(),
        grants.add(Grant { subject: GrantSubject::Command, ..tool_grant() }).unwrap(),
        grants.add(Grant { server: "other".to_owned(), ..tool_grant() }).unwrap(),
    ];
    let newer = grants.add(Grant { since: 1, ..tool_grant() }).unwrap();
    let mut ids: Vec<GrantId> = others.into_iter().chain([older, newer]).collect();
    ids.sort_unstable_by_key(|id| id.0);
    ids.dedup();
    assert_eq!(ids.len(), 7, "no two have the same number");
    assert_eq!(grants.revoke(older), None, "the older grant is replaced");
    for id in others.into_iter().chain([newer]) {
        assert!(grants.revoke(id).is_some(), "grant {id:?} must still exist");
    }
}

#[test]
fn grant_does_not_apply_after_untrusted_content() {
    assert_eq!(grant_fit(&[tool_grant()], None, true), RuleFit::AfterUntrusted, "the explanation names the reason");
    assert_eq!(grant_fit(&[tool_grant()], None, false), RuleFit::Fits, "the grant applies without untrusted content");
    let decision = with_policy_and_call(&[tool_grant()], Some("c1"), true, |policy, act| policy.decide(act, NOW));
    let PolicyDecision::Ask { reason, scopes, .. } = decision else {
        panic!("expected a consent request: {decision:?}")
    };
    assert_eq!(
        (reason, scopes),
        (DecisionReason::AfterUntrusted, &[ApprovalScope::Once][..]),
        "only this call can be approved"
    );
}

#[test]
fn conversation_scope_is_offered_only_within_a_conversation() {
    let scopes = |conversation| {
        let decision = with_policy_and_call(&[], conversation, false, |policy, act| policy.decide(act, NOW));
        let PolicyDecision::Ask { scopes, .. } = decision else { panic!("it asks: {decision:?}") };
        scopes.to_vec()
    };
    assert_eq!(scopes(None), [ApprovalScope::Once, ApprovalScope::Session, ApprovalScope::Always]);
    assert_eq!(
        scopes(Some("c1")),
        [ApprovalScope::Once, ApprovalScope::Conversation, ApprovalScope::Session, ApprovalScope::Always]
    );
}

#[test]
fn grant_that_could_not_be_stored_ends_when_the_host_stops() {
    let mut grants = Grants::default();
    let id = grants.add(tool_grant()).unwrap();
    let other = grants.add(Grant { server: "other".to_owned(), ..tool_grant() }).unwrap();
    grants.limit_until_quit(other);
    assert_eq!(
        grants.persistent_grants().iter().map(|grant| grant.id).collect::<Vec<_>>(),
        [id],
        "a session grant is not persisted"
    );
    assert!(
        grants.iter().any(|grant| grant.id == other && grant.scope == ApprovalScope::Session),
        "a session grant stays in memory"
    );
}

#[test]
fn externally_changed_grants_are_applied() {
    let named = |server: &str| Grant { server: server.to_owned(), ..tool_grant() };
    let mut grants = Grants::default();
    let stays = grants.add(named("stays")).unwrap();
    let goes = grants.add(named("goes")).unwrap();
    let changes = grants.add(named("changes")).unwrap();
    let own = grants.add(conversation_grant("c1")).unwrap();
    let session = grants.add(Grant { scope: ApprovalScope::Session, ..named("session") }).unwrap();
    let changed = Grant { rests_on: Hash::of_json(&json!("v2")), ..named("changes") };
    let once = Grant { scope: ApprovalScope::Once, ..named("once") };
    let (removed, added) = grants.replace_persisted(vec![named("stays"), changed, named("comes"), once]);
    let mut names: Vec<_> = added.iter().map(|grant| grant.server.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["changes", "comes"], "new and changed grants are added, session grants are not");
    assert_eq!(
        removed.iter().map(|grant| grant.id).collect::<Vec<_>>(),
        [goes, changes],
        "missing and changed grants are revoked"
    );
    let left: Vec<_> = grants.iter().map(|grant| grant.id).collect();
    assert!(
        [stays, own, session].iter().all(|id| left.contains(id)),
        "unchanged grants keep their identifiers: {left:?}"
    );
    assert!(![goes, changes].iter().any(|id| left.contains(id)), "revoked grants are removed: {left:?}");
}

#[test]
fn removed_server_loses_its_grants_and_frees_their_places() {
    let mut grants = Grants::default();
    grants.add(Grant { subject: GrantSubject::Command, ..tool_grant() }).unwrap();
    for tool in 1..Grants::MAX_GRANTS {
        grants.add(Grant { subject: GrantSubject::Tool(tool.to_string()), ..tool_grant() }).unwrap();
    }
    let other = Grant { server: "other".to_owned(), ..tool_grant() };
    assert!(grants.add(other.clone()).is_err(), "the limit is reached");
    let tool = grants.find("files", &GrantSubject::Tool("7".to_owned())).unwrap().id;
    grants.revoke(tool).unwrap();
    assert!(grants.find("files", &GrantSubject::Tool("7".to_owned())).is_none(), "the grant is revoked");
    assert!(grants.find("files", &GrantSubject::Tool("8".to_owned())).is_some(), "other grants stay");
    let id = grants.add(other.clone()).unwrap();
    assert!(
        grants.add(Grant { subject: GrantSubject::Command, ..other }).is_err(),
        "revoking makes room for one grant"
    );
    grants.remove_server("files");
    assert_eq!(grants.iter().map(|grant| grant.id).collect::<Vec<_>>(), [id], "grants of the other server stay");
}
