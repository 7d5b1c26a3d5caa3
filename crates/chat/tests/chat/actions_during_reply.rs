//! Tests of the user's actions while a model is replying: added items wait or are refused, and disabling a tool takes
//! effect immediately.

use chat::ConversationError;
use domain::item::{ChatItem, ItemBody, ItemState, ResourceContents};
use host::view::{ConsentRequestBody, UserDecision};
use models::ReplyDelta;
use policy::ApprovalScope;
use serde_json::json;
use std::time::Duration;
use testkit::app::EVENT_TIMEOUT;
use testkit::model::ModelStep;

use super::by_user::{approve_all_calls, user_call_of_add_tool};
use super::model::{scripted_reply, text_reply, tool_use};
use super::{CONVERSATION_ID, TestConversation, item_kinds, reply_text, tool_results};

pub(super) fn message_with_attachment(id: &str) -> ChatItem {
    let contents =
        vec![ResourceContents { uri: "note://a".into(), mime_type: None, text: Some("canary-52".into()), blob: None }];
    let (server, uri, name) = ("demo".into(), "note://a".into(), "a".into());
    let body = ItemBody::Attachment { server, uri, name, contents, skill: false };
    ChatItem { id: id.into(), parent: None, at: 1, state: ItemState::Whole, body }
}

#[tokio::test]
async fn call_made_during_a_reply_is_stored_after_it_and_sent_to_the_model() {
    let half = vec![ModelStep::Says(ReplyDelta::Text("Half".into())), ModelStep::Hangs];
    let mut talk = TestConversation::new(vec![half, text_reply("I see it.")], &["add"]).await;
    talk.send("Hi").await;
    talk.wait_for_delta().await;
    let refused = talk.chat.append_items(CONVERSATION_ID.into(), vec![message_with_attachment("a1")]).await;
    assert_eq!(refused, Err(ConversationError::Answering), "items are refused during a reply");
    let allowing = approve_all_calls(&talk);
    talk.chat.call_tool(user_call_of_add_tool("a2")).await.unwrap();
    allowing.abort();
    assert_eq!(talk.items().len(), 2, "an item that must not be lost waits");
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply was in progress");
    talk.wait_for_reply_run_end().await;
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while talk.items().len() < 3 {
        assert!(tokio::time::Instant::now() < deadline, "the waiting item is stored after the reply");
        // sleep: polls for a state that no event reports.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let shape: Vec<_> = item_kinds(&talk.items()).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(shape, ["message", "reply", "call"], "the item follows the reply in the visible branch");
    talk.send_and_wait_for_reply("What is it?").await;
    let sent = format!("{:?}", talk.model.requests()[1].messages);
    assert!(sent.contains("2 + 40 = 42"), "the model receives the item: {sent}");
}

#[tokio::test]
async fn server_disabled_during_a_reply_is_not_used() {
    let steps = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    let again = scripted_reply(vec![tool_use("u2", "demo__add", json!({"a": 2, "b": 2}))]);
    let mut talk = TestConversation::new(vec![steps, again, text_reply("I can't.")], &["add"]).await;
    talk.send("Add").await;
    let request = talk
        .app
        .consent_request("demo", "the call", |request| matches!(request.body, ConsentRequestBody::Tool { .. }))
        .await;
    talk.change_settings(|settings| {
        settings.servers.clear();
        settings.share_roots = false;
    })
    .await;
    talk.app.decide(&request, UserDecision::Allow(ApprovalScope::Session)).await;
    let items = talk.wait_for_reply_run_end().await;
    assert_eq!(reply_text(items.last().unwrap()), "I can't.", "the run continues without the server");
    let requests = talk.model.requests();
    assert_eq!((requests[0].tools.len(), requests[1].tools.len()), (1, 0), "the next request contains no tools");
    let results = tool_results(requests[2].messages.last().unwrap());
    assert!(results[0].2 && results[0].1.contains("no tool"), "a call of an unavailable tool is not made: {results:?}");
}

#[tokio::test]
async fn tool_disabled_during_a_tool_use_is_not_called() {
    let mut steps = scripted_reply(vec![tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    steps.insert(1, ModelStep::Waits(Duration::from_millis(400)));
    steps.insert(0, ModelStep::Says(ReplyDelta::Text("I add.".into())));
    steps.insert(1, ModelStep::Waits(Duration::from_millis(100)));
    let mut talk = TestConversation::new(vec![steps, text_reply("Well.")], &["add"]).await;
    talk.send("Add").await;
    talk.wait_for_delta().await;
    talk.change_settings(|settings| settings.servers[0].tools = Some(vec!["fail".into()])).await;
    let items = talk.wait_for_reply_run_end().await;
    let ItemBody::ToolCall { error, result: None, .. } = &items[2].body else { panic!("{:?} was not made", items[2]) };
    assert!(
        error.as_ref().is_some_and(|error| error.contains("turned off")),
        "the error contains the reason: {error:?}"
    );
    assert!(!talk.app.activity("demo").await.contains("tools/call"), "no call was sent");
}
