//! Messages of a shown app: the call that it displays, calls of its own, and requests that the user decides.

use app_views::{AppAnswer, AppViewError};
use domain::app_view::{AppUserRequest, AppViewChange};
use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_apps::{AppDiagnostic, DisplayMode, ViewFaultKind};
use policy::ApprovalScope;
use serde_json::json;

use super::{PAGE_HTML, SERVER, TOOL, TestViews};

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

#[tokio::test]
async fn an_app_receives_input_and_whole_result_of_the_displayed_call() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let input = test.wait_for_message(&opened, "ui/notifications/tool-input").await;
    assert_eq!(input["params"], json!({ "arguments": { "board": 1 } }));
    let result = test.wait_for_message(&opened, "ui/notifications/tool-result").await;
    let expected = json!({
        "content": [{ "type": "text", "text": "3 cards" }],
        "structuredContent": { "cards": 3 },
        "_meta": { "cursor": "a" },
    });
    assert_eq!(result["params"], expected);
}

#[tokio::test]
async fn diagnostics_of_an_uninitialized_app_reach_drawbridges_page() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    test.approve().await;
    let opened = test.open().await;
    let content = json!({ "type": "blocked", "directive": "connect-src", "address": "https://api.example/" });
    test.post(&opened, json!({ "mcpAppDiagnostic": content, "dropped": 2 }));
    let change = test.wait_for_change(&opened, |change| !matches!(change, AppViewChange::Message { .. })).await;
    let diagnostic =
        AppDiagnostic::Blocked { directive: "connect-src".to_owned(), address: "https://api.example/".to_owned() };
    assert_eq!(change, AppViewChange::Diagnosed { diagnostic, dropped: 2 });
}

#[tokio::test]
async fn a_call_of_an_app_waits_for_the_users_consent() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let call = |id: i64| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": TOOL, "arguments": { "text": "moved" } } })
    };
    test.post(&opened, call(1));
    let request = test.app.consent_request(SERVER, "the call of the app", is_tool_call_request).await;
    let ConsentRequestOrigin::App { tool, .. } = &request.origin else { panic!("{:?}", request.origin) };
    assert_eq!(tool, TOOL, "the request should name the tool of the app");
    test.app.decide(&request, UserDecision::Deny).await;
    let refused = test.wait_for_response(&opened, 1).await;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("refused")), "{refused}");
    test.post(&opened, call(2));
    let request = test.app.consent_request(SERVER, "the second call", is_tool_call_request).await;
    test.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let answered = test.wait_for_response(&opened, 2).await;
    assert!(answered["result"]["content"].is_array(), "{answered}");
}

#[tokio::test]
async fn a_closed_app_leaves_no_consent_request() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": TOOL } });
    test.post(&opened, call);
    test.app.consent_request(SERVER, "the call of the app", is_tool_call_request).await;
    test.views.close(&opened.view);
    let teardown = test.wait_for_message(&opened, "ui/resource-teardown").await;
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": teardown["id"], "result": {} }));
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Closed { .. })).await;
    test.app.until(SERVER, "without consent requests", |_| true).await;
    let wait = async {
        while !test.app.consent_requests().await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(testkit::app::EVENT_TIMEOUT, wait).await.expect("the call should be cancelled");
    let late = test.views.receive_message(&opened.view, "{}".to_owned());
    assert!(matches!(late, Err(AppViewError::Closed)), "{late:?}");
}

#[tokio::test]
async fn tool_list_for_an_app_contains_only_tools_that_it_may_call() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    let listed = test.wait_for_response(&opened, 1).await;
    let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, [TOOL, "environment"], "tools are for apps by default: {listed}");
}

