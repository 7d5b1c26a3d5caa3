//! Reads of the history for the user: pages of items, large contents, and the search. Caller: `api`.

use domain::StoreError;
use domain::history::{self, FoundItem, HistorySearch, ItemRange, LeftOut};
use domain::item::Item;
use ports::History;

use super::engine::Chat;
use super::{ConversationError, log};

/// The most items of a page, and of the finds of a search.
const MAX_PAGE: usize = 200;

/// An item with its place in the tree of its conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedItem {
    /// The item.
    pub item: Item,
    /// All items that follow the same one, in the order in which they came, this one among them.
    pub siblings: Vec<String>,
    /// Large contents that are read by their hash; their places hold empty texts.
    pub left_out: Vec<LeftOut>,
    /// The number of the next piece, while the item streams.
    pub seq: Option<u64>,
}

impl PlacedItem {
    /// An item as it was read; none if a newer version wrote it, and this one does not know its kind.
    fn read(mut kept: history::Item) -> Option<Self> {
        let (siblings, left_out) = (std::mem::take(&mut kept.siblings), std::mem::take(&mut kept.left_out));
        Some(Self { item: log::read(kept)?, siblings, left_out, seq: None })
    }
}

/// Items of one branch, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlacedItems {
    /// The items.
    pub items: Vec<PlacedItem>,
    /// True if there are others before them.
    pub has_more: bool,
}

impl PlacedItems {
    pub(super) fn read(page: history::ItemPage) -> Self {
        Self { items: page.items.into_iter().filter_map(PlacedItem::read).collect(), has_more: page.has_more }
    }
}

/// Items that a search found, the latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundPage {
    /// The items.
    pub found: Vec<FoundItem>,
    /// True if there may be older ones.
    pub has_more: bool,
}

impl Chat {
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn History) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ConversationError> {
        log::on_disk(&self.host.ports().history, act).await
    }

    /// Some items of the branch that is shown, or of the one before an item. None if there is no such conversation or item.
    ///
    /// # Errors
    /// If the history can't be read.
    pub async fn items(
        &self,
        conversation: String,
        before: Option<String>,
        limit: usize,
    ) -> Result<Option<PlacedItems>, ConversationError> {
        let range = ItemRange { conversation, before, limit: limit.min(MAX_PAGE), whole: false };
        let page = self.on_disk(move |history| history.items(&range)).await?;
        Ok(page.map(PlacedItems::read))
    }

    /// The bytes of a large content by its hash. None if there is none.
    ///
    /// # Errors
    /// If the history can't be read.
    pub async fn blob(&self, hash: String) -> Result<Option<Vec<u8>>, ConversationError> {
        self.on_disk(move |history| history.blob(&hash)).await
    }

    /// Searches all conversations.
    ///
    /// # Errors
    /// If the history can't be read.
    pub async fn search_history(&self, mut search: HistorySearch) -> Result<FoundPage, ConversationError> {
        search.limit = search.limit.min(MAX_PAGE);
        let limit = search.limit;
        let found = self.on_disk(move |history| history.search(&search)).await?;
        let has_more = limit > 0 && found.len() == limit;
        Ok(FoundPage { found, has_more })
    }
}
