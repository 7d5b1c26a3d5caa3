//! Tests of the page's requests and notifications, and of the host's responses.

use mcp_apps::{
    AcceptedContentKinds, AppRequest, ContainerAxisSize, ContainerSize, DisplayMode, HostCapabilities, HostContext,
    HostResponse, HostResponseError, ModelContext, OfferedFileContents, SamplingSupport, ServerListAccess,
    ServerListKind, ViewConfig, ViewEvent, ViewFaultKind, ViewSize,
};
use mcp_proto::RpcError;
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map, view_config};

const MCP_REQUEST_METHODS: [&str; 5] =
    ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"];

fn page_with_capabilities(capabilities: HostCapabilities) -> TestPage {
    TestPage::ready_with_config(ViewConfig { capabilities, ..view_config() }, json!({}))
}

#[test]
fn requests_without_an_announced_capability_are_refused() {
    let mut page = page_with_capabilities(HostCapabilities::default());
    let requests = [
        ("tools/call", json!({ "name": "get-time" })),
        ("tools/list", json!({})),
        ("resources/read", json!({ "uri": "file:///a" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("ui/open-link", json!({ "url": "https://a.example" })),
        ("ui/download-file", json!({ "contents": [] })),
        ("ui/message", json!({ "role": "user", "content": [{ "type": "text", "text": "a" }] })),
        ("ui/update-model-context", json!({})),
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 5 })),
    ];
    for (method, params) in requests {
        assert_eq!(page.request(method, params)["error"]["code"], json!(-32601), "{method}");
    }
    page.notify("notifications/message", json!({ "level": "info", "data": 1 }));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::NotOffered; 12]);
    assert_eq!((page.requests.len(), page.events.len()), (0, 0));
}

#[test]
fn results_of_the_server_are_sent_unchanged() {
    for method in MCP_REQUEST_METHODS {
        let mut page = TestPage::ready();
        page.request(method, json!({ "uri": "file:///a", "cursor": "next" }));
        let (id, _) = page.only_request();
        let result = to_json_map(json!({ "contents": [], "_meta": { "a": 1 } }));
        assert_eq!(page.view.respond(id, HostResponse::Done), Err(HostResponseError::WrongKind), "{method}");
        page.view.respond(id, HostResponse::Result(result.clone())).unwrap();
        page.drain_view_outputs();
        assert_eq!(page.response_to(page.last_request_id())["result"], Value::Object(result));
        assert_eq!(page.view.respond(id, HostResponse::Done), Err(HostResponseError::NotOpen), "{method}");
    }
}

#[test]
fn tool_list_for_the_page_has_only_tools_that_apps_may_call() {
    let mut page = TestPage::ready();
    page.request("tools/list", json!({}));
    let (id, _) = page.only_request();
    let tools = json!({ "tools": [{ "name": "model-only" }, { "name": "get-time" }, 5], "nextCursor": "a" });
    page.view.respond(id, HostResponse::Result(to_json_map(tools))).unwrap();
    page.drain_view_outputs();
    let expected = json!({ "tools": [{ "name": "get-time" }], "nextCursor": "a" });
    assert_eq!(page.response_to(page.last_request_id())["result"], expected);
}

#[test]
fn refused_and_failed_requests_get_error_responses() {
    let mut page = TestPage::ready();
    page.request("ui/open-link", json!({ "url": "https://a.example" }));
    let (id, _) = page.requests.remove(0);
    page.view.respond(id, HostResponse::Refused("the user refused".into())).unwrap();
    page.drain_view_outputs();
    let error = json!({ "code": -32000, "message": "the user refused" });
    assert_eq!(page.response_to(page.last_request_id())["error"], error);
    page.request("tools/call", json!({ "name": "get-time" }));
    let (id, _) = page.requests.remove(0);
    page.view.respond(id, HostResponse::Failed(RpcError::new(-32603, "crashed"))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["error"]["code"], json!(-32603));
}

#[test]
fn links_are_https_or_http_without_user_information() {
    let mut page = TestPage::ready();
    let refused = [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "mailto:a@a.example",
        "ui://a",
        "not a url",
        "",
        "https://user@a.example/",
        "https://:password@a.example/",
    ];
    for url in refused {
        assert_eq!(page.request("ui/open-link", json!({ "url": url }))["error"]["code"], json!(-32602), "{url}");
    }
    assert_eq!(page.requests, []);
    page.request("ui/open-link", json!({ "url": "HTTPS://A.example/%61" }));
    let AppRequest::OpenLink { url } = page.only_request().1 else { panic!("no link") };
    assert_eq!(url.as_str(), "https://a.example/%61");
}

