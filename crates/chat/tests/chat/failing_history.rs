//! Tests that a call is not made if the history can't record it.

use std::path::PathBuf;
use std::sync::Arc;

use domain::StoreError;
use domain::history::{
    Conversation, ConversationChange, ConversationUsage, FoundItem, HistorySearch, ItemPage, ItemRange, NewHistoryItem,
    StoredHistoryItem,
};
use domain::item::{ItemBody, ItemState};
use host::HostOptions;
use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use ports::{History, Ports};
use serde_json::json;
use testkit::app::{TestApp, demo_config};

use super::model::{scripted_reply, text_reply, tool_use};
use super::{TestConversation, item_kinds};

/// A history that rejects writes of those items for which a function returns `true`.
struct RejectingHistory {
    history: Arc<dyn History>,
    refuses: fn(&NewHistoryItem) -> bool,
}

impl History for RejectingHistory {
    fn path(&self) -> PathBuf {
        self.history.path()
    }
    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError> {
        self.history.list()
    }
    fn create(&self, conversation: &Conversation) -> Result<(), StoreError> {
        self.history.create(conversation)
    }
    fn conversation(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.history.conversation(id)
    }
    fn change(&self, id: &str, change: &ConversationChange) -> Result<bool, StoreError> {
        self.history.change(id, change)
    }
    fn delete(&self, id: &str) -> Result<(), StoreError> {
        self.history.delete(id)
    }
    fn write(&self, conversation: &str, items: &[NewHistoryItem]) -> Result<bool, StoreError> {
        if items.iter().any(self.refuses) {
            let path = self.path().display().to_string();
            return Err(StoreError { path, cause: "the disk is full".into() });
        }
        self.history.write(conversation, items)
    }
    fn items(&self, range: &ItemRange) -> Result<Option<ItemPage>, StoreError> {
        self.history.items(range)
    }
    fn all_items(&self, conversation: &str, after: Option<&str>, limit: usize) -> Result<Option<ItemPage>, StoreError> {
        self.history.all_items(conversation, after, limit)
    }
    fn item(&self, conversation: &str, item: &str) -> Result<Option<StoredHistoryItem>, StoreError> {
        self.history.item(conversation, item)
    }
    fn item_outline(&self, conversation: &str, item: &str) -> Result<Option<StoredHistoryItem>, StoreError> {
        self.history.item_outline(conversation, item)
    }
    fn usage(&self, conversation: &str) -> Result<Option<ConversationUsage>, StoreError> {
        self.history.usage(conversation)
    }
    fn show_branch(&self, conversation: &str, item: &str) -> Result<Option<String>, StoreError> {
        self.history.show_branch(conversation, item)
    }
    fn search(&self, search: &HistorySearch) -> Result<Vec<FoundItem>, StoreError> {
        self.history.search(search)
    }
    fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.history.blob(hash)
    }
}

/// Returns a conversation whose model requests one call, with a history that rejects the items for which `refuses`
/// returns `true`.
pub(super) async fn conversation_with_rejecting_history(refuses: fn(&NewHistoryItem) -> bool) -> TestConversation {
    let tool_call =
        scripted_reply(vec![models::MessagePart::text("I add."), tool_use("u1", "demo__add", json!({"a": 1, "b": 1}))]);
    let change =
        move |ports: Ports| Ports { history: Arc::new(RejectingHistory { history: ports.history, refuses }), ..ports };
    let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::start_with_changed_ports(
        folder,
        vec![("demo", demo_config(&[]))],
        HostOptions::default(),
        secrets,
        change,
    )
    .await;
    TestConversation::with_app(app, vec![tool_call, text_reply("Done.")], &["demo"], &["add"], Some(1_000_000)).await
}

/// Sends a message to which the model replies with a call that the user allows. Returns the kinds and states of the
/// resulting items, and the error of the reply.
async fn send_message_and_read_reply_error(talk: &mut TestConversation) -> (Vec<(&'static str, ItemState)>, String) {
    let allowing = talk.app.decide_automatically(|request| {
        matches!(request.body, ConsentRequestBody::Tool { .. }).then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    let items = talk.send_and_wait_for_reply("Add").await;
    allowing.abort();
    let ItemBody::Reply { error, .. } = &items[1].body else { panic!("a reply: {items:?}") };
    let error = error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
    assert_eq!(talk.model.requests().len(), 1, "no further request is sent to the model");
    (item_kinds(&items), error)
}

#[tokio::test]
async fn calls_that_cannot_be_stored_are_not_made() {
    let mut talk = conversation_with_rejecting_history(|item| item.body["kind"] == "tool_call").await;
    let (shape, error) = send_message_and_read_reply_error(&mut talk).await;
    assert_eq!(shape, [("message", ItemState::Whole), ("reply", ItemState::Cut)], "the reply ends with an error");
    assert!(error.contains("disk is full"), "the error contains the cause: {error}");
    assert!(!talk.app.activity("demo").await.contains("tools/call"), "nothing was sent");
}

#[tokio::test]
async fn reply_whose_end_cannot_be_stored_is_interrupted_and_makes_no_calls() {
    let is_end = |item: &NewHistoryItem| item.body["kind"] == "reply" && item.state == ItemState::Whole;
    let mut talk = conversation_with_rejecting_history(is_end).await;
    let (shape, error) = send_message_and_read_reply_error(&mut talk).await;
    assert_eq!(shape, [("message", ItemState::Whole), ("reply", ItemState::Cut)], "the reply is marked as interrupted");
    assert!(error.contains("disk is full"), "the error contains the cause: {error}");
    assert!(!talk.app.activity("demo").await.contains("tools/call"), "nothing was sent");
}

#[tokio::test]
async fn call_whose_result_cannot_be_stored_is_recorded_as_made() {
    let mut talk =
        conversation_with_rejecting_history(|item| item.body["kind"] == "tool_call" && !item.body["result"].is_null())
            .await;
    let (shape, error) = send_message_and_read_reply_error(&mut talk).await;
    assert_eq!(shape.last(), Some(&("call", ItemState::Whole)), "the call is recorded: {shape:?}");
    assert!(error.contains("disk is full"), "the run ends with the cause: {error}");
    let items = talk.items();
    let ItemBody::ToolCall { error: Some(error), result: None, .. } = &items[2].body else { panic!("{:?}", items[2]) };
    assert!(error.contains("the call was made"), "the error states that the call was made: {error}");
}
