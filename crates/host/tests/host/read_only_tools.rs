//! Read-only tools of a server that the user allows together. Only tools with reviewed definitions are offered, and a
//! tool whose definition changes later requires consent again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use domain::call::CallFailure;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use host::{DecisionError, HostOptions};
use policy::{ApprovalScope, GrantSubject};
use ports::Document;
use ports::secrets::SecretsInMemory;
use ports::server_config::{ServerConfig, ServerEntry};
use serde_json::{Map, Value, json};
use testkit::app::{TestApp, scripted_config};
use testkit::calls::UserCalls as _;
use tokio::task::JoinHandle;

use crate::roots::FailingDocuments;

const SERVER: &str = "library";

fn tool_json(name: &str, annotations: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations})
}

fn read_only_annotations() -> Value {
    json!({"readOnlyHint": true, "openWorldHint": false})
}

fn server_with_tools(tools: &[Value]) -> ServerConfig {
    scripted_config(&["--reply", &format!("tools/list={}", json!({ "tools": tools }))])
}

fn spawn_call(app: &TestApp, id: &str, tool: &str) -> JoinHandle<Result<(), CallFailure>> {
    let (host, id, tool) = (app.host.clone(), id.to_owned(), tool.to_owned());
    tokio::spawn(async move { host.call_tool(id, SERVER.into(), tool, Map::new(), None).await.map(drop) })
}

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

/// Calls a tool and approves the call once, which marks the tool's definition as reviewed.
async fn mark_tool_reviewed(app: &TestApp, tool: &str) {
    let called = spawn_call(app, tool, tool);
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    // A tool that the server lists and does not have returns an error, which is a result, too.
    let _ = called.await.unwrap();
}

/// Returns the read-only tools that a consent request offers to allow together.
fn offered_tools(request: &ConsentRequestView) -> Vec<&str> {
    match &request.body {
        ConsentRequestBody::Tool { read_only, .. } => read_only.iter().map(String::as_str).collect(),
        other => panic!("it is a call of a tool: {other:?}"),
    }
}

async fn granted_tools(app: &TestApp) -> Vec<String> {
    let grants = app.host.grants().await.unwrap().into_iter();
    let mut tools: Vec<_> = grants
        .filter_map(|grant| match grant.subject {
            GrantSubject::Tool(tool) => Some(tool),
            GrantSubject::Command => None,
        })
        .collect();
    tools.sort_unstable();
    tools
}

fn owned_names(tools: &[&str]) -> Vec<String> {
    tools.iter().map(|&tool| tool.to_owned()).collect()
}

#[tokio::test]
async fn only_reviewed_read_only_tools_are_allowed_together() {
    let tools = [
        tool_json("echo", read_only_annotations()),
        tool_json("wait", read_only_annotations()),
        tool_json("unseen", read_only_annotations()),
        tool_json("environment", json!({"readOnlyHint": true, "openWorldHint": false, "destructiveHint": true})),
        tool_json("web", json!({"readOnlyHint": true, "openWorldHint": true})),
        tool_json("unsaid", json!({"readOnlyHint": true})),
        tool_json("plain", json!({})),
    ];
    let app = TestApp::start(vec![(SERVER, server_with_tools(&tools))]).await;
    app.ready(SERVER).await;
    for tool in ["wait", "environment", "web", "unsaid", "plain"] {
        mark_tool_reviewed(&app, tool).await;
    }
    let called = spawn_call(&app, "first", "echo");
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    assert_eq!(offered_tools(&request), ["echo", "wait"], "the called tool, and reviewed tools that only read");
    for wrong in [&["echo", "unseen"][..], &["wait"], &["echo", "environment"], &["echo", "web"], &["echo", "unsaid"]] {
        let wrong = owned_names(wrong);
        let decided = app.host.decide(request.id, request.hash.to_string(), UserDecision::AllowReadOnly(wrong)).await;
        assert_eq!(decided, Err(DecisionError::Stale), "other tools are not allowed");
    }
    assert_eq!(granted_tools(&app).await, owned_names(&[]), "nothing was granted");
    app.decide(&request, UserDecision::AllowReadOnly(owned_names(&["echo", "wait"]))).await;
    called.await.unwrap().expect("the call is approved");
    assert_eq!(granted_tools(&app).await, ["echo", "wait"]);
    let audited = app.decisions().into_iter().filter(|(kind, ..)| kind == "read-only-tool").count();
    assert_eq!(audited, 1, "the grant of each other tool is audited");
    spawn_call(&app, "second", "wait").await.unwrap().expect("no consent is required");
    for tool in ["unseen", "environment", "web", "unsaid", "plain"] {
        let called = spawn_call(&app, &format!("again {tool}"), tool);
        let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
        app.decide(&request, UserDecision::Deny).await;
        assert!(called.await.unwrap().is_err(), "{tool} asks");
    }
    app.host.close().await;
}

