//! Tests of the tools that an app offers to the host.

use std::time::Duration;

use mcp_apps::limits::{
    APP_TOOL_LIST_CHANGE_INTERVAL, APP_TOOL_REQUEST_TIMEOUT, MAX_APP_TOOL_BYTES, MAX_APP_TOOL_CALLS,
    MAX_APP_TOOL_LIST_BYTES, MAX_APP_TOOL_RESULT_BYTES, MAX_APP_TOOLS,
};
use mcp_apps::{AppToolCallId, AppToolError, AppToolList, ViewEvent, ViewFaultKind};
use mcp_proto::types::Map;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

fn tool_definition(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

fn page_with_app_tools() -> TestPage {
    TestPage::ready_with_config(view_config(), json!({ "tools": { "listChanged": true } }))
}

/// Lists the app's tools. The page responds to `tools/list` with `pages`, one after the other.
fn request_app_tool_list(page: &mut TestPage, pages: Vec<Value>) -> Result<AppToolList, AppToolError> {
    page.view.list_app_tools(page.now).unwrap();
    page.drain_view_outputs();
    for result in pages {
        let id = page.received.pop().unwrap()["id"].clone();
        page.respond(&id, result);
    }
    let Some(ViewEvent::AppToolsListed(listed)) = page.events.pop() else { panic!("no list: {:?}", page.events) };
    listed
}

fn start_app_tool_call(page: &mut TestPage, name: &str) -> Result<(AppToolCallId, Value), AppToolError> {
    let call = page.view.call_app_tool(name, Map::new(), page.now)?;
    page.drain_view_outputs();
    Ok((call, page.received.last().unwrap()["id"].clone()))
}

#[test]
fn tools_are_offered_only_by_an_initialized_page_that_declares_them() {
    let mut page = TestPage::ready();
    assert_eq!(page.view.list_app_tools(page.now), Err(AppToolError::NotOffered));
    assert_eq!(start_app_tool_call(&mut page, "move"), Err(AppToolError::NotOffered));
    let mut page = TestPage::new(view_config());
    page.initialize(json!({ "tools": {} }));
    assert_eq!(page.view.list_app_tools(page.now), Err(AppToolError::NotOffered));
}

// [apps-draft-tools-limits]
#[test]
fn app_tool_list_is_read_page_by_page_and_bounded() {
    let mut page = page_with_app_tools();
    let many: Vec<Value> = (0..40).map(|number| tool_definition(&format!("a{number}"))).collect();
    let more: Vec<Value> = (0..40).map(|number| tool_definition(&format!("b{number}"))).collect();
    let pages = vec![json!({ "tools": many, "nextCursor": "x" }), json!({ "tools": more, "nextCursor": "y" })];
    let listed = request_app_tool_list(&mut page, pages).unwrap();
    assert_eq!((listed.tools.len(), listed.dropped), (MAX_APP_TOOLS, 30));
}

#[test]
fn endless_app_tool_list_is_cut_off() {
    let mut page = page_with_app_tools();
    let pages = (0..10).map(|_| json!({ "tools": [], "nextCursor": "again" })).collect();
    assert_eq!(request_app_tool_list(&mut page, pages), Ok(AppToolList::default()));
}

#[test]
fn unusable_app_tools_are_dropped() {
    let mut page = page_with_app_tools();
    let large = json!({ "name": "large", "description": "a".repeat(100_000), "inputSchema": {} });
    let tools = json!([tool_definition("move"), tool_definition("move"), tool_definition(""), tool_definition("a b"), tool_definition("a\u{200b}b"), { "name": "none" }, 5, large]);
    let listed = request_app_tool_list(&mut page, vec![json!({ "tools": tools })]).unwrap();
    assert_eq!((listed.tools.len(), listed.dropped), (1, 7));
    assert_eq!(request_app_tool_list(&mut page, vec![json!({})]), Err(AppToolError::InvalidResult));
}

#[test]
fn total_size_of_app_tools_is_limited() {
    let mut page = page_with_app_tools();
    let large = |number: usize| {
        let description = "a".repeat(MAX_APP_TOOL_BYTES - 1000);
        json!({ "name": format!("a{number}"), "description": description, "inputSchema": { "type": "object" } })
    };
    let tools = |numbers: std::ops::Range<usize>| numbers.map(large).collect::<Vec<Value>>();
    let pages = vec![json!({ "tools": tools(0..3), "nextCursor": "x" }), json!({ "tools": tools(3..8) })];
    let listed = request_app_tool_list(&mut page, pages).unwrap();
    assert_eq!(listed.tools.len(), MAX_APP_TOOL_LIST_BYTES / MAX_APP_TOOL_BYTES, "the limit holds for all pages");
    assert_eq!(listed.dropped, 4);
}

#[test]
fn app_tool_call_is_cancelled_at_the_request_of_the_host() {
    let mut page = page_with_app_tools();
    request_app_tool_list(&mut page, vec![json!({ "tools": [tool_definition("move")] })]).unwrap();
    let (id, wire_id) = start_app_tool_call(&mut page, "move").unwrap();
    page.view.cancel_app_tool_call(id);
    page.drain_view_outputs();
    let cancelled = page.received.last().unwrap();
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &wire_id)
    );
    page.respond(&wire_id, json!({ "content": [] }));
    page.advance_time(APP_TOOL_REQUEST_TIMEOUT);
    assert_eq!(page.events, [], "a cancelled call has no outcome");
    let sent = page.received.len();
    page.view.cancel_app_tool_call(id);
    page.drain_view_outputs();
    assert_eq!(page.received.len(), sent, "a call that has ended is not cancelled");
}

