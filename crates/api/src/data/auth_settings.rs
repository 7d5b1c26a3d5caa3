//! Sign-in settings of a remote server.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::AuthIdentityProvider;

/// Sign-in settings that take precedence over the server's metadata. Settings in `mcp.json` without a member here are
/// preserved.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSettings {
    /// Client identifier registered at the authorization server.
    #[serde(default)]
    pub client_id: Option<String>,
    /// Client secret. Never returned for a configured server, and `None` in an update keeps the stored secret.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// `true` if the client has a secret, which is stored in the system's keychain.
    #[serde(default)]
    pub has_secret: bool,
    /// Issuer of the only accepted authorization server, exactly as in its metadata, or `None` to use the one that the
    /// server names.
    #[serde(default)]
    pub issuer: Option<String>,
    /// Scopes to request instead of the ones that the server requires.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Port of the redirect URI `http://127.0.0.1:PORT/callback` that the client is registered with, or `None` for any
    /// port.
    #[serde(default)]
    pub redirect_port: Option<u16>,
    /// Names of the other secrets that the settings reference, such as a private key. Values are set by `set_secret`
    /// and never returned. Ignored in an update.
    #[serde(default)]
    pub secret_names: Vec<String>,
    /// Further settings found in pasted text, to be sent back unchanged when the server is added. `None` for a
    /// configured server, which keeps its own.
    #[serde(default)]
    pub rest: Option<AdvancedAuthSettings>,
}

impl std::fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = (&self.client_id, self.has_secret, &self.issuer, &self.scopes, self.redirect_port);
        f.debug_tuple("AuthSettings").field(&shown).finish()
    }
}

/// Sign-in settings that the page does not display. Secrets are represented as `${secret:NAME}`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AdvancedAuthSettings {
    /// Client authentication method at the token endpoint.
    #[serde(default)]
    pub client_auth: Option<String>,
    /// URL of the client ID metadata document.
    #[serde(default)]
    pub client_metadata_url: Option<String>,
    /// Grant type as named in `mcp.json`, or `None` for the authorization code grant in the browser.
    #[serde(default)]
    pub grant: Option<String>,
    /// Private key for the authentication method `private_key_jwt`.
    #[serde(default)]
    pub private_key: Option<String>,
    /// Signature algorithm of the private key.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// Identity provider of the enterprise.
    #[serde(default)]
    pub identity_provider: Option<AuthIdentityProvider>,
    /// `true` if tokens are bound to a key of this computer (DPoP), or `None` to detect the support.
    #[serde(default)]
    pub dpop: Option<bool>,
    /// Assertion of the workload identity.
    #[serde(default)]
    pub assertion: Option<String>,
}
