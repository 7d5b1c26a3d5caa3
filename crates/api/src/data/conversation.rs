//! Conversations: what the user, prompts and tools said, in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, ResourceContents, Role, ToolResult};

/// A conversation in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// To refer to it by.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// To refer to it by.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
    /// What is in it, in order.
    pub items: Vec<ConversationItem>,
    /// The servers whose words are in it. A model that reads it reads what they said.
    pub sources: Vec<String>,
}

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ConversationItem {
    /// Unique in its conversation; the page chooses it.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it is.
    pub body: ItemBody,
}

/// What a thing in a conversation is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// Something said.
    Message {
        /// By whom.
        role: Role,
        /// What.
        content: Vec<Content>,
        /// The prompt it came from.
        prompt: Option<PromptOrigin>,
    },
    /// A tool call that has ended.
    ToolCall {
        /// The call.
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
        /// How long it took, in milliseconds.
        took: u64,
    },
    /// A resource attached by the user.
    Attachment {
        /// The server.
        server: String,
        /// The resource.
        uri: String,
        /// Its name.
        name: String,
        /// What was in it then.
        contents: Vec<ResourceContents>,
    },
}

/// The prompt a message came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptOrigin {
    /// The server.
    pub server: String,
    /// The prompt.
    pub prompt: String,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
}

/// A conversation to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NewConversation {
    /// Its title.
    pub title: String,
}

/// A conversation by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationRef {
    /// The conversation.
    pub conversation: String,
}

/// Items for a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AppendItems {
    /// The conversation.
    pub conversation: String,
    /// In order. An item with the id of an older one replaces it.
    pub items: Vec<ConversationItem>,
}

/// A new title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RenameConversation {
    /// The conversation.
    pub conversation: String,
    /// Its title from now on.
    pub title: String,
}
