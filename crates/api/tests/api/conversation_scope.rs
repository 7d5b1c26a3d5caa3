//! Tests that a window of one conversation can decide only the consent requests of that conversation.

use api::{Api, ApiError, ErrorCode, respond_in_conversation};
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Map, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config};
use testkit::calls::UserCalls as _;

const SERVER: &str = "demo";

fn is_call(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

fn is_form(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Form { .. })
}

/// Denies a consent request as the window of the conversation `own` would.
async fn deny_from(api: &Api, own: Option<&str>, request: &ConsentRequestView) -> Result<String, ApiError> {
    let denial =
        json!({ "id": request.id.0.to_string(), "hash": request.hash.to_string(), "answer": { "action": "deny" } });
    respond_in_conversation(api, "decide_consent_request", &denial, own).await
}

/// Checks that only the window of `conversation` can decide the request. Then decides the request in that window or, if
/// `conversation` is `None`, in the main window.
async fn check_deciding_window(app: &TestApp, api: &Api, request: &ConsentRequestView, conversation: Option<&str>) {
    for other in [Some("c2"), None] {
        let refused = deny_from(api, other, request).await.expect_err("another conversation");
        assert_eq!(refused.code, ErrorCode::Refused, "{refused}");
    }
    let validation = json!({ "id": request.id.0.to_string(), "content": {} });
    let refused =
        respond_in_conversation(api, "validate_form", &validation, Some("c2")).await.expect_err("another one");
    assert_eq!(refused.code, ErrorCode::Refused, "{refused}");
    assert!(app.consent_requests().await.iter().any(|open| open.id == request.id), "the request is still pending");
    match conversation {
        Some(own) => drop(deny_from(api, Some(own), request).await.expect("its own conversation")),
        None => app.decide(request, UserDecision::Deny).await,
    }
    assert!(app.consent_requests().await.iter().all(|open| open.id != request.id), "the request is decided");
}

#[tokio::test]
async fn page_of_a_conversation_decides_only_the_requests_of_its_conversation() {
    let app = TestApp::start(vec![(SERVER, demo_config(&["--era", "legacy"]))]).await;
    app.ready(SERVER).await;
    app.until(SERVER, "known whole", |s| s.counts[0] >= 16).await;
    let api = Api::new(app.host.clone());
    let call = |id: &str, conversation: Option<&str>| {
        let (host, id, conversation) = (app.host.clone(), id.to_owned(), conversation.map(str::to_owned));
        tokio::spawn(async move {
            host.call_tool(id, SERVER.to_owned(), "ask_user".to_owned(), Map::new(), conversation).await
        })
    };
    for conversation in [Some("c1"), None] {
        let denied = call("1", conversation);
        let request = app.consent_request(SERVER, "the call", is_call).await;
        check_deciding_window(&app, &api, &request, conversation).await;
        assert!(denied.await.unwrap().is_err(), "the call was denied");
        // A form that the server requests during a call belongs to the conversation of the call.
        let allowed = call("2", conversation);
        let request = app.consent_request(SERVER, "the call", is_call).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        let request = app.consent_request(SERVER, "the form", is_form).await;
        check_deciding_window(&app, &api, &request, conversation).await;
        let ended = tokio::time::timeout(EVENT_TIMEOUT, allowed).await.expect("the call should end in time");
        drop(ended.unwrap());
    }
}

#[tokio::test]
async fn decision_on_a_request_that_is_not_pending_is_reported_as_such() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let denial = json!({ "id": "77", "hash": "0".repeat(64), "answer": { "action": "deny" } });
    let error =
        respond_in_conversation(&api, "decide_consent_request", &denial, Some("c1")).await.expect_err("no such");
    assert_ne!(error.code, ErrorCode::Refused, "{error}");
}
