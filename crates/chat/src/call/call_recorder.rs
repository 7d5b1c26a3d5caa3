//! Place in the history where a tool call is recorded: nowhere, at the end of its conversation, or next to the model's
//! reply that requested it. Used by `call`.

use domain::item::{ChatItem, ItemBody, ToolResult, ToolUsed, content_read_in_item};
use host::Host;
use offers::review::result_parts;
use serde_json::{Map, Value};

use crate::conversation_log::ConversationLog;
use crate::engine::Chat;
use crate::{ConversationError, model_context};

/// Recorder of a tool call in the history. Its variants say when the call is recorded.
pub(crate) enum CallRecorder<'a> {
    /// The call is not recorded in the history, since it belongs to no conversation or an app made it.
    Nowhere,
    /// Recorded after the call, as a new item at the end of a conversation.
    AfterCall {
        /// Used to append the record to the conversation.
        chat: &'a Chat,
        /// Identifier of the conversation in which the call is recorded.
        conversation: String,
    },
    /// Recorded before the call, as an item that is updated when the call ends. Used by a reply run, which has
    /// exclusive access to the conversation.
    BeforeCall {
        /// Log of the conversation in which the call is recorded.
        log: &'a ConversationLog,
        /// Item of the call, as written before the call.
        item: ChatItem,
        /// Maximum number of bytes of the result's text that are sent to the model.
        result_bytes: usize,
    },
}

impl CallRecorder<'_> {
    /// Records the arguments as the user edited them. Called when the call is sent, so that they are recorded even if
    /// the process exits during the call.
    pub(super) async fn record_changed_arguments(&self, host: &Host, changed: &Map<String, Value>) {
        let Self::BeforeCall { log, item, .. } = self else { return };
        let mut item = item.clone();
        if let ItemBody::ToolCall { arguments, .. } = &mut item.body {
            *arguments = Value::Object(changed.clone());
        }
        if let Err(error) = log.write_items(vec![item.clone()]).await {
            tracing::warn!(%error, "the arguments edited by the user could not be stored yet");
        }
        // The host may have shut down, with no observers left.
        let _ = host.emit_conversation_event(log.item_changed_event(item, true).await).await;
    }

    /// Returns which tool call in a model's reply led to this call, or `None` if no model requested it.
    pub(super) fn requesting_tool_use(&self) -> Option<ToolUsed> {
        match self {
            Self::BeforeCall { item: ChatItem { body: ItemBody::ToolCall { used, .. }, .. }, .. } => used.clone(),
            _ => None,
        }
    }

    /// Returns the number of bytes of a result's text that are not sent to the model, or `None` if all are sent or no
    /// model requested the call.
    pub(super) fn omitted_bytes(&self, result: Option<&ToolResult>) -> Option<u64> {
        let (Self::BeforeCall { result_bytes, .. }, Some(result)) = (self, result) else { return None };
        Some(model_context::truncate_tool_result(result_parts(result), "", *result_bytes).1).filter(|bytes| *bytes > 0)
    }

    /// Returns `item` with the parent and timestamp of the item that was written before the call, if one was written.
    pub(super) fn with_parent_and_time(&self, item: ChatItem) -> ChatItem {
        match self {
            Self::BeforeCall { item: written, .. } => {
                ChatItem { parent: written.parent.clone(), at: written.at, ..item }
            }
            Self::Nowhere | Self::AfterCall { .. } => item,
        }
    }

    /// Records the outcome of the call in the history. If it is a call of the user and a model is replying in the
    /// conversation, the record is written after the reply.
    pub(super) async fn record_end(&self, host: &Host, item: &ChatItem) -> Result<(), ConversationError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::AfterCall { chat, conversation } => chat.append_item_or_defer(conversation.clone(), item).await,
            Self::BeforeCall { log, .. } => {
                let read_contents = host.add_open_world_claims(content_read_in_item(item)).await?;
                log.write_item_with_read_contents(item, read_contents).await
            }
        }
    }
}
