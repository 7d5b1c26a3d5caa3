//! Stored conversations: pages of items, omitted contents, and full-text search.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ConversationItem, FoundItem};

/// Request for a page of a conversation's items.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ItemRange {
    /// Identifier of the conversation, which consists of letters, digits and dashes.
    pub conversation: String,
    /// Identifier of the item that follows the returned items, or `None` to return the last items of the selected
    /// branch.
    pub before: Option<String>,
    /// Maximum number of items to return.
    pub limit: usize,
}

/// Consecutive items of one branch.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ItemPage {
    /// Items in order, oldest first.
    pub items: Vec<ConversationItem>,
    /// `true` if the branch has items that precede `items`.
    pub has_more: bool,
}

/// Reference to large content by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct OmittedDataRef {
    /// SHA-256 of the content, in hexadecimal, as in [`OmittedContent`].
    pub hash: String,
}

/// Large content that was omitted from an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct OmittedData {
    /// Bytes of the large content, encoded in Base64.
    pub data: String,
}

/// Search over all conversations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SearchHistory {
    /// Words that an item must all contain. The last word may be incomplete. Chinese, Japanese and Korean text matches
    /// anywhere in a word.
    pub text: String,
    /// Maximum number of results to return.
    pub limit: usize,
    /// Value of `number` in an earlier result. Only older items are returned. `None` starts with the newest.
    #[serde(default)]
    #[ts(optional)]
    pub before: Option<u64>,
}

/// Search results, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundItems {
    /// Items that match the search.
    pub found: Vec<FoundItem>,
    /// `true` if there may be older results.
    pub has_more: bool,
}
