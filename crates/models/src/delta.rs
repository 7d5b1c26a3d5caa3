//! What comes of an answer while it streams.

use serde::{Deserialize, Serialize};

use crate::Message;

/// A piece of an answer. `Ended` is the last of a stream that went well; a stream that ends without it was cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Text to append.
    Text(String),
    /// Thinking to append.
    Thinking(String),
    /// The model begins to use a tool.
    ToolUseBegan {
        /// The use's id.
        id: String,
        /// The tool's name, as it was offered.
        name: String,
    },
    /// More of a tool's arguments, as JSON text to append. What counts is in `Ended`.
    ToolUseArguments {
        /// The use's id.
        id: String,
        /// The text.
        text: String,
    },
    /// Tokens used so far. Each replaces the one before.
    Usage(TokenUse),
    /// The whole answer. Nothing follows.
    Ended(Reply),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The model's message.
    pub message: Message,
    /// Why it ended.
    pub stop: Stop,
    /// What it took.
    pub usage: TokenUse,
    /// The model that answered, as the provider names it.
    pub model: String,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model was done.
    EndTurn,
    /// It reached the most tokens it may have.
    MaxTokens,
    /// It came to one of the texts that end it.
    StopSequence,
    /// It wants tools to be called.
    ToolUse,
    /// The provider, or the model, refused to go on.
    Refused,
    /// Another reason, in the provider's word.
    Other(String),
}

/// Tokens that were used. What a provider does not say is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUse {
    /// Of the request, those of the provider's cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub input: Option<u64>,
    /// Of the answer, thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub output: Option<u64>,
    /// Of the request, those that came from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub cached_input: Option<u64>,
    /// Of the request, those that were written to the provider's cache, where that costs more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub written_input: Option<u64>,
    /// Of the answer, those of thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub thinking: Option<u64>,
}
