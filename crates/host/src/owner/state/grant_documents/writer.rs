//! The thread that reads and writes documents, and the queue of its operations. Used by `owner/document_writer.rs`,
//! which defines when a change takes effect.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use host_state::DocumentProgress;
use ports::{Document, Documents};
use tokio::sync::{mpsc, oneshot};

use crate::owner::{DeferredTurn, WeakOwner};

/// Maximum number of queued operations. Operations beyond it fail as if the disk had failed.
const MAX_QUEUED_JOBS: usize = 1_024;
/// Time to wait for pending operations on shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// An operation for the writer's thread. Returns the continuation, which runs in a turn of the owner.
pub(in crate::owner) type Job = Box<dyn FnOnce(&dyn Documents) -> DeferredTurn + Send>;

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
    while let Some(work) = jobs.blocking_recv() {
        let done = work(documents);
        // The owner may have ended, or the continuation may panic, which ends the owner. The remaining operations are
        // executed nevertheless.
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| back.run(done)));
    }
}
