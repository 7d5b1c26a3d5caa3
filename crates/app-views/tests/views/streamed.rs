//! Apps of calls that a model is still writing: partial input only while the policy allows any arguments, and then the
//! input, result or end of the call.

use std::time::Duration;

use app_views::{AppViewError, DisplayedCall, OpenedApp};
use chat::{ConversationSettings, NewMessage, OfferedServer, ToolCall};
use domain::app_view::AppViewChange;
use domain::history::Conversation;
use domain::item::{ConversationEvent, ReplyAppend};
use host::CallOrigin;
use host::view::{ConsentRequestBody, ConsentRequestView, HostEvent, UserDecision};
use models::{MessagePart, ReplyDelta, StopReason};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::model::{ModelStep, ScriptedModel, final_reply_step, model_named, model_reference, text_reply};
use testkit::time::advance_time;

use super::{PAGE_HTML, SERVER, TOOL, TestViews, context};

const CONVERSATION: &str = "talk";
const TOOL_USE: &str = "u1";
/// Simulated time that the model waits before it writes the rest of the arguments.
const MODEL_PAUSE: Duration = Duration::from_secs(10);

/// Steps of a model that calls the tool with `{"text":"soft"}` and stops after the first half of the text.
fn tool_call_with_unfinished_arguments() -> Vec<ModelStep> {
    let began = ReplyDelta::ToolUseBegan { id: TOOL_USE.into(), name: format!("{SERVER}__{TOOL}") };
    vec![ModelStep::Says(began), arguments_step(r#"{"text":"so"#)]
}

fn arguments_step(text: &str) -> ModelStep {
    ModelStep::Says(ReplyDelta::ToolUseArguments { id: TOOL_USE.into(), text: text.into() })
}

/// Steps of a model that calls the tool, with a pause in the arguments.
fn tool_call_with_pause_in_arguments() -> Vec<ModelStep> {
    let arguments = json!({ "text": "soft" }).as_object().cloned().unwrap();
    let name = format!("{SERVER}__{TOOL}");
    let call = MessagePart::ToolUse { id: TOOL_USE.into(), name, arguments, opaque: None };
    let mut steps = tool_call_with_unfinished_arguments();
    steps.push(ModelStep::Waits(MODEL_PAUSE));
    steps.extend([arguments_step(r#"ft"}"#), final_reply_step(vec![call], StopReason::ToolUse, (10, 10))]);
    steps
}

fn is_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::Tool { .. })
}

impl TestViews {
    /// Starts a server with an approved app, whose tool the user has called once with this approval.
    async fn start_with_approved_call(scope: ApprovalScope) -> Self {
        let test = Self::start(&[PAGE_HTML], json!({})).await;
        test.approve().await;
        let (origin, id, arguments) = (CallOrigin::User { conversation: None }, "seen".into(), Map::new());
        let call =
            ToolCall { id, origin, server: SERVER.into(), app: None, tool: TOOL.into(), arguments, repeats: None };
        let chat = test.chat.clone();
        let called = tokio::spawn(async move { chat.call_tool(call).await });
        let request = test.app.consent_request(SERVER, "the first call", is_tool_call_request).await;
        test.app.decide(&request, UserDecision::Allow(scope)).await;
        called.await.unwrap().unwrap();
        test
    }

    /// Sends a message to a model that replies with these steps, and waits for the first arguments of its call. Returns
    /// the id of the reply.
    async fn begin_reply(&mut self, steps: Vec<ModelStep>) -> String {
        let model = ScriptedModel::add_to_host(&self.app.host, vec![model_named("m")]).await;
        model.queue_reply(steps);
        model.queue_reply(text_reply("Done.", (10, 10)));
        let conversation = Conversation { id: CONVERSATION.into(), title: "Talk".into(), ..Conversation::default() };
        self.app.host.ports().history.create(&conversation).unwrap();
        let servers = vec![OfferedServer { server: SERVER.into(), tools: None, instructions: None }];
        let settings =
            ConversationSettings { model: Some(model_reference("m")), servers, ..ConversationSettings::default() };
        self.chat.set_conversation_settings(CONVERSATION.into(), settings).await.unwrap();
        let message = NewMessage { text: "Show it".into(), ..NewMessage::default() };
        let reply = self.chat.send_message(CONVERSATION.into(), message, None).await.unwrap().reply;
        self.wait_for_event(|event| {
            matches!(event, HostEvent::Conversation(ConversationEvent::ReplyDelta { append, .. })
                if append.iter().any(|piece| matches!(piece, ReplyAppend::Arguments { .. })))
        })
        .await;
        reply
    }

    async fn open_streamed(&self, reply: &str, tool_use: &str) -> Result<OpenedApp, AppViewError> {
        let (conversation, reply, tool_use) = (CONVERSATION.into(), reply.into(), tool_use.into());
        let call = DisplayedCall::Streamed { conversation, reply, tool_use };
        self.views.open(SERVER.into(), TOOL.into(), call, context()).await
    }

    /// Opens and initializes the app, and waits for the first half of the arguments.
    async fn open_with_partial_input(&mut self, reply: &str) -> OpenedApp {
        let opened = self.open_streamed(reply, TOOL_USE).await.unwrap();
        self.initialize(&opened).await;
        let partial = self.wait_for_message(&opened, "ui/notifications/tool-input-partial").await;
        assert_eq!(partial["params"], json!({ "arguments": { "text": "so" } }));
        opened
    }

    /// Waits for a message with this method from the host to the app, and returns all messages until then.
    async fn wait_for_messages_until(&mut self, opened: &OpenedApp, method: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let is_message = |change: &AppViewChange| matches!(change, AppViewChange::Message { .. });
            let AppViewChange::Message { message } = self.wait_for_change(opened, is_message).await else {
                unreachable!()
            };
            let is_last = message["method"] == method;
            messages.push(message);
            if is_last {
                return messages;
            }
        }
    }

    /// Returns the number of requests for resources that were sent to the server.
    async fn count_sent_resource_reads(&self) -> usize {
        let page = self.app.host.activity_page(SERVER.to_owned(), 0, usize::MAX).await.unwrap();
        page.entries.iter().filter(|entry| entry.sent && entry.method.as_deref() == Some("resources/read")).count()
    }
}

#[tokio::test]
async fn an_app_receives_the_arguments_while_the_model_writes_them() {
    let mut test = TestViews::start_with_approved_call(ApprovalScope::Always).await;
    let reply = test.begin_reply(tool_call_with_pause_in_arguments()).await;
    let opened = test.open_with_partial_input(&reply).await;
    advance_time(MODEL_PAUSE).await;
    let messages = test.wait_for_messages_until(&opened, "ui/notifications/tool-result").await;
    let inputs: Vec<_> = messages.iter().filter(|message| message["method"] == "ui/notifications/tool-input").collect();
    assert_eq!(inputs.len(), 1, "the complete input should be sent once: {messages:?}");
    assert_eq!(inputs[0]["params"], json!({ "arguments": { "text": "soft" } }));
    let partial = messages.iter().rposition(|message| message["method"] == "ui/notifications/tool-input-partial");
    let complete = messages.iter().position(|message| message["method"] == "ui/notifications/tool-input");
    assert!(partial < complete, "no partial input should follow the complete one: {messages:?}");
    assert!(messages.last().unwrap()["params"]["content"].is_array(), "{messages:?}");
}

#[tokio::test]
async fn an_app_is_notified_of_a_call_that_the_user_stopped() {
    let mut test = TestViews::start_with_approved_call(ApprovalScope::Always).await;
    let mut steps = tool_call_with_unfinished_arguments();
    steps.push(ModelStep::Hangs);
    let reply = test.begin_reply(steps).await;
    let opened = test.open_with_partial_input(&reply).await;
    assert!(test.chat.stop_reply(CONVERSATION), "the model should be writing");
    let cancelled = test.wait_for_message(&opened, "ui/notifications/tool-cancelled").await;
    assert_eq!(cancelled["params"], json!({ "reason": "the call was not made" }));
    let late = test.open_streamed(&reply, TOOL_USE).await;
    assert!(matches!(late, Err(AppViewError::NotStreamed)), "{late:?}");
}

#[tokio::test]
async fn nothing_reaches_server_or_app_while_the_call_may_require_consent() {
    let mut test = TestViews::start_with_approved_call(ApprovalScope::Once).await;
    let mut steps = tool_call_with_unfinished_arguments();
    steps.push(ModelStep::Hangs);
    let reply = test.begin_reply(steps).await;
    let reads = test.count_sent_resource_reads().await;
    assert!(reads > 0, "the page was read for its approval");
    let refused = test.open_streamed(&reply, TOOL_USE).await;
    assert!(matches!(refused, Err(AppViewError::NotDecided)), "{refused:?}");
    let unknown = test.open_streamed(&reply, "u2").await;
    assert!(matches!(unknown, Err(AppViewError::NotStreamed)), "{unknown:?}");
    assert_eq!(
        test.count_sent_resource_reads().await,
        reads,
        "the server should not learn that the model writes a call"
    );
}

#[tokio::test]
async fn an_app_receives_no_more_arguments_once_a_rule_asks_about_the_call() {
    let mut test = TestViews::start_with_approved_call(ApprovalScope::Always).await;
    let reply = test.begin_reply(tool_call_with_pause_in_arguments()).await;
    let opened = test.open_with_partial_input(&reply).await;
    let rule = json!({ "effect": "ask", "server": SERVER, "tool": TOOL });
    test.app.host.set_rule(serde_json::from_value(rule).unwrap()).await.unwrap();
    advance_time(MODEL_PAUSE).await;
    let request = test.app.consent_request(SERVER, "the call of the model", is_tool_call_request).await;
    test.app.decide(&request, UserDecision::Deny).await;
    let messages = test.wait_for_messages_until(&opened, "ui/notifications/tool-cancelled").await;
    assert_eq!(messages.last().unwrap()["params"], json!({ "reason": "the call was refused" }));
    let has_input =
        messages.iter().any(|message| message["method"].as_str().is_some_and(|method| method.contains("tool-input")));
    assert!(!has_input, "the app should not receive arguments that the user refused: {messages:?}");
}
