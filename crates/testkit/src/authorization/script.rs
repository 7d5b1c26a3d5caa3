//! What the two servers do. All of it can be written as JSON, for tests in other processes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Where the authorization server's metadata lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Metadata {
    /// RFC 8414: `/.well-known/oauth-authorization-server`, then the issuer's path.
    OAuth,
    /// OpenID Connect, path inserted: `/.well-known/openid-configuration`, then the issuer's path.
    OpenIdInserted,
    /// OpenID Connect, path first: the issuer's path, then `/.well-known/openid-configuration`.
    OpenIdAppended,
    /// Nowhere.
    None,
}

/// The parameter `iss` of an authorization response (RFC 9207).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Iss {
    /// The issuer.
    Own,
    /// None.
    Missing,
    /// This.
    Other(String),
}

/// What the authorization endpoint does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Authorizing {
    /// Redirects with a code.
    Grants,
    /// Redirects with this error.
    Denies(String),
    /// Shows a page and never redirects.
    ShowsPage,
    /// Grants these scopes and not those asked for.
    GrantsOnly(String),
}

/// What comes of refresh tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refresh {
    /// None is issued.
    None,
    /// Each is good once and replaced; one used twice ends all of its family.
    Rotating,
    /// The first one stays good.
    Same,
    /// Issued, and refused with this error when used.
    Fails(String),
    /// Issued, and answered with this status when used.
    Down(u16),
}

/// Demonstrating proof of possession (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dpop {
    /// Unknown: tokens are bearer tokens.
    Off,
    /// A proof is wanted with each request.
    Required,
    /// A proof with the nonce that was given.
    WithNonce,
}

/// What the authorization server does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizationScript {
    /// The issuer's path: empty, or begins with a slash.
    pub path: String,
    /// Where its metadata lie.
    pub metadata: Metadata,
    /// Members of the metadata that are other than they should be; null takes one away.
    pub overrides: Map<String, Value>,
    /// Whether clients may register.
    pub registration: bool,
    /// Registration is refused with this error (RFC 7591 section 3.2.2).
    pub registration_error: Option<String>,
    /// Whether a client may be a metadata document. The document is not read.
    pub client_id_metadata: bool,
    /// Clients that were registered before, with their secrets.
    pub clients: BTreeMap<String, Option<String>>,
    /// `token_endpoint_auth_methods_supported`.
    pub auth_methods: Vec<String>,
    /// `code_challenge_methods_supported`; none: not in the metadata.
    pub pkce: Option<Vec<String>>,
    /// `scopes_supported`; none: not in the metadata.
    pub scopes: Option<Vec<String>>,
    /// Whether the metadata promise `iss`.
    pub iss_advertised: bool,
    /// The `iss` that comes.
    pub iss: Iss,
    /// What happens at the authorization endpoint.
    pub authorizing: Authorizing,
    /// Seconds that an access token lives; none: for ever, and nothing is said of it.
    pub lifetime: Option<u64>,
    /// What comes of refresh tokens.
    pub refresh: Refresh,
    /// Proofs of possession.
    pub dpop: Dpop,
    /// Whether there is a revocation endpoint.
    pub revocation: bool,
    /// Whether that takes access tokens, which it need not (RFC 7009 section 2).
    pub revokes_access: bool,
    /// Milliseconds before metadata and tokens are answered.
    pub delay_ms: u64,
    /// Everything is answered with this status.
    pub down: Option<u16>,
    /// Paths that redirect, with the status and to where.
    pub redirects: BTreeMap<String, (u16, String)>,
}

impl Default for AuthorizationScript {
    fn default() -> Self {
        Self {
            path: String::new(),
            metadata: Metadata::OAuth,
            overrides: Map::new(),
            registration: true,
            registration_error: None,
            client_id_metadata: false,
            clients: BTreeMap::new(),
            auth_methods: vec!["none".to_owned()],
            pkce: Some(vec!["S256".to_owned()]),
            scopes: None,
            iss_advertised: true,
            iss: Iss::Own,
            authorizing: Authorizing::Grants,
            lifetime: Some(3600),
            refresh: Refresh::Rotating,
            dpop: Dpop::Off,
            revocation: true,
            revokes_access: true,
            delay_ms: 0,
            down: None,
            redirects: BTreeMap::new(),
        }
    }
}

/// Where the MCP server's resource metadata (RFC 9728) lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResourceMetadata {
    /// At a path of its own that only `WWW-Authenticate` names.
    Header,
    /// `/.well-known/oauth-protected-resource`, then the path of the endpoint; not in the header.
    WellKnown,
    /// `/.well-known/oauth-protected-resource`; not in the header.
    Root,
    /// There are none.
    None,
    /// There are none, and the MCP server's origin is the authorization server too, as in 2025-03-26.
    SameOrigin,
    /// The header names this URL.
    HeaderNames(String),
}

/// What the MCP server refuses besides requests without a good token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refusing {
    /// Nothing.
    Nothing,
    /// Everything with 401, as if no token were good.
    Unauthorized,
    /// Every second request with 401, whatever its token.
    EverySecond,
    /// Everything with 401 and `use_dpop_nonce`, with another nonce each time.
    Nonces,
    /// Every GET of the endpoint with 401; a stream that is open ends.
    Streams,
    /// Every call of a tool with 403 and `insufficient_scope`.
    InsufficientScope,
    /// Everything with this status.
    Status(u16),
}

/// What the MCP server does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ProtectedScript {
    /// The revision it speaks.
    pub revision: String,
    /// Where its metadata lie.
    pub metadata: ResourceMetadata,
    /// Members of the metadata that are other than they should be; null takes one away.
    pub overrides: Map<String, Value>,
    /// `scopes_supported` of its metadata; none: not there.
    pub scopes: Option<Vec<String>>,
    /// The `scope` of the challenge that comes with 401; none: not there.
    pub challenge_scope: Option<String>,
    /// The scopes that calls of a tool need.
    pub tool_scopes: BTreeMap<String, String>,
    /// What it refuses.
    pub refusing: Refusing,
    /// Whether requests without any token are answered as well.
    pub lets_strangers_in: bool,
    /// Whether it checks that tokens were issued for it.
    pub checks_audience: bool,
    /// A GET of the endpoint opens a stream that says after so many milliseconds, again and again, that the tools have changed;
    /// none: there is no stream.
    pub changes_ms: Option<u64>,
    /// Requests with a good token are redirected: with this status, to this URL.
    pub redirect: Option<(u16, String)>,
}

impl Default for ProtectedScript {
    fn default() -> Self {
        Self {
            revision: "2025-11-25".to_owned(),
            metadata: ResourceMetadata::Header,
            overrides: Map::new(),
            scopes: None,
            challenge_scope: None,
            tool_scopes: BTreeMap::new(),
            refusing: Refusing::Nothing,
            lets_strangers_in: false,
            checks_audience: true,
            changes_ms: None,
            redirect: None,
        }
    }
}

/// The script with the members of `changes` in place of its own; none if one does not fit.
pub(super) fn merged<S: Serialize + DeserializeOwned>(script: &S, changes: &Value) -> Option<S> {
    let mut all = serde_json::to_value(script).ok()?;
    for (name, value) in changes.as_object()? {
        all[name.as_str()] = value.clone();
    }
    serde_json::from_value(all).ok()
}
