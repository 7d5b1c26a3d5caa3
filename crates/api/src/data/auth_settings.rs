//! How to sign in to a remote server, as its settings say it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::AuthIdentityProvider;

/// How to sign in to a remote server, where the user says more about it than the server does. What else `mcp.json` says of it
/// stays as it is.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSettings {
    /// The id by which the authorization server knows Drawbridge.
    #[serde(default)]
    pub client_id: Option<String>,
    /// The secret that goes with it. Of a server that is set up it is never told; none in a change keeps the one that is set.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// Whether there is, or is to be, a client secret. It lies in the system's keychain.
    #[serde(default)]
    pub has_secret: bool,
    /// The only authorization server to sign in at, exactly as it names itself; none for whichever the server names.
    #[serde(default)]
    pub issuer: Option<String>,
    /// What to ask for, instead of what the server says is needed.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The port of the redirect URI `http://127.0.0.1:PORT/callback` that the client id was registered with; none for any.
    #[serde(default)]
    pub redirect_port: Option<u16>,
    /// The names of the other secrets that its settings name, such as a private key. Each is entered by `set_secret`, and none is
    /// ever told. In a change it does not count.
    #[serde(default)]
    pub secret_names: Vec<String>,
    /// What else was found in pasted text. It goes back as it came with the wish to add the server. None for a server that is set
    /// up, whose own stays as it is.
    #[serde(default)]
    pub rest: Option<AuthRest>,
}

impl std::fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = (&self.client_id, self.has_secret, &self.issuer, &self.scopes, self.redirect_port);
        f.debug_tuple("AuthSettings").field(&shown).finish()
    }
}

/// What settings can say about signing in that the page does not show. What is secret stands in it as `${secret:NAME}`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthRest {
    /// How Drawbridge proves who it is at the token endpoint.
    #[serde(default)]
    pub client_auth: Option<String>,
    /// The URL of a document that describes Drawbridge.
    #[serde(default)]
    pub client_metadata_url: Option<String>,
    /// How tokens are got, as `mcp.json` names it; none for the usual way, in the browser.
    #[serde(default)]
    pub grant: Option<String>,
    /// The private key for `private_key_jwt`.
    #[serde(default)]
    pub private_key: Option<String>,
    /// The algorithm that goes with it.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// The identity provider of the enterprise.
    #[serde(default)]
    pub identity_provider: Option<AuthIdentityProvider>,
    /// Whether tokens are bound to a key of this computer; none to find out.
    #[serde(default)]
    pub dpop: Option<bool>,
    /// The assertion of the workload.
    #[serde(default)]
    pub assertion: Option<String>,
}
