//! Reads and writes a conversation's items in the history on threads that may wait.

use std::sync::{Arc, Mutex, PoisonError};

use domain::history::{After, ConversationChange, ItemRange, NewItem, Reading, Taken};
use domain::item::{ConversationEvent, Item, ItemBody, ItemState, readings, sources};
use domain::{Millis, StoreError, history};
use ports::History;
use serde_json::{Value, json};

use super::{ConversationError, ConversationSettings, draft};

/// The most items that are read at a time.
const PAGE: usize = 500;

/// Held while settings and drafts are read and written: a change of one keeps the other.
static STORED: Mutex<()> = Mutex::new(());

/// The items of one conversation, as they are kept.
#[derive(Clone)]
pub(super) struct Log {
    history: Arc<dyn History>,
    pub(super) conversation: String,
}

impl Log {
    pub(super) fn new(history: &Arc<dyn History>, conversation: String) -> Self {
        Self { history: Arc::clone(history), conversation }
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ConversationError> {
        let id = self.conversation.clone();
        on_disk(&self.history, move |history| act(history, &id)).await
    }

    /// The conversation without its items, and what the user set for it.
    pub(super) async fn conversation(
        &self,
    ) -> Result<(history::Conversation, ConversationSettings), ConversationError> {
        let kept = self.on_disk(|history, id| history.conversation(id)).await?;
        let kept = kept.ok_or_else(|| ConversationError::NotFound("conversation".to_owned()))?;
        let settings = ConversationSettings::from_stored(&kept.settings);
        Ok((kept, settings))
    }

    pub(super) async fn set(&self, settings: &ConversationSettings) -> Result<(), ConversationError> {
        let mut settings = settings.stored();
        // clock: stamps the change.
        let at = ports::time::now();
        self.change_stored(at, move |stored| {
            draft::put(&mut settings, draft::of(stored));
            *stored = settings;
        })
        .await
    }

    /// Keeps a draft. The conversation stays where it is in the list.
    pub(super) async fn set_draft(&self, text: String) -> Result<(), ConversationError> {
        self.change_stored(0, move |stored| draft::put(stored, text)).await
    }

    /// Changes what is kept with the conversation as JSON.
    async fn change_stored(
        &self,
        at: Millis,
        change: impl FnOnce(&mut Value) + Send + 'static,
    ) -> Result<(), ConversationError> {
        let changed = self.on_disk(move |history, id| {
            let _one_at_a_time = STORED.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(kept) = history.conversation(id)? else { return Ok(false) };
            let mut stored = kept.settings;
            change(&mut stored);
            history.change(id, &ConversationChange { settings: Some(stored), at, ..Default::default() })
        });
        if changed.await? { Ok(()) } else { Err(ConversationError::NotFound("conversation".to_owned())) }
    }

    pub(super) async fn item(&self, item: String) -> Result<Item, ConversationError> {
        let found = self.on_disk(move |history, id| history.item(id, &item)).await?;
        found.and_then(read).ok_or_else(|| ConversationError::NotFound("message".to_owned()))
    }

    /// The items up to the head, or before one, from the first on. Those that a newer version wrote are passed over.
    pub(super) async fn path(&self, before: Option<String>) -> Result<Vec<Item>, ConversationError> {
        self.items(before, true).await
    }

    /// Those up to the head with all texts, but without large pictures, sound and files.
    pub(super) async fn texts(&self) -> Result<Vec<Item>, ConversationError> {
        self.items(None, false).await
    }

    async fn items(&self, mut before: Option<String>, whole: bool) -> Result<Vec<Item>, ConversationError> {
        let mut pages = Vec::new();
        loop {
            let range =
                ItemRange { conversation: self.conversation.clone(), before: before.take(), limit: PAGE, whole };
            let page = self.on_disk(move |history, _| {
                let mut page = history.items(&range)?;
                for item in page.iter_mut().flat_map(|page| &mut page.items) {
                    put_texts(history, item)?;
                }
                Ok(page)
            });
            let page = page.await?;
            let page = page.ok_or_else(|| ConversationError::NotFound("message".to_owned()))?;
            before = page.items.first().map(|item| item.id.clone()).filter(|_| page.has_more);
            pages.push(page.items);
            if before.is_none() {
                return Ok(pages.into_iter().rev().flatten().filter_map(read).collect());
            }
        }
    }

    /// The items of all branches, in the order in which they came.
    pub(super) async fn all(&self) -> Result<Vec<Item>, ConversationError> {
        let (mut items, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.on_disk(move |history, id| history.all(id, after.as_deref(), PAGE)).await?;
            let page = page.ok_or_else(|| ConversationError::NotFound("message".to_owned()))?;
            after = page.items.last().map(|item| item.id.clone()).filter(|_| page.has_more);
            items.extend(page.items.into_iter().filter_map(read));
            if after.is_none() {
                return Ok(items);
            }
        }
    }

    /// What the answers took, over all branches.
    pub(super) async fn taken(&self) -> Result<Taken, ConversationError> {
        let taken = self.on_disk(|history, id| history.taken(id)).await?;
        taken.ok_or_else(|| ConversationError::NotFound("conversation".to_owned()))
    }

    /// The event that tells an item that was written. Large pictures, sound, files and texts are not in it: the page asks for what
    /// it shows. Of an answer it has the text already.
    pub(super) async fn told(&self, item: Item, answering: bool) -> ConversationEvent {
        let (id, state) = (item.id.clone(), item.state);
        let is_light =
            state == ItemState::Streaming || matches!(item.body, ItemBody::Reply { .. } | ItemBody::Notice { .. });
        let kept = if is_light {
            None
        } else {
            let kept = self.on_disk(move |history, conversation| history.outline(conversation, &id)).await;
            // What could not be written is kept as it was before.
            kept.ok().flatten().filter(|kept| kept.state == state)
        };
        let left_out = kept.as_ref().map(|kept| kept.left_out.clone()).unwrap_or_default();
        let item = Box::new(kept.and_then(read).unwrap_or(item));
        ConversationEvent::ItemChanged { conversation: self.conversation.clone(), item, left_out, answering }
    }

    /// Makes the latest end of the branch that goes through an item the head.
    pub(super) async fn show(&self, item: String) -> Result<(), ConversationError> {
        let shown = self.on_disk(move |history, id| history.show(id, &item)).await?;
        shown.map(|_| ()).ok_or_else(|| ConversationError::NotFound("message".to_owned()))
    }

    pub(super) async fn write(&self, items: Vec<Item>) -> Result<(), ConversationError> {
        self.append(items.iter().map(new_item).collect()).await
    }

    /// Writes an item, with what the tools say that it was read from.
    pub(super) async fn write_read(&self, item: &Item, readings: Vec<Reading>) -> Result<(), ConversationError> {
        self.append(vec![NewItem { readings, ..new_item(item) }]).await
    }

    /// Writes an item that was made of what these servers said as well.
    pub(super) async fn write_after(&self, item: &Item, servers: Vec<String>) -> Result<(), ConversationError> {
        let mut new = new_item(item);
        new.sources.extend(servers);
        self.append(vec![new]).await
    }

    pub(super) async fn append(&self, new: Vec<NewItem>) -> Result<(), ConversationError> {
        if self.on_disk(move |history, id| history.write(id, &new)).await? {
            Ok(())
        } else {
            Err(ConversationError::NotFound("conversation".to_owned()))
        }
    }
}

/// Uses the history on a thread that may wait.
pub(super) async fn on_disk<T: Send + 'static>(
    history: &Arc<dyn History>,
    act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ConversationError> {
    let history = Arc::clone(history);
    tokio::task::spawn_blocking(move || act(history.as_ref()))
        .await
        .map_err(ConversationError::from)?
        .map_err(ConversationError::Store)
}

pub(super) fn new_item(item: &Item) -> NewItem {
    NewItem {
        id: item.id.clone(),
        after: item.parent.clone().map_or(After::Start, After::Item),
        at: item.at,
        body: json!(item.body),
        state: item.state,
        sources: sources([item]),
        readings: readings(item),
    }
}

/// Puts very long texts into their places.
fn put_texts(history: &dyn History, item: &mut history::Item) -> Result<(), StoreError> {
    for left in item.left_out.iter().filter(|left| left.is_text) {
        let text = history.blob(&left.hash)?.and_then(|bytes| String::from_utf8(bytes).ok());
        if let (Some(place), Some(text)) = (item.body.pointer_mut(&left.pointer), text) {
            *place = text.into();
        }
    }
    Ok(())
}

/// An item, if this version knows its kind.
pub(super) fn read(kept: history::Item) -> Option<Item> {
    let body: ItemBody = serde_json::from_value(kept.body).ok()?;
    Some(Item { id: kept.id, parent: kept.parent, at: kept.at, state: kept.state, body })
}
