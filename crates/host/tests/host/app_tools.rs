//! Tools that a shown app provides to models (MCP Apps): the decision about each call, its audit entries, and the end of
//! the permission.

use std::sync::Arc;

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallState};
use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use host::{AppToolCommand, AppTools, CallOrigin, ReviewError, SentCall};
use mcp_proto::session::CallError;
use mcp_proto::types::{CallToolResult, Tool};
use policy::{ApprovalScope, Hash};
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

const SERVER: &str = "board";
const CONVERSATION: &str = "c";
/// Tool of the app. The server has a tool of this name, too.
const TOOL: &str = "echo";
const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

fn shown_app() -> ProvidingApp {
    ProvidingApp { view: "view".to_owned(), tool: "show".to_owned() }
}

fn app_tool(value: Value) -> Tool {
    serde_json::from_value(value).unwrap()
}

async fn start() -> TestApp {
    let list = json!({ "tools": [{ "name": TOOL, "inputSchema": { "type": "object" } }] });
    let app = TestApp::start(vec![(SERVER, scripted_config(&["--reply", &format!("tools/list={list}")]))]).await;
    app.ready(SERVER).await;
    app
}

/// Commands that the task of the app receives, and the value that exists while the app is shown.
type ShownAppChannels = (mpsc::Receiver<AppToolCommand>, Arc<()>);

/// Turns on the tool of the app as the user does, and returns the values that the app's task would hold.
async fn turn_on(app: &TestApp, tool: Tool) -> ShownAppChannels {
    let (commands, received) = mpsc::channel(4);
    let shown = Arc::new(());
    let (server, conversation) = (SERVER.to_owned(), CONVERSATION.to_owned());
    let hash = Hash::of_json(&json!([tool])).to_string();
    let (tools, own) = (Arc::new(vec![tool]), Arc::downgrade(&shown));
    let tools = AppTools { server, app: shown_app(), conversation, tools, commands, shown: own };
    app.host.turn_on_app_tools(tools, hash).await.unwrap();
    (received, shown)
}

async fn turn_on_echo(app: &TestApp) -> ShownAppChannels {
    turn_on(app, app_tool(json!({ "name": TOOL, "inputSchema": { "type": "object" } }))).await
}

type RunningCall = JoinHandle<Result<CallToolResult, CallFailure>>;

fn spawn_call(app: &TestApp, id: &str, conversation: &str) -> RunningCall {
    spawn_watched_call(app, id, conversation, oneshot::channel().0)
}

/// Makes a call whose caller is notified by `sent` once the app's task has sent the call to the app's page.
fn spawn_watched_call(app: &TestApp, id: &str, conversation: &str, sent: oneshot::Sender<SentCall>) -> RunningCall {
    let (host, id) = (app.host.clone(), id.to_owned());
    let origin = CallOrigin::Model { conversation: conversation.to_owned() };
    let arguments: Map<String, Value> = std::iter::once(("text".to_owned(), json!("soft"))).collect();
    let receiver = (SERVER.to_owned(), shown_app());
    tokio::spawn(async move { host.call_app_tool_as(origin, id, receiver, TOOL.to_owned(), arguments, sent).await })
}

async fn call_result(call: RunningCall) -> Result<CallToolResult, CallFailure> {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call should end in time").unwrap()
}

fn is_app_call(request: &ConsentRequestView) -> bool {
    matches!(&request.body, ConsentRequestBody::Tool { app: Some(app), .. } if *app == shown_app())
}

async fn next_command(received: &mut mpsc::Receiver<AppToolCommand>) -> AppToolCommand {
    let received = tokio::time::timeout(EVENT_TIMEOUT, received.recv()).await;
    received.expect("the command should come in time").expect("the host should run")
}

/// A call that was sent to the page of the app.
struct ReceivedCall {
    name: String,
    arguments: Map<String, Value>,
    reply: oneshot::Sender<Result<CallToolResult, CallError>>,
}

/// Receives a call as the task of the app, and sends it to the app's page.
async fn receive_call(received: &mut mpsc::Receiver<AppToolCommand>) -> ReceivedCall {
    let AppToolCommand::Call { name, arguments, delivered, reply, .. } = next_command(received).await else {
        panic!("the app should receive the call")
    };
    delivered.send(()).unwrap();
    ReceivedCall { name, arguments, reply }
}

