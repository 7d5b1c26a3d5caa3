//! Removing what is older, or more, than is to be kept. A checkpoint, sealed like the end, says what the first entry that is
//! left follows, and an entry in the chain says the same, so that nobody else can remove anything unseen.

use ports::AuditRetention;
use rusqlite::{Connection, OptionalExtension as _};

use super::chain::{Link, START};
use super::file::{self, signed, unsigned};
use super::log::{UNSEALED, first_broken, noted, unsealed_range};
use super::seal::{SealKey, Sealed};

/// The kind of the entry that says what was removed.
pub(super) const REMOVED: &str = "log-shortened";

const DAY: u64 = 24 * 60 * 60 * 1_000;
const MEGABYTE: u64 = 1_000_000;
/// So many entries are removed at once, so that nobody waits for long who has something to write.
const AT_ONCE: u32 = 200;
/// So many free pages are given back to the system at once.
const PAGES_AT_ONCE: u32 = 1_000;
/// To this part of its bound a log is brought that has grown over it, so that not every entry removes another, in percent.
const DOWN_TO: u64 = 90;

/// What is to be removed.
pub(super) struct Removal {
    /// The last entry that goes.
    pub(super) upto: u64,
    /// Whether some of it goes only for want of room.
    for_room: bool,
}

/// The entries that are too old or too much; none if there are no such entries.
pub(super) fn due(connection: &Connection, keep: AuditRetention) -> rusqlite::Result<Option<Removal>> {
    let (last, _) = file::last(connection)?;
    let gone = file::removed(connection)?;
    let (mut upto, mut for_room) = (gone, false);
    if keep.days > 0 {
        let bound = noted(REMOVED, String::new()).at.saturating_sub(u64::from(keep.days) * DAY);
        // The first one that is young enough stays with all after it, even if the clock was set back in between.
        let young = "SELECT number FROM entry WHERE number > ?2 AND +at >= ?1 ORDER BY number LIMIT 1";
        let first: Option<i64> =
            connection.query_row(young, [signed(bound), signed(gone)], |row| row.get(0)).optional()?;
        upto = upto.max(first.map_or(last, |first| unsigned(first).saturating_sub(1)));
    }
    if keep.megabytes > 0 {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map(unsigned);
        let size = (pragma("page_count")?.saturating_sub(pragma("freelist_count")?)) * pragma("page_size")?;
        let bound = u64::from(keep.megabytes) * MEGABYTE;
        let entries = last.saturating_sub(gone);
        if size > bound && entries > 0 {
            let size = size.saturating_sub(unproved_size(connection, gone)?);
            let stay = if size > bound { entries * (bound * DOWN_TO / 100) / size } else { entries };
            for_room = last - stay > upto;
            upto = upto.max(last - stay);
        }
    }
    let exists = "SELECT max(number) FROM entry WHERE number <= ?1 AND number > ?2";
    let upto: Option<i64> = connection.query_row(exists, [signed(upto), signed(gone)], |row| row.get(0))?;
    Ok(upto.map(|upto| Removal { upto: unsigned(upto), for_room }))
}

/// The size of entries that nothing proves: what another program wrote must not push out what Drawbridge did.
fn unproved_size(connection: &Connection, gone: u64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare("SELECT subject FROM entry WHERE kind = ?1 AND number > ?2")?;
    let mut rows = statement.query(rusqlite::params![UNSEALED, signed(gone)])?;
    let bytes = |column: &str| format!("length(CAST(coalesce({column}, '') AS BLOB))");
    // The index of servers has their names once more, and that of kinds the kinds.
    let columns = ["asker", "server", "server", "kind", "kind", "subject", "decision", "scope", "decided_by", "rule"];
    let more = ["conversation", "hash", "content"];
    let sum = columns.iter().chain(&more).map(|column| bytes(column)).collect::<Vec<_>>().join(" + ");
    let sum = format!("SELECT coalesce(sum({sum}), 0) FROM entry WHERE number BETWEEN ?1 AND ?2");
    let mut size = 0_u64;
    while let Some(row) = rows.next()? {
        let Some((from, to)) = unsealed_range(&row.get::<_, String>(0)?) else { continue };
        let own: i64 = connection.query_row(&sum, [signed(from.max(gone + 1)), signed(to)], |row| row.get(0))?;
        size = size.saturating_add(unsigned(own));
    }
    Ok(size)
}

