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
//! | `pins.json`, `roots.json`, `running.json`, `servers.json`, `packages.json`, `origins.json`, `model-lists.json` | at once | until Drawbridge ends; the log says so |
//!
//! What has to be in the audit log before it holds waits for that first (`audit.rs`).

use domain::StoreError;
use ports::{Document, Documents};
use serde_json::Value;

use super::state::{ReadDocument, with_entry};
use super::{DeferredTurn, Owner};

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
        self.documents.writer.progress.begin_write(document);
        let work = move |documents: &dyn Documents| -> DeferredTurn {
            let mut given = None;
            let written = documents.update(document, &mut |kept| {
                let (value, besides) = change(kept);
                given = Some(besides);
                value
            });
            let result = written.and_then(|()| given.ok_or_else(|| failed("it was not changed")));
            DeferredTurn::named(std::any::type_name_of_val(&then), move |owner| {
                owner.documents.writer.progress.end_write(document);
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
        if !self.documents.writer.progress.begin_read(document) {
            return;
        }
        self.on_disk(
            move |documents| documents.read(document),
            move |owner, read| {
                let progress = &mut owner.documents.writer.progress;
                progress.end_read(document);
                match read {
                    Err(cause) => {
                        let name = document.file_name();
                        tracing::error!(document = name, cause, "a change of another program could not be read");
                    }
                    Ok(read) if progress.is_newest(document) => {
                        apply(owner, read);
                        owner.reload_if_stale(document);
                    }
                    Ok(_) => {}
                }
            },
        );
    }

    fn reload_if_stale(&mut self, document: Document) {
        if self.documents.writer.progress.take_stale(document) {
            match document {
                Document::Grants => self.reload_grants(),
                Document::Pins => self.reload_pins(),
                Document::Roots => self.reload_roots(),
                Document::Flow => self.reload_flows(),
                Document::Origins => self.reload_origins(),
                Document::Sampling => self.reload_sampling(),
                _ => {}
            }
        }
    }
}
