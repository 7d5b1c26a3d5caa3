//! Tests that a window of one conversation can use only the consent requests, apps and calls of that conversation, and
//! adds no rule that allows in others.

use api::{Api, ApiError, ErrorCode, FrameAncestor, dispatch, respond_in_conversation};
use domain::history::Conversation;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_apps::APP_PAGE_MEDIA_TYPE;
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};
use testkit::calls::{CallOutcome, UserCalls as _};
use tokio::task::JoinHandle;

use super::run_command;

const SERVER: &str = "demo";
/// Server with a tool that has an app page.
const APP_SERVER: &str = "board";
const APP_PAGE_URI: &str = "ui://board/app.html";

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

fn is_form_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Form { .. })
}

/// Begins a call of the user, which waits for consent.
fn spawn_call(app: &TestApp, id: &str, conversation: Option<&str>) -> JoinHandle<CallOutcome> {
    let (host, id, conversation) = (app.host.clone(), id.to_owned(), conversation.map(str::to_owned));
    tokio::spawn(
        async move { host.call_tool(id, SERVER.to_owned(), "ask_user".to_owned(), Map::new(), conversation).await },
    )
}

/// Denies a consent request as the window of the conversation `own` would.
async fn deny_from_conversation_window(
    api: &Api,
    own: Option<&str>,
    request: &ConsentRequestView,
) -> Result<String, ApiError> {
    let denial =
        json!({ "id": request.id.0.to_string(), "hash": request.hash.to_string(), "answer": { "action": "deny" } });
    respond_in_conversation(api, "decide_consent_request", &denial, own).await
}

/// Checks that only the window of `conversation` can decide the request. Then decides the request in that window or, if
/// `conversation` is `None`, in the main window.
async fn assert_only_window_of_request_can_decide(
    app: &TestApp,
    api: &Api,
    request: &ConsentRequestView,
    conversation: Option<&str>,
) {
    for other in [Some("c2"), None] {
        let refused = deny_from_conversation_window(api, other, request).await.expect_err("another conversation");
        assert_eq!(refused.code, ErrorCode::Refused, "{refused}");
    }
    let validation = json!({ "id": request.id.0.to_string(), "content": {} });
    let refused =
        respond_in_conversation(api, "validate_form", &validation, Some("c2")).await.expect_err("another one");
    assert_eq!(refused.code, ErrorCode::Refused, "{refused}");
    assert!(app.consent_requests().await.iter().any(|open| open.id == request.id), "the request is still pending");
    match conversation {
        Some(own) => drop(deny_from_conversation_window(api, Some(own), request).await.expect("its own conversation")),
        None => app.decide(request, UserDecision::Deny).await,
    }
    assert!(app.consent_requests().await.iter().all(|open| open.id != request.id), "the request is decided");
}

