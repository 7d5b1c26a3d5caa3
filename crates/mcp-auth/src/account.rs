//! Public view of a sign-in, which never contains a token.

use std::time::SystemTime;

use url::Url;

use crate::error::AuthPhase;

/// State of a sign-in at one authorization server. Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedInAccount {
    /// Issuer identifier of the authorization server at which the user signed in.
    pub issuer: String,
    /// Identifier of the resource (the MCP server) for which the token is issued.
    pub resource: String,
    /// Scopes that the authorization server granted. Empty if it did not report them.
    pub scopes: Vec<String>,
    /// Time at which the access token expires, or `None` if the authorization server did not report it.
    pub expires_at: Option<SystemTime>,
    /// Time at which the user signed in, or at which a grant without user interaction first succeeded.
    pub signed_in_at: SystemTime,
    /// Time of the last token renewal since the sign-in, or `None` if there was none.
    pub refreshed_at: Option<SystemTime>,
    /// `true` if the access token can be renewed without user interaction.
    pub can_refresh: bool,
    /// Reason why the sign-in has ended and the user must sign in again, or `None` while it is valid.
    pub ended: Option<String>,
    /// The way in which the app obtained the client id that it uses.
    pub client: ClientKind,
    /// `true` if the access token can be used only with proofs signed by a DPoP key of this app.
    pub bound: bool,
}

/// The way in which the app obtained its client id at an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// The client id was pre-registered and is contained in the settings.
    Preregistered,
    /// The client id is the URL of a client ID metadata document (CIMD).
    MetadataDocument,
    /// The authorization server issued the client id by dynamic client registration (RFC 7591).
    Registered,
    /// The user entered the client id during a sign-in.
    Typed,
}

/// Result of a sign-out. The tokens are removed from memory whatever the result is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOutOutcome {
    /// Tells if the tokens were revoked at the authorization server, or else the reason why not.
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

/// Progress of a running sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthProgress {
    /// Phase that the sign-in has reached.
    pub phase: AuthPhase,
    /// URL of the authorization request that was opened, for the user to open or copy. Contains the one-time state and
    /// PKCE challenge, which are useless without the secrets that this process stores.
    pub authorize_url: Option<Url>,
}
