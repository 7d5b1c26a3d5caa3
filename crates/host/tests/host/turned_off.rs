//! Tools that are turned off for models in the server's settings: changes apply to pending calls, and are recorded in
//! the audit log.

use domain::call::{CallFailure, CallRefusal};
use host::rules::DryRunAct;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use host::{CallOrigin, HostOptions};
use mcp_proto::types::CallToolResult;
use policy::{ApprovalScope, DecisionReason, DecisionSource, PolicyDecision};
use ports::server_config::{ServerConfig, ServerEntry, ToolFilter};
use serde_json::{Map, Value, json};
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
    matches!(result, Err(CallFailure::Refused { refusal: CallRefusal::NotOffered, text }) if text.contains("turned off"))
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
async fn a_refusal_and_each_change_of_the_tool_lists_are_in_the_audit_log() {
    let app = TestApp::start(vec![(SERVER, files_server(&["echo"]))]).await;
    app.ready(SERVER).await;
    let refused = call_result(spawn_call(&app, "refused", model_origin())).await;
    assert!(is_turned_off(&refused), "{refused:?}");
    assert!(app.consent_requests().await.is_empty(), "no consent is requested");
    set_disabled(&app, &[]).await;
    let calls = app.entries_of_kind("tool");
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&*calls[0].decision, &*calls[0].rule, &*calls[0].asker), ("denied", "settings", "model"));
    let changes = app.entries_of_kind("tools");
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!((&*changes[1].server, &*changes[1].decision), (SERVER, "noted"));
    let lists = |disabled: &[&str]| json!({ "disabled": disabled, "enabled": null });
    assert_eq!(parse_json(&changes[0].subject), json!({ "started": lists(&["echo"]) }));
    assert_eq!(parse_json(&changes[1].subject), json!({ "after": lists(&[]), "before": lists(&["echo"]) }));
}

fn parse_json(subject: &str) -> Value {
    serde_json::from_str(subject).unwrap()
}

#[tokio::test]
async fn tool_lists_changed_with_the_server_name_are_audited() {
    let app = TestApp::start(vec![(SERVER, files_server(&["echo"]))]).await;
    let rename = async |from: &str, to: &str, disabled: &[&str]| {
        let entry = ServerEntry { name: to.to_owned(), config: files_server(disabled) };
        app.host.update_server(from.to_owned(), entry).await.unwrap();
    };
    rename(SERVER, "papers", &["echo"]).await;
    assert!(app.entries_of_kind("tools").is_empty(), "the same lists are no change");
    rename("papers", "documents", &["e*"]).await;
    let changes = app.entries_of_kind("tools");
    let [change] = &changes[..] else { panic!("the change has one entry: {changes:?}") };
    assert_eq!(change.server, "documents");
    let lists = |disabled: &[&str]| json!({ "disabled": disabled, "enabled": null });
    assert_eq!(parse_json(&change.subject), json!({ "after": lists(&["e*"]), "before": lists(&["echo"]) }));
}

#[tokio::test]
async fn each_start_with_tool_lists_records_them() {
    let app = TestApp::start(vec![(SERVER, files_server(&["echo"]))]).await;
    app.ready(SERVER).await;
    app.host.close().await;
    let TestApp { folder, host, .. } = app;
    drop(host);
    let set_in_file = |disabled: Value| {
        let file = folder.path().join("mcp.json");
        let mut settings = parse_json(&std::fs::read_to_string(&file).unwrap());
        let before = settings["mcpServers"][SERVER]["disabledTools"].clone();
        settings["mcpServers"][SERVER]["disabledTools"] = disabled;
        std::fs::write(&file, settings.to_string()).unwrap();
        before
    };
    assert_eq!(set_in_file(json!(["ec*"])), json!(["echo"]), "the file has the list");
    let app = TestApp::start_in_folder(folder, vec![], HostOptions::default()).await;
    app.ready(SERVER).await;
    let starts = app.entries_of_kind("tools");
    let subjects: Vec<Value> = starts.iter().map(|entry| parse_json(&entry.subject)).collect();
    let started = |disabled: &str| json!({ "started": { "disabled": [disabled], "enabled": null } });
    assert_eq!(subjects, [started("echo"), started("ec*")], "the change while the app was closed shows at the start");
    app.host.close().await;
}

#[tokio::test]
async fn a_dry_run_reports_that_models_cannot_call_the_tool() {
    let app = TestApp::start(vec![(SERVER, files_server(&[]))]).await;
    app.ready(SERVER).await;
    let run = async |after_untrusted: bool| {
        let (tool, arguments) = ("echo".to_owned(), Map::new());
        let act = DryRunAct::Tool { tool, arguments, conversation: None, after_untrusted };
        app.host.dry_run(SERVER.to_owned(), act).await.unwrap()
    };
    let before = run(true).await;
    let requires_consent = matches!(before.explanation.decision, PolicyDecision::Ask { .. });
    assert!(requires_consent && !before.turned_off, "a call of a tool that is offered asks: {before:?}");
    set_disabled(&app, &["ec*"]).await;
    let by_model = run(true).await;
    let denied = PolicyDecision::Deny { reason: DecisionReason::TurnedOff, by: DecisionSource::BuiltIn };
    assert_eq!((by_model.explanation.decision, by_model.turned_off), (denied, true));
    let other = run(false).await;
    let requires_consent = matches!(other.explanation.decision, PolicyDecision::Ask { .. });
    assert!(requires_consent && other.turned_off, "the user's own call is still possible: {other:?}");
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_turned_on_still_requires_consent() {
    let app = TestApp::start(vec![(SERVER, files_server(&["*"]))]).await;
    app.ready(SERVER).await;
    set_disabled(&app, &[]).await;
    let by_model = spawn_call(&app, "by-model", model_origin());
    let request = app.consent_request(SERVER, "the model's call", is_call_of("by-model")).await;
    assert_eq!(request.reason, "tools-ask", "the preset requires consent for each call");
    app.decide(&request, UserDecision::Deny).await;
    let denied = call_result(by_model).await;
    assert!(matches!(denied, Err(CallFailure::Refused { .. })), "{denied:?}");
}
