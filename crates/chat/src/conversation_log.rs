//! Reads and writes a conversation's items in the history, on blocking threads.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::history::{ConversationChange, ConversationUsage, ItemPosition, ItemRange, NewHistoryItem, ReadContent};
use domain::item::{ChatItem, ConversationEvent, ItemBody, ItemState, content_read_in_item, content_source_servers};
use domain::{Millis, StoreError, history};
use ports::History;
use serde_json::{Value, json};

use super::{ConversationError, ConversationSettings, draft};

/// Maximum number of items that are read from the history in one query.
const MAX_ITEMS_PER_QUERY: usize = 500;

/// Maximum size of an attached text file that is exported as Markdown, in bytes.
const MAX_TEXT_FILE_BYTES: u64 = 256 << 10;

/// Held while a conversation's settings or draft are changed. Both are stored in one value, so that a concurrent change
/// would be lost.
static CONVERSATION_SETTINGS_LOCK: Mutex<()> = Mutex::new(());

/// Reads and writes the stored items and settings of one conversation.
#[derive(Clone)]
pub(super) struct ConversationLog {
    history: Arc<dyn History>,
    pub(super) conversation: String,
}

impl ConversationLog {
    pub(super) fn new(history: &Arc<dyn History>, conversation: String) -> Self {
        Self { history: Arc::clone(history), conversation }
    }

    async fn with_history<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ConversationError> {
        let id = self.conversation.clone();
        with_history_blocking(&self.history, move |history| act(history, &id)).await
    }

    /// Returns the conversation without its items, and the user's settings for it.
    pub(super) async fn conversation(
        &self,
    ) -> Result<(history::Conversation, ConversationSettings), ConversationError> {
        let stored = self.with_history(|history, id| history.conversation(id)).await?;
        let stored = stored.ok_or_else(|| ConversationError::NotFound("conversation".to_owned()))?;
        let settings = ConversationSettings::from_stored(&stored.settings);
        Ok((stored, settings))
    }

    pub(super) async fn store_settings(&self, settings: &ConversationSettings) -> Result<(), ConversationError> {
        let mut settings = settings.to_stored();
        // clock: timestamp of the change.
        let at = ports::time::system_time_millis();
        self.change_stored_settings(at, move |stored| {
            draft::put_draft_in_stored_settings(&mut settings, draft::draft_in_stored_settings(stored));
            *stored = settings;
        })
        .await
    }

    /// Stores the unsent text of the conversation without changing the conversation's position in the list.
    pub(super) async fn set_draft(&self, text: String) -> Result<(), ConversationError> {
        self.change_stored_settings(0, move |stored| draft::put_draft_in_stored_settings(stored, text)).await
    }

    /// Applies a change to the stored JSON value that contains the settings and the draft of the conversation.
    async fn change_stored_settings(
        &self,
        at: Millis,
        change: impl FnOnce(&mut Value) + Send + 'static,
    ) -> Result<(), ConversationError> {
        let changed = self.with_history(move |history, id| {
            let _one_at_a_time = CONVERSATION_SETTINGS_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(conversation) = history.conversation(id)? else { return Ok(false) };
            let mut stored = conversation.settings;
            change(&mut stored);
            history.change(id, &ConversationChange { settings: Some(stored), at, ..Default::default() })
        });
        if changed.await? { Ok(()) } else { Err(ConversationError::NotFound("conversation".to_owned())) }
    }

    pub(super) async fn item(&self, item: String) -> Result<ChatItem, ConversationError> {
        let found = self.with_history(move |history, id| history.item(id, &item)).await?;
        found.and_then(parse_stored_item).ok_or_else(|| ConversationError::NotFound("message".to_owned()))
    }

    /// Returns the items of the conversation's visible branch, oldest first: all of them, or those before the item
    /// `before`. Items of kinds unknown to this version are skipped.
    pub(super) async fn branch_items(&self, before: Option<String>) -> Result<Vec<ChatItem>, ConversationError> {
        self.read_branch_items(before, true).await
    }

