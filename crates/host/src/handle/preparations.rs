//! What is read before a call, cancelled by the id of that call: the owner does not know the id yet. Caller: `skills.rs`, which reads a
//! server's list before one of its skills.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::call::CallFailure;
use tokio::sync::oneshot;

use super::Host;

/// Those under way, by the id of the call that follows; a sender that is dropped cancels its preparation.
#[derive(Clone, Default)]
pub(super) struct Preparations(Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>);

impl Preparations {
    fn begin(&self, id: &str) -> Result<(Preparation<'_>, oneshot::Receiver<()>), CallFailure> {
        let (cancel, cancelled) = oneshot::channel();
        let mut pending = self.locked();
        if pending.contains_key(id) {
            return Err(CallFailure::IdInUse(id.to_owned()));
        }
        pending.insert(id.to_owned(), cancel);
        Ok((Preparation { of: self, id: id.to_owned() }, cancelled))
    }

    /// Returns true if there was one of this id.
    pub(super) fn cancel(&self, id: &str) -> bool {
        self.locked().remove(id).is_some()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One preparation, which ends when it is dropped.
struct Preparation<'a> {
    of: &'a Preparations,
    id: String,
}

impl Drop for Preparation<'_> {
    fn drop(&mut self) {
        self.of.cancel(&self.id);
    }
}

impl Host {
    /// Does what comes before the call `id`. [`Host::cancel_call`] with that id ends it.
    ///
    /// # Errors
    /// [`CallFailure::Cancelled`] if it was cancelled, [`CallFailure::IdInUse`] if the same is done under this id already.
    pub(crate) async fn cancellable<T>(&self, id: &str, act: impl Future<Output = T>) -> Result<T, CallFailure> {
        let (_preparation, cancelled) = self.preparations.begin(id)?;
        tokio::select! {
            biased;
            _ = cancelled => Err(CallFailure::Cancelled),
            done = act => Ok(done),
        }
    }
}
