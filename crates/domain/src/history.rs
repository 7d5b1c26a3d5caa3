//! Stored history of conversations, whose items form a tree. The store treats the bodies of items as opaque JSON,
//! except for the text that it indexes for search and the token usage of replies.

mod read_content;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::{Cost, ItemState, TokenUsage};

pub use read_content::{ReadContent, ReadContentKind};

/// Conversation in the history, without its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Identifier of the conversation: letters, digits and dashes, at most 64 characters.
    pub id: String,
    /// Title of the conversation for display.
    pub title: String,
    /// Time at which the conversation was created, in milliseconds since 1970.
    pub created_at: u64,
    /// Time of the conversation's last change, in milliseconds since 1970.
    pub updated_at: u64,
    /// Identifier of the last item of the visible branch, or `None` if the conversation is empty.
    pub head: Option<String>,
    /// Settings of the conversation (model, system prompt, tools), as a JSON object.
    pub settings: Value,
    /// Number of items in the conversation, over all branches.
    pub items: u64,
    /// Names of the servers whose content the conversation contains, over all branches, in order of first appearance.
    pub sources: Vec<String>,
    /// Records of these servers' content that was read in the conversation, over all branches, in order of first
    /// appearance.
    pub read_contents: Vec<ReadContent>,
}

/// Changes to a conversation. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationChange {
    /// New title of the conversation, or `None` to keep the current one.
    pub title: Option<String>,
    /// New settings of the conversation, as a JSON object, or `None` to keep the current ones.
    pub settings: Option<Value>,
    /// Time of the change, in milliseconds since 1970.
    pub at: u64,
}

/// Item of a conversation, such as a message, a reply or a tool call, as read from the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHistoryItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the preceding item, or `None` if the item has none.
    pub parent: Option<String>,
    /// Time at which the item was created, in milliseconds since 1970.
    pub at: u64,
    /// Body of the item, as JSON.
    pub body: Value,
    /// State of the item: complete, streaming or interrupted.
    pub state: ItemState,
    /// Identifiers of all items with the same parent, including this one, in the order of creation. If there are
    /// several, each starts a branch.
    pub siblings: Vec<String>,
    /// Large contents that the reader of the history requests separately by their hash. In `body` they are replaced by
    /// empty strings.
    pub omitted: Vec<OmittedContent>,
}

/// Large content, such as an image or a long text, that is omitted from the body of a conversation's item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OmittedContent {
    /// Position of the omitted content in the item's body, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// SHA-256 of the content, in hexadecimal, by which a reader requests the content.
    pub hash: String,
    /// Size of the omitted content in bytes.
    pub bytes: u64,
    /// Set if the omitted string is the content itself as UTF-8 text. Otherwise the string is the base64 encoding of
    /// the content.
    pub is_text: bool,
}

/// Item of a conversation, such as a message, a reply or a tool call, to write to the history.
#[derive(Debug, Clone, PartialEq)]
pub struct NewHistoryItem {
    /// Identifier of the item, unique in its conversation. If the item exists, its body and state are replaced, and its
    /// position does not change.
    pub id: String,
    /// Position of the item in the conversation's tree. Ignored if the item exists already.
    pub after: ItemPosition,
    /// Time at which the item was created, in milliseconds since 1970.
    pub at: u64,
    /// Complete body of the item, including all large contents.
    pub body: Value,
    /// State of the item: complete, streaming or interrupted.
    pub state: ItemState,
    /// Names of the servers whose content the item contains.
    pub sources: Vec<String>,
    /// Records of the content from these servers that the item contains.
    pub read_contents: Vec<ReadContent>,
}

/// Position of a new item in the tree of a conversation's items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ItemPosition {
    /// After the last item of the visible branch, which may be an earlier item of the same write.
    #[default]
    Head,
    /// At the beginning of the conversation. If the conversation has a first item already, another branch starts.
    Start,
    /// After the item with this identifier. If that item has a successor already, another branch starts.
    Item(String),
}

/// Request for items of one branch, in which each item is the parent of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRange {
    /// Identifier of the conversation in the history.
    pub conversation: String,
    /// Identifier of the item before which the range ends, or `None` to end with the last item of the visible branch.
    pub before: Option<String>,
    /// Maximum number of items to return. If the branch has more items before the end of the range, the last ones are
    /// returned.
    pub limit: usize,
    /// Set to include images, audio, files and very long texts in the bodies. Otherwise they are
    /// [omitted](StoredHistoryItem::omitted).
    pub whole: bool,
}

/// Page of consecutive items in one branch of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPage {
    /// Items of the page in the order of the branch, oldest first.
    pub items: Vec<StoredHistoryItem>,
    /// Set if the branch has items before this page.
    pub has_more: bool,
}

/// Token usage and cost of all replies in a conversation, including those on branches that are not visible.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationUsage {
    /// Number of tokens, as far as the providers report them.
    pub usage: TokenUsage,
    /// Total cost, with one entry for each currency.
    pub costs: Vec<Cost>,
    /// Number of replies whose cost is unknown or incomplete: their model has no price, or they were stopped or
    /// interrupted before the provider reported the usage.
    pub unpriced: u32,
    /// Number of tokens of the latest request and its reply in the visible branch, or `None` if unknown.
    pub context_used: Option<u64>,
}

/// Full-text search in all conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistorySearch {
    /// Words to search for, of which the last may be incomplete. An item matches if it contains all of them. Chinese,
    /// Japanese and Korean text is matched by substrings.
    pub text: String,
    /// Maximum number of found items to return.
    pub limit: usize,
    /// Value of [`FoundItem::number`] below which items are returned, to request older results. `None` starts with the
    /// newest.
    pub before: Option<u64>,
}

/// Item of a conversation that a full-text search has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundItem {
    /// Sequence number of the item in the order in which items were first written.
    pub number: u64,
    /// Identifier of the conversation in the history.
    pub conversation: String,
    /// Title of the conversation for display.
    pub title: String,
    /// Identifier of the item, unique in its conversation.
    pub item: String,
    /// Time at which the item was written, in milliseconds since 1970.
    pub at: u64,
    /// Excerpt of the item's text around the first match.
    pub excerpt: Excerpt,
}

/// Excerpt of a text, with the matches of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// Plain text of the excerpt, without markup for the matches.
    pub text: String,
    /// Set if the item's text continues before the excerpt.
    pub cut_before: bool,
    /// Set if the item's text continues after the excerpt.
    pub cut_after: bool,
    /// Matches in order, as start and end offsets in `text` in UTF-16 code units, as in JavaScript.
    pub matches: Vec<(u32, u32)>,
}
