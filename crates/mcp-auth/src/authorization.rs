//! Authorization at one MCP server: the account, and the operations on it.

use std::sync::Arc;

use secrecy::SecretString;
use tokio::sync::watch;

use crate::account::{AuthProgress, SignOutOutcome, SignedInAccount};
use crate::authorization_context::AuthorizationContext;
use crate::error::AuthError;
use crate::logged_auth_step::LoggedAuthStep;
use crate::request_budget::RequestBudget;
use crate::settings::AuthorizationSettings;
use crate::user::AuthReason;
use crate::vault::VaultEntryPersistence;

/// The user's sign-in at one MCP server, with the operations on it. Adds authorization headers to requests to that
/// server only.
///
/// # Examples
///
/// A request that the server refused with 401 is not repeated before the user has signed in:
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::SystemTime;
/// # use async_trait::async_trait;
/// # use mcp_auth::{
/// #     AuthorizationSettings, ClientIdSettings, ConsentAnswer, ConsentPrompt, DpopUse, GrantKind,
/// #     PreregisteredClient, VaultEntryPersistence, UserInteraction, Vault, VaultError, VaultKey,
/// # };
/// # use mcp_transport::http::UntrustedUrlClient;
/// # use secrecy::SecretSlice;
/// # use url::Url;
/// # struct EmptyVault;
/// # #[async_trait]
/// # impl Vault for EmptyVault {
/// #     async fn read(&self, _: &VaultKey) -> Result<Option<SecretSlice<u8>>, VaultError> {
/// #         Ok(None)
/// #     }
/// #     async fn write(&self, _: &VaultKey, _: SecretSlice<u8>) -> Result<VaultEntryPersistence, VaultError> {
/// #         Ok(VaultEntryPersistence::Safely)
/// #     }
/// #     async fn remove(&self, _: &VaultKey) -> Result<(), VaultError> {
/// #         Ok(())
/// #     }
/// # }
/// # struct Nobody;
/// # #[async_trait]
/// # impl UserInteraction for Nobody {
/// #     async fn ask_for_consent(&self, _: ConsentPrompt) -> ConsentAnswer {
/// #         ConsentAnswer::No
/// #     }
/// #     async fn ask_for_client_id(&self, _: &str, _: &Url) -> Option<PreregisteredClient> {
/// #         None
/// #     }
/// #     async fn open_browser(&self, _: &Url) -> Result<(), String> {
/// #         Err("there is no browser".to_owned())
/// #     }
/// # }
/// # fn settings(server: Url) -> AuthorizationSettings {
/// #     AuthorizationSettings {
/// #         web: UntrustedUrlClient::for_public_hosts_and(vec![server.origin()]),
/// #         server,
/// #         client: ClientIdSettings::default(),
/// #         grant: GrantKind::AuthorizationCode,
/// #         scopes: None,
/// #         issuer: None,
/// #         dpop: DpopUse::Auto,
/// #         vault: Arc::new(EmptyVault),
/// #         user: Arc::new(Nobody),
/// #         now: Arc::new(SystemTime::now),
/// #     }
/// # }
/// use mcp_auth::ServerAuthorization;
/// use mcp_transport::http::{AuthChallenge, Authorizer as _, ChallengeOutcome};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Url::parse("https://mcp.example.com/mcp")?;
/// let authorization = ServerAuthorization::new(settings(server.clone()));
/// // A request to another origin never carries a token.
/// let elsewhere = authorization.sign("POST", &Url::parse("https://other.example/mcp")?).await?;
/// assert!(elsewhere.headers.is_empty());
///
/// let signature = authorization.sign("POST", &server).await?;
/// let challenge = AuthChallenge {
///     status: 401,
///     www_authenticate: vec![r#"Bearer resource_metadata="https://mcp.example.com/.well-known/metadata""#.to_owned()],
///     dpop_nonce: None,
///     generation: signature.generation,
///     attempt: 0,
///     operation: "tools/call".to_owned(),
/// };
/// let outcome = authorization.on_challenge(challenge).await;
/// assert_eq!(outcome, ChallengeOutcome::Stop("the server requires a sign-in".to_owned()));
/// # Ok(())
/// # }
/// ```
pub struct ServerAuthorization {
    pub(crate) shared: Arc<AuthorizationContext>,
}

