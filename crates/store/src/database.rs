//! What the databases have in common: how one is opened, and how a failure is told.

use std::path::Path;
use std::time::{Duration, Instant};

use domain::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

/// How long to wait for other programs that write; they do so for milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);
/// Between two attempts at what SQLite itself does not wait for.
const RETRY_AFTER: Duration = Duration::from_millis(5);

/// Opens the database to write, and makes the file, for its owner alone, if there is none. `version` is what this program
/// knows, as `PRAGMA user_version` tells it; a file without has `tables` made in it, and an older one is upgraded in one
/// transaction.
pub(crate) fn open(path: &Path, version: i64, tables: &str, upgrade: Upgrade) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        crate::files::make_folder(folder)?;
    }
    // SQLite gives its other files the permissions of this one.
    let made = crate::private::file_options().write(true).create(true).truncate(false).open(path);
    made.map_err(|error| crate::files::failed(path, "open it", &error))?;
    let fail = |error| failed(path, "open it", &error);
    let connection = connect(path).map_err(fail)?;
    let found = version_of(&connection).map_err(fail)?;
    if found > version {
        let cause = "a newer Drawbridge wrote it; use that one, or move the file away to begin anew".to_owned();
        return Err(StoreError { path: path.display().to_string(), cause });
    }
    if found < version {
        make_tables(&connection, version, tables, upgrade).map_err(fail)?;
    }
    Ok(connection)
}

/// Which version of its program wrote the tables; 0 if there are none.
pub(crate) fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Connects to an existing file.
///
/// Blocks for up to [`PATIENCE`] while another connection has the file for itself: SQLite reports `SQLITE_BUSY` without
/// calling the busy handler while a new file becomes a WAL database, and while the last connection of another program
/// removes its WAL (<https://sqlite.org/wal.html>, section 2.2 and 9).
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match connect_once(path) {
            Err(error) if is_busy(&error) && Instant::now() < deadline => std::thread::sleep(RETRY_AFTER),
            result => return result,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn connect_once(path: &Path) -> rusqlite::Result<Connection> {
    // One thread at a time uses each connection.
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    // Only before the first table is made does this have an effect.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // What is written outlasts the program. What is copied from the journal into the database is synced by SQLite.
    connection.pragma_update(None, "synchronous", "normal")?;
    // What was removed is gone.
    connection.pragma_update(None, "secure_delete", true)?;
    // Whoever can write the file can write functions into its schema.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn make_tables(connection: &Connection, version: i64, tables: &str, upgrade: Upgrade) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another program may have been faster.
    let found = version_of(&transaction)?;
    if found == 0 {
        transaction.execute_batch(tables)?;
    } else if found < version {
        upgrade(&transaction)?;
    }
    if found < version {
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.commit()?;
    read_schema_again(connection)
}

/// Has a connection notice that the text of a table changed.
pub(crate) fn read_schema_again(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = RESET")
}

/// Brings the tables of an older version to the latest one.
pub(crate) type Upgrade = fn(&Connection) -> rusqlite::Result<()>;

/// Has columns of a table take values of all types. What they hold stays as it is, so only the table's text changes, as
/// <https://sqlite.org/lang_altertable.html#making_other_kinds_of_table_schema_changes> describes it. A table whose text is
/// not `before` is left alone.
pub(crate) fn replace_text_of_table(
    connection: &Connection,
    table: &str,
    (before, after): (&str, &str),
) -> rusqlite::Result<()> {
    let version: i64 = connection.pragma_query_value(None, "schema_version", |row| row.get(0))?;
    connection.pragma_update(None, "writable_schema", true)?;
    let sql = "UPDATE sqlite_schema SET sql = ?3 WHERE type = 'table' AND name = ?1 AND sql = ?2";
    let changed = connection.execute(sql, [table, before, after]);
    connection.pragma_update(None, "writable_schema", false)?;
    if changed? > 0 {
        connection.pragma_update(None, "schema_version", version + 1)?;
    }
    Ok(())
}

/// Gives some free pages back to the disk. Whether these were the last.
pub(crate) fn give_back(connection: &Connection, pages: i64) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each step gives some pages back.
    while rows.next()?.is_some() {}
    let left: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    Ok(left == 0)
}

/// Copies the journal into the database and empties it. Whether that was done: it can't be while another program reads for longer
/// than `wait`.
pub(crate) fn empty_journal(connection: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(wait)?;
    let is_done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0));
    connection.busy_timeout(PATIENCE)?;
    is_done
}

/// SQLite has signed numbers only; these are far from the end of either.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// An error that says what was tried, why it failed and what to do.
pub(crate) fn failed(path: &Path, tried: &str, error: &rusqlite::Error) -> StoreError {
    let next = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; make room on the disk",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "; check whose it is and who may write it",
        Some(ErrorCode::CannotOpen) => "; check that it is a file, whose it is and who may write it",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another program holds it: close other windows of Drawbridge and try again"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "; it is damaged: keep a copy of it, move it away, and a new one is begun"
        }
        Some(ErrorCode::SystemIoFailure) => "; check the disk",
        _ => "",
    };
    StoreError { path: path.display().to_string(), cause: format!("could not {tried}: {error}{next}") }
}
