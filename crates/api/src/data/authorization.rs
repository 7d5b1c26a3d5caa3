//! Authorization state of remote servers: the account, the current sign-in, and the recorded steps of the last one.
//! Contains no tokens, codes or client secrets.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{SignInFailure, SignInPhase, TokenStorage, UrlParts};

/// Authorization state of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// Name of the server in the settings.
    pub server: String,
    /// Reason why the server does not support signing in: it is local, or its settings have an `Authorization` header.
    /// `None` if the server supports it.
    pub unsupported_reason: Option<String>,
    /// Account that is signed in, or `None` if there is none.
    pub account: Option<Account>,
    /// Sign-in that is in progress, or `None` if there is none.
    pub in_progress: Option<SignInProgress>,
    /// Reason why the last sign-in failed, with the suggested remedy, or `None` if it did not fail.
    pub failure_message: Option<String>,
    /// Stable identifier of the failure's cause, or `None` if the last sign-in did not fail.
    pub failure: Option<SignInFailure>,
    /// Steps of the last sign-in, in order.
    pub steps: Vec<SignInStep>,
    /// Location where the tokens are stored, or `None` if there are no tokens.
    pub token_storage: Option<TokenStorage>,
}

/// Account that is signed in at an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Issuer identifier, exactly as in the authorization server's metadata.
    pub issuer: String,
    /// Issuer identifier parsed into its parts.
    pub issuer_url: UrlParts,
    /// Identifier of the resource (the MCP server) that the token is valid for.
    pub resource: String,
    /// Scopes of the token, as returned by the authorization server. Empty if it returned none.
    pub scopes: Vec<String>,
    /// Expiry of the token in milliseconds since 1970, if known.
    pub expires_at: Option<u64>,
    /// Time of the sign-in, in milliseconds since 1970.
    pub signed_in_at: u64,
    /// Time of the last token refresh, in milliseconds since 1970, or `None` if there was none.
    pub refreshed_at: Option<u64>,
    /// `true` if the token can be refreshed without the user.
    pub can_refresh: bool,
    /// Reason why the user has to sign in again, or `None` while the tokens are usable.
    pub reauthentication_reason: Option<String>,
    /// Origin of the client identifier that Drawbridge used.
    pub client: ClientIdentity,
    /// `true` if the token is bound to a key of this computer (DPoP).
    pub is_dpop_bound: bool,
}

/// Origin of Drawbridge's client identifier at an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClientIdentity {
    /// The client identifier is in the server's settings (pre-registered client).
    Configured,
    /// The client identifier is the URL of a client ID metadata document.
    MetadataDocument,
    /// The client identifier was issued by dynamic client registration (RFC 7591).
    Registered,
    /// The user entered the client identifier during the sign-in.
    Entered,
}

/// State of a sign-in that is in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInProgress {
    /// Phase of the sign-in, such as waiting for the browser.
    pub phase: SignInPhase,
    /// Reason why the sign-in was started.
    pub reason: SignInReason,
    /// Start of the sign-in, in milliseconds since 1970.
    pub since: u64,
    /// Time at which the sign-in fails if the browser has not returned, in milliseconds since 1970.
    pub ends_at: Option<u64>,
    /// URL of the authorization request, which the user can open in another browser. `None` unless the sign-in waits
    /// for the browser.
    pub authorization_url: Option<String>,
    /// Redirect URI, with which a pasted redirect URL has to start.
    pub redirect_uri: Option<String>,
    /// Reason why the browser could not be opened. The user can then open the URL manually.
    pub browser_problem: Option<String>,
}

/// Reason why a sign-in was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SignInReason {
    /// The user signs in to the server, and no other account is signed in.
    SignIn,
    /// The server requires scopes that the token does not have (step-up).
    StepUp {
        /// MCP method of the request that requires the scopes.
        operation: String,
    },
    /// The token is no longer valid, so the user has to sign in again.
    Again {
        /// Cause of the new sign-in, as a sentence for the user.
        cause: String,
    },
    /// The user wants to sign in with another account.
    ChangeAccount,
}

/// Step of a sign-in: a request with its response, or a conclusion. Secrets are replaced by `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInStep {
    /// Start of the sign-in step, in milliseconds since 1970.
    pub at: u64,
    /// Duration of the sign-in step, in milliseconds.
    pub duration_milliseconds: u64,
    /// Purpose of the sign-in step, as a sentence for the user.
    pub purpose: String,
    /// HTTP request of the step: method, URL, headers and body. `None` if the step is only a conclusion.
    pub request: Option<String>,
    /// HTTP response of the step: status, headers and body. `None` if the step is only a conclusion, or no response was
    /// received.
    pub response: Option<String>,
    /// Conclusion from the step, as a sentence for the user.
    pub conclusion: String,
    /// `true` if the sign-in failed at this step.
    pub failed: bool,
}

/// Result of revoking the tokens at the authorization server after a sign-out. Drawbridge deletes its copies of the
/// tokens in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "revoked", rename_all = "snake_case")]
pub enum SignOutOutcome {
    /// The authorization server revoked the tokens.
    Yes,
    /// The authorization server has no revocation endpoint.
    NotOffered,
    /// The revocation failed. The tokens stay valid at the authorization server until they expire.
    Failed {
        /// Cause of the failed revocation, as a sentence for the user.
        cause: String,
    },
    /// No account was signed in.
    NobodySignedIn,
}

/// Redirect URL that the user copied from the browser at the end of a sign-in.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
pub struct CompleteSignIn {
    /// Name of the server in the settings.
    pub server: String,
    /// Whole redirect URL, including its query.
    pub url: String,
}
