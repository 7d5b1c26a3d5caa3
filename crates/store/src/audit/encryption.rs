//! Encrypting contents that were written without a key: before the keychain answered, or by an older version. Each step is one
//! transaction between entries, so nobody waits for long, and it goes on where a program was killed.
//!
//! The chain is over what entries say and not over how it is stored, so their hashes and the seal stay.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::file::CONTENT;
use crate::content_key::{self, ContentKey};
use crate::database;

/// How long to wait for other programs that read, to empty the journal.
const CLEARING: Duration = Duration::from_millis(100);
/// How many contents are encrypted in one step.
const ROWS: i64 = 200;
/// How many entries are looked at in one step for plain content.
const LOOKED_AT: i64 = 1_000;

/// Contents are left that are not encrypted.
const ROWS_LEFT: i64 = 0;
/// The file is to be written anew, as SQLite leaves parts of older rows in its pages.
const PAGES_LEFT: i64 = 1;
/// The journal is to be emptied.
const JOURNAL_LEFT: i64 = 2;
/// Nothing plain is left.
const NOTHING_LEFT: i64 = 3;

/// What can be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Another step.
    Steps,
    /// To empty the journal, once no other program reads.
    Journal,
    /// Nothing.
    Nothing,
}

/// Notes that contents are written plain.
pub(super) fn note_plain(connection: &Connection) -> rusqlite::Result<()> {
    move_on(connection, ROWS_LEFT)
}

fn move_on(connection: &Connection, left: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO encryption (id, left) VALUES (1, ?1) \
        ON CONFLICT (id) DO UPDATE SET left = excluded.left WHERE left <> excluded.left";
    connection.prepare_cached(sql)?.execute([left]).map(|_| ())
}

fn left(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("SELECT left FROM encryption")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(ROWS_LEFT))
}

/// Whether all contents are encrypted.
pub(super) fn is_done(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(left(connection)? == NOTHING_LEFT)
}

/// Which entries were looked at for plain content, in a log that says that all is encrypted: another program can write that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// All up to this one.
    Upto(i64),
    /// All.
    AtAll,
}

/// Looks at some more entries. Returns true if there is plain content among them, until that is noted ([`note_plain`]).
pub(super) fn look(connection: &Connection, looked: &mut Looked) -> rusqlite::Result<bool> {
    let Looked::Upto(after) = *looked else { return Ok(false) };
    if !is_done(connection)? {
        // What is plain is encrypted, and noted as plain.
        *looked = Looked::AtAll;
        return Ok(false);
    }
    let sql = "SELECT max(number) FROM (SELECT number FROM entry WHERE number > ?1 ORDER BY number LIMIT ?2)";
    let last: Option<i64> = connection.prepare_cached(sql)?.query_row([after, LOOKED_AT], |row| row.get(0))?;
    let Some(last) = last else {
        *looked = Looked::AtAll;
        return Ok(false);
    };
    let sql = "SELECT EXISTS (SELECT 1 FROM entry WHERE number > ?1 AND number <= ?2 AND typeof(content) = 'text')";
    let has_plain: bool = connection.prepare_cached(sql)?.query_row([after, last], |row| row.get(0))?;
    if !has_plain {
        *looked = Looked::Upto(last);
    }
    Ok(has_plain)
}

/// Does one step. What `after` has is up to where it came, from 0 on.
pub(super) fn step(connection: &mut Connection, key: &ContentKey, after: &mut i64) -> rusqlite::Result<Left> {
    match left(connection)? {
        ROWS_LEFT => rows(connection, key, after),
        PAGES_LEFT => {
            connection.execute_batch("VACUUM")?;
            advance(connection, PAGES_LEFT, JOURNAL_LEFT)
        }
        JOURNAL_LEFT => {
            if !database::empty_journal(connection, CLEARING)? {
                return Ok(Left::Journal);
            }
            advance(connection, JOURNAL_LEFT, NOTHING_LEFT)
        }
        _ => Ok(Left::Nothing),
    }
}

/// Another program may have written plain content meanwhile.
fn advance(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<Left> {
    connection.execute("UPDATE encryption SET left = ?2 WHERE left = ?1", [from, to])?;
    Ok(Left::Steps)
}

fn rows(connection: &mut Connection, key: &ContentKey, after: &mut i64) -> rusqlite::Result<Left> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let plain: Vec<(i64, String)> = {
        let sql = "SELECT number, content FROM entry WHERE number > ?2 AND typeof(content) = 'text' \
            ORDER BY number LIMIT ?1";
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map([ROWS, *after], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for (number, content) in &plain {
        let encrypted = key.encrypt(CONTENT, content.as_bytes()).map_err(content_key::failed)?;
        let sql = "UPDATE entry SET content = ?2 WHERE number = ?1";
        transaction.prepare_cached(sql)?.execute(params![number, encrypted])?;
    }
    if plain.is_empty() {
        move_on(&transaction, PAGES_LEFT)?;
    }
    transaction.commit()?;
    *after = plain.last().map_or(0, |(number, _)| *number);
    Ok(Left::Steps)
}
