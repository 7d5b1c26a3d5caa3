//! The SQLite file of the audit log: schema, opening, and reading and writing of entries.

use std::path::Path;

use domain::StoreError;
use ports::AuditEntry;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};

use super::chain::{CHAIN_LINK_BEFORE_FIRST_ENTRY, ChainLink};
use super::mac_key::{LogSeal, MacKey, SealedEntryKind};
use crate::content_key::{self, ContentKey};
use crate::database;

pub(super) use crate::database::{database_error, sql_integer_to_u64, u64_to_sql_integer};

/// Version of the audit database's schema, stored in `PRAGMA user_version`. A new column of `entry` raises it, and
/// needs a step in [`upgrade_audit_schema`], whose statements [`open`] and [`unexpected_schema_parts`] execute too. The
/// column is added to the end of [`ENTRY_COLUMNS`], to [`INSERT_ENTRY_SQL`], [`insert_entry`] and [`read_entry`], and
/// to both lists of the trigger `entry_stays_as_it_is`, which otherwise permits changes of it. [`open_for_reading`]
/// also opens files that no writer has upgraded yet.
const SCHEMA_VERSION: i64 = 2;

/// The schema of version 1. It is not changed, since [`upgrade_audit_schema`] and [`unexpected_schema_parts`] compare
/// the tables of existing files with it. Entries are immutable, except that their content is encrypted once there is a
/// key (`encryption.rs`). Entries can be removed only up to the number that a checkpoint records.
const SCHEMA_V1_SQL: &str = "
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    asker TEXT NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    decision TEXT NOT NULL,
    scope TEXT,
    decided_by TEXT NOT NULL,
    rule TEXT NOT NULL,
    conversation TEXT,
    hash TEXT NOT NULL,
    imported INTEGER NOT NULL,
    link BLOB NOT NULL,
    content_bytes INTEGER,
    content ANY
) STRICT;
CREATE INDEX entry_of_server ON entry (server, number);
CREATE INDEX entry_of_time ON entry (at);
CREATE TABLE seal (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,
    link BLOB NOT NULL,
    key TEXT NOT NULL,
    mac BLOB NOT NULL
) STRICT;
CREATE TABLE checkpoint (
    number INTEGER PRIMARY KEY,
    link BLOB NOT NULL,
    key TEXT,
    mac BLOB
) STRICT;
CREATE TABLE import (id INTEGER PRIMARY KEY CHECK (id = 1), entries INTEGER NOT NULL) STRICT;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry
    WHEN OLD.number > (SELECT coalesce(max(number), 0) FROM checkpoint)
    BEGIN SELECT RAISE(ABORT, 'an entry of the audit log is only removed after a checkpoint'); END;
CREATE TRIGGER checkpoint_stays_as_it_is BEFORE UPDATE ON checkpoint
    BEGIN SELECT RAISE(ABORT, 'a checkpoint of the audit log is never changed'); END;
CREATE TRIGGER checkpoint_stays BEFORE DELETE ON checkpoint
    BEGIN SELECT RAISE(ABORT, 'a checkpoint of the audit log is never removed'); END;
";

/// SQL statements that upgrade the schema from version 1 to version 2.
const SCHEMA_V2_SQL: &str = "
CREATE TABLE encryption (id INTEGER PRIMARY KEY CHECK (id = 1), left INTEGER NOT NULL) STRICT;
CREATE TRIGGER entry_stays_as_it_is BEFORE UPDATE ON entry
    WHEN NOT (typeof(OLD.content) = 'text' AND typeof(NEW.content) = 'blob'
        AND (NEW.number, NEW.at, NEW.asker, NEW.server, NEW.kind, NEW.subject, NEW.decision, NEW.scope, NEW.decided_by,
            NEW.rule, NEW.conversation, NEW.hash, NEW.imported, NEW.link, NEW.content_bytes)
        IS (OLD.number, OLD.at, OLD.asker, OLD.server, OLD.kind, OLD.subject, OLD.decision, OLD.scope, OLD.decided_by,
            OLD.rule, OLD.conversation, OLD.hash, OLD.imported, OLD.link, OLD.content_bytes))
    BEGIN SELECT RAISE(ABORT, 'an entry of the audit log is never changed'); END;
