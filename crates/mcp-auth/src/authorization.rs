//! One server's authorization: its account, and everything that is done with it.

use std::sync::Arc;

use secrecy::SecretString;
use tokio::sync::watch;

use crate::account::{Account, InProgress, SignedOut};
use crate::budget::Budget;
use crate::error::AuthError;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::step::Step;
use crate::user::Reason;
use crate::vault::Kept;

/// One server's authorization. It signs that server's requests, and no others.
pub struct Authorization {
    pub(crate) shared: Arc<Shared>,
}

impl Authorization {
    /// Nothing is read or sent before the first use.
    pub fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self { shared: Arc::new(Shared::new(settings)) })
    }

    /// Reads what is kept, once. Every use does it by itself; [`account`](Self::account) does not.
    ///
    /// # Errors
    /// If the vault cannot be read.
    pub async fn load(&self) -> Result<(), AuthError> {
        self.shared.load().await
    }

    /// Signs in. One at a time: a second call waits for the first and gives its outcome if it was a success. Dropping
    /// the future or [`cancel`](Self::cancel) ends it.
    ///
    /// # Errors
    /// At which step it failed, and why.
    pub async fn sign_in(&self, why: Reason) -> Result<Account, AuthError> {
        self.shared.sign_in(why).await
    }

    /// Ends all sign-ins that have begun, those that still wait included.
    pub fn cancel(&self) {
        self.shared.cancel();
    }

    /// What failed a moment ago, and is left alone for it, is tried again by the next request that needs it: the user asks
    /// for that, or the network is another.
    pub fn try_again(&self) {
        let mut state = self.shared.state();
        (state.failed, state.unread, state.refusals) = (None, None, Budget::default());
    }

    /// Revokes the tokens where that is offered, and forgets them in any case.
    ///
    /// # Errors
    /// If they could not be removed from the vault. All else is done even then.
    pub async fn sign_out(&self) -> Result<SignedOut, AuthError> {
        self.cancel();
        self.shared.sign_out().await
    }

    /// Who is signed in, as far as it was read or has happened.
    pub fn account(&self) -> Option<Account> {
        self.shared.account()
    }

    /// The tokens as they are now, for whoever has to keep them out of what is shown.
    pub fn tokens(&self) -> Vec<SecretString> {
        let state = self.shared.state();
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        tokens
            .into_iter()
            .flat_map(|t| std::iter::once(&t.access).chain(&t.refresh))
            .map(|kept| kept.0.clone())
            .collect()
    }

    /// How long the tokens stay; none before they were kept in this run.
    pub fn kept(&self) -> Option<Kept> {
        self.shared.state().kept.clone()
    }

    /// The sign-in under way.
    pub fn in_progress(&self) -> Option<InProgress> {
        self.shared.state().progress.clone()
    }

    /// The steps of the last sign-in, and of what followed it, oldest first.
    pub fn steps(&self) -> Vec<Step> {
        self.shared.web.steps()
    }

    /// Counts up whenever account, steps or progress change.
    pub fn changed(&self) -> watch::Receiver<u64> {
        self.shared.changed()
    }
}

impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization")
            .field("server", &crate::address::plain(&self.shared.settings.server))
            .finish_non_exhaustive()
    }
}
