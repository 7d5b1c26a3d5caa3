//! The history as it is kept: conversations, and items that form a tree. What an item's body says is not looked into, but for
//! the words that a search finds, and what answers of models took.

mod reading;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::item::{Cost, ItemState, TokenUse};

pub use reading::{Reading, ReadingKind};

/// A conversation, without its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// To refer to it by: letters, digits and dashes, at most 64.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it began, in milliseconds since 1970.
    pub created_at: u64,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
    /// The last item of the branch that is shown; none while it is empty.
    pub head: Option<String>,
    /// What was chosen for it (a model, a system prompt, tools), as JSON. An object.
    pub settings: Value,
    /// How many items it has, over all branches.
    pub items: u64,
    /// The servers whose words are in it, over all branches, in the order in which they came.
    pub sources: Vec<String>,
    /// What was read from them, over all branches, in the order in which it came.
    pub readings: Vec<Reading>,
}

/// What of a conversation is to change. What is none stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConversationChange {
    /// Its title from now on.
    pub title: Option<String>,
    /// What is chosen for it from now on.
    pub settings: Option<Value>,
    /// The time of the change, in milliseconds since 1970.
    pub at: u64,
}

/// An item as it comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Unique in its conversation.
    pub id: String,
    /// The item it comes after; none for a first one.
    pub parent: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it is.
    pub body: Value,
    /// How far it came.
    pub state: ItemState,
    /// All items that come after the same one, this one too, the oldest first: where there are several, these are branches.
    pub siblings: Vec<String>,
    /// Large contents that were asked for by reference only; their place in `body` holds an empty text.
    pub left_out: Vec<LeftOut>,
}

/// Something large that stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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

/// An item to write.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// Unique in its conversation. With the id of one that is there, that one gets this body and state, and stays where it is.
    pub id: String,
    /// What it comes after.
    pub after: After,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What it is, whole: with all its bytes in it.
    pub body: Value,
    /// How far it came.
    pub state: ItemState,
    /// The servers whose words are in it.
    pub sources: Vec<String>,
    /// What of them was read for it.
    pub readings: Vec<Reading>,
}

/// What a new item comes after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum After {
    /// The last item of the branch that is shown, which may be an item written with this one.
    #[default]
    Head,
    /// Nothing: it is a first one, and another branch where there is one already.
    Start,
    /// This item. Another branch, where that has one after it already.
    Item(String),
}

/// Which items to read. All are of one branch: each comes after the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRange {
    /// The conversation.
    pub conversation: String,
    /// Only those before this item, which is not among them; without, those up to the head.
    pub before: Option<String>,
    /// At most so many: the last ones.
    pub limit: usize,
    /// Whether large pictures, sound, files and very long texts come with them, or only [where they stand](Item::left_out).
    pub whole: bool,
}

/// Items of one branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemPage {
    /// In order, the oldest first.
    pub items: Vec<Item>,
    /// Whether there are others before them.
    pub has_more: bool,
}

/// What the answers of models in a conversation took, over all branches: what was spent was spent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taken {
    /// The tokens, as far as providers say.
    pub usage: TokenUse,
    /// What they cost, by currency.
    pub costs: Vec<Cost>,
    /// Of how many answers it is not known what they cost, or not all of it: those without a price, and those that were stopped or
    /// broke off, of which providers do not say what they took.
    pub unpriced: u32,
    /// How many tokens the latest request in the branch that is shown, and its answer, took together.
    pub context_used: Option<u64>,
}

/// What to search for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistorySearch {
    /// Words; the last may be the beginning of one. All must be in an item. Chinese, Japanese and Korean are found
    /// by any part.
    pub text: String,
    /// At most so many.
    pub limit: usize,
    /// Only those older than this one: the `number` of an earlier find.
    pub before: Option<u64>,
}

/// An item that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundItem {
    /// Grows with each item that is written first; to ask for older ones by.
    pub number: u64,
    /// The conversation.
    pub conversation: String,
    /// Its title.
    pub title: String,
    /// The item.
    pub item: String,
    /// When the item was written, in milliseconds since 1970.
    pub at: u64,
    /// Some of its text around the first match.
    pub excerpt: Excerpt,
}

/// Some text, and what in it was searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// The text.
    pub text: String,
    /// Whether there is more before it.
    pub cut_before: bool,
    /// Whether there is more after it.
    pub cut_after: bool,
    /// The matches in order, as begin and end in UTF-16 units of `text`, which is how the page counts.
    pub matches: Vec<(u32, u32)>,
}
