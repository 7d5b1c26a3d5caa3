//! Tests of the handshake, and of messages that are sent before it is complete.

use std::time::Duration;

use mcp_apps::{
    AppPageMetadata, AppRequest, ContainerAxisSize, ContainerSize, DisplayMode, HostContext, HostPlatform,
    InputDevices, PagePermission, PagePermissions, STYLE_VARIABLES, SandboxGrants, SandboxPolicy, StyleVariables,
    Theme, ToolInfo, ViewEvent, ViewFaultKind,
};
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

#[test]
fn initialize_response_has_the_requested_or_the_newest_version() {
    for (requested, answered, faults) in
        [("2026-01-26", "2026-01-26", 0), ("2025-11-21", "2025-11-21", 0), ("0.1", "2026-01-26", 1)]
    {
        let mut page = TestPage::new(view_config());
        let info = json!({ "name": "App", "version": "2.0" });
        let params = json!({ "appInfo": info, "appCapabilities": {}, "protocolVersion": requested });
        let response = page.request("ui/initialize", params);
        assert_eq!(response["result"]["protocolVersion"], json!(answered));
        assert_eq!(page.faults.len(), faults, "{requested}");
    }
}

#[test]
fn initialize_response_contains_context_and_granted_sandbox() {
    let mut config = view_config();
    let requested: PagePermissions = PagePermission::ALL.into_iter().collect();
    let metadata = AppPageMetadata { permissions: requested.clone(), ..AppPageMetadata::default() };
    let grants = SandboxGrants { permissions: requested, ..SandboxGrants::default() };
    config.capabilities.sandbox = Some(SandboxPolicy::new(&metadata, &grants).granted());
    let tool = serde_json::from_value(json!({ "name": "get-time", "inputSchema": { "type": "object" } })).unwrap();
    config.context = HostContext {
        tool: ToolInfo::new(Some("call 1".into()), &tool),
        theme: Some(Theme::Dark),
        styles: StyleVariables::new(STYLE_VARIABLES.map(|name| (name, "1px".to_owned()))).unwrap(),
        fonts: Some("@import url(fonts.css)".into()),
        display_mode: DisplayMode::Inline,
        available_display_modes: vec![DisplayMode::Inline],
        container: ContainerSize { width: ContainerAxisSize::Fixed(600), height: ContainerAxisSize::UpTo(900) },
        locale: Some("en-GB".into()),
        time_zone: Some("Europe/Berlin".into()),
        user_agent: Some("Host".into()),
        platform: Some(HostPlatform::Desktop),
        input_devices: Some(InputDevices { touch: false, hover: true }),
    };
    let response = TestPage::new(config).initialize(json!({}));
    assert_eq!(response["result"]["hostContext"].as_object().map(serde_json::Map::len), Some(11));
    assert_eq!(response["result"]["hostCapabilities"]["sandbox"]["permissions"]["clipboardWrite"], json!({}));
}

#[test]
fn unusable_app_info_is_refused_and_the_page_may_try_again() {
    let mut page = TestPage::new(view_config());
    for params in [json!({}), json!({ "appInfo": 5 }), json!([])] {
        assert_eq!(page.request("ui/initialize", params)["error"]["code"], json!(-32602));
    }
    assert!(page.initialize(json!({})).get("result").is_some());
}

#[test]
fn app_that_declares_no_capabilities_has_none() {
    let mut page = TestPage::new(view_config());
    let params = json!({ "appInfo": { "name": "App", "version": "1" }, "protocolVersion": "2026-01-26" });
    assert!(page.request("ui/initialize", params).get("result").is_some());
    assert_eq!(page.fault_kinds(), [ViewFaultKind::InvalidContent]);
    let app = page.view.app().unwrap();
    assert!(!app.has_tools && app.display_modes.is_none());
}