// [apps-draft-download-sanitise]
#[test]
fn downloads_get_safe_file_names() {
    let mut page = TestPage::ready();
    let contents = json!([
        { "type": "resource", "resource": { "uri": "file:///../a/..%2fsecret.csv", "text": "1" } },
        { "type": "resource_link", "uri": "https://a.example/report.pdf?x#y", "name": "report" },
    ]);
    page.request("ui/download-file", json!({ "contents": contents }));
    let (id, AppRequest::DownloadFile { files }) = page.only_request() else { panic!("no download") };
    let names: Vec<_> = files.iter().map(|file| file.file_name.as_str()).collect();
    assert_eq!(names, ["2fsecret.csv", "report.pdf"]);
    assert!(matches!(files[0].source, OfferedFileContents::Embedded(_)));
    assert!(matches!(files[1].source, OfferedFileContents::Link(_)));
    page.view.respond(id, HostResponse::Done).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"], json!({}));
    for contents in [json!([]), json!([{ "type": "text", "text": "a" }]), json!(5)] {
        let response = page.request("ui/download-file", json!({ "contents": contents }));
        assert_eq!(response["error"]["code"], json!(-32602));
    }
}

#[test]
fn ui_message_content_is_a_list_of_blocks_or_one_block() {
    let block = json!({ "type": "text", "text": "hello" });
    for content in [json!([block]), block] {
        let mut page = TestPage::ready();
        page.request("ui/message", json!({ "role": "user", "content": content }));
        let AppRequest::SendMessage { content } = page.only_request().1 else { panic!("no message") };
        assert_eq!(content.len(), 1);
    }
    let mut page = TestPage::ready();
    for params in [
        json!({ "role": "assistant", "content": [{ "type": "text", "text": "a" }] }),
        json!({ "role": "user", "content": [] }),
        json!({ "role": "user", "content": "a" }),
        json!({ "role": "user", "content": [{ "type": "text" }] }),
        json!({ "role": "user", "content": [{ "type": "video" }] }),
        json!({ "role": "user" }),
    ] {
        assert_eq!(page.request("ui/message", params.clone())["error"]["code"], json!(-32602), "{params}");
    }
}

#[test]
fn content_of_unannounced_kinds_is_refused() {
    let capabilities = HostCapabilities {
        message: Some(AcceptedContentKinds::TEXT),
        update_model_context: Some(AcceptedContentKinds::TEXT),
        sampling: Some(SamplingSupport { tools: false }),
        ..HostCapabilities::default()
    };
    let mut page = page_with_capabilities(capabilities);
    let image = json!([{ "type": "image", "data": "", "mimeType": "image/png" }]);
    page.request("ui/message", json!({ "role": "user", "content": image }));
    page.request("ui/update-model-context", json!({ "content": image }));
    page.request("ui/update-model-context", json!({ "structuredContent": {} }));
    page.request("sampling/createMessage", json!({ "messages": [], "maxTokens": 5, "tools": [] }));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::NotOffered; 4]);
    assert_eq!(page.requests, []);
    page.request("sampling/createMessage", json!({ "messages": [], "maxTokens": 5 }));
    assert!(matches!(page.only_request().1, AppRequest::Sample(_)));
}

#[test]
fn last_accepted_model_context_is_kept() {
    let mut page = TestPage::ready();
    let update = |page: &mut TestPage, number: i64| {
        page.request("ui/update-model-context", json!({ "structuredContent": { "number": number } }));
        page.requests.pop().unwrap().0
    };
    let ids: Vec<_> = (0..3).map(|number| update(&mut page, number)).collect();
    assert_eq!(page.view.model_context(), None, "nothing is stored before the host accepts it");
    page.view.respond(ids[1], HostResponse::Done).unwrap();
    page.view.respond(ids[0], HostResponse::Done).unwrap();
    page.view.respond(ids[2], HostResponse::Refused("no".into())).unwrap();
    page.drain_view_outputs();
    let expected = ModelContext { content: Vec::new(), structured_content: Some(to_json_map(json!({ "number": 1 }))) };
    assert_eq!(page.view.model_context(), Some(&expected));
    let id = update(&mut page, 5);
    page.view.respond(id, HostResponse::Done).unwrap();
    assert_ne!(page.view.model_context(), Some(&expected));
}

#[test]
fn undeclared_display_mode_is_answered_with_the_current_one() {
    let mut page = TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline", "pip"] }));
    for mode in ["inline", "fullscreen", "pip"] {
        let response = page.request("ui/request-display-mode", json!({ "mode": mode }));
        assert_eq!(response["result"], json!({ "mode": "inline" }), "{mode}");
    }
    assert_eq!(page.requests, []);
    let response = page.request("ui/request-display-mode", json!({ "mode": "window" }));
    assert_eq!(response["error"]["code"], json!(-32602));
    let mut page = TestPage::ready();
    let response = page.request("ui/request-display-mode", json!({ "mode": "fullscreen" }));
    assert_eq!(response["result"], json!({ "mode": "inline" }), "a page without declared modes");
}

