//! Commands for conversations: list, create, read, search, append, rename and delete.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chat::OpenedConversation;
use domain::history::HistorySearch;
use domain::item::ChatItem;

use super::{Api, errors, views};
use crate::ApiError;
use crate::data::*;

pub(crate) async fn conversation_summaries(api: &Api) -> Result<Vec<ConversationSummary>, ApiError> {
    let list = api.chat.conversations().await?;
    Ok(list.into_iter().map(|(id, title, updated_at)| ConversationSummary { id, title, updated_at }).collect())
}

pub(super) async fn create_conversation(api: &Api, title: &str) -> Result<Conversation, ApiError> {
    Ok(conversation_view(api.chat.create_conversation(title).await?))
}

pub(super) async fn read_conversation(api: &Api, id: String) -> Result<Conversation, ApiError> {
    let found = api.chat.conversation(id).await?;
    found.map(conversation_view).ok_or_else(|| errors::not_found_error("this conversation"))
}

pub(super) async fn set_draft(api: &Api, r: SetDraft) -> Result<EmptyObject, ApiError> {
    api.chat.set_draft(r.conversation, r.text).await?;
    Ok(EmptyObject {})
}

pub(super) async fn append_items(api: &Api, r: AppendItems) -> Result<EmptyObject, ApiError> {
    api.chat.append_items(r.conversation, r.items.into_iter().map(to_chat_item).collect()).await?;
    Ok(EmptyObject {})
}

pub(super) async fn rename_conversation(api: &Api, r: RenameConversation) -> Result<EmptyObject, ApiError> {
    let is_there = api.chat.rename_conversation(r.conversation, &r.title).await?;
    if is_there { Ok(EmptyObject {}) } else { Err(errors::not_found_error("this conversation")) }
}

pub(super) async fn delete_conversation(api: &Api, id: String) -> Result<EmptyObject, ApiError> {
    api.chat.delete_conversation(id).await?;
    Ok(EmptyObject {})
}

pub(super) async fn read_conversation_items(api: &Api, r: ItemRange) -> Result<ItemPage, ApiError> {
    let page = api.chat.items(r.conversation, r.before, r.limit).await?;
    let page = page.ok_or_else(|| errors::not_found_error("this item"))?;
    Ok(ItemPage {
        items: page.items.into_iter().map(views::conversation_tree_item_view).collect(),
        has_more: page.has_more,
    })
}

pub(super) async fn read_omitted_content(api: &Api, hash: String) -> Result<OmittedData, ApiError> {
    let bytes = api.chat.blob(hash).await?.ok_or_else(|| errors::not_found_error("this content"))?;
    Ok(OmittedData { data: BASE64_STANDARD.encode(bytes) })
}

pub(super) async fn search_history(api: &Api, r: SearchHistory) -> Result<FoundItems, ApiError> {
    let page = api.chat.search_history(HistorySearch { text: r.text, limit: r.limit, before: r.before }).await?;
    Ok(FoundItems { found: page.found, has_more: page.has_more })
}

fn conversation_view(open: OpenedConversation) -> Conversation {
    Conversation {
        id: open.conversation.id,
        title: open.conversation.title,
        updated_at: open.conversation.updated_at,
        items: open.page.items.into_iter().map(views::conversation_tree_item_view).collect(),
        sources: open.sources,
        settings: open.settings,
        answering: open.answering,
        has_more: open.page.has_more,
        draft: open.draft,
    }
}

/// Converts a conversation's item that the page sent to an item for the history. The converted item always has the
/// state "complete".
fn to_chat_item(item: ConversationItem) -> ChatItem {
    let ConversationItem { id, parent, at, body, .. } = item;
    ChatItem { id, parent, at, state: ItemState::Whole, body: body.into_inner() }
}
