//! The database: its tables, how it is opened, and how an entry comes out of it.

use std::path::Path;

use domain::StoreError;
use ports::AuditEntry;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};

use super::chain::{Link, START};
use super::seal::{Seal, SealKey, Sealed};
use crate::content_key::{self, ContentKey};
use crate::database;

pub(super) use crate::database::{failed, signed, unsigned};

/// The shape of the tables, as `PRAGMA user_version` tells it.
const VERSION: i64 = 2;

/// Nothing of an entry is ever changed, but that its content is encrypted once there is a key (`encryption.rs`), and only what a
/// checkpoint says was removed may go.
const TABLES: &str = "
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

/// What the second version added or changed.
const ENCRYPTION: &str = "
CREATE TABLE encryption (id INTEGER PRIMARY KEY CHECK (id = 1), left INTEGER NOT NULL) STRICT;
CREATE TRIGGER entry_stays_as_it_is BEFORE UPDATE ON entry
    WHEN NOT (typeof(OLD.content) = 'text' AND typeof(NEW.content) = 'blob'
        AND (NEW.number, NEW.at, NEW.asker, NEW.server, NEW.kind, NEW.subject, NEW.decision, NEW.scope, NEW.decided_by,
            NEW.rule, NEW.conversation, NEW.hash, NEW.imported, NEW.link, NEW.content_bytes)
        IS (OLD.number, OLD.at, OLD.asker, OLD.server, OLD.kind, OLD.subject, OLD.decision, OLD.scope, OLD.decided_by,
            OLD.rule, OLD.conversation, OLD.hash, OLD.imported, OLD.link, OLD.content_bytes))
    BEGIN SELECT RAISE(ABORT, 'an entry of the audit log is never changed'); END;
";

/// What the content of an entry is encrypted for.
pub(super) const CONTENT: &str = "audit content";

/// The host looks for the latest entry of a kind at each start. Logs of older versions do not have it yet.
const INDEX_OF_KINDS: &str = "CREATE INDEX IF NOT EXISTS entry_of_kind ON entry (kind, number)";

/// The columns that [`entry`] reads, in its order.
pub(super) const COLUMNS: &str = "number, at, asker, server, kind, subject, decision, scope, decided_by, rule, conversation, \
    hash, imported, content_bytes, content, link";

const INSERT: &str = "INSERT INTO entry (number, at, asker, server, kind, subject, decision, scope, decided_by, rule, \
    conversation, hash, imported, content_bytes, content, link) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// So many parts of a schema at most are named.
const MOST_STRANGE: usize = 10;

/// The last entry that a checkpoint says was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) number: u64,
    pub(super) link: Link,
    pub(super) key: Option<String>,
    pub(super) mac: Option<Vec<u8>>,
}

impl Checkpoint {
    /// Whether it was sealed with this key.
    pub(super) fn is_sealed_with(&self, key: &SealKey) -> bool {
        self.key.as_deref() == Some(key.id.as_str())
            && self.mac.as_deref().is_some_and(|mac| key.holds(Sealed::Checkpoint, self.number, &self.link, mac))
    }
}

/// What is in the schema that this program did not make, or is missing from it. Through a view or a trigger, the same file
/// could show one log to the check and another one to its reader.
pub(super) fn strange_tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let own = Connection::open_in_memory()?;
    own.execute_batch(TABLES)?;
    own.execute_batch(ENCRYPTION)?;
    let mut wanted = schema_of(&own)?;
    let found = schema_of(connection)?;
    own.execute_batch(INDEX_OF_KINDS)?;
    let with_index = schema_of(&own)?;
    let mut strange: Vec<String> =
        found.iter().filter(|part| !with_index.contains(part)).map(|(_, name, _)| name.clone()).collect();
    wanted.retain(|part| !found.contains(part));
    strange.extend(wanted.into_iter().map(|(_, name, _)| name));
    strange.sort_unstable();
    strange.dedup();
    strange.truncate(MOST_STRANGE);
    Ok(strange)
}

/// The kind, the name and the text of each part of a schema.
fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    rows.collect()
}

/// Opens the database to write, and makes it if there is none. Tells if another program had changed it so that contents could not
/// be encrypted.
pub(super) fn open(path: &Path) -> Result<(Connection, bool), StoreError> {
    let connection = database::open(path, VERSION, &format!("{TABLES}{ENCRYPTION}"), upgrade)?;
    let fail = |error| failed(path, "open it", &error);
    leave_copying(&connection).map_err(fail)?;
    let was_mended = mend(&connection).map_err(fail)?;
    connection.execute_batch(INDEX_OF_KINDS).map_err(fail)?;
    Ok((connection, was_mended))
}

