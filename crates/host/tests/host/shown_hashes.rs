//! The hash that a consent request shows is the hash of its audit entry, by which the user finds the entry.

use domain::call::CallFailure;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::CallToolResult;
use policy::ApprovalScope;
use serde_json::{Map, json};
use server_requests::sampling::SamplingSettings;
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};
use testkit::calls::UserCalls as _;
use testkit::model::{ScriptedModel, model_named, text_reply};
use tokio::task::JoinHandle;

const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

fn spawn_call(app: &TestApp, server: &str, tool: &str) -> JoinHandle<Result<CallToolResult, CallFailure>> {
    let (host, server, tool) = (app.host.clone(), server.to_owned(), tool.to_owned());
    tokio::spawn(async move {
        host.call_tool("1".to_owned(), server, tool, Map::new(), None).await.map(|(result, _)| result)
    })
}

/// Approves a consent request, and checks that the audit log has exactly one entry of this kind, with the shown hash.
async fn decide_and_find_audit_entry(app: &TestApp, kind: &str, request: &ConsentRequestView, decision: UserDecision) {
    app.decide(request, decision).await;
    let entries = app.entries_of_kind(kind);
    let found: Vec<_> = entries.iter().map(|entry| (&*entry.decision, &*entry.hash)).collect();
    assert_eq!(found, [("allowed", request.hash.as_str())], "{kind}");
}

#[tokio::test]
async fn shown_hash_of_a_tool_call_and_of_a_form_is_logged() {
    let schema = json!({"type": "object", "properties": {"user": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "Who?", "requestedSchema": schema});
    let reply = json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
        "requestState": "s",
    });
    let reply = format!("tools/call={reply}");
    let app = TestApp::start(vec![("desk", scripted_config(&["--revision", "2026-07-28", "--reply", &reply]))]).await;
    app.ready("desk").await;
    app.until("desk", "known whole", |s| s.counts[0] > 0).await;
    let call = spawn_call(&app, "desk", "echo");
    let is_call = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request("desk", "the call", is_call).await;
    decide_and_find_audit_entry(&app, "tool", &request, ALLOW_ONCE).await;
    let is_form = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Form { .. });
    let request = app.consent_request("desk", "the form", is_form).await;
    let entered = json!({"user": "ann"}).as_object().cloned().unwrap();
    decide_and_find_audit_entry(&app, "elicitation", &request, UserDecision::Submit(entered)).await;
    app.host.cancel_call("1".to_owned()).await.unwrap();
    assert!(call.await.unwrap().is_err(), "the call has ended");
}

#[tokio::test]
async fn shown_hashes_of_both_steps_of_sampling_are_logged() {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("scripted-1")]).await;
    let settings = SamplingSettings { on: true, ..SamplingSettings::default() };
    app.host.set_sampling("harbour".to_owned(), settings).await.unwrap();
    let call = spawn_call(&app, "harbour", "ask_model");
    let is_call = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request("harbour", "the call", is_call).await;
    decide_and_find_audit_entry(&app, "tool", &request, ALLOW_ONCE).await;
    let is_answered = |request: &ConsentRequestView| match &request.body {
        ConsentRequestBody::Sampling { response, .. } => Some(response.is_some()),
        _ => None,
    };
    model.queue_reply(text_reply("Aye.", (3, 4)));
    let request =
        app.consent_request("harbour", "the model request", |request| is_answered(request) == Some(false)).await;
    decide_and_find_audit_entry(&app, "sampling", &request, ALLOW_ONCE).await;
    let request = app.consent_request("harbour", "the answer", |request| is_answered(request) == Some(true)).await;
    decide_and_find_audit_entry(&app, "sampling-answer", &request, ALLOW_ONCE).await;
    let ended = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call should end in time").unwrap();
    assert!(ended.is_ok(), "{ended:?}");
}

#[tokio::test]
async fn shown_hash_of_a_url_is_logged() {
    let params = json!({"mode": "url", "message": "Sign in.", "url": "https://example.org/a?b=c"});
    let reply = json!({
        "resultType": "input_required",
        "inputRequests": {"page": {"method": "elicitation/create", "params": params}},
        "requestState": "s",
    });
    let reply = format!("tools/call={reply}");
    let app = TestApp::start(vec![("desk", scripted_config(&["--revision", "2026-07-28", "--reply", &reply]))]).await;
    app.ready("desk").await;
    app.until("desk", "known whole", |s| s.counts[0] > 0).await;
    let call = spawn_call(&app, "desk", "echo");
    let is_call = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request("desk", "the call", is_call).await;
    app.decide(&request, ALLOW_ONCE).await;
    let is_url = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Url { .. });
    let request = app.consent_request("desk", "the URL", is_url).await;
    decide_and_find_audit_entry(&app, "url", &request, ALLOW_ONCE).await;
    app.host.cancel_call("1".to_owned()).await.unwrap();
    assert!(call.await.unwrap().is_err(), "the call has ended");
}

#[tokio::test]
async fn shown_hashes_of_folders_and_of_a_read_are_logged() {
    let app = TestApp::start(vec![("harbour", demo_config(&["--era", "legacy"]))]).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let call = spawn_call(&app, "harbour", "list_folders");
    let is_call = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
    let request = app.consent_request("harbour", "the call", is_call).await;
    app.decide(&request, ALLOW_ONCE).await;
    let is_roots = |request: &ConsentRequestView| request.body == ConsentRequestBody::Roots;
    let request = app.consent_request("harbour", "the folders", is_roots).await;
    app.decide(&request, UserDecision::Deny).await;
    let entries = app.entries_of_kind("roots");
    let first = entries.first().map(|entry| (&*entry.decision, &*entry.hash));
    assert_eq!(first, Some(("denied", request.hash.as_str())), "the denial has the shown hash");
    let ended = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call should end in time").unwrap();
    assert!(ended.is_ok(), "{ended:?}");
    app.add_rule(json!({"effect": "ask", "server": "harbour"})).await;
    let host = app.host.clone();
    let read = tokio::spawn(async move {
        host.read_resource("2".to_owned(), "harbour".to_owned(), "harbour:///guide.md".to_owned()).await
    });
    let is_read = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Read { .. });
    let request = app.consent_request("harbour", "the resource", is_read).await;
    decide_and_find_audit_entry(&app, "resource", &request, ALLOW_ONCE).await;
    let ended = tokio::time::timeout(EVENT_TIMEOUT, read).await.expect("the read should end in time").unwrap();
    assert!(ended.is_ok(), "{ended:?}");
}
