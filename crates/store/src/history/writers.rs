//! Identifies the process that writes a streaming reply. Each process holds a lock while it runs. If the lock of a
//! reply's writer is free, the process has ended and the reply was interrupted.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::history::item_text::searchable_text;
use aws_lc_rs::rand;
use domain::StoreError;
use rusqlite::{Connection, params};

use super::history_tables;
use super::schema::SchemaCheckedConnection;
use super::write::ITEM_STATE_INTERRUPTED;

/// Prefix of the names of the lock files of history writers.
const WRITER_LOCK_PREFIX: &str = "history-";

/// Name that identifies this process as the writer of streaming replies, with a lock that proves that the process is
/// running.
#[derive(Debug)]
pub(super) struct HistoryWriter {
    name: String,
    path: PathBuf,
    file: File,
}

impl HistoryWriter {
    /// Creates a lock file in this folder, and acquires its lock.
    pub(super) fn new(folder: &Path) -> Result<Self, StoreError> {
        crate::files::make_folder(folder)?;
        let mut random = [0_u8; 8];
        rand::fill(&mut random).map_err(|_| StoreError {
            path: folder.display().to_string(),
            cause: "the system provides no random numbers".to_owned(),
        })?;
        let name = format!("{:016x}", u64::from_ne_bytes(random));
        let path = writer_lock_path(folder, &name);
        let made = crate::private_files::private_file_options().write(true).create_new(true).open(&path);
        let file = made.map_err(|error| crate::files::file_error(&path, "make it", &error))?;
        if let Err(error) = file.try_lock() {
            tracing::warn!(path = %path.display(), %error, "this file system has no locks");
        }
        Ok(Self { name, path, file })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for HistoryWriter {
    fn drop(&mut self) {
        let _ = self.file.unlock();
        let _ = std::fs::remove_file(&self.path);
    }
}

fn writer_lock_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{WRITER_LOCK_PREFIX}{name}"))
}

/// Returns `true` if the process that wrote a streaming reply has ended. On a file system without locks, every writer
/// counts as ended.
fn has_writer_ended(folder: &Path, name: &str) -> bool {
    let path = writer_lock_path(folder, name);
    let Ok(file) = File::open(&path) else { return true };
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => false,
        _ => {
            let _ = std::fs::remove_file(&path);
            true
        }
    }
}

/// Marks streaming items as interrupted if the process that wrote them has ended. Returns the number of marked items.
pub(super) fn mark_interrupted_items(
    connection: &mut SchemaCheckedConnection,
    folder: &Path,
    own: Option<&str>,
) -> rusqlite::Result<usize> {
    let writers: Vec<String> = connection.read(|connection| {
        let mut statement = connection.prepare_cached("SELECT DISTINCT writer FROM item WHERE writer IS NOT NULL")?;
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
    })?;
    let mut marked = 0;
    for writer in writers.iter().filter(|writer| own != Some(writer.as_str()) && has_writer_ended(folder, writer)) {
        marked += connection.write(|connection| mark_interrupted_items_of_writer(connection, writer))?;
    }
    Ok(marked)
}

fn mark_interrupted_items_of_writer(connection: &Connection, writer: &str) -> rusqlite::Result<usize> {
    let sql = "SELECT number, decrypted('body', body) FROM item WHERE writer = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, history_tables::parse_json_column(row, 1)?));
    let cut: Vec<(i64, serde_json::Value)> = statement.query_map([writer], read)?.collect::<rusqlite::Result<_>>()?;
    for (item, body) in &cut {
        let sql = "UPDATE item SET state = ?2, writer = NULL WHERE number = ?1";
        connection.prepare_cached(sql)?.execute(params![item, ITEM_STATE_INTERRUPTED])?;
        history_tables::set_indexed_text(connection, *item, &searchable_text(body))?;
    }
    Ok(cut.len())
}
