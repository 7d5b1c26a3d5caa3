//! Tests what ends the repetition of an approved call: decisions of the user, changed rules, and the end of a session.

use std::sync::atomic::Ordering;

use domain::call::{CallFailure, CallRefusal};
use policy::{ApprovalScope, PolicyRule, RuleScope};
use ports::server_config::{ServerEntry, StdioConfig};
use serde_json::json;

use super::repeated_calls::{
    APPROVED_ARGUMENT, assert_requires_consent, call_with_approval, repeat_call_unchanged, respond_to_sent_call, start,
};
use super::world::{ASKING_TOOL, CallerFuture, HostFixture, SERVER, poll_once, server_facts};
use crate::connection::{ConnectionCommand, ConnectionEvent};
use crate::rules::RulesError;
use crate::view::UserDecision;

/// Returns a rule for this session that denies all calls of the server's tools.
fn denying_rule() -> PolicyRule {
    let rule: PolicyRule = serde_json::from_value(json!({ "server": SERVER, "tool": "*", "effect": "deny" })).unwrap();
    PolicyRule { scope: RuleScope::Session, ..rule }
}

/// Returns `true` if the host still has the approval of the call.
async fn is_repeatable(world: &HostFixture, id: &'static str) -> bool {
    let until = world.host.with_owner(move |owner| owner.permissions.approved_calls.repeatable_until(id, owner.now()));
    until.await.unwrap().is_some()
}

#[tokio::test]
async fn rules_take_precedence_over_a_repeated_approval() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let set = world.host.set_rule(denying_rule()).await.unwrap();
    let denied = repeat_call_unchanged(&world, "1", "2").await;
    assert!(matches!(denied, Err(CallFailure::Refused { .. })), "the rule denies: {denied:?}");
    assert!(world.commands.try_recv().is_err(), "nothing is sent");
    world.host.remove_rule(set).await.unwrap();
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "after the rules changed").await;
    world.close().await;
}

#[tokio::test]
async fn denials_mutes_and_revocations_end_the_repetition() {
    let mut world = start().await;
    let grant = world.host.grants().await.unwrap().remove(0).id;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let mut denied = world.call("other", ASKING_TOOL, APPROVED_ARGUMENT + 1);
    assert!(poll_once(&mut denied).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    world.decide(&request, UserDecision::Deny).await.unwrap();
    assert!(matches!(denied.await, Err(CallFailure::Refused { .. })));
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "after a denial").await;

    call_with_approval(&mut world, "7", ApprovalScope::Once).await;
    let mut denied = world.call("among all", ASKING_TOOL, APPROVED_ARGUMENT + 1);
    assert!(poll_once(&mut denied).await.is_none(), "the call requires consent");
    world.host.deny_all_requests(SERVER.to_owned(), false).await.unwrap();
    let by_user = CallFailure::refused(CallRefusal::DeniedByUser { reason: None }, "by the user");
    assert_eq!(denied.await.err(), Some(by_user), "the call ends as if it alone was denied");
    let call = repeat_call_unchanged(&world, "7", "8");
    assert_requires_consent(&mut world, call, "after all requests were denied").await;

    call_with_approval(&mut world, "3", ApprovalScope::Once).await;
    world.host.deny_all_requests(SERVER.to_owned(), true).await.unwrap();
    let call = repeat_call_unchanged(&world, "3", "4");
    assert_requires_consent(&mut world, call, "after a mute").await;

    call_with_approval(&mut world, "5", ApprovalScope::Once).await;
    assert!(world.host.revoke_grant(grant).await.unwrap(), "the grant existed");
    let call = repeat_call_unchanged(&world, "5", "6");
    assert_requires_consent(&mut world, call, "after a revocation").await;

    world.close().await;
}

