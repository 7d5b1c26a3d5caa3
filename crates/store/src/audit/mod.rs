//! The audit log: an append-only database in which each entry is chained to its predecessor and the last entry is
//! sealed.
//!
//! One thread (`writer_thread.rs`) receives the commands and collects entries in batches. It calls `write_log.rs`,
//! which writes the rows of a batch, with their chain hashes and the seal, by the statements of `audit_tables.rs`. A
//! second thread (`sync.rs`) syncs them to disk, also in batches.

mod audit_tables;
mod chain;
mod encryption;
mod export;
mod import;
mod mac_key;
mod query;
mod retention;
mod sync;
mod verify;
mod write_log;
mod writer_thread;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use domain::StoreError;
use ports::{
    AuditAppendStatus, AuditEntry, AuditLog, AuditQuery, AuditReceipts, AuditRetention, AuditVerdict, WrittenAuditEntry,
};

pub(crate) use mac_key::{AUDIT_KEYCHAIN_MARK_NAME, MacKey, MacKeyHolder};
use sync::SyncProgress;
use writer_thread::{AppendReply, WriterCommand};

/// Name of the audit database's file in the data folder.
const DATABASE_FILE: &str = "audit.db";
/// Name of the file in the data folder in which older versions stored the audit log.
const OLD_LOG_FILE: &str = "audit.jsonl";
/// Maximum number of commands that wait for the writer thread.
const WRITER_QUEUE_CAPACITY: usize = 4_096;
/// Name under which the audit log registers its listener at the [`MacKeyHolder`].
const KEY_LISTENER_NAME: &str = "audit";
/// Maximum time that a verification or an export of the audit log waits for the MAC key from the keychain.
const KEY_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time that a reader of the audit log waits for the key from the keychain. Without the key, encrypted contents
/// are omitted.
const READ_KEY_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time that [`AuditLog::flush`] waits for the MAC key from the keychain. If the key does not arrive by then,
/// the entries are sealed at the next start.
const FLUSH_KEY_TIMEOUT: Duration = Duration::from_millis(300);

/// The audit log in a data folder. Implements [`AuditLog`].
pub(crate) struct AuditDatabase {
    path: PathBuf,
    commands: Option<SyncSender<WriterCommand>>,
    sync_progress: Arc<SyncProgress>,
    keys: Arc<MacKeyHolder>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl AuditDatabase {
    /// Creates an [`AuditDatabase`] for this data folder. The database file is opened when the first command needs it.
    ///
    /// # Errors
    /// Returns [`StoreError`] if a thread can't be started.
    pub(crate) fn new(data_dir: &Path, keys: Arc<MacKeyHolder>) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE_FILE);
        let (commands, received) = sync_channel(WRITER_QUEUE_CAPACITY);
        let sync_progress = Arc::new(SyncProgress::default());
        let (known, key_commands) = (Arc::downgrade(&keys), commands.clone());
        keys.listen(
            KEY_LISTENER_NAME,
            Arc::new(move || {
                if known.upgrade().is_some_and(|keys| keys.cached_key().is_some()) {
                    // The writer thread may have ended.
                    let _ = key_commands.send(WriterCommand::KeyFound);
                }
            }),
        );
        let fail = |error: std::io::Error| crate::files::file_error(&path, "begin to write it", &error);
        let writer = writer_thread::WriterThread::new(
            path.clone(),
            data_dir.join(OLD_LOG_FILE),
            Arc::clone(&sync_progress),
            Arc::clone(&keys),
        );
        let writing = std::thread::Builder::new().name("audit write".into()).spawn(move || writer.run(&received));
        let writing = writing.map_err(fail)?;
        let (own, at) = (Arc::clone(&sync_progress), path.clone());
        let syncing =
            std::thread::Builder::new().name("audit sync".into()).spawn(move || own.run(&at)).map_err(fail)?;
        Ok(Self { path, commands: Some(commands), sync_progress, keys, threads: Mutex::new(vec![writing, syncing]) })
    }

    fn writer_ended_error(&self) -> StoreError {
        let cause = "it is not written any more; start Drawbridge again".to_owned();
        StoreError { path: self.path.display().to_string(), cause }
    }

    /// Sends a command to the writer thread, and waits for its reply.
    fn send_and_wait<T>(&self, command: impl FnOnce(SyncSender<T>) -> WriterCommand) -> Result<T, StoreError> {
        let (reply, replied) = sync_channel(1);
        let commands = self.commands.as_ref().ok_or_else(|| self.writer_ended_error())?;
        commands.send(command(reply)).map_err(|_| self.writer_ended_error())?;
        replied.recv().map_err(|_| self.writer_ended_error())
    }

    /// Requests the MAC key from the keychain, and waits for it for at most [`KEY_TIMEOUT`].
    fn wait_for_key(&self) -> Result<Arc<MacKey>, String> {
        self.keys.request_key(true);
        self.keys.wait_for_key(KEY_TIMEOUT)
    }
}

