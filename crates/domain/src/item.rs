//! Items of conversations. The history stores them in the same JSON format in which the page receives them.

mod events;
mod sources;

use std::collections::BTreeMap;

pub use events::{ConversationEvent, ReplyAppend};
pub use models::TokenUsage;
use models::{ModelErrorCode, ModelRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use sources::{content_read_in_item, content_source_servers};

use crate::Millis;
use crate::call::{CallFailureCode, CallRefusal};
pub use crate::content::{Content, ResourceContents, ToolResult};

/// Item of a conversation, such as a message, a reply or a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the preceding item. `None` for a first item, and in conversations of older versions, whose items
    /// form a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Time at which the item was created.
    pub at: Millis,
    /// State of the item: complete, streaming or interrupted.
    #[serde(default, skip_serializing_if = "ItemState::is_whole")]
    pub state: ItemState,
    /// Content of the item, which depends on its kind.
    pub body: ItemBody,
}

/// Completeness of an item's body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// The body of the item is complete.
    #[default]
    Whole,
    /// The body of the item is still being received.
    Streaming,
    /// The body of the item was interrupted before it was complete.
    Cut,
}

impl ItemState {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// Content of a conversation's item, by the kind of the item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// Message of the user, or a message that is part of a prompt.
    Message {
        /// Author of the message.
        role: Role,
        /// Content blocks of the message.
        content: Vec<Content>,
        /// Prompt that contains the message, or `None` if the user wrote it.
        #[serde(default)]
        prompt: Option<PromptOrigin>,
        /// Files and resources that the user attached to the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<MessageAttachment>>", optional))]
        attachments: Vec<MessageAttachment>,
    },
    /// Single reply of a model. Tool calls that it requests follow as separate items.
    Reply {
        /// Model that produced the reply.
        model: ModelRef,
        /// Parts of the reply, in order.
        parts: Vec<ReplyPart>,
        /// Reason why the reply ended, or `None` while it streams or if it was interrupted.
        #[serde(default)]
        stop: Option<ReplyStop>,
        /// Number of tokens, as far as the provider reports them.
        #[serde(default)]
        usage: TokenUsage,
        /// Cost of the reply, or `None` if the price is unknown.
        #[serde(default)]
        cost: Option<Cost>,
        /// Error that ended the reply, or `None` if none occurred.
        #[serde(default)]
        error: Option<ModelProblem>,
        /// Descriptions of content in the request that the provider's protocol could not represent, and of its
        /// replacement.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<String>>", optional))]
        conversions: Vec<String>,
        /// Time until the first part of the reply arrived, in milliseconds. `None` if none arrived.
        #[serde(default, rename = "firstAfter")]
        first_part_milliseconds: Option<u64>,
        /// Total duration of the reply, in milliseconds.
        #[serde(default, rename = "took")]
        duration_milliseconds: u64,
    },
    /// Tool call by the user, or by a model if `used` is set. The item streams while the call is in progress.
    ToolCall {
        /// Identifier of the call, which events of calls and consent requests refer to.
        call: String,
        /// Name of the called server in the settings.
        server: String,
        /// Name of the tool, as its server or the app lists it.
        tool: String,
        /// Name, on the server, of the tool whose MCP app provides the called tool. `None` if the server itself
        /// provides it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        app: Option<String>,
        /// Arguments that were sent to the server or its app.
        arguments: Value,
        /// Result of the tool call, or `None` if it failed.
        result: Option<ToolResult>,
        /// Description of the failure, or `None` if the call succeeded.
        error: Option<String>,
        /// Stable identifier of the reason for the failure. `None` if the call succeeded, and in conversations of older
        /// versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        failure: Option<CallFailureCode>,
        /// Cause for which the call was refused. `None` for other outcomes, and in conversations of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        refusal: Option<CallRefusal>,
        /// Duration of the call, in milliseconds.
        #[serde(rename = "took")]
        duration_milliseconds: u64,
        /// Part of the duration in which the call waited for the user, in milliseconds: until it was sent, while the
        /// server waited for input, and after its result arrived. `None` in conversations of older versions, and while
        /// the call is in progress.
        #[serde(default, rename = "waited", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        waited_milliseconds: Option<u64>,
        /// Tool use in the model's reply that requested the call, or `None` if the user made the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        used: Option<ToolUsed>,
        /// Number of bytes of the result's text that the model did not receive, because the text is longer than the
        /// limit. `None` if the model received the whole text.
        #[serde(default, rename = "leftOut", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        omitted_bytes: Option<u64>,
    },
    /// Call of one of Drawbridge's built-in tools by a model, to search for tools or to read more of a long result.
    /// Nothing was sent to a server.
    OwnTool {
        /// Tool use in the model's reply that requested the call. Its `tool_key` is the name of the built-in tool.
        used: ToolUsed,
        /// Arguments that the model passed to the built-in tool.
        arguments: Value,
        /// Text that the built-in tool returned to the model.
        text: String,
        /// Tools that the search has found. Empty for other built-in tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<FoundTool>>", optional))]
        found: Vec<FoundTool>,
        /// Set if the result reports an error to the model.
        #[serde(default)]
        is_error: bool,
    },
    /// Notice of Drawbridge to the user, which models do not receive.
    Notice {
        /// Event that the notice reports, with its details.
        notice: Notice,
    },
    /// Resource or skill of a server that the user attached to the conversation as a separate item.
    Attachment {
        /// Name of the server in the settings.
        server: String,
        /// URI of the resource. For a skill, the URI of its `SKILL.md`.
        uri: String,
        /// Name of the resource or skill.
        name: String,
        /// Contents of the resource at the time of the attachment.
        contents: Vec<ResourceContents>,
        /// Set if the item is a skill. The model then receives its text as instructions that the user has chosen.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<bool>", optional))]
        skill: bool,
    },
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user of Drawbridge wrote the message.
    User,
    /// The model that replies to the user wrote the message.
    Assistant,
}

