//! Full-text search in conversations.

use domain::history::{FoundItem, HistorySearch};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::encryption;
use super::query::SearchQuery;
use super::{history_tables::sql_integer_to_u64, history_tables::u64_to_sql_integer};

/// Maximum number of items that one search returns.
const MAX_FOUND_ITEMS: usize = 200;

/// Returns the items that match the search, the latest first, at most [`MAX_FOUND_ITEMS`].
pub(super) fn search(connection: &Connection, search: &HistorySearch) -> rusqlite::Result<Vec<FoundItem>> {
    let Some(query) = SearchQuery::parse(&search.text) else { return Ok(Vec::new()) };
    if encryption::is_encrypted(connection)? {
        return search_without_index(connection, search, &query);
    }
    let sql = "SELECT item.number, conversation.id, conversation.title, item.id, item.at, said.text \
        FROM (SELECT rowid AS number FROM word WHERE word MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3) AS found \
        CROSS JOIN item ON item.number = found.number \
        CROSS JOIN conversation ON conversation.number = item.conversation \
        CROSS JOIN said ON said.item = item.number";
    let before = search.before.map_or(i64::MAX, u64_to_sql_integer);
    let limit = i64::try_from(search.limit.min(MAX_FOUND_ITEMS)).unwrap_or(0);
    let mut statement = connection.prepare_cached(sql)?;
    let found =
        statement.query_map(params![query.to_fts_query(), before, limit], |row| read_found_item(row, &query))?;
    found.collect()
}

/// Searches an encrypted history, which has no index because an index would disclose the words: decrypts the words of
/// each text, the latest first, until enough matches are found.
fn search_without_index(
    connection: &Connection,
    search: &HistorySearch,
    query: &SearchQuery,
) -> rusqlite::Result<Vec<FoundItem>> {
    let before = search.before.map_or(i64::MAX, u64_to_sql_integer);
    let limit = search.limit.min(MAX_FOUND_ITEMS);
    let sql = "SELECT item.number, conversation.id, decrypted('title', conversation.title), item.id, item.at, \
        decrypted('said', said.text) \
        FROM item \
        CROSS JOIN conversation ON conversation.number = item.conversation \
        CROSS JOIN said ON said.item = item.number \
        WHERE item.number = ?1";
    let mut one = connection.prepare_cached(sql)?;
    let mut all = Vec::new();
    let sql = "SELECT item, decrypted('folded', words) FROM folded WHERE item < ?1 ORDER BY item DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([before])?;
    while all.len() < limit
        && let Some(row) = rows.next()?
    {
        if !query.matches(row.get_ref(1)?.as_str()?) {
            continue;
        }
        // The query returns no row for an item of a conversation that is being deleted.
        all.extend(one.query_row([row.get::<_, i64>(0)?], |row| read_found_item(row, query)).optional()?);
    }
    Ok(all)
}

fn read_found_item(row: &Row<'_>, query: &SearchQuery) -> rusqlite::Result<FoundItem> {
    Ok(FoundItem {
        number: sql_integer_to_u64(row.get(0)?),
        conversation: row.get(1)?,
        title: row.get(2)?,
        item: row.get(3)?,
        at: sql_integer_to_u64(row.get(4)?),
        excerpt: query.excerpt(row.get_ref(5)?.as_str()?),
    })
}