/// Returns `true` if the audit log in this folder has a seal (a MAC), whichever key made it.
pub(crate) fn is_log_sealed(data_dir: &Path) -> bool {
    let connection = audit_tables::open_for_reading(&data_dir.join(DATABASE_FILE)).ok().flatten();
    connection.is_some_and(|connection| audit_tables::read_log_seal(&connection).ok().flatten().is_some())
}

impl AuditLog for AuditDatabase {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn set_receipts(&self, receipts: Arc<AuditReceipts>) {
        self.sync_progress.set_receipts(receipts);
    }

    fn append(&self, entry: AuditEntry) -> Result<WrittenAuditEntry, StoreError> {
        if let Some(failure) = self.sync_progress.failure() {
            return Err(failure);
        }
        self.send_and_wait(|reply| WriterCommand::Append(Box::new(entry), AppendReply::Now(reply)))?
    }

    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<AuditAppendStatus, StoreError> {
        if let Some(failure) = self.sync_progress.failure() {
            return Err(failure);
        }
        let commands = self.commands.as_ref().ok_or_else(|| self.writer_ended_error())?;
        match commands.try_send(WriterCommand::Append(Box::new(entry), AppendReply::Later(ticket))) {
            Ok(()) => Ok(AuditAppendStatus::Later),
            Err(TrySendError::Full(_)) => {
                let cause = "the disk is too slow for the pending entries; try again".to_owned();
                Err(StoreError { path: self.path.display().to_string(), cause })
            }
            Err(TrySendError::Disconnected(_)) => Err(self.writer_ended_error()),
        }
    }

    fn durable_position(&self) -> Result<u64, StoreError> {
        self.sync_progress.durable_entries()
    }

    fn flush(&self) -> Result<(), StoreError> {
        if self.sync_progress.has_written_no_entries() && !self.send_and_wait(WriterCommand::IsOpen)? {
            return Ok(());
        }
        // Does not request the key, so that systems without a keychain are not delayed.
        let sealed = if self.keys.wait_for_key(FLUSH_KEY_TIMEOUT).is_ok() {
            self.send_and_wait(WriterCommand::Seal)?
        } else {
            None
        };
        self.send_and_wait(WriterCommand::AwaitWrites)??;
        self.sync_progress.wait()?;
        if let Some(sealed) = sealed {
            // If the keychain does not respond in time, its mark refers to an earlier entry, which is harmless.
            let _ = self.keys.store_mark_once_durable(sealed, &self.sync_progress).recv_timeout(FLUSH_KEY_TIMEOUT);
        }
        Ok(())
    }

    fn read(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        self.send_and_wait(WriterCommand::AwaitWrites)??;
        self.keys.request_key(false);
        let key = self.keys.wait_for_key(READ_KEY_TIMEOUT).ok();
        query::read_entries(&self.path, query, key.map(|key| Arc::clone(&key.content)))
    }

    fn verify(&self) -> Result<AuditVerdict, StoreError> {
        self.send_and_wait(WriterCommand::AwaitWrites)??;
        let key = self.wait_for_key();
        // The mark is read before the log, so that the marked entry is already in the log.
        let mark = self.keys.read_latest_keychain_mark();
        if key.is_ok() {
            self.send_and_wait(WriterCommand::Seal)?;
        }
        verify::verify_log(&self.path, &key.as_deref().map_err(Clone::clone), mark)
    }

    fn verify_export(&self, file: &Path) -> Result<AuditVerdict, StoreError> {
        let key = self.wait_for_key();
        export::verify_export(file, &key.as_deref().map_err(Clone::clone))
    }

    fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.send_and_wait(WriterCommand::AwaitWrites)??;
        let key = self.wait_for_key();
        export::write_export(&self.path, out, &key.as_deref().map_err(Clone::clone))
    }

    fn is_encrypted(&self) -> Result<bool, StoreError> {
        self.send_and_wait(WriterCommand::AwaitWrites)??;
        self.keys.request_key(false);
        let _ = self.keys.wait_for_key(READ_KEY_TIMEOUT);
        self.send_and_wait(WriterCommand::IsEncrypted)?
    }

    fn set_retention(&self, keep: AuditRetention) {
        if let Some(commands) = &self.commands {
            // If the queue is full, the writer thread applies the limits within an hour.
            let _ = commands.try_send(WriterCommand::SetRetention(keep));
        }
    }
}

impl Drop for AuditDatabase {
    fn drop(&mut self) {
        if let Some(commands) = self.commands.take() {
            // Queued entries are written first.
            let _ = commands.send(WriterCommand::End);
        }
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A panic of the thread was already logged.
            let _ = thread.join();
        }
    }
}
