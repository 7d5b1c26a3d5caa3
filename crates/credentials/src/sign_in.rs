//! State of sign-ins that the user can observe: the account, the phase of the current sign-in, and the steps of the
//! last one. Contains no tokens, codes or client secrets. Used by the owner of `host` and by `api`.

pub mod conversion;

use std::fmt;

use domain::Millis;
use serde::{Deserialize, Serialize};

/// Details of the state of a server that responded, but requires the user to sign in. Not a failure of a sign-in, such
/// as [`SignInFailure::SignInNeeded`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInNeeded {
    /// Reason why signing in is required, as text for the user.
    pub cause: String,
    /// Set if a sign-in is in progress.
    pub signing_in: bool,
}

/// Authorization state of one server.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthorizationView {
    /// Name of the server in the settings.
    pub server: String,
    /// Reason why the user can't sign in to the server: it is a local process, or its settings contain an
    /// `Authorization` header. `None` if the user can sign in.
    pub not_offered: Option<String>,
    /// Account that is signed in, or `None` if there is none.
    pub account: Option<AccountView>,
    /// Current sign-in, or `None` if none is in progress.
    pub in_progress: Option<SignInProgress>,
    /// Reason why the last sign-in failed, with a suggested remedy.
    pub failed: Option<String>,
    /// Stable identifier of the reason why the last sign-in failed, or `None` if it did not fail.
    pub failure: Option<SignInFailure>,
    /// Steps of the last sign-in, in order.
    pub steps: Vec<SignInStep>,
    /// Storage of the tokens, or `None` if there are none.
    pub token_storage: Option<TokenStorage>,
}

/// Stable identifier of the reason why a sign-in failed. The page has a message and suggested actions for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SignInFailure {
    /// The user denied the consent request for the sign-in.
    Declined,
    /// The user cancelled the sign-in.
    Cancelled,
    /// The browser was not redirected back within five minutes.
    TimedOut,
    /// The server or the authorization server did not respond.
    Unreachable,
    /// A response violates the OAuth specifications, for example by its status or content.
    BadResponse,
    /// A URL from the server or the authorization server is not safe to use.
    UnsafeUrl,
    /// The protected resource metadata describes another resource (RFC 9728, section 3.3).
    ResourceMismatch,
    /// The issuer is missing or differs from the expected one (RFC 8414, section 3.3, and RFC 9207).
    IssuerMismatch,
    /// The authorization server does not support PKCE with S256 (RFC 7636).
    NoPkce,
    /// The server's metadata contains no authorization server.
    NoAuthorizationServer,
    /// The authorization server supports none of the client registration methods of Drawbridge.
    NoClientId,
    /// The client id or the issuer in the settings belongs to another authorization server.
    OtherIssuer,
    /// The authorization server responded to a request with an OAuth error.
    Refused,
    /// The browser could not be opened.
    Browser,
    /// No local port is available for the redirect URI.
    Callback,
    /// The sign-in sent too many requests within a minute.
    TooManyRequests,
    /// The keychain is locked.
    KeychainLocked,
    /// The system has no keychain.
    KeychainMissing,
    /// The tokens could not be written to the secret store or read from it.
    Storage,
    /// The private key or another secret in the server's settings can't be used, for example because it can't be
    /// parsed.
    Key,
    /// The authorization server does not support the client authentication method in the settings.
    NoProof,
    /// The token is not bound to a key (DPoP, RFC 9449), although the settings require it.
    Unbound,
    /// The user did not approve an endpoint or a scope that the sign-in needs.
    NotApproved,
    /// The user must sign in: there is no refresh token, or the authorization server rejects it. Stands for
    /// `AuthErrorCause::SignInNeeded` of `mcp-auth`.
    SignInNeeded,
    /// A secret that the settings reference can't be read, so the sign-in can't start.
    NotPrepared,
}

/// Account that is signed in at an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountView {
    /// Issuer identifier, exactly as in the authorization server's metadata.
    pub issuer: String,
    /// Resource that the token is valid for (RFC 8707).
    pub resource: String,
    /// Scopes of the token, as returned by the authorization server.
    pub scopes: Vec<String>,
    /// Time at which the token expires, in milliseconds since 1970, or `None` if the authorization server stated none.
    pub expires_at: Option<Millis>,
    /// Time at which the user signed in, in milliseconds since 1970.
    pub signed_in_at: Millis,
    /// Time of the last token refresh, in milliseconds since 1970, or `None` if the token was never refreshed.
    pub refreshed_at: Option<Millis>,
    /// Set if the token can be refreshed without the user.
    pub can_refresh: bool,
    /// Reason why the user has to sign in again, or `None` if the tokens are usable.
    pub ended: Option<String>,
    /// Origin of the client id that Drawbridge uses.
    pub client: ClientIdentity,
    /// Set if the token is bound to a key of this computer (DPoP, RFC 9449).
    pub bound: bool,
}

/// Origin of Drawbridge's client id at an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ClientIdentity {
    /// The client id is in the server's settings (pre-registered client).
    Configured,
    /// The client id is the URL of a client ID metadata document.
    MetadataDocument,
    /// The client id is from dynamic client registration (RFC 7591).
    Registered,
    /// The user entered the client id during the sign-in.
    Entered,
}

