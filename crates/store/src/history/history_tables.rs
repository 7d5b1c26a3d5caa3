//! The SQLite file of the history: its schema, and opening.

use std::path::Path;

use domain::StoreError;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::encryption;
use super::schema::SchemaCheckedConnection;
use crate::content_key::{self, ContentKeySlot};
use crate::database;

pub(super) use crate::database::{database_error, sql_integer_to_u64, u64_to_sql_integer};

/// Version of the history's schema and of the word splitting for its index, stored in `PRAGMA user_version`.
const SCHEMA_VERSION: i64 = 2;

/// Size of SQLite's page cache for the history, in KiB.
const SQLITE_CACHE_KIB: i64 = 4_096;

/// The schema of version 1. Item numbers increase across all conversations, so the latest matches are found without
/// sorting. The index contains words but no texts. Its input is stored in `said`, because FTS5 can delete a text only
/// if it is passed again. Deletions in progress are listed in `gone`.
///
/// Once `protection` contains a key ID, all content is encrypted with that key (`encryption.rs`). Triggers reject
/// unencrypted content of processes that have not noticed this. The index then contains no words. `folded` contains
/// them in encrypted form.
const SCHEMA_V1_SQL: &str = "
CREATE TABLE conversation (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title ANY NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head INTEGER,
    settings ANY NOT NULL,
    items INTEGER NOT NULL
) STRICT;
CREATE TABLE gone (conversation INTEGER PRIMARY KEY, left INTEGER NOT NULL) STRICT;
CREATE TABLE source (
    conversation INTEGER NOT NULL,
    server TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (conversation, server)
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent INTEGER,
    at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    writer TEXT,
    body ANY NOT NULL
) STRICT;
CREATE UNIQUE INDEX item_of_id ON item (conversation, id);
CREATE INDEX item_after ON item (conversation, parent);
CREATE INDEX item_of_writer ON item (writer) WHERE writer IS NOT NULL;
CREATE TABLE blob (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    encrypted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE large (
    item INTEGER NOT NULL,
    pointer ANY NOT NULL,
    blob INTEGER NOT NULL,
    base64 INTEGER NOT NULL,
    PRIMARY KEY (item, pointer)
) STRICT, WITHOUT ROWID;
CREATE INDEX large_of_blob ON large (blob);
CREATE TABLE said (item INTEGER PRIMARY KEY, text ANY NOT NULL) STRICT;
CREATE VIRTUAL TABLE word USING fts5 (text, content = '', tokenize = 'ascii', prefix = '1 2 3');
INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
";

/// SQL statements that upgrade the schema from version 1 to version 2.
const SCHEMA_V2_SQL: &str = "
CREATE TABLE protection (id INTEGER PRIMARY KEY CHECK (id = 1), key TEXT NOT NULL, left INTEGER NOT NULL) STRICT;
CREATE TABLE folded (item INTEGER PRIMARY KEY, words BLOB NOT NULL) STRICT;
CREATE TRIGGER conversation_is_encrypted BEFORE INSERT ON conversation
    WHEN (typeof(NEW.title) = 'text' OR typeof(NEW.settings) = 'text') AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER conversation_stays_encrypted BEFORE UPDATE OF title, settings ON conversation
    WHEN (typeof(NEW.title) = 'text' AND NEW.title IS NOT OLD.title
        OR typeof(NEW.settings) = 'text' AND NEW.settings IS NOT OLD.settings)
        AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER item_is_encrypted BEFORE INSERT ON item
    WHEN typeof(NEW.body) = 'text' AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER item_stays_encrypted BEFORE UPDATE OF body ON item
    WHEN typeof(NEW.body) = 'text' AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER blob_is_encrypted BEFORE INSERT ON blob
    WHEN NEW.encrypted = 0 AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER large_is_encrypted BEFORE INSERT ON large
    WHEN typeof(NEW.pointer) = 'text' AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
CREATE TRIGGER said_is_encrypted BEFORE INSERT ON said
    WHEN typeof(NEW.text) = 'text' AND EXISTS (SELECT 1 FROM protection)
    BEGIN SELECT RAISE(ABORT, 'it was encrypted a moment ago; try again'); END;
";

/// For each table, pairs of a column definition in schema version 1 and the definition that replaces it in version 2.
/// Since version 2 these columns accept text (unencrypted) and bytes (encrypted).
const COLUMNS_RETYPED_IN_SCHEMA_V2: [(&str, &[(&str, &str)]); 4] = [
    (
        "conversation",
        &[("title TEXT NOT NULL", "title ANY NOT NULL"), ("settings TEXT NOT NULL", "settings ANY NOT NULL")],
    ),
    ("item", &[("body TEXT NOT NULL", "body ANY NOT NULL")]),
    ("large", &[("pointer TEXT NOT NULL", "pointer ANY NOT NULL")]),
    ("said", &[("text TEXT NOT NULL", "text ANY NOT NULL")]),
];

/// Creates all tables of the latest schema version.
pub(super) fn create_latest_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA_V1_SQL)?;
    connection.execute_batch(SCHEMA_V2_SQL)?;
    super::read_contents::create_read_content_tables(connection)
}

