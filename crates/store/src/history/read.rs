//! Reads conversations and items.

use domain::history::{Conversation, ItemPage, ItemRange, OmittedContent, ReadContent, StoredHistoryItem};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::extracted_content::{self, ContentHash};
use super::write::item_state_from_number;
use super::{
    encryption::BLOB_ENCRYPTION_PURPOSE, history_tables, history_tables::sql_integer_to_u64, read_contents,
    read_contents_mac,
};
use crate::content_key::{self, ContentCipherError, ContentKey, ContentKeySlot};
use crate::hex::hex;

/// Columns that [`read_item_row`] expects, in this order.
const ITEM_COLUMNS: &str = "item.number, item.id, item.parent, item.at, item.state, decrypted('body', item.body)";

/// Returns ID, title and modification time of each conversation, the latest first.
pub(super) fn list_conversations(connection: &Connection) -> rusqlite::Result<Vec<(String, String, u64)>> {
    let sql =
        "SELECT id, decrypted('title', title), updated_at FROM conversation ORDER BY updated_at DESC, number DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, sql_integer_to_u64(row.get(2)?)));
    statement.query_map([], read)?.collect()
}

/// Returns a conversation without its items, or `None` if it does not exist.
pub(super) fn read_conversation(
    connection: &Connection,
    id: &str,
    key: Option<&ContentKey>,
) -> rusqlite::Result<Option<Conversation>> {
    let sql = "SELECT number, decrypted('title', title), created_at, updated_at, \
        (SELECT item.id FROM item WHERE item.number = head), decrypted('settings', settings), items \
        FROM conversation WHERE id = ?1";
    let read = |row: &Row<'_>| {
        let conversation = Conversation {
            id: id.to_owned(),
            title: row.get(1)?,
            created_at: sql_integer_to_u64(row.get(2)?),
            updated_at: sql_integer_to_u64(row.get(3)?),
            head: row.get(4)?,
            settings: history_tables::parse_json_column(row, 5)?,
            items: sql_integer_to_u64(row.get(6)?),
            sources: Vec::new(),
            read_contents: Vec::new(),
        };
        Ok((row.get::<_, i64>(0)?, conversation))
    };
    let Some((number, mut found)) = connection.prepare_cached(sql)?.query_row([id], read).optional()? else {
        return Ok(None);
    };
    let mut statement =
        connection.prepare_cached("SELECT server FROM source WHERE conversation = ?1 ORDER BY place")?;
    found.sources = statement.query_map([number], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    found.read_contents = read_contents::read_contents_of_conversation(connection, number)?;
    if let Some(key) = key
        && !read_contents_mac::verify_read_contents_mac(connection, number, key)?
    {
        let all = read_contents_mac::contents_read_in_items(connection, number)?;
        for server in all.sources {
            if !found.sources.contains(&server) {
                found.sources.push(server);
            }
        }
        for content in all.read_contents {
            let same = |own: &&mut ReadContent| {
                (&own.server, own.kind, &own.name) == (&content.server, content.kind, &content.name)
            };
            match found.read_contents.iter_mut().find(same) {
                Some(own) => own.open_world = true,
                None => found.read_contents.push(content),
            }
        }
    }
    Ok(Some(found))
}

/// Returns one page of the items in a branch of a conversation.
pub(super) fn read_branch_page(
    connection: &Connection,
    range: &ItemRange,
    key: &ContentKeySlot,
) -> rusqlite::Result<Option<ItemPage>> {
    let Some((conversation, head)) =
        history_tables::conversation_and_head_row_numbers(connection, &range.conversation)?
    else {
        return Ok(None);
    };
    let last = match &range.before {
        None => head,
        Some(before) => {
            let Some(before) = history_tables::item_row_number(connection, conversation, before)? else {
                return Ok(None);
            };
            connection
                .prepare_cached("SELECT parent FROM item WHERE number = ?1")?
                .query_row([before], |row| row.get(0))?
        }
    };
    let sql = format!(
        "WITH RECURSIVE up (number, depth) AS (\
            SELECT ?1, 1 WHERE ?1 IS NOT NULL AND ?2 > 0 \
            UNION ALL \
            SELECT item.parent, depth + 1 FROM up JOIN item ON item.number = up.number \
            WHERE item.parent IS NOT NULL AND depth < ?2) \
        SELECT {ITEM_COLUMNS} FROM up JOIN item ON item.number = up.number ORDER BY depth DESC"
    );
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX);
    let rows: Vec<ItemRow> = connection
        .prepare_cached(&sql)?
        .query_map(params![last, limit], read_item_row)?
        .collect::<rusqlite::Result<_>>()?;
    let has_more = rows.first().map_or(last.is_some(), |first| first.parent.is_some());
    let mut above = None;
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let parent = match (row.parent, above.take()) {
            (Some(_), Some(id)) => Some(id),
            (parent, _) => item_id(connection, parent)?,
        };
        above = Some(row.item.id.clone());
        items.push(add_extracted_values(connection, conversation, row, parent, range.whole, key)?);
    }
    Ok(Some(ItemPage { items, has_more }))
}

