//! Readings that precede a call and are cancelled by the id of that call, which the owner does not know yet. Used by
//! `skills.rs`, which reads a server's list before one of its skills.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::call::CallFailure;
use tokio::sync::oneshot;

use super::Host;

/// Preparations in progress, by the id of the following call. Dropping a sender cancels its preparation.
#[derive(Clone, Default)]
pub(super) struct CallPreparations(Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>);

impl CallPreparations {
    fn begin(&self, id: &str) -> Result<(CallPreparation<'_>, oneshot::Receiver<()>), CallFailure> {
        let (cancel, cancelled) = oneshot::channel();
        let mut pending = self.lock_pending();
        if pending.contains_key(id) {
            return Err(CallFailure::IdInUse(id.to_owned()));
        }
        pending.insert(id.to_owned(), cancel);
        Ok((CallPreparation { of: self, id: id.to_owned() }, cancelled))
    }

    /// Cancels a preparation. Returns `false` if none has this id.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.lock_pending().remove(id).is_some()
    }

    fn lock_pending(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A preparation in progress, which ends when this guard is dropped.
struct CallPreparation<'a> {
    of: &'a CallPreparations,
    id: String,
}

impl Drop for CallPreparation<'_> {
    fn drop(&mut self) {
        self.of.cancel(&self.id);
    }
}

impl Host {
    /// Runs a preparation of the call `id`. [`Host::cancel_call`] with that id cancels it.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Cancelled`] if it was cancelled, and [`CallFailure::IdInUse`] if another preparation with
    /// this id is in progress.
    pub(crate) async fn run_cancellable<T>(&self, id: &str, act: impl Future<Output = T>) -> Result<T, CallFailure> {
        let (_preparation, cancelled) = self.preparations.begin(id)?;
        tokio::select! {
            biased;
            _ = cancelled => Err(CallFailure::Cancelled),
            done = act => Ok(done),
        }
    }
}
