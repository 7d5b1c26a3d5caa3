//! Tests of the limits on the messages and requests of a hostile page.

use std::time::Duration;

use mcp_apps::limits::{
    MAX_LINK_BYTES, MAX_MESSAGE_BYTES_BEFORE_HANDSHAKE, MAX_MESSAGES_BEFORE_HANDSHAKE,
    MAX_PAGE_CONTENT_FOR_MODEL_BYTES, MAX_PAGE_MESSAGE_BURST, MAX_PAGE_MESSAGE_BYTES, MAX_PENDING_PAGE_REQUESTS,
    MAX_QUEUED_VIEW_OUTPUTS, PAGE_MESSAGES_PER_SECOND,
};
use mcp_apps::{AppRequest, View, ViewEvent, ViewFaultKind};
use serde_json::json;

use super::page::{TestPage, view_config};

fn send_notification_flood(page: &mut TestPage, count: u32) -> u32 {
    let before = page.received.len();
    (0..count).for_each(|_| drop(page.request("ping", json!({}))));
    u32::try_from(page.received.len() - before).unwrap()
}

#[test]
fn rate_of_page_messages_is_limited() {
    let mut page = TestPage::ready();
    page.advance_time(Duration::from_secs(60));
    assert_eq!(send_notification_flood(&mut page, 1000), MAX_PAGE_MESSAGE_BURST);
    assert_eq!(page.faults, [], "a flood is not reported message by message");
    page.advance_time(Duration::from_secs(1));
    assert_eq!(send_notification_flood(&mut page, 1000), PAGE_MESSAGES_PER_SECOND);
    assert_eq!(page.fault_kinds(), [ViewFaultKind::TooMany]);
    assert_eq!(page.faults[0].1, "800 messages were dropped, because the page sent too many");
    page.advance_time(Duration::from_secs(10));
    assert_eq!(send_notification_flood(&mut page, 10), 10, "the page works again after a pause");
}

#[test]
fn too_large_requests_are_refused_with_their_id() {
    let mut page = TestPage::ready();
    let text = "a".repeat(MAX_PAGE_MESSAGE_BYTES);
    assert_eq!(page.request("tools/call", json!({ "name": text }))["error"]["code"], json!(-32600));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::TooLarge]);
    let text = "a".repeat(MAX_PAGE_CONTENT_FOR_MODEL_BYTES);
    let content = json!([{ "type": "text", "text": text }]);
    let message = json!({ "role": "user", "content": content });
    assert_eq!(page.request("ui/message", message)["error"]["code"], json!(-32602));
    assert_eq!(page.request("ui/update-model-context", json!({ "content": content }))["error"]["code"], json!(-32602));
    assert_eq!(page.requests, []);
}

#[test]
fn link_length_is_limited_after_normalization() {
    const ORIGIN: &str = "https://a.example/";
    let mut page = TestPage::ready();
    let longest = format!("{ORIGIN}{}", "a".repeat(MAX_LINK_BYTES - ORIGIN.len()));
    let longer = format!("{longest}a");
    let grows = format!("{ORIGIN}{}", "é".repeat(MAX_LINK_BYTES / 4));
    assert!(grows.len() < MAX_LINK_BYTES, "only the normalized form should be too long");
    for url in [longer, grows] {
        assert_eq!(page.request("ui/open-link", json!({ "url": url }))["error"]["code"], json!(-32602), "{url}");
    }
    assert_eq!(page.fault_kinds(), [ViewFaultKind::TooLarge; 2]);
    assert!(page.request("ui/open-link", json!({ "url": longest })).is_null());
    let AppRequest::OpenLink { url } = page.only_request().1 else { panic!("no link") };
    assert_eq!(url.as_str(), longest);
}

