//! Property tests of views with arbitrary sequences of inputs: no panic, one response for each request, nothing before
//! the handshake, and bounded retention.

use std::time::Duration;

use mcp_apps::limits::MAX_PENDING_PAGE_REQUESTS;
use mcp_apps::{AppPage, DisplayMode, HostContext, HostResponse, ServerListKind, ToolMetadata, UiUri};
use mcp_proto::RpcError;
use mcp_proto::types::{ContentBlock, CreateMessageResult, Map, Role, SamplingContent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

/// Generates small JSON values, some with member names of the protocol.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("content".to_owned()),
        Just("name".to_owned()),
        Just("url".to_owned()),
        Just("mode".to_owned()),
        Just("_meta".to_owned()),
        Just("ui".to_owned()),
        Just("csp".to_owned()),
        Just("contents".to_owned()),
        Just("resourceUri".to_owned()),
        Just("visibility".to_owned()),
        Just("requestId".to_owned()),
        Just("appInfo".to_owned()),
        Just("mcpAppDiagnostic".to_owned()),
        Just("tools".to_owned()),
        "\\PC{0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_method_name() -> impl Strategy<Value = String> {
    const KNOWN_METHODS: [&str; 19] = [
        "ui/initialize",
        "ui/notifications/initialized",
        "ping",
        "tools/call",
        "tools/list",
        "resources/read",
        "prompts/list",
        "ui/open-link",
        "ui/download-file",
        "ui/message",
        "ui/update-model-context",
        "ui/request-display-mode",
        "sampling/createMessage",
        "notifications/message",
        "notifications/cancelled",
        "notifications/tools/list_changed",
        "ui/notifications/size-changed",
        "ui/notifications/request-teardown",
        "ui/notifications/sandbox-proxy-ready",
    ];
    prop_oneof![9 => proptest::sample::select(KNOWN_METHODS.as_slice()).prop_map(str::to_owned), 1 => "\\PC{0,20}"]
}

fn valid_params_of_method(method: &str) -> Value {
    match method {
        "ui/initialize" => json!({
            "appInfo": { "name": "a", "version": "1" },
            "appCapabilities": { "tools": { "listChanged": true }, "availableDisplayModes": ["inline", "fullscreen"] },
            "protocolVersion": "2026-01-26",
        }),
        "tools/call" => json!({ "name": "get-time" }),
        "resources/read" => json!({ "uri": "file:///a" }),
        "ui/open-link" => json!({ "url": "https://a.example" }),
        "ui/message" => json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] }),
        "ui/request-display-mode" => json!({ "mode": "fullscreen" }),
        "notifications/cancelled" => json!({ "requestId": 3 }),
        "sampling/createMessage" => json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "a" } }],
            "maxTokens": 5,
        }),
        _ => json!({}),
    }
}

#[derive(Debug, Clone)]
enum ViewStep {
    Text(String),
    Request(i64, String, Option<Value>),
    Notification(String, Option<Value>),
    Response(i64, Value, bool),
    Handshake,
    Respond(usize, u8),
    Host(u8),
    Pass(u64),
}

fn any_step() -> impl Strategy<Value = ViewStep> {
    prop_oneof![
        2 => any_json().prop_map(|value| ViewStep::Text(value.to_string())),
        1 => "\\PC{0,40}".prop_map(ViewStep::Text),
        8 => (0..6_i64, any_method_name(), proptest::option::of(any_json())).prop_map(|(id, method, params)| ViewStep::Request(id, method, params)),
        4 => (any_method_name(), proptest::option::of(any_json())).prop_map(|(method, params)| ViewStep::Notification(method, params)),
        3 => (0..6_i64, any_json(), any::<bool>()).prop_map(|(id, value, is_error)| ViewStep::Response(id, value, is_error)),
        2 => Just(ViewStep::Handshake),
        5 => (0..8_usize, any::<u8>()).prop_map(|(index, kind)| ViewStep::Respond(index, kind)),
        5 => any::<u8>().prop_map(ViewStep::Host),
        2 => (0..40_000_u64).prop_map(ViewStep::Pass),
    ]
}

fn host_response_of_kind(kind: u8) -> HostResponse {
    match kind % 6 {
        0 => HostResponse::Result(to_json_map(json!({ "content": [] }))),
        1 => HostResponse::Done,
        2 => HostResponse::DisplayMode(DisplayMode::Fullscreen),
        3 => HostResponse::Refused("no".into()),
        4 => HostResponse::Sampling(Box::new(CreateMessageResult {
            role: Role::Assistant,
            content: SamplingContent::One(ContentBlock::text("a")),
            model: "m".into(),
            stop_reason: None,
            meta: None,
        })),
        _ => HostResponse::Failed(RpcError::new(-32603, "failed")),
    }
}

