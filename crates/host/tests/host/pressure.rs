//! The consent queue when a server sends too many requests (X24): pending requests are limited, automatically refused
//! requests are counted, and three consecutive denials mute the server for a while.

use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::HostOptions;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_proto::types::{CallToolResult, ContentBlock};
use policy::ApprovalScope;
use serde_json::Map;
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};
use testkit::deadline::poll_until;
use tokio::task::JoinHandle;

type PendingCall = JoinHandle<Result<CallToolResult, CallFailure>>;

fn spawn_call(app: &TestApp, server: &str, id: &str, tool: &str) -> PendingCall {
    let (host, server, id, tool) = (app.host.clone(), server.to_owned(), id.to_owned(), tool.to_owned());
    tokio::spawn(async move { host.call_tool(id, server, tool, Map::new(), None).await.map(|(result, _)| result) })
}

async fn response_text(call: PendingCall) -> String {
    let result = tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call ends").unwrap();
    let result = result.unwrap_or_else(|error| panic!("the call returns a result: {error}"));
    let texts =
        result.content.iter().filter_map(|b| if let ContentBlock::Text(t) = b { Some(t.text.as_str()) } else { None });
    texts.collect::<String>().to_lowercase()
}

fn allow_start_and_tools(request: &ConsentRequestView) -> Option<UserDecision> {
    let used = matches!(request.body, ConsentRequestBody::Tool { .. } | ConsentRequestBody::StartServer { .. });
    used.then_some(UserDecision::Allow(ApprovalScope::Once))
}

async fn start_with_mute_duration(cool_down: Duration) -> TestApp {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { cool_down, ..HostOptions::default() };
    let app = TestApp::start_in_folder(folder, vec![("harbour", demo_config(&["--era", "legacy"]))], options).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    app
}

/// Makes the server request a form, and decides its consent request with the given decision.
async fn decide_one_form(app: &TestApp, id: &str, answer: UserDecision) -> String {
    let called = spawn_call(app, "harbour", id, "ask_user");
    let request = app.consent_request("harbour", "a form", |q| matches!(q.body, ConsentRequestBody::Form { .. })).await;
    app.decide(&request, answer).await;
    response_text(called).await
}

#[tokio::test]
async fn x24_three_denials_in_a_row_mute_a_server_for_a_while() {
    let app = start_with_mute_duration(Duration::from_secs(2)).await;
    let _user = app.decide_automatically(allow_start_and_tools);
    for id in ["1", "2"] {
        decide_one_form(&app, id, UserDecision::Deny).await;
        assert!(!app.server("harbour").await.muted, "X24: {id} denials don't mute the server");
    }
    let third = decide_one_form(&app, "3", UserDecision::Cancel).await;
    assert!(third.contains("cancel"), "the third request receives the user's decision: {third}");
    let muted = app.until("harbour", "muted", |s| s.muted).await;
    let left = muted.muted_until.expect("X24: the end of the mute is known") - ports::time::system_time_millis();
    assert!(left <= 2_000, "the duration of the mute is the configured one: {left} ms");

    let refusal = response_text(spawn_call(&app, "harbour", "4", "ask_user")).await;
    assert!(refusal.contains("declin"), "X24: requests of a muted server are refused automatically: {refusal}");
    assert_eq!(app.server("harbour").await.refused_requests, 1, "X24: refused requests are counted");
    assert!(app.decisions().iter().any(|d| d.0 == "mute" && d.2 == "policy"), "the mute is audited");

    app.until("harbour", "asking again", |s| !s.muted && s.muted_until.is_none() && s.refused_requests == 0).await;
    decide_one_form(&app, "5", UserDecision::Deny).await;
    assert!(!app.server("harbour").await.muted, "the count restarts after the mute");
}

#[tokio::test]
async fn mute_is_ended_by_the_user_and_an_approval_resets_the_count() {
    let app = start_with_mute_duration(Duration::from_secs(600)).await;
    let _user = app.decide_automatically(allow_start_and_tools);
    let accept = async |id: &str| {
        let called = spawn_call(&app, "harbour", id, "ask_url");
        let request =
            app.consent_request("harbour", "a page", |q| matches!(q.body, ConsentRequestBody::Url { .. })).await;
        app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        response_text(called).await
    };
    for id in ["1", "2"] {
        decide_one_form(&app, id, UserDecision::Deny).await;
    }
    accept("3").await;
    for id in ["4", "5"] {
        decide_one_form(&app, id, UserDecision::Deny).await;
        assert!(!app.server("harbour").await.muted, "denials with an approval in between are not consecutive");
    }
    decide_one_form(&app, "6", UserDecision::Deny).await;
    app.until("harbour", "muted", |s| s.muted).await;
    app.host.unmute_server("harbour".into()).await.unwrap();
    let view = app.server("harbour").await;
    assert!(!view.muted && view.muted_until.is_none(), "the user ends the mute immediately");
    decide_one_form(&app, "7", UserDecision::Deny).await;
    assert!(!app.server("harbour").await.muted, "the count restarts after unmuting");
}

