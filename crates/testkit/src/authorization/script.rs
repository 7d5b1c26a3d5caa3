//! Scripts that determine the behavior of both servers. Tests in other processes can write them as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Path at which the authorization server provides its metadata document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthorizationMetadataLocation {
    /// RFC 8414: `/.well-known/oauth-authorization-server`, then the issuer's path.
    OAuth,
    /// OpenID Connect Discovery with the issuer's path at the end: `/.well-known/openid-configuration`, then the path.
    OpenIdInserted,
    /// OpenID Connect Discovery with the issuer's path at the beginning: the path, then
    /// `/.well-known/openid-configuration`.
    OpenIdAppended,
    /// Metadata is not served at any path.
    None,
}

/// Value of the parameter `iss` that the server sends in authorization responses (RFC 9207).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IssParameter {
    /// Issuer identifier of the authorization server, as specified.
    Own,
    /// Authorization responses have no `iss` parameter.
    Missing,
    /// Another value, which the client has to reject.
    Other(String),
}

/// Behavior of the authorization endpoint for valid requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthorizationBehaviour {
    /// Redirects to the client with an authorization code for the requested scopes.
    Grants,
    /// Redirects to the client with this OAuth error code.
    Denies(String),
    /// Shows a page instead of redirecting to the client.
    ShowsPage,
    /// Redirects to the client with an authorization code for these scopes instead of the requested ones.
    GrantsOnly(String),
}

/// Behavior of the token endpoint for refresh tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefreshBehaviour {
    /// No refresh token is issued.
    None,
    /// A refresh token is valid once, and its use returns a new one. Using a refresh token twice invalidates all tokens
    /// of the authorization.
    Rotating,
    /// A refresh token stays valid after its use.
    Same,
    /// Refresh tokens are issued, but their use fails with this OAuth error code.
    Fails(String),
    /// Refresh tokens are issued, but their use fails with this HTTP status.
    Down(u16),
}

/// Support for DPoP, which binds tokens to a key of the client (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DpopBehaviour {
    /// Tokens are bearer tokens, without support for DPoP.
    Off,
    /// Every request must contain a DPoP proof.
    Required,
    /// Every request must contain a DPoP proof with the nonce of the server.
    WithNonce,
}

/// Script that determines the behavior of the authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizationScript {
    /// Path of the issuer identifier, either empty or with a leading slash.
    pub path: String,
    /// Path at which the authorization server serves its metadata.
    pub metadata: AuthorizationMetadataLocation,
    /// Members that replace those of the authorization server metadata. A null value removes the member.
    pub overrides: Map<String, Value>,
    /// Set if clients may register dynamically.
    pub registration: bool,
    /// OAuth error code of all registration responses, or `None` to accept registrations (RFC 7591 section 3.2.2).
    pub registration_error: Option<String>,
    /// Set if the URL of a client ID metadata document is accepted as client id. The document itself is not requested.
    pub client_id_metadata: bool,
    /// Pre-registered clients by client id, each with its secret, or `None` for public clients.
    pub clients: BTreeMap<String, Option<String>>,
    /// Value of `token_endpoint_auth_methods_supported` in the metadata.
    pub auth_methods: Vec<String>,
    /// Value of `code_challenge_methods_supported` in the metadata, or `None` to omit it.
    pub pkce: Option<Vec<String>>,
    /// Value of `scopes_supported` in the metadata, or `None` to omit it.
    pub scopes: Option<Vec<String>>,
    /// Set if the metadata announces the `iss` parameter of authorization responses.
    pub iss_advertised: bool,
    /// Value of the parameter `iss` in authorization responses.
    pub iss: IssParameter,
    /// Behavior of the authorization endpoint for valid requests.
    pub authorizing: AuthorizationBehaviour,
    /// Lifetime of access tokens in seconds. If `None`, they do not expire and token responses have no `expires_in`.
    pub lifetime: Option<u64>,
    /// Behavior of the token endpoint for refresh tokens.
    pub refresh: RefreshBehaviour,
    /// Support for DPoP, which binds tokens to a key of the client (RFC 9449).
    pub dpop: DpopBehaviour,
    /// Set if the server has a token revocation endpoint.
    pub revocation: bool,
    /// Set if the revocation endpoint accepts access tokens, which is optional (RFC 7009 section 2).
    pub revokes_access: bool,
    /// Delay of metadata and token responses in milliseconds.
    pub delay_ms: u64,
    /// HTTP status of all responses, or `None` for normal operation.
    pub down: Option<u16>,
    /// Paths that redirect, each with the HTTP status and the target URL.
    pub redirects: BTreeMap<String, (u16, String)>,
}

