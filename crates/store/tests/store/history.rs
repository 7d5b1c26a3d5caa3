//! Tests of the history: conversations, their items and branches, search, and complete removal of deleted content.

mod deleting;
mod encrypted;
mod items;
mod older;
mod programs;
mod read_contents;
mod searching;
mod tables;
mod usage;

use domain::history::{Conversation, ItemPosition, ItemRange, NewHistoryItem, StoredHistoryItem};
use domain::item::ItemState;
use ports::History;
use serde_json::{Value, json};

/// Returns a new conversation without items.
fn new_conversation(id: &str) -> Conversation {
    Conversation {
        id: id.into(),
        title: format!("Title of {id}"),
        created_at: 1,
        updated_at: 1,
        settings: json!({"model": null}),
        ..Conversation::default()
    }
}

/// Returns an item with a message of the user, placed after the conversation's head.
fn user_message(id: &str, text: &str) -> NewHistoryItem {
    NewHistoryItem {
        id: id.into(),
        after: ItemPosition::Head,
        at: 10,
        body: json!({"kind": "message", "role": "user", "content": [{"type": "text", "text": text}]}),
        state: ItemState::Whole,
        sources: Vec::new(),
        read_contents: Vec::new(),
    }
}

/// Returns an item in this state with a reply of a model.
fn reply_item(id: &str, text: &str, state: ItemState) -> NewHistoryItem {
    let body = json!({"kind": "reply", "parts": [{"type": "text", "text": text}]});
    NewHistoryItem { body, state, ..user_message(id, "") }
}

fn branch(history: &dyn History, conversation: &str) -> Vec<StoredHistoryItem> {
    page(history, conversation, None, 1_000).0
}

fn page(
    history: &dyn History,
    conversation: &str,
    before: Option<&str>,
    limit: usize,
) -> (Vec<StoredHistoryItem>, bool) {
    let range = ItemRange { conversation: conversation.into(), before: before.map(str::to_owned), limit, whole: true };
    let page = history.items(&range).unwrap().expect("the conversation exists");
    (page.items, page.has_more)
}

fn item_ids(items: &[StoredHistoryItem]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

fn message_text(body: &Value) -> &str {
    body.pointer("/content/0/text").or_else(|| body.pointer("/parts/0/text")).and_then(Value::as_str).unwrap()
}
