//! The database: its tables, and how it is opened.

use std::path::Path;

use host::ports::StoreError;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::database;

pub(super) use crate::database::{failed, signed, unsigned};

/// The shape of the tables and of the index's words, as `PRAGMA user_version` tells it.
const VERSION: i64 = 1;

/// How much of the database is kept in memory, in KiB.
const CACHE: i64 = 4_096;

/// Items of all conversations have numbers that grow, so the latest of those that fit are found without sorting. The index
/// has words and no texts; what it was given stands in `said`, as FTS5 can forget a text only when it is told that. What is left
/// of conversations that were deleted is noted in `gone`.
const TABLES: &str = "
CREATE TABLE conversation (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head INTEGER,
    settings TEXT NOT NULL,
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
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX item_of_id ON item (conversation, id);
CREATE INDEX item_after ON item (conversation, parent);
CREATE INDEX item_of_writer ON item (writer) WHERE writer IS NOT NULL;
CREATE TABLE blob (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE large (
    item INTEGER NOT NULL,
    pointer TEXT NOT NULL,
    blob INTEGER NOT NULL,
    base64 INTEGER NOT NULL,
    PRIMARY KEY (item, pointer)
) STRICT, WITHOUT ROWID;
CREATE INDEX large_of_blob ON large (blob);
CREATE TABLE said (item INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE word USING fts5 (text, content = '', tokenize = 'ascii', prefix = '1 2 3');
INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
";

/// Opens the database, and makes it if there is none.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = database::open(path, VERSION, TABLES)?;
    let set_up = || {
        connection.pragma_update(None, "cache_size", -CACHE)?;
        // What is sorted or undone meanwhile is in no file of its own.
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    set_up().and_then(|()| super::reading::make_table(&connection)).map_err(|error| failed(path, "open it", &error))?;
    Ok(connection)
}

/// A conversation's number and the number of its head.
pub(super) fn conversation(connection: &Connection, id: &str) -> rusqlite::Result<Option<(i64, Option<i64>)>> {
    let mut statement = connection.prepare_cached("SELECT number, head FROM conversation WHERE id = ?1")?;
    statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// An item's number.
pub(super) fn item(connection: &Connection, conversation: i64, id: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT number FROM item WHERE conversation = ?1 AND id = ?2")?;
    statement.query_row(params![conversation, id], |row| row.get(0)).optional()
}

/// What is said in an item, for the index. Empty for nothing.
pub(super) fn say(connection: &Connection, item: i64, text: &str) -> rusqlite::Result<()> {
    let mut before = connection.prepare_cached("SELECT text FROM said WHERE item = ?1")?;
    let before: Option<String> = before.query_row([item], |row| row.get(0)).optional()?;
    if before.as_deref().unwrap_or_default() == text {
        return Ok(());
    }
    if let Some(before) = before {
        forget(connection, item, &before)?;
    }
    if !text.is_empty() {
        connection.prepare_cached("INSERT INTO said (item, text) VALUES (?1, ?2)")?.execute(params![item, text])?;
        let words = super::words::indexed(text);
        connection.prepare_cached("INSERT INTO word (rowid, text) VALUES (?1, ?2)")?.execute(params![item, words])?;
    }
    Ok(())
}

/// Takes what was said in an item out of the index.
pub(super) fn forget(connection: &Connection, item: i64, said: &str) -> rusqlite::Result<()> {
    let words = super::words::indexed(said);
    let mut statement = connection.prepare_cached("INSERT INTO word (word, rowid, text) VALUES ('delete', ?1, ?2)")?;
    statement.execute(params![item, words])?;
    connection.prepare_cached("DELETE FROM said WHERE item = ?1")?.execute([item])?;
    Ok(())
}

/// Gives up what an item holds of large contents, and removes those that nothing holds any more.
pub(super) fn let_go(connection: &Connection, item: i64) -> rusqlite::Result<()> {
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

/// A JSON value in a column.
pub(super) fn json(row: &Row<'_>, at: usize) -> rusqlite::Result<serde_json::Value> {
    let text = row.get_ref(at)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(error)))
}
