//! Conversion of conversation items for the page, without provider data.

use chat::ConversationTreeItem;
use domain::item::ChatItem;

use crate::data::*;

/// Converts an item of a conversation to the API type for an event, which has neither its parent nor its siblings.
pub(super) fn conversation_item_view(item: ChatItem, omitted: Vec<OmittedContent>) -> ConversationItem {
    let state = (item.state != ItemState::Whole).then_some(item.state);
    let omitted = (!omitted.is_empty()).then_some(omitted);
    let ChatItem { id, parent, at, body, .. } = item;
    ConversationItem { id, parent, at, state, seq: None, siblings: None, body: body.into(), omitted }
}

/// Converts an item of a conversation to the API type, with the identifiers of its parent and siblings in the tree of
/// branches.
pub(in crate::handler) fn conversation_tree_item_view(placed: ConversationTreeItem) -> ConversationItem {
    let ConversationTreeItem { item, siblings, omitted, seq } = placed;
    let siblings = (siblings.len() > 1).then_some(siblings);
    ConversationItem { seq, siblings, ..self::conversation_item_view(item, omitted) }
}
