//! Apps of a real server process: approval of pages, documents, messages, calls and requests for the user.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod app_tools;
mod approval;
mod frames;
mod messages;
mod reads;
mod sampling;
mod streamed;

use app_views::{AppContext, AppViews, DisplayedCall, OpenedApp};
use chat::{Chat, ToolCall};
use domain::app_view::AppViewChange;
use domain::content::{Content, ToolResult};
use domain::history::Conversation;
use host::view::{ConsentRequestBody, ConsentRequestView, HostEvent, UserDecision};
use host::{CallOrigin, EventReceiver};
use mcp_apps::{APP_PAGE_MEDIA_TYPE, DisplayMode, FrameAncestor, Theme};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};

pub(crate) const SERVER: &str = "board";
/// Tool whose results the app shows, and which the app may call.
pub(crate) const TOOL: &str = "echo";
const PAGE_URI: &str = "ui://board/app.html";
/// Conversation of an app that [`TestViews::open_in_conversation`] opens.
pub(crate) const CONVERSATION: &str = "talk";
pub(crate) const PAGE_HTML: &str = "<!doctype html><title>Board</title>";

/// A host with a server whose tool has an app page, and the events of the host.
pub(crate) struct TestViews {
    pub(crate) app: TestApp,
    pub(crate) chat: Chat,
    pub(crate) views: AppViews,
    events: EventReceiver,
}

impl TestViews {
    /// Starts a server that returns the next of these HTML documents on each read of its app page.
    pub(crate) async fn start(documents: &[&str], csp: Value) -> Self {
        Self::start_with_metadata(documents, json!({ "csp": csp })).await
    }

