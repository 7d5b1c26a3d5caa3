//! Tests calls with which the user repeats an approved call without another consent request.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::call::{CallFailure, CallState};
use host_state::CALL_REPETITION_PERIOD;
use mcp_proto::types::{CallToolResult, ToolAnnotations};
use policy::{ApprovalScope, DecisionReason};
use ports::server_config::StdioConfig;
use serde_json::{Map, json};
use tokio::sync::oneshot;

use super::read_only_tools::{deliver_tool_list, pin_tools};
use super::world::{ASKING_TOOL, CallerFuture, GRANTED_TOOL, HostFixture, SERVER, catalog, poll_once};
use crate::connection::{ConnectionCommand, ConnectionEvent};
use crate::owner::{CallOrigin, Owner};
use crate::view::{ConsentRequestEdit, HostEvent, UserDecision};

pub(super) type ToolCallFuture = CallerFuture<Result<CallToolResult, CallFailure>>;

/// Argument of the call that the user approves.
pub(super) const APPROVED_ARGUMENT: usize = 1;

/// Starts a host that writes all entries and documents at once.
pub(super) async fn start() -> HostFixture {
    let world = HostFixture::new().await;
    world.log.delays.store(false, Ordering::SeqCst);
    world.documents.release_document_writes();
    world
}

/// Returns the future of the call `id` that names `of` as the call that it repeats.
fn repeat_call_as(world: &HostFixture, origin: CallOrigin, (of, id): (&str, &str), number: usize) -> ToolCallFuture {
    let (host, ids) = (world.host.clone(), (id.to_owned(), of.to_owned()));
    let arguments = Map::from_iter([("n".to_owned(), json!(number))]);
    let (sent, _) = oneshot::channel();
    let (server, tool) = (SERVER.to_owned(), ASKING_TOOL.to_owned());
    Box::pin(async move { host.repeat_tool_call(origin, ids, server, tool, arguments, sent).await })
}

/// Returns the future of the call `id`, with which the user repeats the call `of`.
fn repeat_call_with(
    world: &HostFixture,
    ids: (&str, &str),
    conversation: Option<&str>,
    number: usize,
) -> ToolCallFuture {
    repeat_call_as(world, CallOrigin::User { conversation: conversation.map(str::to_owned) }, ids, number)
}

/// Returns the future of the call `id`, with which the user repeats the call `of` unchanged.
pub(super) fn repeat_call_unchanged(world: &HostFixture, of: &str, id: &str) -> ToolCallFuture {
    repeat_call_with(world, (of, id), None, APPROVED_ARGUMENT)
}

/// Lets the server respond to a call, which must have been sent.
pub(super) async fn respond_to_sent_call(world: &mut HostFixture, call: ToolCallFuture) {
    let command = world.commands.try_recv().expect("the call is sent");
    let ConnectionCommand::Call { ticket, .. } = *command else { panic!("{command:?} is not a call") };
    world.respond_to_call(ticket).await;
    assert!(call.await.is_ok(), "the call ends with a result");
}

/// Makes a call that the user allows in its consent request.
pub(super) async fn call_with_approval(world: &mut HostFixture, id: &str, scope: ApprovalScope) {
    let call = world.call(id, ASKING_TOOL, APPROVED_ARGUMENT);
    approve(world, call, scope).await;
}

/// Allows a call in its consent request, and lets it end.
async fn approve(world: &mut HostFixture, mut call: ToolCallFuture, scope: ApprovalScope) {
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    world.decide(&request, UserDecision::Allow(scope)).await.unwrap();
    respond_to_sent_call(world, call).await;
}

/// Checks that a call is sent without a consent request, and lets it end.
async fn assert_call_sent(world: &mut HostFixture, mut call: ToolCallFuture) {
    assert!(poll_once(&mut call).await.is_none(), "the call waits for the server");
    assert_eq!(world.requests().await, [], "no consent is required");
    respond_to_sent_call(world, call).await;
}

/// Checks that a call requires consent as calls do by default, so that only a missing approval is the reason, and
/// cancels it.
pub(super) async fn assert_requires_consent(world: &mut HostFixture, mut call: ToolCallFuture, what: &str) {
    assert!(poll_once(&mut call).await.is_none(), "{what}: the call waits");
    assert!(world.commands.try_recv().is_err(), "{what}: nothing is sent");
    let requests = world.requests().await;
    assert_eq!(requests.len(), 1, "{what}: consent is required");
    assert_eq!(requests[0].reason, DecisionReason::ToolsAsk.name(), "{what}: the reason");
    world.decide(&requests[0], UserDecision::Cancel).await.unwrap();
    assert!(matches!(call.await, Err(CallFailure::Cancelled)), "{what}: the call is cancelled");
}

#[tokio::test]
async fn same_call_is_sent_without_another_consent_request() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_call_sent(&mut world, call).await;
    let call = repeat_call_unchanged(&world, "2", "3");
    assert_call_sent(&mut world, call).await;
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
    assert_requires_consent(&mut world, call, "a call that repeats none").await;
    world.close().await;
}