/// Prompt that a message is part of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PromptOrigin {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the prompt, as its server lists it.
    pub prompt: String,
    /// Arguments with which the prompt was requested, by name.
    pub arguments: BTreeMap<String, String>,
}

/// File or resource that is attached to a user's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum MessageAttachment {
    /// File of the user, of any media type.
    File {
        /// Name of the attached file, as shown to the user and to the model.
        name: String,
        /// Media type of the attached file.
        mime_type: String,
        /// Bytes of the attached file, in base64.
        data: String,
    },
    /// Resource of a server that is attached to the message.
    Resource {
        /// Name of the server in the settings.
        server: String,
        /// URI that identifies the resource on its server.
        uri: String,
        /// Name of the resource, as its server lists it.
        name: String,
        /// Contents of the resource at the time of the attachment.
        contents: Vec<ResourceContents>,
    },
}

/// Part of a model's reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ReplyPart {
    /// Text of the reply for the user.
    Text {
        /// Text of the part, which may be Markdown.
        text: String,
    },
    /// Reasoning of the model that precedes its text.
    Thinking {
        /// Text of the model's reasoning, which may be empty.
        text: String,
        /// Opaque data of the provider, such as a signature, that later requests send back with this part. `None` if
        /// there is none. Drawbridge's page does not receive it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
    /// Request of the model to call a tool.
    ToolUse {
        /// Identifier of the tool use, which the tool's result refers to.
        id: String,
        /// Name of the tool, as presented to the model. It may differ from the name on the server.
        #[serde(rename = "key")]
        tool_key: String,
        /// Name of the server, or `None` for a built-in tool, for a tool of an app, or if the tool does not exist.
        server: Option<String>,
        /// Name of the tool on its server, or `None` in the same cases as `server`.
        tool: Option<String>,
        /// Arguments of the tool call as JSON text, incomplete while the part streams.
        arguments: String,
        /// Opaque data of the provider, such as a signature, that later requests send back with this part. `None` if
        /// there is none. Drawbridge's page does not receive it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
}

/// Reason why a model's reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ReplyStop {
    /// The model ended its reply because it was complete.
    EndTurn,
    /// The reply reached the maximum number of output tokens.
    MaxTokens,
    /// The model generated a stop sequence.
    StopSequence,
    /// The model ended its reply to request tool calls.
    ToolUse,
    /// The provider or the model refused to reply.
    Refused,
    /// The user stopped the reply.
    Stopped,
    /// The reply ended for a reason that this version does not know.
    Other {
        /// Name of the reason, as the provider returned it.
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

/// Cost of one or more replies in one currency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cost {
    /// Amount in whole units of the currency, such as dollars.
    pub amount: f64,
    /// Code of the currency, such as `USD`.
    pub currency: String,
}

/// Error of a model or of its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelProblem {
    /// Stable identifier of the cause of the error.
    pub code: ModelErrorCode,
    /// Message for the user, with the cause and a suggested remedy.
    pub message: String,
    /// Technical cause alone, if the code says everything else. It is part of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub cause: Option<String>,
}

impl From<&models::ModelError> for ModelProblem {
    fn from(error: &models::ModelError) -> Self {
        let cause = error.technical_cause().map(str::to_owned);
        Self { code: error.kind(), message: error.to_string(), cause }
    }
}

/// Reference to the tool use that requested a call, in a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolUsed {
    /// Identifier of the item that contains the reply.
    pub reply: String,
    /// Identifier of the tool use within the reply.
    pub id: String,
    /// Name of the tool, as presented to the model.
    #[serde(rename = "key")]
    pub tool_key: String,
}

/// Tool that a model's search for tools has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundTool {
    /// Name of the tool's server in the settings.
    pub server: String,
    /// Name of the tool, as its server or app lists it.
    pub tool: String,
    /// If a shown MCP app provides the found tool: name of the server's tool that opened that app. `None` if the server
    /// itself provides the found tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub app: Option<String>,
    /// Name of the tool, as presented to the model.
    pub key: String,
}

/// Notice of Drawbridge to the user in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Notice {
    /// The model reached the limit of consecutive rounds of tool calls. It continues if the user agrees.
    Rounds {
        /// Number of consecutive rounds of tool calls so far.
        rounds: u32,
    },
}

impl ItemBody {
    /// Returns the body without opaque provider data, which Drawbridge's page neither receives nor sends.
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
