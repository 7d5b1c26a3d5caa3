//! The audit log: a database to which entries are only appended, each chained to the one before, its end sealed.
//!
//! One thread writes, many entries at once where there are many; another one makes durable what was written, again many at once.

mod chain;
mod encryption;
mod export;
mod file;
mod import;
mod log;
mod query;
mod retention;
mod seal;
mod sync;
mod verify;
mod writer;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use domain::StoreError;
use ports::{Appended, AuditEntry, AuditLog, AuditQuery, AuditReceipts, AuditRetention, AuditVerdict, Written};

pub(crate) use seal::{KeyHolder, MARK, SealKey};
use sync::Durable;
use writer::{Order, Reply};

/// The database's file, in the data folder.
const FILE: &str = "audit.db";
/// The file of older versions.
const OLDER: &str = "audit.jsonl";
/// The most entries that wait to be written.
const MAX_WAITING: usize = 4_096;
/// Whom the key is told to.
const LISTENER: &str = "audit";
/// How long a check waits for the keychain.
const KEY_PATIENCE: Duration = Duration::from_secs(60);
/// How long a reader does. Without the key contents that are encrypted are left out.
const READ_PATIENCE: Duration = Duration::from_secs(3);
/// How long the end of the program waits for it. Without it the next start seals what is not sealed.
const LAST_PATIENCE: Duration = Duration::from_millis(300);

/// The log in a data folder.
pub(crate) struct AuditDatabase {
    path: PathBuf,
    orders: Option<SyncSender<Order>>,
    durable: Arc<Durable>,
    keys: Arc<KeyHolder>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl AuditDatabase {
    /// The log in this folder. Nothing is opened before it is needed.
    ///
    /// # Errors
    /// If the system has no more threads.
    pub(crate) fn new(data_dir: &Path, keys: Arc<KeyHolder>) -> Result<Self, StoreError> {
        let path = data_dir.join(FILE);
        let (orders, received) = sync_channel(MAX_WAITING);
        let durable = Arc::new(Durable::default());
        let (known, told) = (Arc::downgrade(&keys), orders.clone());
        keys.listen(
            LISTENER,
            Arc::new(move || {
                if known.upgrade().is_some_and(|keys| keys.known().is_some()) {
                    // The log may be closed by now.
                    let _ = told.send(Order::KeyFound);
                }
            }),
        );
        let fail = |error: std::io::Error| crate::files::failed(&path, "begin to write it", &error);
        let writer = writer::Writer::new(path.clone(), data_dir.join(OLDER), Arc::clone(&durable), Arc::clone(&keys));
        let writing = std::thread::Builder::new().name("audit write".into()).spawn(move || writer.run(&received));
        let writing = writing.map_err(fail)?;
        let (own, at) = (Arc::clone(&durable), path.clone());
        let syncing =
            std::thread::Builder::new().name("audit sync".into()).spawn(move || own.run(&at)).map_err(fail)?;
        Ok(Self { path, orders: Some(orders), durable, keys, threads: Mutex::new(vec![writing, syncing]) })
    }

    fn ended(&self) -> StoreError {
        let cause = "it is not written any more; start Drawbridge again".to_owned();
        StoreError { path: self.path.display().to_string(), cause }
    }

    /// Has something done by the thread that writes, and waits for it.
    fn done<T>(&self, order: impl FnOnce(SyncSender<T>) -> Order) -> Result<T, StoreError> {
        let (reply, replied) = sync_channel(1);
        let orders = self.orders.as_ref().ok_or_else(|| self.ended())?;
        orders.send(order(reply)).map_err(|_| self.ended())?;
        replied.recv().map_err(|_| self.ended())
    }

    /// Asks for the key, and waits for it.
    fn key(&self) -> Result<Arc<seal::SealKey>, String> {
        self.keys.ask(true);
        self.keys.wait(KEY_PATIENCE)
    }
}

/// Returns true if the log in this folder has a seal, whatever key made it.
pub(crate) fn is_sealed(data_dir: &Path) -> bool {
    let connection = file::open_to_read(&data_dir.join(FILE)).ok().flatten();
    connection.is_some_and(|connection| file::seal(&connection).ok().flatten().is_some())
}

impl AuditLog for AuditDatabase {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn report_to(&self, receipts: Arc<AuditReceipts>) {
        self.durable.report_to(receipts);
    }

