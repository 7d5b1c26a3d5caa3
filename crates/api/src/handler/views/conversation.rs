//! Items of conversations: with their place in the tree, and without what only a provider reads.

use chat::PlacedItem;
use domain::item::Item;

use crate::data::*;

/// An item as events tell it: without its place.
pub(super) fn item(item: Item, left_out: Vec<LeftOut>) -> ConversationItem {
    let state = (item.state != ItemState::Whole).then_some(item.state);
    let left_out = (!left_out.is_empty()).then_some(left_out);
    let Item { id, parent, at, body, .. } = item;
    ConversationItem { id, parent, at, state, seq: None, siblings: None, body: body.into(), left_out }
}

/// An item with its place in the tree.
pub(in crate::handler) fn placed_item(placed: PlacedItem) -> ConversationItem {
    let PlacedItem { item, siblings, left_out, seq } = placed;
    let siblings = (siblings.len() > 1).then_some(siblings);
    ConversationItem { seq, siblings, ..self::item(item, left_out) }
}
