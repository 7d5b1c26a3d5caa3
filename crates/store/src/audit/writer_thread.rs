//! The writer thread of the audit log. It passes all entries that are queued at one moment to [`AuditWriteLog`], which
//! writes them in one transaction, and decides when the log is sealed, encrypted and shortened.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use domain::StoreError;
use ports::{AuditEntry, AuditRetention, WrittenAuditEntry};

use super::chain::ChainLink;
use super::encryption::EncryptionProgress;
use super::import;
use super::mac_key::MacKeyHolder;
use super::sync::SyncProgress;
use super::write_log::AuditWriteLog;

/// Maximum number of log entries that are written in one transaction.
const MAX_BATCH_ENTRIES: usize = 256;
/// Interval between two checks of the log's limits of age and size.
const RETENTION_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Maximum time for which the writer thread waits for a command before it requests the MAC key again.
const MAX_IDLE_WAIT: Duration = Duration::from_secs(5 * 60);
/// Maximum time that the first log entry waits for the MAC key. If the key arrives in time, the log is sealed from the
/// beginning.
const FIRST_ENTRY_KEY_TIMEOUT: Duration = Duration::from_millis(500);

/// Pause before the next attempt to empty the write-ahead journal, if another process is reading the database.
const JOURNAL_EMPTYING_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Number of attempts to empty the write-ahead journal before incomplete encryption is reported.
const MAX_JOURNAL_EMPTYING_ATTEMPTS: usize = 10;
/// Interval at which the mark in the keychain (number and hash of the last sealed entry) is updated while entries are
/// written continuously.
const KEYCHAIN_MARK_UPDATE_INTERVAL: Duration = Duration::from_secs(30);
/// Time without commands after which the writer thread runs a background step, which encrypts or removes older entries.
/// The next entry has to wait until the step is complete.
const IDLE_TIME_BEFORE_BACKGROUND_STEP: Duration = Duration::from_millis(20);
/// Interval between background steps while entries are written continuously, so that the thread is never idle.
const BACKGROUND_STEP_INTERVAL: Duration = Duration::from_millis(500);
/// Time without new entries after which the mark in the keychain (number and hash of the last sealed entry) is updated.
const IDLE_TIME_BEFORE_KEYCHAIN_MARK_UPDATE: Duration = Duration::from_secs(1);

/// A command for the audit log's writer thread.
pub(super) enum WriterCommand {
    /// Append an entry to the log.
    Append(Box<AuditEntry>, AppendReply),
    /// Reply once all previous entries are written and the log of an older version is imported.
    AwaitWrites(SyncSender<Result<(), StoreError>>),
    /// If there is a key, seal the entries that this process wrote. Reply with number and hash of the last entry that
    /// this process sealed.
    Seal(SyncSender<Option<(u64, ChainLink)>>),
    /// The MAC key has become available.
    KeyFound,
    /// Reply with `true` if all contents are encrypted.
    IsEncrypted(SyncSender<Result<bool, StoreError>>),
    /// Reply with `true` if this process has opened the log.
    IsOpen(SyncSender<bool>),
    /// Use these limits of age and size for the log from now on.
    SetRetention(AuditRetention),
    /// End the writer thread after the previous commands.
    End,
}

/// Recipient of the result of appending a log entry.
pub(super) enum AppendReply {
    /// Channel on which the caller of [`AuditLog::append`](ports::AuditLog::append) waits for the result.
    Now(SyncSender<Result<WrittenAuditEntry, StoreError>>),
    /// Ticket with which the result is reported to the [`AuditReceipts`](ports::AuditReceipts) after the append.
    Later(u64),
}

/// State of the writer thread. Opens the log when the first command needs it, and reopens it after a failure.
pub(super) struct WriterThread {
    path: PathBuf,
    old_log_path: PathBuf,
    sync_progress: Arc<SyncProgress>,
    keys: Arc<MacKeyHolder>,
    log: Option<AuditWriteLog>,
    /// Set if this process wrote log entries that are not sealed.
    has_unsealed: bool,
    retention: AuditRetention,
    last_retention_check: Option<Instant>,
    /// Set while the database still contains log entries whose removal is recorded.
    is_removing: bool,
    /// Work that remains to encrypt contents that were written without a key.
    encryption_progress: EncryptionProgress,
    /// Set once the first log entry has waited for the MAC key.
    has_waited_for_key: bool,
    /// Time of the last update of the mark (number and hash of the last sealed entry) in the keychain.
    last_mark_update: Option<Instant>,
    /// Set if entries were appended since the mark (number and hash of the last sealed entry) was last stored in the
    /// keychain.
    is_unmarked: bool,
    /// Time of the last append, or `None` if this process appended nothing.
    last_append: Option<Instant>,
    /// Time at which the last background step began.
    last_step_start: Option<Instant>,
}

