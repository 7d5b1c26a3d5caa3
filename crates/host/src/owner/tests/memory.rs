//! An audit log and documents in memory. A test can delay writes until it permits them.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use domain::StoreError;
use ports::{
    AuditAppendStatus, AuditEntry, AuditLog, AuditQuery, AuditReceipts, AuditRetention, AuditSeal, AuditVerdict,
    Document, Documents, WrittenAuditEntry,
};
use serde_json::Value;

/// Audit log in memory.
#[derive(Default)]
pub(in crate::owner) struct MemoryLog {
    receipts: Mutex<Option<Arc<AuditReceipts>>>,
    /// Set to queue entries until [`MemoryLog::write_next_entry`] writes them.
    pub(in crate::owner) delays: AtomicBool,
    queue: Mutex<VecDeque<(u64, AuditEntry)>>,
    written: Mutex<Vec<AuditEntry>>,
}

impl MemoryLog {
    /// Returns the entries that were written, oldest first.
    pub(in crate::owner) fn written_entries(&self) -> Vec<AuditEntry> {
        self.written.lock().unwrap().clone()
    }

    /// Returns the number of queued entries that are not written yet.
    pub(in crate::owner) fn queued_entries(&self) -> usize {
        self.queue.lock().unwrap().len()
    }

    /// Writes the oldest queued entry, and sends the receipt to the host.
    pub(in crate::owner) fn write_next_entry(&self) {
        let Some((ticket, entry)) = self.queue.lock().unwrap().pop_front() else { return };
        let written = self.append(entry);
        self.receipts.lock().unwrap().as_ref().expect("the host receives receipts").report([(ticket, written)]);
    }
}

impl AuditLog for MemoryLog {
    fn path(&self) -> PathBuf {
        PathBuf::from("audit.db")
    }

    fn set_receipts(&self, receipts: Arc<AuditReceipts>) {
        *self.receipts.lock().unwrap() = Some(receipts);
    }

    fn append(&self, entry: AuditEntry) -> Result<WrittenAuditEntry, StoreError> {
        let mut written = self.written.lock().unwrap();
        written.push(entry);
        let number = written.len() as u64;
        Ok(WrittenAuditEntry { number, position: number })
    }

    fn append_later(&self, entry: AuditEntry, ticket: u64) -> Result<AuditAppendStatus, StoreError> {
        let mut queue = self.queue.lock().unwrap();
        if self.delays.load(Ordering::SeqCst) || !queue.is_empty() {
            queue.push_back((ticket, entry));
            return Ok(AuditAppendStatus::Later);
        }
        self.append(entry).map(AuditAppendStatus::Written)
    }

    fn durable_position(&self) -> Result<u64, StoreError> {
        Ok(u64::MAX)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn read(&self, _: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        Ok(self.written_entries().into_iter().rev().collect())
    }

    fn verify(&self) -> Result<AuditVerdict, StoreError> {
        let entries = self.written.lock().unwrap().len() as u64;
        let (first, last, removed, seal) = (None, None, None, AuditSeal::None);
        Ok(AuditVerdict { entries, first, last, removed, seal, findings: Vec::new(), more: 0, unproved: Vec::new() })
    }

    fn verify_export(&self, _: &Path) -> Result<AuditVerdict, StoreError> {
        self.verify()
    }

    fn export(&self, _: &mut dyn Write) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn set_retention(&self, _: AuditRetention) {}
}

/// Documents in memory. The test can delay each write.
#[derive(Default)]
pub(in crate::owner) struct MemoryDocuments {
    values: Mutex<HashMap<&'static str, Value>>,
    gate: Mutex<DocumentWriteGate>,
    changed: Condvar,
}

/// Counters of document writes that have begun and that are permitted.
#[derive(Default)]
struct DocumentWriteGate {
    /// Set if writes wait for [`MemoryDocuments::permit_next_document_write`].
    is_closed: bool,
    /// Number of writes that have begun, including one that waits.
    begun: usize,
    /// Number of writes that are permitted.
    permitted: usize,
}

impl MemoryDocuments {
    /// Delays all later writes until they are permitted.
    pub(in crate::owner) fn hold_document_writes(&self) {
        let mut gate = self.gate.lock().unwrap();
        (gate.is_closed, gate.permitted) = (true, gate.begun);
    }

    /// Permits all pending and later writes.
    pub(in crate::owner) fn release_document_writes(&self) {
        self.gate.lock().unwrap().is_closed = false;
        self.changed.notify_all();
    }

    /// Permits one write, and returns the number of writes that had begun before.
    pub(in crate::owner) fn permit_next_document_write(&self) -> usize {
        let mut gate = self.gate.lock().unwrap();
        gate.permitted += 1;
        self.changed.notify_all();
        gate.begun
    }

    /// Returns the number of writes that have begun, and `true` if the latest write waits for permission.
    pub(in crate::owner) fn begun_document_writes(&self) -> (usize, bool) {
        let gate = self.gate.lock().unwrap();
        (gate.begun, gate.is_closed && gate.begun > gate.permitted)
    }
}

impl Documents for MemoryDocuments {
    fn path(&self) -> PathBuf {
        PathBuf::from("documents")
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        Ok(self.values.lock().unwrap().get(name.file_name()).cloned())
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        self.values.lock().unwrap().remove(name.file_name());
        Ok(self.path().join(name.file_name()))
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        let mut gate = self.gate.lock().unwrap();
        gate.begun += 1;
        drop(self.changed.wait_while(gate, |gate| gate.is_closed && gate.begun > gate.permitted).unwrap());
        self.values.lock().unwrap().insert(name.file_name(), value.clone());
        Ok(())
    }
}
