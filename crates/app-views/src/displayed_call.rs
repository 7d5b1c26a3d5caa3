//! Tool call that an app displays, as the page of Drawbridge names it. Used by `AppViews::open`.

use domain::content::ToolResult;
use serde::{Deserialize, Serialize};

/// Tool call that an app displays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum DisplayedCall {
    /// Finished call in a conversation. Its result is read from the conversation's history.
    Item {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the item of the call in the conversation.
        item: String,
    },
    /// Call that a model is writing in a reply in progress. The app receives the arguments so far, and later the
    /// result.
    Streamed {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the item of the reply in the conversation.
        reply: String,
        /// Identifier of the tool use in the reply.
        tool_use: String,
    },
    /// Finished call that was made outside of conversations, with its result.
    Result {
        /// Result of the call.
        result: Box<ToolResult>,
    },
}
