//! Tools that are turned off for models in the server's settings: changes apply to pending calls, and are recorded in
//! the audit log.

use domain::call::CallFailure;
use host::CallOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::CallToolResult;
use policy::ApprovalScope;
use ports::server_config::{ServerConfig, ServerEntry, ToolFilter};
use serde_json::{Map, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use tokio::task::JoinHandle;

const SERVER: &str = "files";

fn files_server(disabled: &[&str]) -> ServerConfig {
    let list =
        json!({"tools": [{"name": "echo", "description": "Returns its input", "inputSchema": {"type": "object"}}]});
    let tools = ToolFilter { enabled: None, disabled: disabled.iter().map(|&tool| tool.to_owned()).collect() };
    ServerConfig { tools, ..scripted_config(&["--reply", &format!("tools/list={list}")]) }
}

async fn set_disabled(app: &TestApp, disabled: &[&str]) {
    let entry = ServerEntry { name: SERVER.to_owned(), config: files_server(disabled) };
    app.host.update_server(SERVER.into(), entry).await.unwrap();
}

fn spawn_call(app: &TestApp, id: &str, origin: CallOrigin) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, id) = (app.host.clone(), id.to_owned());
    let sent = tokio::sync::oneshot::channel().0;
    tokio::spawn(async move { host.call_tool_as(origin, id, SERVER.into(), "echo".into(), Map::new(), sent).await })
}

fn model_origin() -> CallOrigin {
    CallOrigin::Model { conversation: "conversation".to_owned() }
}

fn is_call_of(call: &str) -> impl Fn(&ConsentRequestView) -> bool {
    move |consent_request| {
        matches!(consent_request.body, ConsentRequestBody::Tool { .. }) && consent_request.call.as_deref() == Some(call)
    }
}

async fn call_result(call: JoinHandle<Result<CallToolResult, CallFailure>>) -> Result<CallToolResult, CallFailure> {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends in time").unwrap()
}

fn is_turned_off(result: &Result<CallToolResult, CallFailure>) -> bool {
    matches!(result, Err(CallFailure::Refused(cause)) if cause.contains("turned off for models"))
}

#[tokio::test]
async fn a_pending_call_of_a_model_is_refused_once_its_tool_is_turned_off() {
    let app = TestApp::start(vec![(SERVER, files_server(&[]))]).await;
    app.ready(SERVER).await;
    let by_model = spawn_call(&app, "by-model", model_origin());
    let by_user = spawn_call(&app, "by-user", CallOrigin::User { conversation: None });
    let request = app.consent_request(SERVER, "the model's call", is_call_of("by-model")).await;
    let users = app.consent_request(SERVER, "the user's call", is_call_of("by-user")).await;
    set_disabled(&app, &["ec*"]).await;
    let refused = call_result(by_model).await;
    assert!(is_turned_off(&refused), "the model's call is refused: {refused:?}");
    let approval = UserDecision::Allow(ApprovalScope::Once);
    let late = app.host.decide(request.id, request.hash.to_string(), approval.clone()).await;
    assert!(matches!(late, Err(host::DecisionError::NotOpen)), "a late approval sends nothing: {late:?}");
    app.decide(&users, approval).await;
    call_result(by_user).await.expect("the user's own call is still possible");
}

#[tokio::test]
async fn a_refusal_and_each_change_of_the_lists_are_in_the_audit_log() {
    let app = TestApp::start(vec![(SERVER, files_server(&["echo"]))]).await;
    app.ready(SERVER).await;
    let refused = call_result(spawn_call(&app, "refused", model_origin())).await;
    assert!(is_turned_off(&refused), "{refused:?}");
    assert!(app.consent_requests().await.is_empty(), "no consent is requested");
    set_disabled(&app, &[]).await;
    let read = |kind: &str| {
        let query = ports::AuditQuery { kind: Some(kind.to_owned()), ..ports::AuditQuery::latest(10) };
        app.host.ports().audit.read(&query).unwrap()
    };
    let calls = read("tool");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&*calls[0].decision, &*calls[0].rule, &*calls[0].asker), ("denied", "settings", "model"));
    let changes = read("tools");
    let subject =
        json!({ "after": { "disabled": [], "enabled": null }, "before": { "disabled": ["echo"], "enabled": null } });
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!((&*changes[0].server, &*changes[0].decision), (SERVER, "noted"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&changes[0].subject).unwrap(), subject);
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_turned_on_still_requires_consent() {
    let app = TestApp::start(vec![(SERVER, files_server(&["*"]))]).await;
    app.ready(SERVER).await;
    set_disabled(&app, &[]).await;
    let by_model = spawn_call(&app, "by-model", model_origin());
    let request = app.consent_request(SERVER, "the model's call", is_call_of("by-model")).await;
    assert_eq!(request.rule, "tools-ask", "the preset requires consent for each call");
    app.decide(&request, UserDecision::Deny).await;
    let denied = call_result(by_model).await;
    assert!(matches!(denied, Err(CallFailure::Refused(_))), "{denied:?}");
}