/// Why nothing may be removed, in words: a removal would take the proof away with what another program changed.
pub(super) fn doubt(
    connection: &Connection,
    removal: &Removal,
    key: Option<&SealKey>,
) -> rusqlite::Result<Option<String>> {
    let strange = file::strange_tables(connection)?;
    if !strange.is_empty() {
        return Ok(Some(format!("its tables are not those that Drawbridge made: {}", strange.join(", "))));
    }
    let checkpoint = file::checkpoint(connection)?;
    if let (Some(key), Some(checkpoint)) = (key, &checkpoint)
        && !checkpoint.is_sealed_with(key)
    {
        let number = checkpoint.number;
        return Ok(Some(format!("the record that entries up to {number} were removed was not made by Drawbridge")));
    }
    let begin = checkpoint.map_or((0, START), |checkpoint| (checkpoint.number, checkpoint.link));
    // For want of room, also those that stay count: they may be larger than they were.
    let upto = (!removal.for_room).then_some(removal.upto);
    let broken = first_broken(connection, begin, upto, key)?;
    Ok(broken.map(|number| format!("entry {number} or one before it was changed or removed")))
}

/// Seals the latest checkpoint anew.
pub(super) fn seal_checkpoint(connection: &Connection, key: &SealKey) -> rusqlite::Result<()> {
    let Some(checkpoint) = file::checkpoint(connection)? else { return Ok(()) };
    let mac = key.seal(Sealed::Checkpoint, checkpoint.number, &checkpoint.link);
    // A row that is replaced in this way is not removed as far as triggers are concerned.
    connection.execute(
        "INSERT OR REPLACE INTO checkpoint (number, link, key, mac) VALUES (?1, ?2, ?3, ?4)",
        rusqlite::params![signed(checkpoint.number), checkpoint.link.as_slice(), key.id, mac],
    )?;
    Ok(())
}

/// Writes the checkpoint, and gives the hash of the last entry that goes; none if there is no such entry.
pub(super) fn record(connection: &Connection, upto: u64, key: Option<&SealKey>) -> rusqlite::Result<Option<Link>> {
    let Some(link) = file::link_of(connection, upto)? else { return Ok(None) };
    let mac = key.map(|key| key.seal(Sealed::Checkpoint, upto, &link));
    connection.execute(
        "INSERT INTO checkpoint (number, link, key, mac) VALUES (?1, ?2, ?3, ?4)",
        rusqlite::params![signed(upto), link.as_slice(), key.map(|key| &key.id), mac],
    )?;
    Ok(Some(link))
}

/// Removes some of what the checkpoint says is removed; whether there is more to do. Until then nobody reads it any more.
pub(super) fn remove_some(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM entry WHERE number IN \
        (SELECT number FROM entry WHERE number <= (SELECT coalesce(max(number), 0) FROM checkpoint) LIMIT ?1)";
    let removed = connection.execute(sql, [AT_ONCE])?;
    let free = || connection.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let before = free()?;
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let mut rows = statement.query([])?;
    // Each step gives some pages back.
    while rows.next()?.is_some() {}
    drop(rows);
    let left = free()?;
    // The journal would grow to the size of all that is removed.
    connection.pragma_update_and_check(None, "wal_checkpoint", "passive", |_| Ok(()))?;
    Ok(removed > 0 || (left > 0 && left < before))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use ports::AuditEntry;

    use super::*;
    use crate::audit::log::Log;

    #[test]
    fn it_is_removed_in_parts_and_the_journal_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let (path, older) = (folder.path().join("audit.db"), folder.path().join("audit.jsonl"));
        let mut log = Log::open(&path, &older).unwrap();
        let entry = || AuditEntry { at: 1, content: Some("x".repeat(10_000)), ..AuditEntry::default() };
        for _ in 0..10 {
            log.append(&mut (0..200).map(|_| entry()).collect::<Vec<_>>(), None).unwrap();
        }
        drop(log);
        let mut log = Log::open(&path, &older).unwrap();
        log.retain(AuditRetention { days: 1, megabytes: 0 }, None).unwrap();
        let left = || {
            let other = file::open_to_read(&path).unwrap().unwrap();
            other.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(left(), 2_001, "what goes is written down first");
        assert!(log.remove_some().unwrap(), "one part is removed, and there is more");
        assert_eq!(left(), 2_001 - i64::from(AT_ONCE), "no more than that, so that an entry need not wait for all");
        let mut longest = 0;
        while log.remove_some().unwrap() {
            let journal = std::fs::metadata(folder.path().join("audit.db-wal")).unwrap().len();
            longest = longest.max(journal);
        }
        assert_eq!(left(), 1, "in the end all of it is gone");
        assert!(longest < 10_000_000, "20 MB were removed with a journal of {longest} bytes");
        assert!(std::fs::metadata(&path).unwrap().len() < 1_000_000, "and the room is given back");
    }
}
