//! One server's authorization: its account, and everything that is done with it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use secrecy::SecretString;
use tokio::sync::{Mutex as Turn, watch};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::account::{Account, InProgress, SignedOut};
use crate::address::Named;
use crate::budget::Budget;
use crate::challenge::Asked;
use crate::dpop::Nonces;
use crate::error::{AuthError, Phase};
use crate::keep::InVault;
use crate::record::Record;
use crate::renew::Failed;
use crate::settings::{GrantKind, Settings};
use crate::step::Step;
use crate::step_up::StepUps;
use crate::user::Reason;
use crate::vault::{Kept, VaultError, VaultKey, VaultKind};
use crate::web::Web;

/// One server's authorization. It signs that server's requests, and no others.
pub struct Authorization {
    pub(crate) shared: Arc<Shared>,
}

/// What the authorization and its tasks have in common.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) web: Web,
    /// The server's name in the vault.
    pub(crate) server: String,
    state: Mutex<State>,
    pub(crate) server_nonces: Nonces,
    /// One use of the vault's record at a time.
    pub(crate) keeping: Turn<()>,
    /// One sign-in at a time.
    pub(crate) signing_in: Turn<()>,
    /// One renewal at a time.
    pub(crate) renewing: Turn<()>,
    /// Ends the sign-ins that have begun so far; the next ones have another.
    cancel: Mutex<CancellationToken>,
    changes: watch::Sender<u64>,
}

/// What is known at the moment.
#[derive(Default)]
pub(crate) struct State {
    /// Whether `record` is what counts: it was read, or has become so since.
    pub(crate) loaded: bool,
    /// Why the vault could not be read the last time, and when that was.
    pub(crate) unread: Option<(Instant, VaultError)>,
    pub(crate) in_vault: InVault,
    pub(crate) record: Option<Record>,
    /// Counts the tokens.
    pub(crate) generation: u64,
    pub(crate) kept: Option<Kept>,
    /// The server's last challenge, if there was one.
    pub(crate) asked: Option<Asked>,
    /// The last nonce of the server.
    pub(crate) resource_nonce: Option<String>,
    pub(crate) progress: Option<InProgress>,
    pub(crate) step_ups: StepUps,
    /// The last renewal, if it failed.
    pub(crate) failed: Option<Failed>,
    /// Renewals because the server refused a token.
    pub(crate) refusals: Budget,
}

impl Authorization {
    /// Nothing is read or sent before the first use.
    pub fn new(settings: Settings) -> Arc<Self> {
        let issuer = settings.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
        let provider = match &settings.grant {
            GrantKind::EnterpriseManaged(provider) => Url::parse(&provider.issuer).ok(),
            _ => None,
        };
        let endpoint = match &settings.grant {
            GrantKind::EnterpriseManaged(provider) => provider.token_endpoint.clone(),
            _ => None,
        };
        let named = [Some(settings.server.clone()), issuer, provider, endpoint];
        let named = Named::new(named.iter().flatten());
        let mut server = settings.server.clone();
        server.set_fragment(None);
        let web = Web::new(settings.web.clone(), Arc::clone(&settings.now), named);
        // It may be a key, and stands in the addresses of what is asked about the server.
        web.learn_query(&settings.server);
        let shared = Shared {
            web,
            settings,
            server: server.to_string(),
            state: Mutex::default(),
            server_nonces: Nonces::default(),
            keeping: Turn::default(),
            signing_in: Turn::default(),
            renewing: Turn::default(),
            cancel: Mutex::default(),
            changes: watch::Sender::new(0),
        };
        Arc::new(Self { shared: Arc::new(shared) })
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
        let begun = std::mem::take(&mut *self.shared.cancel.lock().unwrap_or_else(PoisonError::into_inner));
        begun.cancel();
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
        self.shared.changes.subscribe()
    }
}

impl std::fmt::Debug for Authorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization")
            .field("server", &crate::address::plain(&self.shared.settings.server))
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> SystemTime {
        (self.settings.now)()
    }

    pub(crate) fn is_interactive(&self) -> bool {
        matches!(self.settings.grant, GrantKind::AuthorizationCode)
    }

    pub(crate) fn account(&self) -> Option<Account> {
        self.state().record.as_ref().map(|record| record.account(!self.is_interactive()))
    }

    pub(crate) fn tell(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Tells what the sign-in under way is at; a renewal, which takes part of the same way, is none.
    pub(crate) fn progress(&self, phase: Phase, authorize_url: Option<Url>) {
        if let Some(progress) = &mut self.state().progress {
            *progress = InProgress { phase, authorize_url };
        }
        self.tell();
    }

    pub(crate) fn key(&self, kind: VaultKind) -> VaultKey {
        VaultKey { server: self.server.clone(), kind }
    }

    /// Ends what begins now, when the user wants that.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
