//! The way back to the owner from tasks, and the end of the host.

use tokio::sync::oneshot;

use crate::owner::WeakOwner;

/// The end of the host, and the callers that wait for it.
pub(in crate::owner) struct Lifetime {
    /// For tasks that run beside the turns.
    pub(in crate::owner) back: WeakOwner,
    pub(in crate::owner) is_closing: bool,
    /// Told when nothing is left of any server.
    pub(in crate::owner) waiting: Vec<oneshot::Sender<()>>,
}

impl Lifetime {
    pub(in crate::owner) const fn new(back: WeakOwner) -> Self {
        Self { back, is_closing: false, waiting: Vec::new() }
    }
}
