//! Tool calls by apps, which are pages of the called server (MCP Apps): who may call which tool, and consent to calls.

use domain::app_view::AppStopCause;
use domain::call::CallFailure;
use domain::consent_request::ConsentRequestOrigin;
use host::CallOrigin;
use host::view::{ConsentRequestBody, UserDecision};
use mcp_proto::types::CallToolResult;
use policy::ApprovalScope;
use ports::server_config::ServerConfig;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use tokio::task::JoinHandle;

const SERVER: &str = "monitor";
/// Tool that only apps may call.
const APP_TOOL: &str = "echo";
/// Tool that only models may call.
const MODEL_TOOL: &str = "environment";

fn monitor_server() -> ServerConfig {
    let tool = |name: &str, visibility: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "_meta": { "ui": { "visibility": visibility } } });
    let list = json!({ "tools": [tool(APP_TOOL, json!(["app"])), tool(MODEL_TOOL, json!(["model"]))] });
    scripted_config(&["--reply", &format!("tools/list={list}")])
}

fn app_origin(reaches_other_hosts: bool) -> CallOrigin {
    CallOrigin::App { conversation: Some("c".to_owned()), tool: "show-monitor".to_owned(), reaches_other_hosts }
}

fn spawn_call(
    app: &TestApp,
    id: &str,
    origin: CallOrigin,
    tool: &str,
) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, id, tool) = (app.host.clone(), id.to_owned(), tool.to_owned());
    let sent = tokio::sync::oneshot::channel().0;
    tokio::spawn(async move { host.call_tool_as(origin, id, SERVER.into(), tool, Map::new(), sent).await })
}

async fn call_result(call: JoinHandle<Result<CallToolResult, CallFailure>>) -> Result<CallToolResult, CallFailure> {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call should end in time").unwrap()
}

#[tokio::test]
async fn a_tool_is_refused_to_callers_that_its_server_excludes() {
    let app = TestApp::start(vec![(SERVER, monitor_server())]).await;
    app.ready(SERVER).await;
    let model = CallOrigin::Model { conversation: "c".to_owned() };
    let by_model = call_result(spawn_call(&app, "1", model, APP_TOOL)).await;
    assert!(
        matches!(&by_model, Err(CallFailure::Refused { text, .. }) if text.contains("only to its apps")),
        "a tool without `model` should be refused to models: {by_model:?}"
    );
    let by_app = call_result(spawn_call(&app, "2", app_origin(false), MODEL_TOOL)).await;
    assert!(
        matches!(&by_app, Err(CallFailure::Refused { text, .. }) if text.contains("doesn't offer the tool to its apps")),
        "a tool without `app` should be refused to apps: {by_app:?}"
    );
    assert!(app.consent_requests().await.is_empty(), "a refused call should not ask the user");
    let entries = app.entries_of_kind("tool");
    let refused: Vec<_> = entries.iter().map(|entry| (&*entry.decision, &*entry.rule, &*entry.asker)).collect();
    assert_eq!(refused, [("denied", "visibility", "model"), ("denied", "visibility", "app")]);
}

// [apps-log-rpc]
#[tokio::test]
async fn a_call_by_an_app_requires_consent_and_names_the_app() {
    let app = TestApp::start(vec![(SERVER, monitor_server())]).await;
    app.ready(SERVER).await;
    let called = spawn_call(&app, "1", app_origin(false), APP_TOOL);
    let request = app
        .consent_request(SERVER, "the app's call", |request| matches!(request.body, ConsentRequestBody::Tool { .. }))
        .await;
    let ConsentRequestOrigin::App { conversation, tool, reaches_other_hosts } = &request.origin else {
        panic!("the request should come from the app: {:?}", request.origin)
    };
    assert_eq!((conversation.as_deref(), tool.as_str(), *reaches_other_hosts), (Some("c"), "show-monitor", false));
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    call_result(called).await.expect("the approved call should return a result");
    call_result(spawn_call(&app, "2", app_origin(false), APP_TOOL))
        .await
        .expect("the grant should allow the next call");
    let entries = app.entries_of_kind("tool");
    assert!(
        entries.iter().all(|entry| entry.asker == "app"),
        "each entry should name the app as the caller: {entries:?}"
    );
}

