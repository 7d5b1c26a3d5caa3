//! Sampling requests of a shown app: the announced capability, consent, results, errors and withdrawal.

use domain::app_view::AppViewChange;
use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Value, json};
use testkit::app::EVENT_TIMEOUT;
use testkit::model::{ScriptedModel, model_named, text_reply};

use super::{PAGE_HTML, SERVER, TOOL, TestViews};

const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

fn sampling_request(id: i64) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Which card is next?" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "sampling/createMessage",
        "params": { "messages": [message], "maxTokens": 50 } })
}

fn is_sampling_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Sampling { response: None, .. })
}

/// Waits until the queue of consent requests is empty.
async fn wait_until_no_consent_request_is_pending(test: &TestViews) {
    let wait = async {
        while !test.app.consent_requests().await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, wait).await.expect("the request should be withdrawn");
}

#[tokio::test]
async fn sampling_is_offered_only_if_the_user_turned_it_on_for_the_server() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let settings = test.app.host.sampling(SERVER.to_owned()).await.unwrap().settings;
    for (on, tools, announced) in
        [(true, false, json!({})), (true, true, json!({ "tools": {} })), (false, true, Value::Null)]
    {
        let mut changed = settings.clone();
        (changed.on, changed.tools) = (on, tools);
        test.app.host.set_sampling(SERVER.to_owned(), changed).await.unwrap();
        let (opened, capabilities) = test.open_with_capabilities().await;
        assert_eq!(capabilities["sampling"], announced, "on: {on}, tools: {tools}");
        if !on {
            test.post(&opened, sampling_request(1));
            assert_eq!(test.wait_for_response(&opened, 1).await["error"]["code"], json!(-32601));
        }
    }
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked");
}

#[tokio::test]
async fn approved_sampling_of_an_app_returns_one_content_block() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let model = ScriptedModel::add_to_host(&test.app.host, vec![model_named("scripted-1")]).await;
    let opened = test.open_initialized().await;
    test.post(&opened, sampling_request(1));
    let request = test.app.consent_request(SERVER, "the sampling of the app", is_sampling_request).await;
    let ConsentRequestOrigin::App { tool, .. } = &request.origin else { panic!("{:?}", request.origin) };
    assert_eq!(tool, TOOL, "the request should name the tool of the app");
    model.queue_reply(text_reply("Paint the buoy.", (30, 4)));
    test.app.decide(&request, ALLOW_ONCE).await;
    let is_answered = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { response: Some(_), .. });
    let answered = test.app.consent_request(SERVER, "the answer", is_answered).await;
    test.app.decide(&answered, ALLOW_ONCE).await;
    let expected = json!({
        "role": "assistant",
        "content": { "type": "text", "text": "Paint the buoy." },
        "model": "scripted-1",
        "stopReason": "endTurn",
    });
    assert_eq!(test.wait_for_response(&opened, 1).await["result"], expected);
}

#[tokio::test]
async fn refused_app_sampling_gets_the_same_errors_as_that_of_a_server() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    test.post(&opened, sampling_request(1));
    let request = test.app.consent_request(SERVER, "the sampling of the app", is_sampling_request).await;
    test.app.decide(&request, UserDecision::Deny).await;
    let refused = test.wait_for_response(&opened, 1).await;
    assert_eq!(refused["error"], json!({ "code": -1, "message": "the user rejected the request" }));
    let params = json!({ "messages": [], "maxTokens": 50 });
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": 2, "method": "sampling/createMessage", "params": params }));
    assert_eq!(test.wait_for_response(&opened, 2).await["error"]["code"], json!(-32602), "there are no messages");
}

#[tokio::test]
async fn sampling_after_three_refusals_is_refused_without_a_consent_request() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for id in 1..=3 {
        test.post(&opened, sampling_request(id));
        let request = test.app.consent_request(SERVER, "a sampling of the app", is_sampling_request).await;
        test.app.decide(&request, UserDecision::Deny).await;
        test.wait_for_response(&opened, id).await;
        // A list needs no decision, so it doesn't end the row of refusals.
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": 10 + id, "method": "tools/list" }));
        test.wait_for_response(&opened, 10 + id).await;
    }
    test.post(&opened, sampling_request(11));
    let refused = test.wait_for_response(&opened, 11).await;
    assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("in a row")), "{refused}");
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn app_that_withdraws_its_requests_is_refused_for_a_while() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for id in 1..=10 {
        test.post(&opened, sampling_request(id));
        test.app.consent_request(SERVER, "a sampling of the app", is_sampling_request).await;
        let cancelled = json!({ "requestId": id });
        test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
        wait_until_no_consent_request_is_pending(&test).await;
    }
    // Refusals beyond this limit are no decisions, so that the app only has to wait, however many it receives.
    for id in 11..=15 {
        test.post(&opened, sampling_request(id));
        let refused = test.wait_for_response(&opened, id).await;
        assert!(refused["error"]["message"].as_str().is_some_and(|text| text.contains("again later")), "{refused}");
    }
}

#[tokio::test]
async fn closing_an_app_withdraws_its_sampling_request() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    test.post(&opened, sampling_request(1));
    test.app.consent_request(SERVER, "the sampling of the app", is_sampling_request).await;
    test.views.remove_views_of_main_window(&[]);
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Closed { .. })).await;
    wait_until_no_consent_request_is_pending(&test).await;
}
