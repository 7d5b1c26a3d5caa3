//! Sign-in settings of a remote server that override discovery: the `auth` object of an entry in `mcp.json`. Secrets
//! are not contained, but referred to as `${secret:NAME}`.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use url::Url;

use crate::secrets;

/// Sign-in settings of a remote server. All fields are optional.
///
/// The serialized form is only used to compute the hash that an approval of the server covers. Renaming a member
/// invalidates all approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuthConfig {
    /// Client identifier with which Drawbridge is registered at the authorization server, or `None` to obtain one by
    /// another method.
    pub client_id: Option<String>,
    /// Client secret at the authorization server, as a reference `${secret:NAME}`.
    pub client_secret: Option<String>,
    /// Port of the redirect URI that is registered at the authorization server, or `None` for any free port.
    pub redirect_port: Option<u16>,
    /// Client authentication method at the token endpoint: `none`, `client_secret_basic`, `client_secret_post` or
    /// `private_key_jwt`.
    pub client_auth: Option<String>,
    /// URL of the client ID metadata document that describes Drawbridge, or `None` to use none.
    pub client_metadata_url: Option<String>,
    /// Issuer identifier of the authorization server, or `None` to discover it.
    pub issuer: Option<String>,
    /// Scopes to request instead of those that the server requires. Empty to use the server's.
    pub scopes: Vec<String>,
    /// Grant type with which Drawbridge obtains tokens.
    pub grant: GrantType,
    /// Private key for `private_key_jwt`, as a reference `${secret:NAME}` to a key in PEM format.
    pub private_key: Option<String>,
    /// Signature algorithm of the private key, such as `ES256`, or `None` for the default algorithm.
    pub algorithm: Option<String>,
    /// Identity provider of the enterprise, for [`GrantType::EnterpriseManaged`].
    #[serde(serialize_with = "serialize_provider_for_hash")]
    pub identity_provider: Option<AuthIdentityProvider>,
    /// `true` to bind tokens to a key of this computer (DPoP), `false` not to do so, or `None` to do so if the
    /// authorization server supports it.
    pub dpop: Option<bool>,
    /// Assertion of the workload's identity, as a reference `${secret:NAME}`, for [`GrantType::WorkloadIdentity`].
    pub assertion: Option<String>,
}

/// The OAuth grant type with which Drawbridge obtains tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum GrantType {
    /// The user signs in with the browser (authorization code).
    #[default]
    AuthorizationCode,
    /// Drawbridge authenticates itself with a client secret or key, without a user.
    ClientCredentials,
    /// An identity provider of the enterprise asserts the user's identity.
    EnterpriseManaged,
    /// The platform asserts the identity of the workload.
    WorkloadIdentity,
}

impl GrantType {
    /// All supported grant types, in the order of their declaration.
    pub const ALL: [Self; 4] =
        [Self::AuthorizationCode, Self::ClientCredentials, Self::EnterpriseManaged, Self::WorkloadIdentity];

    /// Returns the name of the grant type in `mcp.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::EnterpriseManaged => "enterprise_managed",
            Self::WorkloadIdentity => "workload_identity",
        }
    }

    /// Returns the identifier of the MCP extension that defines the grant type, or `None` for the core protocol. The
    /// host declares it to servers.
    #[must_use]
    pub const fn extension(self) -> Option<&'static str> {
        match self {
            Self::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Self::EnterpriseManaged => Some("io.modelcontextprotocol/enterprise-managed-authorization"),
            Self::AuthorizationCode | Self::WorkloadIdentity => None,
        }
    }
}

/// The identity provider of an enterprise. Drawbridge's page receives its serialized form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuthIdentityProvider {
    /// Issuer identifier of the enterprise's identity provider.
    pub issuer: String,
    /// Token exchange endpoint, or `None` to read it from the provider's metadata.
    pub token_endpoint: Option<String>,
    /// Client identifier with which Drawbridge is registered at the identity provider.
    pub client_id: String,
    /// Client secret for the identity provider, as a reference `${secret:NAME}`.
    pub client_secret: Option<String>,
    /// Client authentication method at the identity provider, as in [`AuthConfig::client_auth`].
    pub client_auth: Option<String>,
    /// Private key for `private_key_jwt`, as a reference `${secret:NAME}` to a key in PEM format.
    pub private_key: Option<String>,
    /// Signature algorithm of the private key for the identity provider, such as `ES256`.
    pub algorithm: Option<String>,
    /// The user's ID token, as a reference `${secret:NAME}`, or `None` to sign in to the identity provider with the
    /// browser.
    pub id_token: Option<String>,
}

/// Serializes the identity provider for the hash that an approval covers.
fn serialize_provider_for_hash<S: Serializer>(
    provider: &Option<AuthIdentityProvider>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let members = provider.as_ref().map(|provider| {
        let AuthIdentityProvider {
            issuer,
            token_endpoint,
            client_id,
            client_secret,
            client_auth,
            private_key,
            algorithm,
            id_token,
        } = provider;
        json!({
            "issuer": issuer,
            "token_endpoint": token_endpoint,
            "client_id": client_id,
            "client_secret": client_secret,
            "client_auth": client_auth,
            "private_key": private_key,
            "algorithm": algorithm,
            "id_token": id_token,
        })
    });
    members.serialize(to)
}

/// Client authentication methods that Drawbridge supports.
const SUPPORTED_CLIENT_AUTH_METHODS: [&str; 4] =
    ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