#[tokio::test]
async fn link_download_and_display_mode_requests_wait_for_the_user() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let is_request = |change: &AppViewChange| matches!(change, AppViewChange::Requested { .. });
    let post = |id: i64, method: &str, params: serde_json::Value| {
        test.views
            .receive_message(
                &opened.view,
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
            )
            .unwrap();
    };
    post(1, "ui/open-link", json!({ "url": "https://example.com/" }));
    let resource = json!({ "uri": "file:///notes/cards.txt", "mimeType": "text/plain", "text": "cards" });
    let AppViewChange::Requested { request, user_request } = test.wait_for_change(&opened, is_request).await else {
        unreachable!()
    };
    assert_eq!(user_request, AppUserRequest::OpenLink { url: "https://example.com/".into() });
    test.views.answer_request(&opened.view, request, AppAnswer::Refused).unwrap();
    let refused = test.wait_for_response(&opened, 1).await;
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");

    let download = json!({ "jsonrpc": "2.0", "id": 2, "method": "ui/download-file",
        "params": { "contents": [{ "type": "resource", "resource": resource }] } });
    test.post(&opened, download);
    let AppViewChange::Requested { request, user_request } = test.wait_for_change(&opened, is_request).await else {
        unreachable!()
    };
    assert!(
        matches!(&user_request, AppUserRequest::SaveFiles { files } if files[0].name == "cards.txt"),
        "{user_request:?}"
    );
    assert_eq!(
        test.views.file_offered_by_app(&opened.view, request, 0).await.unwrap(),
        ("cards.txt".to_owned(), b"cards".to_vec())
    );
    assert!(matches!(test.views.file_offered_by_app(&opened.view, request, 1).await, Err(AppViewError::NoRequest)));
    test.views.answer_request(&opened.view, request, AppAnswer::Done).unwrap();
    assert!(test.wait_for_response(&opened, 2).await["result"].is_object());

    let mode =
        json!({ "jsonrpc": "2.0", "id": 3, "method": "ui/request-display-mode", "params": { "mode": "fullscreen" } });
    test.post(&opened, mode);
    let AppViewChange::Requested { request, user_request } = test.wait_for_change(&opened, is_request).await else {
        unreachable!()
    };
    assert_eq!(user_request, AppUserRequest::DisplayMode { mode: DisplayMode::Fullscreen });
    test.views.answer_request(&opened.view, request, AppAnswer::DisplayMode { mode: DisplayMode::Fullscreen }).unwrap();
    assert_eq!(test.wait_for_response(&opened, 3).await["result"], json!({ "mode": "fullscreen" }));
}

#[tokio::test]
async fn links_after_three_refused_or_withdrawn_ones_are_refused_without_a_dialog() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let is_request = |change: &AppViewChange| matches!(change, AppViewChange::Requested { .. });
    let link = |id: i64| {
        let params = json!({ "url": format!("https://example.com/{id}") });
        json!({ "jsonrpc": "2.0", "id": id, "method": "ui/open-link", "params": params })
    };
    // A link that could not be shown doesn't count, and an opened one ends the row.
    for (id, answer) in [
        (1, AppAnswer::Refused),
        (2, AppAnswer::Refused),
        (3, AppAnswer::Done),
        (4, AppAnswer::NotShown),
        (5, AppAnswer::Refused),
        (6, AppAnswer::Refused),
    ] {
        test.post(&opened, link(id));
        let AppViewChange::Requested { request, .. } = test.wait_for_change(&opened, is_request).await else {
            unreachable!()
        };
        test.views.answer_request(&opened.view, request, answer).unwrap();
        test.wait_for_response(&opened, id).await;
    }
    test.post(&opened, link(7));
    test.wait_for_change(&opened, is_request).await;
    test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }));
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Withdrawn { .. })).await;
    test.post(&opened, link(8));
    let refused = test.wait_for_response(&opened, 8).await;
    assert!(refused.to_string().contains("in a row"), "the fourth link should not be shown: {refused}");
}

#[tokio::test]
async fn model_context_and_messages_of_an_app_require_a_conversation() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for (id, method, params) in [
        (1, "ui/update-model-context", json!({ "content": [{ "type": "text", "text": "a" }] })),
        (2, "ui/message", json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] })),
    ] {
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let refused = test.wait_for_response(&opened, id).await;
        assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{method}: {refused}");
    }
}

// [apps-log-rpc]
#[tokio::test]
async fn requests_of_an_app_to_the_user_are_in_the_activity_log_without_their_contents() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_in_conversation().await;
    test.initialize(&opened).await;
    let is_request = |change: &AppViewChange| matches!(change, AppViewChange::Requested { .. });
    let text = json!([{ "type": "text", "text": "canary" }]);
    let file = json!({ "uri": "file:///canary.txt", "text": "canary" });
    for (id, method, params, answer) in [
        (1, "ui/open-link", json!({ "url": "https://canary.example/" }), AppAnswer::Refused),
        (2, "ui/download-file", json!({ "contents": [{ "type": "resource", "resource": file }] }), AppAnswer::Done),
        (3, "ui/message", json!({ "role": "user", "content": text }), AppAnswer::Done),
    ] {
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let AppViewChange::Requested { request, .. } = test.wait_for_change(&opened, is_request).await else {
            unreachable!()
        };
        test.views.answer_request(&opened.view, request, answer).unwrap();
        test.wait_for_response(&opened, id).await;
    }
    for (id, content) in [(4, text), (5, json!([]))] {
        let params = json!({ "content": content });
        let update = json!({ "jsonrpc": "2.0", "id": id, "method": "ui/update-model-context", "params": params });
        test.post(&opened, update);
        test.wait_for_change(&opened, |change| matches!(change, AppViewChange::ModelContextChanged { .. })).await;
    }
    let link = json!({ "url": "https://canary.example/" });
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": 6, "method": "ui/open-link", "params": link }));
    test.wait_for_change(&opened, is_request).await;
    test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 6 } }));
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Withdrawn { .. })).await;
    let activity = test.app.activity(SERVER).await;
    let entries: Vec<_> =
        activity.lines().filter_map(|line| line.trim().strip_prefix("the app of \"echo\" ")).collect();
    let expected = [
        "requests to open a link",
        "requested to open a link, which was refused",
        "requests to save files",
        "requested to save files, which was accepted",
        "requests to add a message to the conversation",
        "requested to add a message to the conversation, which was accepted",
        "gave context for the model",
        "removed its context for the model",
        "requests to open a link",
        "requested to open a link, which was withdrawn",
    ];
    assert_eq!(entries, expected);
    assert!(!activity.contains("canary"), "the log should have no contents: {activity}");
}