/// Makes what takes encrypted content where another program took it away. All contents are looked through again then. A table
/// of entries that has an unknown text stays, and refuses encrypted content.
fn mend(connection: &Connection) -> rusqlite::Result<bool> {
    if takes_encrypted(connection)? {
        return Ok(false);
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another program may have been faster.
    let is_mended = !takes_encrypted(&transaction)?;
    if is_mended {
        transaction.execute_batch("DROP TABLE IF EXISTS encryption")?;
        upgrade(&transaction)?;
    }
    transaction.commit()?;
    database::read_schema_again(connection)?;
    Ok(is_mended)
}

/// Makes the first version's tables those of the second one. A table that is not the first version's is left for the check to
/// find.
fn upgrade(connection: &Connection) -> rusqlite::Result<()> {
    let own = Connection::open_in_memory()?;
    own.execute_batch(TABLES)?;
    let after: String = own.query_row("SELECT sql FROM sqlite_schema WHERE name = 'entry'", [], |row| row.get(0))?;
    let before = after.replace("content ANY", "content TEXT");
    database::replace_text_of_table(connection, "entry", (&before, &after))?;
    connection.execute_batch("DROP TRIGGER IF EXISTS entry_stays_as_it_is")?;
    connection.execute_batch(ENCRYPTION)
}

/// Whether entries take encrypted content. They do unless somebody changed the table.
fn takes_encrypted(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'entry' AND instr(sql, 'content ANY') > 0) \
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'encryption')";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Opens the database to read; none if there is none.
pub(super) fn open_to_read(path: &Path) -> Result<Option<Connection>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let fail = |error| failed(path, "open it", &error);
    let connection = database::connect(path).map_err(fail)?;
    leave_copying(&connection).map_err(fail)?;
    let version = database::version_of(&connection).map_err(fail)?;
    Ok((version > 0).then_some(connection))
}

/// The journal is synced for many entries at once, and no result is shown before (sync.rs). The thread that syncs copies it,
/// so that no entry waits for that.
fn leave_copying(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// Writes an entry with its hash, its content encrypted if there is a key.
pub(super) fn insert(
    connection: &Connection,
    entry: &AuditEntry,
    link: &Link,
    key: Option<&ContentKey>,
) -> rusqlite::Result<()> {
    let content = match (&entry.content, key) {
        (None, _) => Value::Null,
        (Some(content), None) => Value::Text(content.clone()),
        (Some(content), Some(key)) => {
            Value::Blob(key.encrypt(CONTENT, content.as_bytes()).map_err(content_key::failed)?)
        }
    };
    let mut statement = connection.prepare_cached(INSERT)?;
    statement.execute(rusqlite::params![
        signed(entry.number),
        signed(entry.at),
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
        entry.content_bytes.map(signed),
        content,
        link.as_slice(),
    ])?;
    Ok(())
}

/// An entry as it was read.
pub(super) struct Read {
    pub(super) entry: AuditEntry,
    pub(super) link: Link,
    /// Whether its content is encrypted and could not be decrypted. The entry has none then, but for the length of what is written.
    pub(super) is_hidden: bool,
    /// Whether its content is not encrypted.
    pub(super) is_plain: bool,
}

/// Reads an entry and its hash.
pub(super) fn entry(row: &Row<'_>, key: Option<&ContentKey>) -> rusqlite::Result<Read> {
    let words = |at| row.get::<_, String>(at);
    let content_bytes = row.get::<_, Option<i64>>(13)?.map(unsigned);
    let is_plain = matches!(row.get_ref(14)?, ValueRef::Text(_));
    let (content, hidden) = match row.get_ref(14)? {
        ValueRef::Blob(bytes) => match key.map(|key| key.decrypt_text(CONTENT, bytes)) {
            Some(Ok(text)) => (Some(text), None),
            None | Some(Err(_)) => (None, Some(ContentKey::length_of(bytes) as u64)),
        },
        _ => (row.get(14)?, None),
    };
    let entry = AuditEntry {
        number: unsigned(row.get(0)?),
        at: unsigned(row.get(1)?),
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
    Ok(Read { entry, link: row.get(15)?, is_hidden: hidden.is_some(), is_plain })
}

/// The number and hash of the last entry; 0 and the start of all chains if there is none.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<(u64, Link)> {
    let mut statement = connection.prepare_cached("SELECT number, link FROM entry ORDER BY number DESC LIMIT 1")?;
    let found = statement.query_row([], |row| Ok((unsigned(row.get(0)?), row.get(1)?))).optional()?;
    Ok(found.unwrap_or((0, START)))
}

/// The hash of one entry; none if there is no such entry.
pub(super) fn link_of(connection: &Connection, number: u64) -> rusqlite::Result<Option<Link>> {
    let mut statement = connection.prepare_cached("SELECT link FROM entry WHERE number = ?1")?;
    statement.query_row([signed(number)], |row| row.get(0)).optional()
}

pub(super) fn seal(connection: &Connection) -> rusqlite::Result<Option<Seal>> {
    let mut statement = connection.prepare_cached("SELECT number, link, key, mac FROM seal")?;
    let read = |row: &Row<'_>| {
        Ok(Seal { number: unsigned(row.get(0)?), link: row.get(1)?, key: row.get(2)?, mac: row.get(3)? })
    };
    statement.query_row([], read).optional()
}

pub(super) fn put_seal(connection: &Connection, seal: &Seal) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO seal (id, number, link, key, mac) VALUES (1, ?1, ?2, ?3, ?4)")?;
    statement.execute(rusqlite::params![signed(seal.number), seal.link.as_slice(), seal.key, seal.mac])?;
    Ok(())
}

/// The number of the last entry that a checkpoint says was removed; 0 if none was.
pub(super) fn removed(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(checkpoint(connection)?.map_or(0, |checkpoint| checkpoint.number))
}

/// The latest checkpoint.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<Option<Checkpoint>> {
    let mut statement =
        connection.prepare_cached("SELECT number, link, key, mac FROM checkpoint ORDER BY number DESC LIMIT 1")?;
    let read = |row: &Row<'_>| {
        Ok(Checkpoint { number: unsigned(row.get(0)?), link: row.get(1)?, key: row.get(2)?, mac: row.get(3)? })
    };
    statement.query_row([], read).optional()
}
