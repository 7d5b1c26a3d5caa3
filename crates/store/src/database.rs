//! Functions that all SQLite databases of the store use: opening, schema upgrades, and error messages.

use std::path::Path;
use std::time::{Duration, Instant};

use domain::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

/// Maximum time to wait while another process writes to the database. A write usually takes milliseconds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause between two attempts to connect to a database, after errors for which SQLite itself does not wait.
const CONNECT_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Opens the database for writing. If the file does not exist, creates it, accessible only to its owner, and creates
/// its tables with the SQL statements in `tables`. `version` is the latest schema version, which `PRAGMA user_version`
/// stores. If the file has an older version, `upgrade` changes its tables. Each of these changes is one transaction.
pub(crate) fn open(path: &Path, version: i64, tables: &str, upgrade: SchemaUpgrade) -> Result<Connection, StoreError> {
    if let Some(folder) = path.parent() {
        crate::files::make_folder(folder)?;
    }
    // SQLite gives its other files the permissions of this one.
    let made = crate::private_files::private_file_options().write(true).create(true).truncate(false).open(path);
    made.map_err(|error| crate::files::file_error(path, "open it", &error))?;
    let fail = |error| database_error(path, "open it", &error);
    let connection = connect(path).map_err(fail)?;
    let found = schema_version(&connection).map_err(fail)?;
    if found > version {
        let cause = "a newer Drawbridge wrote it; use that one, or move the file away to begin anew".to_owned();
        return Err(StoreError { path: path.display().to_string(), cause });
    }
    if found < version {
        create_or_upgrade_tables(&connection, version, tables, upgrade).map_err(fail)?;
    }
    Ok(connection)
}

/// Returns the schema version of a database, or 0 if the database has no tables.
pub(crate) fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Connects to an existing SQLite database file.
///
/// Blocks for up to [`BUSY_TIMEOUT`] while another connection has exclusive access: SQLite reports `SQLITE_BUSY`
/// without calling the busy handler while a new file becomes a WAL database, and while the last connection of another
/// process removes its WAL (<https://sqlite.org/wal.html>, section 2.2 and 9).
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match try_connect_once(path) {
            Err(error) if is_database_busy_error(&error) && Instant::now() < deadline => {
                std::thread::sleep(CONNECT_RETRY_INTERVAL)
            }
            result => return result,
        }
    }
}

fn is_database_busy_error(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn try_connect_once(path: &Path) -> rusqlite::Result<Connection> {
    // Each database connection is used by one thread at a time.
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Takes effect only before the first table is created.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // Written data survives a crash of the process. SQLite syncs data when it is copied from the journal into the
    // database.
    connection.pragma_update(None, "synchronous", "normal")?;
    // Overwrites deleted content.
    connection.pragma_update(None, "secure_delete", true)?;
    // A program with write access to the file could add functions to its schema.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn create_or_upgrade_tables(
    connection: &Connection,
    version: i64,
    tables: &str,
    upgrade: SchemaUpgrade,
) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another process may have created the tables meanwhile.
    let found = schema_version(&transaction)?;
    if found == 0 {
        transaction.execute_batch(tables)?;
    } else if found < version {
        upgrade(&transaction)?;
    }
    if found < version {
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.commit()?;
    reload_schema(connection)
}

/// Makes a database connection read the schema again after the text of a table definition was replaced.
pub(crate) fn reload_schema(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA writable_schema = RESET")
}

/// Function that upgrades the tables of an older schema version to the latest version.
pub(crate) type SchemaUpgrade = fn(&Connection) -> rusqlite::Result<()>;

/// Changes the definition of a table so that columns accept values of all types. Stored values do not change, so only
/// the text of the definition is replaced, as
/// <https://sqlite.org/lang_altertable.html#making_other_kinds_of_table_schema_changes> describes. Does nothing if the
/// present definition differs from `before`.
pub(crate) fn replace_table_definition(
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

/// Releases at most `pages` free pages of the database to the file system. Returns `true` if no free pages remain.
pub(crate) fn release_free_pages(connection: &Connection, pages: i64) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = statement.query([])?;
    // Each row that the statement returns stands for one page that was returned to the file system.
    while rows.next()?.is_some() {}
    let left: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    Ok(left == 0)
}

/// Copies the write-ahead journal into the database, and truncates the journal. Returns `false` if the journal could
/// not be emptied because another process reads the database for longer than `wait`.
pub(crate) fn empty_write_ahead_journal(connection: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(wait)?;
    let is_done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)? == 0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    is_done
}

/// Converts a number to SQLite's signed integer. No number in the store is above `i64::MAX`.
pub(crate) fn u64_to_sql_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn sql_integer_to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns an error whose message names the attempted action (`tried`) and its cause, with advice for some causes.
pub(crate) fn database_error(path: &Path, tried: &str, error: &rusqlite::Error) -> StoreError {
    let next = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; make room on the disk",
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => "; check its owner and its permissions",
        Some(ErrorCode::CannotOpen) => "; check that it is a file, its owner and its permissions",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another program is using it: close other windows of Drawbridge and try again"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "; it is damaged: copy it and move it away, and a new one is created"
        }
        Some(ErrorCode::SystemIoFailure) => "; check the disk",
        _ => "",
    };
    StoreError { path: path.display().to_string(), cause: format!("could not {tried}: {error}{next}") }
}
