//! The state of sign-ins as an observer sees it: the account, the phase of a sign-in, and the steps of the last one. It holds no token, code
//! or client secret. Callers: the owner of `host`, and `api`.

use std::fmt;

use domain::Millis;
use serde::{Deserialize, Serialize};

/// Why a server is not in use, though it was reached: it wants its user to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInNeeded {
    /// Why, in words.
    pub cause: String,
    /// Whether a sign-in is under way.
    pub signing_in: bool,
}

/// What is known of the sign-in to one server.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthorizationView {
    /// The server.
    pub server: String,
    /// Why there is no signing in to it, if there is none: it is a local program, or its settings have an `Authorization`
    /// header of their own.
    pub not_offered: Option<String>,
    /// Who is signed in.
    pub account: Option<AccountView>,
    /// The sign-in that is under way.
    pub in_progress: Option<SignInProgress>,
    /// Why the last sign-in did not come to its end, and what to do.
    pub failed: Option<String>,
    /// Stable identifier of that cause. `None` if the last sign-in did not fail.
    pub failure: Option<SignInFailure>,
    /// What the last sign-in did, the first step first.
    pub steps: Vec<SignInStep>,
    /// Where the tokens are kept, once there are any.
    pub kept: Option<TokensKept>,
}

/// Stable identifier of the cause for which a sign-in did not come to its end. The page has words and a button for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SignInFailure {
    /// The user denied the consent request. Nothing went wrong.
    Declined,
    /// The sign-in was cancelled.
    Cancelled,
    /// The browser did not come back within five minutes.
    TimedOut,
    /// No response came.
    Unreachable,
    /// A response has another status or content than the standard requires.
    BadResponse,
    /// An address that another party names is not safe to use.
    UnsafeUrl,
    /// The protected resource metadata is for another resource (RFC 9728, section 3.3).
    ResourceMismatch,
    /// An issuer is missing or differs from the one that was expected (RFC 8414, section 3.3, and RFC 9207).
    IssuerMismatch,
    /// The authorization server does not offer PKCE with S256 (RFC 7636).
    NoPkce,
    /// The server names no authorization server.
    NoAuthorizationServer,
    /// The authorization server accepts none of the ways to identify Drawbridge.
    NoClientId,
    /// The client id or issuer in the settings is for another authorization server.
    OtherIssuer,
    /// The authorization server responded with an OAuth error.
    Refused,
    /// The browser could not be opened.
    Browser,
    /// No port of this computer is free for the browser to come back to.
    Callback,
    /// Signing in to the server took too many requests within a minute.
    TooManyRequests,
    /// The keychain is locked.
    KeychainLocked,
    /// The system has no keychain.
    KeychainMissing,
    /// The tokens could not be stored or read.
    Storage,
    /// The private key or another secret in the settings can't be used.
    Key,
    /// The authorization server does not accept the method of client authentication in the settings.
    NoProof,
    /// The token is not bound to a key, which the settings require (RFC 9449).
    Unbound,
    /// The user did not approve something that the sign-in would send.
    NotApproved,
    /// No refresh token is left, or the authorization server no longer accepts it.
    SignInNeeded,
    /// A secret that the settings name can't be read, so that the sign-in can't begin.
    NotPrepared,
}

/// Who is signed in, as far as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountView {
    /// The authorization server that issued the token, exactly as it names itself.
    pub issuer: String,
    /// For which resource the token holds (RFC 8707).
    pub resource: String,
    /// What the token allows, in the words of the authorization server.
    pub scopes: Vec<String>,
    /// Until when it holds, if that is known.
    pub expires_at: Option<Millis>,
    /// When the user signed in.
    pub signed_in_at: Millis,
    /// When it was last refreshed.
    pub refreshed_at: Option<Millis>,
    /// Whether it can be refreshed without the user.
    pub can_refresh: bool,
    /// Why the user has to sign in again, if that is so.
    pub ended: Option<String>,
    /// How Drawbridge identified itself.
    pub client: ClientIdentity,
    /// Whether the token is bound to a key of this computer (DPoP, RFC 9449).
    pub bound: bool,
}

/// How Drawbridge identifies itself to an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ClientIdentity {
    /// With the id in the server's settings.
    Configured,
    /// With the URL of a document about itself (Client ID Metadata Document).
    MetadataDocument,
    /// With the id that it got when it registered itself (RFC 7591).
    Registered,
    /// With the id that the user entered.
    Entered,
}

