//! Changes of a conversation, as they are told while an answer streams. Callers: `chat`, which makes them, and `api` and the command
//! line, which show them.

use serde::{Deserialize, Serialize};

use super::Item;
use crate::history::LeftOut;

/// More of an answer that streams. What it names by `part` are the reply's parts in order; a part that is not there yet begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Append {
    /// Text to append.
    Text {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
    /// Thinking to append.
    Thinking {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
    /// A call that the model begins to ask for.
    ToolUse {
        /// This part.
        part: usize,
        /// The use's id.
        id: String,
        /// The tool's name, as the model knows it.
        key: String,
        /// The server.
        server: Option<String>,
        /// The tool.
        tool: Option<String>,
    },
    /// Arguments to append, as JSON text.
    Arguments {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
}

/// A change in a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ConversationEvent {
    /// More of a model's answer came.
    ReplyDelta {
        /// The conversation.
        conversation: String,
        /// The answer.
        item: String,
        /// How many of these came before it for this answer.
        seq: u64,
        /// What is appended.
        append: Vec<Append>,
    },
    /// An item of a conversation is new or changed.
    ItemChanged {
        /// The conversation.
        conversation: String,
        /// As it is now, without what is large in it.
        item: Box<Item>,
        /// What is left out of it.
        left_out: Vec<LeftOut>,
        /// Whether a model is answering there.
        answering: bool,
    },
}
