//! Removes entries beyond the limits of age and size. A sealed checkpoint records number and hash of the last removed
//! entry, and a new entry in the chain records the same hash, so that other programs cannot remove entries unnoticed.

use ports::AuditRetention;
use rusqlite::{Connection, OptionalExtension as _};

use super::audit_tables::{self, sql_integer_to_u64, u64_to_sql_integer};
use super::chain::{CHAIN_LINK_BEFORE_FIRST_ENTRY, ChainLink};
use super::mac_key::{MacKey, SealedEntryKind};
use super::write_log::{LOG_UNSEALED_KIND, first_broken_link, new_log_entry, parse_unsealed_range};

/// Kind of the log entry that records the removal of older entries.
pub(super) const LOG_SHORTENED_KIND: &str = "log-shortened";

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;
const MEGABYTE: u64 = 1_000_000;
/// Maximum number of log entries that are removed in one step, so that writers wait only briefly.
const REMOVED_ENTRIES_PER_STEP: u32 = 200;
/// Maximum number of free database pages that are returned to the file system in one step.
const RELEASED_PAGES_PER_STEP: u32 = 1_000;
/// Size to which a log over its size limit is reduced, in percent of the limit, so that not every new entry causes a
/// removal.
const LOG_SIZE_TARGET_PERCENT: u64 = 90;

/// Log entries to remove: all entries up to the number `upto`.
pub(super) struct LogEntryRemoval {
    /// Number of the last entry to remove.
    pub(super) upto: u64,
    /// Set if some of the entries are removed only because of the size limit.
    is_for_size_limit: bool,
}

/// Returns which log entries exceed the limits of age and size and must be removed, or `None` if there are none.
pub(super) fn find_due_removal(
    connection: &Connection,
    keep: AuditRetention,
) -> rusqlite::Result<Option<LogEntryRemoval>> {
    let (last, _) = audit_tables::last_entry(connection)?;
    let removed = audit_tables::last_removed_entry_number(connection)?;
    let (mut upto, mut is_for_size_limit) = (removed, false);
    if keep.days > 0 {
        let bound =
            new_log_entry(LOG_SHORTENED_KIND, String::new()).at.saturating_sub(u64::from(keep.days) * DAY_MILLIS);
        // The first recent entry and all later ones are retained, even if the clock was set back in between.
        let young = "SELECT number FROM entry WHERE number > ?2 AND +at >= ?1 ORDER BY number LIMIT 1";
        let first: Option<i64> = connection
            .query_row(young, [u64_to_sql_integer(bound), u64_to_sql_integer(removed)], |row| row.get(0))
            .optional()?;
        upto = upto.max(first.map_or(last, |first| sql_integer_to_u64(first).saturating_sub(1)));
    }
    if keep.megabytes > 0 {
        let pragma =
            |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map(sql_integer_to_u64);
        let size = (pragma("page_count")?.saturating_sub(pragma("freelist_count")?)) * pragma("page_size")?;
        let bound = u64::from(keep.megabytes) * MEGABYTE;
        let entries = last.saturating_sub(removed);
        if size > bound && entries > 0 {
            let size = size.saturating_sub(unsealed_entries_size_bytes(connection, removed)?);
            let stay = if size > bound { entries * (bound * LOG_SIZE_TARGET_PERCENT / 100) / size } else { entries };
            is_for_size_limit = last - stay > upto;
            upto = upto.max(last - stay);
        }
    }
    let exists = "SELECT max(number) FROM entry WHERE number <= ?1 AND number > ?2";
    let upto: Option<i64> =
        connection.query_row(exists, [u64_to_sql_integer(upto), u64_to_sql_integer(removed)], |row| row.get(0))?;
    Ok(upto.map(|upto| LogEntryRemoval { upto: sql_integer_to_u64(upto), is_for_size_limit }))
}

/// Returns the size, in bytes, of the log entries that were found without a seal, as entries of the kind
/// [`LOG_UNSEALED_KIND`] state. Other programs may have written them, so they do not count towards the size limit and
/// can't displace entries of Drawbridge.
fn unsealed_entries_size_bytes(connection: &Connection, removed: u64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare("SELECT subject FROM entry WHERE kind = ?1 AND number > ?2")?;
    let mut rows = statement.query(rusqlite::params![LOG_UNSEALED_KIND, u64_to_sql_integer(removed)])?;
    let bytes = |column: &str| format!("length(CAST(coalesce({column}, '') AS BLOB))");
    // The indexes contain `server` and `kind` a second time.
    let columns = ["asker", "server", "server", "kind", "kind", "subject", "decision", "scope", "decided_by", "rule"];
    let more = ["conversation", "hash", "content"];
    let sum = columns.iter().chain(&more).map(|column| bytes(column)).collect::<Vec<_>>().join(" + ");
    let sum = format!("SELECT coalesce(sum({sum}), 0) FROM entry WHERE number BETWEEN ?1 AND ?2");
    let mut size = 0_u64;
    while let Some(row) = rows.next()? {
        let Some((from, to)) = parse_unsealed_range(&row.get::<_, String>(0)?) else { continue };
        let own: i64 =
            connection.query_row(&sum, [u64_to_sql_integer(from.max(removed + 1)), u64_to_sql_integer(to)], |row| {
                row.get(0)
            })?;
        size = size.saturating_add(sql_integer_to_u64(own));
    }
    Ok(size)
}