impl WriterThread {
    pub(super) fn new(
        path: PathBuf,
        old_log_path: PathBuf,
        sync_progress: Arc<SyncProgress>,
        keys: Arc<MacKeyHolder>,
    ) -> Self {
        Self {
            path,
            old_log_path,
            sync_progress,
            keys,
            log: None,
            has_unsealed: false,
            retention: AuditRetention::default(),
            last_retention_check: None,
            is_removing: false,
            encryption_progress: EncryptionProgress::MoreSteps,
            has_waited_for_key: false,
            last_mark_update: None,
            is_unmarked: false,
            last_append: None,
            last_step_start: None,
        }
    }

    /// Processes commands until the thread receives [`WriterCommand::End`].
    pub(super) fn run(mut self, commands: &Receiver<WriterCommand>) {
        let mut batch: Vec<(AuditEntry, AppendReply)> = Vec::new();
        let mut next = None;
        loop {
            let command = match next.take() {
                Some(command) => command,
                // Queued commands have priority over the next background step.
                None => match commands.recv_timeout(self.time_to_next_step()) {
                    Ok(command) => command,
                    Err(RecvTimeoutError::Timeout) => {
                        self.last_step_start = Some(Instant::now());
                        if self.is_unmarked {
                            self.store_mark();
                        }
                        self.run_encryption_step();
                        if self.has_unsealed {
                            self.keys.request_key(false);
                        }
                        self.remove_entries_if_due();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                },
            };
            match command {
                WriterCommand::Append(entry, reply) => {
                    batch.push((*entry, reply));
                    while batch.len() < MAX_BATCH_ENTRIES {
                        match commands.try_recv() {
                            Ok(WriterCommand::Append(entry, reply)) => batch.push((*entry, reply)),
                            Ok(other) => {
                                next = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.append(std::mem::take(&mut batch));
                    // A removal in progress continues in the background.
                    if !self.is_removing {
                        self.remove_entries_if_due();
                    }
                }
                WriterCommand::AwaitWrites(reply) => {
                    let opened = if self.log_exists() { self.open().map(|_| ()) } else { Ok(()) };
                    // The caller may have stopped waiting, here and below.
                    let _ = reply.send(opened);
                }
                WriterCommand::Seal(reply) => {
                    self.seal_unsealed_entries();
                    let _ = reply.send(self.log.as_ref().and_then(AuditWriteLog::last_entry_sealed_by_this_process));
                }
                WriterCommand::KeyFound => {
                    self.seal_unsealed_entries();
                    self.store_mark();
                    self.remove_entries_if_due();
                }
                WriterCommand::IsEncrypted(reply) => {
                    self.encrypt_all_contents();
                    // A log that does not exist yet is encrypted from its first entry on.
                    let has_key = self.keys.cached_key().is_some();
                    let _ = reply.send(self.log.as_ref().map_or(Ok(has_key), AuditWriteLog::is_encrypted));
                }
                WriterCommand::IsOpen(reply) => {
                    let _ = reply.send(self.log.is_some());
                }
                WriterCommand::SetRetention(retention) => {
                    (self.retention, self.last_retention_check) = (retention, None);
                    self.remove_entries_if_due();
                }
                WriterCommand::End => break,
            }
        }
        self.sync_progress.close();
    }

    /// Returns `true` if the data folder contains an audit log, of this or an older version.
    fn log_exists(&self) -> bool {
        self.path.exists() || self.old_log_path.exists()
    }

    /// Returns the opened log. Opens it if it is closed or its file was replaced.
    fn open(&mut self) -> Result<&mut AuditWriteLog, StoreError> {
        let open = match self.log.take().filter(AuditWriteLog::is_current_file) {
            Some(log) => log,
            None => {
                let log = AuditWriteLog::open(&self.path, &self.old_log_path)?;
                self.sync_progress.record_reopened();
                self.encryption_progress = EncryptionProgress::MoreSteps;
                self.has_unsealed |= log.was_schema_repaired_at_open();
                log
            }
        };
        Ok(self.log.insert(open))
    }

    fn append(&mut self, batch: Vec<(AuditEntry, AppendReply)>) {
        // The key is requested when it is first needed, because the system may prompt the user for a password.
        self.keys.request_key(false);
        if !std::mem::replace(&mut self.has_waited_for_key, true) {
            // Without the key, the entry is sealed later.
            let _ = self.keys.wait_for_key(FIRST_ENTRY_KEY_TIMEOUT);
        }
        let key = self.keys.cached_key();
        let (mut entries, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let written = self.open().and_then(|log| log.append(&mut entries, key.as_deref()));
        if written.is_err() {
            // Reopening the log may repair it.
            self.log = None;
        }
        self.has_unsealed |= key.is_none() && written.is_ok();
        if key.is_none() {
            self.encryption_progress = EncryptionProgress::MoreSteps;
        }
        let position = if written.is_ok() { self.sync_progress.add_written(entries.len() as u64) + 1 } else { 0 };
        let mut receipts = Vec::new();
        for (at, reply) in (0..).zip(replies) {
            let result = written.clone().map(|first| WrittenAuditEntry { number: first + at, position: position + at });
            match reply {
                AppendReply::Now(reply) => {
                    let _ = reply.send(result);
                }
                AppendReply::Later(ticket) => receipts.push((ticket, result)),
            }
        }
        if let Some(own) = self.sync_progress.receipts().filter(|_| !receipts.is_empty()) {
            own.report(receipts);
        }
        self.last_append = Some(Instant::now());
        self.is_unmarked = true;
        if self.last_mark_update.is_none_or(|at| at.elapsed() > KEYCHAIN_MARK_UPDATE_INTERVAL) {
            self.store_mark();
        }
    }

    /// Stores number and hash of the last sealed log entry as the mark in the keychain.
    fn store_mark(&mut self) {
        self.is_unmarked = false;
        if let Some(sealed) = self.log.as_ref().and_then(AuditWriteLog::last_entry_sealed_by_this_process) {
            self.last_mark_update = Some(Instant::now());
            drop(self.keys.store_mark_once_durable(sealed, &self.sync_progress));
        }
    }

    /// Returns the maximum time to wait for a command before the next background step is due.
    fn time_to_next_step(&self) -> Duration {
        let has_key = self.log.is_some() && self.keys.cached_key().is_some();
        match self.encryption_progress {
            _ if self.is_removing => self.time_to_background_step(),
            EncryptionProgress::MoreSteps if has_key => self.time_to_background_step(),
            EncryptionProgress::JournalNotEmptied if has_key => JOURNAL_EMPTYING_RETRY_INTERVAL,
            _ if self.is_unmarked => IDLE_TIME_BEFORE_KEYCHAIN_MARK_UPDATE,
            _ => MAX_IDLE_WAIT,
        }
    }

    fn time_to_background_step(&self) -> Duration {
        let is_quiet = self.last_append.is_none_or(|last| last.elapsed() >= IDLE_TIME_BEFORE_BACKGROUND_STEP);
        let is_due = self.last_step_start.is_none_or(|last| last.elapsed() >= BACKGROUND_STEP_INTERVAL);
        if is_quiet || is_due { Duration::ZERO } else { IDLE_TIME_BEFORE_BACKGROUND_STEP }
    }

    /// Encrypts a batch of the entries whose contents were written without a key.
    fn run_encryption_step(&mut self) {
        let Some(key) = self.keys.cached_key().filter(|_| self.encryption_progress != EncryptionProgress::Complete)
        else {
            return;
        };
        let Some(log) = &mut self.log else { return };
        self.encryption_progress = log.encrypt_batch(&key).unwrap_or_else(|error| {
            tracing::error!(%error, "contents of the audit log are not encrypted yet");
            EncryptionProgress::Complete
        });
        if self.encryption_progress == EncryptionProgress::Complete && log.is_encrypted().unwrap_or(false) {
            import::remove_old_log(&self.old_log_path)
                .unwrap_or_else(|error| tracing::warn!(%error, "the imported audit log could not be removed"));
        }
    }

    /// Runs encryption steps until all contents are encrypted, or another process that reads the database prevents it.
    fn encrypt_all_contents(&mut self) {
        for _ in 0..MAX_JOURNAL_EMPTYING_ATTEMPTS {
            self.run_encryption_step();
            while self.encryption_progress == EncryptionProgress::MoreSteps
                && self.keys.cached_key().is_some()
                && self.log.is_some()
            {
                self.run_encryption_step();
            }
        }
    }

    fn seal_unsealed_entries(&mut self) {
        let Some(key) = self.keys.cached_key().filter(|_| self.has_unsealed) else { return };
        let Some(log) = &mut self.log else { return };
        match log.append(&mut [], Some(&key)) {
            // The seal must become durable as well.
            Ok(_) => {
                self.has_unsealed = false;
                self.sync_progress.add_written(1);
            }
            Err(error) => tracing::error!(%error, "the audit log could not be sealed"),
        }
    }

    /// If the next check of the limits of age and size is due, removes the log entries beyond them. Does nothing if
    /// this process has not opened the log for writing.
    fn remove_entries_if_due(&mut self) {
        if self.is_removing {
            return self.run_removal_step();
        }
        let is_time = self.last_retention_check.is_none_or(|at| at.elapsed() > RETENTION_INTERVAL);
        if !is_time || self.retention == AuditRetention::default() || !self.keys.is_request_finished() {
            return;
        }
        let (retention, key) = (self.retention, self.keys.cached_key());
        let Some(log) = &mut self.log else { return };
        self.last_retention_check = Some(Instant::now());
        match log.apply_retention(retention, key.as_deref()) {
            Ok(()) => self.run_removal_step(),
            Err(error) => tracing::error!(%error, "old decisions could not be removed"),
        }
    }

    /// Removes a batch of the log entries whose removal is recorded.
    fn run_removal_step(&mut self) {
        let removed = self.log.as_ref().map_or(Ok(false), AuditWriteLog::remove_batch);
        self.is_removing = removed.unwrap_or_else(|error| {
            tracing::error!(%error, "old decisions could not be removed");
            false
        });
    }
}
