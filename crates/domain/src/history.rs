//! The stored history: conversations, and their items, which form a tree. Item bodies are opaque, except for the text
//! that is indexed for search and the usage of models' replies.

mod reading;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::{Cost, ItemState, TokenUsage};

pub use reading::{Reading, ReadingKind};

/// A conversation, without its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Identifier of the conversation: letters, digits and dashes, at most 64 characters.
    pub id: String,
    /// Title of the conversation.
    pub title: String,
    /// Time of creation, in milliseconds since 1970.
    pub created_at: u64,
    /// Time of the last change, in milliseconds since 1970.
    pub updated_at: u64,
    /// Identifier of the last item of the visible branch, or `None` if the conversation is empty.
    pub head: Option<String>,
    /// Settings of the conversation (model, system prompt, tools), as a JSON object.
    pub settings: Value,
    /// Number of items over all branches.
    pub items: u64,
    /// Servers with content in the conversation, over all branches, in order of first appearance.
    pub sources: Vec<String>,
    /// Content read from these servers, over all branches, in order of first appearance.
    pub readings: Vec<Reading>,
}

/// Changes to a conversation. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationChange {
    /// New title of the conversation.
    pub title: Option<String>,
    /// New settings of the conversation, as a JSON object.
    pub settings: Option<Value>,
    /// Time of the change, in milliseconds since 1970.
    pub at: u64,
}

/// A stored item, as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    /// Identifier of the item, unique in its conversation.
    pub id: String,
    /// Identifier of the preceding item, or `None` for a first item.
    pub parent: Option<String>,
    /// Time of creation, in milliseconds since 1970.
    pub at: u64,
    /// Body of the item, as JSON.
    pub body: Value,
    /// Completeness of the item.
    pub state: ItemState,
    /// Identifiers of all items with the same parent, including this one, oldest first. Several siblings are the starts
    /// of branches.
    pub siblings: Vec<String>,
    /// Large contents that were requested by reference only. `body` contains an empty string in their place.
    pub left_out: Vec<OmittedContent>,
}

/// A large content that is omitted from an item's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OmittedContent {
    /// Position in the body, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// SHA-256 of the bytes, in hexadecimal. It is the key to request them.
    pub hash: String,
    /// Number of omitted bytes.
    pub bytes: u64,
    /// Set if the bytes are the UTF-8 text of the omitted string. Otherwise the string is their base64 encoding.
    pub is_text: bool,
}

/// An item to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// Identifier of the item, unique in its conversation. If an item with this id exists, its body and state are
    /// replaced, and its position stays.
    pub id: String,
    /// Position of the item in the tree. Ignored if the item exists.
    pub after: ItemPosition,
    /// Time of creation, in milliseconds since 1970.
    pub at: u64,
    /// Complete body, including all large contents.
    pub body: Value,
    /// Completeness of the item.
    pub state: ItemState,
    /// Servers with content in the item.
    pub sources: Vec<String>,
    /// Content of these servers that was read for the item.
    pub readings: Vec<Reading>,
}

/// Position of a new item in the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ItemPosition {
    /// After the last item of the visible branch, which may be an item of the same write.
    #[default]
    Head,
    /// At the beginning of the conversation. Starts another branch if there is a first item already.
    Start,
    /// After the item with this id. Starts another branch if that item has a successor already.
    Item(String),
}

/// A range of items to read. All are of one branch: each is the parent of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRange {
    /// Identifier of the conversation.
    pub conversation: String,
    /// Exclusive end of the range, or `None` to read up to the head.
    pub before: Option<String>,
    /// Maximum number of items. The last ones of the range are returned.
    pub limit: usize,
    /// Set to include large images, audio, files and very long texts in the bodies. Otherwise they are
    /// [omitted](StoredItem::left_out).
    pub whole: bool,
}

/// A page of items of one branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPage {
    /// Items of the page, oldest first.
    pub items: Vec<StoredItem>,
    /// Set if the branch has items before this page.
    pub has_more: bool,
}

/// Usage of all models' replies in a conversation, over all branches, since replies on hidden branches were paid for,
/// too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationUsage {
    /// Number of tokens, as far as providers report it.
    pub usage: TokenUsage,
    /// Cost of the replies, one entry for each currency.
    pub costs: Vec<Cost>,
    /// Number of replies with an unknown or incomplete cost: those without a price, and those that were stopped or
    /// interrupted, for which providers report no usage.
    pub unpriced: u32,
    /// Tokens of the latest request in the visible branch and its reply, or `None` if unknown.
    pub context_used: Option<u64>,
}

/// A search in the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistorySearch {
    /// Words to search for; the last may be the prefix of a word. An item matches if it contains all of them. Chinese,
    /// Japanese and Korean text is matched by substrings.
    pub text: String,
    /// Maximum number of items to return.
    pub limit: usize,
    /// Exclusive upper bound on [`FoundItem::number`], to request older results.
    pub before: Option<u64>,
}

/// An item found by a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundItem {
    /// Sequence number of the item in order of its first write. Used to request older results.
    pub number: u64,
    /// Identifier of the conversation.
    pub conversation: String,
    /// Title of the conversation.
    pub title: String,
    /// Identifier of the item.
    pub item: String,
    /// Time at which the item was written, in milliseconds since 1970.
    pub at: u64,
    /// Excerpt of the item's text around the first match.
    pub excerpt: Excerpt,
}

/// An excerpt of a text, with the matches of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// Text of the excerpt.
    pub text: String,
    /// Set if the text continues before the excerpt.
    pub cut_before: bool,
    /// Set if the text continues after the excerpt.
    pub cut_after: bool,
    /// Matches in order, as start and end offsets in UTF-16 code units of `text`, which are the page's string offsets.
    pub matches: Vec<(u32, u32)>,
}
