//! The owner's reference to itself for spawned tasks, and the callers that wait for the shutdown of the host.

use tokio::sync::oneshot;

use crate::owner::WeakOwner;

/// State of the host's shutdown, and the callers of `close` that wait for it.
pub(in crate::owner) struct HostShutdown {
    /// Weak reference to the host's state, by which spawned tasks lock it.
    pub(in crate::owner) back: WeakOwner,
    pub(in crate::owner) is_closing: bool,
    /// Senders that are notified when all server processes have ended.
    pub(in crate::owner) waiting: Vec<oneshot::Sender<()>>,
}

impl HostShutdown {
    pub(in crate::owner) const fn new(back: WeakOwner) -> Self {
        Self { back, is_closing: false, waiting: Vec::new() }
    }
}
