//! Sign-in settings of a remote server.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::AuthIdentityProvider;

/// Sign-in settings of a server, which take precedence over discovered metadata. Settings in `mcp.json` that have no
/// member here are preserved by an update.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSettings {
    /// Client identifier registered at the authorization server.
    #[serde(default)]
    pub client_id: Option<String>,
    /// Client secret. `None` in responses for a configured server. `None` in an update keeps the stored secret.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// `true` if the client has a secret, which is stored in the system's keychain.
    #[serde(default)]
    pub has_secret: bool,
    /// Issuer identifier of the only accepted authorization server, exactly as in its metadata. `None` accepts the one
    /// that the server's metadata names.
    #[serde(default)]
    pub issuer: Option<String>,
    /// Scopes to request. If empty, the scopes that the server requires are requested.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Port of the redirect URI `http://127.0.0.1:PORT/callback` with which the client is registered. `None` uses any
    /// free port.
    #[serde(default)]
    pub redirect_port: Option<u16>,
    /// Names of other secrets that the settings reference, such as a private key. Their values are set by `set_secret`
    /// and never returned. Ignored in an update.
    #[serde(default)]
    pub secret_names: Vec<String>,
    /// Further settings found in pasted text, which the page returns unchanged when it adds the server. `None` for a
    /// configured server, whose settings are preserved.
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
    /// Client authentication method at the token endpoint, such as `private_key_jwt`.
    #[serde(default)]
    pub client_auth: Option<String>,
    /// URL of the client ID metadata document to use as client identifier.
    #[serde(default)]
    pub client_metadata_url: Option<String>,
    /// Grant type, as named in `mcp.json`. `None` is the authorization code grant.
    #[serde(default)]
    pub grant: Option<String>,
    /// Reference to the private key for the client authentication method `private_key_jwt`.
    #[serde(default)]
    pub private_key: Option<String>,
    /// Signature algorithm for the private key, such as `ES256`, or `None` for the default algorithm.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// Enterprise identity provider that issues identity assertions.
    #[serde(default)]
    pub identity_provider: Option<AuthIdentityProvider>,
    /// `true` to require tokens bound to a key of this computer (DPoP), `false` to never use DPoP, or `None` to use it
    /// if the authorization server supports it.
    #[serde(default)]
    pub dpop: Option<bool>,
    /// Reference to the JWT assertion of the workload identity.
    #[serde(default)]
    pub assertion: Option<String>,
}
