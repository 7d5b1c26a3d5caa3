//! Writes conversations and their items.

use crate::history::item_text::searchable_text;
use domain::history::{Conversation, ItemPosition, NewHistoryItem};
use domain::item::ItemState;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::extracted_content::{ExtractedContent, extract_large_values};
use super::{
    encryption::BLOB_ENCRYPTION_PURPOSE, history_tables, history_tables::u64_to_sql_integer, read_contents,
    read_contents_mac,
};
use crate::content_key::{self, ContentKey};

/// Maximum number of items of a conversation, over all branches.
const MAX_CONVERSATION_ITEMS: i64 = 100_000;
/// Maximum length of an item ID, in bytes.
const MAX_ITEM_ID_BYTES: usize = 200;

/// Value of the column `item.state` for an item whose body is complete.
const ITEM_STATE_COMPLETE: i64 = 0;
/// Value of the column `item.state` for an item that is still being received.
pub(super) const ITEM_STATE_STREAMING: i64 = 1;
/// Value of the column `item.state` for an item that was interrupted before it was complete.
pub(super) const ITEM_STATE_INTERRUPTED: i64 = 2;

/// Creates a conversation. Returns `false` if a conversation with its ID exists.
pub(super) fn insert_conversation(connection: &Connection, conversation: &Conversation) -> rusqlite::Result<bool> {
    // The number of a deleted conversation must not be reused while items with it remain.
    let sql = "INSERT OR IGNORE INTO conversation (number, id, title, created_at, updated_at, head, settings, items) \
        VALUES (1 + max((SELECT coalesce(max(number), 0) FROM conversation), \
            (SELECT coalesce(max(conversation), 0) FROM gone)), ?1, encrypted('title', ?2), ?3, ?4, NULL, \
            encrypted('settings', ?5), 0)";
    let Conversation { id, title, created_at, updated_at, settings, .. } = conversation;
    let settings = if settings.is_null() { "{}".to_owned() } else { settings.to_string() };
    let values = params![id, title, u64_to_sql_integer(*created_at), u64_to_sql_integer(*updated_at), settings];
    Ok(connection.prepare_cached(sql)?.execute(values)? == 1)
}

/// Returns the number that represents an item's state in the database.
const fn item_state_number(state: ItemState) -> i64 {
    match state {
        ItemState::Whole => ITEM_STATE_COMPLETE,
        ItemState::Streaming => ITEM_STATE_STREAMING,
        ItemState::Cut => ITEM_STATE_INTERRUPTED,
    }
}

/// Returns the item state that a number in the database represents.
pub(super) const fn item_state_from_number(number: i64) -> ItemState {
    match number {
        ITEM_STATE_COMPLETE => ItemState::Whole,
        ITEM_STATE_STREAMING => ItemState::Streaming,
        _ => ItemState::Cut,
    }
}

/// The reason why items can't be written to a conversation.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteRefusal {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error("the item {0:?} comes after {1:?}, which is not in this conversation")]
    MissingParent(String, String),
    #[error("a conversation holds at most {MAX_CONVERSATION_ITEMS} items; start another one")]
    TooMany,
    #[error(
        "{0:?} is not the id of an item: 1 to {MAX_ITEM_ID_BYTES} characters without control characters were expected"
    )]
    InvalidId(String),
    #[error("the item {0:?} can't be written as JSON: {1}")]
    Json(String, serde_json::Error),
}

/// Prepares the items' bodies for writing. Called before the transaction starts, because it takes time.
pub(super) fn encode_bodies(items: &[NewHistoryItem]) -> Result<Vec<EncodedItemBody>, WriteRefusal> {
    items.iter().map(EncodedItemBody::encode).collect()
}

/// Writes items with their [encoded bodies](encode_bodies). Returns `false` if the conversation does not exist.
/// `writer` is the name of this process and is required if an item is streaming. `key` is the key with which the file
/// is encrypted, if it is.
pub(super) fn write_items(
    connection: &Connection,
    conversation: &str,
    (items, bodies): (&[NewHistoryItem], &[EncodedItemBody]),
    writer: Option<&str>,
    key: Option<&ContentKey>,
) -> Result<bool, WriteRefusal> {
    let Some((conversation, mut head)) = history_tables::conversation_and_head_row_numbers(connection, conversation)?
    else {
        return Ok(false);
    };
    let seal = match key {
        Some(key) if requires_new_read_contents_mac(connection, conversation, items)? => Some(key),
        _ => None,
    };
    if let Some(key) = seal
        && !read_contents_mac::verify_read_contents_mac(connection, conversation, key)?
    {
        read_contents_mac::rebuild_read_contents(connection, conversation)?;
    }
    let mut made = 0;
    for (item, body) in items.iter().zip(bodies) {
        let number = if let Some(number) = history_tables::item_row_number(connection, conversation, &item.id)? {
            replace_item(connection, number, item, body, writer)?;
            number
        } else {
            let parent = match &item.after {
                ItemPosition::Head => head,
                ItemPosition::Start => None,
                ItemPosition::Item(id) => match history_tables::item_row_number(connection, conversation, id)? {
                    None => return Err(WriteRefusal::MissingParent(item.id.clone(), id.clone())),
                    found => found,
                },
            };
            made += 1;
            let number = insert_item(connection, conversation, parent, item, body, writer)?;
            head = Some(number);
            number
        };
        body.store_large_values(connection, number, key)?;
        if let Some(text) = &body.search_text {
            history_tables::set_indexed_text(connection, number, text)?;
        }
        for server in &item.sources {
            add_source_server(connection, conversation, server)?;
        }
        for content in &item.read_contents {
            read_contents::add_read_content(connection, conversation, content)?;
        }
    }
    let at = items.iter().map(|item| u64_to_sql_integer(item.at)).max().unwrap_or(0);
    let sql = "UPDATE conversation SET head = ?2, items = items + ?3, updated_at = max(updated_at, ?4) WHERE number = ?1 \
        RETURNING items";
    let count: i64 =
        connection.prepare_cached(sql)?.query_row(params![conversation, head, made, at], |row| row.get(0))?;
    if made > 0 && count > MAX_CONVERSATION_ITEMS {
        return Err(WriteRefusal::TooMany);
    }
    if let Some(key) = seal {
        read_contents_mac::write_read_contents_mac(connection, conversation, key)?;
    }
    Ok(true)
}

