//! What an authorization and its tasks have in common. Each task is a file with an `impl Shared` of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use secrecy::{ExposeSecret as _, SecretSlice};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::account::{Account, InProgress};
use crate::address::Named;
use crate::budget::Budget;
use crate::challenge::Asked;
use crate::dpop::Nonces;
use crate::error::{AuthError, Phase};
use crate::record::Record;
use crate::settings::{GrantKind, Settings};
use crate::step_up::StepUps;
use crate::vault::{Kept, VaultError, VaultKey, VaultKind};
use crate::web::Web;

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

/// What lies in the vault, as far as it is known from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum InVault {
    /// It could not be read.
    #[default]
    Unknown,
    Nothing,
    /// An entry with this hash.
    Entry([u8; 32]),
}

impl InVault {
    pub(crate) fn of(entry: Option<&SecretSlice<u8>>) -> InVault {
        entry.map_or(InVault::Nothing, |entry| InVault::Entry(Sha256::digest(entry.expose_secret()).into()))
    }
}

/// A renewal that failed.
pub(crate) struct Failed {
    pub(crate) generation: u64,
    pub(crate) at: SystemTime,
    pub(crate) error: AuthError,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Self {
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
        Self {
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
        }
    }

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

    /// Counts up at each [`tell`](Self::tell).
    pub(crate) fn changed(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Ends all sign-ins that have begun.
    pub(crate) fn cancel(&self) {
        let begun = std::mem::take(&mut *self.cancel.lock().unwrap_or_else(PoisonError::into_inner));
        begun.cancel();
    }

    /// Ends what begins now, when the user wants that.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