proptest! {
    // A case validates up to several megabytes against the schema.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_app_tool_lists_are_bounded(
        names in proptest::collection::vec("[a-c_\\u{200b} ]{0,3}", 0..80),
        sizes in proptest::collection::vec(prop_oneof![0_usize..200, 60_000_usize..70_000], 1..8),
        pages in 1_usize..14,
    ) {
        let mut page = page_with_app_tools();
        let tools: Vec<Value> = names
            .iter()
            .zip(sizes.iter().cycle())
            .map(|(name, size)| json!({ "name": name, "description": "a".repeat(*size), "inputSchema": {} }))
            .collect();
        let answer = |number: usize| {
            let part: Vec<&Value> = tools.iter().skip(number % 5).step_by(5).collect();
            json!({ "tools": part, "nextCursor": number.to_string() })
        };
        page.view.list_app_tools(page.now).unwrap();
        page.drain_view_outputs();
        for number in 0..pages {
            let is_list = |message: &Value| message["method"] == "tools/list" && message.get("id").is_some();
            let Some(request) = page.received.pop().filter(is_list) else { break };
            page.respond(&request["id"], answer(number));
        }
        let Some(ViewEvent::AppToolsListed(Ok(listed))) = page.events.pop() else { return Ok(()) };
        let names: std::collections::BTreeSet<_> = listed.tools.iter().map(|tool| &tool.definition.name).collect();
        prop_assert_eq!(names.len(), listed.tools.len(), "names are distinct");
        let are_visible = names.iter().all(|name| !name.is_empty() && !name.contains(['\u{200b}', ' ']));
        prop_assert!(are_visible, "names are visible");
        let bytes: usize = listed.tools.iter().map(|tool| json!(tool.definition).to_string().len()).sum();
        prop_assert!(listed.tools.len() <= MAX_APP_TOOLS && bytes <= MAX_APP_TOOL_LIST_BYTES + 1024 * MAX_APP_TOOLS);
    }
}

#[test]
fn only_listed_app_tools_are_called() {
    let mut page = page_with_app_tools();
    assert_eq!(start_app_tool_call(&mut page, "move"), Err(AppToolError::UnknownTool));
    request_app_tool_list(&mut page, vec![json!({ "tools": [tool_definition("move")] })]).unwrap();
    let (id, wire_id) = start_app_tool_call(&mut page, "move").unwrap();
    assert_eq!(page.received.last().unwrap()["params"], json!({ "name": "move", "arguments": {} }));
    let result = json!({ "content": [{ "type": "text", "text": "done" }] });
    page.respond(&wire_id, result.clone());
    assert_eq!(page.events, [ViewEvent::AppToolCallEnded { call: id, result: Ok(to_json_map(result)) }]);
}

