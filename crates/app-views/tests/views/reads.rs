//! Reads of resources by a shown app: consent, and the limits on refusals and withdrawals.

use app_views::OpenedApp;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Value, json};
use testkit::app::EVENT_TIMEOUT;

use super::{PAGE_HTML, SERVER, TestViews};

/// URI that the scripted server lists.
const LISTED_URI: &str = "test://one";
const UNLISTED_URI: &str = "notes://what-the-user-typed";

fn resource_read_request(id: i64, uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": { "uri": uri } })
}

fn is_read_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Read { .. })
}

/// Returns `true` if the response is a refusal whose reason contains this text.
fn is_refused_because(response: &Value, reason: &str) -> bool {
    response["error"]["message"].as_str().is_some_and(|text| text.contains(reason))
}

/// Waits until the host has read the server's list of resources.
async fn wait_for_listed_resources(test: &TestViews) {
    let wait = async {
        while test.app.host.catalog(SERVER.to_owned()).await.unwrap().resources.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, wait).await.expect("the resources should be listed");
}

/// Lets the app send three reads that the user refuses, with the ids 1 to 3.
async fn refuse_three_reads(test: &mut TestViews, opened: &OpenedApp) {
    for id in 1..=3 {
        test.post(opened, resource_read_request(id, UNLISTED_URI));
        let request = test.app.consent_request(SERVER, "a read of the app", is_read_request).await;
        test.app.decide(&request, UserDecision::Deny).await;
        test.wait_for_response(opened, id).await;
    }
}

#[tokio::test]
async fn a_read_of_an_unlisted_resource_waits_for_the_users_consent() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    test.post(&opened, resource_read_request(1, UNLISTED_URI));
    let request = test.app.consent_request(SERVER, "the read of the app", is_read_request).await;
    assert_eq!(request.reason, "app-reads-ask");
    test.app.decide(&request, UserDecision::Deny).await;
    let refused = test.wait_for_response(&opened, 1).await;
    assert!(refused["error"].is_object(), "{refused}");
}

#[tokio::test]
async fn after_three_refusals_only_reads_without_a_decision_are_sent() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    wait_for_listed_resources(&test).await;
    let opened = test.open_initialized().await;
    refuse_three_reads(&mut test, &opened).await;
    test.post(&opened, resource_read_request(4, UNLISTED_URI));
    let refused = test.wait_for_response(&opened, 4).await;
    assert!(is_refused_because(&refused, "in a row"), "{refused}");
    test.post(&opened, resource_read_request(5, LISTED_URI));
    let read = test.wait_for_response(&opened, 5).await;
    assert!(read["result"]["contents"].is_array(), "a listed resource needs no decision: {read}");
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn after_three_refusals_an_app_that_reaches_other_hosts_reads_nothing() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({ "connectDomains": ["https://api.example.com"] })).await;
    wait_for_listed_resources(&test).await;
    let opened = test.open_initialized().await;
    refuse_three_reads(&mut test, &opened).await;
    test.post(&opened, resource_read_request(4, LISTED_URI));
    let refused = test.wait_for_response(&opened, 4).await;
    assert!(is_refused_because(&refused, "in a row"), "{refused}");
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn app_that_withdraws_its_reads_is_refused_for_a_while() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for id in 1..=10 {
        test.post(&opened, resource_read_request(id, UNLISTED_URI));
        test.app.consent_request(SERVER, "a read of the app", is_read_request).await;
        let cancelled = json!({ "requestId": id });
        test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
        let wait = async {
            while !test.app.consent_requests().await.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, wait).await.expect("the read should be withdrawn");
        // The withdrawal is counted in a task of its own, which has ended once this response arrives.
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": 100 + id, "method": "tools/list" }));
        test.wait_for_response(&opened, 100 + id).await;
    }
    // Refusals beyond this limit are no decisions, so that the app only has to wait, however many it receives.
    for id in 11..=15 {
        test.post(&opened, resource_read_request(id, UNLISTED_URI));
        let refused = test.wait_for_response(&opened, id).await;
        assert!(is_refused_because(&refused, "again later"), "{refused}");
    }
    assert!(test.app.consent_requests().await.is_empty(), "the user should not be asked again");
}

#[tokio::test]
async fn an_approved_read_resets_the_count_of_refusals() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for (id, approved) in [(1, false), (2, false), (3, true), (4, false), (5, false)] {
        test.post(&opened, resource_read_request(id, UNLISTED_URI));
        let request = test.app.consent_request(SERVER, "a read of the app", is_read_request).await;
        let decision = if approved { UserDecision::Allow(ApprovalScope::Once) } else { UserDecision::Deny };
        test.app.decide(&request, decision).await;
        let response = test.wait_for_response(&opened, id).await;
        assert_eq!(response["result"].is_object(), approved, "{response}");
    }
    test.post(&opened, resource_read_request(6, UNLISTED_URI));
    test.app.consent_request(SERVER, "a read after two refusals in a row", is_read_request).await;
}

#[tokio::test]
async fn cancelled_lists_are_not_counted_as_withdrawn_requests() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    for id in 1..=20 {
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }));
        let cancelled = json!({ "requestId": id });
        test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
        test.post(&opened, json!({ "jsonrpc": "2.0", "id": 100 + id, "method": "tools/list" }));
        test.wait_for_response(&opened, 100 + id).await;
    }
    test.post(&opened, resource_read_request(21, UNLISTED_URI));
    test.app.consent_request(SERVER, "a read of the app", is_read_request).await;
}
