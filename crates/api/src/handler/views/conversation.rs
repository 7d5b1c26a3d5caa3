//! Items of conversations: with their place in the tree, and without what only a provider reads.

use domain::history::Item as Kept;
use domain::item::Item;

use crate::data::*;

pub(crate) fn item(item: Item, seq: Option<u64>, siblings: Vec<String>) -> ConversationItem {
    let state = (item.state != ItemState::Whole).then_some(item.state);
    let siblings = (siblings.len() > 1).then_some(siblings);
    let Item { id, parent, at, body, .. } = item;
    ConversationItem { id, parent, at, state, seq, siblings, body: body.into(), left_out: None }
}

/// An item as it is kept. One that a newer version wrote, and this one does not know, is left out of sight; it stays kept.
pub(in crate::handler) fn kept_item(kept: Kept) -> Option<ConversationItem> {
    let Kept { id, parent, at, body, state, siblings, left_out } = kept;
    let own = Item { id, parent, at, state, body: serde_json::from_value(body).ok()? };
    Some(ConversationItem { left_out: self::left_out(left_out), ..item(own, None, siblings) })
}

pub(super) fn left_out(left_out: Vec<LeftOut>) -> Option<Vec<LeftOut>> {
    (!left_out.is_empty()).then_some(left_out)
}