";

/// Name that [`ContentKey::encrypt`] receives in place of a column name for the contents of entries, so that they can't
/// be decrypted as values of another column.
pub(super) const ENTRY_ENCRYPTION_PURPOSE: &str = "audit content";

/// SQL statement that creates the index with which the host looks for the latest entry of a kind at each start. Logs of
/// older versions lack this index.
const KIND_INDEX_SQL: &str = "CREATE INDEX IF NOT EXISTS entry_of_kind ON entry (kind, number)";

/// Columns that [`read_entry`] expects, in this order.
pub(super) const ENTRY_COLUMNS: &str = "number, at, asker, server, kind, subject, decision, scope, decided_by, rule, conversation, \
    hash, imported, content_bytes, content, link";

const INSERT_ENTRY_SQL: &str = "INSERT INTO entry (number, at, asker, server, kind, subject, decision, scope, decided_by, rule, \
    conversation, hash, imported, content_bytes, content, link) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// Maximum number of unexpected tables, indexes, views and triggers that an error message lists.
const MAX_LISTED_SCHEMA_PARTS: usize = 10;

/// Number and hash of the last entry that was removed because of the limits of age and size. Contains a seal (a MAC) if
/// a key was available. Not a checkpoint of SQLite, which copies its write-ahead journal into the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RemovalCheckpoint {
    pub(super) number: u64,
    pub(super) link: ChainLink,
    pub(super) key: Option<String>,
    pub(super) mac: Option<Vec<u8>>,
}

impl RemovalCheckpoint {
    /// Returns `true` if the checkpoint was sealed with this key.
    pub(super) fn is_sealed_with(&self, key: &MacKey) -> bool {
        self.key.as_deref() == Some(key.id.as_str())
            && self
                .mac
                .as_deref()
                .is_some_and(|mac| key.verify_mac(SealedEntryKind::LastRemovedEntry, self.number, &self.link, mac))
    }
}

/// Returns the names of the audit database's tables, indexes, views and triggers that are unknown or missing. Through a
/// view or a trigger, a modified file could show one log to the verification and another one to its reader.
pub(super) fn unexpected_schema_parts(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let own = Connection::open_in_memory()?;
    own.execute_batch(SCHEMA_V1_SQL)?;
    own.execute_batch(SCHEMA_V2_SQL)?;
    let mut expected = read_schema_parts(&own)?;
    let found = read_schema_parts(connection)?;
    own.execute_batch(KIND_INDEX_SQL)?;
    let with_index = read_schema_parts(&own)?;
    let mut unexpected: Vec<String> =
        found.iter().filter(|part| !with_index.contains(part)).map(|(_, name, _)| name.clone()).collect();
    expected.retain(|part| !found.contains(part));
    unexpected.extend(expected.into_iter().map(|(_, name, _)| name));
    unexpected.sort_unstable();
    unexpected.dedup();
    unexpected.truncate(MAX_LISTED_SCHEMA_PARTS);
    Ok(unexpected)
}

