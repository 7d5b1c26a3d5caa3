//! Conversations: listed, begun, read page by page, appended to, deleted.

use chat::ConversationError;
use domain::StoreError;
use domain::history::{self, After, ConversationChange, ItemRange, NewItem};
use domain::item::{Item as OwnItem, readings, sources};
use ports::History;
use serde_json::json;
use std::sync::Arc;

use super::{Api, errors, views};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// The longest title, in characters.
const MAX_TITLE: usize = 200;
/// How many items a conversation opens with: the newest.
const FIRST_ITEMS: usize = 100;

impl Api {
    /// Does something with the history, on a thread that may wait.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let port = Arc::clone(&self.host.ports().history);
        tokio::task::spawn_blocking(move || act(port.as_ref()))
            .await
            .map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?
            .map_err(|e| errors::system(e.to_string()))
    }

    pub(crate) async fn conversation_list(&self) -> Result<Vec<ConversationSummary>, ApiError> {
        let list = self.on_disk(|port| port.list()).await?;
        Ok(list.into_iter().map(|(id, title, updated_at)| ConversationSummary { id, title, updated_at }).collect())
    }

    pub(super) async fn create_conversation(&self, title: String) -> Result<Conversation, ApiError> {
        let now = ports::time::now();
        let model = self.host.default_model().await?;
        let settings = ConversationSettings { model, ..ConversationSettings::default() };
        let kept = history::Conversation {
            // What two programs begin in the same millisecond is told apart.
            id: format!("c{now}-{:04x}", std::process::id() & 0xffff),
            title: shorten(&title),
            created_at: now,
            updated_at: now,
            settings: json!(settings),
            ..history::Conversation::default()
        };
        let title = kept.title.clone();
        let _one_at_a_time = self.conversations.lock().await;
        let id = self.on_disk(move |port| begin(port, kept)).await?;
        self.host.put_in(id.clone(), Vec::new(), true).await?;
        self.host.conversations_changed(Some(id.clone())).await?;
        Ok(Conversation { id, title, updated_at: now, settings, ..Conversation::default() })
    }

    pub(super) async fn conversation(&self, id: String) -> Result<Conversation, ApiError> {
        let range = ItemRange { conversation: id.clone(), before: None, limit: FIRST_ITEMS, whole: false };
        let read = self.on_disk(move |port| Ok((port.conversation(&range.conversation)?, port.items(&range)?)));
        let (Some(kept), Some(page)) = read.await? else { return Err(errors::not_found("this conversation")) };
        self.host.note_readings(id.clone(), kept.readings).await?;
        self.host.put_in(id.clone(), kept.sources, true).await?;
        let sources = self.host.label(id).await?.servers;
        let (answering, live) = self.chat.answering(&kept.id);
        let mut items = page.items.into_iter().filter_map(views::kept_item).collect::<Vec<_>>();
        if let Some((live, seq)) = live
            && let Some(item) = items.iter_mut().find(|item| item.id == live.id)
        {
            // What came since it was written last is in memory.
            let siblings = item.siblings.take().unwrap_or_default();
            *item = views::item(live, Some(seq), siblings);
        }
        Ok(Conversation {
            id: kept.id,
            title: kept.title,
            updated_at: kept.updated_at,
            items,
            sources,
            settings: chat::Chat::conversation_settings(&kept.settings),
            answering,
            has_more: page.has_more,
        })
    }

    /// Appends items to the branch that is shown. One with the id of an older one replaces it.
    pub(super) async fn append_items(&self, r: AppendItems) -> Result<Nothing, ApiError> {
        self.chat.append_items(r.conversation, new_items(r.items)?).await?;
        Ok(Nothing {})
    }

    /// Keeps how a call ended, at the latest when the model that answers there is done.
    pub(super) async fn keep(&self, conversation: String, item: ConversationItem) {
        let told = |kept: Result<(), ConversationError>| {
            if let Err(error) = kept {
                tracing::warn!(%error, "a call could not be kept in its conversation");
            }
        };
        let items = match new_items(vec![item]) {
            Ok(items) => items,
            Err(error) => return tracing::warn!(%error, "a call could not be kept in its conversation"),
        };
        match self.chat.append_items(conversation.clone(), items.clone()).await {
            Err(ConversationError::Answering) => {
                let chat = self.chat.clone();
                tokio::spawn(async move { told(chat.append_when_free(conversation, items).await) });
            }
            kept => told(kept),
        }
    }

    pub(super) async fn rename_conversation(&self, r: RenameConversation) -> Result<Nothing, ApiError> {
        let title = Some(shorten(&r.title));
        let change = ConversationChange { title, at: ports::time::now(), ..ConversationChange::default() };
        let id = r.conversation.clone();
        if !self.on_disk(move |port| port.change(&id, &change)).await? {
            return Err(errors::not_found("this conversation"));
        }
        self.host.conversations_changed(Some(r.conversation)).await?;
        Ok(Nothing {})
    }

    pub(super) async fn delete_conversation(&self, id: String) -> Result<Nothing, ApiError> {
        // What is answered there is of no use any more.
        let _ = self.chat.stop_reply(&id);
        self.on_disk(move |port| port.delete(&id)).await?;
        self.host.conversations_changed(None).await?;
        Ok(Nothing {})
    }
}

/// Begins a conversation under its id, or one like it that is free.
fn begin(port: &dyn History, mut kept: history::Conversation) -> Result<String, StoreError> {
    while port.conversation(&kept.id)?.is_some() {
        kept.id.push('x');
    }
    port.create(&kept)?;
    Ok(kept.id)
}

fn new_items(items: Vec<ConversationItem>) -> Result<Vec<NewItem>, ApiError> {
    items.into_iter().map(new_item).collect()
}

/// An item of the page's, as it is kept.
fn new_item(item: ConversationItem) -> Result<NewItem, ApiError> {
    let bad = |error: serde_json::Error| ApiError::new(ErrorCode::BadRequest, format!("this is no item: {error}"));
    let body = item.body.into_inner();
    let own = OwnItem { id: item.id, parent: None, at: item.at, state: ItemState::Whole, body };
    Ok(NewItem {
        id: own.id.clone(),
        after: item.parent.map_or(After::Head, After::Item),
        at: own.at,
        body: serde_json::to_value(&own.body).map_err(bad)?,
        state: own.state,
        sources: sources([&own]),
        readings: readings(&own),
    })
}

fn shorten(title: &str) -> String {
    title.trim().chars().take(MAX_TITLE).collect()
}
