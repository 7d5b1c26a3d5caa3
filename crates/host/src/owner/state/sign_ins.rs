//! Tokens of remote servers, and the sign-ins that wait for an answer of the user.

use std::sync::Arc;

use credentials::vault::Vaults;
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use crate::owner::sign_in::Answered;

/// Sign-ins of all servers.
pub(in crate::owner) struct SignIns {
    pub(in crate::owner) vaults: Arc<Vaults>,
    /// The sign-in that waits for the answer to a consent request, by the number of the request.
    pub(in crate::owner) replies: FxHashMap<u64, oneshot::Sender<Answered>>,
}

impl SignIns {
    pub(in crate::owner) fn new(vaults: Vaults) -> Self {
        Self { vaults: Arc::new(vaults), replies: FxHashMap::default() }
    }
}