    /// Returns the items of the conversation's visible branch with all texts and attached text files of up to
    /// [`MAX_TEXT_FILE_BYTES`], but without large images, audio and other files.
    pub(super) async fn branch_items_without_large_media(&self) -> Result<Vec<ChatItem>, ConversationError> {
        self.read_branch_items(None, false).await
    }

    async fn read_branch_items(
        &self,
        mut before: Option<String>,
        whole: bool,
    ) -> Result<Vec<ChatItem>, ConversationError> {
        let mut pages = Vec::new();
        loop {
            let range = ItemRange {
                conversation: self.conversation.clone(),
                before: before.take(),
                limit: MAX_ITEMS_PER_QUERY,
                whole,
            };
            let page = self.with_history(move |history, _| {
                let mut page = history.items(&range)?;
                for item in page.iter_mut().flat_map(|page| &mut page.items) {
                    restore_separately_stored_texts(history, item)?;
                    if !whole {
                        restore_attached_text_files(history, item)?;
                    }
                }
                Ok(page)
            });
            let page = page.await?;
            let page = page.ok_or_else(|| ConversationError::NotFound("message".to_owned()))?;
            before = page.items.first().map(|item| item.id.clone()).filter(|_| page.has_more);
            pages.push(page.items);
            if before.is_none() {
                return Ok(pages.into_iter().rev().flatten().filter_map(parse_stored_item).collect());
            }
        }
    }

    /// Returns the items of all branches, in order of creation.
    pub(super) async fn all_items(&self) -> Result<Vec<ChatItem>, ConversationError> {
        let (mut items, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self
                .with_history(move |history, id| history.all_items(id, after.as_deref(), MAX_ITEMS_PER_QUERY))
                .await?;
            let page = page.ok_or_else(|| ConversationError::NotFound("message".to_owned()))?;
            after = page.items.last().map(|item| item.id.clone()).filter(|_| page.has_more);
            items.extend(page.items.into_iter().filter_map(parse_stored_item));
            if after.is_none() {
                return Ok(items);
            }
        }
    }

    /// Returns the total usage (tokens and cost) of the replies in all branches.
    pub(super) async fn usage(&self) -> Result<ConversationUsage, ConversationError> {
        let taken = self.with_history(|history, id| history.usage(id)).await?;
        taken.ok_or_else(|| ConversationError::NotFound("conversation".to_owned()))
    }

    /// Returns the event that notifies the page of a written item. Large images, audio, files and texts are omitted,
    /// since the page requests them when it displays them. The text of a reply is included, since the page already has
    /// it.
    pub(super) async fn item_changed_event(&self, item: ChatItem, answering: bool) -> ConversationEvent {
        let (id, state) = (item.id.clone(), item.state);
        let is_light =
            state == ItemState::Streaming || matches!(item.body, ItemBody::Reply { .. } | ItemBody::Notice { .. });
        let outline = if is_light {
            None
        } else {
            let outline = self.with_history(move |history, conversation| history.item_outline(conversation, &id)).await;
            // If the latest write failed, the history contains the item in an earlier state, which must not be sent.
            outline.ok().flatten().filter(|outline| outline.state == state)
        };
        let omitted = outline.as_ref().map(|outline| outline.omitted.clone()).unwrap_or_default();
        let item = Box::new(outline.and_then(parse_stored_item).unwrap_or(item));
        ConversationEvent::ItemChanged { conversation: self.conversation.clone(), item, omitted, answering }
    }

    /// Makes `item` visible: unless the visible branch contains it already, the newest branch that contains it becomes
    /// the visible one.
    pub(super) async fn select_branch(&self, item: String) -> Result<(), ConversationError> {
        let shown = self.with_history(move |history, id| history.show_branch(id, &item)).await?;
        shown.map(|_| ()).ok_or_else(|| ConversationError::NotFound("message".to_owned()))
    }

