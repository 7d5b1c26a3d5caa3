//! The contents that a conversation has read from servers (`reading`), in addition to the servers that contributed text
//! (`source`).
//!
//! The table is added to databases of the same schema version that lack it. For existing conversations the contents are
//! unknown, so each source counts as read content of unknown kind.

use domain::history::{ReadContent, ReadContentKind};
use rusqlite::{Connection, params};

/// Maximum number of contents read from servers that are returned for a conversation, those from open-world tools
/// first. Decisions about calls do not depend on further ones.
const MAX_RETURNED_READ_CONTENTS: i64 = 1_000;

const READ_CONTENTS_TABLE_SQL: &str = "
CREATE TABLE reading (
    conversation INTEGER NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    open INTEGER NOT NULL,
    PRIMARY KEY (conversation, server, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO reading (conversation, server, kind, name, open) SELECT conversation, server, 'unknown', '', 1 FROM source;
";

/// SQL statement that creates the table with a MAC over the rows in `reading` of each conversation
/// (`read_contents_mac.rs`). If the history has a key, rows without a valid MAC are ignored, and the read contents are
/// determined again from all items of the conversation.
const READ_CONTENTS_MAC_TABLE_SQL: &str =
    "CREATE TABLE reading_seal (conversation INTEGER PRIMARY KEY, mac BLOB NOT NULL) STRICT";

/// Creates the tables `reading` and `reading_seal` if they do not exist.
pub(super) fn create_read_content_tables(connection: &Connection) -> rusqlite::Result<()> {
    create_table_if_missing(connection, "reading", READ_CONTENTS_TABLE_SQL)?;
    create_table_if_missing(connection, "reading_seal", READ_CONTENTS_MAC_TABLE_SQL)
}

fn create_table_if_missing(connection: &Connection, name: &str, table: &str) -> rusqlite::Result<()> {
    if has_table(connection, name)? {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have created the table meanwhile.
    let made = match has_table(connection, name) {
        Ok(false) => connection.execute_batch(table),
        other => other.map(drop),
    };
    connection.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    made
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1)";
    connection.query_row(sql, [name], |row| row.get(0))
}

/// Records that a conversation has read content of a server. If the same content is recorded already, it counts as
/// open-world if the old or the new record does.
pub(super) fn add_read_content(
    connection: &Connection,
    conversation: i64,
    content: &ReadContent,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO reading (conversation, server, kind, name, open) VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT DO UPDATE SET open = max(open, excluded.open)";
    let ReadContent { server, kind, name, open_world } = content;
    connection.prepare_cached(sql)?.execute(params![conversation, server, kind.name(), name, open_world])?;
    Ok(())
}

/// Returns the contents that a conversation has read from servers, at most [`MAX_RETURNED_READ_CONTENTS`].
pub(super) fn read_contents_of_conversation(
    connection: &Connection,
    conversation: i64,
) -> rusqlite::Result<Vec<ReadContent>> {
    let sql = "SELECT server, kind, name, open FROM reading WHERE conversation = ?1 ORDER BY open DESC, server, kind, name LIMIT ?2";
    let read = |row: &rusqlite::Row<'_>| {
        let kind: String = row.get(1)?;
        // A kind of a newer version counts as unknown.
        let kind = ReadContentKind::ALL.into_iter().find(|own| own.name() == kind).unwrap_or(ReadContentKind::Unknown);
        Ok(ReadContent { server: row.get(0)?, kind, name: row.get(2)?, open_world: row.get(3)? })
    };
    connection.prepare_cached(sql)?.query_map(params![conversation, MAX_RETURNED_READ_CONTENTS], read)?.collect()
}
