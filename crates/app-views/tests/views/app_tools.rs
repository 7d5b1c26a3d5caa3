//! Tools that a shown app provides to the model of its conversation: off until the user turns them on, called after
//! consent, and turned off with the app or other definitions.

use app_views::{AppViewError, OpenedApp};
use chat::ToolCall;
use domain::app_view::{AppViewChange, ProvidingApp};
use domain::call::CallFailure;
use domain::content::{Content, ToolResult};
use host::CallOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Value, json};
use testkit::app::EVENT_TIMEOUT;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{CONVERSATION, PAGE_HTML, PAGE_URI, SERVER, TOOL, TestViews};

/// Tool of the app.
const MOVE_TOOL: &str = "move";
const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

type RunningCall = JoinHandle<Result<ToolResult, CallFailure>>;

fn tool_list_json(description: &str) -> Value {
    json!({ "tools": [{ "name": MOVE_TOOL, "description": description, "inputSchema": { "type": "object" } }] })
}

fn is_app_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(&request.body, ConsentRequestBody::Tool { app: Some(app), .. } if app.tool == TOOL)
}

impl TestViews {
    /// Opens the approved app for a call of the user in a conversation, as an app that offers tools. Returns the change
    /// that lists them.
    async fn open_with_tools(&mut self) -> (OpenedApp, AppViewChange) {
        let opened = self.open_in_conversation().await;
        let params = json!({ "appInfo": { "name": "Board", "version": "1" }, "protocolVersion": "2026-01-26",
            "appCapabilities": { "tools": { "listChanged": true } } });
        self.post(&opened, json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/initialize", "params": params }));
        self.wait_for_response(&opened, 0).await;
        self.post(&opened, json!({ "jsonrpc": "2.0", "method": "ui/notifications/initialized" }));
        let listed = self.answer_tool_list_request(&opened, tool_list_json("Moves a card")).await;
        (opened, listed)
    }

    /// Responds to the host's request for the app's tools, and returns the change for the page.
    async fn answer_tool_list_request(&mut self, opened: &OpenedApp, tools: Value) -> AppViewChange {
        let request = self.wait_for_message(opened, "tools/list").await;
        self.post(opened, json!({ "jsonrpc": "2.0", "id": request["id"], "result": tools }));
        self.wait_for_change(opened, |change| matches!(change, AppViewChange::ToolsChanged { .. })).await
    }

    /// Opens the app like [`open_with_tools`](Self::open_with_tools), and turns its tools on.
    async fn open_with_tools_turned_on(&mut self) -> OpenedApp {
        let (opened, listed) = self.open_with_tools().await;
        let AppViewChange::ToolsChanged { hash, .. } = listed else { panic!("{listed:?}") };
        self.views.set_enabled_tools(&opened.view, Some(hash)).await.unwrap();
        opened
    }

    /// Calls the app's tool as the model of the conversation.
    fn spawn_app_call(&self, id: &str, opened: &OpenedApp, stop: &CancellationToken) -> RunningCall {
        let origin = CallOrigin::Model { conversation: CONVERSATION.into() };
        let app = Some(ProvidingApp { view: opened.view.clone(), tool: TOOL.into() });
        let arguments = json!({ "to": "done" }).as_object().cloned().unwrap();
        let call = ToolCall {
            id: id.to_owned(),
            origin,
            server: SERVER.into(),
            app,
            tool: MOVE_TOOL.into(),
            arguments,
            repeats: None,
        };
        let (chat, stop) = (self.chat.clone(), stop.clone());
        tokio::spawn(async move { chat.call_tool_until_cancelled(call, stop).await })
    }

    /// Starts a call of the app's tool, and approves it. Also returns the request that the app receives.
    async fn start_approved_call(
        &mut self,
        id: &str,
        opened: &OpenedApp,
        stop: &CancellationToken,
    ) -> (RunningCall, Value) {
        let called = self.spawn_app_call(id, opened, stop);
        let request = self.app.consent_request(SERVER, "the call of the app's tool", is_app_tool_call_request).await;
        self.app.decide(&request, ALLOW_ONCE).await;
        let message = self.wait_for_message(opened, "tools/call").await;
        (called, message)
    }

    async fn count_tools_offered_to_model(&self) -> usize {
        self.app.host.app_tools_for_model(CONVERSATION.into()).await.unwrap().len()
    }
}

async fn wait_for_call_result(call: RunningCall) -> Result<ToolResult, CallFailure> {
    tokio::time::timeout(EVENT_TIMEOUT, call).await.expect("the call should end in time").unwrap()
}

#[tokio::test]
async fn a_model_gets_the_tools_of_an_app_only_after_the_user_turned_them_on() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let (opened, listed) = test.open_with_tools().await;
    let AppViewChange::ToolsChanged { tools, hash, dropped: 0, on: false } = listed else { panic!("{listed:?}") };
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), [MOVE_TOOL]);
    assert!(tools[0].definition.contains("Moves a card"), "{}", tools[0].definition);
    assert_eq!(test.count_tools_offered_to_model().await, 0);
    let stop = CancellationToken::new();
    let refused = wait_for_call_result(test.spawn_app_call("1", &opened, &stop)).await;
    assert!(matches!(refused, Err(CallFailure::NotFound(_))), "{refused:?}");

    let other = test.views.set_enabled_tools(&opened.view, Some("0".repeat(64))).await;
    assert!(matches!(other, Err(AppViewError::OtherTools)), "{other:?}");
    test.views.set_enabled_tools(&opened.view, Some(hash)).await.unwrap();
    assert_eq!(test.count_tools_offered_to_model().await, 1);
    let (called, message) = test.start_approved_call("2", &opened, &stop).await;
    assert_eq!(message["params"], json!({ "name": MOVE_TOOL, "arguments": { "to": "done" } }));
    let result = json!({ "content": [{ "type": "text", "text": "moved" }] });
    test.post(&opened, json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    let result = wait_for_call_result(called).await.unwrap();
    assert_eq!(result.content, [Content::Text { text: "moved".into() }]);

    test.views.set_enabled_tools(&opened.view, None).await.unwrap();
    assert_eq!(test.count_tools_offered_to_model().await, 0);
}