#[test]
fn host_decides_about_a_declared_display_mode() {
    let mut page =
        TestPage::ready_with_config(view_config(), json!({ "availableDisplayModes": ["inline", "fullscreen"] }));
    page.request("ui/request-display-mode", json!({ "mode": "fullscreen" }));
    let (id, request) = page.requests.remove(0);
    assert_eq!(request, AppRequest::RequestDisplayMode { mode: DisplayMode::Fullscreen });
    let undeclared = page.view.respond(id, HostResponse::DisplayMode(DisplayMode::Pip));
    assert_eq!(undeclared, Err(HostResponseError::UndeclaredDisplayMode));
    page.view.respond(id, HostResponse::DisplayMode(DisplayMode::Fullscreen)).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"], json!({ "mode": "fullscreen" }));
    assert_eq!(page.received.last().unwrap()["params"], json!({ "displayMode": "fullscreen" }));
    assert_eq!(page.events, [ViewEvent::DisplayModeChanged(DisplayMode::Fullscreen)]);
    page.request("ui/request-display-mode", json!({ "mode": "inline" }));
    let (id, _) = page.requests.remove(0);
    page.view.respond(id, HostResponse::Refused("no".into())).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"], json!({ "mode": "fullscreen" }));
}

#[test]
fn view_size_is_capped_and_reported_when_it_changes() {
    let container = ContainerSize { width: ContainerAxisSize::Fixed(600), height: ContainerAxisSize::UpTo(500) };
    let config = ViewConfig { context: HostContext { container, ..view_config().context }, ..view_config() };
    let mut page = TestPage::ready_with_config(config, json!({}));
    for params in [
        json!({ "width": 700, "height": 100.2 }),
        json!({ "height": 101 }),
        json!({}),
        json!({ "height": 1e300 }),
        json!({ "height": -5 }),
    ] {
        page.notify("ui/notifications/size-changed", params);
    }
    let sizes = [101, 500, 0].map(|height| ViewEvent::Resized(ViewSize { width: None, height: Some(height) }));
    assert_eq!(page.events, sizes);
    assert_eq!(page.view.size(), ViewSize { width: None, height: Some(0) });
    page.notify("ui/notifications/size-changed", json!({ "height": "5" }));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::InvalidContent]);
}

#[test]
fn server_list_changes_are_forwarded_if_announced() {
    let mut page = TestPage::ready();
    page.view.notify_server_list_changed(ServerListKind::Resources);
    page.view.notify_server_list_changed(ServerListKind::Prompts);
    page.view.change_tools_callable_by_app(["other".to_owned()].into());
    page.drain_view_outputs();
    let expected = ["resources", "prompts", "tools"].map(|list| format!("notifications/{list}/list_changed"));
    assert_eq!(page.received_methods(), expected);
    assert!(page.request("tools/call", json!({ "name": "get-time" })).get("error").is_some());
    let mut page = page_with_capabilities(HostCapabilities {
        server_tools: Some(ServerListAccess::default()),
        server_resources: Some(ServerListAccess::default()),
        ..HostCapabilities::default()
    });
    page.view.notify_server_list_changed(ServerListKind::Resources);
    page.view.change_tools_callable_by_app(["other".to_owned()].into());
    page.drain_view_outputs();
    assert_eq!(page.received_methods(), Vec::<&str>::new());
}

#[test]
fn cancelled_request_is_withdrawn_and_gets_no_response() {
    let mut page = TestPage::ready();
    page.request("tools/call", json!({ "name": "get-time" }));
    let (id, _) = page.only_request();
    page.notify("notifications/cancelled", json!({ "requestId": page.last_request_id(), "reason": "timeout" }));
    assert_eq!(page.withdrawn, [id]);
    assert_eq!(page.view.respond(id, HostResponse::Done), Err(HostResponseError::NotOpen));
    page.notify("notifications/cancelled", json!({ "requestId": 999 }));
    page.notify("notifications/cancelled", json!({}));
    assert_eq!((page.withdrawn.len(), page.fault_kinds()), (1, vec![ViewFaultKind::InvalidContent]));
}

#[test]
fn log_messages_and_the_request_to_be_removed_are_events() {
    let mut page = TestPage::ready();
    page.notify("notifications/message", json!({ "level": "info", "logger": "a", "data": { "b": 1 } }));
    page.notify("ui/notifications/request-teardown", json!({}));
    page.notify("ui/notifications/request-teardown", json!({}));
    assert!(matches!(page.events[..], [ViewEvent::Logged(_), ViewEvent::TeardownRequested]), "{:?}", page.events);
    page.notify("notifications/message", json!({ "level": "loud", "data": 1 }));
    page.notify("notifications/message", json!({ "level": "info", "data": "a".repeat(100_000) }));
    assert_eq!(page.fault_kinds(), [ViewFaultKind::InvalidContent, ViewFaultKind::TooLarge]);
}

#[test]
fn unknown_methods_and_forged_messages_are_view_faults() {
    let mut page = TestPage::ready();
    assert_eq!(page.request("ui/unknown", json!({}))["error"]["code"], json!(-32601));
    page.notify("ui/notifications/unknown", json!({}));
    page.notify("ui/notifications/sandbox-proxy-ready", json!({}));
    page.notify("ui/notifications/sandbox-resource-ready", json!({ "html": "" }));
    assert_eq!(page.request("ui/notifications/sandbox-proxy-ready", json!({}))["error"]["code"], json!(-32601));
    use ViewFaultKind::{Forgery, UnknownMethod};
    assert_eq!(page.fault_kinds(), [UnknownMethod, UnknownMethod, Forgery, Forgery, Forgery]);
    assert_eq!((page.requests.len(), page.events.len()), (0, 0));
}