impl ServerAuthorization {
    /// Creates an authorization with these settings. It reads nothing from the vault and sends no request until it is
    /// first used.
    pub fn new(settings: AuthorizationSettings) -> Arc<Self> {
        Arc::new(Self { shared: Arc::new(AuthorizationContext::new(settings)) })
    }

    /// Reads the sign-in from the vault, unless it was already read. Every operation calls this first, except
    /// [`account`](Self::account).
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Vault`] if the vault cannot be read.
    pub async fn load_stored_sign_in(&self) -> Result<(), AuthError> {
        self.shared.load_stored_sign_in().await
    }

    /// Runs a sign-in, for the reason that `why` gives to the user. Sign-ins run one at a time: a second call waits for
    /// the first, and returns the first one's account if it succeeded. A sign-in ends early if its future is dropped or
    /// [`cancel`](Self::cancel) is called.
    ///
    /// # Errors
    /// Returns an [`AuthError`] with the phase in which the sign-in failed, and its [`AuthErrorCause`].
    pub async fn sign_in(&self, why: AuthReason) -> Result<SignedInAccount, AuthError> {
        self.shared.sign_in(why).await
    }

    /// Cancels all running and waiting sign-ins.
    pub fn cancel(&self) {
        self.shared.cancel();
    }

    /// Forgets earlier failures of token renewals and vault reads, which would delay the next attempt. Called when the
    /// user retries or the network changes.
    pub fn clear_renewal_and_vault_failures(&self) {
        let mut state = self.shared.state();
        (state.failed_refresh, state.last_read_error, state.refusals) = (None, None, RequestBudget::default());
    }

    /// Removes the tokens from memory and from the vault, and then revokes them if the authorization server supports
    /// revocation. A failed revocation is not an error.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Vault`] if the vault could not remove the tokens. They are removed from memory, and
    /// revoked, nevertheless.
    pub async fn sign_out(&self) -> Result<SignOutOutcome, AuthError> {
        self.cancel();
        self.shared.sign_out().await
    }

    /// Returns the account, or `None` if nobody is signed in or the vault has not been read yet.
    pub fn account(&self) -> Option<SignedInAccount> {
        self.shared.account()
    }

    /// Returns the current tokens, so that the caller can redact them from its logs and messages.
    pub fn tokens(&self) -> Vec<SecretString> {
        let state = self.shared.state();
        let tokens = state.record.as_ref().and_then(|record| record.tokens.as_ref());
        tokens
            .into_iter()
            .flat_map(|t| std::iter::once(&t.access).chain(&t.refresh))
            .map(|stored| stored.0.clone())
            .collect()
    }

    /// Returns how long the vault stores the tokens, or `None` if they were not written since the app started.
    pub fn token_persistence(&self) -> Option<VaultEntryPersistence> {
        self.shared.state().persistence.clone()
    }

    /// Returns the state of the running sign-in, or `None` if none is running.
    pub fn progress(&self) -> Option<AuthProgress> {
        self.shared.state().progress.clone()
    }

    /// Returns the logged steps of the last sign-in and of later operations, such as token renewals, oldest first.
    pub fn logged_steps(&self) -> Vec<LoggedAuthStep> {
        self.shared.web.steps()
    }

    /// Returns a receiver of a counter that increases with each change of account, steps or progress.
    pub fn subscribe_to_changes(&self) -> watch::Receiver<u64> {
        self.shared.subscribe_to_changes()
    }
}

impl std::fmt::Debug for ServerAuthorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorization")
            .field("server", &crate::metadata_address::displayed_url(&self.shared.settings.server))
            .finish_non_exhaustive()
    }
}