/// Performs an action of the host, selected by `act`. The view must refuse actions that the specification does not
/// allow at that time.
fn perform_nth_host_action(page: &mut TestPage, act: u8) {
    let _ = match act % 12 {
        0 => page.view.send_partial_tool_input(Map::new()).map_err(|_| ()),
        1 => page.view.send_tool_input(None).map_err(|_| ()),
        2 => page.view.send_tool_result(Map::new()).map_err(|_| ()),
        3 => page.view.send_tool_cancelled(None).map_err(|_| ()),
        4 => page
            .view
            .change_host_context(HostContext { locale: Some(act.to_string()), ..view_config().context })
            .map_err(|_| ()),
        5 => page
            .view
            .change_host_context(HostContext { display_mode: DisplayMode::Pip, ..view_config().context })
            .map_err(|_| ()),
        6 => page.view.list_app_tools(page.now).map_err(|_| ()),
        7 => page.view.call_app_tool("move", Map::new(), page.now).map(drop).map_err(|_| ()),
        8 => {
            page.view.notify_server_list_changed(ServerListKind::Resources);
            Ok(())
        }
        9 if act > 240 => {
            page.view.begin_teardown(page.now);
            Ok(())
        }
        10 if act > 250 => {
            page.view.handle_page_gone();
            Ok(())
        }
        _ => {
            page.view.change_tools_callable_by_app(["get-time".to_owned()].into());
            Ok(())
        }
    };
    page.drain_view_outputs();
}

fn apply_step(page: &mut TestPage, step: ViewStep) {
    match step {
        ViewStep::Text(text) => page.send_text(&text),
        ViewStep::Request(id, method, params) => {
            let params = params.unwrap_or_else(|| valid_params_of_method(&method));
            page.send_message(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        }
        ViewStep::Notification(method, params) => {
            let params = params.unwrap_or_else(|| valid_params_of_method(&method));
            page.notify(&method, params);
        }
        ViewStep::Response(id, error, true) => {
            page.send_message(
                &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": error.to_string() } }),
            );
        }
        ViewStep::Response(id, result, false) => page.respond(&json!(id), result),
        ViewStep::Handshake => {
            page.send_message(&json!({ "jsonrpc": "2.0", "id": 99, "method": "ui/initialize", "params": valid_params_of_method("ui/initialize") }));
            page.notify("ui/notifications/initialized", json!({}));
        }
        ViewStep::Respond(index, kind) => {
            if let Some((id, _)) = page.requests.get(index) {
                // The view refuses responses of the wrong kind and second responses.
                let _ = page.view.respond(*id, host_response_of_kind(kind));
                page.drain_view_outputs();
            }
        }
        ViewStep::Host(act) => perform_nth_host_action(page, act),
        ViewStep::Pass(milliseconds) => page.advance_time(Duration::from_millis(milliseconds)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// The view answers each request once, and sends only valid messages: `TestPage::drain_view_outputs` panics on a
    /// second response, on a response to no request, on an output after the end, and on a message that is invalid under
    /// the schema.
    #[test]
    fn page_requests_are_answered_once_and_outputs_are_valid(steps in proptest::collection::vec(any_step(), 0..60)) {
        let mut page = TestPage::new(view_config());
        for step in steps {
            apply_step(&mut page, step);
        }
        let distinct: std::collections::BTreeSet<_> = page.requests.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(distinct.len(), page.requests.len(), "ids are never used twice");
    }

    // [apps-wait-initialized]
    #[test]
    fn nothing_but_the_handshake_is_sent_before_its_end(steps in proptest::collection::vec(any_step(), 0..60)) {
        let mut page = TestPage::new(view_config());
        for step in steps {
            let is_end = matches!(&step, ViewStep::Handshake)
                || matches!(&step, ViewStep::Notification(method, _) if method == "ui/notifications/initialized");
            if is_end {
                break;
            }
            let before = page.received.len();
            let is_initialize = matches!(&step, ViewStep::Request(_, method, _) if method == "ui/initialize");
            apply_step(&mut page, step);
            prop_assert!(page.received.len() - before <= usize::from(is_initialize), "{:?}", page.received);
        }
        prop_assert!(page.received_methods().is_empty() && page.requests.is_empty());
    }

    #[test]
    fn number_of_open_page_requests_stays_bounded(count in 0..200_usize) {
        let mut page = TestPage::ready();
        for _ in 0..count {
            page.request("tools/call", json!({ "name": "get-time" }));
        }
        prop_assert!(page.requests.len() <= MAX_PENDING_PAGE_REQUESTS);
    }

    #[test]
    fn reading_metadata_and_pages_from_any_json_never_panics(value in any_json()) {
        let metadata = ToolMetadata::read(value.as_object());
        prop_assert!(metadata.faults.len() <= mcp_apps::MAX_METADATA_FAULTS);
        let nested = json!({ "ui": value });
        let _ = ToolMetadata::read(nested.as_object());
        let uri = UiUri::parse("ui://a").unwrap();
        let item = json!({ "mimeType": "text/html;profile=mcp-app", "text": "a", "_meta": nested });
        let page = AppPage::from_read_result(&uri, &to_json_map(json!({ "contents": [item] })), value.as_object());
        prop_assert!(page.is_ok());
        if let Value::Object(result) = &value {
            let _ = AppPage::from_read_result(&uri, result, None);
        }
    }
}
