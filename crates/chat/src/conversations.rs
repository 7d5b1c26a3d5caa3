//! Conversations as wholes: listed, created, opened, extended, renamed and deleted. Caller: `api`, for the page and the command line.

use domain::history::{self, After, ConversationChange, ItemRange, NewItem};
use domain::item::Item;
use domain::{Millis, StoreError};
use ports::History;

use super::engine::Chat;
use super::history::{PlacedItem, PlacedItems};
use super::replies::{Held, Replies};
use super::{ConversationError, ConversationSettings, draft, log};

/// The longest title, in characters.
const MAX_TITLE: usize = 200;
/// The number of items, the newest, that a conversation opens with.
const FIRST_ITEMS: usize = 100;

/// A conversation with its newest items.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenConversation {
    /// The conversation as it is kept.
    pub kept: history::Conversation,
    /// The settings of the user.
    pub settings: ConversationSettings,
    /// The newest items of the branch that is shown.
    pub page: PlacedItems,
    /// The servers whose words are in it, as far as the host knows.
    pub sources: Vec<String>,
    /// True while a model answers in it.
    pub answering: bool,
    /// Text in the composer that is not sent yet.
    pub draft: String,
}

impl Chat {
    /// Id, title and time of the last change of each conversation, the latest first.
    ///
    /// # Errors
    /// If the history can't be read.
    pub async fn conversations(&self) -> Result<Vec<(String, String, Millis)>, ConversationError> {
        self.on_disk(|history| history.list()).await
    }

    /// Creates a conversation, with the default model.
    ///
    /// # Errors
    /// If it can't be written.
    pub async fn create_conversation(&self, title: &str) -> Result<OpenConversation, ConversationError> {
        // clock: stamps the conversation.
        let now = ports::time::now();
        let model = self.host.default_model().await?;
        let settings = ConversationSettings { model, ..ConversationSettings::default() };
        let new = history::Conversation {
            // Two programs may create one in the same millisecond.
            id: format!("c{now}-{:04x}", std::process::id() & 0xffff),
            title: shorten(title),
            created_at: now,
            updated_at: now,
            settings: settings.stored(),
            ..history::Conversation::default()
        };
        let kept = {
            let _one_at_a_time = self.beginning.lock().await;
            self.on_disk(move |history| create(history, new)).await?
        };
        self.host.put_in(kept.id.clone(), Vec::new(), true).await?;
        self.host.conversations_changed(Some(kept.id.clone())).await?;
        let (page, sources) = (PlacedItems::default(), Vec::new());
        Ok(OpenConversation { kept, settings, page, sources, answering: false, draft: String::new() })
    }

    /// Opens a conversation with its newest items. None if there is none.
    ///
    /// # Errors
    /// If the history can't be read.
    pub async fn conversation(&self, id: String) -> Result<Option<OpenConversation>, ConversationError> {
        let range = ItemRange { conversation: id, before: None, limit: FIRST_ITEMS, whole: false };
        let read =
            self.on_disk(move |history| Ok((history.conversation(&range.conversation)?, history.items(&range)?)));
        let (Some(mut kept), Some(page)) = read.await? else { return Ok(None) };
        self.host.note_readings(kept.id.clone(), std::mem::take(&mut kept.readings)).await?;
        self.host.put_in(kept.id.clone(), std::mem::take(&mut kept.sources), true).await?;
        let sources = self.host.label(kept.id.clone()).await?.servers;
        let (answering, live) = self.answering(&kept.id);
        let mut page = PlacedItems::read(page);
        if let Some((live, seq)) = live
            && let Some(placed) = page.items.iter_mut().find(|placed| placed.item.id == live.id)
        {
            // Pieces that came since the item was last written are in memory only.
            let siblings = std::mem::take(&mut placed.siblings);
            *placed = PlacedItem { item: live, siblings, left_out: Vec::new(), seq: Some(seq) };
        }
        let settings = ConversationSettings::from_stored(&kept.settings);
        let draft = draft::of(&kept.settings);
        Ok(Some(OpenConversation { kept, settings, page, sources, answering, draft }))
    }