#[tokio::test]
async fn changed_definitions_turn_the_tools_of_an_app_off() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    let pending = test.spawn_app_call("1", &opened, &CancellationToken::new());
    test.app.consent_request(SERVER, "the call of the app's tool", is_app_tool_call_request).await;
    test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let listed = test.answer_tool_list_request(&opened, tool_list_json("Sends a card away")).await;
    assert!(matches!(listed, AppViewChange::ToolsChanged { on: false, .. }), "{listed:?}");
    assert_eq!(
        wait_for_call_result(pending).await,
        Err(CallFailure::Cancelled),
        "the pending call should be withdrawn"
    );
    assert_eq!(test.count_tools_offered_to_model().await, 0);
}

#[tokio::test]
async fn a_stopped_call_is_cancelled_in_the_app() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    let stop = CancellationToken::new();
    let (called, message) = test.start_approved_call("1", &opened, &stop).await;
    stop.cancel();
    let cancelled = test.wait_for_message(&opened, "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], message["id"]);
    assert_eq!(wait_for_call_result(called).await, Err(CallFailure::Cancelled));
}

#[tokio::test]
async fn a_running_call_is_cancelled_in_the_app_when_its_tools_are_turned_off() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    let (called, message) = test.start_approved_call("1", &opened, &CancellationToken::new()).await;
    // A hostile app changes its list when it receives the call.
    test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let listed = test.answer_tool_list_request(&opened, tool_list_json("Sends a card away")).await;
    assert!(matches!(listed, AppViewChange::ToolsChanged { on: false, .. }), "{listed:?}");
    let cancelled = test.wait_for_message(&opened, "notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], message["id"]);
    assert_eq!(wait_for_call_result(called).await, Err(CallFailure::Cancelled));
}

