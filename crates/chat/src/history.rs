//! Reads the history for the user: pages of items, large contents, and searches. Used by `api`.

use domain::StoreError;
use domain::history::{self, FoundItem, HistorySearch, ItemRange, OmittedContent};
use domain::item::ChatItem;
use ports::History;

use super::engine::Chat;
use super::{ConversationError, conversation_log};

/// Maximum number of items in a page of a conversation, and of results in a page of a search.
const MAX_ITEMS_PER_PAGE: usize = 200;

/// A conversation item with the ids of its siblings in the conversation's tree.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationTreeItem {
    /// Item as stored in the history.
    pub item: ChatItem,
    /// Identifiers of all items with the same parent, in order of creation, including this one.
    pub siblings: Vec<String>,
    /// Large contents that are replaced by empty strings in `item`. They can be requested by hash.
    pub omitted: Vec<OmittedContent>,
    /// Number of the next delta if a model is writing the item, otherwise `None`.
    pub seq: Option<u64>,
}

impl ConversationTreeItem {
    /// Converts a stored item for the page, or returns `None` if its kind is unknown because a newer version of
    /// Drawbridge wrote it.
    fn from_stored(mut stored: history::StoredHistoryItem) -> Option<Self> {
        let (siblings, omitted) = (std::mem::take(&mut stored.siblings), std::mem::take(&mut stored.omitted));
        Some(Self { item: conversation_log::parse_stored_item(stored)?, siblings, omitted, seq: None })
    }
}

/// A part of the items of one branch of a conversation, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchPage {
    /// Items of this part of the branch, the oldest first.
    pub items: Vec<ConversationTreeItem>,
    /// Set if the branch has items that are older than those in `items`.
    pub has_more: bool,
}

impl BranchPage {
    pub(super) fn from_stored(page: history::ItemPage) -> Self {
        Self {
            items: page.items.into_iter().filter_map(ConversationTreeItem::from_stored).collect(),
            has_more: page.has_more,
        }
    }
}

/// A part of the results of a search in the history, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistorySearchPage {
    /// Items that match the search.
    pub found: Vec<FoundItem>,
    /// Set if there may be search results that are older than those in `found`.
    pub has_more: bool,
}

impl Chat {
    pub(super) async fn with_history<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ConversationError> {
        conversation_log::with_history_blocking(&self.host.ports().history, act).await
    }

    /// Returns a part of the visible branch of a conversation: the newest items, or those before a given item. `None`
    /// if the conversation or item doesn't exist.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be read.
    pub async fn items(
        &self,
        conversation: String,
        before: Option<String>,
        limit: usize,
    ) -> Result<Option<BranchPage>, ConversationError> {
        let range = ItemRange { conversation, before, limit: limit.min(MAX_ITEMS_PER_PAGE), whole: false };
        let page = self.with_history(move |history| history.items(&range)).await?;
        Ok(page.map(BranchPage::from_stored))
    }

    /// Returns an item of a conversation with all of its content.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NotFound`] if the item doesn't exist, and [`ConversationError::Store`] if the
    /// history can't be read.
    pub async fn item(&self, conversation: &str, item: String) -> Result<ChatItem, ConversationError> {
        self.conversation_log(conversation).item(item).await
    }

    /// Returns the bytes of large content, such as an image, by their hash, or `None` if the history has none with this
    /// hash.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be read.
    pub async fn blob(&self, hash: String) -> Result<Option<Vec<u8>>, ConversationError> {
        self.with_history(move |history| history.blob(&hash)).await
    }

    /// Searches the items of all conversations.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Store`] if the history can't be read.
    pub async fn search_history(&self, mut search: HistorySearch) -> Result<HistorySearchPage, ConversationError> {
        search.limit = search.limit.min(MAX_ITEMS_PER_PAGE);
        let limit = search.limit;
        let found = self.with_history(move |history| history.search(&search)).await?;
        let has_more = limit > 0 && found.len() == limit;
        Ok(HistorySearchPage { found, has_more })
    }
}
