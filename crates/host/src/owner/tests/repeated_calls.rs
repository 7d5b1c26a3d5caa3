//! Tests calls with which the user repeats an approved call without another consent request.

use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::call::{CallFailure, CallState};
use host_state::CALL_REPETITION_PERIOD;
use mcp_proto::types::CallToolResult;
use policy::{ApprovalScope, PolicyRule, RuleScope};
use serde_json::{Map, json};
use tokio::sync::oneshot;

use super::world::{ASKING_TOOL, CallerFuture, HostFixture, SERVER, catalog, poll_once};
use crate::connection::{ConnectionCommand, ConnectionEvent};
use crate::owner::CallOrigin;
use crate::view::{HostEvent, UserDecision};

type ToolCallFuture = CallerFuture<Result<CallToolResult, CallFailure>>;

/// Argument of the call that the user approves.
const APPROVED_ARGUMENT: usize = 1;

/// Starts a host that writes all entries and documents at once.
async fn start() -> HostFixture {
    let world = HostFixture::new().await;
    world.log.delays.store(false, Ordering::SeqCst);
    world.documents.open_gate();
    world
}

/// Returns the future of the call `id`, with which the user repeats the call `of`.
fn repeat_with(
    world: &HostFixture,
    (of, id): (&str, &str),
    conversation: Option<&str>,
    number: usize,
) -> ToolCallFuture {
    let (host, ids) = (world.host.clone(), (id.to_owned(), of.to_owned()));
    let origin = CallOrigin::User { conversation: conversation.map(str::to_owned) };
    let arguments = Map::from_iter([("n".to_owned(), json!(number))]);
    let (sent, _) = oneshot::channel();
    let (server, tool) = (SERVER.to_owned(), ASKING_TOOL.to_owned());
    Box::pin(async move { host.repeat_tool_call(origin, ids, server, tool, arguments, sent).await })
}

/// Returns the future of the call `id`, with which the user repeats the call `of` unchanged.
fn repeat(world: &HostFixture, of: &str, id: &str) -> ToolCallFuture {
    repeat_with(world, (of, id), None, APPROVED_ARGUMENT)
}

/// Lets the server respond to a call, which must have been sent.
async fn respond_to_sent_call(world: &mut HostFixture, call: ToolCallFuture) {
    let command = world.commands.try_recv().expect("the call is sent");
    let ConnectionCommand::Call { ticket, .. } = *command else { panic!("{command:?} is not a call") };
    world.respond(ticket).await;
    assert!(call.await.is_ok(), "the call ends with a result");
}

/// Makes a call that the user allows in its consent request.
async fn call_with_approval(world: &mut HostFixture, id: &str, scope: ApprovalScope) {
    let mut call = world.call(id, ASKING_TOOL, APPROVED_ARGUMENT);
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    world.decide(&request, UserDecision::Allow(scope)).await.unwrap();
    respond_to_sent_call(world, call).await;
}

/// Checks that a call is sent without a consent request, and lets it end.
async fn assert_sent(world: &mut HostFixture, mut call: ToolCallFuture) {
    assert!(poll_once(&mut call).await.is_none(), "the call waits for the server");
    assert_eq!(world.requests().await, [], "no consent is required");
    respond_to_sent_call(world, call).await;
}

/// Checks that a call requires consent, and cancels it.
async fn assert_asks(world: &mut HostFixture, mut call: ToolCallFuture, what: &str) {
    assert!(poll_once(&mut call).await.is_none(), "{what}: the call waits");
    assert!(world.commands.try_recv().is_err(), "{what}: nothing is sent");
    let requests = world.requests().await;
    assert_eq!(requests.len(), 1, "{what}: consent is required");
    world.decide(&requests[0], UserDecision::Cancel).await.unwrap();
    assert!(matches!(call.await, Err(CallFailure::Cancelled)), "{what}: the call is cancelled");
}

#[tokio::test]
async fn same_call_is_sent_without_another_consent_request() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat(&world, "1", "2");
    assert_sent(&mut world, call).await;
    let call = repeat(&world, "2", "3");
    assert_sent(&mut world, call).await;
    let entries = world.log.written_entries();
    let own: Vec<_> = entries.iter().filter(|entry| entry.kind == "tool" && entry.subject == ASKING_TOOL).collect();
    assert_eq!(own.len(), 3, "each call has an entry: {own:?}");
    for repeated in &own[1..] {
        let decided = (&*repeated.decision, &*repeated.by, &*repeated.rule);
        assert_eq!(decided, ("allowed", "user", "repeated approval"), "{repeated:?}");
        assert_eq!(repeated.hash, own[0].hash, "the entry has the hash of the approved call");
    }
    assert_eq!(world.host.grants().await.unwrap().len(), 1, "no grant is added");
    let call = world.call("4", ASKING_TOOL, APPROVED_ARGUMENT);
    assert_asks(&mut world, call, "a call that repeats none").await;
    world.close().await;
}