/// Opens the history database, and creates it if it does not exist.
///
/// # Errors
/// Returns [`StoreError`] if it can't be opened, or another program changed its schema.
pub(super) fn open(path: &Path, key: &ContentKeySlot) -> Result<SchemaCheckedConnection, StoreError> {
    let connection =
        database::open(path, SCHEMA_VERSION, &format!("{SCHEMA_V1_SQL}{SCHEMA_V2_SQL}"), upgrade_history_schema)?;
    let set_up = || {
        content_key::add_encryption_functions(&connection, key)?;
        connection.pragma_update(None, "cache_size", -SQLITE_CACHE_KIB)?;
        // Temporary data of sorting and rollbacks must not be written to a file.
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    set_up()
        .and_then(|()| super::read_contents::create_read_content_tables(&connection))
        .and_then(|()| SchemaCheckedConnection::new(connection))
        .map_err(|error| database_error(path, "open it", &error))
}

/// Upgrades the history's tables from version 1 to version 2.
fn upgrade_history_schema(connection: &Connection) -> rusqlite::Result<()> {
    for (table, columns) in COLUMNS_RETYPED_IN_SCHEMA_V2 {
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let before: String = connection.query_row(sql, [table], |row| row.get(0))?;
        let after = columns.iter().fold(before.clone(), |text, (from, to)| text.replace(from, to));
        database::replace_table_definition(connection, table, (&before, &after))?;
    }
    connection.execute_batch("ALTER TABLE blob ADD COLUMN encrypted INTEGER NOT NULL DEFAULT 0")?;
    connection.execute_batch(SCHEMA_V2_SQL)
}

/// Returns the row numbers of a conversation and of its head, which is the last item of the branch that the
/// conversation shows.
pub(super) fn conversation_and_head_row_numbers(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<(i64, Option<i64>)>> {
    let mut statement = connection.prepare_cached("SELECT number, head FROM conversation WHERE id = ?1")?;
    statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Returns the row number of an item, or `None` if it does not exist.
pub(super) fn item_row_number(connection: &Connection, conversation: i64, id: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT number FROM item WHERE conversation = ?1 AND id = ?2")?;
    statement.query_row(params![conversation, id], |row| row.get(0)).optional()
}

/// Sets the text of an item in the search index. An empty text removes the item from the index.
pub(super) fn set_indexed_text(connection: &Connection, item: i64, text: &str) -> rusqlite::Result<()> {
    let mut before = connection.prepare_cached("SELECT decrypted('said', text) FROM said WHERE item = ?1")?;
    let before: Option<String> = before.query_row([item], |row| row.get(0)).optional()?;
    if before.as_deref().unwrap_or_default() == text {
        return Ok(());
    }
    if let Some(before) = before {
        remove_indexed_text(connection, item, &before)?;
    }
    if !text.is_empty() {
        let sql = "INSERT INTO said (item, text) VALUES (?1, encrypted('said', ?2))";
        connection.prepare_cached(sql)?.execute(params![item, text])?;
        let words = super::index_words::folded_words_for_index(text);
        let sql = if must_omit_index_words(connection)? {
            "INSERT INTO folded (item, words) VALUES (?1, encrypted('folded', ?2))"
        } else {
            "INSERT INTO word (rowid, text) VALUES (?1, ?2)"
        };
        connection.prepare_cached(sql)?.execute(params![item, words])?;
    }
    Ok(())
}

/// Returns `true` if no words may be added to the search index, because this connection encrypts content. That depends
/// only on the connection's key and not on the file, which another program may have changed.
fn must_omit_index_words(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(content_key::is_content_key_set(connection)? || encryption::is_encrypted(connection)?)
}

/// Removes the text of an item from the search index.
pub(super) fn remove_indexed_text(connection: &Connection, item: i64, text: &str) -> rusqlite::Result<()> {
    if must_omit_index_words(connection)? {
        connection.prepare_cached("DELETE FROM folded WHERE item = ?1")?.execute([item])?;
    } else {
        let words = super::index_words::folded_words_for_index(text);
        let sql = "INSERT INTO word (word, rowid, text) VALUES ('delete', ?1, ?2)";
        connection.prepare_cached(sql)?.execute(params![item, words])?;
    }
    connection.prepare_cached("DELETE FROM said WHERE item = ?1")?.execute([item])?;
    Ok(())
}

/// Removes an item's references to large values, which are stored separately. Deletes those values to which no other
/// item refers.
pub(super) fn release_item_blobs(connection: &Connection, item: i64) -> rusqlite::Result<()> {
    let mut held = connection.prepare_cached("SELECT DISTINCT blob FROM large WHERE item = ?1")?;
    let held: Vec<i64> = held.query_map([item], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if held.is_empty() {
        return Ok(());
    }
    connection.prepare_cached("DELETE FROM large WHERE item = ?1")?.execute([item])?;
    let mut remove = connection.prepare_cached(
        "DELETE FROM blob WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM large WHERE large.blob = ?1)",
    )?;
    for blob in held {
        remove.execute([blob])?;
    }
    Ok(())
}

/// Parses the JSON text in the column of a database row with this index.
pub(super) fn parse_json_column(row: &Row<'_>, at: usize) -> rusqlite::Result<serde_json::Value> {
    let text = row.get_ref(at)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(error)))
}
