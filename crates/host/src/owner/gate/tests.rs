//! Tests that a permit authorizes exactly one payload, once.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};

use mcp_proto::types::ElicitResult;
use policy::PolicyRule;
use serde_json::{Map, json};

use super::*;
use crate::owner::tests::world::{ASKING_TOOL, HostFixture, SERVER, poll_once};

/// Results that the gate passed to the callbacks of approvals, in order.
type SendResults = Arc<Mutex<Vec<Result<(), DecisionError>>>>;

/// Returns a host with a consent request for a call, and the hash of the request. Audit entries are only written by
/// [`write_pending_audit_entries`].
async fn fixture_with_request() -> (HostFixture, String) {
    let world = HostFixture::new().await;
    assert!(poll_once(&mut world.call("call", ASKING_TOOL, 1)).await.is_none(), "the call requires consent");
    let shown = world.requests().await[0].hash.to_string();
    (world, shown)
}

/// Passes the user's approval of the first pending request to the gate, and adds the result that the gate passes to its
/// callback to `results`.
fn audit_approval_and_collect(
    owner: &mut Owner,
    approval: Approval,
    results: &SendResults,
) -> Result<DecisionProgress, DecisionError> {
    let outgoing = OutgoingPayload::displayed(&owner.consent.pending[0]);
    let results = Arc::clone(results);
    owner.audit_approval(approval, ApprovalScope::Once, outgoing, move |_, permitted| {
        results.lock().unwrap().push(permitted.map(|_| ()));
        Ok(DecisionProgress::Done)
    })
}

/// Writes all queued audit entries, and delivers their receipts.
async fn write_pending_audit_entries(world: &HostFixture) {
    while world.log.queued_entries() > 0 {
        world.log.write_next_entry();
        // Lets the task that delivers receipts run.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn request_cannot_be_approved_again_while_its_approval_is_executed() {
    let (world, shown) = fixture_with_request().await;
    let results = SendResults::default();
    let outcomes = Arc::clone(&results);
    let second = world.host.with_owner(move |owner| {
        let first = owner.approval(0, &shown)?;
        audit_approval_and_collect(owner, first, &outcomes)?;
        owner.approval(0, &shown).map(|_| ())
    });
    assert_eq!(second.await.unwrap(), Err(DecisionError::Stale), "the first approval waits for its audit entry");
    write_pending_audit_entries(&world).await;
    assert_eq!(*results.lock().unwrap(), [Ok(())], "the first approval is executed");
    world.close().await;
}

#[tokio::test]
async fn request_approved_twice_is_sent_once() {
    let (world, shown) = fixture_with_request().await;
    let results = SendResults::default();
    let outcomes = Arc::clone(&results);
    let approved = world.host.with_owner(move |owner| {
        let (first, second) = (owner.approval(0, &shown)?, owner.approval(0, &shown)?);
        audit_approval_and_collect(owner, first, &outcomes)?;
        audit_approval_and_collect(owner, second, &outcomes)
    });
    assert!(approved.await.unwrap().is_ok(), "both approvals were valid when they were given");
    assert_eq!(*results.lock().unwrap(), [Err(DecisionError::Stale)], "the second one sends nothing");
    assert_eq!(world.log.queued_entries(), 1, "the second one has no audit entry");
    write_pending_audit_entries(&world).await;
    assert_eq!(*results.lock().unwrap(), [Err(DecisionError::Stale), Ok(())], "the first one is executed");
    world.close().await;
}

#[tokio::test]
async fn approval_is_checked_against_the_rules_after_its_entry_is_written() {
    let (world, shown) = fixture_with_request().await;
    let results = SendResults::default();
    let outcomes = Arc::clone(&results);
    let rule = json!({ "server": SERVER, "tool": ASKING_TOOL, "effect": "deny" });
    let rule: PolicyRule = serde_json::from_value(rule).unwrap();
    let departing = world.host.with_owner(move |owner| {
        let approval = owner.approval(0, &shown)?;
        audit_approval_and_collect(owner, approval, &outcomes)?;
        // The rule is added without refusing pending requests as usual, since that would also prevent the payload from
        // being sent.
        let rules = owner.permissions.policy.rules_until_quit_mut();
        rules.add(rule).map_err(|error| DecisionError::Denied(error.to_string()))
    });
    assert!(departing.await.unwrap().is_ok(), "the rule is valid");
    assert!(results.lock().unwrap().is_empty(), "nothing is sent before the entry is written");
    write_pending_audit_entries(&world).await;
    let collected = results.lock().unwrap().clone();
    assert!(matches!(collected[..], [Err(DecisionError::Denied(_))]), "the rule denies sending: {collected:?}");
    let entries =
        world.log.written_entries().into_iter().filter(|entry| entry.kind == "tool" && entry.subject == ASKING_TOOL);
    let decisions: Vec<_> = entries.map(|entry| entry.decision).collect();
    assert_eq!(decisions, ["allowed", "denied", "withdrawn"], "the log states that nothing was sent");
    world.close().await;
}

#[test]
fn s07_only_one_time_parameters_may_differ_in_a_sign_in_url() {
    let shown = "https://as.example/authorize?response_type=code&client_id=c&code_challenge_method=S256&scope=read";
    let opens = |opened: &str| {
        let permit = SendPermit { to: "far".to_owned(), payload_hash: sign_in_url_hash(shown), by: None };
        permit.authorize_sign_in_url("far", opened.to_owned()).is_ok()
    };
    assert!(
        opens(&format!("{shown}&state=a&code_challenge=b&nonce=c")),
        "parameters generated per use are not part of the hash"
    );
    let others = [
        shown.replace("scope=read", "scope=read+write"),
        shown.replace("client_id=c", "client_id=d"),
        shown.replace("S256", "plain"),
        shown.replace("&scope=read", ""),
        format!("{shown}&redirect_uri=https%3A%2F%2Fevil.example%2F"),
        format!("{shown}&scope=write"),
        format!("{shown}#part"),
        shown.replace("authorize", "other"),
        "https://as.example/authorize?client_id=c&response_type=code&code_challenge_method=S256&scope=read".to_owned(),
    ];
    for other in others {
        assert!(!opens(&other), "{other} differs from the displayed URL");
    }
}

#[test]
fn denial_contains_no_entered_content() {
    let elicited = |action, content| ClientResponse::Elicitation(ElicitResult { action, content });
    for harmless in
        [elicited(ElicitAction::Decline, None), elicited(ElicitAction::Cancel, None), ClientResponse::Roots(vec![])]
    {
        assert_eq!(
            authorize_denial_response(harmless.clone()).into_inner(),
            harmless,
            "a denial without content is sent unmodified"
        );
    }
    let entered = || Some(Map::new());
    for telling in [
        elicited(ElicitAction::Accept, None),
        elicited(ElicitAction::Accept, entered()),
        elicited(ElicitAction::Decline, entered()),
    ] {
        let left = authorize_denial_response(telling.clone()).into_inner();
        assert!(matches!(left, ClientResponse::Refused { .. }), "{telling:?} is replaced: {left:?}");
    }
}

#[test]
fn link_is_opened_at_the_displayed_url_only() {
    let opened = |url: &str| authorize_link_opening(UrlParts::parse(url)).map(AuthorizedPayload::into_inner);
    assert_eq!(opened("https://a.example/x?y=1").as_deref(), Some("https://a.example/x?y=1"));
    assert_eq!(opened("javascript:alert(1)"), None, "a script URL is not opened");
}