#[tokio::test]
async fn call_that_differs_from_the_approved_one_requires_consent() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat_with(&world, ("1", "2"), None, APPROVED_ARGUMENT + 1);
    assert_asks(&mut world, call, "other arguments").await;
    let call = repeat_with(&world, ("1", "2"), Some("c"), APPROVED_ARGUMENT);
    assert_asks(&mut world, call, "another conversation").await;
    let call = repeat(&world, "unknown", "2");
    assert_asks(&mut world, call, "a call that was not approved").await;
    world.report(ConnectionEvent::Catalog(catalog("changed since the approval"))).await;
    let call = repeat(&world, "1", "2");
    assert_asks(&mut world, call, "a changed definition").await;
    world.close().await;
}

#[tokio::test]
async fn approval_can_be_repeated_for_a_short_time_only() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.clock.advance(Duration::from_millis(CALL_REPETITION_PERIOD));
    let call = repeat(&world, "1", "2");
    assert_sent(&mut world, call).await;
    world.clock.advance(Duration::from_millis(1));
    for of in ["1", "2"] {
        let call = repeat(&world, of, "3");
        assert_asks(&mut world, call, "an old approval").await;
    }
    world.close().await;
}

#[tokio::test]
async fn rules_take_precedence_over_a_repeated_approval() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let mut rule: PolicyRule =
        serde_json::from_value(json!({ "server": SERVER, "tool": "*", "effect": "deny" })).unwrap();
    rule.scope = RuleScope::Session;
    let set = world.host.set_rule(rule).await.unwrap();
    let denied = repeat(&world, "1", "2").await;
    assert!(matches!(denied, Err(CallFailure::Refused(_))), "the rule denies: {denied:?}");
    assert!(world.commands.try_recv().is_err(), "nothing is sent");
    world.host.remove_rule(set).await.unwrap();
    let call = repeat(&world, "1", "2");
    assert_asks(&mut world, call, "after the rules changed").await;
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
    assert!(matches!(denied.await, Err(CallFailure::Refused(_))));
    let call = repeat(&world, "1", "2");
    assert_asks(&mut world, call, "after a denial").await;

    call_with_approval(&mut world, "3", ApprovalScope::Once).await;
    world.host.deny_all(SERVER.to_owned(), true).await.unwrap();
    let call = repeat(&world, "3", "4");
    assert_asks(&mut world, call, "after a mute").await;

    call_with_approval(&mut world, "5", ApprovalScope::Once).await;
    assert!(world.host.revoke_grant(grant).await.unwrap(), "the grant existed");
    let call = repeat(&world, "5", "6");
    assert_asks(&mut world, call, "after a revocation").await;

    call_with_approval(&mut world, "7", ApprovalScope::Once).await;
    world.report(ConnectionEvent::Ended(None)).await;
    let is_repeatable =
        world.host.with_owner(|owner| owner.permissions.approved_calls.repeatable_until("7", owner.now()).is_some());
    assert!(!is_repeatable.await.unwrap(), "an approval ends with the session");
    world.close().await;
}

#[tokio::test]
async fn mute_stops_a_repeated_call_that_waits_for_its_audit_entry() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.log.delays.store(true, Ordering::SeqCst);
    let mut call = repeat(&world, "1", "2");
    assert!(poll_once(&mut call).await.is_none(), "the call waits for its entry");
    assert!(world.commands.try_recv().is_err(), "nothing is sent before the entry is written");
    world.host.deny_all(SERVER.to_owned(), true).await.unwrap();
    world.log.write_next();
    while world.requests().await.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(world.commands.try_recv().is_err(), "the call is not sent");
    drop(call);
    world.close().await;
}

#[tokio::test]
async fn completed_call_reports_until_when_it_can_be_repeated() {
    let mut world = start().await;
    let mut events = world.host.events();
    let now = world.host.with_owner(|owner| owner.now()).await.unwrap();
    call_with_approval(&mut world, "once", ApprovalScope::Once).await;
    world.clock.advance(Duration::from_secs(1));
    let call = repeat(&world, "once", "repeated");
    assert_sent(&mut world, call).await;
    call_with_approval(&mut world, "granted", ApprovalScope::Session).await;
    let mut ended = Vec::new();
    while let Some(event) = events.try_next() {
        match &event.event {
            HostEvent::CallChanged(call) if call.state == CallState::Done => {
                ended.push((call.id.clone(), call.repeatable_until));
            }
            HostEvent::CallChanged(call) => assert_eq!(call.repeatable_until, None, "{call:?} has not ended"),
            _ => {}
        }
    }
    let until = Some(now + CALL_REPETITION_PERIOD);
    assert_eq!(
        ended,
        [("once".to_owned(), until), ("repeated".to_owned(), until), ("granted".to_owned(), None)],
        "the period begins with the approval, and a call with a grant needs none"
    );
    world.close().await;
}