#[tokio::test]
async fn mute_stops_a_repeated_call_that_waits_for_its_audit_entry() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.log.delays.store(true, Ordering::SeqCst);
    let mut call = repeat_call_unchanged(&world, "1", "2");
    assert!(poll_once(&mut call).await.is_none(), "the call waits for its entry");
    assert!(world.commands.try_recv().is_err(), "nothing is sent before the entry is written");
    world.host.deny_all_requests(SERVER.to_owned(), true).await.unwrap();
    world.log.write_next_entry();
    while world.requests().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(world.commands.try_recv().is_err(), "the call is not sent");
    drop(call);
    world.close().await;
}

#[tokio::test]
async fn rule_stops_a_repeated_call_that_waits_for_its_audit_entry() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.log.delays.store(true, Ordering::SeqCst);
    let host = world.host.clone();
    let mut setting: CallerFuture<Result<policy::RuleRef, RulesError>> =
        Box::pin(async move { host.set_rule(denying_rule()).await });
    assert!(poll_once(&mut setting).await.is_none(), "the rule waits for its entry");
    let mut call = repeat_call_unchanged(&world, "1", "2");
    assert!(poll_once(&mut call).await.is_none(), "the call waits for its entry");
    world.log.write_next_entry();
    assert!(setting.await.is_ok(), "the rule is accepted");
    assert!(world.commands.try_recv().is_err(), "nothing is sent before the entry of the call is written");
    world.log.write_next_entry();
    let denied = call.await;
    assert!(matches!(denied, Err(CallFailure::Refused { .. })), "the rule denies: {denied:?}");
    assert!(world.commands.try_recv().is_err(), "the call is not sent");
    world.close().await;
}

#[tokio::test]
async fn revocation_while_the_approval_is_written_ends_the_repetition() {
    let mut world = start().await;
    let grant = world.host.grants().await.unwrap().remove(0).id;
    world.log.delays.store(true, Ordering::SeqCst);
    let mut call = world.call("1", ASKING_TOOL, APPROVED_ARGUMENT);
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    let mut decision = world.decide(&request, UserDecision::Allow(ApprovalScope::Once));
    assert!(poll_once(&mut decision).await.is_none(), "the approval waits for its entry");
    assert!(world.host.revoke_grant(grant).await.unwrap(), "the grant existed");
    world.log.delays.store(false, Ordering::SeqCst);
    while world.log.queued_entries() > 0 {
        world.log.write_next_entry();
    }
    decision.await.unwrap();
    respond_to_sent_call(&mut world, call).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "after a revocation").await;
    world.close().await;
}

#[tokio::test]
async fn new_session_ends_the_repetition() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.report(ConnectionEvent::Reopened(Box::new(server_facts()))).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "after the server forgot the session").await;
    world.close().await;
}

#[tokio::test]
async fn end_of_a_stopped_changed_or_removed_server_ends_the_repetition() {
    for what in ["stop", "change", "removal"] {
        let mut world = start().await;
        call_with_approval(&mut world, "1", ApprovalScope::Once).await;
        match what {
            "stop" => world.host.stop_server(SERVER.to_owned()).await.unwrap(),
            "change" => {
                let config = StdioConfig { command: "changed".to_owned(), ..StdioConfig::default() }.into();
                let entry = ServerEntry { name: SERVER.to_owned(), config };
                world.host.update_server(SERVER.to_owned(), entry).await.unwrap();
            }
            _ => world.host.remove_server(SERVER.to_owned()).await.unwrap(),
        }
        let call = repeat_call_unchanged(&world, "1", "2").await;
        assert!(
            matches!(call, Err(CallFailure::NotReady { .. } | CallFailure::NotFound(_))),
            "{what}: nothing is sent meanwhile: {call:?}"
        );
        let command = world.commands.recv().await.expect("the connection is open");
        assert!(matches!(*command, ConnectionCommand::Stop), "{what}: the session is ended: {command:?}");
        world.report(ConnectionEvent::Ended(None)).await;
        assert!(!is_repeatable(&world, "1").await, "{what}: an approval ends with the session");
        world.close().await;
    }
}
