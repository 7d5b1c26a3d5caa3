//! Tokens of remote servers, and the sign-ins that wait for an answer of the user. Callers: `owner/sign_in`.

use std::sync::Arc;

use credentials::sign_in::EnteredClient;
use credentials::vault::Vaults;
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use crate::owner::gate::{Departure, Passed};

/// Sign-ins of all servers.
pub(in crate::owner) struct SignIns {
    pub(in crate::owner) vaults: Arc<Vaults>,
    /// The sign-in that waits for the answer to a consent request, by the number of the request.
    pub(in crate::owner) replies: FxHashMap<u64, oneshot::Sender<SignInAnswer>>,
}

impl SignIns {
    pub(in crate::owner) fn new(vaults: Vaults) -> Self {
        Self { vaults: Arc::new(vaults), replies: FxHashMap::default() }
    }
}

/// The answer to a consent request of a sign-in.
#[derive(Debug)]
pub(in crate::owner) enum SignInAnswer {
    /// Go on, to the page that was approved.
    Yes(Departure),
    /// Go on with this id.
    Client(Passed<EnteredClient>),
    /// Do not.
    No,
    /// Closed.
    Cancelled,
}
