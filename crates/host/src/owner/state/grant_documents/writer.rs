//! The thread that reads and writes documents, and its queue. Used by `owner/document_writer.rs`, which defines when a
//! change takes effect.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::StoreError;
use ports::{Document, Documents};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::owner::{DeferredTurn, WeakOwner};

/// Maximum number of queued operations. Further ones fail as if the disk had failed.
const MAX_PENDING: usize = 1_024;
/// Timeout for pending changes on shutdown.
const CLOSING_PATIENCE: Duration = Duration::from_secs(10);

/// Content of a document, or the error of reading it.
pub(in crate::owner) type ReadDocument = Result<Option<Value>, StoreError>;

/// An operation on the writer's thread. Returns the continuation to run in a turn of the owner.
pub(in crate::owner) type Job = Box<dyn FnOnce(&dyn Documents) -> DeferredTurn + Send>;

/// The queue of the thread that reads and writes documents.
pub(in crate::owner) struct DocumentWriter {
    queue: Option<mpsc::Sender<Job>>,
    ended: Option<oneshot::Receiver<()>>,
    pub(in crate::owner) progress: DocumentProgress,
}

/// The operations on documents in progress.
#[derive(Debug, Default)]
pub(in crate::owner) struct DocumentProgress {
    /// Number of pending writes of each document.
    pending: BTreeMap<&'static str, usize>,
    /// Documents that are being read.
    reading: BTreeSet<&'static str>,
    /// Documents that another process changed while they were being read or written.
    stale: BTreeSet<&'static str>,
}

impl DocumentProgress {
    /// Returns `true` if the file of this document is older than the submitted writes.
    fn is_written_later(&self, document: Document) -> bool {
        self.pending.contains_key(document.file_name())
    }

    /// Records that a write was submitted.
    pub(in crate::owner) fn begin_write(&mut self, document: Document) {
        *self.pending.entry(document.file_name()).or_default() += 1;
    }

    /// Records that a write is done.
    pub(in crate::owner) fn end_write(&mut self, document: Document) {
        let name = document.file_name();
        if let Some(pending) = self.pending.get_mut(name) {
            *pending -= 1;
            if *pending == 0 {
                self.pending.remove(name);
            }
        }
    }

    /// Records that another process changed a document. Returns `true` if it should be read now, and `false` if it is
    /// read after the current operations.
    pub(in crate::owner) fn begin_read(&mut self, document: Document) -> bool {
        let name = document.file_name();
        if self.is_written_later(document) || self.reading.contains(name) {
            self.stale.insert(name);
            return false;
        }
        self.reading.insert(name)
    }

    /// Records that a read is done or could not start.
    pub(in crate::owner) fn end_read(&mut self, document: Document) {
        self.reading.remove(document.file_name());
    }

    /// Returns `true` if the content that was read is the newest. Otherwise it is read again after the pending writes.
    pub(in crate::owner) fn is_newest(&mut self, document: Document) -> bool {
        let is_older = self.is_written_later(document);
        if is_older {
            self.stale.insert(document.file_name());
        }
        !is_older
    }

    /// Returns `true` once if the document should be read again now.
    pub(in crate::owner) fn take_stale(&mut self, document: Document) -> bool {
        !self.is_written_later(document) && self.stale.remove(document.file_name())
    }
}

impl DocumentWriter {
    pub(in crate::owner) fn new(documents: Arc<dyn Documents>, back: WeakOwner) -> Self {
        let (queue, jobs) = mpsc::channel(MAX_PENDING);
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Handle::try_current();
        let run = move || {
            // Continuations may spawn tasks.
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            work_through(documents.as_ref(), jobs, &back);
            let _ = end.send(());
        };
        let spawned = std::thread::Builder::new().name("documents".to_owned()).spawn(run);
        if let Err(error) = &spawned {
            tracing::error!(%error, "documents can't be written");
        }
        let queue = spawned.is_ok().then_some(queue);
        Self { queue, ended: Some(ended), progress: DocumentProgress::default() }
    }

