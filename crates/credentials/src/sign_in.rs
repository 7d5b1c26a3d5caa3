//! Observable state of sign-ins: the account, the phase of a sign-in, and the steps of the last one. It contains no
//! token, code or client secret. Used by the owner of `host` and by `api`.

use std::fmt;

use domain::Millis;
use serde::{Deserialize, Serialize};

/// State of a server that was reached, but requires its user to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInNeeded {
    /// Reason as text for the user.
    pub cause: String,
    /// Set if a sign-in is in progress.
    pub signing_in: bool,
}

/// The sign-in state of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthorizationView {
    /// Name of the server.
    pub server: String,
    /// Reason why the server does not support signing in, or `None` if it does: it is a local program, or its settings
    /// contain an `Authorization` header.
    pub not_offered: Option<String>,
    /// Signed-in account, or `None` if nobody is signed in.
    pub account: Option<AccountView>,
    /// Sign-in in progress, if any.
    pub in_progress: Option<SignInProgress>,
    /// Reason why the last sign-in failed, with the next step for the user.
    pub failed: Option<String>,
    /// Stable identifier of the cause. `None` if the last sign-in did not fail.
    pub failure: Option<SignInFailure>,
    /// Steps of the last sign-in, in order.
    pub steps: Vec<SignInStep>,
    /// Storage of the tokens, or `None` if there are none.
    pub kept: Option<TokenStorage>,
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
    /// No response from the server or the authorization server arrived.
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

/// The signed-in account, as far as the authorization server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountView {
    /// Issuer identifier of the authorization server, exactly as it names itself.
    pub issuer: String,
    /// Resource that the token is valid for (RFC 8707).
    pub resource: String,
    /// Scopes of the token, as the authorization server names them.
    pub scopes: Vec<String>,
    /// Expiry of the token, or `None` if unknown.
    pub expires_at: Option<Millis>,
    /// Time at which the user signed in.
    pub signed_in_at: Millis,
    /// Time of the last token refresh, if any.
    pub refreshed_at: Option<Millis>,
    /// Set if the token can be refreshed without the user.
    pub can_refresh: bool,
    /// Reason why the user has to sign in again, or `None` if the account is usable.
    pub ended: Option<String>,
    /// Client identification that Drawbridge used.
    pub client: ClientIdentity,
    /// Set if the token is bound to a key of this computer (DPoP, RFC 9449).
    pub bound: bool,
}

/// Client identification towards an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ClientIdentity {
    /// Pre-registered client id from the server's settings.
    Configured,
    /// URL of a Client ID Metadata Document.
    MetadataDocument,
    /// Client id from dynamic client registration (RFC 7591).
    Registered,
    /// Client id entered by the user.
    Entered,
}

/// An address that receives credentials during or after a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignInEndpoint {
    /// Purpose of the endpoint.
    pub purpose: EndpointUse,
    /// URL of the endpoint.
    pub url: String,
    /// Issuer identifier of the authorization server that is said to operate the endpoint.
    pub issuer: String,
}

/// The purpose of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum EndpointUse {
    /// Issues and refreshes tokens for the server.
    Token,
    /// Issues identity assertions, as an endpoint of the identity provider.
    Provider,
    /// Registers clients of the authorization server.
    Registration,
    /// Revokes tokens that are no longer needed.
    Revocation,
}

impl EndpointUse {
    /// Returns the name of this purpose in pins and hashes.
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

/// A sign-in in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInProgress {
    /// Current phase of the sign-in.
    pub phase: SignInPhase,
    /// Reason for starting the sign-in.
    pub reason: SignInReason,
    /// Time at which the sign-in started.
    pub since: Millis,
    /// Deadline of the wait for the browser, or `None` in other phases.
    pub ends_at: Option<Millis>,
    /// Authorization URL that was opened in the browser, for opening it elsewhere. `None` unless the sign-in waits for
    /// the browser.
    pub authorization_url: Option<String>,
    /// Redirect URI. The input of `Host::paste_redirect` starts with it.
    pub redirect_uri: Option<String>,
    /// Reason why the browser did not open, or `None` if it did. The user can open the URL by hand.
    pub browser_problem: Option<String>,
}

/// The phase of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SignInPhase {
    /// Discovers the authorization server, and registers the client there.
    Discovering,
    /// Waits for the user's decision on the consent request.
    AwaitingConsent,
    /// Waits for the user to sign in in the browser.
    AwaitingBrowser,
    /// Exchanges the authorization code for a token.
    Exchanging,
}

/// Reason for starting a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum SignInReason {
    /// Nobody is signed in.
    SignIn,
    /// The server requires scopes beyond those of the token (step-up).
    StepUp {
        /// Method of the request that required them.
        operation: String,
    },
    /// The token is no longer valid, for this reason.
    Again(String),
    /// The user wants to sign in with another account.
    ChangeAccount,
}

/// A step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInStep {
    /// Time at which the step started.
    pub at: Millis,
    /// Duration of the step, in milliseconds.
    pub took: u64,
    /// Purpose of the step, as text.
    pub what: String,
    /// Request that was sent: method, URL, headers, and body.
    pub request: Option<String>,
    /// Response that was received: status, headers, and body.
    pub answer: Option<String>,
    /// Conclusion of the step, as text.
    pub conclusion: String,
}

/// Storage of the tokens of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "where", rename_all = "snake_case")]
pub enum TokenStorage {
    /// Encrypted on disk, with a key in the system's keychain.
    Keychain,
    /// In memory, until Drawbridge exits.
    ThisRun {
        /// Reason why the tokens are not stored permanently.
        cause: String,
    },
}

/// Result of signing out. The local tokens are removed in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignOutOutcome {
    /// The authorization server revoked the tokens (RFC 7009).
    Revoked,
    /// The authorization server offers no revocation endpoint.
    RevocationNotOffered,
    /// The revocation failed, for this reason. The tokens remain valid until they expire.
    RevocationFailed(String),
    /// Nobody was signed in.
    NobodySignedIn,
}

/// A client id at an authorization server, entered by the user.
#[derive(Clone, PartialEq, Eq)]
pub struct EnteredClient {
    /// Client id that the authorization server assigned.
    pub client_id: String,
    /// Client secret that belongs to the id, if any.
    pub client_secret: Option<String>,
}

impl fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Error of an operation on sign-ins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// No server has this name.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The server does not support signing in.
    #[error("{server}: {cause}")]
    NotOffered {
        /// Name of the server.
        server: String,
        /// Reason, as text for the user.
        cause: String,
    },
    /// No sign-in to this server is waiting for the browser.
    #[error("no sign-in to {0} is waiting for the browser; begin with \"sign in\"")]
    NotWaiting(String),
    /// The pasted address is not a redirect of this sign-in.
    #[error("this is not the address the browser was sent to: {0}")]
    BadRedirect(String),
    /// Something that the server's settings reference is not available.
    #[error("{server}: {cause}")]
    NotPrepared {
        /// Name of the server.
        server: String,
        /// Cause with the next step for the user.
        cause: String,
    },
    /// The tokens could not be removed from the secret store.
    #[error("{server}: the tokens could not be removed: {cause}")]
    NotRemoved {
        /// Name of the server.
        server: String,
        /// Cause of the failure.
        cause: String,
    },
    /// The host is shutting down.
    #[error("Drawbridge is closing")]
    Closing,
}
