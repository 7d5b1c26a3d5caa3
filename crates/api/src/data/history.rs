//! The history: pages of items, what is left out of them, and the search.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ConversationItem, FoundItem};

/// Which items of a conversation to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ItemRange {
    /// The conversation.
    pub conversation: String,
    /// Only those before this item; none for the last ones of the branch that is shown.
    pub before: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// Some items of one branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ItemPage {
    /// In order, the oldest first.
    pub items: Vec<ConversationItem>,
    /// Whether there are others before them.
    pub has_more: bool,
}

/// Something large, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BlobRef {
    /// Its SHA-256, in hexadecimal.
    pub hash: String,
}

/// Something large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Blob {
    /// Its bytes, in base64.
    pub data: String,
}

/// What to search all conversations for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHistory {
    /// Words; all must be in an item, and the last may be the beginning of one. Chinese, Japanese and Korean are found by any
    /// part.
    pub text: String,
    /// At most so many.
    pub limit: usize,
    /// Only those older than this one: the `number` of an earlier find.
    #[serde(default)]
    #[ts(optional)]
    pub before: Option<u64>,
}

/// What was found, the latest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundItems {
    /// The items.
    pub found: Vec<FoundItem>,
    /// Whether there may be older ones.
    pub has_more: bool,
}
