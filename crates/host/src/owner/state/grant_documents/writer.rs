//! The thread that reads and writes documents, and the queue of its operations. Used by `owner/document_writer.rs`,
//! which defines when a change takes effect.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::StoreError;
use host_state::DocumentProgress;
use ports::{Document, Documents};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::owner::{DeferredTurn, WeakOwner};

/// Maximum number of queued operations. Operations beyond it fail as if the disk had failed.
const MAX_QUEUED_JOBS: usize = 1_024;
/// Time to wait for pending operations on shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// An operation for the writer's thread. Results in a continuation, which runs in a turn of the owner.
pub(in crate::owner) enum Job {
    Update(Box<dyn DocumentUpdate>),
    Run(Box<RunOnWriter>),
}

/// An operation other than a change of one document.
type RunOnWriter = dyn FnOnce(&dyn Documents) -> DeferredTurn + Send;

/// A change of one document.
pub(in crate::owner) trait DocumentUpdate: Send {
    fn document(&self) -> Document;
    /// Returns the new content. Called again if the first write failed.
    fn change(&mut self, content: Option<Value>) -> Value;
    /// Returns the continuation for the result of the write.
    fn finish(self: Box<Self>, written: Result<(), StoreError>) -> DeferredTurn;
}

/// The sending side of the queue of operations on documents.
pub(in crate::owner) struct DocumentWriter {
    queue: Option<mpsc::Sender<Job>>,
    ended: Option<oneshot::Receiver<()>>,
    pub(in crate::owner) progress: DocumentProgress,
}

impl DocumentWriter {
    pub(in crate::owner) fn new(documents: Arc<dyn Documents>, back: WeakOwner) -> Self {
        let (queue, jobs) = mpsc::channel(MAX_QUEUED_JOBS);
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Handle::try_current();
        let run = move || {
            // Enters the runtime, since continuations may spawn tasks.
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            run_jobs(documents.as_ref(), jobs, &back);
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
    /// Returns the cause as text if the writer has stopped or the queue is full.
    pub(in crate::owner) fn reserve_slot(&self) -> Result<mpsc::OwnedPermit<Job>, &'static str> {
        let queue = self.queue.clone().ok_or("it is not written any more; start Drawbridge again")?;
        queue.try_reserve_owned().map_err(|_| "the disk does not keep up; try again")
    }

    /// Waits until all pending operations are done, at most for [`CLOSE_TIMEOUT`].
    pub(in crate::owner) async fn close(&mut self) {
        self.queue = None;
        let Some(ended) = self.ended.take() else { return };
        if tokio::time::timeout(CLOSE_TIMEOUT, ended).await.is_err() {
            tracing::error!("the last changes of documents could not be written in time");
        }
    }

    /// Returns `true` if writes of this document are unfinished, so that its file is outdated.
    pub(in crate::owner) fn has_pending_writes(&self, document: Document) -> bool {
        self.progress.has_pending_writes(document)
    }
}

fn run_jobs(documents: &dyn Documents, mut jobs: mpsc::Receiver<Job>, back: &WeakOwner) {
    while let Some(job) = jobs.blocking_recv() {
        let waiting = std::iter::once(job).chain(std::iter::from_fn(|| jobs.try_recv().ok())).collect();
        run_waiting_jobs(documents, waiting, |continuation| {
            // The owner may have ended, or the continuation may panic, which ends the owner. The remaining operations
            // are executed nevertheless.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| back.run(continuation)));
        });
    }
}

/// Executes operations in order, except that changes of one document are written together if only changes of other
/// documents are queued between them. When many servers start at once, each of them changes the same few documents.
fn run_waiting_jobs(documents: &dyn Documents, mut jobs: VecDeque<Job>, mut on_done: impl FnMut(DeferredTurn)) {
    while let Some(job) = jobs.pop_front() {
        match job {
            Job::Run(work) => on_done(work(documents)),
            Job::Update(first) => {
                let document = first.document();
                let mut updates = vec![first];
                let mut others = VecDeque::with_capacity(jobs.len());
                while let Some(next) = jobs.pop_front() {
                    match next {
                        Job::Update(update) if update.document() == document => updates.push(update),
                        Job::Update(_) => others.push_back(next),
                        Job::Run(_) => {
                            jobs.push_front(next);
                            break;
                        }
                    }
                }
                others.append(&mut jobs);
                jobs = others;
                write_updates(documents, document, updates).into_iter().for_each(&mut on_done);
            }
        }
    }
}

/// Writes changes of one document together. If that fails, writes each of them separately, so that one change can't
/// prevent the others.
fn write_updates(
    documents: &dyn Documents,
    document: Document,
    mut updates: Vec<Box<dyn DocumentUpdate>>,
) -> Vec<DeferredTurn> {
    let written = documents.update(document, &mut |content| {
        let changed = updates.iter_mut().fold(content, |content, update| {
            let changed = update.change(content);
            (!changed.is_null()).then_some(changed)
        });
        changed.unwrap_or_default()
    });
    let is_repeated = written.is_err() && updates.len() > 1;
    let finish = |mut update: Box<dyn DocumentUpdate>| {
        let written = match is_repeated {
            true => documents.update(document, &mut |content| update.change(content)),
            false => written.clone(),
        };
        update.finish(written)
    };
    updates.into_iter().map(finish).collect()
}

#[cfg(test)]
mod tests;