#[tokio::test]
async fn forged_messages_of_an_app_are_in_the_activity_log_at_a_limited_rate() {
    const FORGED: usize = 40;
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for _ in 0..FORGED {
        test.post(&opened, json!({ "jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready" }));
        test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Fault { .. })).await;
    }
    let link = json!({ "url": "https://example.com/" });
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": link }));
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Requested { .. })).await;
    let activity = test.app.activity(SERVER).await;
    let forged = activity.matches("sent a message that was not processed as sent (forgery)").count();
    assert!((10..FORGED / 2).contains(&forged), "{forged} entries");
    let link = format!("requests to open a link ({} earlier entries were omitted)", FORGED - forged);
    assert!(activity.contains(&link), "the flood should not hide another request: {activity}");
}

#[tokio::test]
async fn x57_forged_messages_and_calls_of_other_tools_reach_nothing() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for (forged, kind) in [
        (json!({ "method": "ui/notifications/sandbox-proxy-ready" }), ViewFaultKind::Forgery),
        (
            json!({ "method": "ui/notifications/sandbox-resource-ready", "params": { "html": "<p>" } }),
            ViewFaultKind::Forgery,
        ),
        (
            json!({ "method": "ui/notifications/tool-result", "params": { "content": [] } }),
            ViewFaultKind::UnknownMethod,
        ),
        (json!({ "id": 77, "result": {} }), ViewFaultKind::UnknownId),
        (json!({ "id": 78, "error": { "code": 1, "message": "no" } }), ViewFaultKind::UnknownId),
    ] {
        let mut message = forged.clone();
        message["jsonrpc"] = json!("2.0");
        test.post(&opened, message);
        let change = test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Fault { .. })).await;
        assert!(matches!(&change, AppViewChange::Fault { kind: found, .. } if *found == kind), "{forged}: {change:?}");
    }
    // Not listed by its server, and as a model would name it and a tool of another server.
    for (id, name) in [(1, "absent"), (2, "board__echo"), (3, "other__echo")] {
        let params = json!({ "name": name, "arguments": {} });
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        let refused = test.wait_for_response(&opened, id).await;
        assert!(refused["error"].is_object(), "{name}: {refused}");
    }
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked");
    let activity = test.app.activity(SERVER).await;
    assert!(!activity.contains("tools/call\""), "the server should receive no call: {activity}");
}

#[tokio::test]
async fn app_calls_after_three_refusals_are_refused_without_a_consent_request() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let call = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": TOOL } });
    for id in 1..=3 {
        test.post(&opened, call(id));
        let request = test.app.consent_request(SERVER, "a call of the app", is_tool_call_request).await;
        test.app.decide(&request, UserDecision::Deny).await;
        test.wait_for_response(&opened, id).await;
    }
    test.post(&opened, call(4));
    let refused = test.wait_for_response(&opened, 4).await;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("in a row")), "{refused}");
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn an_app_view_is_closed_when_the_main_page_is_reloaded() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    assert_eq!(test.views.apps_of_conversation("another"), [], "no other window should show the app");
    let apps = test.views.apps_of_main_window(&[]);
    let [app] = apps.as_slice() else { panic!("one app should be shown: {apps:?}") };
    assert_eq!((app.server.as_str(), app.tool.as_str()), (SERVER, TOOL), "the app should be named");
    test.views.remove_views_of_main_window(&[]);
    assert_eq!(test.views.apps_of_main_window(&[]), [], "a closed app should not be named");
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Closed { .. })).await;
    let late = test.views.receive_message(&opened.view, "{}".to_owned());
    assert!(matches!(late, Err(AppViewError::Closed)), "{late:?}");
}