/// Starts a call, and approves it.
async fn spawn_approved_call(app: &TestApp, id: &str, sent: oneshot::Sender<SentCall>) -> RunningCall {
    let called = spawn_watched_call(app, id, CONVERSATION, sent);
    let request = app.consent_request(SERVER, "the call", is_app_call).await;
    app.decide(&request, ALLOW_ONCE).await;
    called
}

fn call_decisions(app: &TestApp) -> Vec<String> {
    app.entries_of_kind("app-tool").iter().map(|entry| entry.decision.to_string()).collect()
}

// [apps-draft-tools-audit]
#[tokio::test]
async fn each_call_needs_consent_and_reaches_only_the_app() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    // Neither the rule nor the review of the server's tool of the same name allows calls of the app's tool.
    app.add_rule(json!({ "effect": "allow", "server": SERVER, "tool": "*", "after_untrusted": true })).await;
    for id in ["1", "2"] {
        let called = spawn_call(&app, id, CONVERSATION);
        let request = app.consent_request(SERVER, "the call", is_app_call).await;
        assert_eq!((request.reason, request.scopes), ("app-tools-ask", &[ApprovalScope::Once][..]));
        assert!(matches!(request.origin, ConsentRequestOrigin::Model { .. }), "{:?}", request.origin);
        let lasting =
            app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Always)).await;
        assert!(lasting.is_err(), "an approval should not last");
        app.decide(&request, ALLOW_ONCE).await;
        let ReceivedCall { name, arguments, reply } = receive_call(&mut received).await;
        assert_eq!((name.as_str(), Value::Object(arguments)), (TOOL, json!({ "text": "soft" })));
        let result = CallToolResult { structured_content: Some(json!(3)), ..CallToolResult::default() };
        reply.send(Ok(result)).unwrap();
        assert_eq!(call_result(called).await.unwrap().structured_content, Some(json!(3)));
    }
    let entries = app.entries_of_kind("app-tool");
    let decisions: Vec<_> = entries.iter().map(|entry| (&*entry.decision, &*entry.asker, &*entry.subject)).collect();
    let subject = r#"{"app":"show","tool":"echo"}"#;
    assert_eq!(decisions, [("allowed", "model", subject), ("allowed", "model", subject)]);
    assert!(app.entries_of_kind("tool").is_empty(), "the server should receive no call");
    assert!(app.host.grants().await.unwrap().iter().all(|grant| grant.words != TOOL), "no grant should be added");
}

#[tokio::test]
async fn deny_rules_apply_and_other_conversations_have_no_such_tool() {
    let app = start().await;
    let _received = turn_on_echo(&app).await;
    let other = call_result(spawn_call(&app, "1", "other")).await;
    assert!(matches!(other, Err(CallFailure::NotFound(_))), "{other:?}");
    app.add_rule(json!({ "effect": "deny", "server": SERVER, "tool": TOOL })).await;
    let denied = call_result(spawn_call(&app, "2", CONVERSATION)).await;
    assert!(matches!(denied, Err(CallFailure::Refused { .. })), "{denied:?}");
    assert!(app.consent_requests().await.is_empty(), "the user should not be asked");
    let entries = app.entries_of_kind("app-tool");
    assert_eq!(entries.iter().map(|entry| &*entry.decision).collect::<Vec<_>>(), ["denied"]);
}

#[tokio::test]
async fn turning_tools_off_withdraws_pending_calls_and_is_recorded() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let pending = spawn_call(&app, "1", CONVERSATION);
    app.consent_request(SERVER, "the call", is_app_call).await;
    app.host.turn_off_app_tools(shown_app().view, true).await.unwrap();
    assert_eq!(call_result(pending).await, Err(CallFailure::Cancelled));
    assert!(app.consent_requests().await.is_empty());
    assert!(matches!(call_result(spawn_call(&app, "2", CONVERSATION)).await, Err(CallFailure::NotFound(_))));
    assert!(received.try_recv().is_err(), "the app should receive nothing");
    let entries = app.entries_of_kind("app-tools");
    let decisions: Vec<_> = entries.iter().map(|entry| (&*entry.decision, &*entry.hash)).collect();
    let hash = Hash::of_json(&json!([app_tool(json!({ "name": TOOL, "inputSchema": { "type": "object" } }))]));
    assert_eq!(decisions, [("allowed", hash.as_str()), ("revoked", "")]);
}

