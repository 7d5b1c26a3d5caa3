//! Scripts of the two servers. They can be written as JSON for tests in other processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Location of the authorization server metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MetadataLocation {
    /// RFC 8414: `/.well-known/oauth-authorization-server`, then the issuer's path.
    OAuth,
    /// OpenID Connect, path inserted: `/.well-known/openid-configuration`, then the issuer's path.
    OpenIdInserted,
    /// OpenID Connect, path first: the issuer's path, then `/.well-known/openid-configuration`.
    OpenIdAppended,
    /// No metadata at any location.
    None,
}

/// Parameter `iss` of an authorization response (RFC 9207).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IssParameter {
    /// The issuer identifier of the server.
    Own,
    /// No `iss` parameter at all.
    Missing,
    /// An `iss` parameter with this value.
    Other(String),
}

/// Behavior of the authorization endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthorizationBehaviour {
    /// Redirects with an authorization code.
    Grants,
    /// Redirects with this error code.
    Denies(String),
    /// Shows a page and never redirects.
    ShowsPage,
    /// Grants these scopes instead of the requested ones.
    GrantsOnly(String),
}

/// Handling of refresh tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefreshBehaviour {
    /// No refresh token is issued.
    None,
    /// Each refresh token is valid once and then replaced. Using one twice invalidates its whole family.
    Rotating,
    /// The first refresh token stays valid.
    Same,
    /// Refresh tokens are issued, but refused with this error code when used.
    Fails(String),
    /// Refresh tokens are issued, but using one is answered with this HTTP status.
    Down(u16),
}

/// Demonstrating proof of possession (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DpopBehaviour {
    /// DPoP is not supported, and tokens are bearer tokens.
    Off,
    /// Every request must have a proof.
    Required,
    /// Every proof must also have the nonce that the server issued.
    WithNonce,
}

/// Script of the authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizationScript {
    /// Path of the issuer; empty or with a leading slash.
    pub path: String,
    /// Location of the metadata document.
    pub metadata: MetadataLocation,
    /// Members of the metadata that override the normal ones; a null value removes the member.
    pub overrides: Map<String, Value>,
    /// Set if clients may register dynamically.
    pub registration: bool,
    /// Error code with which every registration is refused (RFC 7591 section 3.2.2).
    pub registration_error: Option<String>,
    /// Set if a client ID metadata document is accepted. The document is not read.
    pub client_id_metadata: bool,
    /// Pre-registered clients with their secrets; `None` for public clients.
    pub clients: BTreeMap<String, Option<String>>,
    /// Value of `token_endpoint_auth_methods_supported` in the metadata.
    pub auth_methods: Vec<String>,
    /// Value of `code_challenge_methods_supported`; absent from the metadata if `None`.
    pub pkce: Option<Vec<String>>,
    /// Value of `scopes_supported`; absent from the metadata if `None`.
    pub scopes: Option<Vec<String>>,
    /// Set if the metadata announce the `iss` parameter.
    pub iss_advertised: bool,
    /// The `iss` parameter of authorization responses.
    pub iss: IssParameter,
    /// Behavior of the authorization endpoint.
    pub authorizing: AuthorizationBehaviour,
    /// Lifetime of access tokens in seconds. If `None`, they never expire and the response has no `expires_in`.
    pub lifetime: Option<u64>,
    /// Handling of refresh tokens.
    pub refresh: RefreshBehaviour,
    /// Required proofs of possession.
    pub dpop: DpopBehaviour,
    /// Set if there is a revocation endpoint.
    pub revocation: bool,
    /// Set if the revocation endpoint accepts access tokens, which is optional (RFC 7009 section 2).
    pub revokes_access: bool,
    /// Delay of metadata and token responses in milliseconds.
    pub delay_ms: u64,
    /// HTTP status with which every request is answered, or `None` for normal operation.
    pub down: Option<u16>,
    /// Paths that redirect, with the HTTP status and the target.
    pub redirects: BTreeMap<String, (u16, String)>,
}

