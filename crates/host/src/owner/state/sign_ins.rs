//! Tokens of remote servers, and sign-ins that wait for a decision of the user. Used by `owner/sign_in`.

use std::sync::Arc;

use credentials::sign_in::EnteredClient;
use credentials::vault::TokenVaults;
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use crate::owner::gate::{AuthorizedPayload, SendPermit};

/// State of the sign-ins that is shared by all servers.
pub(in crate::owner) struct SignIns {
    pub(in crate::owner) vaults: Arc<TokenVaults>,
    /// Senders for the decisions that sign-ins wait for, by number of the consent request.
    pub(in crate::owner) replies: FxHashMap<u64, oneshot::Sender<SignInAnswer>>,
}

impl SignIns {
    pub(in crate::owner) fn new(vaults: TokenVaults) -> Self {
        Self { vaults: Arc::new(vaults), replies: FxHashMap::default() }
    }
}

/// The user's decision on a consent request of a sign-in.
#[derive(Debug)]
pub(in crate::owner) enum SignInAnswer {
    /// The user approved the sign-in with the displayed authorization URL.
    Yes(SendPermit),
    /// The user entered the client credentials to use.
    Client(AuthorizedPayload<EnteredClient>),
    /// The user denied the request, which ends the sign-in.
    No,
    /// The user dismissed the request without a decision.
    Cancelled,
}
