//! Tests of the end of a view: teardown by the host, and a page that disappears.

use std::time::Duration;

use mcp_apps::limits::PAGE_TEARDOWN_TIMEOUT;
use mcp_apps::{AppToolError, HostResponse, HostResponseError, ViewCloseCause, ViewEvent};
use mcp_proto::types::Map;
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

fn begin_page_teardown(page: &mut TestPage) -> Value {
    page.view.begin_teardown(page.now);
    page.drain_view_outputs();
    page.received.last().map(|message| message["id"].clone()).unwrap_or_default()
}

#[test]
fn view_closes_when_the_page_confirms_teardown() {
    let mut page = TestPage::ready();
    let id = begin_page_teardown(&mut page);
    assert_eq!(page.received_methods(), ["ui/resource-teardown"]);
    begin_page_teardown(&mut page);
    assert_eq!(page.received.len(), 1, "the page is notified once");
    page.respond(&id, json!({}));
    assert_eq!(page.events, [ViewEvent::Closed(ViewCloseCause::Confirmed)]);
    assert!(page.view.is_closed());
}

#[test]
fn page_that_fails_or_is_silent_is_closed_too() {
    let mut page = TestPage::ready();
    let id = begin_page_teardown(&mut page);
    page.send_message(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": "no" } }));
    assert_eq!(page.events, [ViewEvent::Closed(ViewCloseCause::Failed)]);
    let mut page = TestPage::ready();
    begin_page_teardown(&mut page);
    assert_eq!(page.view.poll_timeout(), Some(page.now + PAGE_TEARDOWN_TIMEOUT));
    page.advance_time(PAGE_TEARDOWN_TIMEOUT - Duration::from_millis(1));
    assert_eq!(page.events, []);
    page.advance_time(Duration::from_millis(1));
    assert_eq!(page.events, [ViewEvent::Closed(ViewCloseCause::TimedOut)]);
}

#[test]
fn page_that_was_never_initialized_is_not_notified() {
    let mut page = TestPage::new(view_config());
    page.request("ping", json!({}));
    page.initialize(json!({}));
    begin_page_teardown(&mut page);
    assert_eq!(page.events, [ViewEvent::Closed(ViewCloseCause::NeverInitialized)]);
    assert_eq!(page.received.len(), 1, "only the response to ui/initialize should be sent");
}

#[test]
fn page_requests_are_answered_during_teardown() {
    let mut page = TestPage::ready();
    let teardown = begin_page_teardown(&mut page);
    page.request("tools/call", json!({ "name": "get-time" }));
    let (id, _) = page.only_request();
    page.view.respond(id, HostResponse::Result(to_json_map(json!({ "content": [] })))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"], json!({ "content": [] }));
    page.respond(&teardown, json!({}));
    assert!(page.view.is_closed());
}

#[test]
fn pending_page_requests_get_errors_when_the_view_closes() {
    let mut page = TestPage::ready();
    page.request("tools/call", json!({ "name": "get-time" }));
    let call = page.last_request_id();
    let (id, _) = page.only_request();
    let teardown = begin_page_teardown(&mut page);
    page.respond(&teardown, json!({}));
    assert_eq!(page.withdrawn, [id]);
    assert_eq!(page.response_to(call)["error"]["message"], json!("the view is closed"));
    assert_eq!(page.view.respond(id, HostResponse::Refused("late".into())), Err(HostResponseError::NotOpen));
}

#[test]
fn no_message_is_sent_to_a_page_that_is_gone() {
    let mut page = TestPage::ready();
    page.request("tools/call", json!({ "name": "get-time" }));
    page.view.handle_page_gone();
    page.view.handle_page_gone();
    page.drain_view_outputs();
    assert_eq!((page.received.len(), page.withdrawn.len()), (0, 1));
    assert_eq!(page.events, [ViewEvent::Closed(ViewCloseCause::PageGone)]);
}

#[test]
fn closed_view_ignores_messages_and_host_calls() {
    let mut page = TestPage::ready();
    page.view.handle_page_gone();
    page.request("ping", json!({}));
    page.view.send_tool_input(None).unwrap();
    page.view.change_host_context(view_config().context).unwrap();
    page.view.begin_teardown(page.now);
    page.advance_time(Duration::from_secs(60));
    assert_eq!((page.received.len(), page.faults.len(), page.view.poll_timeout()), (0, 0, None));
}

// [apps-draft-tools-lifecycle]
#[test]
fn calls_of_app_tools_fail_when_the_view_ends() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "tools": {} }));
    page.view.list_app_tools(page.now).unwrap();
    page.drain_view_outputs();
    let id = page.received.pop().unwrap()["id"].clone();
    page.respond(&id, json!({ "tools": [{ "name": "move", "inputSchema": { "type": "object" } }] }));
    let call = page.view.call_app_tool("move", Map::new(), page.now).unwrap();
    page.events.clear();
    let teardown = begin_page_teardown(&mut page);
    page.respond(&teardown, json!({}));
    let ended = ViewEvent::AppToolCallEnded { call, result: Err(AppToolError::Closed) };
    assert_eq!(page.events, [ended, ViewEvent::Closed(ViewCloseCause::Confirmed)]);
    assert_eq!(page.view.call_app_tool("move", Map::new(), page.now), Err(AppToolError::Closed));
}
