//! Encrypts a history that was written without a key.
//!
//! Once the table `protection` contains the ID of a key, every process writes only encrypted content. A process with
//! the key does so regardless of the table, and no process writes to an encrypted history without a key. Existing
//! content is encrypted in steps, each one transaction, so that the migration continues after an interruption. The
//! SQLite types of a row's values show if the row is encrypted, so the history is readable at all times. Finally the
//! file is rewritten, because SQLite leaves parts of older rows in its pages, and the journal is emptied.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::index_words;
use super::schema::SchemaCheckedConnection;
use crate::content_key::{self, ContentKey, ContentKeySlot};
use crate::database;

/// Name that [`ContentKey::encrypt`] receives in place of a column name for large contents, so that they can't be
/// decrypted as values of another column.
pub(super) const BLOB_ENCRYPTION_PURPOSE: &str = "bytes";
/// Number of history rows that are encrypted in one step.
const ENCRYPTED_ROWS_PER_STEP: i64 = 500;
/// Number of extracted large values that are encrypted in one step.
const ENCRYPTED_BLOBS_PER_STEP: i64 = 20;

/// Value of the column `protection.left` (remaining work of the encryption): unencrypted rows remain.
const ENCRYPTION_STATE_ENCRYPTING_ROWS: i64 = 0;
/// Value of the column `protection.left` (remaining work of the encryption): the file must be rewritten.
const ENCRYPTION_STATE_REWRITING_FILE: i64 = 1;
/// Value of the column `protection.left` (remaining work of the encryption): the write-ahead journal must be emptied.
const ENCRYPTION_STATE_EMPTYING_JOURNAL: i64 = 2;
/// Value of the column `protection.left` (remaining work of the encryption): no unencrypted content remains.
const ENCRYPTION_STATE_COMPLETE: i64 = 3;

/// Tables whose rows can be encrypted by a single SQL statement. For each: its name, its key column, and the SET clause
/// with its condition.
const ENCRYPTED_COLUMNS: [(&str, &str, &str); 3] = [
    (
        "conversation",
        "number",
        "title = encrypted('title', title), settings = encrypted('settings', settings) \
            WHERE (typeof(title) = 'text' OR typeof(settings) = 'text')",
    ),
    ("item", "number", "body = encrypted('body', body) WHERE typeof(body) = 'text'"),
    ("large", "item", "pointer = encrypted('pointer', pointer) WHERE typeof(pointer) = 'text'"),
];

/// The row of the table `protection`, which records the key that encrypts the history and the remaining work of the
/// encryption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HistoryEncryptionRecord {
    /// Identifier of the key with which the history is encrypted.
    pub(super) key: String,
    left: i64,
}

impl HistoryEncryptionRecord {
    /// Returns `true` if the database may still contain unencrypted content.
    pub(super) const fn is_in_progress(&self) -> bool {
        self.left != ENCRYPTION_STATE_COMPLETE
    }
}

/// Reads the table `protection`. Returns `None` if the history is not encrypted.
pub(super) fn read_record(connection: &Connection) -> rusqlite::Result<Option<HistoryEncryptionRecord>> {
    let mut statement = connection.prepare_cached("SELECT key, left FROM protection")?;
    statement.query_row([], |row| Ok(HistoryEncryptionRecord { key: row.get(0)?, left: row.get(1)? })).optional()
}

pub(super) fn is_encrypted(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM protection)")?.query_row([], |row| row.get(0))
}

/// Returns `true` if the latest rows of the history are encrypted. Does not rely on the table `protection`, because
/// another program could have emptied it.
pub(super) fn has_encrypted_rows(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM folded) \
        OR (SELECT typeof(settings) FROM conversation ORDER BY number DESC LIMIT 1) IS 'blob' \
        OR (SELECT typeof(body) FROM item ORDER BY number DESC LIMIT 1) IS 'blob'";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Records in the table `protection` that all new content of the history must be encrypted with this key, unless
/// another process has recorded a key before.
pub(super) fn begin_encryption(connection: &mut SchemaCheckedConnection, key: &ContentKey) -> rusqlite::Result<()> {
    connection.write(|connection| {
        let sql = "INSERT OR IGNORE INTO protection (id, key, left) VALUES (1, ?1, ?2)";
        if connection.execute(sql, params![key.id, ENCRYPTION_STATE_ENCRYPTING_ROWS])? > 0 {
            // The index is emptied, because it contains the words of all texts.
            connection.execute_batch("INSERT INTO word (word) VALUES ('delete-all')")?;
        }
        Ok(())
    })
}

/// Encrypts the remaining content of the history, and removes remains of unencrypted content from the files. Returns
/// `true` if no unencrypted content remains. Returns `false` if the journal can't be emptied because another process
/// reads for longer than `wait`.
pub(super) fn continue_encryption(
    connection: &mut SchemaCheckedConnection,
    key: &ContentKeySlot,
    wait: Duration,
) -> rusqlite::Result<bool> {
    loop {
        let left = connection.read(read_record)?.map_or(ENCRYPTION_STATE_COMPLETE, |protection| protection.left);
        match left {
            ENCRYPTION_STATE_ENCRYPTING_ROWS => {
                let Some(own) = key.get() else { return Ok(false) };
                for (table, number, set) in ENCRYPTED_COLUMNS {
                    encrypt_columns(connection, table, number, set)?;
                }
                encrypt_texts(connection)?;
                encrypt_blobs(connection, &own)?;
                set_encryption_state(connection, ENCRYPTION_STATE_ENCRYPTING_ROWS, ENCRYPTION_STATE_REWRITING_FILE)?;
            }
            ENCRYPTION_STATE_REWRITING_FILE => {
                rewrite_history_file(connection.for_maintenance())?;
                set_encryption_state(connection, ENCRYPTION_STATE_REWRITING_FILE, ENCRYPTION_STATE_EMPTYING_JOURNAL)?;
            }
            ENCRYPTION_STATE_EMPTYING_JOURNAL => {
                if !database::empty_write_ahead_journal(connection.for_maintenance(), wait)? {
                    return Ok(false);
                }
                set_encryption_state(connection, ENCRYPTION_STATE_EMPTYING_JOURNAL, ENCRYPTION_STATE_COMPLETE)?;
            }
            _ => return Ok(true),
        }
    }
}