#[test]
fn invalid_and_large_app_tool_results_are_errors() {
    let mut page = page_with_app_tools();
    request_app_tool_list(&mut page, vec![json!({ "tools": [tool_definition("move")] })]).unwrap();
    let mut outcome = |answer: &dyn Fn(&Value) -> Value| {
        let (_, wire_id) = start_app_tool_call(&mut page, "move").unwrap();
        page.send_message(&answer(&wire_id));
        let Some(ViewEvent::AppToolCallEnded { result, .. }) = page.events.pop() else { panic!("no end") };
        page.now += Duration::from_secs(60);
        result
    };
    let result = |result: Value| move |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    assert_eq!(outcome(&result(json!([1]))), Err(AppToolError::InvalidResult));
    assert_eq!(outcome(&result(json!({ "text": "a" }))), Err(AppToolError::InvalidResult));
    let large = json!({ "content": [{ "type": "text", "text": "a".repeat(MAX_APP_TOOL_RESULT_BYTES) }] });
    assert_eq!(outcome(&result(large)), Err(AppToolError::TooLarge));
    let huge = json!({ "content": [{ "type": "text", "text": "a".repeat(17 * 1024 * 1024) }] });
    assert_eq!(outcome(&result(huge)), Err(AppToolError::TooLarge));
    let error = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 5, "message": "no" } });
    assert!(matches!(outcome(&error), Err(AppToolError::Failed(error)) if error.code == 5));
}

#[test]
fn app_tool_call_is_cancelled_after_the_time_limit() {
    let mut page = page_with_app_tools();
    request_app_tool_list(&mut page, vec![json!({ "tools": [tool_definition("move")] })]).unwrap();
    let (id, wire_id) = start_app_tool_call(&mut page, "move").unwrap();
    assert_eq!(page.view.poll_timeout(), Some(page.now + APP_TOOL_REQUEST_TIMEOUT));
    page.advance_time(APP_TOOL_REQUEST_TIMEOUT - Duration::from_millis(1));
    assert_eq!(page.events, []);
    page.advance_time(Duration::from_millis(1));
    assert_eq!(page.events, [ViewEvent::AppToolCallEnded { call: id, result: Err(AppToolError::TimedOut) }]);
    let cancelled = page.received.last().unwrap();
    assert_eq!(
        (&cancelled["method"], &cancelled["params"]["requestId"]),
        (&json!("notifications/cancelled"), &wire_id)
    );
    page.respond(&wire_id, json!({ "content": [] }));
    assert_eq!(page.events.len(), 1, "a late response changes nothing");
    assert_eq!(page.fault_kinds(), [ViewFaultKind::TimedOut, ViewFaultKind::UnknownId]);
    assert_eq!(page.view.poll_timeout(), None);
}

// [apps-draft-tools-limits]
#[test]
fn running_app_tool_calls_are_limited() {
    let mut page = page_with_app_tools();
    request_app_tool_list(&mut page, vec![json!({ "tools": [tool_definition("move")] })]).unwrap();
    for _ in 0..MAX_APP_TOOL_CALLS {
        start_app_tool_call(&mut page, "move").unwrap();
    }
    assert_eq!(start_app_tool_call(&mut page, "move"), Err(AppToolError::TooManyCalls));
}

#[test]
fn app_tool_list_changes_are_throttled() {
    let mut page = page_with_app_tools();
    for _ in 0..50 {
        page.notify("notifications/tools/list_changed", json!({}));
    }
    assert_eq!(page.events, [ViewEvent::AppToolsChanged]);
    page.advance_time(APP_TOOL_LIST_CHANGE_INTERVAL - Duration::from_millis(1));
    assert_eq!(page.events.len(), 1);
    page.advance_time(Duration::from_millis(1));
    assert_eq!(page.events.len(), 2, "the retained change is reported");
    page.advance_time(APP_TOOL_LIST_CHANGE_INTERVAL);
    assert_eq!(page.events.len(), 2);
    let mut page = TestPage::ready_with_config(view_config(), json!({ "tools": {} }));
    page.notify("notifications/tools/list_changed", json!({}));
    assert_eq!((page.events.len(), page.fault_kinds()), (0, vec![ViewFaultKind::NotOffered]));
}

#[test]
fn responses_with_unknown_ids_are_view_faults() {
    let mut page = page_with_app_tools();
    for id in [json!(1), json!("1"), json!(-5)] {
        page.respond(&id, json!({}));
    }
    assert_eq!(page.fault_kinds(), [ViewFaultKind::UnknownId; 3]);
    assert_eq!((page.events.len(), page.received.len()), (0, 0));
}