/// Endpoint that receives credentials during or after a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignInEndpoint {
    /// Purpose for which the endpoint receives data.
    pub purpose: EndpointUse,
    /// URL to which the data of the sign-in is sent.
    pub url: String,
    /// Issuer identifier of the authorization server whose metadata lists the endpoint.
    pub issuer: String,
}

/// Purpose of an endpoint in a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum EndpointUse {
    /// Token endpoint, which issues and refreshes tokens for the server.
    Token,
    /// Token endpoint of the identity provider, which issues identity assertions.
    Provider,
    /// Endpoint for dynamic client registration.
    Registration,
    /// Endpoint for token revocation.
    Revocation,
}

impl EndpointUse {
    /// Returns the stable name of this purpose, which becomes part of the stored identity of a server and its hash.
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

/// Sign-in that is in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInProgress {
    /// Phase that the sign-in has reached.
    pub phase: SignInPhase,
    /// Reason why the sign-in was started.
    pub reason: SignInReason,
    /// Time at which the sign-in started, in milliseconds since 1970.
    pub since: Millis,
    /// Time until which the sign-in waits for the browser to return to the redirect URI, in milliseconds since 1970, or
    /// `None` in other phases.
    pub ends_at: Option<Millis>,
    /// URL of the authorization request that was opened in the browser. The user can open it in another browser. `None`
    /// unless the sign-in waits for the browser.
    pub authorization_url: Option<String>,
    /// Redirect URI, with which the input of `Host::paste_redirect` has to start.
    pub redirect_uri: Option<String>,
    /// Reason why the browser could not be opened, or `None` if it was. The user can then open the URL manually.
    pub browser_problem: Option<String>,
}

/// Phase of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SignInPhase {
    /// Drawbridge requests the metadata, and registers as a client if required.
    Discovering,
    /// Drawbridge waits for the user's decision on the consent request.
    AwaitingConsent,
    /// Drawbridge waits for the user to sign in in the browser.
    AwaitingBrowser,
    /// Drawbridge exchanges the authorization code for tokens.
    Exchanging,
}

/// Reason why a sign-in was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum SignInReason {
    /// No account is signed in.
    SignIn,
    /// The server requires scopes beyond those of the token (step-up).
    StepUp {
        /// MCP method of the request that the server refused because it requires the scopes.
        operation: String,
    },
    /// The token is no longer valid, so the user has to sign in again. Contains the reason, as a sentence for the user.
    Again(String),
    /// The user requested to sign in with another account.
    ChangeAccount,
}

/// Recorded step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInStep {
    /// Time at which the step started, in milliseconds since 1970.
    pub at: Millis,
    /// Duration of the step, in milliseconds.
    pub duration_milliseconds: u64,
    /// Purpose of the step, as a sentence for the user.
    pub purpose: String,
    /// HTTP request of the step: method, URL, headers and body. `None` for a conclusion.
    pub request: Option<String>,
    /// HTTP response of the step: status, headers and body. `None` for a conclusion or without a response.
    pub response: Option<String>,
    /// Conclusion from the step, as a sentence for the user.
    pub conclusion: String,
}

/// Storage of the tokens of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "where", rename_all = "snake_case")]
pub enum TokenStorage {
    /// Encrypted on disk, with a key in the system's keychain.
    Keychain,
    /// In the memory of this process, so that the tokens are lost when Drawbridge exits.
    ThisRun {
        /// Reason why the tokens are not stored permanently.
        cause: String,
    },
}

/// Result of revoking the tokens at a sign-out. The local tokens are deleted in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignOutOutcome {
    /// The authorization server revoked the tokens (RFC 7009).
    Revoked,
    /// The authorization server has no revocation endpoint.
    RevocationNotOffered,
    /// The revocation failed, for this reason. The tokens remain valid until they expire.
    RevocationFailed(String),
    /// No account was signed in.
    NobodySignedIn,
}

/// Client id and client secret, issued by an authorization server, that the user entered during a sign-in.
#[derive(Clone, PartialEq, Eq)]
pub struct EnteredClient {
    /// Client id that the authorization server assigned.
    pub client_id: String,
    /// Client secret of the client, or `None` for a public client.
    pub client_secret: Option<String>,
}

impl fmt::Debug for EnteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnteredClient").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Error of a command that starts, completes, cancels or reverses a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignInError {
    /// No server has this name.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The server does not support signing in.
    #[error("{server}: {cause}")]
    NotOffered {
        /// Name of the server in the settings.
        server: String,
        /// Reason why the server does not support signing in, as text for the user.
        cause: String,
    },
    /// No sign-in to the server with this name waits for the browser, so a pasted URL can't continue one.
    #[error("no sign-in to {0} is waiting for the browser; begin with \"sign in\"")]
    NotWaiting(String),
    /// The pasted URL is not the redirect URL of this sign-in.
    #[error("this is not the address the browser was sent to: {0}")]
    BadRedirect(String),
    /// A secret that the server's settings reference is missing or can't be read.
    #[error("{server}: {cause}")]
    NotPrepared {
        /// Name of the server in the settings.
        server: String,
        /// Reason why the secret is missing or unreadable, with a suggested remedy for the user.
        cause: String,
    },
    /// The tokens could not be deleted from the secret store.
    #[error("{server}: the tokens could not be removed: {cause}")]
    NotRemoved {
        /// Name of the server in the settings.
        server: String,
        /// Cause of the failure, as text for the user.
        cause: String,
    },
    /// The host is shutting down.
    #[error("Drawbridge is closing")]
    Closing,
}
