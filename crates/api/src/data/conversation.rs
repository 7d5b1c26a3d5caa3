//! Conversations: what the user, models, prompts and tools said.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    ConversationSettings, Cost, ItemBody, ItemState, LeftOut, MessageAttachment, ModelRef, ServerInstructions,
    ShownBody, TokenUse, ToolState,
};

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// To refer to it by.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
    /// What is in it, in order: the path from its first item to its head. Other branches are found by `siblings`.
    pub items: Vec<ConversationItem>,
    /// The servers whose words are in it. A model that reads it reads what they said.
    pub sources: Vec<String>,
    /// What the user set for it.
    #[serde(default)]
    pub settings: ConversationSettings,
    /// Whether a model is answering in it.
    #[serde(default)]
    pub answering: bool,
    /// Whether there are items before these.
    #[serde(default)]
    pub has_more: bool,
    /// Text in the composer that is not sent yet.
    #[serde(default)]
    pub draft: String,
}

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationItem {
    /// Unique in its conversation.
    pub id: String,
    /// The item that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Whether it is whole; it is, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub state: Option<ItemState>,
    /// How many `reply_delta` are in it, while it streams: the next one has this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub seq: Option<u64>,
    /// All items that follow the same one, itself among them, in the order in which they came; none if it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub siblings: Option<Vec<String>>,
    /// What it is.
    #[ts(as = "ItemBody")]
    pub body: ShownBody,
    /// Large contents that are not sent along: their places in `body` hold empty texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left_out: Option<Vec<LeftOut>>,
}

/// A message for the model of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SendMessage {
    /// The conversation.
    pub conversation: String,
    /// What the user writes; may be empty if something is attached.
    pub text: String,
    /// What is attached.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// The model that answers from now on; none for the one that the conversation has.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    /// The item that the message follows; none for the head.
    #[serde(default)]
    #[ts(optional)]
    pub parent: Option<String>,
}

/// A message written anew, in a branch of its own. What followed the old one stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EditMessage {
    /// The conversation.
    pub conversation: String,
    /// The message as it was.
    pub item: String,
    /// What the user writes instead.
    pub text: String,
    /// What is attached.
    #[serde(default)]
    pub attachments: Vec<MessageAttachment>,
    /// The model that answers; none for the one that the conversation has.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// An answer to have once more, in a branch of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RetryReply {
    /// The conversation.
    pub conversation: String,
    /// The answer as it was.
    pub item: String,
    /// The model that answers; none for the one that the conversation has.
    #[serde(default)]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

/// What a model begins to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReplyBegun {
    /// The user's message, if there is a new one.
    pub message: Option<String>,
    /// The answer.
    pub reply: String,
}

/// An item of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ItemRef {
    /// The conversation.
    pub conversation: String,
    /// The item.
    pub item: String,
}

/// A draft for a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDraft {
    /// The conversation.
    pub conversation: String,
    /// The text in the composer; empty if there is none.
    pub text: String,
}

/// Settings for a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetConversation {
    /// The conversation.
    pub conversation: String,
    /// All of them.
    pub settings: ConversationSettings,
}

/// The tools of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationTools {
    /// Those of the servers that are turned on, in the order in which they are offered.
    pub tools: Vec<ConversationTool>,
    /// About how many tokens all that can be offered take, by their size (four bytes a token).
    pub tokens: u64,
    /// From how many tokens on tools are found by search instead.
    pub threshold: u64,
    /// Whether they are.
    pub by_search: bool,
    /// What the servers that are turned on want a model to know.
    pub instructions: Vec<ServerInstructions>,
}

/// A tool of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversationTool {
    /// The server.
    pub server: String,
    /// The tool; empty if the server is not in use.
    pub tool: String,
    /// Its name, as the model knows it.
    pub key: String,
    /// About how many tokens it takes.
    pub tokens: u64,
    /// Whether it can be offered.
    pub state: ToolState,
}

/// What a conversation took so far, over all branches.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConversationCost {
    /// The tokens of all answers.
    pub usage: TokenUse,
    /// What they cost, by currency.
    pub costs: Vec<Cost>,
    /// Of how many answers it is not known what they cost, or not all of it, as they were stopped or broke off.
    pub unpriced: u32,
    /// How many tokens the latest request in the branch that is shown, and its answer, took together.
    pub context_used: Option<u64>,
    /// How many the model takes.
    pub context: Option<u64>,
}

/// How a conversation is written to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// The branch that is shown, to read.
    Markdown,
    /// All branches, with everything that is kept.
    Json,
}

/// A conversation to write to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExportConversation {
    /// The conversation.
    pub conversation: String,
    /// How.
    pub format: ExportFormat,
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
