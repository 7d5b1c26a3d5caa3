//! Builds the OAuth settings for a sign-in from an entry of `mcp.json` and the secrets that it references. Used by
//! `host` for sign-ins, and by `cli` for the client ID metadata document.

use std::sync::Arc;

use mcp_auth::{
    AuthorizationSettings, ClientAuthentication, ClientIdSettings, ClientSecretMethod, DpopUse, EnterpriseIdp,
    GrantKind, PreregisteredClient, UserInteraction, Vault,
};
use mcp_transport::http::UntrustedUrlClient;
use ports::secrets::UnresolvedSecret;
use ports::server_config::{AuthConfig, AuthIdentityProvider, GrantType, HttpConfig};
use ports::time::SharedClock;
use ports::{Secrets, secrets};
use secrecy::SecretString;
use url::Url;

/// Client name that Drawbridge registers at authorization servers.
const OAUTH_CLIENT_NAME: &str = "Drawbridge";
/// Algorithm for client assertions that are signed with a private key, if the settings name no algorithm.
const DEFAULT_SIGNING_ALGORITHM: &str = "ES256";

/// Returns the reason why a server does not support signing in, or `None` if it does.
pub fn unsupported_sign_in_reason(config: Option<&HttpConfig>) -> Option<&'static str> {
    let Some(config) = config else { return Some("it is a local program, which handles sign-ins itself") };
    let is_own = config.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    is_own.then_some("its settings contain a header Authorization, which is sent instead; remove it to sign in")
}

/// Returns Drawbridge's client ID metadata document for this URL, as JSON. The document must be published at `url`,
/// which is then used as client id. Returns `None` if the URL is not permitted as client id: it must use https and have
/// a path.
#[must_use]
pub fn client_id_metadata_json(url: &str) -> Option<String> {
    client_source(None, Some(Url::parse(url).ok()?)).client_metadata_document()
}

fn client_source(preregistered: Option<PreregisteredClient>, metadata_url: Option<Url>) -> ClientIdSettings {
    ClientIdSettings { preregistered, metadata_url, name: OAUTH_CLIENT_NAME.to_owned(), uri: None }
}

/// The reason why the OAuth settings of a sign-in can't be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInSettingsError {
    /// A secret that the settings reference is missing or unreadable.
    #[error(transparent)]
    Secret(#[from] UnresolvedSecret),
    /// A URL in the settings can't be parsed.
    #[error("{0}")]
    Address(String),
}

/// Builds the OAuth settings of a sign-in. Blocks while secrets are read.
///
/// URLs on this computer or the local network are only accessible if the user approved these exact settings
/// (`is_approved`), or if they are among the `endpoints` of an approved sign-in.
///
/// # Errors
///
/// Returns [`SignInSettingsError::Address`] if a URL can't be parsed, and [`SignInSettingsError::Secret`] if a
/// referenced secret is missing or can't be read.
pub fn authorization_settings(
    config: &HttpConfig,
    (is_approved, endpoints): (bool, &[Url]),
    secrets: &dyn Secrets,
    vault: Arc<dyn Vault>,
    user: Arc<dyn UserInteraction>,
    clock: SharedClock,
) -> Result<AuthorizationSettings, SignInSettingsError> {
    let bad =
        |what: &str, error: url::ParseError| SignInSettingsError::Address(format!("{what} can't be read: {error}"));
    let server = Url::parse(&config.url).map_err(|error| bad("the URL", error))?;
    let none = AuthConfig::default();
    let auth = config.auth.as_ref().unwrap_or(&none);
    let named = |what: &str, url: &str| Url::parse(url).map_err(|error| bad(what, error));
    // URLs that the user configured and approved may be local. URLs from servers may not.
    let mut origins = vec![server.origin()];
    if let Some(issuer) = &auth.issuer {
        origins.push(named("the issuer", issuer)?.origin());
    }
    if let Some(provider) = &auth.identity_provider {
        origins.push(named("the identity provider", &provider.issuer)?.origin());
        if let Some(endpoint) = &provider.token_endpoint {
            origins.push(named("the identity provider's token endpoint", endpoint)?.origin());
        }
    }
    if !is_approved {
        origins.clear();
    }
    origins.extend(endpoints.iter().map(Url::origin));
    let entered = SecretsEnteredForServer { secrets, origin: config.origin().unwrap_or_default() };
    let metadata_url =
        auth.client_metadata_url.as_deref().map(|url| named("the client metadata URL", url)).transpose()?;
    Ok(AuthorizationSettings {
        client: client_source(preregistered_client(auth, &entered)?, metadata_url),
        grant: grant_kind(auth, &entered)?,
        scopes: Some(auth.scopes.clone()).filter(|scopes| !scopes.is_empty()),
        issuer: auth.issuer.clone(),
        dpop: match auth.dpop {
            None => DpopUse::Auto,
            Some(true) => DpopUse::Always,
            Some(false) => DpopUse::Never,
        },
        web: UntrustedUrlClient::for_public_hosts_and(origins),
        vault,
        user,
        now: Arc::new(move || clock.time()),
        server,
    })
}