#[tokio::test]
async fn call_that_differs_from_the_approved_one_requires_consent() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat_call_with(&world, ("1", "2"), None, APPROVED_ARGUMENT + 1);
    assert_requires_consent(&mut world, call, "other arguments").await;
    let call = repeat_call_with(&world, ("1", "2"), Some("c"), APPROVED_ARGUMENT);
    assert_requires_consent(&mut world, call, "another conversation").await;
    let call = repeat_call_unchanged(&world, "unknown", "2");
    assert_requires_consent(&mut world, call, "a call that was not approved").await;
    let changed = catalog("changed since the approval");
    let tool = changed.tool(ASKING_TOOL).expect("the list has the tool");
    world.report(ConnectionEvent::Catalog(changed)).await;
    pin_tools(&world, &[tool]).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "a changed definition that was reviewed").await;
    world.close().await;
}

#[tokio::test]
async fn call_with_changed_settings_of_the_server_requires_consent() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let change_settings = |owner: &mut Owner| {
        let changed = StdioConfig { command: "changed".to_owned(), ..StdioConfig::default() };
        owner.servers.records[SERVER].config = Arc::new(changed.into());
    };
    world.host.with_owner(change_settings).await.unwrap();
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "changed settings").await;
    world.close().await;
}

#[tokio::test]
async fn only_the_user_in_the_window_can_repeat_a_call() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat_call_with(&world, ("none", "of c"), Some("c"), APPROVED_ARGUMENT);
    approve(&mut world, call, ApprovalScope::Once).await;
    let app = |conversation: Option<&str>| CallOrigin::App {
        conversation: conversation.map(str::to_owned),
        tool: GRANTED_TOOL.to_owned(),
        reaches_other_hosts: false,
    };
    for (of, origin, what) in [
        ("of c", CallOrigin::Model { conversation: "c".to_owned() }, "a model"),
        ("of c", app(Some("c")), "an app in the conversation"),
        ("1", app(None), "an app"),
        ("1", CallOrigin::CommandLine, "the command line"),
    ] {
        let call = repeat_call_as(&world, origin, (of, "2"), APPROVED_ARGUMENT);
        assert_requires_consent(&mut world, call, what).await;
    }
    let call = repeat_call_with(&world, ("of c", "3"), Some("c"), APPROVED_ARGUMENT);
    assert_call_sent(&mut world, call).await;
    world.close().await;
}

#[tokio::test]
async fn approval_covers_the_arguments_that_the_user_edited() {
    let mut world = start().await;
    let mut call = world.call("1", ASKING_TOOL, APPROVED_ARGUMENT);
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    let edited = Map::from_iter([("n".to_owned(), json!(APPROVED_ARGUMENT + 1))]);
    let request = world.host.edit_consent_request(request.id, ConsentRequestEdit::Arguments(edited)).await.unwrap();
    world.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await.unwrap();
    respond_to_sent_call(&mut world, call).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "the original arguments").await;
    let call = repeat_call_with(&world, ("1", "2"), None, APPROVED_ARGUMENT + 1);
    assert_call_sent(&mut world, call).await;
    world.close().await;
}

#[tokio::test]
async fn approved_call_of_a_destructive_tool_is_not_repeated() {
    let mut world = start().await;
    let mut tool = catalog("deletes everything").tool(ASKING_TOOL).expect("the list has the tool");
    tool.annotations = Some(ToolAnnotations { destructive_hint: Some(true), ..ToolAnnotations::default() });
    deliver_tool_list(&world, &[&[tool.clone()]]).await;
    pin_tools(&world, &[tool]).await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_requires_consent(&mut world, call, "a tool that declares that it is destructive").await;
    world.close().await;
}

#[tokio::test]
async fn approval_can_be_repeated_for_a_short_time_only() {
    let mut world = start().await;
    call_with_approval(&mut world, "1", ApprovalScope::Once).await;
    world.clock.advance(Duration::from_millis(CALL_REPETITION_PERIOD));
    let call = repeat_call_unchanged(&world, "1", "2");
    assert_call_sent(&mut world, call).await;
    world.clock.advance(Duration::from_millis(1));
    for of in ["1", "2"] {
        let call = repeat_call_unchanged(&world, of, "3");
        assert_requires_consent(&mut world, call, "an old approval").await;
    }
    world.close().await;
}

#[tokio::test]
async fn completed_call_reports_until_when_it_can_be_repeated() {
    let mut world = start().await;
    let mut events = world.host.events();
    let now = world.host.with_owner(|owner| owner.now()).await.unwrap();
    call_with_approval(&mut world, "once", ApprovalScope::Once).await;
    world.clock.advance(Duration::from_secs(1));
    let call = repeat_call_unchanged(&world, "once", "repeated");
    assert_call_sent(&mut world, call).await;
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
