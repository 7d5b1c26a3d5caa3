//! Converts the sign-in options of a scenario to settings of a server, as its user would enter them.

use ports::secrets;
use ports::server_config::{AuthConfig, AuthIdentityProvider, GrantType, HttpConfig};
use serde_json::Value;
use testkit::browser;
use url::Url;

/// URL of the client metadata document that the suite expects as client id.
const CLIENT_METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

/// Settings of a server, with the values of the secrets that they reference by name.
pub(crate) struct ServerSignInSettings {
    pub(crate) config: HttpConfig,
    pub(crate) secrets: Vec<(String, String)>,
}

/// Converts the suite's context of a scenario to the settings of the server at `url`.
pub(crate) async fn settings_for_context(url: &str, context: &Value) -> Result<ServerSignInSettings, String> {
    let mut settings = ServerSignInSettings {
        config: HttpConfig { url: url.to_owned(), ..HttpConfig::default() },
        secrets: Vec::new(),
    };
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let Some(client_id) = text("client_id") else {
        settings.config.auth =
            Some(AuthConfig { client_metadata_url: Some(CLIENT_METADATA_URL.to_owned()), ..AuthConfig::default() });
        return Ok(settings);
    };
    let (key, assertion) = (text("private_key_pem"), text("valid_jwt"));
    let idp = text("idp_token_endpoint");
    let mut auth = AuthConfig {
        client_id: Some(client_id),
        algorithm: text("signing_algorithm"),
        issuer: Some(match text("issuer") {
            Some(issuer) => issuer,
            None => discover_issuer(url).await?,
        }),
        grant: match (&assertion, &idp, text("issuer")) {
            (Some(_), ..) => GrantType::WorkloadIdentity,
            (_, Some(_), _) => GrantType::EnterpriseManaged,
            (.., None) => GrantType::ClientCredentials,
            (.., Some(_)) => GrantType::AuthorizationCode,
        },
        ..AuthConfig::default()
    };
    auth.client_secret = text("client_secret").map(|secret| settings.store_secret("client-secret", secret));
    auth.private_key = key.map(|key| settings.store_secret("private-key", key));
    auth.assertion = assertion.map(|assertion| settings.store_secret("assertion", assertion));
    auth.identity_provider = idp.map(|token_endpoint| AuthIdentityProvider {
        issuer: text("idp_issuer").unwrap_or_default(),
        token_endpoint: Some(token_endpoint),
        client_id: text("idp_client_id").unwrap_or_default(),
        id_token: text("idp_id_token").map(|token| settings.store_secret("id-token", token)),
        ..AuthIdentityProvider::default()
    });
    settings.config.auth = Some(auth);
    Ok(settings)
}

impl ServerSignInSettings {
    /// Stores the value of a secret, and returns the text with which the settings refer to it.
    fn store_secret(&mut self, name: &str, secret: String) -> String {
        let origin = self.config.origin().unwrap_or_default();
        self.secrets.push((secrets::secret_storage_key(name, &origin), secret));
        secrets::secret_reference(name)
    }
}

/// Returns the issuer of a server's tokens from the server's metadata. A user would get it from an administrator, but
/// the suite does not state it.
async fn discover_issuer(url: &str) -> Result<String, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let known = url.join(&format!("/.well-known/oauth-protected-resource{}", url.path())).map_err(|e| e.to_string())?;
    let page = browser::get(known.as_str()).await.map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_str(&page.body).map_err(|error| format!("{known}: {error}"))?;
    let issuer = document["authorization_servers"][0].as_str().ok_or("the server names no authorization server")?;
    Ok(issuer.to_owned())
}