fn rewrite_history_file(connection: &Connection) -> rusqlite::Result<()> {
    // The copy is encrypted, too, and may be too large for memory.
    connection.pragma_update(None, "temp_store", "file")?;
    let written = connection.execute_batch("VACUUM");
    connection.pragma_update(None, "temp_store", "memory")?;
    written
}

fn set_encryption_state(connection: &mut SchemaCheckedConnection, from: i64, to: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE protection SET left = ?2 WHERE left = ?1";
    connection.write(|connection| connection.execute(sql, [from, to]).map(drop))
}

/// Returns the number of the last row of a batch: of the next `count` rows after row number `after`. Returns `None` if
/// there are no more rows.
fn next_batch_end(
    connection: &Connection,
    table: &str,
    number: &str,
    after: i64,
    count: i64,
) -> rusqlite::Result<Option<i64>> {
    let sql = format!(
        "SELECT max({number}) FROM (SELECT {number} FROM {table} WHERE {number} > ?1 ORDER BY {number} LIMIT ?2)"
    );
    connection.prepare_cached(&sql)?.query_row([after, count], |row| row.get(0))
}

/// Calls `act` for all rows of a table in batches of `count` rows, each batch in one transaction. `act` receives the
/// range of row numbers of a batch.
fn for_each_batch(
    connection: &mut SchemaCheckedConnection,
    (table, number, count): (&str, &str, i64),
    act: impl Fn(&Connection, [i64; 2]) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut after = Some(i64::MIN);
    while let Some(from) = after {
        after = connection.write(|connection| {
            let last = next_batch_end(connection, table, number, from, count)?;
            if let Some(last) = last {
                act(connection, [from, last])?;
            }
            Ok::<_, rusqlite::Error>(last)
        })?;
    }
    Ok(())
}

fn encrypt_columns(
    connection: &mut SchemaCheckedConnection,
    table: &str,
    number: &str,
    set: &str,
) -> rusqlite::Result<()> {
    let sql = format!("UPDATE {table} SET {set} AND {number} > ?1 AND {number} <= ?2");
    for_each_batch(connection, (table, number, ENCRYPTED_ROWS_PER_STEP), |connection, rows| {
        connection.prepare_cached(&sql)?.execute(rows).map(drop)
    })
}

/// Encrypts the searchable texts of items, and stores the encrypted words that the search then uses.
fn encrypt_texts(connection: &mut SchemaCheckedConnection) -> rusqlite::Result<()> {
    for_each_batch(connection, ("said", "item", ENCRYPTED_ROWS_PER_STEP), |connection, rows| {
        let sql = "SELECT item, text FROM said WHERE item > ?1 AND item <= ?2 AND typeof(text) = 'text'";
        let mut statement = connection.prepare_cached(sql)?;
        let plain = statement.query_map(rows, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (item, text) in plain.collect::<rusqlite::Result<Vec<(i64, String)>>>()? {
            let sql = "UPDATE said SET text = encrypted('said', text) WHERE item = ?1";
            connection.prepare_cached(sql)?.execute([item])?;
            let sql = "INSERT OR REPLACE INTO folded (item, words) VALUES (?1, encrypted('folded', ?2))";
            connection.prepare_cached(sql)?.execute(params![item, index_words::folded_words_for_index(&text)])?;
        }
        Ok(())
    })
}

fn encrypt_blobs(connection: &mut SchemaCheckedConnection, key: &ContentKey) -> rusqlite::Result<()> {
    for_each_batch(connection, ("blob", "number", ENCRYPTED_BLOBS_PER_STEP), |connection, rows| {
        let sql = "SELECT number, hash FROM blob WHERE number > ?1 AND number <= ?2 AND encrypted = 0";
        let mut statement = connection.prepare_cached(sql)?;
        let plain = statement.query_map(rows, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (number, hash) in plain.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()? {
            encrypt_blob(connection, number, &key.keyed_hash(&hash), key)?;
        }
        Ok(())
    })
}

/// Encrypts one extracted large value. If an encrypted value with the same bytes exists, the items are made to refer to
/// that value instead.
fn encrypt_blob(connection: &Connection, number: i64, name: &[u8; 32], key: &ContentKey) -> rusqlite::Result<()> {
    let same: Option<i64> = connection
        .prepare_cached("SELECT number FROM blob WHERE hash = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    if let Some(same) = same {
        connection.prepare_cached("UPDATE large SET blob = ?2 WHERE blob = ?1")?.execute([number, same])?;
        connection.prepare_cached("DELETE FROM blob WHERE number = ?1")?.execute([number])?;
        return Ok(());
    }
    let bytes: Vec<u8> =
        connection.prepare_cached("SELECT bytes FROM blob WHERE number = ?1")?.query_row([number], |row| row.get(0))?;
    let encrypted = key.encrypt(BLOB_ENCRYPTION_PURPOSE, &bytes).map_err(content_key::sql_cipher_error)?;
    let sql = "UPDATE blob SET hash = ?2, bytes = ?3, encrypted = 1 WHERE number = ?1";
    connection.prepare_cached(sql)?.execute(params![number, name, encrypted])?;
    Ok(())
}
