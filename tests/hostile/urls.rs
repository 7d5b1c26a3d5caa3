//! Tests of URLs that a server requests to open (X23), or that reach the page in other ways (X17).

use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use serde_json::json;
use supervision::activity::ActivityKind;
use testkit::app::{EVENT_TIMEOUT, scripted_config};
use testkit::deadline::poll_until_async;
use testkit::time::advance_time;

use crate::collector::forbidden_url_listener;
use crate::pair::GoodAndBadServers;
use crate::report::random_word;

/// Returns the argument that makes the scripted server request to open this URL during a tool call.
fn url_request(url: &str) -> String {
    let params = json!({"mode": "url", "message": "Open this", "elicitationId": "1", "url": url});
    let request = json!({"jsonrpc": "2.0", "id": "url", "method": "elicitation/create", "params": params});
    format!("tools/call={request}")
}

/// Returns URLs that must never be opened, whatever the user decides, each with a description of its danger.
fn rejected_urls() -> Vec<(&'static str, String)> {
    let name = random_word("host");
    vec![
        ("a name in front of the host", format!("https://google.com@{name}.test/")),
        ("javascript:", "javascript:alert(1)".into()),
        ("file:", "file:///etc/passwd".into()),
        ("data:", "data:text/html,<script>1</script>".into()),
        ("smb:", format!("smb://{name}.test/share")),
        ("vscode:", "vscode://extension/install".into()),
        ("ms-msdt:", "ms-msdt:/id PCWDiagnostic".into()),
        ("tel:", "tel:+15550100".into()),
        ("a leading hyphen", "-psn".into()),
        ("5 kB", format!("https://{name}.test/{}", "a".repeat(5_000))),
    ]
}

/// Waits until the host has responded to the hostile server's request.
async fn wait_for_response(pair: &GoodAndBadServers) {
    let is_answered = async || {
        let page = pair.app.host.activity_page("bad".into(), 0, usize::MAX).await.unwrap();
        let is_answer = |kind| matches!(kind, ActivityKind::Response | ActivityKind::Error);
        let mut entries = page.entries.iter();
        entries.any(|e| e.sent && is_answer(e.kind) && e.method.as_deref() == Some("elicitation/create"))
    };
    assert!(poll_until_async(EVENT_TIMEOUT, is_answered).await, "a response was sent to the bad server");
}

#[tokio::test]
async fn x23_deceptive_urls_are_not_opened() {
    for (about, url) in rejected_urls() {
        let what = format!("X23, an address with {about}");
        let pair = GoodAndBadServers::with_undecided_tools(scripted_config(&["--raw", &url_request(&url)])).await;
        let call = pair.spawn_call("1", "echo", json!({"text": "x"}));
        let request = pair.wait_for_tool_consent_request(&what, |_| true).await;
        pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        // An invalid address is rejected without a consent request.
        let received = tokio::select! {
            request = pair.next_server_request(&what) => Some(request),
            () = wait_for_response(&pair) => None,
        };
        if let Some(request) = received {
            let ConsentRequestBody::Url { url: shown, .. } = &request.body else { panic!("{what}: {request:?}") };
            assert_eq!(*shown, url, "{what}: the URL is shown verbatim");
            let allow = UserDecision::Allow(ApprovalScope::Once);
            let answered = pair.app.host.decide(request.id, request.hash.to_string(), allow).await;
            assert!(answered.is_err(), "{what}: the URL is not opened after an approval");
        }
        assert!(pair.app.platform.opened.lock().unwrap().is_empty(), "{what}: the browser is not called");
        assert!(pair.app.host.open_url(&url).await.is_err(), "{what}: the URL of a link is not opened");
        assert!(pair.app.platform.opened.lock().unwrap().is_empty(), "{what}: the browser is not called for a link");
        call.abort();
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn x23_url_is_not_requested_before_consent() {
    let what = "X23, an address of a page that counts visits";
    let pair = GoodAndBadServers::with_undecided_tools(scripted_config(&[
        "--raw",
        &url_request(&forbidden_url_listener().url()),
    ]))
    .await;
    let call = pair.spawn_call("1", "echo", json!({"text": "x"}));
    let request = pair.wait_for_tool_consent_request(what, |_| true).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let request = pair.next_server_request(what).await;
    pair.while_good_server_responds(what, advance_time(std::time::Duration::from_secs(1))).await;
    assert!(pair.app.platform.opened.lock().unwrap().is_empty(), "{what}: no URL was opened");
    assert_eq!(
        forbidden_url_listener().connection_count(),
        0,
        "[elicit-url-no-prefetch] {what}: the URL was not fetched"
    );
    pair.app.decide(&request, UserDecision::Deny).await;
    call.abort();
    pair.close(what).await;
}