/// Returns type, name and SQL text of each table, index, view and trigger of the audit database.
fn read_schema_parts(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// Opens the audit database for writing, and creates it if it does not exist. Also returns `true` if another program
/// had changed the schema so that it did not accept encrypted content, and the schema was repaired.
pub(super) fn open(path: &Path) -> Result<(Connection, bool), StoreError> {
    let connection =
        database::open(path, SCHEMA_VERSION, &format!("{SCHEMA_V1_SQL}{SCHEMA_V2_SQL}"), upgrade_audit_schema)?;
    let fail = |error| database_error(path, "open it", &error);
    disable_auto_checkpoint(&connection).map_err(fail)?;
    let was_schema_repaired = repair_schema(&connection).map_err(fail)?;
    connection.execute_batch(KIND_INDEX_SQL).map_err(fail)?;
    Ok((connection, was_schema_repaired))
}

/// Restores the parts of the audit database's schema that encryption needs if another program removed them. All entries
/// are then searched for unencrypted content again. An entry table with an unknown definition is left unchanged and
/// refuses encrypted content.
fn repair_schema(connection: &Connection) -> rusqlite::Result<bool> {
    if accepts_encrypted_content(connection)? {
        return Ok(false);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have repaired the schema meanwhile.
    let is_mended = !accepts_encrypted_content(&transaction)?;
    if is_mended {
        transaction.execute_batch("DROP TABLE IF EXISTS encryption")?;
        upgrade_audit_schema(&transaction)?;
    }
    transaction.commit()?;
    database::reload_schema(connection)?;
    Ok(is_mended)
}

/// Upgrades the audit database's schema of version 1 to version 2. A table with an unknown definition is not changed,
/// and the verification reports it.
fn upgrade_audit_schema(connection: &Connection) -> rusqlite::Result<()> {
    let own = Connection::open_in_memory()?;
    own.execute_batch(SCHEMA_V1_SQL)?;
    let after: String = own.query_row("SELECT sql FROM sqlite_schema WHERE name = 'entry'", [], |row| row.get(0))?;
    let before = after.replace("content ANY", "content TEXT");
    database::replace_table_definition(connection, "entry", (&before, &after))?;
    connection.execute_batch("DROP TRIGGER IF EXISTS entry_stays_as_it_is")?;
    connection.execute_batch(SCHEMA_V2_SQL)
}

/// Returns `true` if the audit database's schema accepts encrypted content. Returns `false` only if another program
/// modified the schema.
fn accepts_encrypted_content(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'entry' AND instr(sql, 'content ANY') > 0) \
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'encryption')";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Opens the audit database for reading, or returns `None` if its file does not exist.
pub(super) fn open_for_reading(path: &Path) -> Result<Option<Connection>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let fail = |error| database_error(path, "open it", &error);
    let connection = database::connect(path).map_err(fail)?;
    disable_auto_checkpoint(&connection).map_err(fail)?;
    let version = database::schema_version(&connection).map_err(fail)?;
    Ok((version > 0).then_some(connection))
}

/// Disables SQLite's automatic checkpoints, which are unrelated to [`RemovalCheckpoint`]. The sync thread (`sync.rs`) copies
/// the write-ahead journal into the database, so that no entry waits for the copy.
fn disable_auto_checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// Inserts a log entry with its chain hash into the database. The content of the entry is encrypted if there is a key.
pub(super) fn insert_entry(
    connection: &Connection,
    entry: &AuditEntry,
    link: &ChainLink,
    key: Option<&ContentKey>,
) -> rusqlite::Result<()> {
    let content = match (&entry.content, key) {
        (None, _) => Value::Null,
        (Some(content), None) => Value::Text(content.clone()),
        (Some(content), Some(key)) => Value::Blob(
            key.encrypt(ENTRY_ENCRYPTION_PURPOSE, content.as_bytes()).map_err(content_key::sql_cipher_error)?,
        ),
    };
    let mut statement = connection.prepare_cached(INSERT_ENTRY_SQL)?;
    statement.execute(rusqlite::params![
        u64_to_sql_integer(entry.number),
        u64_to_sql_integer(entry.at),
        entry.asker,
        entry.server,
        entry.kind,
        entry.subject,
        entry.decision,
        entry.scope,
        entry.by,
        entry.rule,
        entry.conversation,
        entry.hash,
        entry.imported,
        entry.content_bytes.map(u64_to_sql_integer),
        content,
        link.as_slice(),
    ])?;
    Ok(())
}

/// A log entry that was read from the database, with its chain hash.
pub(super) struct StoredAuditEntry {
    pub(super) entry: AuditEntry,
    pub(super) link: ChainLink,
    /// Set if the content is encrypted and could not be decrypted. `entry` then contains only the length of the
    /// content.
    pub(super) is_hidden: bool,
    /// Set if the log entry's content is not encrypted in the database.
    pub(super) is_plain: bool,
}

