//! A simulated page, which sends messages to a view and validates all messages that the view sends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mcp_apps::{
    AcceptedContentKinds, AppRequest, AppRequestId, DisplayMode, HostCapabilities, HostContext, SamplingSupport,
    ServerListAccess, View, ViewConfig, ViewEvent, ViewFaultKind, ViewOutput,
};
use mcp_proto::types::{Implementation, Map};
use serde_json::{Value, json};

use super::schema::assert_matches_schema;

/// A view with a simulated page and a simulated host.
pub(crate) struct TestPage {
    pub(crate) view: View,
    pub(crate) now: Instant,
    /// Messages that the page has received from the view.
    pub(crate) received: Vec<Value>,
    pub(crate) requests: Vec<(AppRequestId, AppRequest)>,
    pub(crate) withdrawn: Vec<AppRequestId>,
    pub(crate) events: Vec<ViewEvent>,
    pub(crate) faults: Vec<(ViewFaultKind, String)>,
    /// Methods of the page's requests without a response, by id. A dropped request with a repeated id remains in it.
    open: BTreeMap<String, Vec<String>>,
    last_id: i64,
}

/// Returns host capabilities with every feature and kind of content.
pub(crate) fn all_capabilities() -> HostCapabilities {
    let kinds = AcceptedContentKinds {
        text: true,
        image: true,
        audio: true,
        resource: true,
        resource_link: true,
        structured_content: true,
    };
    HostCapabilities {
        open_links: true,
        download_file: true,
        server_tools: Some(ServerListAccess { list_changed: true }),
        server_resources: Some(ServerListAccess { list_changed: true }),
        logging: true,
        sandbox: None,
        update_model_context: Some(kinds),
        message: Some(kinds),
        sampling: Some(SamplingSupport { tools: true }),
    }
}

pub(crate) fn view_config() -> ViewConfig {
    ViewConfig {
        host: Implementation { name: "Host".into(), version: "1.0".into(), ..Implementation::default() },
        capabilities: all_capabilities(),
        context: HostContext {
            available_display_modes: vec![DisplayMode::Inline, DisplayMode::Fullscreen],
            ..HostContext::default()
        },
        callable_tools: BTreeSet::from(["get-time".to_owned()]),
    }
}

pub(crate) fn to_json_map(value: Value) -> Map {
    let Value::Object(map) = value else { panic!("{value} is not an object") };
    map
}

