//! Removing what is older, or more, than is to be kept. A checkpoint, sealed like the end, says what the first entry that is
//! left follows, and an entry in the chain says the same, so that nobody else can remove anything unseen.

use host::ports::AuditRetention;
use rusqlite::{Connection, TransactionBehavior};

use super::chain::{Link, hex};
use super::file::{self, signed, unsigned};
use super::log::{Failed, noted, write};
use super::seal::{Seal, SealKey, Sealed};

/// The kind of the entry that says what was removed.
pub(super) const REMOVED: &str = "log-shortened";

const DAY: u64 = 24 * 60 * 60 * 1_000;
const MEGABYTE: u64 = 1_000_000;
/// So many entries are removed in one transaction, so that no other program waits for long.
const AT_ONCE: u32 = 1_000;
/// To this part of its bound a log is brought that has grown over it, so that not every entry removes another, in percent.
const DOWN_TO: u64 = 90;

/// Removes what is to be kept no longer; whether there was any.
pub(super) fn retain(
    connection: &mut Connection,
    keep: AuditRetention,
    key: Option<&SealKey>,
) -> rusqlite::Result<bool> {
    let upto = last_to_remove(connection, keep)?;
    let removes = upto.is_some();
    if let Some(upto) = upto {
        record(connection, upto, key).map_err(Failed::into_sql)?;
    }
    remove(connection)?;
    Ok(removes)
}

/// The number of the last entry that is too old or too much.
fn last_to_remove(connection: &Connection, keep: AuditRetention) -> rusqlite::Result<Option<u64>> {
    let (last, _) = file::last(connection)?;
    let gone = file::checkpoint(connection)?.map_or(0, |checkpoint| checkpoint.number);
    let mut upto = gone;
    if keep.days > 0 {
        let bound = noted(REMOVED, String::new()).at.saturating_sub(u64::from(keep.days) * DAY);
        // The first one that is young enough stays with all after it, even if the clock was set back in between.
        let young = "SELECT min(number) FROM entry WHERE at >= ?1";
        let first: Option<i64> = connection.query_row(young, [signed(bound)], |row| row.get(0))?;
        upto = upto.max(first.map_or(last, |first| unsigned(first).saturating_sub(1)));
    }
    if keep.megabytes > 0 {
        let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map(unsigned);
        let size = (pragma("page_count")?.saturating_sub(pragma("freelist_count")?)) * pragma("page_size")?;
        let bound = u64::from(keep.megabytes) * MEGABYTE;
        let entries = last.saturating_sub(gone);
        if size > bound && entries > 0 {
            let stay = entries * (bound * DOWN_TO / 100) / size;
            upto = upto.max(last - stay);
        }
    }
    let exists = "SELECT max(number) FROM entry WHERE number <= ?1 AND number > ?2";
    let upto: Option<i64> = connection.query_row(exists, [signed(upto), signed(gone)], |row| row.get(0))?;
    Ok(upto.map(unsigned))
}

/// Writes the checkpoint and the entry about it.
fn record(connection: &mut Connection, upto: u64, key: Option<&SealKey>) -> Result<(), Failed> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(link) = file::link_of(&transaction, upto)? else { return Ok(()) };
    let mac = key.map(|key| key.seal(Sealed::Checkpoint, upto, &link));
    transaction.execute(
        "INSERT INTO checkpoint (number, link, key, mac) VALUES (?1, ?2, ?3, ?4)",
        rusqlite::params![signed(upto), link.as_slice(), key.map(|key| &key.id), mac],
    )?;
    let (last, previous) = file::last(&transaction)?;
    let mut entry = noted(REMOVED, format!("entries up to {upto}"));
    entry.number = last + 1;
    entry.hash = hex(&link);
    let link: Link = write(&transaction, &entry, &previous)?;
    if let Some(key) = key {
        let mac = key.seal(Sealed::Head, entry.number, &link);
        file::put_seal(&transaction, &Seal { number: entry.number, link, key: key.id.clone(), mac })?;
    }
    transaction.commit()?;
    Ok(())
}

/// Removes what the checkpoint says is removed. Until then nobody reads it any more.
fn remove(connection: &Connection) -> rusqlite::Result<()> {
    let sql = "DELETE FROM entry WHERE number IN \
        (SELECT number FROM entry WHERE number <= (SELECT coalesce(max(number), 0) FROM checkpoint) LIMIT ?1)";
    while connection.execute(sql, [AT_ONCE])? > 0 {}
    crate::database::give_back(connection)
}
