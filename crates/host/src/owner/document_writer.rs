//! Writes documents beside the owner loop.
//!
//! Used for documents whose newest state the owner holds in memory and whose write nobody waits for: what runs, pins, shared
//! folders, what was found of servers, approved package versions. A lock that another program holds, or a slow disk, delays
//! only the file. One document is always written through the writer, or never: the order of its changes is theirs in the queue.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::{Command, Owner};
use crate::ports::{Document, Documents, StoreError};

/// The most changes that wait for the disk. More fail as if the disk had refused them.
const MAX_PENDING: usize = 1_024;
/// How long closing waits for the changes that are still pending.
const CLOSING_PATIENCE: Duration = Duration::from_secs(10);

/// Makes a document's new content out of what is on disk.
pub(super) type Change = Box<dyn FnMut(Option<Value>) -> Value + Send>;

struct PendingWrite {
    document: Document,
    change: Change,
    /// Begins the log line of a failure.
    failure: &'static str,
}

/// The queue in front of the thread that writes.
pub(super) struct DocumentWriter {
    queue: Option<mpsc::Sender<PendingWrite>>,
    ended: Option<oneshot::Receiver<()>>,
    /// The number of writes of each document that are not on disk yet.
    pending: BTreeMap<&'static str, usize>,
    /// Documents that another program changed while own writes were pending.
    changed_meanwhile: Vec<Document>,
}

impl DocumentWriter {
    pub(super) fn new(documents: Arc<dyn Documents>, back: mpsc::WeakSender<Command>) -> Self {
        let (queue, writes) = mpsc::channel(MAX_PENDING);
        let (end, ended) = oneshot::channel();
        let run = move || {
            write_all(documents.as_ref(), writes, &back);
            let _ = end.send(());
        };
        let spawned = std::thread::Builder::new().name("documents".to_owned()).spawn(run);
        if let Err(error) = &spawned {
            tracing::error!(%error, "documents can't be written");
        }
        let queue = spawned.is_ok().then_some(queue);
        Self { queue, ended: Some(ended), pending: BTreeMap::new(), changed_meanwhile: Vec::new() }
    }

    fn push(&mut self, write: PendingWrite) -> Result<(), &'static str> {
        let document = write.document.file_name();
        let queue = self.queue.as_ref().ok_or("nothing is written any more")?;
        queue.try_send(write).map_err(|_| "the disk does not keep up")?;
        *self.pending.entry(document).or_default() += 1;
        Ok(())
    }

    /// Counts a write as done. Returns true if none of this document is pending any more.
    fn written(&mut self, document: Document) -> bool {
        let Some(pending) = self.pending.get_mut(document.file_name()) else { return true };
        *pending = pending.saturating_sub(1);
        *pending == 0
    }

    /// Waits until all that is pending is written, or for [`CLOSING_PATIENCE`].
    pub(super) async fn close(&mut self) {
        self.queue = None;
        let Some(ended) = self.ended.take() else { return };
        if tokio::time::timeout(CLOSING_PATIENCE, ended).await.is_err() {
            tracing::error!("the last changes of documents could not be written in time");
        }
    }
}

fn write_all(documents: &dyn Documents, mut writes: mpsc::Receiver<PendingWrite>, back: &mpsc::WeakSender<Command>) {
    while let Some(PendingWrite { document, mut change, failure }) = writes.blocking_recv() {
        let written = documents.update(document, &mut *change);
        let Some(back) = back.upgrade() else {
            log_failure(written, failure);
            continue;
        };
        let done: Command = Box::new(move |owner| owner.document_written(document, written, failure));
        // The owner has ended; what is left is written all the same.
        let _ = back.blocking_send(done);
    }
}

fn log_failure(written: Result<(), StoreError>, failure: &'static str) {
    if let Err(error) = written {
        tracing::error!(%error, "{failure}");
    }
}

impl Owner {
    /// Hands over a change of a document. `failure` begins the log line if it can't be written.
    pub(super) fn write_later(
        &mut self,
        document: Document,
        failure: &'static str,
        change: impl FnMut(Option<Value>) -> Value + Send + 'static,
    ) {
        let write = PendingWrite { document, change: Box::new(change), failure };
        if let Err(cause) = self.document_writer.push(write) {
            tracing::error!(document = document.file_name(), cause, "{failure}");
        }
    }

    /// Hands over one entry of a document that has one for each server; `None` removes it. Other entries stay.
    pub(super) fn write_entry_later(
        &mut self,
        document: Document,
        failure: &'static str,
        server: &str,
        value: Option<Value>,
    ) {
        let server = server.to_owned();
        self.write_later(document, failure, move |kept| with_entry(kept, &server, value.as_ref()));
    }

    fn document_written(&mut self, document: Document, written: Result<(), StoreError>, failure: &'static str) {
        log_failure(written, failure);
        if self.document_writer.written(document) {
            let changed = &mut self.document_writer.changed_meanwhile;
            if let Some(at) = changed.iter().position(|name| *name == document) {
                changed.swap_remove(at);
                match document {
                    Document::Pins => self.reload_pins(),
                    Document::Roots => self.reload_roots(),
                    _ => {}
                }
            }
        }
    }

    /// Returns true if the file of this document is older than the state in memory. Reading it would undo own changes, so it
    /// is read again once they are written.
    pub(super) fn puts_off_reload(&mut self, document: Document) -> bool {
        let writer = &mut self.document_writer;
        let is_pending = writer.pending.get(document.file_name()).is_some_and(|pending| *pending > 0);
        if is_pending && !writer.changed_meanwhile.contains(&document) {
            writer.changed_meanwhile.push(document);
        }
        is_pending
    }
}

/// The document with this entry of one server, or without it.
pub(super) fn with_entry(kept: Option<Value>, server: &str, value: Option<&Value>) -> Value {
    let mut entries: Map<String, Value> = kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default();
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
