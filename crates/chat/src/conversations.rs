//! Lists, creates, opens, renames and deletes conversations, and appends items to them. Used by `api`, for the page and
//! the command line.

use domain::history::{self, ConversationChange, ItemPosition, ItemRange, NewHistoryItem};
use domain::item::ChatItem;
use domain::{Millis, StoreError};
use ports::History;

use super::conversation_locks::{ConversationLockGuard, ConversationLocks};
use super::engine::Chat;
use super::history::{BranchPage, ConversationTreeItem};
use super::{ConversationError, ConversationSettings, conversation_log, draft};

/// Maximum length of a conversation's title, in characters.
const MAX_TITLE_CHARS: usize = 200;
/// Maximum number of items that are loaded when a conversation is opened. These are the newest ones.
const MAX_ITEMS_OF_OPENED_CONVERSATION: usize = 100;

/// A conversation as the page opens it: with its newest items, its settings and its draft.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedConversation {
    /// Metadata of the conversation, as stored in the history.
    pub conversation: history::Conversation,
    /// Settings of the conversation, set by the user.
    pub settings: ConversationSettings,
    /// Newest items of the visible branch.
    pub page: BranchPage,
    /// Names of the servers whose content is known to be in the conversation.
    pub sources: Vec<String>,
    /// Set while a model is replying in the conversation.
    pub answering: bool,
    /// Text that the user has written for the conversation and not sent yet.
    pub draft: String,
}

impl Chat {
    /// Returns the id, the title and the time of the last change of each conversation, the latest change first.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be read.
    pub async fn conversations(&self) -> Result<Vec<(String, String, Millis)>, ConversationError> {
        self.with_history(|history| history.list()).await
    }

    /// Creates a conversation with the default model.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be written, and [`ConversationError::Closing`] if the
    /// host has shut down.
    pub async fn create_conversation(&self, title: &str) -> Result<OpenedConversation, ConversationError> {
        // clock: timestamp of the conversation.
        let now = ports::time::system_time_millis();
        let model = self.host.default_model().await?;
        let settings = ConversationSettings { model, ..ConversationSettings::default() };
        let new = history::Conversation {
            // Two processes may create a conversation in the same millisecond.
            id: format!("c{now}-{:04x}", std::process::id() & 0xffff),
            title: shorten_title(title),
            created_at: now,
            updated_at: now,
            settings: settings.to_stored(),
            ..history::Conversation::default()
        };
        let conversation = {
            let _one_at_a_time = self.creation_lock.lock().await;
            self.with_history(move |history| create_conversation_with_unique_id(history, new)).await?
        };
        self.host.record_conversation_servers(conversation.id.clone(), Vec::new(), true).await?;
        self.host.report_changed_conversations(Some(conversation.id.clone())).await?;
        let (page, sources) = (BranchPage::default(), Vec::new());
        Ok(OpenedConversation { conversation, settings, page, sources, answering: false, draft: String::new() })
    }

    /// Returns `true` if the user enabled a tool for the model of a conversation.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist.
    pub async fn enables_tool(&self, conversation: &str, server: &str, tool: &str) -> Result<bool, ConversationError> {
        let (_, settings) = self.conversation_log(conversation).conversation().await?;
        Ok(settings.enables_tool(server, tool))
    }

    /// Opens a conversation with its newest items, or returns `None` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be read, and [`ConversationError::Closing`] if the
    /// host has shut down.
    pub async fn conversation(&self, id: String) -> Result<Option<OpenedConversation>, ConversationError> {
        let range = ItemRange { conversation: id, before: None, limit: MAX_ITEMS_OF_OPENED_CONVERSATION, whole: false };
        let read =
            self.with_history(move |history| Ok((history.conversation(&range.conversation)?, history.items(&range)?)));
        let (Some(mut conversation), Some(page)) = read.await? else { return Ok(None) };
        self.host.record_read_content(conversation.id.clone(), std::mem::take(&mut conversation.read_contents)).await?;
        self.host
            .record_conversation_servers(conversation.id.clone(), std::mem::take(&mut conversation.sources), true)
            .await?;
        let sources = self.host.data_flow_label(conversation.id.clone()).await?.servers;
        let (answering, live) = self.is_replying_with_partial_reply(&conversation.id);
        let mut page = BranchPage::from_stored(page);
        if let Some((live, seq)) = live
            && let Some(placed) = page.items.iter_mut().find(|placed| placed.item.id == live.id)
        {
            // Parts that arrived after the item was last written exist in memory only.
            let siblings = std::mem::take(&mut placed.siblings);
            *placed = ConversationTreeItem { item: live, siblings, omitted: Vec::new(), seq: Some(seq) };
        }
        let settings = ConversationSettings::from_stored(&conversation.settings);
        let draft = draft::draft_in_stored_settings(&conversation.settings);
        Ok(Some(OpenedConversation { conversation, settings, page, sources, answering, draft }))
    }

