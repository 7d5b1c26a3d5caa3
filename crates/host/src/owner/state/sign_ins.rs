//! Tokens of remote servers, and the sign-ins that wait for a decision of the user. Used by `owner/sign_in`.

use std::sync::Arc;

use credentials::sign_in::EnteredClient;
use credentials::vault::TokenVaults;
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use crate::owner::gate::{AuthorizedPayload, SendPermit};

/// The sign-ins of all servers.
pub(in crate::owner) struct SignIns {
    pub(in crate::owner) vaults: Arc<TokenVaults>,
    /// Sign-ins that wait for a decision, by the number of their consent request.
    pub(in crate::owner) replies: FxHashMap<u64, oneshot::Sender<SignInAnswer>>,
}

impl SignIns {
    pub(in crate::owner) fn new(vaults: TokenVaults) -> Self {
        Self { vaults: Arc::new(vaults), replies: FxHashMap::default() }
    }
}

/// The decision on a consent request of a sign-in.
#[derive(Debug)]
pub(in crate::owner) enum SignInAnswer {
    /// Approved: continue with the approved page.
    Yes(SendPermit),
    /// Approved: continue with this client id.
    Client(AuthorizedPayload<EnteredClient>),
    /// Denied: stop the sign-in.
    No,
    /// Dismissed without a decision.
    Cancelled,
}