#[tokio::test]
async fn changed_or_new_read_only_tool_requires_consent() {
    let app = TestApp::start(vec![(
        SERVER,
        server_with_tools(&[tool_json("echo", read_only_annotations()), tool_json("wait", read_only_annotations())]),
    )])
    .await;
    app.ready(SERVER).await;
    mark_tool_reviewed(&app, "wait").await;
    let called = spawn_call(&app, "first", "echo");
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    app.decide(&request, UserDecision::AllowReadOnly(owned_names(&["echo", "wait"]))).await;
    called.await.unwrap().expect("the call is approved");
    let mut changed = tool_json("wait", read_only_annotations());
    changed["description"] = json!("It does something else now.");
    let config = server_with_tools(&[
        tool_json("echo", read_only_annotations()),
        changed,
        tool_json("new", read_only_annotations()),
    ]);
    app.host.update_server(SERVER.into(), ServerEntry { name: SERVER.into(), config }).await.unwrap();
    app.ready(SERVER).await;
    for tool in ["wait", "new"] {
        let called = spawn_call(&app, &format!("again {tool}"), tool);
        let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
        app.decide(&request, UserDecision::Deny).await;
        assert!(called.await.unwrap().is_err(), "{tool} asks");
    }
    app.host.close().await;
}

#[tokio::test]
async fn ask_rule_overrides_read_only_grants_and_removes_the_choice() {
    let app = TestApp::start(vec![(
        SERVER,
        server_with_tools(&[tool_json("echo", read_only_annotations()), tool_json("wait", read_only_annotations())]),
    )])
    .await;
    app.ready(SERVER).await;
    mark_tool_reviewed(&app, "wait").await;
    let called = spawn_call(&app, "first", "echo");
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    app.decide(&request, UserDecision::AllowReadOnly(owned_names(&["echo", "wait"]))).await;
    called.await.unwrap().expect("the call is approved");
    let rule = serde_json::from_value(json!({"server": SERVER, "tool": "wait", "effect": "ask"})).unwrap();
    app.host.set_rule(rule).await.unwrap();
    let called = spawn_call(&app, "second", "wait");
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    assert_eq!(offered_tools(&request), [""; 0], "nothing lasting can be approved");
    let decided = UserDecision::AllowReadOnly(owned_names(&["echo", "wait"]));
    let decided = app.host.decide(request.id, request.hash.to_string(), decided).await;
    assert!(matches!(decided, Err(DecisionError::WrongKind(_))), "{decided:?}");
    app.decide(&request, UserDecision::Deny).await;
    assert!(called.await.unwrap().is_err());
    app.host.close().await;
}

#[tokio::test]
async fn read_only_grants_are_written_together_or_limited_to_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<Mutex<Option<Arc<FailingDocuments>>>> = Arc::default();
    let own = Arc::clone(&disk);
    let tools = ["echo", "wait", "third"].map(|name| tool_json(name, read_only_annotations()));
    let app = TestApp::start_with_changed_ports(
        folder,
        vec![(SERVER, server_with_tools(&tools))],
        HostOptions::default(),
        Arc::new(SecretsInMemory::default()),
        |ports| {
            let documents = Arc::new(FailingDocuments::over(ports.documents.clone(), Document::Grants));
            *own.lock().unwrap() = Some(documents.clone());
            ports::Ports { documents, ..ports }
        },
    )
    .await;
    let disk = disk.lock().unwrap().clone().expect("the ports were changed");
    app.ready(SERVER).await;
    for tool in ["wait", "third"] {
        mark_tool_reviewed(&app, tool).await;
    }
    disk.full.store(true, Ordering::SeqCst);
    let called = spawn_call(&app, "first", "echo");
    let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
    app.decide(&request, UserDecision::AllowReadOnly(owned_names(&["echo", "wait", "third"]))).await;
    called.await.unwrap().expect("the call is approved");
    assert_eq!(disk.refused.load(Ordering::SeqCst), 1, "all grants are written together");
    assert_eq!(granted_tools(&app).await, ["echo", "third", "wait"]);
    let grants = app.host.grants().await.unwrap();
    assert!(grants.iter().all(|grant| grant.scope == ApprovalScope::Session), "none outlives this run: {grants:?}");
    app.host.close().await;
}