    /// Reserves a slot in the queue.
    ///
    /// # Errors
    ///
    /// Returns the cause if the writer has stopped or the queue is full.
    pub(in crate::owner) fn place(&self) -> Result<mpsc::OwnedPermit<Job>, &'static str> {
        let queue = self.queue.clone().ok_or("it is not written any more; start Drawbridge again")?;
        queue.try_reserve_owned().map_err(|_| "the disk does not keep up; try again")
    }

    /// Waits until all pending operations are done, at most for [`CLOSING_PATIENCE`].
    pub(in crate::owner) async fn close(&mut self) {
        self.queue = None;
        let Some(ended) = self.ended.take() else { return };
        if tokio::time::timeout(CLOSING_PATIENCE, ended).await.is_err() {
            tracing::error!("the last changes of documents could not be written in time");
        }
    }

    /// Returns `true` if the file of this document is older than the submitted writes.
    pub(in crate::owner) fn is_written_later(&self, document: Document) -> bool {
        self.progress.is_written_later(document)
    }
}

fn work_through(documents: &dyn Documents, mut jobs: mpsc::Receiver<Job>, back: &WeakOwner) {
    while let Some(work) = jobs.blocking_recv() {
        let done = work(documents);
        // The owner may have ended, or the continuation may panic, which ends it. The remaining operations are executed
        // in either case.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| back.run(done)));
    }
}

/// Returns the entries of a document with an entry per server. Empty if it is not an object.
pub(in crate::owner) fn entries(kept: Option<Value>) -> Map<String, Value> {
    // Avoids `from_value`, which would clone every value.
    match kept {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    }
}

/// Returns the document with one server's entry replaced or removed.
pub(in crate::owner) fn with_entry(kept: Option<Value>, server: &str, value: Option<&Value>) -> Value {
    let mut entries = entries(kept);
    match value {
        Some(value) => {
            entries.insert(server.to_owned(), value.clone());
        }
        None => {
            entries.shift_remove(server);
        }
    }
    entries.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_older_file_does_not_undo_own_changes() {
        let mut progress = DocumentProgress::default();
        progress.begin_write(Document::Pins);
        progress.begin_write(Document::Pins);
        assert!(!progress.begin_read(Document::Pins), "a document with pending writes is not read");
        progress.end_write(Document::Pins);
        assert!(!progress.take_stale(Document::Pins), "another write is pending");
        progress.end_write(Document::Pins);
        assert!(progress.take_stale(Document::Pins), "the document is read after the last write");
        assert!(!progress.take_stale(Document::Pins), "once");
        assert!(progress.begin_read(Document::Roots), "other documents are read immediately");
    }

    #[test]
    fn a_change_during_a_read_is_read_after_it() {
        let mut progress = DocumentProgress::default();
        assert!(progress.begin_read(Document::Flow));
        assert!(!progress.begin_read(Document::Flow), "a second read doesn't start during the first");
        progress.end_read(Document::Flow);
        assert!(progress.is_newest(Document::Flow), "the content is the newest without pending writes");
        assert!(progress.take_stale(Document::Flow), "a change during the read causes another read");
    }

    #[test]
    fn a_file_that_is_older_than_an_own_change_is_read_again() {
        let mut progress = DocumentProgress::default();
        assert!(progress.begin_read(Document::Flow));
        progress.begin_write(Document::Flow);
        progress.end_read(Document::Flow);
        assert!(!progress.is_newest(Document::Flow), "the content is older than the pending write");
        progress.end_write(Document::Flow);
        assert!(progress.take_stale(Document::Flow), "the document is read again after the write");
    }

    #[test]
    fn the_entry_of_one_server_leaves_the_others() {
        let kept = json!({ "a": 1, "b": 2 });
        assert_eq!(with_entry(Some(kept.clone()), "a", Some(&json!(3))), json!({ "a": 3, "b": 2 }));
        assert_eq!(with_entry(Some(kept), "a", None), json!({ "b": 2 }));
        assert_eq!(with_entry(Some(json!("no object")), "a", Some(&json!(3))), json!({ "a": 3 }));
    }
}
