//! Settings of one server's authorization.

use std::fmt;
use std::sync::Arc;

use mcp_transport::http::UntrustedUrlClient;
use secrecy::SecretString;
use url::Url;

use crate::clock::Clock;
use crate::user::UserInteraction;
use crate::vault::Vault;

/// Settings and dependencies of the authorization at one MCP server.
#[derive(Clone)]
pub struct AuthorizationSettings {
    /// URL of the MCP endpoint, as the user entered it.
    pub server: Url,
    /// Client ids that the app may use at an authorization server.
    pub client: ClientIdSettings,
    /// OAuth grant by which the app obtains tokens.
    pub grant: GrantKind,
    /// Scopes that the user configured, which are used if the server's challenge has none. `None` if the user
    /// configured none.
    pub scopes: Option<Vec<String>>,
    /// Issuer that the user configured as the only one to use, or `None` if any authorization server may be used.
    pub issuer: Option<String>,
    /// Use of DPoP to bind tokens to a key (RFC 9449).
    pub dpop: DpopUse,
    /// HTTP client for metadata, registration, token and revocation requests.
    pub web: UntrustedUrlClient,
    /// Storage of tokens and client registrations.
    pub vault: Arc<dyn Vault>,
    /// Interface to the user for consent, client ids and the browser.
    pub user: Arc<dyn UserInteraction>,
    /// Source of the current time, replaced in tests.
    pub now: Clock,
}

/// Client ids that the app may use, tried in the order of the fields. If neither is set, the app registers itself at
/// the authorization server, or else the user enters a client id.
#[derive(Debug, Clone, Default)]
pub struct ClientIdSettings {
    /// Pre-registered client id from the settings, or `None` if there is none.
    pub preregistered: Option<PreregisteredClient>,
    /// The `https` URL of a client ID metadata document (CIMD), which can serve as the client id. `None` if the app has
    /// none.
    pub metadata_url: Option<Url>,
    /// Name of the app, which a client registration or metadata document contains.
    pub name: String,
    /// Home page of the app, which a client registration or metadata document contains.
    pub uri: Option<Url>,
}

