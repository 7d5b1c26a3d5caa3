//! Public view of a sign-in, which never contains a token.

use std::time::SystemTime;

use url::Url;

use crate::error::AuthPhase;

/// State of a sign-in at one authorization server, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Issuer identifier of the authorization server.
    pub issuer: String,
    /// Resource identifier that the token is issued for.
    pub resource: String,
    /// Granted scopes. Empty if the authorization server did not report them.
    pub scopes: Vec<String>,
    /// Expiry of the access token, or `None` if the authorization server did not report it.
    pub expires_at: Option<SystemTime>,
    /// Time of the user's sign-in, or of the first use of the grant.
    pub signed_in_at: SystemTime,
    /// Time of the last renewal of the token, or `None` if it was not renewed yet.
    pub refreshed_at: Option<SystemTime>,
    /// `true` if the token can be renewed without the user.
    pub can_refresh: bool,
    /// Reason why the user must sign in again, or `None` if that is not necessary.
    pub ended: Option<String>,
    /// Kind of the client id that the app used.
    pub client: ClientKind,
    /// `true` if the token is bound to a key of this client (DPoP).
    pub bound: bool,
}

/// Kind of a client id at an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// Pre-registered client id from the settings.
    Preregistered,
    /// URL of a client ID metadata document (CIMD).
    MetadataDocument,
    /// Client id from dynamic client registration (RFC 7591).
    Registered,
    /// Client id that the user entered.
    Typed,
}

/// Result of a sign-out. The tokens are always removed from the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOutOutcome {
    /// Outcome of the revocation at the authorization server.
    pub revoked: RevocationOutcome,
}

/// Outcome of the revocation of tokens at the authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevocationOutcome {
    /// The tokens are revoked (RFC 7009).
    Yes,
    /// There was no token to revoke.
    NothingToRevoke,
    /// The authorization server has no revocation endpoint. The tokens stay valid until they expire.
    NotOffered,
    /// The revocation failed. The tokens may stay valid until they expire.
    Failed {
        /// Human-readable cause of the failure.
        cause: String,
    },
}

/// State of a sign-in that is in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthProgress {
    /// Current phase of the sign-in.
    pub phase: AuthPhase,
    /// Authorization request URL that was opened, for the user to open or copy. Contains the one-time state and PKCE
    /// challenge, which are useless without the secrets that are stored here.
    pub authorize_url: Option<Url>,
}
