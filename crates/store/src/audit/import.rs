//! Imports `audit.jsonl`, the log of older versions: once, in order, and with each entry marked as imported, because
//! that file is not protected against modification.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::Path;

use domain::StoreError;
use ports::AuditEntry;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::audit_tables;
use super::chain::ChainLink;
use super::encryption;
use super::write_log::{AppendError, new_log_entry, write_entry};

/// Kind of the entry that records the import of `audit.jsonl`.
pub(super) const LOG_IMPORTED_KIND: &str = "log-imported";

/// Maximum length of a line of `audit.jsonl`, in bytes. Longer lines are not imported as entries.
const MAX_OLD_LOG_LINE_BYTES: u64 = 1 << 20;

/// Imports the log of an older version from the file `older`, if the file exists and was not imported yet. The file is
/// renamed afterwards. Returns number and hash of the last entry that was written, or `None` if nothing was imported.
pub(super) fn import_old_log(
    connection: &mut Connection,
    path: &Path,
    older: &Path,
) -> Result<Option<(u64, ChainLink)>, StoreError> {
    let file = match File::open(older) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(crate::files::file_error(older, "take it over", &error)),
    };
    let done = import_old_log_entries(connection, BufReader::new(file)).map_err(|error| match error {
        LogImportProblem::File(error) => crate::files::file_error(older, "take it over", &error),
        LogImportProblem::Log(error) => {
            audit_tables::database_error(path, "take over what older versions wrote", &error.into_sql())
        }
    });
    let last = done?;
    // A failure to rename is harmless, because the database records that the log was imported.
    if let Err(error) = std::fs::rename(older, older.with_extension("jsonl.imported")) {
        tracing::warn!(%error, path = %older.display(), "the imported audit log could not be renamed");
    }
    Ok(last)
}

/// Deletes the log of an older version, which [`import_old_log`] renamed after importing it.
pub(super) fn remove_old_log(older: &Path) -> Result<(), StoreError> {
    let imported = older.with_extension("jsonl.imported");
    match std::fs::remove_file(&imported) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(crate::files::file_error(&imported, "remove it", &error))
        }
        _ => Ok(()),
    }
}

enum LogImportProblem {
    File(std::io::Error),
    Log(AppendError),
}

impl From<rusqlite::Error> for LogImportProblem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Log(error.into())
    }
}

fn import_old_log_entries(
    connection: &mut Connection,
    mut lines: BufReader<File>,
) -> Result<Option<(u64, ChainLink)>, LogImportProblem> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done: Option<i64> = transaction.query_row("SELECT entries FROM import", [], |row| row.get(0)).optional()?;
    if done.is_some() {
        return Ok(None);
    }
    let (mut number, mut previous) = audit_tables::last_entry(&transaction)?;
    let (mut taken, mut passed_over) = (0_u64, 0_u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.by_ref().take(MAX_OLD_LOG_LINE_BYTES).read_until(b'\n', &mut line).map_err(LogImportProblem::File)?
            == 0
        {
            break;
        }
        let Ok(mut entry) = serde_json::from_slice::<AuditEntry>(&line) else {
            passed_over += u64::from(!line.trim_ascii().is_empty());
            continue;
        };
        number += 1;
        taken += 1;
        (entry.number, entry.imported) = (number, true);
        entry.truncate_fields();
        previous = write_entry(&transaction, &entry, &previous, None).map_err(LogImportProblem::Log)?;
    }
    encryption::record_unencrypted_content(&transaction)?;
    let words = match passed_over {
        0 => format!("{taken} entries of audit.jsonl"),
        _ => format!("{taken} entries of audit.jsonl; {passed_over} lines were none"),
    };
    let mut entry = new_log_entry(LOG_IMPORTED_KIND, words);
    entry.number = number + 1;
    let last = (entry.number, write_entry(&transaction, &entry, &previous, None).map_err(LogImportProblem::Log)?);
    transaction
        .execute("INSERT INTO import (id, entries) VALUES (1, ?1)", [audit_tables::u64_to_sql_integer(taken)])?;
    transaction.commit()?;
    Ok(Some(last))
}