    /// Appends items of the user's to the branch that is shown; one with a parent goes after that. An item with the id of an older one
    /// replaces it.
    ///
    /// # Errors
    /// If there is no such conversation, or a model is answering: it would not get them.
    pub async fn append_items(&self, conversation: String, items: Vec<Item>) -> Result<(), ConversationError> {
        let held = Replies::write(&self.replies, &conversation).await?;
        self.append(held, conversation, items.iter().map(at_end).collect()).await
    }

    /// Appends an item that must not be lost, such as a call that was made. While a model answers this waits for its end, in a task of
    /// its own.
    ///
    /// # Errors
    /// If it can't be written now. A task that waited logs that.
    pub(super) async fn append_or_wait(&self, conversation: String, item: &Item) -> Result<(), ConversationError> {
        let items = vec![at_end(item)];
        match Replies::write(&self.replies, &conversation).await {
            Ok(held) => self.append(held, conversation, items).await,
            Err(ConversationError::Answering) => {
                let chat = self.clone();
                tokio::spawn(async move {
                    if let Err(error) = chat.append_when_free(conversation, items).await {
                        tracing::warn!(%error, "an item could not be kept in its conversation");
                    }
                });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn append_when_free(&self, conversation: String, items: Vec<NewItem>) -> Result<(), ConversationError> {
        let held = Replies::write_when_free(&self.replies, &conversation).await?;
        self.append(held, conversation, items).await
    }

    async fn append(&self, held: Held, conversation: String, mut items: Vec<NewItem>) -> Result<(), ConversationError> {
        for item in items.iter_mut().filter(|item| !item.readings.is_empty()) {
            item.readings = self.host.with_claims(std::mem::take(&mut item.readings)).await?;
            self.host.note_readings(conversation.clone(), item.readings.clone()).await?;
        }
        let sources: Vec<String> = items.iter().flat_map(|item| item.sources.iter().cloned()).collect();
        if !sources.is_empty() {
            self.host.put_in(conversation.clone(), sources, false).await?;
        }
        self.log(&conversation).append(items).await?;
        drop(held);
        self.host.conversations_changed(Some(conversation)).await?;
        Ok(())
    }

    /// Keeps what the user wrote in a conversation and did not send yet; empty for nothing.
    ///
    /// # Errors
    /// If there is no such conversation, the draft is too long, or it can't be written. The draft before it stays then.
    pub async fn set_draft(&self, conversation: String, text: String) -> Result<(), ConversationError> {
        if text.len() > draft::MAX_DRAFT {
            return Err(ConversationError::TooLong { what: "a draft", limit: draft::MAX_DRAFT >> 10 });
        }
        self.log(&conversation).set_draft(text).await
    }

    /// Renames a conversation. False if there is none.
    ///
    /// # Errors
    /// If it can't be written.
    pub async fn rename_conversation(&self, id: String, title: &str) -> Result<bool, ConversationError> {
        // clock: stamps the change.
        let at = ports::time::now();
        let change = ConversationChange { title: Some(shorten(title)), at, ..ConversationChange::default() };
        let renamed = id.clone();
        let is_there = self.on_disk(move |history| history.change(&renamed, &change)).await?;
        if is_there {
            self.host.conversations_changed(Some(id)).await?;
        }
        Ok(is_there)
    }

    /// Stops the answer of a conversation and deletes all of it. Fine if there is none.
    ///
    /// # Errors
    /// If it can't be deleted.
    pub async fn delete_conversation(&self, id: String) -> Result<(), ConversationError> {
        // Nobody can read an answer that still comes.
        let _ = self.stop_reply(&id);
        self.on_disk(move |history| history.delete(&id)).await?;
        self.host.conversations_changed(None).await?;
        Ok(())
    }
}

/// Creates a conversation under its id, or under a longer one that is free.
fn create(history: &dyn History, mut new: history::Conversation) -> Result<history::Conversation, StoreError> {
    while history.conversation(&new.id)?.is_some() {
        new.id.push('x');
    }
    history.create(&new)?;
    Ok(new)
}

/// An item to write after its parent, or else after the head.
fn at_end(item: &Item) -> NewItem {
    let after = item.parent.clone().map_or(After::Head, After::Item);
    NewItem { after, ..log::new_item(item) }
}

fn shorten(title: &str) -> String {
    title.trim().chars().take(MAX_TITLE).collect()
}