/// Returns `true` if an item is new or has sources or read contents, so that the MAC over those of the conversation
/// must be renewed. Returns `false` when only a streaming reply is updated, which happens often.
fn requires_new_read_contents_mac(
    connection: &Connection,
    conversation: i64,
    items: &[NewHistoryItem],
) -> rusqlite::Result<bool> {
    for item in items {
        let has_marks = !item.sources.is_empty() || !item.read_contents.is_empty();
        if has_marks || history_tables::item_row_number(connection, conversation, &item.id)?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An item's body in the form in which the database stores it.
pub(super) struct EncodedItemBody {
    json: String,
    extracted: Vec<ExtractedContent>,
    /// Searchable text of the item, or `None` while the item is streaming.
    search_text: Option<String>,
}

impl EncodedItemBody {
    fn encode(item: &NewHistoryItem) -> Result<Self, WriteRefusal> {
        let is_id = !item.id.is_empty() && item.id.len() <= MAX_ITEM_ID_BYTES && !item.id.contains(char::is_control);
        if !is_id {
            return Err(WriteRefusal::InvalidId(item.id.chars().take(MAX_ITEM_ID_BYTES).collect()));
        }
        // A streaming item is rewritten often. Its large values are extracted when it is complete.
        let (light, extracted) =
            if item.state == ItemState::Streaming { (None, Vec::new()) } else { split_large_values(&item.body) };
        let json = serde_json::to_string(light.as_ref().unwrap_or(&item.body));
        let json = json.map_err(|error| WriteRefusal::Json(item.id.clone(), error))?;
        let search_text = (item.state != ItemState::Streaming).then(|| searchable_text(&item.body));
        Ok(Self { json, extracted, search_text })
    }

    /// Stores the large values that were extracted from the item's body.
    fn store_large_values(&self, connection: &Connection, item: i64, key: Option<&ContentKey>) -> rusqlite::Result<()> {
        for ExtractedContent { pointer, hash, bytes, base64 } in &self.extracted {
            let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            let name = key.map_or(*hash, |key| key.keyed_hash(hash));
            let is_new = connection.prepare_cached("SELECT 1 FROM blob WHERE hash = ?1")?.query_row([name], |_| Ok(()));
            if is_new.optional()?.is_none() {
                let encrypted = key
                    .map(|key| key.encrypt(BLOB_ENCRYPTION_PURPOSE, bytes))
                    .transpose()
                    .map_err(content_key::sql_cipher_error)?;
                let sql = "INSERT INTO blob (hash, size, bytes, encrypted) VALUES (?1, ?2, ?3, ?4)";
                let stored = encrypted.as_ref().unwrap_or(bytes);
                connection.prepare_cached(sql)?.execute(params![name, size, stored, encrypted.is_some()])?;
            }
            let sql = "INSERT INTO large (item, pointer, blob, base64) \
                SELECT ?1, encrypted('pointer', ?2), number, ?4 FROM blob WHERE hash = ?3";
            connection.prepare_cached(sql)?.execute(params![item, pointer, name, base64])?;
        }
        Ok(())
    }
}

fn split_large_values(body: &serde_json::Value) -> (Option<serde_json::Value>, Vec<ExtractedContent>) {
    let (light, extracted) = extract_large_values(body);
    (Some(light), extracted)
}

fn insert_item(
    connection: &Connection,
    conversation: i64,
    parent: Option<i64>,
    item: &NewHistoryItem,
    body: &EncodedItemBody,
    writer: Option<&str>,
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO item (conversation, id, parent, at, state, writer, body) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, encrypted('body', ?7))";
    let writer = writer.filter(|_| item.state == ItemState::Streaming);
    let values = params![
        conversation,
        item.id,
        parent,
        u64_to_sql_integer(item.at),
        item_state_number(item.state),
        writer,
        body.json
    ];
    connection.prepare_cached(sql)?.insert(values)
}

fn replace_item(
    connection: &Connection,
    number: i64,
    item: &NewHistoryItem,
    body: &EncodedItemBody,
    writer: Option<&str>,
) -> rusqlite::Result<()> {
    history_tables::release_item_blobs(connection, number)?;
    let sql = "UPDATE item SET at = ?2, state = ?3, writer = ?4, body = encrypted('body', ?5) WHERE number = ?1";
    let writer = writer.filter(|_| item.state == ItemState::Streaming);
    let values = params![number, u64_to_sql_integer(item.at), item_state_number(item.state), writer, body.json];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

pub(super) fn add_source_server(connection: &Connection, conversation: i64, server: &str) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO source (conversation, server, place) \
        SELECT ?1, ?2, count(*) FROM source WHERE conversation = ?1";
    connection.prepare_cached(sql)?.execute(params![conversation, server])?;
    Ok(())
}
