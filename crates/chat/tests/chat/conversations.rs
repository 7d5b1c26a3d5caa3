//! Tests of conversations: concurrent creation, opening during a reply, and ids of conversations that don't exist.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chat::export::ExportFormat;
use chat::{ConversationError, ConversationSettings};
use domain::item::{ChatItem, ItemBody, ItemState, MessageAttachment, Role};
use models::ReplyDelta;
use testkit::model::ModelStep;

use super::{CONVERSATION_ID, TestConversation, reply_text};

fn message_item(id: &str) -> ChatItem {
    let body = serde_json::json!({"kind": "message", "role": "user", "content": [{"type": "text", "text": id}]});
    serde_json::from_value(serde_json::json!({"id": id, "at": 1, "body": body})).unwrap()
}

#[tokio::test]
async fn concurrently_created_conversations_have_unique_ids() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let chat = &talk.chat;
    let create = |title: &'static str| async move { chat.create_conversation(title).await.unwrap().conversation.id };
    let (a, b, c, d) = tokio::join!(create("a"), create("b"), create("c"), create("d"));
    let ids = HashSet::from([a, b, c, d]);
    assert_eq!(ids.len(), 4, "the ids are unique: {ids:?}");
    let listed = talk.chat.conversations().await.unwrap();
    assert!(ids.iter().all(|id| listed.iter().any(|(known, ..)| known == id)), "all are listed: {listed:?}");
}

#[tokio::test]
async fn opened_conversation_contains_the_partial_reply() {
    let half = vec![ModelStep::Says(ReplyDelta::Text("Half".into())), ModelStep::Hangs];
    let mut talk = TestConversation::new(vec![half], &[]).await;
    talk.send("Hi").await;
    talk.wait_for_delta().await;
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert!(open.answering, "a model is replying");
    let last = open.page.items.last().expect("the page contains the reply");
    assert_eq!(
        (reply_text(&last.item).as_str(), last.seq),
        ("Half", Some(1)),
        "the reply includes parts that are in memory only"
    );
    assert!(talk.chat.stop_reply(CONVERSATION_ID), "a reply was in progress");
    talk.wait_for_reply_run_end().await;
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert!(
        !open.answering && open.page.items.iter().all(|placed| placed.seq.is_none()),
        "nothing streams after the stop"
    );
}

#[tokio::test]
async fn appended_items_follow_the_branch_head_unless_a_parent_is_given() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    talk.chat.append_items(CONVERSATION_ID.into(), vec![message_item("1"), message_item("2")]).await.unwrap();
    let branch = ChatItem { parent: Some("1".into()), ..message_item("3") };
    talk.chat.append_items(CONVERSATION_ID.into(), vec![branch]).await.unwrap();
    let page = talk.chat.items(CONVERSATION_ID.into(), None, 10).await.unwrap().expect("the conversation has items");
    let ids: Vec<_> = page.items.iter().map(|placed| placed.item.id.as_str()).collect();
    assert_eq!(ids, ["1", "3"], "the new branch is visible");
    assert_eq!(page.items[1].siblings, ["2", "3"], "both branches are siblings");
}

#[tokio::test]
async fn missing_conversations_and_contents_are_reported_as_missing() {
    let chat = TestConversation::new(Vec::new(), &[]).await.chat;
    assert_eq!(chat.conversation("none".into()).await, Ok(None), "a missing conversation can't be opened");
    assert_eq!(
        chat.rename_conversation("none".into(), "x").await,
        Ok(false),
        "a missing conversation can't be renamed"
    );
    assert_eq!(chat.items("none".into(), None, 1).await, Ok(None), "a missing conversation has no items");
    assert_eq!(chat.blob("0".repeat(64)).await, Ok(None), "missing content is reported");
    assert_eq!(chat.delete_conversation("none".into()).await, Ok(()), "deleting a missing conversation succeeds");
}

#[tokio::test]
async fn draft_is_stored_with_the_settings_and_not_in_the_history() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let draft = || async {
        talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists").draft
    };
    let time = talk
        .chat
        .conversation(CONVERSATION_ID.into())
        .await
        .unwrap()
        .expect("the conversation exists")
        .conversation
        .updated_at;
    talk.chat.set_draft(CONVERSATION_ID.into(), "Dear Ann".into()).await.unwrap();
    assert_eq!(draft().await, "Dear Ann", "the draft is stored");
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert_eq!(open.conversation.updated_at, time, "the conversation keeps its position in the list");
    let settings = ConversationSettings { thinking: true, ..open.settings };
    talk.chat.set_conversation_settings(CONVERSATION_ID.into(), settings.clone()).await.unwrap();
    assert_eq!(draft().await, "Dear Ann", "a change of settings retains the draft");
    talk.chat.set_draft(CONVERSATION_ID.into(), "Dear Bob".into()).await.unwrap();
    let open = talk.chat.conversation(CONVERSATION_ID.into()).await.unwrap().expect("the conversation exists");
    assert_eq!(
        (open.settings, open.draft.as_str()),
        (settings, "Dear Bob"),
        "a change of the draft retains the settings"
    );
    let (_, text) = talk.chat.export_conversation(CONVERSATION_ID.into(), ExportFormat::Json).await.unwrap();
    assert!(!text.contains("Dear Bob"), "the draft is not exported: {text}");
    let long = talk.chat.set_draft(CONVERSATION_ID.into(), "x".repeat((256 << 10) + 1)).await;
    assert!(matches!(long, Err(ConversationError::TooLong { .. })), "a draft that is too long is refused: {long:?}");
    assert_eq!(draft().await, "Dear Bob", "the previous draft is retained");
    talk.chat.set_draft(CONVERSATION_ID.into(), String::new()).await.unwrap();
    assert_eq!(draft().await, "", "a sent draft is removed");
    let none = talk.chat.set_draft("none".into(), "x".into()).await;
    assert!(matches!(none, Err(ConversationError::NotFound(_))), "no conversation, no draft: {none:?}");
}

#[tokio::test]
async fn markdown_has_the_text_of_attached_files_that_are_stored_separately() {
    let talk = TestConversation::new(Vec::new(), &[]).await;
    let file = |name: &str, bytes: &[u8]| MessageAttachment::File {
        name: name.to_owned(),
        mime_type: "text/plain".to_owned(),
        data: STANDARD.encode(bytes),
    };
    let (short, long) = ("Tide table. ".repeat(1_000), "Harbour log. ".repeat(30_000));
    let attachments = vec![file("short.txt", short.as_bytes()), file("long.txt", long.as_bytes())];
    let body = ItemBody::Message { role: Role::User, content: Vec::new(), prompt: None, attachments };
    let item = ChatItem { id: "1".into(), parent: None, at: 1, state: ItemState::Whole, body };
    talk.chat.append_items(CONVERSATION_ID.into(), vec![item]).await.unwrap();
    let (_, text) = talk.chat.export_conversation(CONVERSATION_ID.into(), ExportFormat::Markdown).await.unwrap();
    assert!(text.contains("`short.txt`") && text.contains(short.trim_end()), "the text of the file is included");
    assert!(text.contains("`long.txt`") && !text.contains("Harbour"), "a very long file is only named");
}
