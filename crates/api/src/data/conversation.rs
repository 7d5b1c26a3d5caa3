//! Conversations with a model: items, settings and replies.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    ConversationSettings, Cost, ItemBody, ItemState, MessageAttachment, ModelRef, OmittedContent, PageItemBody,
    ServerInstructions, TokenUsage, ToolState,
};

/// Conversation without its items, as displayed in the list of conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub id: String,
    /// Title of the conversation for display, which the user can change.
    pub title: String,
    /// Time of the conversation's last change, in milliseconds since 1970.
    pub updated_at: u64,
}

/// Conversation with the items of its selected branch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub id: String,
    /// Title of the conversation for display, which the user can change.
    pub title: String,
    /// Time of the conversation's last change, in milliseconds since 1970.
    pub updated_at: u64,
    /// Items of the selected branch up to its last one, in order. Their `siblings` refer to other branches. Earlier
    /// items may be missing, see `has_more`.
    pub items: Vec<ConversationItem>,
    /// Names of the servers whose content the conversation contains.
    pub sources: Vec<String>,
    /// Settings that the user made for the conversation.
    pub settings: ConversationSettings,
    /// `true` if a model is replying in the conversation.
    pub answering: bool,
    /// `true` if the branch has items that precede `items`.
    pub has_more: bool,
    /// Unsent text in the message field of the conversation.
    pub draft: String,
}

/// Item of a conversation, such as a message or a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the preceding item, or `None` if no item precedes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// Time at which the item was created, in milliseconds since 1970.
    pub at: u64,
    /// State of the item, either streaming or interrupted, or `None` if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<ItemState>,
    /// Value of `seq` in the next `reply_delta` event of the item, or `None` if the item does not stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seq: Option<u64>,
    /// Identifiers of all items with the same parent, including this one, in the order of creation. `None` if this item
    /// is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub siblings: Option<Vec<String>>,
    /// Content of the item, which depends on its kind.
    #[ts(as = "ItemBody")]
    pub body: PageItemBody,
    /// Large contents that are omitted from `body`, where empty strings replace them. `None` if nothing is omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub omitted: Option<Vec<OmittedContent>>,
}

/// Message to send to the model of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SendMessage {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Text of the message. May be empty if there are attachments.
    pub text: String,
    /// Files and resources that the user attached to the message.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies to this and later messages, or `None` to keep the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    /// Identifier of the item after which the message is inserted, or `None` for the last item of the selected branch.
    #[serde(default)]
    #[ts(optional)]
    pub parent: Option<String>,
}

/// Request to replace a message in a new branch. The original message and the items after it are preserved.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct EditMessage {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Identifier of the original message.
    pub item: String,
    /// Text of the new message.
    pub text: String,
    /// Files and resources that the user attached to the new message.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// Model that replies, or `None` to use the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// Request to generate a reply again, in a new branch.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct RetryReply {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Identifier of the original reply.
    pub item: String,
    /// Model that replies, or `None` to use the conversation's model.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// Identifiers of the items that were created when a reply started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct StartedReply {
    /// Identifier of the user's message, or `None` if no message was added.
    pub message: Option<String>,
    /// Identifier of the item that contains the model's reply.
    pub reply: String,
}

/// Reference to an item of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ItemRef {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Identifier of the item, unique in its conversation.
    pub item: String,
}

/// Request to store the unsent text in the message field of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetDraft {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Text in the message field, which may be empty.
    pub text: String,
}

/// Request to replace the settings of a conversation.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct SetConversation {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Settings that replace those of the conversation.
    pub settings: ConversationSettings,
}

/// Reference to a saved system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SavedSystemPromptRef {
    /// Identifier of the saved prompt.
    pub id: String,
}

/// Tools of a conversation's servers, and the choice whether its model receives all of them or searches for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTools {
    /// Tools of the conversation's servers, in the order in which the model receives them.
    pub tools: Vec<ConversationTool>,
    /// Estimated number of tokens in the definitions of all usable tools, at four bytes per token.
    pub tokens: u64,
    /// Number of tokens of tool definitions above which the model has to search for tools instead of receiving all of
    /// them.
    pub threshold: u64,
    /// `true` if the model receives a search tool instead of all tools.
    pub uses_tool_search: bool,
    /// Instructions from the conversation's servers for the model.
    pub instructions: Vec<ServerInstructions>,
}

/// Tool that a conversation's model may be able to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ConversationTool {
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool. Empty if the server is not running.
    pub tool: String,
    /// Name, on the server, of the tool whose shown MCP app provides this tool. `None` if the server itself provides
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub app: Option<String>,
    /// Name of the tool, as presented to the model.
    pub key: String,
    /// Estimated number of tokens of the tool's definition.
    pub tokens: u64,
    /// Availability of the tool, with the reason if the model may not use it.
    pub state: ToolState,
}

/// Token usage and cost of a conversation, over all branches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCost {
    /// Number of tokens of all replies, as reported by the providers.
    pub usage: TokenUsage,
    /// Cost of all replies, by currency.
    pub costs: Vec<Cost>,
    /// Number of replies whose cost is unknown or incomplete, because the price is unknown or the reply was stopped or
    /// failed.
    pub unpriced: u32,
    /// Number of tokens in the latest request and its reply in the selected branch, or `None` if unknown.
    pub context_used: Option<u64>,
    /// Context size of the conversation's model in tokens, or `None` if unknown.
    pub context: Option<u64>,
}

/// File format of an exported conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// The selected branch as Markdown, for reading.
    Markdown,
    /// All branches with all stored data, as JSON.
    Json,
}

/// Request to write a conversation to a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ExportConversation {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Format in which the conversation is written.
    pub format: ExportFormat,
}

/// Request to create a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct NewConversation {
    /// Title of the conversation for display, which the user can change.
    pub title: String,
}

/// Request that refers to a conversation by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ConversationRef {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
}

/// Items to append to a conversation.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct AppendItems {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Items in order. An item with the identifier of an existing item replaces it.
    pub items: Vec<ConversationItem>,
}

/// Request to change the title of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct RenameConversation {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// New title of the conversation.
    pub title: String,
}
