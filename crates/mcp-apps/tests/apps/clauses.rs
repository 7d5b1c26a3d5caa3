//! One test for each of the specification's requirements on hosts that this crate can meet, without a window.
//!
//! `tests/apps/requirements.tsv` lists the whole host catalogue in the repository of MCP Apps
//! (`examples/conformance-server`; issue 743 and pull request 726 of ext-apps at GitHub) with these tests and those of
//! requirements on the frame and on the conversation, which are in other crates.

use mcp_apps::{
    AppPage, AppPageMetadata, AppRequest, DeclaredDomains, DisplayMode, HostContext, HostResponse, PagePermission,
    SandboxGrants, SandboxPolicy, Theme, ToolMetadata, UiUri, UndeclaredDisplayMode, ViewEvent, extension_settings,
};
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

fn policy_with_connect_domains(connect: &[&str]) -> SandboxPolicy {
    let connect_domains = connect.iter().map(|domain| (*domain).to_owned()).collect();
    let domains = DeclaredDomains { connect_domains, ..DeclaredDomains::default() };
    let domains = (!connect.is_empty()).then_some(domains);
    let metadata = AppPageMetadata {
        domains,
        permissions: PagePermission::ALL.into_iter().collect(),
        ..AppPageMetadata::default()
    };
    let grants = SandboxGrants {
        declared_origins: true,
        permissions: [PagePermission::Camera].into_iter().collect(),
        ..SandboxGrants::default()
    };
    SandboxPolicy::new(&metadata, &grants)
}

#[test]
fn initialize_response_contains_host_capabilities() {
    let response = TestPage::new(view_config()).initialize(json!({}));
    assert!(response["result"]["hostCapabilities"]["serverTools"].is_object());
}

#[test]
fn complete_tool_input_is_sent_to_the_page() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(Some(to_json_map(json!({ "city": "Oslo" })))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[0]["params"]["arguments"], json!({ "city": "Oslo" }));
}

#[test]
fn partial_tool_input_is_sent_before_complete_input() {
    let mut page = TestPage::ready();
    page.view.send_partial_tool_input(to_json_map(json!({ "city": "O" }))).unwrap();
    page.view.send_tool_input(Some(to_json_map(json!({ "city": "Oslo" })))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received_methods(), ["ui/notifications/tool-input-partial", "ui/notifications/tool-input"]);
}

#[test]
fn no_partial_tool_input_is_sent_after_complete_input() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(None).unwrap();
    assert!(page.view.send_partial_tool_input(to_json_map(json!({}))).is_err());
    page.drain_view_outputs();
    assert_eq!(page.received_methods(), ["ui/notifications/tool-input"]);
}

#[test]
fn tool_result_is_sent_to_the_page_unchanged() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(None).unwrap();
    page.view.send_tool_result(to_json_map(json!({ "content": [], "isError": true }))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[1]["params"], json!({ "content": [], "isError": true }));
}

#[test]
fn cancelled_tool_call_is_reported_to_the_page() {
    let mut page = TestPage::ready();
    page.view.send_tool_input(None).unwrap();
    page.view.send_tool_cancelled(Some("stopped by the user".into())).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received_methods()[1], "ui/notifications/tool-cancelled");
}

#[test]
fn teardown_request_is_sent_to_the_page() {
    let mut page = TestPage::ready();
    page.view.begin_teardown(page.now);
    page.drain_view_outputs();
    assert_eq!(page.received_methods(), ["ui/resource-teardown"]);
}

#[test]
fn view_stays_open_until_the_page_answers_teardown() {
    let mut page = TestPage::ready();
    page.view.begin_teardown(page.now);
    page.drain_view_outputs();
    assert!(!page.view.is_closed(), "the page should get time to respond");
    let id = page.received[0]["id"].clone();
    page.respond(&id, json!({}));
    assert!(page.view.is_closed());
}

#[test]
fn tool_call_of_the_page_gets_the_result_unchanged() {
    let mut page = TestPage::ready();
    page.request("tools/call", json!({ "name": "get-time", "arguments": { "zone": "UTC" } }));
    let (id, request) = page.only_request();
    let arguments = to_json_map(json!({ "zone": "UTC" }));
    assert_eq!(request, AppRequest::CallTool { name: "get-time".into(), arguments });
    let result = json!({ "content": [], "structuredContent": { "a": 1 }, "_meta": { "b": 2 } });
    page.view.respond(id, HostResponse::Result(to_json_map(result.clone()))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"], result);
}

#[test]
fn tool_visible_only_to_apps_is_hidden_from_models() {
    let meta = json!({ "ui": { "visibility": ["app"] } });
    assert!(!ToolMetadata::read(meta.as_object()).is_visible_to_model());
}

#[test]
fn page_call_of_a_tool_without_app_visibility_is_refused() {
    let mut page = TestPage::ready();
    let response = page.request("tools/call", json!({ "name": "model_only_probe" }));
    assert!(response["error"].is_object());
    assert_eq!(page.requests, []);
}

#[test]
fn initialize_response_contains_host_context() {
    let response = TestPage::new(view_config()).initialize(json!({}));
    assert_eq!(response["result"]["hostContext"]["displayMode"], json!("inline"));
}

#[test]
fn changed_host_context_is_sent_to_the_page() {
    let mut page = TestPage::ready();
    page.view.change_host_context(HostContext { theme: Some(Theme::Dark), ..view_config().context }).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.received[0]["params"], json!({ "theme": "dark" }));
}

