//! Preparations of calls: requests that have to finish before a call can be made, and can be cancelled by the id of
//! that call, which the owner does not know yet. Used by `chat/src/skills.rs`, which reads a server's list of skills
//! before it reads a skill.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::call::CallFailure;
use tokio::sync::oneshot;

use super::Host;

/// Preparations of calls that are in progress, by call id. Dropping a sender cancels the preparation.
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

    /// Cancels the preparation of the call `id`. Returns `false` if no preparation of this call is in progress.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.lock_pending().remove(id).is_some()
    }

    fn lock_pending(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a call's preparation that is in progress. Unregisters the preparation on drop.
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
    /// Runs a preparation of the call `id`, which [`Host::cancel_call`] can cancel.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Cancelled`] if the preparation was cancelled, and [`CallFailure::IdInUse`] if another
    /// preparation for this id is in progress.
    pub async fn run_cancellable<T>(&self, id: &str, act: impl Future<Output = T>) -> Result<T, CallFailure> {
        let (_preparation, cancelled) = self.preparations.begin(id)?;
        tokio::select! {
            biased;
            _ = cancelled => Err(CallFailure::Cancelled),
            done = act => Ok(done),
        }
    }
}