/// Returns one page of a conversation's items, of all branches, in the order in which they were first written.
pub(super) fn read_all_items(
    connection: &Connection,
    conversation: &str,
    after: Option<&str>,
    limit: usize,
    key: &ContentKeySlot,
) -> rusqlite::Result<Option<ItemPage>> {
    let Some((conversation, _)) = history_tables::conversation_and_head_row_numbers(connection, conversation)? else {
        return Ok(None);
    };
    let after = match after {
        None => 0,
        Some(after) => match history_tables::item_row_number(connection, conversation, after)? {
            None => return Ok(None),
            Some(number) => number,
        },
    };
    // Items of one conversation are scattered over the table, but adjacent in this index.
    let sql = format!(
        "SELECT {ITEM_COLUMNS} FROM item WHERE number IN (\
            SELECT number FROM item INDEXED BY item_after WHERE conversation = ?1 AND number > ?2 \
            ORDER BY number LIMIT ?3) ORDER BY number"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows: Vec<ItemRow> = connection
        .prepare_cached(&sql)?
        .query_map(params![conversation, after, limit.saturating_add(1)], read_item_row)?
        .collect::<rusqlite::Result<_>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    let mut items = Vec::with_capacity(rows.len());
    for row in rows.into_iter().take(limit) {
        let parent = item_id(connection, row.parent)?;
        items.push(add_extracted_values(connection, conversation, row, parent, true, key)?);
    }
    Ok(Some(ItemPage { items, has_more }))
}

/// Returns one item, or `None` if it does not exist.
pub(super) fn read_item(
    connection: &Connection,
    conversation: &str,
    id: &str,
    whole: bool,
    key: &ContentKeySlot,
) -> rusqlite::Result<Option<StoredHistoryItem>> {
    let Some((conversation, _)) = history_tables::conversation_and_head_row_numbers(connection, conversation)? else {
        return Ok(None);
    };
    let sql = format!("SELECT {ITEM_COLUMNS} FROM item WHERE conversation = ?1 AND id = ?2");
    let found = connection.prepare_cached(&sql)?.query_row(params![conversation, id], read_item_row).optional()?;
    let Some(row) = found else { return Ok(None) };
    let parent = item_id(connection, row.parent)?;
    add_extracted_values(connection, conversation, row, parent, whole, key).map(Some)
}

/// Makes a branch that contains `item` the displayed one: follows the latest child of each item, from `item` to the end
/// of the branch, and makes that last item the head of the conversation. Does nothing if the displayed branch already
/// contains `item`. Returns the ID of the head.
pub(super) fn show_branch(connection: &Connection, conversation: &str, item: &str) -> rusqlite::Result<Option<String>> {
    let Some((conversation, head)) = history_tables::conversation_and_head_row_numbers(connection, conversation)?
    else {
        return Ok(None);
    };
    let Some(mut end) = history_tables::item_row_number(connection, conversation, item)? else { return Ok(None) };
    let mut above = connection.prepare_cached("SELECT parent FROM item WHERE number = ?1")?;
    let mut place = head;
    while let Some(number) = place {
        if number == end {
            return item_id(connection, head);
        }
        // Later items have higher numbers.
        place = if number > end { above.query_row([number], |row| row.get(0))? } else { None };
    }
    let mut next = connection.prepare_cached("SELECT max(number) FROM item WHERE conversation = ?1 AND parent = ?2")?;
    while let Some(later) = next.query_row(params![conversation, end], |row| row.get(0))? {
        end = later;
    }
    let sql = "UPDATE conversation SET head = ?2 WHERE number = ?1";
    connection.prepare_cached(sql)?.execute(params![conversation, end])?;
    item_id(connection, Some(end))
}

/// Returns the extracted large value with this hash, decrypted, or `None` if it does not exist.
pub(super) fn read_blob(
    connection: &Connection,
    hash: &ContentHash,
    key: &ContentKeySlot,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT bytes, encrypted FROM blob WHERE hash = ?1")?;
    statement.query_row([hash], |row| decrypted_bytes(row, key)).optional()
}

/// Returns the decrypted bytes of a database row that contains bytes and an encryption flag.
fn decrypted_bytes(row: &Row<'_>, key: &ContentKeySlot) -> rusqlite::Result<Vec<u8>> {
    let bytes: Vec<u8> = row.get(0)?;
    if !row.get::<_, bool>(1)? {
        return Ok(bytes);
    }
    let key = key.get().ok_or_else(|| content_key::sql_cipher_error(ContentCipherError))?;
    key.decrypt(BLOB_ENCRYPTION_PURPOSE, &bytes).map_err(content_key::sql_cipher_error)
}

/// The columns of an item's row. The large values that were extracted from the item are in other tables.
struct ItemRow {
    number: i64,
    parent: Option<i64>,
    item: StoredHistoryItem,
}

fn read_item_row(row: &Row<'_>) -> rusqlite::Result<ItemRow> {
    let item = StoredHistoryItem {
        id: row.get(1)?,
        parent: None,
        at: sql_integer_to_u64(row.get(3)?),
        body: history_tables::parse_json_column(row, 5)?,
        state: item_state_from_number(row.get(4)?),
        siblings: Vec::new(),
        omitted: Vec::new(),
    };
    Ok(ItemRow { number: row.get(0)?, parent: row.get(2)?, item })
}

/// Adds to an item the large values that are stored separately from its body.
fn add_extracted_values(
    connection: &Connection,
    conversation: i64,
    raw: ItemRow,
    parent: Option<String>,
    whole: bool,
    key: &ContentKeySlot,
) -> rusqlite::Result<StoredHistoryItem> {
    let ItemRow { number, parent: above, mut item } = raw;
    item.parent = parent;
    let sql = "SELECT id FROM item WHERE conversation = ?1 AND parent IS ?2 ORDER BY number";
    let mut siblings = connection.prepare_cached(sql)?;
    item.siblings = siblings.query_map(params![conversation, above], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let sql = "SELECT decrypted('pointer', pointer) AS place, base64, hash, size, blob FROM large JOIN blob ON blob.number = large.blob \
        WHERE large.item = ?1 ORDER BY place";
    let mut large = connection.prepare_cached(sql)?;
    let mut rows = large.query([number])?;
    while let Some(row) = rows.next()? {
        let (pointer, base64): (String, bool) = (row.get(0)?, row.get(1)?);
        let size = sql_integer_to_u64(row.get(3)?);
        if !whole && extracted_content::is_omitted_from_pages(&pointer, base64, size) {
            let hash: ContentHash = row.get(2)?;
            item.omitted.push(OmittedContent { pointer, hash: hex(&hash), bytes: size, is_text: !base64 });
            continue;
        }
        let mut bytes = connection.prepare_cached("SELECT bytes, encrypted FROM blob WHERE number = ?1")?;
        let bytes = bytes.query_row([row.get::<_, i64>(4)?], |row| decrypted_bytes(row, key))?;
        if !extracted_content::restore_extracted_value(&mut item.body, &pointer, bytes, base64) {
            tracing::warn!(item = item.id, pointer, "the location of a large content does not exist in its item");
        }
    }
    Ok(item)
}

fn item_id(connection: &Connection, number: Option<i64>) -> rusqlite::Result<Option<String>> {
    let Some(number) = number else { return Ok(None) };
    let mut statement = connection.prepare_cached("SELECT id FROM item WHERE number = ?1")?;
    statement.query_row([number], |row| row.get(0)).optional()
}