    fn append(&self, entry: AuditEntry) -> Result<Written, StoreError> {
        if let Some(failure) = self.durable.failure() {
            return Err(failure);
        }
        self.done(|reply| Order::Append(Box::new(entry), Reply::Now(reply)))?
    }

    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<Appended, StoreError> {
        if let Some(failure) = self.durable.failure() {
            return Err(failure);
        }
        let orders = self.orders.as_ref().ok_or_else(|| self.ended())?;
        match orders.try_send(Order::Append(Box::new(entry), Reply::Later(ticket))) {
            Ok(()) => Ok(Appended::Later),
            Err(TrySendError::Full(_)) => {
                let cause = "the disk can't keep up with what is to be written down; try again".to_owned();
                Err(StoreError { path: self.path.display().to_string(), cause })
            }
            Err(TrySendError::Disconnected(_)) => Err(self.ended()),
        }
    }

    fn durable(&self) -> Result<u64, StoreError> {
        self.durable.durable()
    }

    fn flush(&self) -> Result<(), StoreError> {
        if self.durable.is_untouched() && !self.done(Order::IsOpen)? {
            return Ok(());
        }
        // Only what is under way already; who has no keychain does not wait for it.
        let sealed = if self.keys.wait(LAST_PATIENCE).is_ok() { self.done(Order::Seal)? } else { None };
        self.done(Order::Settle)??;
        self.durable.wait()?;
        if let Some(sealed) = sealed {
            // A keychain that hangs is not waited for: then it knows of an earlier entry.
            let _ = self.keys.mark(sealed, &self.durable).recv_timeout(LAST_PATIENCE);
        }
        Ok(())
    }

    fn read(&self, query: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        self.done(Order::Settle)??;
        self.keys.ask(false);
        let key = self.keys.wait(READ_PATIENCE).ok();
        query::read(&self.path, query, key.map(|key| Arc::clone(&key.content)))
    }

    fn verify(&self) -> Result<AuditVerdict, StoreError> {
        self.done(Order::Settle)??;
        let key = self.key();
        // First the mark: what the keychain knows of must be in the log by now.
        let mark = self.keys.latest_mark();
        if key.is_ok() {
            self.done(Order::Seal)?;
        }
        verify::log(&self.path, &key.as_deref().map_err(Clone::clone), mark)
    }

    fn verify_export(&self, file: &Path) -> Result<AuditVerdict, StoreError> {
        let key = self.key();
        export::verify(file, &key.as_deref().map_err(Clone::clone))
    }

    fn export(&self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.done(Order::Settle)??;
        let key = self.key();
        export::write(&self.path, out, &key.as_deref().map_err(Clone::clone))
    }

    fn is_encrypted(&self) -> Result<bool, StoreError> {
        self.done(Order::Settle)??;
        self.keys.ask(false);
        let _ = self.keys.wait(READ_PATIENCE);
        self.done(Order::IsEncrypted)?
    }

    fn retain(&self, keep: AuditRetention) {
        if let Some(orders) = &self.orders {
            // A writer that has too much to do looks at it within the hour.
            let _ = orders.try_send(Order::Retain(keep));
        }
    }
}

impl Drop for AuditDatabase {
    fn drop(&mut self) {
        if let Some(orders) = self.orders.take() {
            // What waits is written first.
            let _ = orders.send(Order::End);
        }
        for thread in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // It does not panic; if it did, that was logged.
            let _ = thread.join();
        }
    }
}
