//! Reads the history for the user: pages of items, large contents, and searches. Used by `api`.

use domain::StoreError;
use domain::history::{self, FoundItem, HistorySearch, ItemRange, OmittedContent};
use domain::item::ChatItem;
use ports::History;

use super::engine::Chat;
use super::{ConversationError, conversation_log};

/// Maximum number of items per page, and of search results.
const MAX_ITEMS_PER_PAGE: usize = 200;

/// An item with the ids of its siblings in the conversation's tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeItem {
    /// Item as stored in the history.
    pub item: ChatItem,
    /// Identifiers of all items with the same parent, in order of creation, including this one.
    pub siblings: Vec<String>,
    /// Large contents that are omitted from the item and can be requested by hash. The item contains empty strings in
    /// their places.
    pub omitted: Vec<OmittedContent>,
    /// Sequence number of the next delta if the item is streaming, otherwise `None`.
    pub seq: Option<u64>,
}

impl TreeItem {
    /// Converts a stored item, or returns `None` if its kind is unknown because a newer version wrote it.
    fn from_stored(mut stored: history::StoredItem) -> Option<Self> {
        let (siblings, omitted) = (std::mem::take(&mut stored.siblings), std::mem::take(&mut stored.omitted));
        Some(Self { item: conversation_log::parse_item(stored)?, siblings, omitted, seq: None })
    }
}

/// A page of items of one branch, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchPage {
    /// Items of the page, the oldest first.
    pub items: Vec<TreeItem>,
    /// Set if the branch has older items than this page.
    pub has_more: bool,
}

impl BranchPage {
    pub(super) fn from_stored(page: history::ItemPage) -> Self {
        Self { items: page.items.into_iter().filter_map(TreeItem::from_stored).collect(), has_more: page.has_more }
    }
}

/// A page of search results in the history, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPage {
    /// Items that match the search.
    pub found: Vec<FoundItem>,
    /// Set if there may be older search results.
    pub has_more: bool,
}

impl Chat {
    pub(super) async fn with_history<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ConversationError> {
        conversation_log::with_history_blocking(&self.host.ports().history, act).await
    }

    /// Returns a page of items of the visible branch: the newest ones, or those before a given item. `None` if the
    /// conversation or item doesn't exist.
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

    /// Returns the bytes of large content, such as an image, by its hash, or `None` if it doesn't exist.
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
    pub async fn search_history(&self, mut search: HistorySearch) -> Result<SearchPage, ConversationError> {
        search.limit = search.limit.min(MAX_ITEMS_PER_PAGE);
        let limit = search.limit;
        let found = self.with_history(move |history| history.search(&search)).await?;
        let has_more = limit > 0 && found.len() == limit;
        Ok(SearchPage { found, has_more })
    }
}
