//! The items of a conversation. The history stores them in the same JSON format that the page receives.

mod events;
mod sources;

use std::collections::BTreeMap;

pub use events::{ConversationEvent, ReplyAppend};
pub use models::TokenUsage;
use models::{ModelErrorCode, ModelRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use sources::{readings, sources};

use crate::Millis;
use crate::call::CallFailureCode;
pub use crate::content::{Content, ResourceContents, ToolResult};

/// An item of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the preceding item. `None` for a first item, and in conversations of older versions, where each
    /// item follows the previous one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Time of creation of the item.
    pub at: Millis,
    /// Completeness of the item.
    #[serde(default, skip_serializing_if = "ItemState::is_whole")]
    pub state: ItemState,
    /// Content of the item.
    pub body: ItemBody,
}

/// The completeness of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// The item is complete.
    #[default]
    Whole,
    /// The item is still being received.
    Streaming,
    /// The item ended before it was complete.
    Cut,
}

impl ItemState {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// A message of the user, or a message of a prompt.
    Message {
        /// Author of the message.
        role: Role,
        /// Content blocks of the message.
        content: Vec<Content>,
        /// Prompt that the message is part of, if any.
        #[serde(default)]
        prompt: Option<PromptOrigin>,
        /// Files and resources that the user attached.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<MessageAttachment>>", optional))]
        attachments: Vec<MessageAttachment>,
    },
    /// A single reply of a model. The tool calls that it requests follow as separate items.
    Reply {
        /// Model that produced the reply.
        model: ModelRef,
        /// Parts of the reply, in order.
        parts: Vec<ReplyPart>,
        /// Reason for the end of the reply, or `None` while it streams or if it was interrupted.
        #[serde(default)]
        stop: Option<ReplyStop>,
        /// Number of tokens, as far as the provider reports it.
        #[serde(default)]
        usage: TokenUsage,
        /// Cost of the reply, or `None` if the price is unknown.
        #[serde(default)]
        cost: Option<Cost>,
        /// Error that ended the reply, if any.
        #[serde(default)]
        error: Option<ModelProblem>,
        /// Descriptions of the parts of the request that the provider could not represent, and of their substitutes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<String>>", optional))]
        conversions: Vec<String>,
        /// Time until the first part arrived, in milliseconds.
        #[serde(default)]
        first_after: Option<u64>,
        /// Total duration of the reply, in milliseconds.
        #[serde(default)]
        took: u64,
    },
    /// A tool call by the user or, if `used` is set, by a model. It streams while the call is in progress.
    ToolCall {
        /// Identifier of the call, as used by call events and consent requests.
        call: String,
        /// Name of the called server.
        server: String,
        /// Name of the tool.
        tool: String,
        /// Arguments that were sent.
        arguments: Value,
        /// Result of the call, or `None` if it failed.
        result: Option<ToolResult>,
        /// Description of the failure, or `None` if the call succeeded.
        error: Option<String>,
        /// Stable identifier of the error. Absent in conversations of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        failure: Option<CallFailureCode>,
        /// Duration of the call, in milliseconds.
        took: u64,
        /// Tool use in a model's reply that requested the call, or `None` for the user's calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        used: Option<ToolUsed>,
        /// Number of bytes of the result's text that were omitted for the model because of the length limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        left_out: Option<u64>,
    },
    /// A model's use of one of Drawbridge's built-in tools, to find tools or to read more of a long result. Nothing was
    /// sent to a server.
    OwnTool {
        /// Tool use in the model's reply. Its key is the name of the tool.
        used: ToolUsed,
        /// Arguments that the model passed.
        arguments: Value,
        /// Text returned to the model.
        text: String,
        /// Tools found by the search.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<FoundTool>>", optional))]
        found: Vec<FoundTool>,
        /// Set if the tool reported an error to the model.
        #[serde(default)]
        is_error: bool,
    },
    /// A notice from Drawbridge to the user. It is not sent to models.
    Notice {
        /// Content of the notice.
        notice: Notice,
    },
    /// A resource or a skill that the user attached as a separate item.
    Attachment {
        /// Name of the server.
        server: String,
        /// URI of the resource; for a skill, of its `SKILL.md`.
        uri: String,
        /// Name of the resource or skill.
        name: String,
        /// Contents at the time of attachment.
        contents: Vec<ResourceContents>,
        /// Set for a skill, whose text is instructions that the user chose.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<bool>", optional))]
        skill: bool,
    },
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user of the app.
    User,
    /// The model that replies.
    Assistant,
}

