//! Sign-in to remote servers: who is signed in where, how far a sign-in under way is, and what the last one sent and got. No
//! token, code or client secret is ever in it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{SignInFailure, SignInPhase, TokensKept, UrlParts};

/// What is known of the sign-in to one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// The server.
    pub server: String,
    /// Why there is no signing in to it, if there is none: it is a local program, or its settings have an `Authorization`
    /// header of their own.
    pub not_offered: Option<String>,
    /// Who is signed in.
    pub account: Option<Account>,
    /// The sign-in that is under way.
    pub in_progress: Option<SignInProgress>,
    /// Why the last sign-in did not come to its end, and what to do.
    pub failed: Option<String>,
    /// Stable identifier of that cause. Absent if the last sign-in did not fail.
    pub failure: Option<SignInFailure>,
    /// What the last sign-in did, the first step first.
    pub steps: Vec<SignInStep>,
    /// Where the tokens are kept, once there are any.
    pub kept: Option<TokensKept>,
}

/// Who is signed in, as far as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The authorization server that issued the token, exactly as it names itself.
    pub issuer: String,
    /// The same, taken apart.
    pub issuer_url: UrlParts,
    /// For which resource the token holds.
    pub resource: String,
    /// What the token allows, in the words of the authorization server; none if it did not say.
    pub scopes: Vec<String>,
    /// Until when it holds, if that is known, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// When the user signed in, in milliseconds since 1970.
    pub signed_in_at: u64,
    /// When it was last refreshed, in milliseconds since 1970.
    pub refreshed_at: Option<u64>,
    /// Whether it can be refreshed without the user.
    pub can_refresh: bool,
    /// Why the user has to sign in again, if that is so.
    pub ended: Option<String>,
    /// How Drawbridge identified itself.
    pub client: ClientIdentity,
    /// Whether the token is bound to a key of this computer (DPoP).
    pub bound: bool,
}

/// How Drawbridge identifies itself to an authorization server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClientIdentity {
    /// With the id in the server's settings.
    Configured,
    /// With the URL of a document about itself.
    MetadataDocument,
    /// With the id that it got when it registered itself.
    Registered,
    /// With the id that the user entered.
    Entered,
}

/// A sign-in that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInProgress {
    /// What it is doing.
    pub phase: SignInPhase,
    /// Why it was begun.
    pub reason: SignInReason,
    /// When it was begun, in milliseconds since 1970.
    pub since: u64,
    /// When it ends by itself, in milliseconds since 1970, while it waits for the browser.
    pub ends_at: Option<u64>,
    /// The page that the browser was sent to, to be opened elsewhere, while it waits for the browser.
    pub authorization_url: Option<String>,
    /// Where the browser is sent back to; what is pasted begins with it.
    pub redirect_uri: Option<String>,
    /// Why the browser did not open, if it did not. The page can be opened by hand.
    pub browser_problem: Option<String>,
}

/// Why a sign-in was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum SignInReason {
    /// Nobody is signed in.
    SignIn,
    /// The server wants more than what the token allows.
    StepUp {
        /// For this method of the protocol.
        operation: String,
    },
    /// The token no longer holds.
    Again {
        /// Why, in words.
        cause: String,
    },
    /// The user wants to sign in as somebody else.
    ChangeAccount,
}

/// One step of a sign-in: a request with its answer, or what was concluded. What is secret in it reads `[redacted]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SignInStep {
    /// When it began, in milliseconds since 1970.
    pub at: u64,
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
    /// Whether it is where the sign-in broke off.
    pub failed: bool,
}

/// What became of a sign-out. The tokens are forgotten here in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "revoked", rename_all = "snake_case")]
pub enum SignedOut {
    /// The authorization server was told that they no longer hold.
    Yes,
    /// The authorization server offers no way to tell it.
    NotOffered,
    /// It could not be told. The tokens hold there until they expire.
    Failed {
        /// Why, in words.
        cause: String,
    },
    /// Nobody was signed in.
    NobodySignedIn,
}

/// The address that a browser was sent back to at the end of a sign-in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PasteRedirect {
    /// The server.
    pub server: String,
    /// The address, whole.
    pub url: String,
}
