//! How to sign in to a remote server, where the user says more about it than the server does: the `auth` object of an entry
//! in `mcp.json`. What is secret stands there only as `${secret:NAME}`.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use url::Url;

use crate::secrets;

/// How to sign in to a server. All of it is optional.
///
/// Its serialized form is hashed for the approval of a server and goes nowhere else: other names of members void every approval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuthConfig {
    /// The id by which the authorization server knows Drawbridge.
    pub client_id: Option<String>,
    /// The secret that goes with it, as `${secret:NAME}`.
    pub client_secret: Option<String>,
    /// The port that the browser comes back to, where the authorization server was told one; else any free one.
    pub redirect_port: Option<u16>,
    /// How Drawbridge proves who it is at the token endpoint: `none`, `client_secret_basic`, `client_secret_post` or
    /// `private_key_jwt`.
    pub client_auth: Option<String>,
    /// The URL of a document that describes Drawbridge (Client ID Metadata Document).
    pub client_metadata_url: Option<String>,
    /// The authorization server, exactly as it names itself.
    pub issuer: Option<String>,
    /// What to ask for, instead of what the server says is needed.
    pub scopes: Vec<String>,
    /// How tokens are got.
    pub grant: Grant,
    /// The private key for `private_key_jwt`, in PEM, as `${secret:NAME}`.
    pub private_key: Option<String>,
    /// The algorithm that goes with it, such as `ES256`.
    pub algorithm: Option<String>,
    /// The identity provider of the enterprise, for [`Grant::EnterpriseManaged`].
    #[serde(serialize_with = "provider_in_hash")]
    pub identity_provider: Option<AuthIdentityProvider>,
    /// Whether tokens are bound to a key of this computer (DPoP); none: if the authorization server says that it can.
    pub dpop: Option<bool>,
    /// The assertion of the workload, as `${secret:NAME}`, for [`Grant::WorkloadIdentity`].
    pub assertion: Option<String>,
}

/// How tokens are got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Grant {
    /// The user signs in in the browser.
    #[default]
    AuthorizationCode,
    /// Drawbridge signs in as itself, with its own secret or key.
    ClientCredentials,
    /// An identity provider of the enterprise vouches for the user.
    EnterpriseManaged,
    /// The platform vouches for what runs on it.
    WorkloadIdentity,
}

impl Grant {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::AuthorizationCode, Self::ClientCredentials, Self::EnterpriseManaged, Self::WorkloadIdentity];

    /// As `mcp.json` names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::ClientCredentials => "client_credentials",
            Self::EnterpriseManaged => "enterprise_managed",
            Self::WorkloadIdentity => "workload_identity",
        }
    }

    /// The extension of the protocol that it is, which servers are told of.
    #[must_use]
    pub const fn extension(self) -> Option<&'static str> {
        match self {
            Self::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Self::EnterpriseManaged => Some("io.modelcontextprotocol/enterprise-managed-authorization"),
            Self::AuthorizationCode | Self::WorkloadIdentity => None,
        }
    }
}

/// The identity provider of an enterprise. Its serialized form is the page's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AuthIdentityProvider {
    /// Its name, exactly as it names itself.
    pub issuer: String,
    /// Where it exchanges tokens; else its metadata say so.
    pub token_endpoint: Option<String>,
    /// The id by which it knows Drawbridge.
    pub client_id: String,
    /// The secret that goes with it, as `${secret:NAME}`.
    pub client_secret: Option<String>,
    /// How Drawbridge proves who it is there, as in [`AuthConfig::client_auth`].
    pub client_auth: Option<String>,
    /// The private key for `private_key_jwt`, in PEM, as `${secret:NAME}`.
    pub private_key: Option<String>,
    /// The algorithm that goes with it, such as `ES256`.
    pub algorithm: Option<String>,
    /// The user's identity token, as `${secret:NAME}`; else the user signs in there in the browser.
    pub id_token: Option<String>,
}

/// The identity provider as the hash of an approval has it.
fn provider_in_hash<S: Serializer>(provider: &Option<AuthIdentityProvider>, to: S) -> Result<S::Ok, S::Error> {
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

/// The ways to prove who Drawbridge is at a token endpoint.
const CLIENT_AUTH: [&str; 4] = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
/// The most scopes, and the longest text of all, in bytes.
const MAX_SCOPES: usize = 100;
const MAX_TEXT: usize = 2_048;

impl AuthConfig {
    /// The texts by their keys in `mcp.json`.
    #[must_use]
    pub fn texts(&self) -> [(&'static str, Option<&str>); 8] {
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

    /// True if tokens are got with nobody in front of a browser.
    #[must_use]
    pub fn is_unattended(&self) -> bool {
        match self.grant {
            Grant::AuthorizationCode => false,
            Grant::EnterpriseManaged => self.identity_provider.as_ref().is_some_and(|idp| idp.id_token.is_some()),
            Grant::ClientCredentials | Grant::WorkloadIdentity => true,
        }
    }

    /// Why it can't be used, in words; nothing if it can.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        for (key, text) in self.texts() {
            if text.is_some_and(|text| text.is_empty() || text.len() > MAX_TEXT || text.chars().any(char::is_control)) {
                return Some(format!(
                    "{key:?} must be a text of one line, with at most {MAX_TEXT} bytes, and not empty"
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
        if let Some((key, _)) = secret.iter().find(|(_, text)| text.is_some_and(|text| !is_reference(text))) {
            return Some(format!("{key:?} must stand as \"${{secret:NAME}}\", so that it lies in the keychain"));
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
        if ways.into_iter().flatten().any(|way| !CLIENT_AUTH.contains(&way)) {
            return Some(format!("\"clientAuth\" must be one of {}", CLIENT_AUTH.join(", ")));
        }
        let is_scope = |scope: &String| {
            !scope.is_empty()
                && scope.len() <= MAX_TEXT
                && scope.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        if self.scopes.len() > MAX_SCOPES || !self.scopes.iter().all(is_scope) {
            return Some(format!("\"scopes\" must be a list of at most {MAX_SCOPES} names without spaces"));
        }
        match self.grant {
            Grant::AuthorizationCode => None,
            // Nobody may be asked there, so it must be certain who gets what proves who this is.
            _ if self.issuer.is_none() => Some("the grant needs an \"issuer\"".to_owned()),
            Grant::ClientCredentials if self.client_id.is_none() => Some("the grant needs a \"clientId\"".to_owned()),
            Grant::ClientCredentials if self.client_secret.is_none() && self.private_key.is_none() => {
                Some("the grant needs a \"clientSecret\" or a \"privateKey\"".to_owned())
            }
            Grant::ClientCredentials => None,
            Grant::EnterpriseManaged if idp.is_none() || self.client_id.is_none() => {
                Some("the grant needs a \"clientId\" and an \"identityProvider\"".to_owned())
            }
            Grant::EnterpriseManaged if idp.is_some_and(|idp| idp.client_id.is_empty()) => {
                Some("the \"identityProvider\" needs a \"clientId\"".to_owned())
            }
            Grant::EnterpriseManaged => None,
            Grant::WorkloadIdentity if self.assertion.is_none() => Some("the grant needs an \"assertion\"".to_owned()),
            Grant::WorkloadIdentity => None,
        }
    }
}

/// Whether a text names one secret and holds nothing else.
fn is_reference(text: &str) -> bool {
    matches!(secrets::names(text)[..], [name] if secrets::reference(name) == text)
}