#[tokio::test]
async fn conversation_window_decides_only_consent_requests_of_its_conversation() {
    let app = TestApp::start(vec![(SERVER, demo_config(&["--era", "legacy"]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let api = Api::new(app.host.clone());
    for conversation in [Some("c1"), None] {
        let denied = spawn_call(&app, "1", conversation);
        let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
        assert_only_window_of_request_can_decide(&app, &api, &request, conversation).await;
        assert!(denied.await.unwrap().is_err(), "the call was denied");
        // A form that the server requests during a call belongs to the conversation of the call.
        let allowed = spawn_call(&app, "2", conversation);
        let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        let request = app.consent_request(SERVER, "the form", is_form_request).await;
        assert_only_window_of_request_can_decide(&app, &api, &request, conversation).await;
        let ended = tokio::time::timeout(EVENT_TIMEOUT, allowed).await.expect("the call should end in time");
        drop(ended.unwrap());
    }
}

#[tokio::test]
async fn decision_on_a_closed_consent_request_is_not_reported_as_refused() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let denial = json!({ "id": "77", "hash": "0".repeat(64), "answer": { "action": "deny" } });
    let error =
        respond_in_conversation(&api, "decide_consent_request", &denial, Some("c1")).await.expect_err("no such");
    assert_ne!(error.code, ErrorCode::Refused, "{error}");
}

#[tokio::test]
async fn conversation_window_cancels_only_calls_of_its_conversation() {
    let app = TestApp::start(vec![(SERVER, demo_config(&["--era", "legacy"]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let api = Api::new(app.host.clone());
    for conversation in [Some("c1"), None] {
        let called = spawn_call(&app, "1", conversation);
        let request = app.consent_request(SERVER, "the call", is_tool_call_request).await;
        let cancel = json!({ "call": "1" });
        if conversation.is_some() {
            for other in [Some("c2"), None] {
                let error =
                    respond_in_conversation(&api, "cancel_call", &cancel, other).await.expect_err("another one");
                assert_eq!(error.code, ErrorCode::Refused, "{error}");
            }
            assert!(app.consent_requests().await.iter().any(|open| open.id == request.id), "the call still waits");
        }
        respond_in_conversation(&api, "cancel_call", &cancel, Some("c1")).await.expect("the call can be cancelled");
        let outcome = tokio::time::timeout(EVENT_TIMEOUT, called).await.expect("the call should end in time").unwrap();
        assert!(outcome.is_err(), "the call was cancelled");
    }
}

#[tokio::test]
async fn conversation_window_does_not_repeat_calls_of_the_main_window() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let call = |conversation: Option<&str>| {
        let mut call = json!({ "call": "2", "server": SERVER, "tool": "add", "arguments": {}, "repeats": "1" });
        call["conversation"] = json!(conversation);
        call
    };
    for (own, conversation) in [(Some("c1"), None), (None, None)] {
        let refused = respond_in_conversation(&api, "call_tool", &call(conversation), own).await.expect_err("repeats");
        assert_eq!(refused.code, ErrorCode::Refused, "{refused}");
    }
    let error =
        respond_in_conversation(&api, "call_tool", &call(Some("c1")), Some("c1")).await.expect_err("no such server");
    assert_ne!(error.code, ErrorCode::Refused, "a call in its own conversation is permitted: {error}");
}

/// Opens an app for a call in the conversation `c1`, in the window of the conversation. Returns the app's identifier.
async fn open_app(app: &TestApp, api: &Api, context: &Value) -> String {
    let conversation = Conversation { id: "c1".into(), title: "Talk".into(), ..Conversation::default() };
    app.host.ports().history.create(&conversation).unwrap();
    let tool = json!({ "server": APP_SERVER, "tool": "echo" });
    let mut call = tool.clone();
    call["call"] = json!("1");
    call["arguments"] = json!({});
    call["conversation"] = json!("c1");
    let calling = api.clone();
    let called = tokio::spawn(async move { dispatch(&calling, "call_tool", call).await });
    let request = app.consent_request(APP_SERVER, "the call", is_tool_call_request).await;
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    called.await.unwrap().unwrap();
    let page = run_command(api, "read_app_page", tool.clone()).await;
    let mut approval = tool.clone();
    approval["hash"] = page["hash"].clone();
    approval["grants"] = page["grants"].clone();
    run_command(api, "approve_app", approval).await;
    let mut opening = tool;
    opening["call"] = json!({ "type": "item", "conversation": "c1", "item": "1" });
    opening["context"] = context.clone();
    let opened = respond_in_conversation(api, "open_app", &opening, Some("c1")).await.unwrap();
    let opened: Value = serde_json::from_str(&opened).unwrap();
    opened["view"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn conversation_window_uses_only_apps_of_its_conversation() {
    let tool = json!({
        "name": "echo", "inputSchema": { "type": "object" }, "_meta": { "ui": { "resourceUri": APP_PAGE_URI } },
    });
    let html = "<!doctype html><title>Board</title>";
    let page = json!({ "uri": APP_PAGE_URI, "mimeType": APP_PAGE_MEDIA_TYPE, "text": html });
    let tools = format!("tools/list={}", json!({ "tools": [tool] }));
    let pages = format!("resources/read={}", json!({ "contents": [page] }));
    let app = TestApp::start(vec![(APP_SERVER, scripted_config(&["--reply", &tools, "--reply", &pages]))]).await;
    app.ready(APP_SERVER).await;
    let ancestors = vec![FrameAncestor::new("tauri://localhost").unwrap()];
    let api = Api::new(app.host.clone()).with_app_frames(ancestors);
    let context = json!({
        "theme": "dark", "styles": {}, "displayMode": "inline", "width": 640, "height": 600,
        "locale": "en", "timeZone": "Europe/Berlin", "touch": false, "hover": true,
    });
    let view = open_app(&app, &api, &context).await;
    for (command, request) in [
        ("deliver_app_message", json!({ "view": view, "message": "{}" })),
        ("set_app_context", json!({ "view": view, "context": context })),
        ("set_app_tools", json!({ "view": view, "hash": null })),
        ("decide_app_request", json!({ "view": view, "request": 1, "answer": { "type": "refused" } })),
        ("save_app_file", json!({ "view": view, "request": 1, "file": 0 })),
        ("read_app_document", json!({ "view": view })),
        ("close_app", json!({ "view": view })),
    ] {
        for other in [Some("c2"), None] {
            let error = respond_in_conversation(&api, command, &request, other).await.expect_err("another one");
            assert_eq!(error.code, ErrorCode::Refused, "{command}: {error}");
        }
    }
    for command in ["read_app_document", "close_app"] {
        let own = respond_in_conversation(&api, command, &json!({ "view": view }), Some("c1")).await;
        own.unwrap_or_else(|error| panic!("{command} in the window of the app's conversation: {error}"));
    }
}

#[tokio::test]
async fn conversation_window_adds_allow_rules_only_for_its_conversation() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let rule = |effect: &str, scope: Value| {
        json!({
            "id": "", "source": "user", "effect": effect, "server": "*", "tool": "*", "direction": "to_server",
            "arguments": [], "annotations": null, "scope": scope, "expiresAt": null, "note": "",
            "trustedServer": false, "identity": null, "afterUntrusted": false,
        })
    };
    let add = async |rule: Value| respond_in_conversation(&api, "add_policy_rule", &rule, Some("c1")).await;
    for scope in [json!({ "kind": "always" }), json!({ "kind": "session" })] {
        let error = add(rule("allow", scope)).await.expect_err("the rule allows everywhere");
        assert_eq!(error.code, ErrorCode::Refused, "{error}");
    }
    add(rule("allow", json!({ "kind": "conversation", "conversation": "c1" }))).await.expect("its own conversation");
    add(rule("deny", json!({ "kind": "always" }))).await.expect("a rule that denies");
    let policy = run_command(&api, "read_policy", json!({})).await;
    assert_eq!(policy["rules"].as_array().unwrap().len(), 2, "only the permitted rules were added: {policy}");
}
