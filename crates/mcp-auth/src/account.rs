//! What may be told of a sign-in: never a token.

use std::time::SystemTime;

use url::Url;

use crate::error::Phase;

/// Who is signed in where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The authorization server's issuer identifier.
    pub issuer: String,
    /// The resource that the token is for.
    pub resource: String,
    /// The granted scopes; empty if the authorization server did not say.
    pub scopes: Vec<String>,
    /// When the access token ends, if the authorization server said.
    pub expires_at: Option<SystemTime>,
    /// When the user signed in, or the grant was first used.
    pub signed_in_at: SystemTime,
    /// When the token was last renewed.
    pub refreshed_at: Option<SystemTime>,
    /// Whether it can be renewed without the user.
    pub can_refresh: bool,
    /// Why the user must sign in again, when that is so.
    pub ended: Option<String>,
    /// How the app identified itself.
    pub client: ClientKind,
    /// Whether the token is bound to a key of ours (DPoP).
    pub bound: bool,
}

/// How the app identifies itself to an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientKind {
    /// By a client id set up before, in settings.
    Preregistered,
    /// By the URL of a document about itself (CIMD).
    MetadataDocument,
    /// By a client id that it registered for itself (RFC 7591).
    Registered,
    /// By a client id that the user typed.
    Typed,
}

/// What a sign-out did beyond forgetting the tokens, which it always does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedOut {
    /// What became of them at the authorization server.
    pub revoked: Revoked,
}

/// What became of tokens at the authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// They are void (RFC 7009).
    Yes,
    /// There was nothing to revoke.
    NothingToRevoke,
    /// The authorization server offers no revocation; they end by themselves.
    NotOffered,
    /// It failed; they may work until they end by themselves.
    Failed {
        /// Why, in words.
        cause: String,
    },
}

/// A sign-in under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgress {
    /// What it is at.
    pub phase: Phase,
    /// Where the browser was sent, to be opened or copied by hand. It holds the one-use state and challenge, which are
    /// of use only together with the secrets that stay here.
    pub authorize_url: Option<Url>,
}