/// Access to the secrets in the secret store that the user entered for one MCP server's origin.
struct SecretsEnteredForServer<'a> {
    secrets: &'a dyn Secrets,
    origin: String,
}

impl SecretsEnteredForServer<'_> {
    /// Reads the secret that a text of the form `${secret:NAME}` references.
    fn read(&self, text: &str) -> Result<SecretString, UnresolvedSecret> {
        let name = secrets::referenced_secret_names(text).first().map_or_else(String::new, |&name| name.to_owned());
        match self.secrets.get(&secrets::secret_storage_key(&name, &self.origin)) {
            Ok(Some(secret)) => Ok(secret.into()),
            Ok(None) => Err(UnresolvedSecret::Missing { name, origin: self.origin.clone() }),
            Err(cause) => Err(UnresolvedSecret::Keychain { name, cause }),
        }
    }
}

fn preregistered_client(
    auth: &AuthConfig,
    entered: &SecretsEnteredForServer<'_>,
) -> Result<Option<PreregisteredClient>, UnresolvedSecret> {
    let Some(client_id) = auth.client_id.clone() else { return Ok(None) };
    let proof = ClientAuthSettings {
        method: auth.client_auth.as_deref(),
        secret: auth.client_secret.as_deref(),
        private_key: auth.private_key.as_deref(),
        algorithm: auth.algorithm.as_deref(),
    };
    Ok(Some(PreregisteredClient {
        issuer: auth.issuer.clone(),
        client_id,
        authentication: client_authentication(&proof, entered)?,
        redirect_port: auth.redirect_port,
    }))
}

/// Settings that select the client authentication at an authorization server or identity provider.
struct ClientAuthSettings<'a> {
    method: Option<&'a str>,
    secret: Option<&'a str>,
    private_key: Option<&'a str>,
    algorithm: Option<&'a str>,
}

fn client_authentication(
    proof: &ClientAuthSettings<'_>,
    entered: &SecretsEnteredForServer<'_>,
) -> Result<ClientAuthentication, UnresolvedSecret> {
    let method = match proof.method {
        Some("none") => return Ok(ClientAuthentication::None),
        Some("client_secret_basic") => Some(ClientSecretMethod::Basic),
        Some("client_secret_post") => Some(ClientSecretMethod::Post),
        _ => None,
    };
    Ok(match (proof.private_key, proof.secret) {
        (Some(key), _) if method.is_none() => ClientAuthentication::PrivateKeyJwt {
            key_pem: entered.read(key)?,
            algorithm: proof.algorithm.unwrap_or(DEFAULT_SIGNING_ALGORITHM).to_owned(),
        },
        (_, Some(secret)) => ClientAuthentication::Secret { secret: entered.read(secret)?, method },
        _ => ClientAuthentication::None,
    })
}

fn grant_kind(auth: &AuthConfig, entered: &SecretsEnteredForServer<'_>) -> Result<GrantKind, SignInSettingsError> {
    Ok(match (auth.grant, &auth.identity_provider, &auth.assertion) {
        (GrantType::ClientCredentials, ..) => GrantKind::ClientCredentials,
        (GrantType::EnterpriseManaged, Some(provider), _) => {
            GrantKind::EnterpriseManaged(enterprise_identity_provider(provider, entered)?)
        }
        (GrantType::WorkloadIdentity, _, Some(assertion)) => {
            GrantKind::WorkloadIdentity { assertion: entered.read(assertion)? }
        }
        _ => GrantKind::AuthorizationCode,
    })
}

