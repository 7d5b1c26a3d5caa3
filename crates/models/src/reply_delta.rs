//! Events of a streamed answer, and the complete answer.

use serde::{Deserialize, Serialize};

use crate::ModelMessage;

/// An event of a streamed answer. A successful stream ends with `Ended`. A stream that ends without it was interrupted.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyDelta {
    /// Answer text to append.
    Text(String),
    /// Thinking text to append.
    Thinking(String),
    /// The start of a tool call.
    ToolUseBegan {
        /// Identifier of the tool call.
        id: String,
        /// Name of the tool, as offered in the request.
        name: String,
    },
    /// A fragment of a tool call's arguments, as JSON text to append. The parsed arguments are in `Ended`.
    ToolUseArguments {
        /// Identifier of the tool call.
        id: String,
        /// Fragment of the JSON text.
        text: String,
    },
    /// Tokens used so far. Replaces the previous value.
    Usage(TokenUsage),
    /// The complete answer, always the last event.
    Ended(ModelReply),
}

/// A complete answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Message of the model.
    pub message: ModelMessage,
    /// Reason for the end of the answer.
    pub stop: StopReason,
    /// Tokens used by request and answer.
    pub usage: TokenUsage,
    /// Model that answered, as the provider names it.
    pub model: String,
}

/// The reason for the end of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its answer.
    EndTurn,
    /// The answer reached its maximum number of tokens.
    MaxTokens,
    /// The answer reached a stop sequence.
    StopSequence,
    /// The model requests tool calls.
    ToolUse,
    /// The provider or the model refused to continue.
    Refused,
    /// Another reason, as named by the provider.
    Other(String),
}

/// Tokens used by a request. `None` for a number that the provider does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens of the request, including those read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub input: Option<u64>,
    /// Tokens of the answer, including thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub output: Option<u64>,
    /// Tokens of the request that were read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub cached_input: Option<u64>,
    /// Tokens of the request that were written to the provider's cache, for providers that charge for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub written_input: Option<u64>,
    /// Tokens of the answer that were used for thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub thinking: Option<u64>,
}