#[tokio::test]
async fn x24_flood_of_requests_is_counted_and_denied_with_one_action() {
    let flood = scripted_config(&["--misbehave", "flood-elicitation", "--count", "500"]);
    let app = TestApp::start(vec![("bad", flood), ("good", demo_config(&["--era", "legacy"]))]).await;
    app.ready("good").await;
    app.ready("bad").await;
    let _user = app.decide_automatically(allow_start_and_tools);
    let flooding = spawn_call(&app, "bad", "1", "echo");
    let most = supervision::limits::DEFAULT_MAX_CONSENT_REQUESTS as u64;
    let view = app.until("bad", "counted", |s| s.refused_requests >= 500 - most).await;
    assert_eq!(
        view.refused_requests,
        500 - most,
        "[elicit-rate-limit], X24: all requests beyond the limit were refused automatically"
    );
    let waiting = app.consent_requests().await.iter().filter(|q| q.server == "bad").count() as u64;
    assert!(waiting <= most, "X24: the number of pending requests is limited: {waiting}");
    app.host.deny_all_requests("bad".into(), false).await.unwrap();
    tokio::time::timeout(EVENT_TIMEOUT, flooding).await.expect("X24: the call ends").unwrap().unwrap();
    let view = app.server("bad").await;
    assert!(view.refused_requests == 0 && !view.muted, "denying all counts as one denial, and resets the counters");
    let good = spawn_call(&app, "good", "2", "ask_user");
    let request = app.consent_request("good", "a form", |q| matches!(q.body, ConsentRequestBody::Form { .. })).await;
    app.decide(&request, UserDecision::Deny).await;
    assert!(response_text(good).await.contains("declin"), "X24: requests of the other server are unaffected");
}

#[tokio::test]
async fn url_request_being_opened_is_not_denied_with_the_other_requests() {
    let app = start_with_mute_duration(Duration::from_secs(600)).await;
    let _user = app.decide_automatically(allow_start_and_tools);
    *app.platform.slow.lock().unwrap() = Duration::from_secs(2);
    let opening = spawn_call(&app, "harbour", "1", "ask_url");
    let page = app.consent_request("harbour", "a page", |q| matches!(q.body, ConsentRequestBody::Url { .. })).await;
    let asking = spawn_call(&app, "harbour", "2", "ask_user");
    app.consent_request("harbour", "a form", |q| matches!(q.body, ConsentRequestBody::Form { .. })).await;
    let allow = app.host.decide(page.id, page.hash.to_string(), UserDecision::Allow(ApprovalScope::Once));
    let deny = async {
        let is_opening = || app.platform.begun.load(Ordering::SeqCst) == 1;
        assert!(poll_until(EVENT_TIMEOUT, is_opening).await, "the browser opens the page");
        app.host.deny_all_requests("harbour".into(), false).await.unwrap();
    };
    let (allowed, ()) = tokio::join!(allow, deny);
    allowed.expect("the page was approved before all was denied");
    assert_eq!(app.platform.opened.lock().unwrap().len(), 1, "once");
    assert!(response_text(asking).await.contains("declin"), "the pending request is denied");
    assert!(!response_text(opening).await.contains("declin"), "the opened page is not reported as denied");
}

/// Denials by an answers file don't mute the server.
#[tokio::test]
async fn denials_by_a_script_do_not_mute_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions { decider_name: "answers", ..HostOptions::default() };
    let app = TestApp::start_in_folder(folder, vec![("harbour", demo_config(&["--era", "legacy"]))], options).await;
    app.ready("harbour").await;
    app.until("harbour", "known whole", |s| s.counts[0] >= 16).await;
    let _user = app.decide_automatically(allow_start_and_tools);
    for id in ["1", "2", "3", "4"] {
        decide_one_form(&app, id, UserDecision::Deny).await;
    }
    assert!(!app.server("harbour").await.muted, "scripted denials don't mute the server");
}
