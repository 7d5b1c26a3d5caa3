//! Conversations: what the user, models, prompts and tools said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, ModelProblem, ResourceContents, Role, ToolResult};

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
}

/// What the user set for a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct ConversationSettings {
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// How it should behave, in the user's words; may be empty.
    pub system_prompt: String,
    /// The servers whose tools it may use, in the order in which they are offered. None is until the user turns it on.
    pub servers: Vec<OfferedServer>,
    /// Whether it is told which folders these servers may know of.
    pub share_roots: bool,
    /// Whether it should think before it answers, where it can.
    pub thinking: bool,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ModelRef {
    /// The provider's id in the settings.
    pub provider: String,
    /// The model's id, as the provider names it.
    pub model: String,
}

/// A server whose tools a model may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfferedServer {
    /// The server.
    pub server: String,
    /// Those of its tools; none stands for all that the user has reviewed.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The hash of the server's instructions as the user saw them when they let the model have them, as data with their source
    /// named; none if it does not get them. Others than these it does not get.
    #[serde(default)]
    pub instructions: Option<String>,
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
    pub body: ItemBody,
    /// Large contents that are not sent along: their places in `body` hold empty texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub left_out: Option<Vec<LeftOut>>,
}

impl ConversationItem {
    /// A whole one that follows the last.
    #[must_use]
    pub const fn new(id: String, at: u64, body: ItemBody) -> Self {
        Self { id, parent: None, at, state: None, seq: None, siblings: None, body, left_out: None }
    }
}

/// Something large that stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Where in the body, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The SHA-256 of the bytes, in hexadecimal: what to ask for them by.
    pub hash: String,
    /// How many bytes.
    pub bytes: u64,
    /// Whether the bytes are the text that would stand there, in UTF-8. Else it would stand there in base64.
    pub is_text: bool,
}

/// Whether an item is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// It is.
    Whole,
    /// It still comes.
    Streaming,
    /// It ended before it was.
    Cut,
}

/// What a thing in a conversation is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ItemBody {
    /// Something said by the user, or part of a prompt.
    Message {
        /// By whom.
        role: Role,
        /// What.
        content: Vec<Content>,
        /// The prompt it came from.
        prompt: Option<PromptOrigin>,
        /// What the user attached to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        attachments: Option<Vec<MessageAttachment>>,
    },
    /// What a model answered in one go. The calls that it asked for follow as items of their own.
    Reply {
        /// The model.
        model: ModelRef,
        /// What it is made of, in order.
        parts: Vec<ReplyPart>,
        /// Why it ended; none while it streams, or if it was cut.
        stop: Option<ReplyStop>,
        /// The tokens that it took, as far as the provider says.
        usage: TokenUse,
        /// What it cost, where the price is known.
        cost: Option<Cost>,
        /// Why it failed.
        error: Option<ModelProblem>,
        /// What of the request the provider could not carry as it was, and what was done about it, in words.
        #[serde(default)]
        conversions: Vec<String>,
        /// How long the first piece took to come, in milliseconds.
        first_after: Option<u64>,
        /// How long it took in all, in milliseconds.
        took: u64,
    },
    /// A tool call: of the user, or with `used` of a model. It streams while it is under way.
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
        /// Where a model asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        used: Option<ToolUsed>,
        /// How many bytes of the result's text the model did not get, as it was too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        left_out: Option<u64>,
    },
    /// A model used a tool of Drawbridge itself, to find tools or to read on in a long result. Nothing crossed.
    OwnTool {
        /// Where the model asked for it; the key is the tool's name: `search_tools` or `read_result`.
        used: ToolUsed,
        /// What it asked.
        arguments: Value,
        /// What it was told.
        text: String,
        /// The tools that were found.
        #[serde(default)]
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
    /// A resource attached by the user by itself.
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

/// What the user attached to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
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
    },
    /// A call that it asks for.
    ToolUse {
        /// The use's id, which the call names.
        id: String,
        /// The tool's name, as the model knows it.
        key: String,
        /// The server; none of Drawbridge's own tools, or of one that there is not.
        server: Option<String>,
        /// The tool, as the server knows it.
        tool: Option<String>,
        /// The arguments, as JSON text: it may break off while it streams.
        arguments: String,
    },
}

/// More of an answer that streams. `part` is the place among the reply's parts; a part that is not there yet begins with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Append {
    /// Text to append.
    Text {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
    /// Thinking to append.
    Thinking {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
    /// A call that the model begins to ask for.
    ToolUse {
        /// This part.
        part: usize,
        /// The use's id.
        id: String,
        /// The tool's name, as the model knows it.
        key: String,
        /// The server.
        server: Option<String>,
        /// The tool.
        tool: Option<String>,
    },
    /// Arguments to append, as JSON text.
    Arguments {
        /// To this part.
        part: usize,
        /// The text.
        text: String,
    },
}

/// Why a model's answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
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

/// Tokens that were used. What a provider does not say is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct TokenUse {
    /// Of the request, those from the provider's cache included.
    pub input: Option<u64>,
    /// Of the answer, thinking included.
    pub output: Option<u64>,
    /// Of the request, those that came from the provider's cache.
    pub cached_input: Option<u64>,
    /// Of the answer, those of thinking.
    pub thinking: Option<u64>,
}

/// What something cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Cost {
    /// How much, in the currency's units.
    pub amount: f64,
    /// The currency, such as `USD`.
    pub currency: String,
}

/// Where a model asked for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolUsed {
    /// The item with the model's answer.
    pub reply: String,
    /// The use's id in it.
    pub id: String,
    /// The tool's name, as the model knows it.
    pub key: String,
}

/// A tool that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FoundTool {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Its name, as the model knows it.
    pub key: String,
}

/// What Drawbridge says to the user in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Notice {
    /// The model called tools so many times in a row; it goes on with `continue_reply`.
    Rounds {
        /// How many times.
        rounds: u32,
    },
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

/// What a server wants a model to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ServerInstructions {
    /// The server.
    pub server: String,
    /// As a model would get it.
    pub text: String,
    /// By which the user says that a model gets it.
    pub hash: String,
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

/// Whether a tool can be offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It is.
    Offered,
    /// The user turned it off for this conversation.
    Off,
    /// The user has not reviewed it.
    New,
    /// It changed since the user reviewed it.
    Changed,
    /// Its definition can't be read, or another tool has the same name for the model.
    Unusable,
    /// Its server is not in use.
    NotReady,
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