fn enterprise_identity_provider(
    provider: &AuthIdentityProvider,
    entered: &SecretsEnteredForServer<'_>,
) -> Result<EnterpriseIdp, SignInSettingsError> {
    let proof = ClientAuthSettings {
        method: provider.client_auth.as_deref(),
        secret: provider.client_secret.as_deref(),
        private_key: provider.private_key.as_deref(),
        algorithm: provider.algorithm.as_deref(),
    };
    Ok(EnterpriseIdp {
        issuer: provider.issuer.clone(),
        token_endpoint: provider.token_endpoint.as_deref().and_then(|url| Url::parse(url).ok()),
        client_id: provider.client_id.clone(),
        authentication: client_authentication(&proof, entered)?,
        id_token: provider.id_token.as_deref().map(|text| entered.read(text)).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use ports::secrets::SecretsInMemory;
    use ports::time::SystemClock;

    use super::*;

    #[test]
    fn private_key_is_preferred_over_a_client_secret() {
        let secrets = SecretsInMemory::default();
        let origin = "https://a.example";
        for name in ["key", "secret"] {
            secrets.set(&secrets::secret_storage_key(name, origin), "x").unwrap();
        }
        let entered = SecretsEnteredForServer { secrets: &secrets, origin: origin.to_owned() };
        let auth = |way: Option<&str>| AuthConfig {
            client_id: Some("us".to_owned()),
            client_auth: way.map(str::to_owned),
            client_secret: Some(secrets::secret_reference("secret")),
            private_key: Some(secrets::secret_reference("key")),
            ..AuthConfig::default()
        };
        let own = |auth: &AuthConfig, entered: &SecretsEnteredForServer<'_>| {
            preregistered_client(auth, entered).map(|one| one.unwrap().authentication)
        };
        let is_by_key = |found: &ClientAuthentication| matches!(found, ClientAuthentication::PrivateKeyJwt { .. });
        for (way, is_key) in [(None, true), (Some("private_key_jwt"), true), (Some("client_secret_post"), false)] {
            let found = own(&auth(way), &entered).unwrap();
            assert_eq!(is_by_key(&found), is_key, "[auth-cc-prefer-jwt] {way:?} should authenticate by private key");
            let provider = AuthIdentityProvider {
                client_auth: way.map(str::to_owned),
                client_secret: Some(secrets::secret_reference("secret")),
                private_key: Some(secrets::secret_reference("key")),
                ..AuthIdentityProvider::default()
            };
            let found = enterprise_identity_provider(&provider, &entered).unwrap().authentication;
            assert_eq!(is_by_key(&found), is_key, "{way:?} should authenticate by private key at an identity provider");
        }
        let other = SecretsEnteredForServer { origin: "https://b.example".to_owned(), ..entered };
        let missing = own(&auth(None), &other).unwrap_err();
        assert!(
            matches!(missing, UnresolvedSecret::Missing { .. }),
            "secrets of another origin should not be found: {missing}"
        );
    }

    /// A user who denies every request, and a vault that is always empty.
    struct UnusedUserAndVault;

    #[async_trait::async_trait]
    impl UserInteraction for UnusedUserAndVault {
        async fn ask_for_consent(&self, _request: mcp_auth::ConsentPrompt) -> mcp_auth::ConsentAnswer {
            mcp_auth::ConsentAnswer::No
        }

        async fn ask_for_client_id(&self, _issuer: &str, _redirect_uri: &Url) -> Option<PreregisteredClient> {
            None
        }

        async fn open_browser(&self, _url: &Url) -> Result<(), String> {
            Err("no user in this test".to_owned())
        }
    }

    #[async_trait::async_trait]
    impl Vault for UnusedUserAndVault {
        async fn read(
            &self,
            _key: &mcp_auth::VaultKey,
        ) -> Result<Option<secrecy::SecretSlice<u8>>, mcp_auth::VaultError> {
            Ok(None)
        }

        async fn write(
            &self,
            _key: &mcp_auth::VaultKey,
            _entry: secrecy::SecretSlice<u8>,
        ) -> Result<mcp_auth::VaultEntryPersistence, mcp_auth::VaultError> {
            Ok(mcp_auth::VaultEntryPersistence::Safely)
        }

        async fn remove(&self, _key: &mcp_auth::VaultKey) -> Result<(), mcp_auth::VaultError> {
            Ok(())
        }

        async fn lock_entry(&self, _key: &mcp_auth::VaultKey) -> Option<Box<dyn Send>> {
            None
        }
    }

    #[test]
    fn s01_only_approved_settings_allow_internal_hosts() {
        let secrets = SecretsInMemory::default();
        let config = HttpConfig {
            url: "https://mcp.example/".to_owned(),
            auth: Some(AuthConfig {
                issuer: Some("http://127.0.0.1:9".to_owned()),
                identity_provider: Some(AuthIdentityProvider {
                    issuer: "https://idp.internal".to_owned(),
                    token_endpoint: Some("http://localhost:9/token".to_owned()),
                    ..AuthIdentityProvider::default()
                }),
                ..AuthConfig::default()
            }),
            ..HttpConfig::default()
        };
        for (is_approved, hosts) in [(true, &["127.0.0.1", "idp.internal", "localhost"][..]), (false, &[])] {
            let made = authorization_settings(
                &config,
                (is_approved, &[]),
                &secrets,
                Arc::new(UnusedUserAndVault),
                Arc::new(UnusedUserAndVault),
                Arc::new(SystemClock),
            )
            .unwrap();
            let named = format!("{:?}", made.web);
            for host in ["127.0.0.1", "idp.internal", "localhost"] {
                assert_eq!(
                    named.contains(host),
                    hosts.contains(&host),
                    "S01: {host}, approved: {is_approved}: {named}"
                );
            }
        }
    }

    #[test]
    fn sign_in_is_not_offered_to_servers_with_their_own_credentials() {
        assert!(unsupported_sign_in_reason(None).is_some(), "a local server should not support signing in");
        let with =
            |name: &str| HttpConfig { headers: [(name.to_owned(), String::new())].into(), ..HttpConfig::default() };
        assert!(
            unsupported_sign_in_reason(Some(&with("AUTHORIZATION"))).is_some(),
            "a configured Authorization header should be recognized in any case"
        );
        assert!(
            unsupported_sign_in_reason(Some(&with("X-Key"))).is_none(),
            "other headers should not prevent signing in"
        );
    }
}
