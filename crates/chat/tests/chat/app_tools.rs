//! Tests of tools that a shown app provides to the model of a conversation: offered, called after consent, and recorded
//! with the app that received the call.

use std::sync::Arc;
use std::time::Duration;

use chat::tool_keys::app_tool_key;
use domain::app_view::ProvidingApp;
use domain::item::ItemBody;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use host::{AppToolCommand, AppTools};
use mcp_proto::types::{CallToolResult, Tool};
use models::ReplyDelta;
use policy::{ApprovalScope, Hash};
use serde_json::{Value, json};
use testkit::app::EVENT_TIMEOUT;
use testkit::model::ModelStep;
use tokio::sync::mpsc;

use super::model::{scripted_reply, text_reply, tool_use};
use super::{CONVERSATION_ID, TestConversation, tool_results};

const MOVE_TOOL_NAME: &str = "move";

fn shown_app() -> ProvidingApp {
    ProvidingApp { view: "view".to_owned(), tool: "show".to_owned() }
}

fn is_app_tool_call_request(request: &ConsentRequestView) -> bool {
    matches!(&request.body, ConsentRequestBody::Tool { app: Some(app), .. } if *app == shown_app())
}

/// Receiver of the commands for the app, and a value that is dropped when the app is closed.
type ShownApp = (mpsc::Receiver<AppToolCommand>, Arc<()>);

/// Turns on the app's tool for the conversation, and returns the test's side of the app.
async fn enable_app_tool_for_conversation(talk: &TestConversation) -> ShownApp {
    enable_app_tool_with_output_schema(talk, None).await
}

async fn enable_app_tool_with_output_schema(talk: &TestConversation, output_schema: Option<Value>) -> ShownApp {
    let (commands, received) = mpsc::channel(1);
    let shown = Arc::new(());
    let input_schema = json!({ "type": "object" });
    let tool = Tool { name: MOVE_TOOL_NAME.to_owned(), input_schema, output_schema, ..Tool::default() };
    let (server, conversation) = ("demo".to_owned(), CONVERSATION_ID.to_owned());
    let hash = Hash::of_json(&json!([tool])).to_string();
    let (tools, own) = (Arc::new(vec![tool]), Arc::downgrade(&shown));
    let tools = AppTools { server, app: shown_app(), conversation, tools, commands, shown: own };
    talk.app.host.turn_on_app_tools(tools, hash).await.unwrap();
    (received, shown)
}

#[tokio::test]
async fn a_model_calls_a_tool_of_a_shown_app() {
    let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
    let call = scripted_reply(vec![tool_use("u1", &key, json!({ "card": 7 }))]);
    let mut talk = TestConversation::new(vec![call, text_reply("Moved.")], &["add"]).await;
    let (mut received, _shown) = enable_app_tool_for_conversation(&talk).await;
    talk.send("Move card 7").await;
    let request = talk.app.consent_request("demo", "the call", is_app_tool_call_request).await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let command = tokio::time::timeout(EVENT_TIMEOUT, received.recv()).await.unwrap();
    let Some(AppToolCommand::Call { arguments, delivered, reply, .. }) = command else {
        panic!("the app receives the call")
    };
    delivered.send(()).unwrap();
    assert_eq!(Value::Object(arguments), json!({ "card": 7 }));
    let result = json!({ "content": [{ "type": "text", "text": "Card 7 is done." }] });
    let result: CallToolResult = serde_json::from_value(result).unwrap();
    reply.send(Ok(result)).unwrap();
    let items = talk.wait_for_reply_run_end().await;
    let ItemBody::ToolCall { server, tool, app, result: Some(_), .. } = &items[2].body else {
        panic!("{:?}", items[2])
    };
    assert_eq!((server.as_str(), tool.as_str(), app.as_deref()), ("demo", MOVE_TOOL_NAME, Some("show")));
    let requests = talk.model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["demo__add", key.as_str()], "tools of apps are offered after those of servers");
    let results = tool_results(requests[1].messages.last().unwrap());
    let source = "Data from the server \"demo\", the result of the tool \"move\" of its app \"show\":";
    assert!(results[0].1.contains(source), "the result has its source: {results:?}");
    assert!(results[0].1.contains("Card 7 is done."), "{results:?}");
}

#[tokio::test]
async fn app_tool_call_that_was_not_delivered_is_recorded_as_not_sent() {
    let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
    let call = scripted_reply(vec![tool_use("u1", &key, json!({ "card": 7 }))]);
    let mut talk = TestConversation::new(vec![call, text_reply("It is closed.")], &["add"]).await;
    let (mut received, _shown) = enable_app_tool_for_conversation(&talk).await;
    talk.send("Move card 7").await;
    let request = talk.app.consent_request("demo", "the call", is_app_tool_call_request).await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    // The app was closed between the approval and the delivery.
    drop(tokio::time::timeout(EVENT_TIMEOUT, received.recv()).await.unwrap());
    let items = talk.wait_for_reply_run_end().await;
    let ItemBody::ToolCall { error: Some(error), result: None, .. } = &items[2].body else { panic!("{:?}", items[2]) };
    assert!(error.contains("was not sent"), "{error}");
    let requests = talk.model.requests();
    let results = tool_results(requests[1].messages.last().unwrap());
    assert!(results[0].1.contains("was not sent"), "{results:?}");
}