/// Reads an entry and its chain hash from a row with [`ENTRY_COLUMNS`].
pub(super) fn read_entry(row: &Row<'_>, key: Option<&ContentKey>) -> rusqlite::Result<StoredAuditEntry> {
    let words = |at| row.get::<_, String>(at);
    let content_bytes = row.get::<_, Option<i64>>(13)?.map(sql_integer_to_u64);
    let is_plain = matches!(row.get_ref(14)?, ValueRef::Text(_));
    let (content, hidden) = match row.get_ref(14)? {
        ValueRef::Blob(bytes) => match key.map(|key| key.decrypt_text(ENTRY_ENCRYPTION_PURPOSE, bytes)) {
            Some(Ok(text)) => (Some(text), None),
            None | Some(Err(_)) => (None, Some(ContentKey::plain_length(bytes) as u64)),
        },
        _ => (row.get(14)?, None),
    };
    let entry = AuditEntry {
        number: sql_integer_to_u64(row.get(0)?),
        at: sql_integer_to_u64(row.get(1)?),
        asker: words(2)?.into(),
        server: words(3)?,
        kind: words(4)?.into(),
        subject: words(5)?,
        decision: words(6)?.into(),
        scope: row.get::<_, Option<String>>(7)?.map(Into::into),
        by: words(8)?.into(),
        rule: words(9)?.into(),
        conversation: row.get(10)?,
        hash: words(11)?,
        imported: row.get::<_, i64>(12)? != 0,
        content_bytes: content_bytes.or(hidden),
        content,
    };
    Ok(StoredAuditEntry { entry, link: row.get(15)?, is_hidden: hidden.is_some(), is_plain })
}

/// Returns number and hash of the last entry, or 0 and [`CHAIN_LINK_BEFORE_FIRST_ENTRY`] if there is none.
pub(super) fn last_entry(connection: &Connection) -> rusqlite::Result<(u64, ChainLink)> {
    let mut statement = connection.prepare_cached("SELECT number, link FROM entry ORDER BY number DESC LIMIT 1")?;
    let found = statement.query_row([], |row| Ok((sql_integer_to_u64(row.get(0)?), row.get(1)?))).optional()?;
    Ok(found.unwrap_or((0, CHAIN_LINK_BEFORE_FIRST_ENTRY)))
}

/// Returns the chain hash of the entry with this number, or `None` if the entry does not exist.
pub(super) fn entry_chain_link(connection: &Connection, number: u64) -> rusqlite::Result<Option<ChainLink>> {
    let mut statement = connection.prepare_cached("SELECT link FROM entry WHERE number = ?1")?;
    statement.query_row([u64_to_sql_integer(number)], |row| row.get(0)).optional()
}

pub(super) fn read_log_seal(connection: &Connection) -> rusqlite::Result<Option<LogSeal>> {
    let mut statement = connection.prepare_cached("SELECT number, link, key, mac FROM seal")?;
    let read = |row: &Row<'_>| {
        Ok(LogSeal { number: sql_integer_to_u64(row.get(0)?), link: row.get(1)?, key: row.get(2)?, mac: row.get(3)? })
    };
    statement.query_row([], read).optional()
}

pub(super) fn write_log_seal(connection: &Connection, seal: &LogSeal) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO seal (id, number, link, key, mac) VALUES (1, ?1, ?2, ?3, ?4)")?;
    statement.execute(rusqlite::params![u64_to_sql_integer(seal.number), seal.link.as_slice(), seal.key, seal.mac])?;
    Ok(())
}

/// Returns the number of the last log entry that was removed because of the limits of age and size, or 0 if none was
/// removed.
pub(super) fn last_removed_entry_number(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(read_removal_checkpoint(connection)?.map_or(0, |checkpoint| checkpoint.number))
}

/// Returns the latest checkpoint (number and hash of the last removed entry), or `None` if no entry was removed.
pub(super) fn read_removal_checkpoint(connection: &Connection) -> rusqlite::Result<Option<RemovalCheckpoint>> {
    let mut statement =
        connection.prepare_cached("SELECT number, link, key, mac FROM checkpoint ORDER BY number DESC LIMIT 1")?;
    let read = |row: &Row<'_>| {
        Ok(RemovalCheckpoint {
            number: sql_integer_to_u64(row.get(0)?),
            link: row.get(1)?,
            key: row.get(2)?,
            mac: row.get(3)?,
        })
    };
    statement.query_row([], read).optional()
}