/// An address that gets something of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignInEndpoint {
    /// The use of it.
    pub purpose: EndpointUse,
    /// The address.
    pub url: String,
    /// The authorization server whose endpoint it is said to be.
    pub issuer: String,
}

/// The use of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum EndpointUse {
    /// Gives and renews tokens for the server.
    Token,
    /// The identity provider's: it says who the user is.
    Provider,
    /// Drawbridge registered itself there.
    Registration,
    /// Tokens are sent there to be revoked.
    Revocation,
}

impl EndpointUse {
    /// As pins and hashes name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Provider => "provider",
            Self::Registration => "registration",
            Self::Revocation => "revocation",
        }
    }
}

/// A sign-in that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInProgress {
    /// What it is doing.
    pub phase: SignInPhase,
    /// Why it was begun.
    pub reason: SignInReason,
    /// When it was begun.
    pub since: Millis,
    /// When it ends by itself, while it waits for the browser.
    pub ends_at: Option<Millis>,
    /// The page that the browser was sent to, to be opened elsewhere, while it waits for the browser.
    pub authorization_url: Option<String>,
    /// Where the browser is sent back to; what `Host::paste_redirect` takes begins with it.
    pub redirect_uri: Option<String>,
    /// Why the browser did not open, if it did not. The page can be opened by hand.
    pub browser_problem: Option<String>,
}

/// What a sign-in is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SignInPhase {
    /// Finds out who issues tokens for the server, and registers there.
    Discovering,
    /// Its question waits in the queue.
    AwaitingConsent,
    /// The browser was opened; the user signs in there.
    AwaitingBrowser,
    /// Asks for the token.
    Exchanging,
}

/// Why a sign-in was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum SignInReason {
    /// Nobody is signed in.
    SignIn,
    /// The server wants more than what the token allows.
    StepUp {
        /// For this method.
        operation: String,
    },
    /// The token no longer holds, for this cause.
    Again(String),
    /// The user wants to sign in as somebody else.
    ChangeAccount,
}

/// One step of a sign-in: a request with its answer, or what was concluded. What is secret in it reads `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInStep {
    /// When it began.
    pub at: Millis,
    /// How long it took, in milliseconds.
    pub took: u64,
    /// What it was for, in words.
    pub what: String,
    /// What was sent: method, URL, headers, body.
    pub request: Option<String>,
    /// What came back: status, headers, body.
    pub answer: Option<String>,
    /// What was concluded, in words.
    pub conclusion: String,
}

/// Where tokens are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "where", rename_all = "snake_case")]
pub enum TokensKept {
    /// Encrypted, under a key in the system's keychain.
    Keychain,
    /// In memory until Drawbridge ends.
    ThisRun {
        /// Why they are not kept longer.
        cause: String,
    },
}

/// What became of a sign-out. The tokens are forgotten here in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOut {
    /// The authorization server was told that they no longer hold (RFC 7009).
    Revoked,
    /// The authorization server offers no way to tell it.
    RevocationNotOffered,
    /// It could not be told, for this cause. The tokens hold there until they expire.
    RevocationFailed(String),
    /// Nobody was signed in.
    NobodySignedIn,
}

/// The id by which an authorization server knows Drawbridge, as the user enters it.
#[derive(Clone, PartialEq, Eq)]
pub struct EnteredClient {
    /// The id.
    pub client_id: String,
    /// The secret that goes with it, if it has one.
    pub client_secret: Option<String>,
}

impl fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Why something about a sign-in can't be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// There is no signing in to it.
    #[error("{server}: {cause}")]
    NotOffered {
        /// The server.
        server: String,
        /// Why not.
        cause: String,
    },
    /// No sign-in is waiting for the browser.
    #[error("no sign-in to {0} is waiting for the browser; begin with \"sign in\"")]
    NotWaiting(String),
    /// What was pasted is not where the browser was sent back to.
    #[error("this is not the address the browser was sent to: {0}")]
    BadRedirect(String),
    /// What its settings name for it can't be had.
    #[error("{server}: {cause}")]
    NotPrepared {
        /// The server.
        server: String,
        /// What is missing, and what to do.
        cause: String,
    },
    /// The tokens could not be removed.
    #[error("{server}: the tokens could not be removed: {cause}")]
    NotRemoved {
        /// The server.
        server: String,
        /// Why not.
        cause: String,
    },
    /// Drawbridge is closing.
    #[error("Drawbridge is closing")]
    Closing,
}