#[test]
fn size_reported_by_the_page_is_a_view_event() {
    let mut page = TestPage::ready();
    page.notify("ui/notifications/size-changed", json!({ "width": 300, "height": 200 }));
    let Some(ViewEvent::Resized(size)) = page.events.pop() else { panic!("no size") };
    assert_eq!((size.width, size.height), (Some(300), Some(200)));
}

#[test]
fn host_cannot_switch_to_an_undeclared_display_mode() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline"] }));
    let context = HostContext { display_mode: DisplayMode::Fullscreen, ..view_config().context };
    assert_eq!(page.view.change_host_context(context), Err(UndeclaredDisplayMode(DisplayMode::Fullscreen)));
}

#[test]
fn display_mode_request_is_answered_with_the_resulting_mode() {
    let mut page =
        TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline", "fullscreen"] }));
    page.request("ui/request-display-mode", json!({ "mode": "fullscreen" }));
    let (id, _) = page.only_request();
    page.view.respond(id, HostResponse::DisplayMode(DisplayMode::Fullscreen)).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"]["mode"], json!("fullscreen"));
}

#[test]
fn request_for_unavailable_display_mode_gets_the_current_one() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline", "pip"] }));
    let response = page.request("ui/request-display-mode", json!({ "mode": "pip" }));
    assert_eq!(response["result"]["mode"], json!("inline"));
}

#[test]
fn request_for_undeclared_display_mode_gets_the_current_one() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline"] }));
    let response = page.request("ui/request-display-mode", json!({ "mode": "fullscreen" }));
    assert_eq!(response["result"]["mode"], json!("inline"));
}

#[test]
fn ui_message_is_a_request_to_the_host() {
    let mut page = TestPage::ready();
    page.request("ui/message", json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] }));
    assert!(matches!(page.only_request().1, AppRequest::SendMessage { .. }));
}

#[test]
fn ui_message_is_answered_only_after_the_decision_of_the_host() {
    let mut page = TestPage::ready();
    page.request("ui/message", json!({ "role": "user", "content": [{ "type": "text", "text": "hello" }] }));
    let (id, _) = page.only_request();
    assert!(page.response_to(page.last_request_id()).is_null(), "the response should wait for the host");
    page.view.respond(id, HostResponse::Refused("the user refused".into())).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["error"]["code"], json!(-32000));
}

#[test]
fn later_model_context_replaces_an_earlier_one() {
    let mut page = TestPage::ready();
    for text in ["first", "second"] {
        page.request("ui/update-model-context", json!({ "content": [{ "type": "text", "text": text }] }));
        let (id, _) = page.requests.pop().unwrap();
        page.view.respond(id, HostResponse::Done).unwrap();
        page.drain_view_outputs();
    }
    let context = serde_json::to_value(&page.view.model_context().unwrap().content).unwrap();
    assert_eq!(context, json!([{ "type": "text", "text": "second" }]));
}

#[test]
fn extension_settings_announce_the_media_type_of_app_pages() {
    assert_eq!(extension_settings(), json!({ "mimeTypes": ["text/html;profile=mcp-app"] }));
}

#[test]
fn resource_list_request_of_the_page_is_passed_to_the_host() {
    let mut page = TestPage::ready();
    page.request("resources/list", json!({}));
    assert_eq!(page.only_request().1, AppRequest::ListResources { cursor: None });
}

#[test]
fn app_page_is_read_from_a_resource_read_result() {
    let uri = UiUri::parse("ui://app").unwrap();
    let result = json!({ "contents": [{ "uri": "ui://app", "mimeType": "text/html;profile=mcp-app", "text": "<p>" }] });
    assert!(AppPage::from_read_result(&uri, result.as_object().unwrap(), None).is_ok());
}

#[test]
fn csp_without_declared_domains_is_restrictive() {
    let header = policy_with_connect_domains(&[]).content_security_policy(&[]);
    for part in
        ["default-src 'none'", "connect-src 'none'", "script-src 'self' 'unsafe-inline';", "img-src 'self' data:;"]
    {
        assert!(header.contains(part), "{part} in {header}");
    }
}

#[test]
fn csp_allows_a_declared_domain() {
    let header = policy_with_connect_domains(&["https://api.example.com"]).content_security_policy(&[]);
    assert!(header.contains("connect-src https://api.example.com;"), "{header}");
}

#[test]
fn csp_contains_no_invalid_declared_domain() {
    let header =
        policy_with_connect_domains(&["https://api.example.com", "javascript:alert(1)"]).content_security_policy(&[]);
    assert!(header.contains("connect-src https://api.example.com;"), "{header}");
}

// [apps-csp-frame-src] [apps-csp-base-uri] [apps-csp-object-src]
#[test]
fn csp_denies_undeclared_frames_objects_and_base_uris() {
    let header = policy_with_connect_domains(&["https://api.example.com"]).content_security_policy(&[]);
    for part in ["frame-src 'none'", "object-src 'none'", "base-uri 'self'"] {
        assert!(header.contains(part), "{part} in {header}");
    }
}

#[test]
fn frame_allow_attribute_contains_only_granted_permissions() {
    assert_eq!(policy_with_connect_domains(&[]).frame_allow_attribute(), "camera");
}

#[test]
fn policy_lists_each_external_domain() {
    let policy = policy_with_connect_domains(&["https://api.example.com"]);
    let declared: Vec<Value> = policy.sources.iter().map(|(_, source)| json!(source.to_string())).collect();
    assert_eq!(declared, ["https://api.example.com"], "the host can name every external domain");
}

// [apps-draft-tools-closed]
#[test]
fn app_tool_call_after_the_end_of_the_view_fails() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "tools": {} }));
    page.view.handle_page_gone();
    assert!(page.view.call_app_tool("move", mcp_proto::types::Map::new(), page.now).is_err());
}