impl Default for AuthorizationScript {
    fn default() -> Self {
        Self {
            path: String::new(),
            metadata: MetadataLocation::OAuth,
            overrides: Map::new(),
            registration: true,
            registration_error: None,
            client_id_metadata: false,
            clients: BTreeMap::new(),
            auth_methods: vec!["none".to_owned()],
            pkce: Some(vec!["S256".to_owned()]),
            scopes: None,
            iss_advertised: true,
            iss: IssParameter::Own,
            authorizing: AuthorizationBehaviour::Grants,
            lifetime: Some(3600),
            refresh: RefreshBehaviour::Rotating,
            dpop: DpopBehaviour::Off,
            revocation: true,
            revokes_access: true,
            delay_ms: 0,
            down: None,
            redirects: BTreeMap::new(),
        }
    }
}

/// Location of the protected resource metadata (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResourceMetadataLocation {
    /// A path that only the `WWW-Authenticate` header names.
    Header,
    /// `/.well-known/oauth-protected-resource`, then the path of the endpoint; not in the header.
    WellKnown,
    /// `/.well-known/oauth-protected-resource`; not in the header.
    Root,
    /// No protected resource metadata at all.
    None,
    /// No metadata; the MCP server's origin is also the authorization server, as in revision 2025-03-26.
    SameOrigin,
    /// Only the header names a location, with this URL.
    HeaderNames(String),
}

/// Requests that the MCP server refuses in addition to those without a valid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalBehaviour {
    /// No further request is refused.
    Nothing,
    /// Every request with 401, as if no token were valid.
    Unauthorized,
    /// Every second request with 401, regardless of its token.
    EverySecond,
    /// Every request with 401 and `use_dpop_nonce`, with a new nonce each time.
    Nonces,
    /// Every GET of the endpoint with 401. Open streams end.
    Streams,
    /// Every tool call with 403 and `insufficient_scope`.
    InsufficientScope,
    /// Every request with this HTTP status.
    Status(u16),
}

/// Script of the MCP server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ProtectedScript {
    /// Protocol revision that the server supports.
    pub revision: String,
    /// Location of the protected resource metadata.
    pub metadata: ResourceMetadataLocation,
    /// Members of the metadata that override the normal ones; a null value removes the member.
    pub overrides: Map<String, Value>,
    /// Value of `scopes_supported` in the metadata; absent if `None`.
    pub scopes: Option<Vec<String>>,
    /// Value of `scope` in the 401 challenge; absent if `None`.
    pub challenge_scope: Option<String>,
    /// Scopes that calls of a tool require, by tool name.
    pub tool_scopes: BTreeMap<String, String>,
    /// Requests that the server refuses despite a valid token.
    pub refusing: RefusalBehaviour,
    /// Set if requests without any token are answered as well.
    pub lets_strangers_in: bool,
    /// Set if the server checks that tokens were issued for it.
    pub checks_audience: bool,
    /// Interval in milliseconds of `list_changed` notifications on the stream that a GET of the endpoint opens. There
    /// is no stream if `None`.
    pub changes_ms: Option<u64>,
    /// HTTP status and URL with which requests with a valid token are redirected.
    pub redirect: Option<(u16, String)>,
}

impl Default for ProtectedScript {
    fn default() -> Self {
        Self {
            revision: "2025-11-25".to_owned(),
            metadata: ResourceMetadataLocation::Header,
            overrides: Map::new(),
            scopes: None,
            challenge_scope: None,
            tool_scopes: BTreeMap::new(),
            refusing: RefusalBehaviour::Nothing,
            lets_strangers_in: false,
            checks_audience: true,
            changes_ms: None,
            redirect: None,
        }
    }
}

/// Returns the script with the members of `changes` replaced, or `None` if a member does not fit.
pub(super) fn merge_changes<S: Serialize + DeserializeOwned>(script: &S, changes: &Value) -> Option<S> {
    let mut all = serde_json::to_value(script).ok()?;
    for (name, value) in changes.as_object()? {
        all[name.as_str()] = value.clone();
    }
    serde_json::from_value(all).ok()
}
