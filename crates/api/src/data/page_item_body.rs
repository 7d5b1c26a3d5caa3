//! Body of a conversation's item without data that only the model's provider can interpret.
//!
//! Items use this type in both directions between the host and the page, so that such data is neither sent to the page
//! nor accepted from it.

use std::ops::Deref;

use domain::item::ItemBody;
use serde::{Deserialize, Serialize};

/// Body of an item without opaque provider data, such as the signature of a thinking block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "ItemBody")]
pub struct PageItemBody(ItemBody);

impl PageItemBody {
    /// Returns the wrapped body.
    #[must_use]
    pub fn into_inner(self) -> ItemBody {
        self.0
    }
}

impl From<ItemBody> for PageItemBody {
    fn from(body: ItemBody) -> Self {
        Self(body.without_provider_data())
    }
}

impl Deref for PageItemBody {
    type Target = ItemBody;

    fn deref(&self) -> &ItemBody {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reply_item_json() -> Value {
        json!({"kind": "reply", "model": {"provider": "p", "model": "m"}, "parts": [
            {"type": "thinking", "text": "hm", "opaque": "signed"},
            {"type": "tool_use", "id": "1", "key": "k", "server": "s", "tool": "t", "arguments": "{}", "opaque": "signed"}]})
    }

    #[test]
    fn opaque_provider_data_is_not_sent_to_the_page() {
        let body: ItemBody = serde_json::from_value(reply_item_json()).unwrap();
        assert!(serde_json::to_string(&body).unwrap().contains("signed"), "the item should contain the opaque data");
        let shown = serde_json::to_string(&PageItemBody::from(body)).unwrap();
        assert!(shown.contains("hm") && !shown.contains("signed"), "only the opaque data should be removed: {shown}");
    }

    #[test]
    fn opaque_provider_data_from_the_page_is_dropped() {
        let shown: PageItemBody = serde_json::from_value(reply_item_json()).unwrap();
        let encoded = serde_json::to_string(&shown.into_inner()).unwrap();
        assert!(
            encoded.contains("hm") && !encoded.contains("signed"),
            "opaque data from the page should be dropped: {encoded}"
        );
    }
}
