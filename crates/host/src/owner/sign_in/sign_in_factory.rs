//! Creates the sign-in of a server outside of the owner's turns, since it reads secrets and stored tokens.

use std::sync::Arc;
use std::time::Duration;

use credentials::settings::{self, SignInSettingsError, unsupported_sign_in_reason};
use credentials::vault::{SecretsVault, TokenVaults};
use mcp_auth::ServerAuthorization;
use policy::Hash;
use ports::Ports;
use ports::server_config::{HttpConfig, address_hash};
use supervision::activity::SharedActivityLog;
use tokio::sync::watch;
use url::Url;

use super::super::WeakOwner;
use super::request_signer::RequestSigner;
use super::sign_in_user::SignInUser;
use super::{ServerSignIn, views};

/// Minimum interval between two notifications about changes of a sign-in.
const SIGN_IN_NOTIFY_INTERVAL: Duration = Duration::from_millis(50);

/// The inputs for creating the sign-in of one server.
pub(in crate::owner) struct SignInFactory {
    pub(super) server: String,
    pub(super) back: WeakOwner,
    pub(super) ports: Ports,
    pub(super) vaults: Arc<TokenVaults>,
    pub(super) activity: SharedActivityLog,
    pub(super) existing: Option<ServerSignIn>,
    /// Hashes of the current and the pinned identity of the server, both of which the user approved.
    pub(super) approved: Vec<Hash>,
    /// Endpoints that the user approved in the latest sign-in.
    pub(super) endpoints: Vec<Url>,
}

impl SignInFactory {
    /// Creates the sign-in of a server with the tokens that are stored in the vault. Returns `None` if the server
    /// doesn't support signing in. May wait for the user to unlock the keychain.
    pub(in crate::owner) async fn create_from_vault(
        self,
        config: HttpConfig,
    ) -> Result<Option<ServerSignIn>, SignInSettingsError> {
        if unsupported_sign_in_reason(Some(&config)).is_some() {
            return Ok(None);
        }
        let secrets = Arc::clone(&self.ports.secrets);
        let is_approved = self.is_address_approved(&config);
        let serves = |existing: &ServerSignIn| existing.matches_config(&config) && existing.is_approved == is_approved;
        let mut sign_in = match self.existing.clone().filter(serves) {
            Some(existing) => existing,
            None => {
                let vault = self.vaults.open(&self.server);
                self.create(config, vault).await?
            }
        };
        if let Err(error) = sign_in.authorization.load_stored_sign_in().await {
            // It is unknown if the user is signed in. If a sign-in is required, the server rejects the next request.
            tracing::warn!(server = sign_in.user.server(), %error, "the stored tokens of a sign-in could not be read");
        }
        if sign_in.authorization.account().is_some() && sign_in.found.is_none() {
            let status = tokio::task::spawn_blocking(move || secrets.status()).await;
            sign_in.found = status.ok().map(views::token_storage_for_status);
        }
        Ok(Some(sign_in))
    }

    /// Creates the authorization of a server for revoking its tokens, which were already deleted from the vault.
    pub(super) async fn create_for_revocation(
        self,
        config: HttpConfig,
        was: SecretsVault,
    ) -> Result<Arc<ServerAuthorization>, SignInSettingsError> {
        Ok(self.create(config, was).await?.authorization)
    }

    /// Returns `true` if the user approved the server's address with exactly these settings.
    fn is_address_approved(&self, config: &HttpConfig) -> bool {
        self.approved.contains(&address_hash(config))
    }

    async fn create(self, config: HttpConfig, vault: SecretsVault) -> Result<ServerSignIn, SignInSettingsError> {
        let is_approved = self.is_address_approved(&config);
        let Self { server, back, ports, activity, endpoints, .. } = self;
        let user = SignInUser::new(&server, &config.url, back.clone(), &ports);
        let vault = Arc::new(vault);
        let (prompted, secrets, config) = (Arc::clone(&user), Arc::clone(&ports.secrets), Arc::new(config));
        let from = Arc::clone(&config);
        let clock = Arc::clone(&ports.clock);
        let making = move || {
            settings::authorization_settings(&from, (is_approved, &endpoints), secrets.as_ref(), vault, prompted, clock)
        };
        let made = tokio::task::spawn_blocking(making).await;
        let settings = made.map_err(|error| SignInSettingsError::Address(error.to_string()))??;
        let authorization = ServerAuthorization::new(settings);
        tokio::spawn(notify_changes(authorization.subscribe_to_changes(), server, back));
        let signing = Arc::new(RequestSigner::new(Arc::clone(&authorization), Arc::clone(&user), activity));
        Ok(ServerSignIn { authorization, user, signing, config, is_approved, found: None })
    }
}

/// Notifies the owner of each change of a server's sign-in, until the sign-in is dropped.
async fn notify_changes(mut changed: watch::Receiver<u64>, server: String, back: WeakOwner) {
    while changed.changed().await.is_ok() {
        if back.run_turn("authorization changed", |owner| owner.events.authorization_changed(&server)).is_err() {
            return;
        }
        tokio::time::sleep(SIGN_IN_NOTIFY_INTERVAL).await;
    }
}
