//! Reads and writes documents outside of the owner's turns, on one thread, in the order of submission. Changes of one
//! document that wait in the queue are written together, and may be written before earlier changes of other documents.
//! They succeed or fail together.
//!
//! A lock held by another process, or a slow disk, delays only the files and the replies that depend on them. All
//! writes go through the writer, so changes of a document are applied in the order of the queue. The queue is bounded;
//! an operation that finds no room fails as if the disk had failed. Changes take effect as follows:
//!
//! | documents | effective | if the write fails |
//! | --- | --- | --- |
//! | `grants.json` | immediately, for granting and for revoking | granted: effective until Drawbridge exits; revoked:
//! stays revoked in this run, and the reply reports that it is effective again after a restart |
//! | `sampling.json` | usage, and disabling: immediately; enabling or raising a limit: once written | usage counts, and
//! what is disabled stays disabled, until Drawbridge exits |
//! | `policy.json`, `settings.json`, `models.json`, `confirmed.json`, `flow.json`, and the servers in `mcp.json` | once
//! written, followed by the reply | the change has no effect, and the reply contains the error |
//! | `pins.json`, `roots.json`, `running.json`, `servers.json`, `packages.json`, `origins.json`, `model-lists.json`,
//! `uses.json` | immediately | effective until Drawbridge exits, and the failure is logged |
//!
//! Changes that require an audit entry wait for it first (`audit.rs`).

use domain::StoreError;
use host_state::{DocumentUpdate, WriterJob};
use ports::{Document, Documents};
use serde_json::Value;

use super::state::{DocumentReadResult, with_server_entry};
use super::{DeferredTurn, Owner};

/// A queued change of a stored JSON document, and the function that is called after the write.
struct QueuedChange<T, C, F> {
    document: Document,
    change: C,
    then: F,
    /// Second value that `change` returned, for the function that is called after the write.
    extra: Option<T>,
}

impl<T, C, F> DocumentUpdate<DeferredTurn> for QueuedChange<T, C, F>
where
    T: Send + 'static,
    C: FnMut(Option<Value>) -> (Value, T) + Send,
    F: FnOnce(&mut Owner, Result<T, StoreError>) + Send + 'static,
{
    fn document(&self) -> Document {
        self.document
    }

    fn change(&mut self, content: Option<Value>) -> Value {
        let (value, extra) = (self.change)(content);
        self.extra = Some(extra);
        value
    }

    fn finish(self: Box<Self>, written: Result<(), StoreError>) -> DeferredTurn {
        let Self { document, then, extra, .. } = *self;
        let result = written.and_then(|()| extra.ok_or_else(|| write_error(document, "it was not changed")));
        DeferredTurn::named(std::any::type_name::<F>(), move |owner| {
            owner.documents.writer.progress.end_write(document);
            then(owner, result);
            owner.reload_if_stale(document);
        })
    }
}

fn write_error(document: Document, cause: &str) -> StoreError {
    StoreError { path: document.file_name().to_owned(), cause: cause.to_owned() }
}

impl Owner {
    /// Changes the content of a stored JSON document. Afterwards calls `then` with the second value that `change`
    /// returned, or with the error.
    pub(super) fn change_document<T: Send + 'static>(
        &mut self,
        document: Document,
        change: impl FnMut(Option<Value>) -> (Value, T) + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, StoreError>) + Send + 'static,
    ) {
        let place = match self.documents.writer.reserve_slot() {
            Ok(place) => place,
            Err(cause) => return then(self, Err(write_error(document, cause))),
        };
        self.documents.writer.progress.begin_write(document);
        place.send(WriterJob::Update(Box::new(QueuedChange { document, change, then, extra: None })));
    }

    /// Submits a change of a stored JSON document without waiting. If it fails, the log message begins with `failure`.
    pub(super) fn write_later(
        &mut self,
        document: Document,
        failure: &'static str,
        mut change: impl FnMut(Option<Value>) -> Value + Send + 'static,
    ) {
        self.change_document(
            document,
            move |stored| (change(stored), ()),
            move |_, written| {
                if let Err(error) = written {
                    tracing::error!(%error, "{failure}");
                }
            },
        );
    }

    /// Submits a change of one server's entry in a stored document, or its removal if `value` is `None`. Other entries
    /// are not changed.
    pub(super) fn write_entry_later(
        &mut self,
        document: Document,
        failure: &'static str,
        server: &str,
        value: Option<Value>,
    ) {
        let server = server.to_owned();
        self.write_later(document, failure, move |stored| with_server_entry(stored, &server, value.as_ref()));
    }

    /// Runs `work` on the writer's thread after all operations submitted before, and calls `then` with the result.
    /// `then` receives an error if the queue is full.
    pub(super) fn run_on_writer_thread<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&dyn Documents) -> T + Send + 'static,
        then: impl FnOnce(&mut Self, Result<T, &'static str>) + Send + 'static,
    ) {
        let place = match self.documents.writer.reserve_slot() {
            Ok(place) => place,
            Err(cause) => return then(self, Err(cause)),
        };
        let work = move |documents: &dyn Documents| -> DeferredTurn {
            let done = work(documents);
            DeferredTurn::named(std::any::type_name_of_val(&then), move |owner| then(owner, Ok(done)))
        };
        place.send(WriterJob::Run(Box::new(work)));
    }

    /// Reads a document again that another process changed. The document is read after the pending writes, since
    /// applying an older content would undo changes in memory.
    pub(super) fn reload_document(&mut self, document: Document, apply: fn(&mut Self, DocumentReadResult)) {
        if !self.documents.writer.progress.begin_read(document) {
            return;
        }
        self.run_on_writer_thread(
            move |documents| documents.read(document),
            move |owner, read| {
                let progress = &mut owner.documents.writer.progress;
                progress.end_read(document);
                match read {
                    Err(cause) => {
                        let name = document.file_name();
                        tracing::error!(document = name, cause, "a changed document could not be read");
                    }
                    Ok(read) if progress.is_read_content_current(document) => {
                        apply(owner, read);
                        owner.reload_if_stale(document);
                    }
                    Ok(_) => {}
                }
            },
        );
    }

    fn reload_if_stale(&mut self, document: Document) {
        if self.documents.writer.progress.take_pending_reread(document) {
            match document {
                Document::Grants => self.reload_grants(),
                Document::Pins => self.reload_pins(),
                Document::Roots => self.reload_roots(),
                Document::Flow => self.reload_data_flow(),
                Document::Origins => self.reload_install_records(),
                Document::Sampling => self.reload_sampling(),
                _ => {}
            }
        }
    }
}