#[test]
fn early_requests_wait_for_the_handshake_and_are_processed_then() {
    let mut page = TestPage::new(view_config());
    page.request("ping", json!({}));
    let ping = page.last_request_id();
    page.request("tools/call", json!({ "name": "get-time" }));
    page.notify("ui/notifications/size-changed", json!({ "height": 40 }));
    page.initialize(json!({}));
    assert_eq!(page.received.len(), 1, "only the response to ui/initialize should be sent");
    assert_eq!(page.requests, []);
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.response_to(ping)["result"], json!({}));
    assert!(matches!(page.only_request().1, AppRequest::CallTool { .. }));
    assert!(matches!(page.events[..], [ViewEvent::Initialized(_), ViewEvent::Resized(_)]));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::Early; 3]);
}

#[test]
fn tool_messages_are_retained_until_the_page_is_initialized() {
    let mut page = TestPage::new(view_config());
    for number in 0..1000 {
        page.view.send_partial_tool_input(to_json_map(json!({ "number": number }))).unwrap();
    }
    page.initialize(json!({}));
    page.view.send_tool_input(Some(to_json_map(json!({ "number": 7 })))).unwrap();
    page.view.send_tool_result(to_json_map(json!({ "content": [] }))).unwrap();
    page.advance_time(Duration::from_secs(60));
    assert_eq!(page.received.len(), 1, "only the response to ui/initialize should be sent");
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.received_methods(), ["ui/notifications/tool-input", "ui/notifications/tool-result"]);
}

#[test]
fn only_the_last_partial_tool_input_is_retained() {
    let mut page = TestPage::new(view_config());
    for number in 0..5 {
        page.view.send_partial_tool_input(to_json_map(json!({ "number": number }))).unwrap();
    }
    page.initialize(json!({}));
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.received[1]["params"], json!({ "arguments": { "number": 4 } }));
    assert_eq!(page.received.len(), 2);
}

#[test]
fn context_that_changed_during_the_handshake_is_sent_after_it() {
    let mut page = TestPage::new(view_config());
    let theme = |theme| HostContext { theme: Some(theme), ..view_config().context };
    page.view.change_host_context(theme(Theme::Light)).unwrap();
    assert_eq!(page.initialize(json!({}))["result"]["hostContext"]["theme"], json!("light"));
    page.view.change_host_context(theme(Theme::Dark)).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received.len(), 1);
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.received[1]["params"], json!({ "theme": "dark" }));
}

#[test]
fn handshake_messages_at_the_wrong_time_are_faults() {
    let mut page = TestPage::new(view_config());
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::OutOfOrder]);
    let mut page = TestPage::ready();
    assert_eq!(page.initialize(json!({}))["error"]["code"], json!(-32600));
    page.notify("ui/notifications/initialized", json!({}));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::OutOfOrder; 2]);
    assert_eq!(page.events, []);
}

#[test]
fn fault_of_a_misspelled_method_names_the_right_one() {
    let mut page = TestPage::new(view_config());
    page.request("initialize", json!({}));
    assert!(page.faults[0].1.ends_with("the specification has ui/initialize"), "{:?}", page.faults);
    let mut page = TestPage::ready();
    page.notify("ui/notifications/size-change", json!({ "height": 5 }));
    assert!(page.faults[0].1.ends_with("the specification has ui/notifications/size-changed"), "{:?}", page.faults);
}

#[test]
fn app_info_texts_are_truncated() {
    let mut page = TestPage::new(view_config());
    let info = json!({ "name": "n".repeat(100_000), "version": "1", "icons": [{ "src": "https://a.example" }] });
    let modes: Vec<Value> = std::iter::repeat_n(json!("pip"), 1000).collect();
    let params = json!({
        "appInfo": info,
        "appCapabilities": { "availableDisplayModes": modes },
        "protocolVersion": "2026-01-26",
    });
    page.request("ui/initialize", params);
    let app = page.view.app().unwrap();
    assert!(app.implementation.name.len() <= 1024 && app.implementation.icons.is_empty());
    assert!(app.display_modes.as_ref().unwrap().len() <= 8);
}
