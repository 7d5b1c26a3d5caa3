//! The thread that reads and writes documents, and the queue of its operations. Used by
//! `host/src/owner/document_writer.rs`, which defines when a change takes effect.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::StoreError;
use ports::{Document, Documents};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::DocumentIoState;

/// Maximum number of queued operations, and of operations that the thread takes at once. Operations that find no room
/// in the queue fail as if the disk had failed.
const MAX_QUEUED_JOBS: usize = 1_024;
/// Maximum time to wait for queued operations when the host closes.
const WRITER_CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// An operation for the thread that reads and writes stored JSON documents. It results in a value `T`, such as a
/// callback, which is passed to the `on_done` of [`DocumentWriter::new`].
pub enum WriterJob<T> {
    /// A change of one document. Changes of the same document may be written together.
    Update(Box<dyn DocumentUpdate<T>>),
    /// Any other operation. It is executed after all jobs that were queued before it, and before all that were queued
    /// after it.
    Run(Box<WriterOperation<T>>),
}

/// An operation on the writer's thread other than a change of one document.
pub type WriterOperation<T> = dyn FnOnce(&dyn Documents) -> T + Send;

/// A change of one stored JSON document, which the writer's thread executes.
pub trait DocumentUpdate<T>: Send {
    /// Returns the document that is changed.
    fn document(&self) -> Document;
    /// Returns the new content of the document, or `null` to remove the document.
    fn change(&mut self, content: Option<Value>) -> Value;
    /// Returns the result of the change for `on_done`, given the result of the write.
    fn finish(self: Box<Self>, written: Result<(), StoreError>) -> T;
}

/// Handle to the thread that reads and writes stored JSON documents: the sending side of its queue.
pub struct DocumentWriter<T> {
    queue: Option<mpsc::Sender<WriterJob<T>>>,
    ended: Option<oneshot::Receiver<()>>,
    /// Reads and writes that are queued or in progress.
    pub progress: DocumentIoState,
}

impl<T: Send + 'static> DocumentWriter<T> {
    /// Starts the writer's thread, which calls `on_done` with the result of each operation.
    ///
    /// If this function is called within a tokio runtime, `on_done` runs in the context of that runtime and may spawn
    /// tasks.
    pub fn new(documents: Arc<dyn Documents>, on_done: impl FnMut(T) + Send + 'static) -> Self {
        let (queue, jobs) = mpsc::channel(MAX_QUEUED_JOBS);
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Handle::try_current();
        let run = move || {
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            run_jobs(documents.as_ref(), jobs, on_done);
            let _ = end.send(());
        };
        let spawned = std::thread::Builder::new().name("documents".to_owned()).spawn(run);
        if let Err(error) = &spawned {
            tracing::error!(%error, "documents can't be written");
        }
        let queue = spawned.is_ok().then_some(queue);
        Self { queue, ended: Some(ended), progress: DocumentIoState::default() }
    }

    /// Reserves a slot for one operation in the writer's queue.
    ///
    /// # Errors
    ///
    /// Returns the cause as text if the writer has stopped or the queue is full.
    pub fn reserve_slot(&self) -> Result<mpsc::OwnedPermit<WriterJob<T>>, &'static str> {
        let queue = self.queue.clone().ok_or("it is not written any more; start Drawbridge again")?;
        queue.try_reserve_owned().map_err(|_| "the disk does not keep up; try again")
    }

    /// Waits until all pending operations are done, at most for [`WRITER_CLOSE_TIMEOUT`].
    pub async fn close(&mut self) {
        self.queue = None;
        let Some(ended) = self.ended.take() else { return };
        if tokio::time::timeout(WRITER_CLOSE_TIMEOUT, ended).await.is_err() {
            tracing::error!("the last changes of documents could not be written in time");
        }
    }

    /// Returns `true` if writes of this document are unfinished, so that its file is outdated.
    pub fn has_pending_writes(&self, document: Document) -> bool {
        self.progress.has_pending_writes(document)
    }
}

fn run_jobs<T>(documents: &dyn Documents, mut jobs: mpsc::Receiver<WriterJob<T>>, mut on_done: impl FnMut(T)) {
    while let Some(job) = jobs.blocking_recv() {
        let others = std::iter::from_fn(|| jobs.try_recv().ok()).take(MAX_QUEUED_JOBS - 1);
        let waiting = std::iter::once(job).chain(others).collect();
        run_waiting_jobs(documents, waiting, |continuation| {
            // A panic of a continuation ends the owner. The remaining operations are executed nevertheless.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| on_done(continuation)));
        });
    }
}

/// Executes operations in order, except that changes of one document are written together if only changes of other
/// documents are queued between them. When many servers start at once, each of them changes the same few documents.
fn run_waiting_jobs<T>(documents: &dyn Documents, mut jobs: VecDeque<WriterJob<T>>, mut on_done: impl FnMut(T)) {
    while let Some(job) = jobs.pop_front() {
        match job {
            WriterJob::Run(work) => on_done(work(documents)),
            WriterJob::Update(first) => {
                let document = first.document();
                let mut updates = vec![first];
                let mut others = VecDeque::with_capacity(jobs.len());
                while let Some(next) = jobs.pop_front() {
                    match next {
                        WriterJob::Update(update) if update.document() == document => updates.push(update),
                        WriterJob::Update(_) => others.push_back(next),
                        WriterJob::Run(_) => {
                            jobs.push_front(next);
                            break;
                        }
                    }
                }
                others.append(&mut jobs);
                jobs = others;
                write_updates(documents, document, updates).for_each(&mut on_done);
            }
        }
    }
}

/// Writes changes of one document together. If the write fails, each of the changes has failed, since the causes, such
/// as a lock, a full disk or a missing key, don't depend on the content.
fn write_updates<T>(
    documents: &dyn Documents,
    document: Document,
    mut updates: Vec<Box<dyn DocumentUpdate<T>>>,
) -> impl Iterator<Item = T> {
    let written = documents.update(document, &mut |content| {
        let changed = updates.iter_mut().fold(content, |content, update| {
            let changed = update.change(content);
            (!changed.is_null()).then_some(changed)
        });
        changed.unwrap_or_default()
    });
    updates.into_iter().map(move |update| update.finish(written.clone()))
}

#[cfg(test)]
mod tests;