    /// Starts a server like [`start`](Self::start), whose app page has this metadata.
    pub(crate) async fn start_with_metadata(documents: &[&str], metadata: Value) -> Self {
        let ui = json!({ "resourceUri": PAGE_URI });
        let tools = json!({ "tools": [
            { "name": TOOL, "inputSchema": { "type": "object" }, "_meta": { "ui": ui } },
            { "name": "environment", "inputSchema": { "type": "object" } },
        ] });
        let page = |html: &&str| {
            let meta = json!({ "ui": metadata });
            let item = json!({ "uri": PAGE_URI, "mimeType": APP_PAGE_MEDIA_TYPE, "text": html, "_meta": meta });
            format!("resources/read={}", json!({ "contents": [item] }))
        };
        let mut arguments = vec!["--reply".to_owned(), format!("tools/list={tools}")];
        for document in documents {
            arguments.extend(["--reply".to_owned(), page(document)]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let app = TestApp::start(vec![(SERVER, scripted_config(&arguments))]).await;
        app.ready(SERVER).await;
        let ancestors = vec![FrameAncestor::new("tauri://localhost").unwrap()];
        let chat = Chat::new(app.host.clone());
        let views = AppViews::new(app.host.clone(), chat.clone()).with_frame_ancestors(ancestors);
        let events = app.host.events();
        Self { app, chat, views, events }
    }

    /// Approves the page as the server provides it now, with the access that it requests.
    pub(crate) async fn approve(&self) {
        let page = self.views.page_for_review(SERVER, TOOL).await.unwrap();
        self.views.approve_page(SERVER, TOOL, &page.hash, page.grants).await.unwrap();
    }

    /// Opens the app for the result of [`displayed_call`].
    pub(crate) async fn open(&self) -> OpenedApp {
        self.views.open(SERVER.into(), TOOL.into(), displayed_call(), context()).await.unwrap()
    }

    /// Approves and opens the app, and initializes it as its page does.
    pub(crate) async fn open_initialized(&mut self) -> OpenedApp {
        self.open_with_capabilities().await.0
    }

    /// Opens the app like [`open_initialized`](Self::open_initialized), and also returns the announced capabilities.
    pub(crate) async fn open_with_capabilities(&mut self) -> (OpenedApp, Value) {
        self.approve().await;
        let opened = self.open().await;
        let capabilities = self.initialize(&opened).await;
        (opened, capabilities)
    }

    /// Approves the app, and opens it for a call of the user in [`CONVERSATION`].
    pub(crate) async fn open_in_conversation(&self) -> OpenedApp {
        let conversation = Conversation { id: CONVERSATION.into(), title: "Talk".into(), ..Conversation::default() };
        self.app.host.ports().history.create(&conversation).unwrap();
        let origin = CallOrigin::User { conversation: Some(CONVERSATION.into()) };
        let (id, server, tool) = ("seen".to_owned(), SERVER.to_owned(), TOOL.to_owned());
        let call = ToolCall { id, origin, server, app: None, tool, arguments: Map::new(), repeats: None };
        let chat = self.chat.clone();
        let called = tokio::spawn(async move { chat.call_tool(call).await });
        let is_call = |request: &ConsentRequestView| matches!(request.body, ConsentRequestBody::Tool { .. });
        let request = self.app.consent_request(SERVER, "the first call", is_call).await;
        self.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        called.await.unwrap().unwrap();
        self.approve().await;
        let displayed = DisplayedCall::Item { conversation: CONVERSATION.into(), item: "seen".into() };
        self.views.open(SERVER.into(), TOOL.into(), displayed, context()).await.unwrap()
    }

    /// Initializes an opened app as its page does. Returns the capabilities that the host announces to it.
    pub(crate) async fn initialize(&mut self, opened: &OpenedApp) -> Value {
        let params = json!({ "appInfo": { "name": "Board", "version": "1" }, "protocolVersion": "2026-01-26",
            "appCapabilities": { "availableDisplayModes": ["inline", "fullscreen"] } });
        self.post(opened, json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": params }));
        let response = self.wait_for_response(opened, 0).await;
        self.post(opened, json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" }));
        self.wait_for_change(opened, |change| matches!(change, AppViewChange::Initialized { .. })).await;
        response["result"]["hostCapabilities"].clone()
    }

    /// Posts a message as the frame of the app does.
    pub(crate) fn post(&self, opened: &OpenedApp, message: Value) {
        self.views.receive_message(&opened.view, message.to_string()).unwrap();
    }

    /// Waits for the first later event for which `is_expected` returns `true`.
    pub(crate) async fn wait_for_event(&mut self, is_expected: impl Fn(&HostEvent) -> bool) {
        let find = async { while !is_expected(&self.events.next().await.expect("the host should run").event) {} };
        tokio::time::timeout(EVENT_TIMEOUT, find).await.expect("the event should come in time");
    }

    /// Waits for the first later change of the app for which `is_expected` returns `true`.
    pub(crate) async fn wait_for_change(
        &mut self,
        opened: &OpenedApp,
        is_expected: impl Fn(&AppViewChange) -> bool,
    ) -> AppViewChange {
        let find = async {
            loop {
                let event = self.events.next().await.expect("the host should run");
                if let HostEvent::AppView(event) = &event.event
                    && event.view == opened.view
                    && is_expected(&event.change)
                {
                    return event.change.clone();
                }
            }
        };
        tokio::time::timeout(EVENT_TIMEOUT, find).await.expect("the change should come in time")
    }

    /// Waits for the host's response to the app's request with this id.
    pub(crate) async fn wait_for_response(&mut self, opened: &OpenedApp, id: i64) -> Value {
        let is_response = |change: &AppViewChange| matches!(change, AppViewChange::Message { message } if message["id"] == id && message.get("method").is_none());
        let AppViewChange::Message { message } = self.wait_for_change(opened, is_response).await else {
            unreachable!()
        };
        message
    }

    /// Waits for a request or notification with this method from the host to the app.
    pub(crate) async fn wait_for_message(&mut self, opened: &OpenedApp, method: &str) -> Value {
        let is_message = |change: &AppViewChange| matches!(change, AppViewChange::Message { message } if message["method"] == method);
        let AppViewChange::Message { message } = self.wait_for_change(opened, is_message).await else { unreachable!() };
        message
    }
}

/// Returns a call outside of conversations, with a result that has all members.
pub(crate) fn displayed_call() -> DisplayedCall {
    let result = ToolResult {
        content: vec![Content::Text { text: "3 cards".into() }],
        structured: Some(json!({ "cards": 3 })),
        structured_problem: None,
        is_error: false,
        meta: json!({ "cursor": "a" }).as_object().cloned(),
        arguments: json!({ "board": 1 }),
    };
    DisplayedCall::Result { result: Box::new(result) }
}

pub(crate) fn context() -> AppContext {
    AppContext {
        theme: Theme::Dark,
        styles: Default::default(),
        display_mode: DisplayMode::Inline,
        width: 640,
        height: 600,
        locale: "en".into(),
        time_zone: "Europe/Berlin".into(),
        touch: false,
        hover: true,
    }
}
