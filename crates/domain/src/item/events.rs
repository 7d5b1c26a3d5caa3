//! Events of conversations, sent while a reply streams. `chat` creates them, and `api` and `cli` pass them on to the
//! user.

use serde::{Deserialize, Serialize};

use super::ChatItem;
use crate::history::OmittedContent;

/// Content to append to a model's streaming reply. `part` is an index into the reply's parts. An index after the last
/// part starts a new part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyAppend {
    /// Text to append to a part of the reply that the user reads.
    Text {
        /// Index of the text part in the reply.
        part: usize,
        /// Text to append to the text part.
        text: String,
    },
    /// Reasoning to append to a part of the reply that contains the model's reasoning.
    Thinking {
        /// Index of the reasoning part in the reply.
        part: usize,
        /// Text to append to the reasoning part.
        text: String,
    },
    /// Start of a part in which the model requests a tool call.
    ToolUse {
        /// Index of the new part in the reply.
        part: usize,
        /// Identifier of the tool use.
        id: String,
        /// Name of the tool, as presented to the model.
        #[serde(rename = "key")]
        tool_key: String,
        /// Name of the server, or `None` for a built-in tool or if the tool does not exist.
        server: Option<String>,
        /// Name of the tool on its server, or `None` in the same cases as `server`.
        tool: Option<String>,
    },
    /// Arguments to append to a part that requests a tool call.
    Arguments {
        /// Index of the part in the reply that requests the tool call.
        part: usize,
        /// JSON text to append to the tool call's arguments.
        text: String,
    },
}

/// Change of a conversation, sent to Drawbridge's page.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEvent {
    /// More content of a model's streaming reply arrived.
    ReplyDelta {
        /// Identifier of the conversation in the history.
        conversation: String,
        /// Identifier of the item with the reply.
        item: String,
        /// Number of deltas of this reply that precede this one.
        seq: u64,
        /// Content to append to the reply, in order of arrival.
        append: Vec<ReplyAppend>,
    },
    /// An item of a conversation was added or changed.
    ItemChanged {
        /// Identifier of the conversation in the history.
        conversation: String,
        /// Item after the change, without large contents.
        item: Box<ChatItem>,
        /// Large contents that are omitted from `item`.
        omitted: Vec<OmittedContent>,
        /// Set if a model is replying in the conversation.
        answering: bool,
    },
}
