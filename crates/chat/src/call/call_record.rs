//! Records of calls in the history: none, at the end of the conversation, or as part of a model's reply. Used by
//! `call`.

use domain::item::{ChatItem, ItemBody, ToolResult, ToolUsed, readings};
use host::Host;
use offers::review::result_parts;
use serde_json::{Map, Value};

use crate::conversation_log::ConversationLog;
use crate::engine::Chat;
use crate::{ConversationError, model_context};

/// The place where a call is recorded.
pub(crate) enum CallRecord<'a> {
    /// No record, since the call belongs to no conversation.
    Nowhere,
    /// A new item at the end of a conversation, written after the call.
    AtEnd {
        /// Conversations of the host.
        chat: &'a Chat,
        /// Identifier of the conversation.
        conversation: String,
    },
    /// An item that was written before the call, by a run that holds the conversation.
    Ahead {
        /// Items of the conversation.
        log: &'a ConversationLog,
        /// Item as it was written.
        item: ChatItem,
        /// Maximum size of the result's text that the model reads, in bytes.
        result_bytes: usize,
    },
}

impl CallRecord<'_> {
    /// Records that the call was sent with arguments edited by the user, in case the process exits during the call.
    pub(super) async fn record_changed_arguments(&self, host: &Host, changed: &Map<String, Value>) {
        let Self::Ahead { log, item, .. } = self else { return };
        let mut item = item.clone();
        if let ItemBody::ToolCall { arguments, .. } = &mut item.body {
            *arguments = Value::Object(changed.clone());
        }
        if let Err(error) = log.write_items(vec![item.clone()]).await {
            tracing::warn!(%error, "the arguments edited by the user could not be stored yet");
        }
        // The host may have shut down, with no observers left.
        let _ = host.emit_conversation_event(log.item_event(item, true).await).await;
    }

    /// Returns the tool use in the model's reply that requested the call.
    pub(super) fn tool_used(&self) -> Option<ToolUsed> {
        match self {
            Self::Ahead { item: ChatItem { body: ItemBody::ToolCall { used, .. }, .. }, .. } => used.clone(),
            _ => None,
        }
    }

    /// Returns the number of bytes of a result's text that the model does not read.
    pub(super) fn omitted_bytes(&self, result: Option<&ToolResult>) -> Option<u64> {
        let (Self::Ahead { result_bytes, .. }, Some(result)) = (self, result) else { return None };
        Some(model_context::bounded_result(result_parts(result), "", *result_bytes).1).filter(|bytes| *bytes > 0)
    }

    /// Returns the item with its position in the conversation.
    pub(super) fn with_position(&self, item: ChatItem) -> ChatItem {
        match self {
            Self::Ahead { item: written, .. } => ChatItem { parent: written.parent.clone(), at: written.at, ..item },
            Self::Nowhere | Self::AtEnd { .. } => item,
        }
    }

    /// Writes the end of the call. If a model is replying in the conversation of a user's call, it is written after
    /// that.
    pub(super) async fn write_end(&self, host: &Host, item: &ChatItem) -> Result<(), ConversationError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::AtEnd { chat, conversation } => chat.append_or_defer(conversation.clone(), item).await,
            Self::Ahead { log, .. } => {
                let readings = host.add_open_world_claims(readings(item)).await?;
                log.write_with_readings(item, readings).await
            }
        }
    }
}