#[tokio::test]
async fn tools_of_an_app_are_not_used_while_its_server_is_turned_off_for_the_conversation() {
    let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
    let mut talk = TestConversation::new(vec![text_reply("Nothing.")], &["add"]).await;
    let _received = enable_app_tool_for_conversation(&talk).await;
    let tools =
        |known: &chat::ConversationTools| -> Vec<_> { known.offering.offered().map(|tool| tool.key.clone()).collect() };
    let chat = talk.chat.clone();
    let known = chat.conversation_tools(CONVERSATION_ID.to_owned()).await.unwrap();
    assert_eq!(tools(&known), ["demo__add", key.as_str()], "the user sees the tools that the model gets");
    talk.change_settings(|settings| settings.servers.clear()).await;
    talk.send("Move card 7").await;
    talk.wait_for_reply_run_end().await;
    assert!(talk.model.requests()[0].tools.is_empty(), "the model gets no tools");
    let known = chat.conversation_tools(CONVERSATION_ID.to_owned()).await.unwrap();
    assert!(tools(&known).is_empty());
}

#[tokio::test]
async fn tool_of_an_app_is_not_called_if_its_server_was_turned_off_during_the_tool_use() {
    let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
    let mut steps = scripted_reply(vec![tool_use("u1", &key, json!({ "card": 7 }))]);
    steps.insert(1, ModelStep::Waits(Duration::from_millis(400)));
    steps.insert(0, ModelStep::Says(ReplyDelta::Text("I move.".into())));
    steps.insert(1, ModelStep::Waits(Duration::from_millis(100)));
    let mut talk = TestConversation::new(vec![steps, text_reply("Well.")], &["add"]).await;
    let (mut received, _shown) = enable_app_tool_for_conversation(&talk).await;
    talk.send("Move card 7").await;
    talk.wait_for_delta().await;
    talk.change_settings(|settings| settings.servers.clear()).await;
    let items = talk.wait_for_reply_run_end().await;
    let ItemBody::ToolCall { error, result: None, .. } = &items[2].body else { panic!("{:?}", items[2]) };
    assert!(error.as_ref().is_some_and(|error| error.contains("turned off")), "{error:?}");
    assert!(received.try_recv().is_err(), "the app receives no call");
}

#[tokio::test]
async fn app_tool_results_are_checked_against_the_approved_output_schema() {
    let schema = json!({ "type": "object", "properties": { "moved": { "type": "boolean" } } });
    // The app answers after it has replaced its list, which turns the tools off.
    for (result, changes_list, is_valid) in [
        (json!({ "moved": true }), false, true),
        (json!({ "moved": "yes" }), false, false),
        (json!({ "moved": true }), true, true),
        (json!({ "moved": "yes" }), true, false),
    ] {
        let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
        let call = scripted_reply(vec![tool_use("u1", &key, json!({ "card": 7 }))]);
        let mut talk = TestConversation::new(vec![call, text_reply("Moved.")], &["add"]).await;
        let (mut received, _shown) = enable_app_tool_with_output_schema(&talk, Some(schema.clone())).await;
        talk.send("Move card 7").await;
        let request = talk.app.consent_request("demo", "the call", is_app_tool_call_request).await;
        talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
        let command = tokio::time::timeout(EVENT_TIMEOUT, received.recv()).await.unwrap();
        let Some(AppToolCommand::Call { delivered, reply, .. }) = command else { panic!("the app receives the call") };
        delivered.send(()).unwrap();
        if changes_list {
            talk.app.host.turn_off_app_tools(shown_app().view, false).await.unwrap();
        }
        let answer = CallToolResult { structured_content: Some(result.clone()), ..CallToolResult::default() };
        reply.send(Ok(answer)).unwrap();
        let items = talk.wait_for_reply_run_end().await;
        let ItemBody::ToolCall { result: Some(read), .. } = &items[2].body else { panic!("{:?}", items[2]) };
        assert_eq!(read.structured_problem.is_none(), is_valid, "{result}, {changes_list}: {read:?}");
    }
}

#[tokio::test]
async fn calls_after_an_app_tool_result_ask_despite_a_grant() {
    let key = app_tool_key("demo", &shown_app(), MOVE_TOOL_NAME);
    let add = |id: &str| scripted_reply(vec![tool_use(id, "demo__add", json!({ "a": 1, "b": 2 }))]);
    let answers =
        vec![add("u1"), scripted_reply(vec![tool_use("u2", &key, json!({}))]), add("u3"), text_reply("Done.")];
    let mut talk = TestConversation::new(answers, &["add"]).await;
    let (mut received, _shown) = enable_app_tool_for_conversation(&talk).await;
    talk.send("Go on").await;
    let is_call = |request: &ConsentRequestView| matches!(&request.body, ConsentRequestBody::Tool { app: None, .. });
    let request = talk.app.consent_request("demo", "the first call", is_call).await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Session)).await;
    let request = talk.app.consent_request("demo", "the call of the app's tool", is_app_tool_call_request).await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let command = tokio::time::timeout(EVENT_TIMEOUT, received.recv()).await.unwrap();
    let Some(AppToolCommand::Call { delivered, reply, .. }) = command else { panic!("the app receives the call") };
    delivered.send(()).unwrap();
    let result = CallToolResult { structured_content: Some(json!(1)), ..CallToolResult::default() };
    reply.send(Ok(result)).unwrap();
    let request = talk.app.consent_request("demo", "the last call", is_call).await;
    assert_eq!(request.reason, "after-untrusted", "others may have written what the app returned");
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    talk.wait_for_reply_run_end().await;
}
