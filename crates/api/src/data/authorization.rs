//! Authorization state of remote servers: the account, the progress of a sign-in, and the requests of the last one.
//! Tokens, codes and client secrets are never included.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{SignInFailure, SignInPhase, TokenStorage, UrlParts};

/// Authorization state of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// Name of the server in the settings.
    pub server: String,
    /// Reason why signing in is not possible: the server is local, or its settings have an `Authorization` header.
    pub not_offered: Option<String>,
    /// Account that is signed in.
    pub account: Option<Account>,
    /// Sign-in that is in progress.
    pub in_progress: Option<SignInProgress>,
    /// Reason why the last sign-in failed, and the suggested remedy.
    pub failed: Option<String>,
    /// Stable identifier of the cause. Absent if the last sign-in did not fail.
    pub failure: Option<SignInFailure>,
    /// Steps of the last sign-in, in order.
    pub steps: Vec<SignInStep>,
    /// Storage of the tokens, once there are any.
    pub kept: Option<TokenStorage>,
}

/// Account that is signed in at an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Issuer of the token, exactly as in the authorization server's metadata.
    pub issuer: String,
    /// Issuer parsed into its parts.
    pub issuer_url: UrlParts,
    /// Resource that the token is valid for.
    pub resource: String,
    /// Scopes of the token as returned by the authorization server. Empty if it returned none.
    pub scopes: Vec<String>,
    /// Expiry of the token in milliseconds since 1970, if known.
    pub expires_at: Option<u64>,
    /// Time of the sign-in, in milliseconds since 1970.
    pub signed_in_at: u64,
    /// Time of the last token refresh, in milliseconds since 1970.
    pub refreshed_at: Option<u64>,
    /// `true` if the token can be refreshed without the user.
    pub can_refresh: bool,
    /// Reason why the user has to sign in again, if required.
    pub ended: Option<String>,
    /// Kind of client identifier that Drawbridge used.
    pub client: ClientIdentity,
    /// `true` if the token is bound to a key of this computer (DPoP).
    pub bound: bool,
}

/// Source of Drawbridge's client identifier at an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClientIdentity {
    /// Client identifier in the server's settings.
    Configured,
    /// URL of a client ID metadata document.
    MetadataDocument,
    /// Client identifier from dynamic client registration.
    Registered,
    /// Client identifier that the user entered.
    Entered,
}

/// Sign-in that is in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInProgress {
    /// Current phase of the sign-in.
    pub phase: SignInPhase,
    /// Reason for the sign-in.
    pub reason: SignInReason,
    /// Start of the sign-in, in milliseconds since 1970.
    pub since: u64,
    /// Time at which waiting for the browser times out, in milliseconds since 1970.
    pub ends_at: Option<u64>,
    /// URL of the authorization request, while the sign-in waits for the browser. The user can open it in another
    /// browser.
    pub authorization_url: Option<String>,
    /// Redirect URI. A pasted redirect URL has to begin with it.
    pub redirect_uri: Option<String>,
    /// Reason why the browser did not open, if it did not. The user can open the URL manually.
    pub browser_problem: Option<String>,
}

/// Reason for a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SignInReason {
    /// No account is signed in.
    SignIn,
    /// The server requires scopes that the token does not have (step-up).
    StepUp {
        /// MCP method that requires the scopes.
        operation: String,
    },
    /// The token is no longer valid.
    Again {
        /// Cause as a sentence for the user.
        cause: String,
    },
    /// The user requested another account.
    ChangeAccount,
}

/// Step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SignInStep {
    /// Start of the step, in milliseconds since 1970.
    pub at: u64,
    /// Duration of the step in milliseconds.
    pub took: u64,
    /// Purpose of the step as a sentence for the user.
    pub what: String,
    /// HTTP request: method, URL, headers, body.
    pub request: Option<String>,
    /// HTTP response: status, headers, body.
    pub answer: Option<String>,
    /// Conclusion as a sentence for the user.
    pub conclusion: String,
    /// `true` if the sign-in failed at this step.
    pub failed: bool,
}

/// Outcome of the token revocation at a sign-out. The local tokens are deleted in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "revoked", rename_all = "snake_case")]
pub enum SignOutOutcome {
    /// The authorization server revoked the tokens.
    Yes,
    /// The authorization server has no revocation endpoint.
    NotOffered,
    /// The revocation failed. The tokens stay valid at the authorization server until they expire.
    Failed {
        /// Cause as a sentence for the user.
        cause: String,
    },
    /// No account was signed in.
    NobodySignedIn,
}

/// Redirect URL that a browser was sent to at the end of a sign-in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PasteRedirect {
    /// Name of the server in the settings.
    pub server: String,
    /// Full redirect URL, with its query.
    pub url: String,
}
