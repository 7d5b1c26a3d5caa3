//! Tests of the delivery of a tool call's input and result to the page.

use mcp_apps::{DisplayMode, HostContext, ToolMessageOrderError, UndeclaredDisplayMode};
use serde_json::json;

use super::page::{TestPage, to_json_map, view_config};

#[test]
fn tool_input_is_sent_once_and_before_the_result() {
    let mut page = TestPage::ready();
    let result = to_json_map(json!({ "content": [] }));
    assert_eq!(page.view.send_tool_result(result.clone()), Err(ToolMessageOrderError::InputMissing));
    page.view.send_tool_input(None).unwrap();
    assert_eq!(page.view.send_tool_input(None), Err(ToolMessageOrderError::InputComplete));
    assert_eq!(page.view.send_partial_tool_input(to_json_map(json!({}))), Err(ToolMessageOrderError::InputComplete));
    page.view.send_tool_result(result.clone()).unwrap();
    assert_eq!(page.view.send_tool_result(result), Err(ToolMessageOrderError::CallEnded));
    assert_eq!(page.view.send_tool_cancelled(None), Err(ToolMessageOrderError::CallEnded));
    assert_eq!(page.view.send_tool_input(None), Err(ToolMessageOrderError::CallEnded));
    page.drain_view_outputs();
    assert_eq!(page.received_methods(), ["ui/notifications/tool-input", "ui/notifications/tool-result"]);
    assert_eq!(page.received[0]["params"], json!({ "arguments": {} }), "a call without arguments has empty ones");
}

#[test]
fn tool_result_is_sent_with_all_members() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(None).unwrap();
    let result = json!({
        "content": [{ "type": "text", "text": "noon" }],
        "structuredContent": { "hour": 12 },
        "_meta": { "source": "clock" },
        "isError": false,
    });
    page.view.send_tool_result(to_json_map(result.clone())).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[1]["params"], result);
}

#[test]
fn tool_result_without_content_gets_an_empty_content_list() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(None).unwrap();
    page.view.send_tool_result(to_json_map(json!({ "structuredContent": { "hour": 12 } }))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[1]["params"], json!({ "structuredContent": { "hour": 12 }, "content": [] }));
}

#[test]
fn refused_call_is_reported_as_cancelled_with_and_without_input() {
    for has_input in [true, false] {
        let mut page = TestPage::ready();
        if has_input {
            page.view.send_tool_input(None).unwrap();
        }
        page.view.send_tool_cancelled(Some("refused by the user".into())).unwrap();
        page.drain_view_outputs();
        let last = page.received.last().unwrap();
        assert_eq!(last["method"], json!("ui/notifications/tool-cancelled"));
        assert_eq!(last["params"], json!({ "reason": "refused by the user" }));
    }
    let mut page = TestPage::ready();
    page.view.send_tool_cancelled(None).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[0]["params"], json!({}));
}

#[test]
fn host_does_not_switch_to_a_mode_that_the_page_does_not_declare() {
    let mode = |display_mode| HostContext { display_mode, ..view_config().context };
    for declared in [json!(["inline"]), json!([]), json!(["theater"])] {
        let mut page = TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": declared }));
        let refused = page.view.change_host_context(mode(DisplayMode::Fullscreen));
        assert_eq!(refused, Err(UndeclaredDisplayMode(DisplayMode::Fullscreen)), "{declared}");
        page.drain_view_outputs();
        assert_eq!(page.received.len(), 0, "{declared}");
    }
    let mut page = TestPage::new(view_config());
    let early = page.view.change_host_context(mode(DisplayMode::Fullscreen));
    assert_eq!(early, Err(UndeclaredDisplayMode(DisplayMode::Fullscreen)), "the page may still declare its modes");
    // A page that declares nothing leaves the choice to the host.
    let mut page = TestPage::ready();
    page.view.change_host_context(mode(DisplayMode::Fullscreen)).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[0]["params"], json!({ "displayMode": "fullscreen" }));
}
