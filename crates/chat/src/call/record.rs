//! How a call stands in the history: not at all, at the end of its conversation, or as an item of a model's answer. Caller: `call`.

use domain::item::{Item, ItemBody, ToolResult, ToolUsed, readings};
use host::Host;
use offers::review::result_parts;
use serde_json::{Map, Value};

use crate::engine::Chat;
use crate::log::Log;
use crate::{ConversationError, context};

/// Where a call is recorded.
pub(crate) enum Record<'a> {
    /// Nowhere: it belongs to no conversation.
    Nowhere,
    /// In a new item at the end of a conversation, once it has ended.
    AtEnd {
        /// The conversations.
        chat: &'a Chat,
        /// The conversation.
        conversation: String,
    },
    /// In an item that was written before the call, by a run that holds its conversation.
    Ahead {
        /// The items of the conversation.
        log: &'a Log,
        /// The item as it was written.
        item: Item,
        /// How many bytes of the result's text the model reads.
        result_bytes: usize,
    },
}

impl Record<'_> {
    /// Records that the call was sent with arguments of the user, which holds even if the program ends now.
    pub(super) async fn change(&self, host: &Host, changed: &Map<String, Value>) {
        let Self::Ahead { log, item, .. } = self else { return };
        let mut item = item.clone();
        if let ItemBody::ToolCall { arguments, .. } = &mut item.body {
            *arguments = Value::Object(changed.clone());
        }
        if let Err(error) = log.write(vec![item.clone()]).await {
            tracing::warn!(%error, "the arguments that the user changed could not be kept yet");
        }
        // The host may be closing; then nobody listens.
        let _ = host.tell_of_conversation(log.told(item, true).await).await;
    }

    /// The model's request for the call.
    pub(super) fn used(&self) -> Option<ToolUsed> {
        match self {
            Self::Ahead { item: Item { body: ItemBody::ToolCall { used, .. }, .. }, .. } => used.clone(),
            _ => None,
        }
    }

    /// How many bytes of a result's text the model does not read.
    pub(super) fn left_out(&self, result: Option<&ToolResult>) -> Option<u64> {
        let (Self::Ahead { result_bytes, .. }, Some(result)) = (self, result) else { return None };
        Some(context::bounded(result_parts(result), "", *result_bytes).1).filter(|bytes| *bytes > 0)
    }

    /// The item at its place in the conversation.
    pub(super) fn place(&self, item: Item) -> Item {
        match self {
            Self::Ahead { item: written, .. } => Item { parent: written.parent.clone(), at: written.at, ..item },
            Self::Nowhere | Self::AtEnd { .. } => item,
        }
    }

    /// Writes how the call ended. While a model answers in the conversation of a call of the user, that is written once it is done.
    pub(super) async fn keep(&self, host: &Host, item: &Item) -> Result<(), ConversationError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::AtEnd { chat, conversation } => chat.append_or_wait(conversation.clone(), item).await,
            Self::Ahead { log, .. } => {
                let readings = host.with_claims(readings(item)).await?;
                log.write_read(item, readings).await
            }
        }
    }
}