#[test]
fn number_of_waiting_page_requests_is_limited() {
    let mut page = TestPage::ready();
    for _ in 0..MAX_PENDING_PAGE_REQUESTS {
        assert!(page.request("tools/call", json!({ "name": "get-time" })).is_null());
    }
    assert_eq!(page.request("tools/call", json!({ "name": "get-time" }))["error"]["code"], json!(-32000));
    assert_eq!(page.requests.len(), MAX_PENDING_PAGE_REQUESTS);
    let (id, _) = page.requests[0];
    page.view.respond(id, mcp_apps::HostResponse::Refused("no".into())).unwrap();
    page.drain_view_outputs();
    assert!(page.request("tools/call", json!({ "name": "get-time" })).is_null(), "there is room again");
}

#[test]
fn total_size_of_waiting_page_requests_is_limited() {
    let mut page = TestPage::ready();
    let arguments = json!({ "text": "a".repeat(14 * 1024 * 1024) });
    for count in 1..=3 {
        page.advance_time(Duration::from_secs(60));
        page.request("tools/call", json!({ "name": "get-time", "arguments": arguments }));
        assert_eq!(page.requests.len(), count.min(2));
    }
    assert_eq!(page.fault_kinds(), [ViewFaultKind::TooMany]);
}

#[test]
fn messages_before_the_handshake_are_limited() {
    let mut page = TestPage::new(view_config());
    for _ in 0..MAX_MESSAGES_BEFORE_HANDSHAKE + 10 {
        page.request("ping", json!({}));
    }
    page.request("tools/call", json!({ "name": "a".repeat(MAX_MESSAGE_BYTES_BEFORE_HANDSHAKE) }));
    page.initialize(json!({}));
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.received.len(), 1 + MAX_MESSAGES_BEFORE_HANDSHAKE);
}

#[test]
fn request_with_the_id_of_a_waiting_one_is_dropped() {
    let mut page = TestPage::ready();
    let request = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "get-time" } });
    page.send_message(&request);
    page.send_message(&request);
    page.send_message(&json!({ "jsonrpc": "2.0", "id": "a", "method": "ping" }));
    assert_eq!((page.requests.len(), page.received.len()), (1, 0));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::DuplicateId; 2]);
    let mut page = TestPage::new(view_config());
    page.send_message(&request);
    page.send_message(&request);
    assert_eq!(page.fault_kinds(), [ViewFaultKind::Early, ViewFaultKind::DuplicateId]);
}

#[test]
fn malformed_requests_get_errors_with_their_id_and_are_view_faults() {
    let mut page = TestPage::ready();
    let texts = [
        "",
        "null",
        "5",
        "[]",
        "{}",
        "{\"jsonrpc\":\"2.0\"",
        r#"[{"jsonrpc":"2.0","method":"ui/notifications/request-teardown"}]"#,
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    ];
    for text in texts {
        page.send_text(text);
    }
    assert_eq!(page.fault_kinds(), [ViewFaultKind::Malformed; 10]);
    assert_eq!((page.received.len(), page.events.len()), (0, 0));
    page.send_text(r#"{"jsonrpc":"2.0","id":8,"method":"ping","method":"ping"}"#);
    assert_eq!(page.response_to(8)["error"]["code"], json!(-32600));
}

#[test]
fn unread_view_outputs_are_bounded() {
    let mut now = std::time::Instant::now();
    let mut view = View::new(view_config(), now);
    for number in 0..100_000 {
        now += Duration::from_secs(1);
        view.handle_message(&format!("broken {number}"), now);
    }
    let mut count = 0;
    while view.poll_output().is_some() {
        count += 1;
    }
    assert!(count <= MAX_QUEUED_VIEW_OUTPUTS + 64, "{count} outputs");
}

#[test]
fn repeated_view_size_is_reported_once() {
    let mut page = TestPage::ready();
    for _ in 0..20 {
        page.notify("ui/notifications/size-changed", json!({ "height": 40 }));
    }
    assert!(matches!(page.events[..], [ViewEvent::Resized(_)]));
}