/// Returns the reason why no log entry may be removed, or `None` if removal is allowed. A removal after a change by
/// another program would destroy the evidence of that change.
pub(super) fn reason_against_entry_removal(
    connection: &Connection,
    removal: &LogEntryRemoval,
    key: Option<&MacKey>,
) -> rusqlite::Result<Option<String>> {
    let unexpected = audit_tables::unexpected_schema_parts(connection)?;
    if !unexpected.is_empty() {
        return Ok(Some(format!("its tables are not those that Drawbridge made: {}", unexpected.join(", "))));
    }
    let checkpoint = audit_tables::read_removal_checkpoint(connection)?;
    if let (Some(key), Some(checkpoint)) = (key, &checkpoint)
        && !checkpoint.is_sealed_with(key)
    {
        let number = checkpoint.number;
        return Ok(Some(format!("the record that entries up to {number} were removed was not made by Drawbridge")));
    }
    let begin =
        checkpoint.map_or((0, CHAIN_LINK_BEFORE_FIRST_ENTRY), |checkpoint| (checkpoint.number, checkpoint.link));
    // For a removal because of size, the remaining entries are checked as well: another program may have enlarged them
    // to cause the removal.
    let upto = (!removal.is_for_size_limit).then_some(removal.upto);
    let broken = first_broken_link(connection, begin, upto, key)?;
    Ok(broken.map(|number| format!("entry {number} or one before it was changed or removed")))
}

/// Adds a seal (a MAC with this key) to the latest checkpoint, which records the last removed entry.
pub(super) fn write_checkpoint_seal(connection: &Connection, key: &MacKey) -> rusqlite::Result<()> {
    let Some(checkpoint) = audit_tables::read_removal_checkpoint(connection)? else { return Ok(()) };
    let mac = key.compute_mac(SealedEntryKind::LastRemovedEntry, checkpoint.number, &checkpoint.link);
    // Replacing a row does not fire delete triggers.
    connection.execute(
        "INSERT OR REPLACE INTO checkpoint (number, link, key, mac) VALUES (?1, ?2, ?3, ?4)",
        rusqlite::params![u64_to_sql_integer(checkpoint.number), checkpoint.link.as_slice(), key.id, mac],
    )?;
    Ok(())
}

/// Writes a checkpoint, which permits the removal of all log entries up to `upto`. Returns the hash of entry `upto`, or
/// `None` if that entry does not exist.
pub(super) fn write_removal_checkpoint(
    connection: &Connection,
    upto: u64,
    key: Option<&MacKey>,
) -> rusqlite::Result<Option<ChainLink>> {
    let Some(link) = audit_tables::entry_chain_link(connection, upto)? else { return Ok(None) };
    let mac = key.map(|key| key.compute_mac(SealedEntryKind::LastRemovedEntry, upto, &link));
    connection.execute(
        "INSERT INTO checkpoint (number, link, key, mac) VALUES (?1, ?2, ?3, ?4)",
        rusqlite::params![u64_to_sql_integer(upto), link.as_slice(), key.map(|key| &key.id), mac],
    )?;
    Ok(Some(link))
}

/// Removes a batch of the log entries that the checkpoint allows to remove. Returns `true` if more of them remain.
pub(super) fn remove_batch(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM entry WHERE number IN \
        (SELECT number FROM entry WHERE number <= (SELECT coalesce(max(number), 0) FROM checkpoint) LIMIT ?1)";
    let removed = connection.execute(sql, [REMOVED_ENTRIES_PER_STEP])?;
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let before = free()?;
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({RELEASED_PAGES_PER_STEP})"))?;
    let mut rows = statement.query([])?;
    // Each row that the statement returns stands for one page that was returned to the file system.
    while rows.next()?.is_some() {}
    drop(rows);
    let left = free()?;
    // Otherwise the journal would grow to the size of all removed entries.
    connection.pragma_update_and_check(None, "wal_checkpoint", "passive", |_| Ok(()))?;
    Ok(removed > 0 || (left > 0 && left < before))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use ports::AuditEntry;

    use super::*;
    use crate::audit::write_log::AuditWriteLog;

    #[test]
    fn entries_are_removed_in_steps_and_the_journal_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let (path, older) = (folder.path().join("audit.db"), folder.path().join("audit.jsonl"));
        let mut log = AuditWriteLog::open(&path, &older).unwrap();
        let entry = || AuditEntry { at: 1, content: Some("x".repeat(10_000)), ..AuditEntry::default() };
        for _ in 0..10 {
            log.append(&mut (0..200).map(|_| entry()).collect::<Vec<_>>(), None).unwrap();
        }
        drop(log);
        let mut log = AuditWriteLog::open(&path, &older).unwrap();
        log.apply_retention(AuditRetention { days: 1, megabytes: 0 }, None).unwrap();
        let left = || {
            let other = audit_tables::open_for_reading(&path).unwrap().unwrap();
            other.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(left(), 2_001, "the removal must be recorded before entries are removed");
        assert!(log.remove_batch().unwrap(), "one step must remove a part");
        assert_eq!(left(), 2_001 - i64::from(REMOVED_ENTRIES_PER_STEP), "one step must remove no more than its limit");
        let mut longest = 0;
        while log.remove_batch().unwrap() {
            let journal = std::fs::metadata(folder.path().join("audit.db-wal")).unwrap().len();
            longest = longest.max(journal);
        }
        assert_eq!(left(), 1, "all entries must be removed");
        assert!(longest < 10_000_000, "20 MB were removed with a journal of {longest} bytes");
        assert!(std::fs::metadata(&path).unwrap().len() < 1_000_000, "the disk space must be released");
    }
}