/// Maximum number of scopes in the settings of one server.
const MAX_AUTH_SCOPES: usize = 100;
/// Maximum length of each text in the sign-in settings, in bytes.
const MAX_AUTH_TEXT_BYTES: usize = 2_048;

impl AuthConfig {
    /// Returns the sign-in settings that consist of a single text, with their keys in `mcp.json`.
    #[must_use]
    pub fn text_settings(&self) -> [(&'static str, Option<&str>); 8] {
        [
            ("clientId", self.client_id.as_deref()),
            ("clientSecret", self.client_secret.as_deref()),
            ("clientAuth", self.client_auth.as_deref()),
            ("clientMetadataUrl", self.client_metadata_url.as_deref()),
            ("issuer", self.issuer.as_deref()),
            ("privateKey", self.private_key.as_deref()),
            ("algorithm", self.algorithm.as_deref()),
            ("assertion", self.assertion.as_deref()),
        ]
    }

    /// Returns `true` if Drawbridge obtains tokens without a user who signs in.
    #[must_use]
    pub fn is_unattended(&self) -> bool {
        match self.grant {
            GrantType::AuthorizationCode => false,
            GrantType::EnterpriseManaged => self.identity_provider.as_ref().is_some_and(|idp| idp.id_token.is_some()),
            GrantType::ClientCredentials | GrantType::WorkloadIdentity => true,
        }
    }

    /// Returns the reason why the sign-in settings are invalid, or `None` if they are valid.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        for (key, text) in self.text_settings() {
            if text.is_some_and(|text| {
                text.is_empty() || text.len() > MAX_AUTH_TEXT_BYTES || text.chars().any(char::is_control)
            }) {
                return Some(format!(
                    "{key:?} must be a text of one line, with at most {MAX_AUTH_TEXT_BYTES} bytes, and not empty"
                ));
            }
        }
        let idp = self.identity_provider.as_ref();
        let secret = [
            ("clientSecret", self.client_secret.as_deref()),
            ("privateKey", self.private_key.as_deref()),
            ("assertion", self.assertion.as_deref()),
            ("clientSecret", idp.and_then(|idp| idp.client_secret.as_deref())),
            ("privateKey", idp.and_then(|idp| idp.private_key.as_deref())),
            ("idToken", idp.and_then(|idp| idp.id_token.as_deref())),
        ];
        if let Some((key, _)) = secret.iter().find(|(_, text)| text.is_some_and(|text| !is_secret_reference(text))) {
            return Some(format!(
                "{key:?} must be a reference \"${{secret:NAME}}\", so that it is stored in the keychain"
            ));
        }
        let urls = [
            ("issuer", self.issuer.as_deref()),
            ("clientMetadataUrl", self.client_metadata_url.as_deref()),
            ("issuer", idp.map(|idp| idp.issuer.as_str())),
            ("tokenEndpoint", idp.and_then(|idp| idp.token_endpoint.as_deref())),
        ];
        let is_bad = |url: &str| !Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "https" | "http"));
        if let Some((key, _)) = urls.iter().find(|(_, url)| url.is_some_and(is_bad)) {
            return Some(format!("{key:?} must be a URL that begins with https://"));
        }
        if self.redirect_port == Some(0) {
            return Some("\"redirectPort\" must be a port, a number from 1 to 65535".to_owned());
        }
        let ways = [self.client_auth.as_deref(), idp.and_then(|idp| idp.client_auth.as_deref())];
        if ways.into_iter().flatten().any(|way| !SUPPORTED_CLIENT_AUTH_METHODS.contains(&way)) {
            return Some(format!("\"clientAuth\" must be one of {}", SUPPORTED_CLIENT_AUTH_METHODS.join(", ")));
        }
        let is_scope = |scope: &String| {
            !scope.is_empty()
                && scope.len() <= MAX_AUTH_TEXT_BYTES
                && scope.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        if self.scopes.len() > MAX_AUTH_SCOPES || !self.scopes.iter().all(is_scope) {
            return Some(format!("\"scopes\" must be a list of at most {MAX_AUTH_SCOPES} names without spaces"));
        }
        match self.grant {
            GrantType::AuthorizationCode => None,
            // The credentials are sent without a consent request, so their receiver must be configured.
            _ if self.issuer.is_none() => Some("the grant needs an \"issuer\"".to_owned()),
            GrantType::ClientCredentials if self.client_id.is_none() => {
                Some("the grant needs a \"clientId\"".to_owned())
            }
            GrantType::ClientCredentials if self.client_secret.is_none() && self.private_key.is_none() => {
                Some("the grant needs a \"clientSecret\" or a \"privateKey\"".to_owned())
            }
            GrantType::ClientCredentials => None,
            GrantType::EnterpriseManaged if idp.is_none() || self.client_id.is_none() => {
                Some("the grant needs a \"clientId\" and an \"identityProvider\"".to_owned())
            }
            GrantType::EnterpriseManaged if idp.is_some_and(|idp| idp.client_id.is_empty()) => {
                Some("the \"identityProvider\" needs a \"clientId\"".to_owned())
            }
            GrantType::EnterpriseManaged => None,
            GrantType::WorkloadIdentity if self.assertion.is_none() => {
                Some("the grant needs an \"assertion\"".to_owned())
            }
            GrantType::WorkloadIdentity => None,
        }
    }
}

/// Returns `true` if a text consists of exactly one reference to a secret.
fn is_secret_reference(text: &str) -> bool {
    matches!(secrets::referenced_secret_names(text)[..], [name] if secrets::secret_reference(name) == text)
}