impl Default for AuthorizationScript {
    fn default() -> Self {
        Self {
            path: String::new(),
            metadata: AuthorizationMetadataLocation::OAuth,
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

/// Location at which clients find the protected resource metadata of the MCP server (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResourceMetadataLocation {
    /// At a path that clients only find in the `WWW-Authenticate` header.
    Header,
    /// At `/.well-known/oauth-protected-resource` followed by the path of the MCP endpoint. The header does not contain
    /// the URL.
    WellKnown,
    /// At `/.well-known/oauth-protected-resource`. The header does not contain the URL.
    Root,
    /// There is no protected resource metadata.
    None,
    /// There is no metadata, and the authorization server has the MCP server's origin, as in revision 2025-03-26.
    SameOrigin,
    /// The `WWW-Authenticate` header contains this URL, and there is no other metadata.
    HeaderNames(String),
}

/// Rule by which the MCP server refuses requests although their token is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalBehaviour {
    /// No request with a valid token is refused.
    Nothing,
    /// Refuses every request with the HTTP status 401.
    Unauthorized,
    /// Refuses every second request with the HTTP status 401.
    EverySecond,
    /// Refuses every request with the HTTP status 401 and the error `use_dpop_nonce`, each time with a new nonce.
    Nonces,
    /// Refuses every GET request with the HTTP status 401, and closes open streams.
    Streams,
    /// Refuses every tool call with the HTTP status 403 and the error `insufficient_scope`.
    InsufficientScope,
    /// Refuses every request with this HTTP status.
    Status(u16),
}

/// Script that determines the behavior of the MCP server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ProtectedScript {
    /// MCP protocol revision that the server supports.
    pub revision: String,
    /// Location at which clients find the protected resource metadata.
    pub metadata: ResourceMetadataLocation,
    /// Members that replace those of the protected resource metadata. A null value removes the member.
    pub overrides: Map<String, Value>,
    /// Value of `scopes_supported` in the metadata, or `None` to omit it.
    pub scopes: Option<Vec<String>>,
    /// Value of `scope` in the `WWW-Authenticate` header of 401 responses, or `None` to omit it.
    pub challenge_scope: Option<String>,
    /// Scopes that a tool call requires, by name of the tool.
    pub tool_scopes: BTreeMap<String, String>,
    /// Rule by which the server refuses requests although their token is valid.
    pub refusing: RefusalBehaviour,
    /// Set if the server accepts requests without a token.
    pub allows_anonymous: bool,
    /// Set if the server rejects tokens that were issued for another resource.
    pub checks_audience: bool,
    /// Interval of `list_changed` notifications in milliseconds, on the stream that a GET request of the endpoint
    /// opens. `None` if there is no stream.
    pub changes_ms: Option<u64>,
    /// HTTP status and target URL of the redirect with which the server responds to requests with a valid token, or
    /// `None` to respond normally.
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
            allows_anonymous: false,
            checks_audience: true,
            changes_ms: None,
            redirect: None,
        }
    }
}

/// Returns the script with the members of `changes` replaced, or `None` if a member has the wrong type.
pub(super) fn merge_script_changes<S: Serialize + DeserializeOwned>(script: &S, changes: &Value) -> Option<S> {
    let mut all = serde_json::to_value(script).ok()?;
    for (name, value) in changes.as_object()? {
        all[name.as_str()] = value.clone();
    }
    serde_json::from_value(all).ok()
}