    pub(super) async fn write_items(&self, items: Vec<ChatItem>) -> Result<(), ConversationError> {
        self.append(items.iter().map(to_new_history_item).collect()).await
    }

    /// Writes an item, and records with it which content of servers the model read.
    pub(super) async fn write_item_with_read_contents(
        &self,
        item: &ChatItem,
        read_contents: Vec<ReadContent>,
    ) -> Result<(), ConversationError> {
        self.append(vec![NewHistoryItem { read_contents, ..to_new_history_item(item) }]).await
    }

    /// Writes an item, and records that the conversation contains content of these servers, in addition to those that
    /// the item names.
    pub(super) async fn write_item_with_source_servers(
        &self,
        item: &ChatItem,
        servers: Vec<String>,
    ) -> Result<(), ConversationError> {
        let mut new = to_new_history_item(item);
        new.sources.extend(servers);
        self.append(vec![new]).await
    }

    pub(super) async fn append(&self, new: Vec<NewHistoryItem>) -> Result<(), ConversationError> {
        if self.with_history(move |history, id| history.write(id, &new)).await? {
            Ok(())
        } else {
            Err(ConversationError::NotFound("conversation".to_owned()))
        }
    }
}

/// Calls `act` with the history on a thread for blocking work, and returns its result.
pub(super) async fn with_history_blocking<T: Send + 'static>(
    history: &Arc<dyn History>,
    act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ConversationError> {
    let history = Arc::clone(history);
    tokio::task::spawn_blocking(move || act(history.as_ref()))
        .await
        .map_err(ConversationError::from)?
        .map_err(ConversationError::Store)
}

/// Converts a conversation item to the form in which the history stores it.
pub(super) fn to_new_history_item(item: &ChatItem) -> NewHistoryItem {
    NewHistoryItem {
        id: item.id.clone(),
        after: item.parent.clone().map_or(ItemPosition::Start, ItemPosition::Item),
        at: item.at,
        body: json!(item.body),
        state: item.state,
        sources: content_source_servers([item]),
        read_contents: content_read_in_item(item),
    }
}

/// Inserts into an item the long texts that the history stores separately.
fn restore_separately_stored_texts(
    history: &dyn History,
    item: &mut history::StoredHistoryItem,
) -> Result<(), StoreError> {
    for left in item.omitted.iter().filter(|left| left.is_text) {
        let text = history.blob(&left.hash)?.and_then(|bytes| String::from_utf8(bytes).ok());
        if let (Some(place), Some(text)) = (item.body.pointer_mut(&left.pointer), text) {
            *place = text.into();
        }
    }
    Ok(())
}

/// Inserts into an item the attached files of up to [`MAX_TEXT_FILE_BYTES`] that are text.
fn restore_attached_text_files(history: &dyn History, item: &mut history::StoredHistoryItem) -> Result<(), StoreError> {
    let is_file = |left: &&history::OmittedContent| {
        !left.is_text && left.bytes <= MAX_TEXT_FILE_BYTES && left.pointer.starts_with("/attachments/")
    };
    for left in item.omitted.iter().filter(is_file) {
        let bytes = history.blob(&left.hash)?.filter(|bytes| std::str::from_utf8(bytes).is_ok());
        if let (Some(place), Some(bytes)) = (item.body.pointer_mut(&left.pointer), bytes) {
            *place = STANDARD.encode(bytes).into();
        }
    }
    Ok(())
}

/// Converts a stored item to a conversation item, or returns `None` if this version doesn't know its kind.
pub(super) fn parse_stored_item(stored: history::StoredHistoryItem) -> Option<ChatItem> {
    let body: ItemBody = serde_json::from_value(stored.body).ok()?;
    Some(ChatItem { id: stored.id, parent: stored.parent, at: stored.at, state: stored.state, body })
}
