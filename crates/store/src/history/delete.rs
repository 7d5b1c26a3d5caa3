//! Deleting a conversation, so that nothing of it is left in the files.

use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::file;
use crate::database;

/// How long to wait for other programs that read, to empty the journal. If they read for longer it is done later.
const CLEARING: Duration = Duration::from_millis(200);

/// Deletes a conversation with all that is in it. Whether there was one.
pub(super) fn conversation(connection: &mut Connection, id: &str) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some((number, _)) = file::conversation(&transaction, id)? else { return Ok(false) };
    let items: Vec<i64> = {
        let mut statement = transaction.prepare_cached("SELECT number FROM item WHERE conversation = ?1")?;
        statement.query_map([number], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?
    };
    for item in items {
        file::say(&transaction, item, "")?;
        file::let_go(&transaction, item)?;
    }
    for sql in [
        "DELETE FROM item WHERE conversation = ?1",
        "DELETE FROM source WHERE conversation = ?1",
        "DELETE FROM conversation WHERE number = ?1",
    ] {
        transaction.prepare_cached(sql)?.execute([number])?;
    }
    transaction.commit()?;
    Ok(true)
}

/// Clears the files of what was deleted. SQLite has written over it in its pages; what the index keeps beside its words (where
/// its pages begin) is written anew, pages that are free are given back, and the journal is emptied. Whether all was done: it
/// can't be while another program reads.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<bool> {
    connection.execute_batch("INSERT INTO word (word) VALUES ('optimize')")?;
    database::give_back(connection)?;
    connection.busy_timeout(CLEARING)?;
    let is_done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0));
    connection.busy_timeout(database::PATIENCE)?;
    is_done
}
