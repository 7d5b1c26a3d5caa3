//! Encrypts contents that were written without a key: before the keychain responded, or by an older version. Each step
//! is one transaction between writes, so that writers wait only briefly, and an interrupted migration can continue.
//!
//! The hash chain covers the plaintext of entries, so hashes and seal stay valid.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::audit_tables::ENTRY_ENCRYPTION_PURPOSE;
use crate::content_key::{self, ContentKey};
use crate::database;

/// Maximum time that emptying the write-ahead journal waits for other processes that read the database.
const JOURNAL_EMPTYING_TIMEOUT: Duration = Duration::from_millis(100);
/// Number of log entries whose content is encrypted in one step.
const ENCRYPTED_ROWS_PER_STEP: i64 = 200;
/// Number of log entries that one step searches for unencrypted content.
const ENTRIES_CHECKED_PER_STEP: i64 = 1_000;

/// Value of the column `encryption.left` (remaining work of the encryption): some entries still have unencrypted
/// content.
const ENCRYPTION_STATE_ENCRYPTING_ROWS: i64 = 0;
/// Value of the column `encryption.left` (remaining work of the encryption): all entries are encrypted, but the file
/// must be rewritten, because SQLite leaves parts of older rows in its pages.
const ENCRYPTION_STATE_REWRITING_FILE: i64 = 1;
/// Value of the column `encryption.left` (remaining work of the encryption): the write-ahead journal must be emptied.
const ENCRYPTION_STATE_EMPTYING_JOURNAL: i64 = 2;
/// Value of the column `encryption.left` (remaining work of the encryption): no unencrypted content remains.
const ENCRYPTION_STATE_COMPLETE: i64 = 3;

/// The work that remains after an encryption step ([`encryption_step`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EncryptionProgress {
    /// [`encryption_step`] must be called again.
    MoreSteps,
    /// Only the write-ahead journal may contain unencrypted content. It can be emptied once no other process reads the
    /// database.
    JournalNotEmptied,
    /// All contents are encrypted, and no unencrypted copy remains.
    Complete,
}

/// Records in the audit database that it contains unencrypted content, which must be encrypted later.
pub(super) fn record_unencrypted_content(connection: &Connection) -> rusqlite::Result<()> {
    set_encryption_state(connection, ENCRYPTION_STATE_ENCRYPTING_ROWS)
}

fn set_encryption_state(connection: &Connection, left: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO encryption (id, left) VALUES (1, ?1) \
        ON CONFLICT (id) DO UPDATE SET left = excluded.left WHERE left <> excluded.left";
    connection.prepare_cached(sql)?.execute([left]).map(|_| ())
}

fn encryption_state(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("SELECT left FROM encryption")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(ENCRYPTION_STATE_ENCRYPTING_ROWS))
}

/// Returns `true` if the audit database records that all contents are encrypted.
pub(super) fn is_fully_encrypted(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(encryption_state(connection)? == ENCRYPTION_STATE_COMPLETE)
}

/// Progress of the search for unencrypted content in a log that is marked as fully encrypted. Another program may have
/// added such content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnencryptedContentSearch {
    /// All entries up to this number were searched.
    UpTo(i64),
    /// The search is complete.
    Complete,
}

/// Searches the next [`ENTRIES_CHECKED_PER_STEP`] entries for unencrypted content. If they contain some, returns
/// `true`, and repeated calls search the same entries until [`record_unencrypted_content`] is called.
pub(super) fn find_unencrypted_content(
    connection: &Connection,
    search: &mut UnencryptedContentSearch,
) -> rusqlite::Result<bool> {
    let UnencryptedContentSearch::UpTo(after) = *search else { return Ok(false) };
    if !is_fully_encrypted(connection)? {
        // The log is not marked as fully encrypted, so the migration will find such content.
        *search = UnencryptedContentSearch::Complete;
        return Ok(false);
    }
    let sql = "SELECT max(number) FROM (SELECT number FROM entry WHERE number > ?1 ORDER BY number LIMIT ?2)";
    let last: Option<i64> =
        connection.prepare_cached(sql)?.query_row([after, ENTRIES_CHECKED_PER_STEP], |row| row.get(0))?;
    let Some(last) = last else {
        *search = UnencryptedContentSearch::Complete;
        return Ok(false);
    };
    let sql = "SELECT EXISTS (SELECT 1 FROM entry WHERE number > ?1 AND number <= ?2 AND typeof(content) = 'text')";
    let has_plain: bool = connection.prepare_cached(sql)?.query_row([after, last], |row| row.get(0))?;
    if !has_plain {
        *search = UnencryptedContentSearch::UpTo(last);
    }
    Ok(has_plain)
}

/// Performs the next step of encrypting entries that were written without a key. `after` is the number of the last
/// entry that was processed, initially 0.
pub(super) fn encryption_step(
    connection: &mut Connection,
    key: &ContentKey,
    after: &mut i64,
) -> rusqlite::Result<EncryptionProgress> {
    match encryption_state(connection)? {
        ENCRYPTION_STATE_ENCRYPTING_ROWS => encrypt_rows(connection, key, after),
        ENCRYPTION_STATE_REWRITING_FILE => {
            connection.execute_batch("VACUUM")?;
            advance_encryption_state(connection, ENCRYPTION_STATE_REWRITING_FILE, ENCRYPTION_STATE_EMPTYING_JOURNAL)
        }
        ENCRYPTION_STATE_EMPTYING_JOURNAL => {
            if !database::empty_write_ahead_journal(connection, JOURNAL_EMPTYING_TIMEOUT)? {
                return Ok(EncryptionProgress::JournalNotEmptied);
            }
            advance_encryption_state(connection, ENCRYPTION_STATE_EMPTYING_JOURNAL, ENCRYPTION_STATE_COMPLETE)
        }
        _ => Ok(EncryptionProgress::Complete),
    }
}

/// Changes the value of `encryption.left` from `from` to `to`, unless another process has written unencrypted content
/// since this step began.
fn advance_encryption_state(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<EncryptionProgress> {
    connection.execute("UPDATE encryption SET left = ?2 WHERE left = ?1", [from, to])?;
    Ok(EncryptionProgress::MoreSteps)
}

fn encrypt_rows(
    connection: &mut Connection,
    key: &ContentKey,
    after: &mut i64,
) -> rusqlite::Result<EncryptionProgress> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let plain: Vec<(i64, String)> = {
        let sql = "SELECT number, content FROM entry WHERE number > ?2 AND typeof(content) = 'text' \
            ORDER BY number LIMIT ?1";
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map([ENCRYPTED_ROWS_PER_STEP, *after], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    for (number, content) in &plain {
        let encrypted =
            key.encrypt(ENTRY_ENCRYPTION_PURPOSE, content.as_bytes()).map_err(content_key::sql_cipher_error)?;
        let sql = "UPDATE entry SET content = ?2 WHERE number = ?1";
        transaction.prepare_cached(sql)?.execute(params![number, encrypted])?;
    }
    if plain.is_empty() {
        set_encryption_state(&transaction, ENCRYPTION_STATE_REWRITING_FILE)?;
    }
    transaction.commit()?;
    *after = plain.last().map_or(0, |(number, _)| *number);
    Ok(EncryptionProgress::MoreSteps)
}
