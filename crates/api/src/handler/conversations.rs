//! Conversations, read and written one at a time.

use host::CallOrigin;
use host::conversation::Conversation as Kept;
use host::ports::{Conversations, StoreError};
use serde_json::json;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::{Api, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// The most items of a conversation.
const MAX_ITEMS: usize = 5_000;
/// The longest title, in characters.
const MAX_TITLE: usize = 200;

impl Api {
    /// Does something with the conversations on disk, off the loop.
    async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Conversations) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let port = Arc::clone(&self.host.ports().conversations);
        tokio::task::spawn_blocking(move || act(port.as_ref()))
            .await
            .map_err(|e| ApiError::new(ErrorCode::Internal, e.to_string()))?
            .map_err(|e| errors::system(e.to_string()))
    }

    pub(crate) async fn conversation_list(&self) -> Result<Vec<ConversationSummary>, ApiError> {
        if let Some(listed) = self.listed().clone() {
            return Ok(listed);
        }
        let list = self.on_disk(|port| port.list()).await?;
        let list: Vec<_> =
            list.into_iter().map(|(id, title, updated_at)| ConversationSummary { id, title, updated_at }).collect();
        Ok(self.listed().get_or_insert(list).clone())
    }

    fn listed(&self) -> MutexGuard<'_, Option<Vec<ConversationSummary>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes in the list that a conversation was written, or deleted.
    fn list_again(&self, id: &str, written: Option<ConversationSummary>) {
        if let Some(listed) = self.listed().as_mut() {
            listed.retain(|conversation| conversation.id != id);
            listed.splice(0..0, written);
        }
    }

    async fn write(&self, kept: Kept) -> Result<(), ApiError> {
        let summary =
            ConversationSummary { id: kept.id.clone(), title: kept.title.clone(), updated_at: kept.updated_at };
        self.on_disk(move |port| port.write(&kept)).await?;
        let id = summary.id.clone();
        self.list_again(&id, Some(summary));
        self.host.conversations_changed(Some(id)).await?;
        Ok(())
    }

    pub(super) async fn create_conversation(&self, title: String) -> Result<Conversation, ApiError> {
        let _one_at_a_time = self.conversations.lock().await;
        let now = host::activity::now();
        let taken = self.conversation_list().await?;
        let mut id = format!("c{now}");
        while taken.iter().any(|c| c.id == id) {
            id.push('x');
        }
        let kept = Kept { id: id.clone(), title: shorten(&title), updated_at: now, items: Vec::new() };
        let shown = Conversation { id, title: kept.title.clone(), updated_at: now, ..Conversation::default() };
        self.host.put_in(shown.id.clone(), Vec::new(), true).await?;
        self.write(kept).await?;
        Ok(shown)
    }

    async fn kept(&self, id: String) -> Result<Kept, ApiError> {
        self.on_disk(move |port| port.read(&id)).await?.ok_or_else(|| errors::not_found("this conversation"))
    }

    pub(super) async fn conversation(&self, id: String) -> Result<Conversation, ApiError> {
        let kept = self.kept(id).await?;
        // Items that a newer version wrote and this one does not know are left out of sight, and stay in the file.
        let items: Vec<ConversationItem> =
            kept.items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect();
        self.host.put_in(kept.id.clone(), sources(&items), true).await?;
        let sources = self.host.label(kept.id.clone()).await?.servers;
        let (id, title, updated_at) = (kept.id, kept.title, kept.updated_at);
        Ok(Conversation { id, title, updated_at, items, sources, ..Conversation::default() })
    }

    /// Calls a tool for a model. What the conversation holds is known before, so that the words of other servers in it count.
    ///
    /// # Errors
    /// If it did not end with the tool's answer, or there is no such conversation.
    pub async fn call_tool_for_model(&self, r: CallTool) -> Result<ToolResult, ApiError> {
        let Some(conversation) = r.conversation.clone() else {
            return Err(ApiError::new(ErrorCode::BadRequest, "a model's call belongs to a conversation"));
        };
        if !self.host.label(conversation.clone()).await?.is_whole {
            self.conversation(conversation.clone()).await?;
        }
        self.call_tool_and_keep(r, CallOrigin::Model { conversation }).await
    }

    async fn change(
        &self,
        id: String,
        change: impl FnOnce(&mut Kept) -> Result<(), ApiError> + Send,
    ) -> Result<Nothing, ApiError> {
        let _one_at_a_time = self.conversations.lock().await;
        let mut kept = self.kept(id).await?;
        change(&mut kept)?;
        kept.updated_at = host::activity::now();
        self.write(kept).await?;
        Ok(Nothing {})
    }

    pub(super) async fn append_items(&self, r: AppendItems) -> Result<Nothing, ApiError> {
        let sources = sources(&r.items);
        if !sources.is_empty() {
            self.host.put_in(r.conversation.clone(), sources, false).await?;
        }
        self.change(r.conversation, |kept| {
            for item in r.items {
                let same = kept.items.iter().position(|other| other.get("id") == Some(&json!(item.id)));
                let value = json!(item);
                match same {
                    Some(at) => kept.items[at] = value,
                    None if kept.items.len() >= MAX_ITEMS => {
                        let message = format!("a conversation holds at most {MAX_ITEMS} items; start another one");
                        return Err(ApiError::new(ErrorCode::Invalid, message));
                    }
                    None => kept.items.push(value),
                }
            }
            Ok(())
        })
        .await
    }

    pub(super) async fn rename_conversation(&self, r: RenameConversation) -> Result<Nothing, ApiError> {
        self.change(r.conversation, |kept| {
            kept.title = shorten(&r.title);
            Ok(())
        })
        .await
    }

    pub(super) async fn delete_conversation(&self, id: String) -> Result<Nothing, ApiError> {
        let _one_at_a_time = self.conversations.lock().await;
        let deleted = id.clone();
        self.on_disk(move |port| port.delete(&deleted)).await?;
        self.list_again(&id, None);
        self.host.conversations_changed(None).await?;
        Ok(Nothing {})
    }
}

/// The servers whose words are in these items.
fn sources(items: &[ConversationItem]) -> Vec<String> {
    let server = |item: &ConversationItem| match &item.body {
        ItemBody::Message { prompt, .. } => prompt.as_ref().map(|prompt| prompt.server.clone()),
        // A failure that names the server may be told in its words; others, such as a refusal, are told in ours.
        ItemBody::ToolCall { server, result, error, .. } => {
            let is_theirs = error.as_ref().is_some_and(|error| error.starts_with(&format!("{server}: ")));
            (result.is_some() || is_theirs).then(|| server.clone())
        }
        ItemBody::Attachment { server, .. } => Some(server.clone()),
        ItemBody::Reply { .. } | ItemBody::OwnTool { .. } | ItemBody::Notice { .. } => None,
    };
    let mut servers = Vec::new();
    for server in items.iter().filter_map(server) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    servers
}

fn shorten(title: &str) -> String {
    title.trim().chars().take(MAX_TITLE).collect()
}
