//! Changes of a conversation, sent while a reply streams. `chat` creates them; `api` and the command line display them.

use serde::{Deserialize, Serialize};

use super::ChatItem;
use crate::history::OmittedContent;

/// An addition to a reply that streams. `part` is an index into the parts of the reply; an index past the end starts a
/// new part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyAppend {
    /// Text to append to a part.
    Text {
        /// Index of the text part.
        part: usize,
        /// Text to append to the part.
        text: String,
    },
    /// Reasoning to append to a part.
    Thinking {
        /// Index of the reasoning part.
        part: usize,
        /// Text to append to the part.
        text: String,
    },
    /// Start of a tool use.
    ToolUse {
        /// Index of the new part.
        part: usize,
        /// Identifier of the tool use.
        id: String,
        /// Name of the tool, as presented to the model.
        key: String,
        /// Name of the server, or `None` for built-in and nonexistent tools.
        server: Option<String>,
        /// Name of the tool on its server, or `None` as for `server`.
        tool: Option<String>,
    },
    /// Arguments to append to a tool use, as JSON text.
    Arguments {
        /// Index of the tool use.
        part: usize,
        /// JSON text to append.
        text: String,
    },
}

/// A change in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEvent {
    /// More of a model's reply arrived.
    ReplyDelta {
        /// Identifier of the conversation.
        conversation: String,
        /// Identifier of the item with the reply.
        item: String,
        /// Number of preceding deltas of this reply.
        seq: u64,
        /// Additions in order of arrival.
        append: Vec<ReplyAppend>,
    },
    /// An item of a conversation was added or changed.
    ItemChanged {
        /// Identifier of the conversation.
        conversation: String,
        /// Current item, without large contents.
        item: Box<ChatItem>,
        /// Large contents that are omitted from the item.
        left_out: Vec<OmittedContent>,
        /// Set if a model is replying in the conversation.
        answering: bool,
    },
}