    /// Appends items that the user added, such as attachments, to a conversation. Each is inserted after its parent, or
    /// at the end of the visible branch if it has none. An item with an existing id replaces that item.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, and [`ConversationError::Answering`]
    /// if a model is replying, since the model would not receive the items.
    pub async fn append_items(&self, conversation: String, items: Vec<ChatItem>) -> Result<(), ConversationError> {
        let held = ConversationLocks::lock_for_writing(&self.replies, &conversation).await?;
        self.append(held, conversation, items.iter().map(to_history_item_after_parent).collect()).await
    }

    /// Appends an item that must not be lost, such as the record of a call, to a conversation. If a model is replying
    /// in it, a spawned task appends the item after the reply.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the item can't be written immediately. Errors of the spawned task are
    /// only logged.
    pub(super) async fn append_item_or_defer(
        &self,
        conversation: String,
        item: &ChatItem,
    ) -> Result<(), ConversationError> {
        let items = vec![to_history_item_after_parent(item)];
        match ConversationLocks::lock_for_writing(&self.replies, &conversation).await {
            Ok(held) => self.append(held, conversation, items).await,
            Err(ConversationError::Answering) => {
                let chat = self.clone();
                tokio::spawn(async move {
                    if let Err(error) = chat.append_items_when_conversation_is_free(conversation, items).await {
                        tracing::warn!(%error, "an item could not be stored in its conversation");
                    }
                });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn append_items_when_conversation_is_free(
        &self,
        conversation: String,
        items: Vec<NewHistoryItem>,
    ) -> Result<(), ConversationError> {
        let held = ConversationLocks::lock_when_free(&self.replies, &conversation).await?;
        self.append(held, conversation, items).await
    }

    async fn append(
        &self,
        held: ConversationLockGuard,
        conversation: String,
        mut items: Vec<NewHistoryItem>,
    ) -> Result<(), ConversationError> {
        for item in items.iter_mut().filter(|item| !item.read_contents.is_empty()) {
            item.read_contents = self.host.add_open_world_claims(std::mem::take(&mut item.read_contents)).await?;
            self.host.record_read_content(conversation.clone(), item.read_contents.clone()).await?;
        }
        let sources: Vec<String> = items.iter().flat_map(|item| item.sources.iter().cloned()).collect();
        if !sources.is_empty() {
            self.host.record_conversation_servers(conversation.clone(), sources, false).await?;
        }
        self.conversation_log(&conversation).append(items).await?;
        drop(held);
        self.host.report_changed_conversations(Some(conversation)).await?;
        Ok(())
    }

    /// Stores the unsent text of a conversation. An empty text removes the stored one.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the conversation doesn't exist, [`ConversationError::TooLong`] if the
    /// text is longer than 256 KiB, and [`ConversationError::Store`] if it can't be written. In each case the previous
    /// draft remains stored.
    pub async fn set_draft(&self, conversation: String, text: String) -> Result<(), ConversationError> {
        if text.len() > draft::MAX_DRAFT_BYTES {
            return Err(ConversationError::TooLong { what: "a draft", limit: draft::MAX_DRAFT_BYTES >> 10 });
        }
        self.conversation_log(&conversation).set_draft(text).await
    }

    /// Renames a conversation. Returns `false` if it doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be written, and [`ConversationError::Closing`] if the
    /// host has shut down.
    pub async fn rename_conversation(&self, id: String, title: &str) -> Result<bool, ConversationError> {
        // clock: timestamp of the change.
        let at = ports::time::system_time_millis();
        let change = ConversationChange { title: Some(shorten_title(title)), at, ..ConversationChange::default() };
        let renamed = id.clone();
        let is_there = self.with_history(move |history| history.change(&renamed, &change)).await?;
        if is_there {
            self.host.report_changed_conversations(Some(id)).await?;
        }
        Ok(is_there)
    }

    /// Deletes a conversation with all of its items, after stopping a reply in progress. Does nothing if the
    /// conversation doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the conversation can't be deleted, and [`ConversationError::Closing`] if
    /// the host has shut down.
    pub async fn delete_conversation(&self, id: String) -> Result<(), ConversationError> {
        // A reply must not continue in a conversation that no longer exists. Fails if there is none in progress.
        let _ = self.stop_reply(&id);
        self.with_history(move |history| history.delete(&id)).await?;
        self.host.report_changed_conversations(None).await?;
        Ok(())
    }
}

/// Creates a conversation in the history. If its id is in use, appends characters to the id that make it unique.
fn create_conversation_with_unique_id(
    history: &dyn History,
    mut new: history::Conversation,
) -> Result<history::Conversation, StoreError> {
    while history.conversation(&new.id)?.is_some() {
        new.id.push('x');
    }
    history.create(&new)?;
    Ok(new)
}

/// Converts a conversation item to the form in which the history stores it. It follows its parent, or the last item of
/// the visible branch if it has no parent.
fn to_history_item_after_parent(item: &ChatItem) -> NewHistoryItem {
    let after = item.parent.clone().map_or(ItemPosition::Head, ItemPosition::Item);
    NewHistoryItem { after, ..conversation_log::to_new_history_item(item) }
}

fn shorten_title(title: &str) -> String {
    title.trim().chars().take(MAX_TITLE_CHARS).collect()
}