impl ClientIdSettings {
    /// Returns the JSON document to publish at [`metadata_url`](Self::metadata_url) (Client ID Metadata Document), or
    /// `None` without a URL that is a valid client id: `https` with a path.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_auth::ClientIdSettings;
    /// use serde_json::Value;
    ///
    /// let source = ClientIdSettings {
    ///     metadata_url: Some("https://app.example/client.json".parse()?),
    ///     name: "Example".to_owned(),
    ///     ..ClientIdSettings::default()
    /// };
    /// let document: Value = serde_json::from_str(&source.client_metadata_document().expect("the URL is valid"))?;
    /// assert_eq!(document["client_id"], "https://app.example/client.json");
    /// assert_eq!(document["token_endpoint_auth_method"], "none");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client_metadata_document(&self) -> Option<String> {
        let url = self.metadata_url.as_ref().filter(|url| is_client_metadata_document_url(url))?;
        let mut document = serde_json::json!({
            "client_id": url.as_str(),
            "client_name": self.name,
            // Any loopback port is allowed (RFC 8252, 7.3).
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

/// A client id that was registered outside of the app.
#[derive(Debug, Clone)]
pub struct PreregisteredClient {
    /// Issuer that the client id belongs to. The client id is not sent to any other issuer. If `None`, the client id
    /// belongs to the first issuer with which it is used.
    pub issuer: Option<String>,
    /// Client id that the issuer assigned.
    pub client_id: String,
    /// Client authentication at the token endpoint.
    pub authentication: ClientAuthentication,
    /// Port of the registered redirect URI `http://127.0.0.1:PORT/callback`. If `None`, any free port is used, which
    /// RFC 8252 (7.3) requires authorization servers to accept.
    pub redirect_port: Option<u16>,
}

/// Client authentication at a token endpoint.
#[derive(Debug, Clone)]
pub enum ClientAuthentication {
    /// No authentication, for a public client.
    None,
    /// Authentication by a client secret.
    Secret {
        /// Client secret that the issuer assigned.
        secret: SecretString,
        /// Method of sending the secret. If `None`, one of the methods that the authorization server's metadata lists
        /// is used.
        method: Option<ClientSecretMethod>,
    },
    /// Authentication by a signed assertion (RFC 7523, `private_key_jwt`).
    PrivateKeyJwt {
        /// Private key that signs the assertion, as PKCS#8 PEM.
        key_pem: SecretString,
        /// JWS algorithm: `ES256`, `ES384`, `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512` or `EdDSA`.
        algorithm: String,
    },
}

/// Method of sending a client secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSecretMethod {
    /// HTTP Basic authentication (`client_secret_basic`).
    Basic,
    /// Parameter in the body of the token request (`client_secret_post`).
    Post,
}

/// OAuth grant by which the app obtains tokens.
#[derive(Debug, Clone)]
pub enum GrantKind {
    /// Authorization code grant, with the user in the browser.
    AuthorizationCode,
    /// Client credentials grant with the client id and credentials in [`ClientIdSettings::preregistered`].
    ClientCredentials,
    /// Enterprise-managed authorization: an ID token of the organization's identity provider is exchanged for a grant
    /// (RFC 8693), and the grant for a token (RFC 7523). At the MCP server's authorization server, the app uses
    /// [`ClientIdSettings::preregistered`].
    EnterpriseManaged(EnterpriseIdp),
    /// JWT bearer grant with an assertion that identifies the workload (RFC 7523), with the client id in
    /// [`ClientIdSettings::preregistered`].
    WorkloadIdentity {
        /// Assertion that identifies the workload, as a signed JWT.
        assertion: SecretString,
    },
}

/// Identity provider of an organization.
#[derive(Debug, Clone)]
pub struct EnterpriseIdp {
    /// Issuer identifier of the identity provider.
    pub issuer: String,
    /// Token endpoint for the exchange of the ID token. If `None`, the one in the identity provider's metadata is used.
    pub token_endpoint: Option<Url>,
    /// Client id of the app at the identity provider.
    pub client_id: String,
    /// Client authentication at the identity provider.
    pub authentication: ClientAuthentication,
    /// ID token of the user. If `None`, the user signs in at the identity provider in the browser (OpenID Connect).
    pub id_token: Option<SecretString>,
}

/// Use of DPoP to bind tokens to a key (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DpopUse {
    /// DPoP is used if the metadata of the MCP server and of the authorization server both declare support.
    #[default]
    Auto,
    /// DPoP is always used, and a token that is not bound to the key is rejected.
    Always,
    /// DPoP is never used, even if the servers support it.
    Never,
}

impl fmt::Debug for AuthorizationSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("server", &crate::metadata_address::displayed_url(&self.server))
            .field("grant", &self.grant)
            .finish_non_exhaustive()
    }
}

/// Returns `true` if a URL is valid as a client id: `https` with a path (Client ID Metadata Document, 3).
pub(crate) fn is_client_metadata_document_url(url: &Url) -> bool {
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
    fn client_metadata_document_describes_drawbridge() {
        const DOCUMENT_URL: &str = "https://app.example/client.json";
        let source = ClientIdSettings {
            metadata_url: DOCUMENT_URL.parse().ok(),
            name: "App".to_owned(),
            ..ClientIdSettings::default()
        };
        let document: serde_json::Value = serde_json::from_str(&source.client_metadata_document().unwrap()).unwrap();
        assert_eq!(
            document["client_id"], DOCUMENT_URL,
            "[auth-cimd-id-equals-url] client_id must be the document's URL"
        );
        assert_eq!(document["client_name"], "App", "[auth-cimd-fields] name of the app");
        assert_eq!(document["redirect_uris"][0], "http://127.0.0.1/callback", "[auth-cimd-fields] redirect URI");
        assert!(
            document.get("client_secret").is_none(),
            "[auth-ema-no-embedded-secret] the document must not contain a secret"
        );
        assert_eq!(ClientIdSettings::default().client_metadata_document(), None, "no document without a URL");
        let bare = ClientIdSettings { metadata_url: "https://app.example/".parse().ok(), ..source };
        assert_eq!(
            bare.client_metadata_document(),
            None,
            "[auth-cimd-url-form] no document with a URL that is not a valid client id"
        );
    }
}
