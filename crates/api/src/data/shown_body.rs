//! The body of a conversation's item as the page may have it. Items from and to the page have this type, so that none is sent with what
//! only a model's provider reads, and none is kept with it.

use std::ops::Deref;

use domain::item::ItemBody;
use serde::{Deserialize, Serialize};

/// A body without the data that a provider signs and reads back, such as that of its model's thinking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "ItemBody")]
pub struct ShownBody(ItemBody);

impl ShownBody {
    /// The body.
    #[must_use]
    pub fn into_inner(self) -> ItemBody {
        self.0
    }
}

impl From<ItemBody> for ShownBody {
    fn from(body: ItemBody) -> Self {
        Self(body.without_opaque())
    }
}

impl Deref for ShownBody {
    type Target = ItemBody;

    fn deref(&self) -> &ItemBody {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reply() -> Value {
        json!({"kind": "reply", "model": {"provider": "p", "model": "m"}, "parts": [
            {"type": "thinking", "text": "hm", "opaque": "signed"},
            {"type": "tool_use", "id": "1", "key": "k", "server": "s", "tool": "t", "arguments": "{}", "opaque": "signed"}]})
    }

    #[test]
    fn what_only_a_provider_reads_is_not_sent_to_the_page() {
        let body: ItemBody = serde_json::from_value(reply()).unwrap();
        assert!(serde_json::to_string(&body).unwrap().contains("signed"), "the item has it");
        let shown = serde_json::to_string(&ShownBody::from(body)).unwrap();
        assert!(shown.contains("hm") && !shown.contains("signed"), "the page gets the rest: {shown}");
    }

    #[test]
    fn what_only_a_provider_reads_is_not_taken_from_the_page() {
        let shown: ShownBody = serde_json::from_value(reply()).unwrap();
        let kept = serde_json::to_string(&shown.into_inner()).unwrap();
        assert!(kept.contains("hm") && !kept.contains("signed"), "what it sets is dropped: {kept}");
    }
}