#[tokio::test]
async fn app_tools_named_like_server_tools_are_refused() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let (opened, _) = test.open_with_tools().await;
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    test.post(&opened, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let listed = test.answer_tool_list_request(&opened, json!({ "tools": [tool(TOOL), tool("other")] })).await;
    let AppViewChange::ToolsChanged { tools, dropped, .. } = listed else { panic!("{listed:?}") };
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["other"]);
    assert_eq!(dropped, 1, "the user is told that a tool can't be used");
}

#[tokio::test]
async fn errors_and_invalid_results_of_an_app_name_its_server() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    let stop = CancellationToken::new();
    let responses =
        [("1", json!({ "error": { "code": 5, "message": "no" } })), ("2", json!({ "result": { "moved": true } }))];
    for (id, response) in responses {
        let (called, message) = test.start_approved_call(id, &opened, &stop).await;
        let mut answer = json!({ "jsonrpc": "2.0", "id": message["id"] });
        answer.as_object_mut().unwrap().extend(response.as_object().cloned().unwrap());
        test.post(&opened, answer);
        let failed = wait_for_call_result(called).await;
        assert!(matches!(&failed, Err(CallFailure::Session { server, .. }) if server == SERVER), "{failed:?}");
    }
}

#[tokio::test]
async fn app_tools_are_off_while_a_closing_app_saves_its_state() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    test.views.close(&opened.view);
    test.wait_for_message(&opened, "ui/resource-teardown").await;
    assert_eq!(test.count_tools_offered_to_model().await, 0, "the app has not answered yet");
}

#[tokio::test]
async fn app_tools_are_turned_off_when_the_server_stops() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    test.app.host.stop_server(SERVER.to_owned()).await.unwrap();
    let is_off = |change: &AppViewChange| matches!(change, AppViewChange::ToolsChanged { on: false, .. });
    test.wait_for_change(&opened, is_off).await;
    assert_eq!(test.count_tools_offered_to_model().await, 0);
}

// [apps-draft-tools-closed]
#[tokio::test]
async fn closing_an_app_ends_its_tools_and_running_calls() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_with_tools_turned_on().await;
    let stop = CancellationToken::new();
    let (running, _) = test.start_approved_call("1", &opened, &stop).await;
    test.views.revoke_page_approval(SERVER, PAGE_URI).await.unwrap();
    let failed = wait_for_call_result(running).await;
    assert!(matches!(&failed, Err(CallFailure::Session { server, .. }) if server == SERVER), "{failed:?}");
    assert_eq!(test.count_tools_offered_to_model().await, 0, "the model should get no tools of a closed app");
    let later = wait_for_call_result(test.spawn_app_call("2", &opened, &stop)).await;
    assert!(matches!(later, Err(CallFailure::NotFound(_))), "{later:?}");
}

// [apps-draft-tools-closed]
#[tokio::test]
async fn app_tools_are_gone_at_the_moment_when_the_app_is_closed() {
    type Close = fn(&TestViews, &OpenedApp);
    let ways: [(&str, Close); 3] = [
        ("the user closes the app", |test, opened| test.views.close(&opened.view)),
        ("the page of the main window is loaded again", |test, _| test.views.remove_views_of_main_window(&[])),
        ("the window of the conversation is closed", |test, _| test.views.remove_views_of_conversation(CONVERSATION)),
    ];
    for (what, close) in ways {
        let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
        let opened = test.open_with_tools_turned_on().await;
        assert_eq!(test.count_tools_offered_to_model().await, 1, "{what}");
        let stop = CancellationToken::new();
        let pending = test.spawn_app_call("1", &opened, &stop);
        let request = test.app.consent_request(SERVER, "the call of the app's tool", is_app_tool_call_request).await;
        close(&test, &opened);
        // Nothing has awaited since then, so that the task of the app has not run.
        assert_eq!(test.count_tools_offered_to_model().await, 0, "{what}");
        // The request may have been withdrawn meanwhile.
        let _ = test.app.host.decide(request.id, request.hash.to_string(), ALLOW_ONCE).await;
        assert!(wait_for_call_result(pending).await.is_err(), "{what}");
        let later = wait_for_call_result(test.spawn_app_call("2", &opened, &stop)).await;
        assert!(matches!(later, Err(CallFailure::NotFound(_))), "{what}: {later:?}");
    }
}