#[tokio::test]
async fn approval_of_a_call_has_no_effect_if_the_definition_changes() {
    let app = start().await;
    let _received = turn_on_echo(&app).await;
    let called = spawn_call(&app, "1", CONVERSATION);
    let request = app.consent_request(SERVER, "the call", is_app_call).await;
    // Replaced without turning the tools off, which the crate `app-views` never does.
    let changed = json!({ "name": TOOL, "description": "Sends it away", "inputSchema": { "type": "object" } });
    let (mut received, _shown) = turn_on(&app, app_tool(changed)).await;
    app.decide(&request, ALLOW_ONCE).await;
    let refused = call_result(called).await;
    assert!(matches!(refused, Err(CallFailure::Refused { .. })), "{refused:?}");
    assert!(received.try_recv().is_err(), "the app should receive nothing");
    let entries = app.entries_of_kind("app-tool");
    let decisions: Vec<_> = entries.iter().map(|entry| &*entry.decision).collect();
    assert_eq!(decisions, ["allowed", "withdrawn"], "the log should state that nothing was sent");
}

#[tokio::test]
async fn tools_other_than_those_that_the_user_saw_are_not_turned_on() {
    let app = start().await;
    let (commands, _received) = mpsc::channel(1);
    let shown = Arc::new(());
    let (server, conversation) = (SERVER.to_owned(), CONVERSATION.to_owned());
    let tool = app_tool(json!({ "name": TOOL, "inputSchema": { "type": "object" } }));
    let (tools, shown) = (Arc::new(vec![tool]), Arc::downgrade(&shown));
    let tools = AppTools { server, app: shown_app(), conversation, tools, commands, shown };
    let refused = app.host.turn_on_app_tools(tools, Hash::of_json(&json!([])).to_string()).await;
    assert!(matches!(refused, Err(ReviewError::Stale(_))), "{refused:?}");
    assert!(app.host.app_tools_for_model(CONVERSATION.to_owned()).await.unwrap().is_empty());
    assert!(app.entries_of_kind("app-tools").is_empty(), "the log should contain no decision");
}

#[tokio::test]
async fn calls_that_were_not_sent_to_the_page_are_recorded_as_withdrawn() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let unsent = CallError::Undelivered { cause: "closed".to_owned(), sent: false };
    for (id, error) in [("1", unsent), ("2", CallError::TooManyCalls)] {
        let (sent, was_sent) = oneshot::channel();
        let called = spawn_approved_call(&app, id, sent).await;
        let AppToolCommand::Call { delivered, reply, .. } = next_command(&mut received).await else {
            panic!("the app's task should receive the call")
        };
        drop(delivered);
        reply.send(Err(error)).unwrap();
        assert!(call_result(called).await.is_err());
        assert!(was_sent.await.is_err(), "the caller should not hear that the call was sent");
    }
    assert_eq!(call_decisions(&app), ["allowed", "withdrawn", "allowed", "withdrawn"]);
}

#[tokio::test]
async fn a_call_counts_as_sent_once_the_page_of_the_app_gets_it() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let (sent, mut was_sent) = oneshot::channel();
    let called = spawn_approved_call(&app, "1", sent).await;
    let AppToolCommand::Call { delivered, reply, .. } = next_command(&mut received).await else {
        panic!("the app's task should receive the call")
    };
    let state = async || app.host.snapshot().await.unwrap().calls.iter().map(|call| call.state).collect::<Vec<_>>();
    assert!(matches!(was_sent.try_recv(), Err(TryRecvError::Empty)), "the call waits for the app's task");
    assert_eq!(state().await, [CallState::AwaitingApproval]);
    delivered.send(()).unwrap();
    assert_eq!(was_sent.await.unwrap().edited, None);
    assert_eq!(state().await, [CallState::Running]);
    let lost = CallError::Undelivered { cause: "closed".to_owned(), sent: true };
    reply.send(Err(lost)).unwrap();
    assert!(call_result(called).await.is_err());
    assert_eq!(call_decisions(&app), ["allowed"], "the app may have acted on the call");
}

