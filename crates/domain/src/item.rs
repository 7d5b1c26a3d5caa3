//! The items of a conversation, as they are kept and as the page gets them: both have the same JSON.

mod events;
mod sources;

use std::collections::BTreeMap;

pub use events::{Append, ConversationEvent};
pub use models::TokenUse;
use models::{ModelErrorCode, ModelRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;
pub use sources::{readings, sources};

use crate::Millis;
use crate::call::CallFailureCode;
pub use crate::content::{Content, ResourceContents, ToolResult};

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Unique in its conversation.
    pub id: String,
    /// The item that it follows. None at the beginning; and in conversations of old, where each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it came.
    pub at: Millis,
    /// Whether it is whole.
    #[serde(default, skip_serializing_if = "ItemState::is_whole")]
    pub state: ItemState,
    /// What it is.
    pub body: ItemBody,
}

/// Whether an item is whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// It is.
    #[default]
    Whole,
    /// It still comes.
    Streaming,
    /// It ended before it was.
    Cut,
}

impl ItemState {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// What a thing in a conversation is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// Something said by the user, or part of a prompt.
    Message {
        /// By whom.
        role: Role,
        /// What.
        content: Vec<Content>,
        /// The prompt it came from.
        #[serde(default)]
        prompt: Option<PromptOrigin>,
        /// What the user attached to it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<MessageAttachment>>", optional))]
        attachments: Vec<MessageAttachment>,
    },
    /// What a model answered in one go. The calls that it asked for follow as items of their own.
    Reply {
        /// The model.
        model: ModelRef,
        /// What it is made of, in order.
        parts: Vec<ReplyPart>,
        /// Why it ended; none while it streams, or if it was cut.
        #[serde(default)]
        stop: Option<ReplyStop>,
        /// The tokens that it took, as far as the provider says.
        #[serde(default)]
        usage: TokenUse,
        /// What it cost, where the price is known.
        #[serde(default)]
        cost: Option<Cost>,
        /// Why it failed.
        #[serde(default)]
        error: Option<ModelProblem>,
        /// What of the request the provider could not carry as it was, and what was done about it, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<String>>", optional))]
        conversions: Vec<String>,
        /// How long the first piece took to come, in milliseconds.
        #[serde(default)]
        first_after: Option<u64>,
        /// How long it took in all, in milliseconds.
        #[serde(default)]
        took: u64,
    },
    /// A tool call: of the user, or with `used` of a model. It streams while it is under way.
    ToolCall {
        /// The call, by which calls and questions tell of it.
        call: String,
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// What was sent.
        arguments: Value,
        /// What came back, or nothing when it failed.
        result: Option<ToolResult>,
        /// Why it failed, in words.
        error: Option<String>,
        /// Stable identifier of the error. Absent in conversations of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        failure: Option<CallFailureCode>,
        /// How long it took, in milliseconds.
        took: u64,
        /// Where a model asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        used: Option<ToolUsed>,
        /// How many bytes of the result's text the model did not get, as it was too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        left_out: Option<u64>,
    },
    /// A model used a tool of Drawbridge itself, to find tools or to read on in a long result. Nothing crossed.
    OwnTool {
        /// Where a model asked for it; the key is the tool's name.
        used: ToolUsed,
        /// What it asked.
        arguments: Value,
        /// What it was told.
        text: String,
        /// The tools that were found.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<FoundTool>>", optional))]
        found: Vec<FoundTool>,
        /// Whether it was told that it can't be done.
        #[serde(default)]
        is_error: bool,
    },
    /// Something that Drawbridge says to the user. No model gets it.
    Notice {
        /// What.
        notice: Notice,
    },
    /// A resource or a skill attached by the user by itself.
    Attachment {
        /// The server.
        server: String,
        /// The resource; of a skill its `SKILL.md`.
        uri: String,
        /// Its name.
        name: String,
        /// What was in it then.
        contents: Vec<ResourceContents>,
        /// True for a skill, whose text is instructions that the user chose.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(as = "Option<bool>", optional))]
        skill: bool,
    },
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// The prompt a message came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PromptOrigin {
    /// The server.
    pub server: String,
    /// The prompt.
    pub prompt: String,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
}

/// What the user attached to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum MessageAttachment {
    /// A file of the user's: a picture, a recording, a text or anything else.
    File {
        /// Its name.
        name: String,
        /// Its media type.
        mime_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A resource.
    Resource {
        /// The server.
        server: String,
        /// Where it is.
        uri: String,
        /// Its name.
        name: String,
        /// What was in it then.
        contents: Vec<ResourceContents>,
    },
}

/// A part of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ReplyPart {
    /// Text.
    Text {
        /// The text, which may be Markdown.
        text: String,
    },
    /// What it thought before.
    Thinking {
        /// The text; may be empty.
        text: String,
        /// What the provider wants back with it. The page does not get it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
    /// A call that it asks for.
    ToolUse {
        /// The use's id, which the result names.
        id: String,
        /// The tool's name, as the model knows it.
        key: String,
        /// The server; none of Drawbridge's own tools, or of one that there is not.
        server: Option<String>,
        /// The tool, as the server knows it.
        tool: Option<String>,
        /// The arguments, as JSON text: it may break off while it streams.
        arguments: String,
        /// What the provider wants back with it. The page does not get it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(skip))]
        opaque: Option<Value>,
    },
}

/// Why a model's answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ReplyStop {
    /// The model was done.
    EndTurn,
    /// It reached the most tokens it may have.
    MaxTokens,
    /// It came to a text that ends it.
    StopSequence,
    /// It wants tools to be called.
    ToolUse,
    /// The provider, or the model, refused to go on.
    Refused,
    /// The user stopped it.
    Stopped,
    /// Another reason, in the provider's word.
    Other {
        /// The word.
        word: String,
    },
}

impl From<models::Stop> for ReplyStop {
    fn from(stop: models::Stop) -> Self {
        match stop {
            models::Stop::EndTurn => Self::EndTurn,
            models::Stop::MaxTokens => Self::MaxTokens,
            models::Stop::StopSequence => Self::StopSequence,
            models::Stop::ToolUse => Self::ToolUse,
            models::Stop::Refused => Self::Refused,
            models::Stop::Other(word) => Self::Other { word },
        }
    }
}

/// What an answer cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cost {
    /// How much, in the currency's units.
    pub amount: f64,
    /// The currency, such as `USD`.
    pub currency: String,
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelProblem {
    /// Stable identifier of the cause.
    pub code: ModelErrorCode,
    /// The cause, and what to do.
    pub message: String,
}

impl From<&models::ModelError> for ModelProblem {
    fn from(error: &models::ModelError) -> Self {
        Self { code: error.kind(), message: error.to_string() }
    }
}

/// Where a model asked for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolUsed {
    /// The item with the model's answer.
    pub reply: String,
    /// The use's id in it.
    pub id: String,
    /// The tool's name, as the model knows it.
    pub key: String,
}

/// A tool that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundTool {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Its name, as the model knows it.
    pub key: String,
}

/// What Drawbridge says to the user in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Notice {
    /// The model called tools so many times in a row; it goes on when the user says so.
    Rounds {
        /// How many times.
        rounds: u32,
    },
}

impl ItemBody {
    /// The same without what only a provider reads, which a page neither gets nor sets.
    #[must_use]
    pub fn without_opaque(mut self) -> Self {
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