impl TestPage {
    /// Returns the page of a new view, which has not sent a message.
    pub(crate) fn new(config: ViewConfig) -> Self {
        let now = Instant::now();
        Self {
            view: View::new(config, now),
            now,
            received: Vec::new(),
            requests: Vec::new(),
            withdrawn: Vec::new(),
            events: Vec::new(),
            faults: Vec::new(),
            open: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Returns an initialized page whose app declares `app_capabilities`. Messages of the handshake are removed from
    /// `received`.
    pub(crate) fn ready_with_config(config: ViewConfig, app_capabilities: Value) -> Self {
        let mut page = Self::new(config);
        page.initialize(app_capabilities);
        page.notify("ui/notifications/initialized", json!({}));
        assert!(matches!(page.events[..], [ViewEvent::Initialized(_)]), "{:?}", page.events);
        page.received.clear();
        page.events.clear();
        page
    }

    pub(crate) fn ready() -> Self {
        Self::ready_with_config(view_config(), json!({}))
    }

    pub(crate) fn initialize(&mut self, app_capabilities: Value) -> Value {
        let params = json!({
            "appInfo": { "name": "App", "version": "2.0" },
            "appCapabilities": app_capabilities,
            "protocolVersion": "2026-01-26",
        });
        self.request("ui/initialize", params)
    }

    pub(crate) fn send_message(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        let message: Value = serde_json::from_str(text).unwrap_or_default();
        if let (Some(id), Some(method)) = (message.get("id"), message.get("method")) {
            let methods = self.open.entry(id.to_string()).or_default();
            methods.push(method.as_str().unwrap_or_default().to_owned());
        }
        self.view.handle_message(text, self.now);
        self.drain_view_outputs();
    }

    /// Sends a request of the page and returns the response, or `null` if the view has not responded yet.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send_message(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.response_to(id)
    }

    pub(crate) fn response_to(&self, id: i64) -> Value {
        let is_response = |message: &&Value| message.get("method").is_none() && message["id"] == json!(id);
        self.received.iter().find(is_response).cloned().unwrap_or_default()
    }

    /// Returns the id of the page's last request.
    pub(crate) fn last_request_id(&self) -> i64 {
        self.last_id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send_message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends the page's response to a request of the host.
    pub(crate) fn respond(&mut self, id: &Value, result: Value) {
        self.send_message(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(crate) fn advance_time(&mut self, time: Duration) {
        self.now += time;
        self.view.handle_timeout(self.now);
        self.drain_view_outputs();
    }

    /// Returns the methods of the requests and notifications that the page has received.
    pub(crate) fn received_methods(&self) -> Vec<&str> {
        self.received.iter().filter_map(|message| message.get("method")?.as_str()).collect()
    }

    pub(crate) fn fault_kinds(&self) -> Vec<ViewFaultKind> {
        self.faults.iter().map(|(kind, _)| *kind).collect()
    }

    pub(crate) fn only_request(&self) -> (AppRequestId, AppRequest) {
        let [request] = &self.requests[..] else { panic!("not one request: {:?}", self.requests) };
        request.clone()
    }

    /// Processes all queued outputs of the view. Panics if a message to the page is invalid.
    pub(crate) fn drain_view_outputs(&mut self) {
        while let Some(output) = self.view.poll_output() {
            let is_last = matches!(self.events.last(), Some(ViewEvent::Closed(_)));
            assert!(!is_last, "no output should follow the end: {output:?}");
            match output {
                ViewOutput::Send(message) => {
                    self.validate_received_message(&message);
                    self.received.push(message);
                }
                ViewOutput::Request { id, request } => self.requests.push((id, request)),
                ViewOutput::Withdrawn(id) => self.withdrawn.push(id),
                ViewOutput::Event(event) => self.events.push(event),
                ViewOutput::Fault(fault) => {
                    assert!(fault.detail.len() < 1000, "a detail should be short: {}", fault.detail);
                    self.faults.push((fault.kind, fault.detail));
                }
            }
        }
    }

    fn validate_received_message(&mut self, message: &Value) {
        let mut members = to_json_map(message.clone());
        assert_eq!(members.remove("jsonrpc"), Some(json!("2.0")));
        let id = members.remove("id");
        let Some(method) = members.get("method").and_then(Value::as_str).map(str::to_owned) else {
            let id = id.expect("a response has an id").to_string();
            let methods = self.open.entry(id).or_default();
            let method = methods.pop().unwrap_or_else(|| panic!("a second response, or one to no request: {message}"));
            // With a repeated id, the page does not know which of the requests was dropped.
            if !methods.is_empty() {
                return;
            }
            return validate_response(&method, &members);
        };
        let definition = match method.as_str() {
            "ui/notifications/tool-input" => "McpUiToolInputNotification",
            "ui/notifications/tool-input-partial" => "McpUiToolInputPartialNotification",
            "ui/notifications/tool-result" => "McpUiToolResultNotification",
            "ui/notifications/tool-cancelled" => "McpUiToolCancelledNotification",
            "ui/notifications/host-context-changed" => "McpUiHostContextChangedNotification",
            "ui/resource-teardown" => "McpUiResourceTeardownRequest",
            "tools/list"
            | "tools/call"
            | "notifications/cancelled"
            | "notifications/tools/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/prompts/list_changed" => {
                assert!(members["params"].is_object(), "{message}");
                return;
            }
            other => panic!("the view sent {other}"),
        };
        let is_request = definition.ends_with("Request");
        assert_eq!(id.is_some(), is_request, "{message}");
        assert_matches_schema(definition, &Value::Object(members));
    }
}

fn validate_response(method: &str, members: &Map) {
    if let Some(error) = members.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string() && members.len() == 1, "{members:?}");
        return;
    }
    let result = &members["result"];
    assert_eq!(members.len(), 1, "{members:?}");
    match method {
        "ui/initialize" => assert_matches_schema("McpUiInitializeResult", result),
        "ui/open-link" => assert_matches_schema("McpUiOpenLinkResult", result),
        "ui/download-file" => assert_matches_schema("McpUiDownloadFileResult", result),
        "ui/message" => assert_matches_schema("McpUiMessageResult", result),
        "ui/request-display-mode" => assert_matches_schema("McpUiRequestDisplayModeResult", result),
        _ => assert!(result.is_object(), "{members:?}"),
    }
}
