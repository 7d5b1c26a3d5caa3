//! What a server's authorization is built from.

use std::fmt;
use std::sync::Arc;

use mcp_transport::http::OutsideClient;
use secrecy::SecretString;
use url::Url;

use crate::clock::Clock;
use crate::user::User;
use crate::vault::Vault;

/// All that one server's authorization needs.
#[derive(Clone)]
pub struct Settings {
    /// The MCP endpoint as the user gave it.
    pub server: Url,
    /// How the app can identify itself.
    pub client: ClientSource,
    /// How tokens are got.
    pub grant: GrantKind,
    /// Scopes that the user set; they count where the server's challenge names none.
    pub scopes: Option<Vec<String>>,
    /// The issuer that the user set; no other is then used.
    pub issuer: Option<String>,
    /// Whether tokens are bound to a key (RFC 9449).
    pub dpop: DpopUse,
    /// For metadata, registration, token and revocation requests.
    pub web: OutsideClient,
    /// Where tokens and registrations are kept.
    pub vault: Arc<dyn Vault>,
    /// Whom to ask.
    pub user: Arc<dyn User>,
    /// What time it is.
    pub now: Clock,
}

/// The app's identities, tried in this order; then it registers itself, then the user is asked.
#[derive(Debug, Clone, Default)]
pub struct ClientSource {
    /// A client id set up before.
    pub preregistered: Option<Preregistered>,
    /// The https URL of a document about the app (CIMD).
    pub metadata_url: Option<Url>,
    /// What the app calls itself when it registers.
    pub name: String,
    /// The app's home page, for registration.
    pub uri: Option<Url>,
}

impl ClientSource {
    /// The document that must lie at [`metadata_url`](Self::metadata_url), as JSON (Client ID Metadata Document). None
    /// without a URL that can be a client id: https, with a path.
    pub fn document(&self) -> Option<String> {
        let url = self.metadata_url.as_ref().filter(|url| is_document_url(url))?;
        let mut document = serde_json::json!({
            "client_id": url.as_str(),
            "client_name": self.name,
            // Any port of this computer (RFC 8252, 7.3).
            "redirect_uris": ["http://127.0.0.1/callback"],
            "application_type": "native",
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        });
        if let Some(uri) = &self.uri {
            document["client_uri"] = serde_json::json!(uri.as_str());
        }
        Some(document.to_string())
    }
}

/// A client id got beforehand.
#[derive(Debug, Clone)]
pub struct Preregistered {
    /// The authorization server that gave it; at any other it is refused. Without one, it belongs to the first that
    /// it is used with.
    pub issuer: Option<String>,
    /// The client id.
    pub client_id: String,
    /// What proves that we are the client.
    pub authentication: ClientAuthentication,
    /// The port of the redirect URI `http://127.0.0.1:PORT/callback` that it was registered with. Without one any free
    /// port is used, as RFC 8252 (7.3) lets authorization servers accept.
    pub redirect_port: Option<u16>,
}

/// What proves to a token endpoint that a client is who it says.
#[derive(Debug, Clone)]
pub enum ClientAuthentication {
    /// Nothing: a public client.
    None,
    /// A secret.
    Secret {
        /// The secret.
        secret: SecretString,
        /// How to send it; else whichever the authorization server's metadata lists.
        method: Option<SecretMethod>,
    },
    /// A signed statement (RFC 7523, `private_key_jwt`).
    PrivateKeyJwt {
        /// The private key: PKCS#8, as PEM.
        key_pem: SecretString,
        /// A JWS algorithm: `ES256`, `ES384`, `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512` or `EdDSA`.
        algorithm: String,
    },
}

/// How a client secret is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretMethod {
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
}

/// How tokens are got.
#[derive(Debug, Clone)]
pub enum GrantKind {
    /// By the user, in the browser.
    AuthorizationCode,
    /// As the app itself, with [`ClientSource::preregistered`].
    ClientCredentials,
    /// By way of the organization's identity provider: its ID token is exchanged for a grant (RFC 8693), and that for
    /// a token (RFC 7523). With [`ClientSource::preregistered`] at the MCP server's authorization server.
    EnterpriseManaged(EnterpriseIdp),
    /// With a signed statement about the workload (RFC 7523), and [`ClientSource::preregistered`].
    WorkloadIdentity {
        /// The statement, a JWT.
        assertion: SecretString,
    },
}

/// An organization's identity provider.
#[derive(Debug, Clone)]
pub struct EnterpriseIdp {
    /// Its issuer identifier.
    pub issuer: String,
    /// Its token endpoint; else its metadata names it.
    pub token_endpoint: Option<Url>,
    /// Our client id there.
    pub client_id: String,
    /// What proves that we are that client.
    pub authentication: ClientAuthentication,
    /// The user's ID token; else the user signs in there in the browser (OpenID Connect).
    pub id_token: Option<SecretString>,
}

/// Whether tokens are bound to a key (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DpopUse {
    /// When the metadata says that it is understood.
    #[default]
    Auto,
    /// Always; a token that is not bound is refused.
    Always,
    /// Never.
    Never,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("server", &crate::address::plain(&self.server))
            .field("grant", &self.grant)
            .finish_non_exhaustive()
    }
}

/// Whether a URL can be a client id: https with a path (Client ID Metadata Document, 3).
pub(crate) fn is_document_url(url: &Url) -> bool {
    url.scheme() == "https"
        && url.path() != "/"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_says_who_the_app_is() {
        const AT: &str = "https://app.example/client.json";
        let source = ClientSource { metadata_url: AT.parse().ok(), name: "App".to_owned(), ..ClientSource::default() };
        let document: serde_json::Value = serde_json::from_str(&source.document().unwrap()).unwrap();
        assert_eq!(document["client_id"], AT, "[auth-cimd-id-equals-url] the id is the document's own URL");
        assert_eq!(document["client_name"], "App", "[auth-cimd-fields] its name");
        assert_eq!(
            document["redirect_uris"][0], "http://127.0.0.1/callback",
            "[auth-cimd-fields] where it is come back to"
        );
        assert!(document.get("client_secret").is_none(), "[auth-ema-no-embedded-secret] and no secret");
        assert_eq!(ClientSource::default().document(), None, "without a URL there is none");
        let bare = ClientSource { metadata_url: "https://app.example/".parse().ok(), ..source };
        assert_eq!(bare.document(), None, "[auth-cimd-url-form] nor with one that can be no client id");
    }
}