#[tokio::test]
async fn a_grant_does_not_cover_an_app_that_other_hosts_can_influence() {
    let app = TestApp::start(vec![(SERVER, monitor_server())]).await;
    app.ready(SERVER).await;
    let allowed = spawn_call(&app, "1", app_origin(false), APP_TOOL);
    let is_call = |request: &host::view::ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request(SERVER, "the first call", is_call).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    call_result(allowed).await.expect("the approved call should return a result");
    let called = spawn_call(&app, "2", app_origin(true), APP_TOOL);
    let request = app.consent_request(SERVER, "the influenced call", is_call).await;
    assert_eq!(request.reason, "after-untrusted", "content of other hosts may have caused the call");
    app.decide(&request, UserDecision::Deny).await;
    let refused = call_result(called).await;
    assert!(matches!(refused, Err(CallFailure::Refused { .. })), "{refused:?}");
}

#[tokio::test]
async fn any_arguments_are_allowed_only_while_no_call_could_ask_or_be_denied() {
    let app = TestApp::start(vec![(SERVER, monitor_server())]).await;
    app.ready(SERVER).await;
    app.host.record_conversation_servers("c".to_owned(), Vec::new(), true).await.unwrap();
    let model = CallOrigin::Model { conversation: "c".to_owned() };
    let allows = |origin: &CallOrigin, tool: &str| {
        app.host.allows_every_call_of_tool(origin.clone(), SERVER.to_owned(), tool.to_owned())
    };
    let allows_any = |tool: &str| allows(&model, tool);
    assert!(!allows_any(MODEL_TOOL).await.unwrap(), "a call without a rule should ask");
    assert!(!allows_any("missing").await.unwrap(), "an unknown tool should not be allowed");
    let called = spawn_call(&app, "1", model.clone(), MODEL_TOOL);
    let is_call = |request: &host::view::ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request(SERVER, "the first call", is_call).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await;
    call_result(called).await.expect("the approved call should return a result");
    assert!(allows_any(MODEL_TOOL).await.unwrap(), "the grant should allow any arguments");
    assert!(!allows_any(APP_TOOL).await.unwrap(), "a tool for apps only should be refused to a model");
    app.host.record_conversation_servers("d".to_owned(), vec!["mail".to_owned()], true).await.unwrap();
    let influenced = CallOrigin::Model { conversation: "d".to_owned() };
    let allowed = allows(&influenced, MODEL_TOOL).await.unwrap();
    assert!(!allowed, "a grant should not cover calls after untrusted content");
    let condition = json!([{ "at": "/path", "glob": "/home/*" }]);
    let rule = json!({ "effect": "ask", "server": SERVER, "tool": MODEL_TOOL, "arguments": condition });
    app.add_rule(rule).await;
    assert!(!allows_any(MODEL_TOOL).await.unwrap(), "a rule may ask about some arguments");
}

#[tokio::test]
async fn an_app_that_was_closed_with_its_page_is_in_the_activity_log_of_its_server() {
    let app = TestApp::start(vec![(SERVER, monitor_server())]).await;
    app.ready(SERVER).await;
    let tool = "show\u{202e}monitor".to_owned();
    let expected_reasons = [
        (AppStopCause::Unresponsive, "the page of its window stopped responding"),
        (AppStopCause::MemoryLimit, "its window used too much memory"),
    ];
    for (cause, reason) in expected_reasons {
        app.host.log_stopped_app(SERVER.to_owned(), tool.clone(), cause).await.expect("the host is running");
        let activity = app.activity(SERVER).await;
        let expected = format!("the app of \"show\\u{{202e}}monitor\" was closed because {reason}");
        assert!(activity.contains(&expected), "the entry should name the tool, with visible characters: {activity}");
    }
    let gone = app.host.log_stopped_app("gone".to_owned(), "x".to_owned(), AppStopCause::PageEnded).await;
    assert!(gone.is_ok(), "a server that was removed has no activity log");
}
