//! Events of a model's streamed answer, and the complete answer.

use serde::{Deserialize, Serialize};

use crate::ModelMessage;

/// An event of a streamed reply. A successful stream ends with [`ReplyDelta::Ended`]; without it, the stream was
/// interrupted.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyDelta {
    /// Text to append to the reply.
    Text(String),
    /// Text to append to the reasoning.
    Thinking(String),
    /// The model begins to write a tool call.
    ToolUseBegan {
        /// Identifier of the tool call, repeated in its later events.
        id: String,
        /// Name of the tool, as in the request's list of tools.
        name: String,
    },
    /// A fragment of a tool call's arguments, as JSON text to append. The parsed arguments are in `Ended`.
    ToolUseArguments {
        /// Identifier of the tool call, from [`ReplyDelta::ToolUseBegan`].
        id: String,
        /// Fragment of the JSON text.
        text: String,
    },
    /// Number of tokens used so far, which replaces the number of an earlier event.
    Usage(TokenUsage),
    /// The complete reply, which is always the last event.
    Ended(ModelReply),
}

/// A complete reply of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    /// Message of the model.
    pub message: ModelMessage,
    /// Reason why the model's reply ended.
    pub stop: StopReason,
    /// Tokens used by request and reply.
    pub usage: TokenUsage,
    /// Identifier of the model that replied, as the provider reports it.
    pub model: String,
}

/// The reason why a model's reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its reply.
    EndTurn,
    /// The reply reached its maximum number of tokens.
    MaxTokens,
    /// The model generated one of the stop sequences of the request.
    StopSequence,
    /// The model ended its reply to wait for the results of tool calls.
    ToolUse,
    /// The provider or the model refused to continue the reply.
    Refused,
    /// Another reason, with the name that the provider uses.
    Other(String),
}

/// Tokens used by a request. `None` for a number that the provider does not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Number of input tokens, including those read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub input: Option<u64>,
    /// Number of output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub output: Option<u64>,
    /// Number of input tokens that the provider read from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub cached_input: Option<u64>,
    /// Number of input tokens that the provider wrote to its cache, for providers that charge for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub written_input: Option<u64>,
    /// Number of output tokens that were used for reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional = nullable))]
    pub thinking: Option<u64>,
}
