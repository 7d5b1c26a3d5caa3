//! Conversations: their items, settings and replies.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    ConversationSettings, Cost, ItemBody, ItemState, MessageAttachment, ModelRef, OmittedContent, PageItemBody,
    ServerInstructions, TokenUsage, ToolState,
};

/// Conversation without its items, for the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// Identifier of the conversation.
    pub id: String,
    /// Title of the conversation.
    pub title: String,
    /// Time of the last change, in milliseconds since 1970.
    pub updated_at: u64,
}

/// Conversation with items of the selected branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Identifier of the conversation.
    pub id: String,
    /// Title of the conversation.
    pub title: String,
    /// Time of the last change, in milliseconds since 1970.
    pub updated_at: u64,
    /// Items in order: the path from the first item to the head. Other branches are listed in `siblings`.
    pub items: Vec<ConversationItem>,
    /// Servers whose content is part of the conversation and is read by its model.
    pub sources: Vec<String>,
    /// Settings that the user made for the conversation.
    #[serde(default)]
    pub settings: ConversationSettings,
    /// `true` if a model is replying in the conversation.
    #[serde(default)]
    pub answering: bool,
    /// `true` if there are items before these.
    #[serde(default)]
    pub has_more: bool,
    /// Text in the composer that is not sent yet.
    #[serde(default)]
    pub draft: String,
}

/// Item of a conversation, such as a message or a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the item that precedes this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// Time of the item, in milliseconds since 1970.
    pub at: u64,
    /// State of the item, or `None` if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<ItemState>,
    /// Number of the next `reply_delta` while the item streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seq: Option<u64>,
    /// Identifiers of all items with the same parent, including this one, in the order of creation. `None` if it is the
    /// only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub siblings: Option<Vec<String>>,
    /// Content of the item.
    #[ts(as = "ItemBody")]
    pub body: PageItemBody,
    /// Large contents that are omitted. In `body` they are replaced by empty strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left_out: Option<Vec<OmittedContent>>,
}

/// Message to send to the model of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SendMessage {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Text of the message. May be empty if there are attachments.
    pub text: String,
    /// Attachments of the message.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies from now on, or `None` to keep the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    /// Identifier of the item that precedes the message, or `None` for the head.
    #[serde(default)]
    #[ts(optional)]
    pub parent: Option<String>,
}

/// Message to replace in a new branch. The items after the original message are preserved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EditMessage {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Identifier of the original message.
    pub item: String,
    /// Text of the new message.
    pub text: String,
    /// Attachments of the new message.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies, or `None` to keep the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// Reply to request again, in a new branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RetryReply {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Identifier of the original reply.
    pub item: String,
    /// Model that replies, or `None` to keep the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// Items created at the start of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StartedReply {
    /// Identifier of the user's message, if there is a new one.
    pub message: Option<String>,
    /// Identifier of the reply.
    pub reply: String,
}

/// Reference to an item of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ItemRef {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Identifier of the item.
    pub item: String,
}

/// Draft to store for a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDraft {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Text in the composer, which may be empty.
    pub text: String,
}

/// Request to replace the settings of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SetConversation {
    /// Identifier of the conversation.
    pub conversation: String,
    /// All settings of the conversation.
    pub settings: ConversationSettings,
}

/// Reference to a saved system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SavedSystemPromptRef {
    /// Identifier of the saved prompt.
    pub id: String,
}

/// Tools of a conversation, and the way they are offered to its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTools {
    /// Tools of the enabled servers, in the order in which they are offered.
    pub tools: Vec<ConversationTool>,
    /// Estimated number of tokens of all tools that can be offered, at four bytes per token.
    pub tokens: u64,
    /// Number of tokens from which tools are found by search instead.
    pub threshold: u64,
    /// `true` if tools are found by search.
    pub by_search: bool,
    /// Instructions of the enabled servers for the model.
    pub instructions: Vec<ServerInstructions>,
}

/// Tool of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationTool {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool. Empty if the server is not in use.
    pub tool: String,
    /// Name under which the model knows the tool.
    pub key: String,
    /// Estimated number of tokens of the definition.
    pub tokens: u64,
    /// State that determines if the tool can be offered.
    pub state: ToolState,
}

/// Token usage and cost of a conversation over all branches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCost {
    /// Tokens of all replies.
    pub usage: TokenUsage,
    /// Cost of all replies, by currency.
    pub costs: Vec<Cost>,
    /// Number of replies whose cost is unknown or incomplete because they were stopped or failed.
    pub unpriced: u32,
    /// Tokens of the latest request and its reply in the selected branch.
    pub context_used: Option<u64>,
    /// Context size of the model in tokens.
    pub context: Option<u64>,
}

/// File format of an exported conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// The selected branch as Markdown, for reading.
    Markdown,
    /// All branches with all stored data, as JSON.
    Json,
}

/// Request to write a conversation to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExportConversation {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Format of the file.
    pub format: ExportFormat,
}

/// Request to create a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct NewConversation {
    /// Title of the conversation.
    pub title: String,
}

/// Reference to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationRef {
    /// Identifier of the conversation.
    pub conversation: String,
}

/// Items to append to a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AppendItems {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Items in order. An item with the identifier of an existing one replaces it.
    pub items: Vec<ConversationItem>,
}

/// Request to change the title of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RenameConversation {
    /// Identifier of the conversation.
    pub conversation: String,
    /// New title of the conversation.
    pub title: String,
}
