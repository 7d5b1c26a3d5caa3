//! The history: pages of items, what is left out of them, and the search.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::history::{self, HistorySearch};

use super::{Api, errors, views};
use crate::ApiError;
use crate::data::*;

/// The most items of a page, and of the finds of a search.
const MAX_PAGE: usize = 200;

impl Api {
    pub(super) async fn items(&self, r: ItemRange) -> Result<ItemPage, ApiError> {
        let ItemRange { conversation, before, limit } = r;
        let range = history::ItemRange { conversation, before, limit: limit.min(MAX_PAGE), whole: false };
        let page = self.on_disk(move |port| port.items(&range)).await?;
        let page = page.ok_or_else(|| errors::not_found("this item"))?;
        let items = page.items.into_iter().filter_map(views::kept_item).collect();
        Ok(ItemPage { items, has_more: page.has_more })
    }

    pub(super) async fn blob(&self, hash: String) -> Result<Blob, ApiError> {
        let bytes = self.on_disk(move |port| port.blob(&hash)).await?;
        let bytes = bytes.ok_or_else(|| errors::not_found("this content"))?;
        Ok(Blob { data: BASE64_STANDARD.encode(bytes) })
    }

    pub(super) async fn search_history(&self, r: SearchHistory) -> Result<FoundItems, ApiError> {
        let limit = r.limit.min(MAX_PAGE);
        let search = HistorySearch { text: r.text, limit, before: r.before };
        let found = self.on_disk(move |port| port.search(&search)).await?;
        let has_more = limit > 0 && found.len() == limit;
        Ok(FoundItems { found, has_more })
    }
}
