//! Reads and writes documents beside the owner's turns, on one thread, in the order in which the owner hands them over.
//!
//! A lock that another program holds, or a slow disk, delays only the files, and the answers that promise them. A document is always
//! written through the writer, so the order of its changes is theirs in the queue. The queue is bounded; what finds no room fails as
//! if the disk had refused it. When a change holds:
//!
//! | documents | it holds | if it can't be written |
//! | --- | --- | --- |
//! | `grants.json` | at once, whether a right is given or taken back | given: until Drawbridge ends; taken back: it stays so here, and the answer says that it stands again after a restart |
//! | `sampling.json` | what was used, and what is turned off: at once; what is turned on or raised: once it is written | what was used counts, and what is off stays off, until Drawbridge ends |
//! | `policy.json`, `settings.json`, `models.json`, `confirmed.json`, `flow.json`, and the servers in `mcp.json` | once it is written, and the answer comes then | it does not hold, and the answer says so |
//! | `pins.json`, `roots.json`, `running.json`, `servers.json`, `packages.json`, `model-lists.json` | at once | until Drawbridge ends; the log says so |
//!
//! What has to be in the audit log before it holds waits for that first (`audit.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::StoreError;
use ports::{Document, Documents};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::{DeferredTurn, Owner, WeakOwner};

/// The most reads and writes that wait for the disk. More fail as if the disk had refused them.
const MAX_PENDING: usize = 1_024;
/// How long closing waits for the changes that are still pending.
const CLOSING_PATIENCE: Duration = Duration::from_secs(10);

/// Content of a document, or why it can't be read.
pub(super) type ReadDocument = Result<Option<Value>, StoreError>;

/// Runs on the writer's thread and gives back the command with which the owner goes on.
type Job = Box<dyn FnOnce(&dyn Documents) -> DeferredTurn + Send>;

/// The queue in front of the thread that reads and writes.
pub(super) struct DocumentWriter {
    queue: Option<mpsc::Sender<Job>>,
    ended: Option<oneshot::Receiver<()>>,
    /// The number of writes of each document that are not on disk yet.
    pending: BTreeMap<&'static str, usize>,
    /// Documents that are being read.
    reading: BTreeSet<&'static str>,
    /// Documents that another program changed while they were being read or written.
    stale: BTreeSet<&'static str>,
}

impl DocumentWriter {
    pub(super) fn new(documents: Arc<dyn Documents>, back: WeakOwner) -> Self {
        let (queue, jobs) = mpsc::channel(MAX_PENDING);
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Handle::try_current();
        let run = move || {
            // What goes on once a document is written may start a task.
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            work_through(documents.as_ref(), jobs, &back);
            let _ = end.send(());
        };
        let spawned = std::thread::Builder::new().name("documents".to_owned()).spawn(run);
        if let Err(error) = &spawned {
            tracing::error!(%error, "documents can't be written");
        }
        let queue = spawned.is_ok().then_some(queue);
        Self { queue, ended: Some(ended), pending: BTreeMap::new(), reading: BTreeSet::new(), stale: BTreeSet::new() }
    }

