//! Syncs written entries to disk: one sync for all entries since the previous one, in a separate thread, so that
//! neither the next entry nor the host waits for the disk.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use domain::StoreError;
use ports::AuditReceipts;

use super::audit_tables;

/// Length of the write-ahead journal, in bytes, at which the sync thread begins to copy the journal into the database.
const JOURNAL_CHECKPOINT_THRESHOLD_BYTES: u64 = 4 << 20;
/// Length of the write-ahead journal, in bytes, at which writers are blocked while the journal is copied and truncated.
const JOURNAL_WRITER_BLOCKING_THRESHOLD_BYTES: u64 = 64 << 20;

/// Counts of written and durable entries, shared by the writer thread and the sync thread.
#[derive(Default)]
pub(super) struct SyncProgress {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Default)]
struct SyncState {
    /// Number of log entries that this process has written so far.
    written: u64,
    /// Number of log entries of this process that survive a power failure.
    durable: u64,
    /// Error of a failed sync of the log to disk. Afterwards, the state on disk is unknown.
    sync_error: Option<StoreError>,
    /// Number of times that this process has opened a file at the log's path. It changes when the file was replaced.
    generation: u64,
    is_closed: bool,
    receipts: Option<Arc<AuditReceipts>>,
}

impl SyncProgress {
    fn lock_state(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_receipts(&self, receipts: Arc<AuditReceipts>) {
        self.lock_state().receipts = Some(receipts);
    }

    pub(super) fn receipts(&self) -> Option<Arc<AuditReceipts>> {
        self.lock_state().receipts.clone()
    }

    /// Records that a different file, with a different write-ahead journal, was opened at the log's path.
    pub(super) fn record_reopened(&self) {
        self.lock_state().generation += 1;
    }

    /// Adds to the number of written log entries. Returns the previous number.
    pub(super) fn add_written(&self, entries: u64) -> u64 {
        let mut state = self.lock_state();
        let before = state.written;
        state.written += entries;
        self.changed.notify_all();
        before
    }

    /// Returns the number of this process's log entries that are durable. Fails after a failed sync.
    pub(super) fn durable_entries(&self) -> Result<u64, StoreError> {
        let state = self.lock_state();
        state.sync_error.clone().map_or(Ok(state.durable), Err)
    }

    /// Returns `true` if this process has not written any log entry.
    pub(super) fn has_written_no_entries(&self) -> bool {
        self.lock_state().written == 0
    }

    /// Returns the error of a failed sync, after which no entry may be written, or `None`.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.lock_state().sync_error.clone()
    }

    /// Waits until all written log entries are durable. Returns early if a sync fails or the log is closed.
    pub(super) fn wait(&self) -> Result<(), StoreError> {
        let waits =
            |state: &mut SyncState| state.sync_error.is_none() && !state.is_closed && state.durable < state.written;
        let state = self.changed.wait_while(self.lock_state(), waits).unwrap_or_else(PoisonError::into_inner);
        state.sync_error.clone().map_or(Ok(()), Err)
    }

    /// Records that no further log entry will be written.
    pub(super) fn close(&self) {
        self.lock_state().is_closed = true;
        self.changed.notify_all();
    }

    /// Syncs the write-ahead journal to disk until the log is closed. Runs in a separate thread.
    pub(super) fn run(&self, path: &Path) {
        let mut journal: Option<(u64, WriteAheadJournal)> = None;
        loop {
            let waits = |state: &mut SyncState| {
                !state.is_closed && (state.sync_error.is_some() || state.durable >= state.written)
            };
            let state = self.changed.wait_while(self.lock_state(), waits).unwrap_or_else(PoisonError::into_inner);
            let (written, generation) = (state.written, state.generation);
            if state.sync_error.is_some() || state.durable >= written {
                // The log is closed.
                return;
            }
            drop(state);
            let synced = match journal.take().filter(|(own, _)| *own == generation) {
                Some((_, journal)) => Ok(journal),
                None => WriteAheadJournal::open(path),
            };
            let synced = synced.and_then(|journal| journal.sync().map(|()| journal));
            let mut state = self.lock_state();
            match synced {
                Ok(opened) if state.generation == generation => {
                    state.durable = state.durable.max(written);
                    journal = Some((generation, opened));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "the audit log could not be made durable");
                    let cause =
                        format!("it could not be made durable: {error}; check the disk, then start Drawbridge again");
                    state.sync_error = Some(StoreError { path: path.display().to_string(), cause });
                }
            }
            self.changed.notify_all();
            if let Some(receipts) = &state.receipts {
                receipts.notify_durable();
            }
            drop(state);
            if let Some((_, journal)) = &journal {
                journal.checkpoint_long_journal(path);
            }
        }
    }
}

/// SQLite's write-ahead journal. Syncing it is sufficient for durability, because SQLite recovers from it after a power
/// loss. SQLite does not lock this file, so opening it here is safe.
struct WriteAheadJournal {
    file: File,
}

impl WriteAheadJournal {
    fn open(path: &Path) -> std::io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        let file = OpenOptions::new().read(true).write(true).open(PathBuf::from(name))?;
        // The names of new files must be durable, too. Systems that can't sync a folder do so themselves.
        if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(Self { file })
    }

    fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()
    }

    /// Copies a long journal into the database, so that SQLite writes it from the beginning again.
    fn checkpoint_long_journal(&self, path: &Path) {
        let length = self.file.metadata().map_or(0, |metadata| metadata.len());
        if length < JOURNAL_CHECKPOINT_THRESHOLD_BYTES {
            return;
        }
        let way = if length < JOURNAL_WRITER_BLOCKING_THRESHOLD_BYTES { "passive" } else { "truncate" };
        let copied = audit_tables::open_for_reading(path).map(|connection| {
            connection.map(|connection| connection.pragma_update_and_check(None, "wal_checkpoint", way, |_| Ok(())))
        });
        match copied {
            Ok(Some(Err(error))) => tracing::warn!(%error, "the journal of the audit log could not be shortened"),
            Err(error) => tracing::warn!(%error, "the journal of the audit log could not be shortened"),
            Ok(_) => {}
        }
    }
}