/// The origin of a message that came from a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PromptOrigin {
    /// Name of the server.
    pub server: String,
    /// Name of the prompt.
    pub prompt: String,
    /// Arguments of the prompt.
    pub arguments: BTreeMap<String, String>,
}

/// An attachment of a user's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum MessageAttachment {
    /// A file of the user: an image, a recording, a text or any other file.
    File {
        /// Name of the file.
        name: String,
        /// Media type of the file.
        mime_type: String,
        /// Bytes of the file, in base64.
        data: String,
    },
    /// A resource of a server.
    Resource {
        /// Name of the server.
        server: String,
        /// URI of the resource.
        uri: String,
        /// Name of the resource.
        name: String,
        /// Contents at the time of attachment.
        contents: Vec<ResourceContents>,
    },
}

/// A part of a model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ReplyPart {
    /// Text for the user.
    Text {
        /// Text of the part, which may be Markdown.
        text: String,
    },
    /// Reasoning that precedes the text.
    Thinking {
        /// Text of the reasoning, which may be empty.
        text: String,
        /// Provider data to send back with this part. The page does not receive it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
    /// A request of the model to call a tool.
    ToolUse {
        /// Identifier of the tool use, which the result refers to.
        id: String,
        /// Name of the tool, as presented to the model.
        key: String,
        /// Name of the server, or `None` for built-in and nonexistent tools.
        server: Option<String>,
        /// Name of the tool on its server, or `None` as for `server`.
        tool: Option<String>,
        /// Arguments as JSON text, which may be incomplete while it streams.
        arguments: String,
        /// Provider data to send back with this part. The page does not receive it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
}

/// Reason for the end of a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ReplyStop {
    /// The model completed its reply.
    EndTurn,
    /// The reply reached the maximum number of tokens.
    MaxTokens,
    /// The reply reached a stop sequence.
    StopSequence,
    /// The model requests tool calls.
    ToolUse,
    /// The provider or the model refused to continue.
    Refused,
    /// The user stopped the reply.
    Stopped,
    /// A reason that this version does not know.
    Other {
        /// Name of the reason, as the provider gives it.
        word: String,
    },
}

impl From<models::StopReason> for ReplyStop {
    fn from(stop: models::StopReason) -> Self {
        match stop {
            models::StopReason::EndTurn => Self::EndTurn,
            models::StopReason::MaxTokens => Self::MaxTokens,
            models::StopReason::StopSequence => Self::StopSequence,
            models::StopReason::ToolUse => Self::ToolUse,
            models::StopReason::Refused => Self::Refused,
            models::StopReason::Other(word) => Self::Other { word },
        }
    }
}

/// The cost of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cost {
    /// Amount in units of the currency.
    pub amount: f64,
    /// Code of the currency, such as `USD`.
    pub currency: String,
}

/// An error of a model or its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelProblem {
    /// Stable identifier of the cause.
    pub code: ModelErrorCode,
    /// Message with the cause and the next step for the user.
    pub message: String,
}

impl From<&models::ModelError> for ModelProblem {
    fn from(error: &models::ModelError) -> Self {
        Self { code: error.kind(), message: error.to_string() }
    }
}

/// Reference to the tool use in a model's reply that requested a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolUsed {
    /// Identifier of the item with the model's reply.
    pub reply: String,
    /// Identifier of the tool use in the reply.
    pub id: String,
    /// Name of the tool, as presented to the model.
    pub key: String,
}

/// A tool found by a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundTool {
    /// Name of the server.
    pub server: String,
    /// Name of the tool on its server.
    pub tool: String,
    /// Name of the tool, as presented to the model.
    pub key: String,
}

/// A notice from Drawbridge to the user in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Notice {
    /// The model reached the limit of consecutive rounds of tool calls. It continues when the user allows it.
    Rounds {
        /// Number of rounds so far.
        rounds: u32,
    },
}

impl ItemBody {
    /// Returns the body without provider data, which the page neither receives nor sets.
    #[must_use]
    pub fn without_provider_data(mut self) -> Self {
        if let Self::Reply { parts, .. } = &mut self {
            for part in parts {
                if let ReplyPart::Thinking { opaque, .. } | ReplyPart::ToolUse { opaque, .. } = part {
                    *opaque = None;
                }
            }
        }
        self
    }
}