    /// A place in the queue.
    fn place(&self) -> Result<mpsc::OwnedPermit<Job>, &'static str> {
        let queue = self.queue.clone().ok_or("it is not written any more; start Drawbridge again")?;
        queue.try_reserve_owned().map_err(|_| "the disk does not keep up; try again")
    }

    /// Returns true if the file of this document is older than what the owner handed over.
    pub(in crate::owner) fn is_written_later(&self, document: Document) -> bool {
        self.pending.contains_key(document.file_name())
    }

    /// Counts a write as done.
    fn written(&mut self, document: Document) {
        let name = document.file_name();
        if let Some(pending) = self.pending.get_mut(name) {
            *pending -= 1;
            if *pending == 0 {
                self.pending.remove(name);
            }
        }
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

fn work_through(documents: &dyn Documents, mut jobs: mpsc::Receiver<Job>, back: &WeakOwner) {
    while let Some(work) = jobs.blocking_recv() {
        let done = work(documents);
        // The owner may have ended, or a turn may panic, which ends it: what is left is written all the same.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| back.run(done)));
    }
}

impl Owner {
    /// Changes a document as it is on disk then, and goes on with `then`, which gets what `change` gave besides the new content.
    pub(super) fn change_document<T: Send + 'static>(
        &mut self,
        document: Document,
        mut change: impl FnMut(Option<Value>) -> (Value, T) + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, StoreError>) + Send + 'static,
    ) {
        let failed = move |cause: &str| StoreError { path: document.file_name().to_owned(), cause: cause.to_owned() };
        let place = match self.documents.writer.place() {
            Ok(place) => place,
            Err(cause) => return then(self, Err(failed(cause))),
        };
        *self.documents.writer.pending.entry(document.file_name()).or_default() += 1;
        let work = move |documents: &dyn Documents| -> DeferredTurn {
            let mut given = None;
            let written = documents.update(document, &mut |kept| {
                let (value, besides) = change(kept);
                given = Some(besides);
                value
            });
            let result = written.and_then(|()| given.ok_or_else(|| failed("it was not changed")));
            DeferredTurn::named(std::any::type_name_of_val(&then), move |owner| {
                owner.documents.writer.written(document);
                then(owner, result);
                owner.reload_if_stale(document);
            })
        };
        place.send(Box::new(work));
    }

    /// Hands over a change of a document that nobody waits for. `failure` begins the log line if it can't be written.
    pub(super) fn write_later(
        &mut self,
        document: Document,
        failure: &'static str,
        mut change: impl FnMut(Option<Value>) -> Value + Send + 'static,
    ) {
        self.change_document(
            document,
            move |kept| (change(kept), ()),
            move |_, written| {
                if let Err(error) = written {
                    tracing::error!(%error, "{failure}");
                }
            },
        );
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

    /// Runs on the writer's thread, after all that was handed over before, and goes on with `then`, which gets the cause if the
    /// queue has no room.
    pub(super) fn on_disk<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn Documents) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, &'static str>) + Send + 'static,
    ) {
        let place = match self.documents.writer.place() {
            Ok(place) => place,
            Err(cause) => return then(self, Err(cause)),
        };
        let work = move |documents: &dyn Documents| -> DeferredTurn {
            let done = work(documents);
            DeferredTurn::named(std::any::type_name_of_val(&then), move |owner| then(owner, Ok(done)))
        };
        place.send(Box::new(work));
    }

    /// Another program changed a document whose newest state may be in memory: it is read once own changes are written, since
    /// an older file would undo them.
    pub(super) fn reload_document(&mut self, document: Document, apply: fn(&mut Self, ReadDocument)) {
        let (writer, name) = (&mut self.documents.writer, document.file_name());
        if writer.is_written_later(document) || writer.reading.contains(name) {
            writer.stale.insert(name);
            return;
        }
        writer.reading.insert(name);
        self.on_disk(
            move |documents| documents.read(document),
            move |owner, read| {
                owner.documents.writer.reading.remove(name);
                match read {
                    Err(cause) => {
                        tracing::error!(document = name, cause, "a change of another program could not be read");
                    }
                    Ok(_) if owner.documents.writer.is_written_later(document) => {
                        owner.documents.writer.stale.insert(name);
                    }
                    Ok(read) => {
                        apply(owner, read);
                        owner.reload_if_stale(document);
                    }
                }
            },
        );
    }

    fn reload_if_stale(&mut self, document: Document) {
        let writer = &mut self.documents.writer;
        if !writer.is_written_later(document) && writer.stale.remove(document.file_name()) {
            match document {
                Document::Grants => self.reload_grants(),
                Document::Pins => self.reload_pins(),
                Document::Roots => self.reload_roots(),
                Document::Flow => self.reload_flows(),
                Document::Sampling => self.reload_sampling(),
                _ => {}
            }
        }
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
