//! State that the operations of one authorization share. Each operation, such as discovery or token renewal, has an
//! `impl AuthorizationContext` in its own file.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use secrecy::{ExposeSecret as _, SecretSlice};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::account::{AuthProgress, SignedInAccount};
use crate::challenge::TokenChallenge;
use crate::dpop::DpopNonces;
use crate::error::{AuthError, AuthPhase};
use crate::http_client::AuthHttpClient;
use crate::metadata_address::UserEnteredUrls;
use crate::request_budget::RequestBudget;
use crate::settings::{AuthorizationSettings, GrantKind};
use crate::sign_in_record::SignInRecord;
use crate::step_up::StepUpCounter;
use crate::vault::{VaultEntryKind, VaultEntryPersistence, VaultError, VaultKey};

/// State and dependencies that all operations of one server's authorization share.
pub(crate) struct AuthorizationContext {
    pub(crate) settings: AuthorizationSettings,
    pub(crate) web: AuthHttpClient,
    /// URL of the MCP server without fragment. All vault entries of this authorization are stored under it.
    pub(crate) mcp_server: String,
    state: Mutex<AuthorizationState>,
    pub(crate) authorization_nonces: DpopNonces,
    /// Serializes reads and writes of the sign-in record in the vault.
    pub(crate) record_lock: tokio::sync::Mutex<()>,
    /// Serializes sign-ins: only one runs at a time.
    pub(crate) sign_in_lock: tokio::sync::Mutex<()>,
    /// Serializes token renewals: only one runs at a time.
    pub(crate) renewal_lock: tokio::sync::Mutex<()>,
    /// Token that cancels all sign-ins that were started so far. A cancellation replaces it, so that later sign-ins are
    /// not cancelled.
    cancel: Mutex<CancellationToken>,
    changes: watch::Sender<u64>,
}

/// Mutable state of one server's authorization: sign-in record, challenge, DPoP nonces and failures.
#[derive(Default)]
pub(crate) struct AuthorizationState {
    /// `true` if `record` is the current state, because it was read from the vault or replaced since the app started.
    pub(crate) loaded: bool,
    /// Time and error of the last read of the vault, if it failed.
    pub(crate) last_read_error: Option<(Instant, VaultError)>,
    pub(crate) in_vault: LastKnownVaultContents,
    pub(crate) record: Option<SignInRecord>,
    /// Counter that increases whenever the tokens are read, replaced or removed. A request is sent with the generation
    /// of its token, so that a refusal which arrives after the tokens were replaced repeats the request instead of
    /// renewing them again.
    pub(crate) generation: u64,
    pub(crate) persistence: Option<VaultEntryPersistence>,
    /// Last challenge that the MCP server sent, or `None`.
    pub(crate) last_challenge: Option<TokenChallenge>,
    /// DPoP nonce that the MCP server sent last, or `None`.
    pub(crate) resource_nonce: Option<String>,
    pub(crate) progress: Option<AuthProgress>,
    pub(crate) step_ups: StepUpCounter,
    /// The last token renewal, if it failed.
    pub(crate) failed_refresh: Option<FailedTokenRefresh>,
    /// Recent token renewals that became necessary because the server refused an unexpired token, to limit their
    /// number.
    pub(crate) refusals: RequestBudget,
}

/// Contents of the vault for the sign-in that are known from the last read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LastKnownVaultContents {
    /// The vault was not read yet, or could not be read.
    #[default]
    Unknown,
    Nothing,
    /// The vault contains an entry for the sign-in. Contains the SHA-256 hash of that entry.
    Entry([u8; 32]),
}

impl LastKnownVaultContents {
    pub(crate) fn from_entry(entry: Option<&SecretSlice<u8>>) -> LastKnownVaultContents {
        entry.map_or(LastKnownVaultContents::Nothing, |entry| {
            LastKnownVaultContents::Entry(Sha256::digest(entry.expose_secret()).into())
        })
    }
}

/// A failed attempt to renew tokens, with the generation (counter value) that identifies these tokens.
pub(crate) struct FailedTokenRefresh {
    pub(crate) generation: u64,
    pub(crate) at: SystemTime,
    pub(crate) error: AuthError,
}

impl AuthorizationContext {
    pub(crate) fn new(settings: AuthorizationSettings) -> Self {
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
        let named = UserEnteredUrls::new(named.iter().flatten());
        let mut server = settings.server.clone();
        server.set_fragment(None);
        let web = AuthHttpClient::new(settings.web.clone(), Arc::clone(&settings.now), named);
        // The query may contain a key, and becomes part of the metadata URLs.
        web.register_query_secrets(&settings.server);
        Self {
            web,
            settings,
            mcp_server: server.to_string(),
            state: Mutex::default(),
            authorization_nonces: DpopNonces::default(),
            record_lock: tokio::sync::Mutex::default(),
            sign_in_lock: tokio::sync::Mutex::default(),
            renewal_lock: tokio::sync::Mutex::default(),
            cancel: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, AuthorizationState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> SystemTime {
        (self.settings.now)()
    }

    pub(crate) fn is_interactive(&self) -> bool {
        matches!(self.settings.grant, GrantKind::AuthorizationCode)
    }

    pub(crate) fn account(&self) -> Option<SignedInAccount> {
        self.state().record.as_ref().map(|record| record.account(!self.is_interactive()))
    }

    pub(crate) fn notify_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Sets the phase of the running sign-in. If no sign-in is running, the phase is ignored, because token renewals
    /// call this as well.
    pub(crate) fn set_sign_in_progress(&self, phase: AuthPhase, authorize_url: Option<Url>) {
        if let Some(progress) = &mut self.state().progress {
            *progress = AuthProgress { phase, authorize_url };
        }
        self.notify_change();
    }

    pub(crate) fn vault_key(&self, kind: VaultEntryKind) -> VaultKey {
        VaultKey { server: self.mcp_server.clone(), kind }
    }

    /// Returns a receiver of a counter that increases with each [`notify_change`](Self::notify_change).
    pub(crate) fn subscribe_to_changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Cancels all running and waiting sign-ins.
    pub(crate) fn cancel(&self) {
        let begun = std::mem::take(&mut *self.cancel.lock().unwrap_or_else(PoisonError::into_inner));
        begun.cancel();
    }

    /// Returns the cancellation token for a sign-in that starts now.
    pub(crate) fn sign_in_cancellation(&self) -> CancellationToken {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