#[tokio::test]
async fn a_call_is_not_sent_if_the_app_is_closed_after_its_approval() {
    let app = start().await;
    let (mut received, shown) = turn_on_echo(&app).await;
    // Its task ends while the call waits for it.
    let (sent, was_sent) = oneshot::channel();
    let called = spawn_approved_call(&app, "1", sent).await;
    drop(next_command(&mut received).await);
    let failed = call_result(called).await;
    let is_unsent = |failure: &CallFailure| {
        matches!(failure, CallFailure::Session { server, error } if server == SERVER
            && matches!(**error, CallError::Undelivered { sent: false, .. }))
    };
    assert!(failed.as_ref().is_err_and(is_unsent), "{failed:?}");
    assert!(was_sent.await.is_err(), "the caller should not hear that the call was sent");
    assert_eq!(call_decisions(&app), ["allowed", "withdrawn"]);
    // It is closed while the user decides.
    let (sent, was_sent) = oneshot::channel();
    let called = spawn_watched_call(&app, "2", CONVERSATION, sent);
    let request = app.consent_request(SERVER, "the call", is_app_call).await;
    drop(shown);
    assert!(app.host.app_tools_for_model(CONVERSATION.to_owned()).await.unwrap().is_empty());
    app.decide(&request, ALLOW_ONCE).await;
    assert!(call_result(called).await.is_err());
    assert!(was_sent.await.is_err(), "the caller should not hear that the call was sent");
    assert!(received.try_recv().is_err(), "the app should receive nothing");
    assert_eq!(call_decisions(&app), ["allowed", "withdrawn", "allowed", "withdrawn"]);
}

fn is_cancellation_of(command: &AppToolCommand, id: &str) -> bool {
    matches!(command, AppToolCommand::Cancel { call } if call == id)
}

#[tokio::test]
async fn running_calls_are_cancelled_in_the_app_also_after_its_tools_were_turned_off() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let called = spawn_approved_call(&app, "1", oneshot::channel().0).await;
    let ReceivedCall { reply, .. } = receive_call(&mut received).await;
    app.host.turn_off_app_tools(shown_app().view, true).await.unwrap();
    assert!(is_cancellation_of(&next_command(&mut received).await, "1"));
    assert!(app.host.cancel_call("1".to_owned()).await.unwrap(), "the call was sent");
    assert!(is_cancellation_of(&next_command(&mut received).await, "1"), "Stop should still reach the app");
    for _ in 0..4 {
        app.host.cancel_call("1".to_owned()).await.unwrap();
    }
    let busy = app.host.cancel_call("1".to_owned()).await;
    assert!(matches!(busy, Err(CallFailure::Busy { .. })), "the caller has to repeat the cancellation: {busy:?}");
    reply.send(Err(CallError::Cancelled)).unwrap();
    assert_eq!(call_result(called).await, Err(CallFailure::Cancelled));
}

#[tokio::test]
async fn tools_are_turned_off_when_the_run_of_the_server_ends() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let called = spawn_approved_call(&app, "1", oneshot::channel().0).await;
    let ReceivedCall { reply: _reply, .. } = receive_call(&mut received).await;
    app.host.stop_server(SERVER.to_owned()).await.unwrap();
    assert!(is_cancellation_of(&next_command(&mut received).await, "1"));
    let failed = call_result(called).await;
    assert!(matches!(&failed, Err(CallFailure::Session { server, .. }) if server == SERVER), "{failed:?}");
    assert!(app.host.app_tools_for_model(CONVERSATION.to_owned()).await.unwrap().is_empty());
}

#[tokio::test]
async fn call_ends_if_the_app_is_closed() {
    let app = start().await;
    let (mut received, _shown) = turn_on_echo(&app).await;
    let called = spawn_approved_call(&app, "1", oneshot::channel().0).await;
    drop(receive_call(&mut received).await);
    let failed = call_result(called).await;
    assert!(matches!(&failed, Err(CallFailure::Session { server, .. }) if server == SERVER), "{failed:?}");
    assert_eq!(call_decisions(&app), ["allowed"], "the app may have acted on the call");
    drop(received);
    assert!(app.host.app_tools_for_model(CONVERSATION.to_owned()).await.unwrap().is_empty());
}
