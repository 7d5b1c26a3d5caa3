//! Errors of sign-ins: the phase, the cause and the next step. No text contains a secret.

use std::fmt;

use crate::vault::{VaultError, VaultProblem};

/// Failure of a sign-in, renewal or sign-out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{cause}", message_prefix_text(*.phase, .cause))]
pub struct AuthError {
    /// Phase in which the operation failed.
    pub phase: AuthPhase,
    /// Cause of the failure, with the data for its message.
    pub cause: AuthErrorCause,
}

impl AuthError {
    /// Returns `true` if the authorization server responded with an OAuth error.
    pub(crate) fn is_oauth_error_response(&self) -> bool {
        matches!(self.cause, AuthErrorCause::Refused { .. })
    }

    /// Returns the action that the user can take, as one sentence.
    pub fn next_step(&self) -> &'static str {
        match &self.cause {
            AuthErrorCause::Declined | AuthErrorCause::Cancelled => "Sign in when you want to use this server.",
            AuthErrorCause::TimedOut => "Start the sign-in again and finish it in the browser within five minutes.",
            AuthErrorCause::Unreachable { .. } => "Check the connection and the address, then try again.",
            AuthErrorCause::Status { .. } | AuthErrorCause::Unreadable { .. } => {
                "Try again later; if it keeps failing, send the steps of this sign-in to the server's operator."
            }
            AuthErrorCause::UnsafeUrl { .. }
            | AuthErrorCause::ResourceMismatch { .. }
            | AuthErrorCause::IssuerMismatch { .. }
            | AuthErrorCause::IssuerMissing => {
                "Do not continue; send the steps of this sign-in to the server's operator."
            }
            AuthErrorCause::NoPkce { .. } => {
                "Ask the operator of the authorization server to support PKCE with S256; without it a code could be stolen."
            }
            AuthErrorCause::NoAuthorizationServer => {
                "If the server takes an API key, put it into the headers of this server's settings."
            }
            AuthErrorCause::NoClientId { .. } => {
                "Get a client id from the operator of the authorization server and put it into this server's settings."
            }
            AuthErrorCause::OtherIssuer { .. } => "Correct the issuer and the client id in this server's settings.",
            AuthErrorCause::Refused { .. } => {
                "Sign in again; if it is refused again, ask the operator of the authorization server."
            }
            AuthErrorCause::Browser { .. } => "Copy the address of the sign-in into a browser.",
            AuthErrorCause::Callback { .. } => {
                "Close what uses this computer's ports, or allow connections to 127.0.0.1, then try again."
            }
            AuthErrorCause::TooManyRequests => "Wait a minute, then try again.",
            AuthErrorCause::Vault(error) => match error.kind {
                VaultProblem::Locked => "Unlock the keychain, then try again.",
                VaultProblem::Missing => {
                    "Start a keychain (on Linux GNOME Keyring or KWallet), then try again; without one a sign-in lasts until the app is closed."
                }
                VaultProblem::Broken => "Fix the problem described here, then try again.",
                VaultProblem::Closed => "Sign in again if the server is still in the settings.",
            },
            AuthErrorCause::Key { .. } => "Correct the private key in this server's settings.",
            AuthErrorCause::NoProof { .. } => {
                "Configure a supported method in this server's settings, or ask the operator of the authorization server."
            }
            AuthErrorCause::Unbound => {
                "Ask the operator of the authorization server to bind tokens (DPoP), or remove `dpop` from this server's settings and sign in again."
            }
            AuthErrorCause::NotApproved { .. } => "Sign in again to review it and decide.",
            AuthErrorCause::SignInNeeded { .. } => "Sign in again.",
        }
    }
}

/// Phase of a sign-in or of a later operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthPhase {
    /// Discovery of the authorization server through the protected resource metadata (RFC 9728).
    ResourceMetadata,
    /// Request for the authorization server metadata (RFC 8414, OpenID Connect Discovery).
    ServerMetadata,
    /// Selection or registration of a client id.
    ClientId,
    /// Consent request to the user.
    Consent,
    /// Opening of the authorization request in the browser.
    Browser,
    /// Waiting for the authorization response.
    Callback,
    /// Requests to the organization's identity provider.
    IdentityProvider,
    /// Token request with a new grant, such as an authorization code.
    Token,
    /// Token request with a refresh token.
    Refresh,
    /// Reading or writing the vault.
    Storage,
    /// Revocation of the tokens (RFC 7009).
    Revocation,
}

impl fmt::Display for AuthPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AuthPhase::ResourceMetadata => "finding the authorization server",
            AuthPhase::ServerMetadata => "reading what the authorization server offers",
            AuthPhase::ClientId => "identifying the app to the authorization server",
            AuthPhase::Consent => "asking for consent",
            AuthPhase::Browser => "opening the browser",
            AuthPhase::Callback => "waiting for the browser",
            AuthPhase::IdentityProvider => "asking the organization's identity provider",
            AuthPhase::Token => "getting the token",
            AuthPhase::Refresh => "renewing the token",
            AuthPhase::Storage => "keeping the sign-in",
            AuthPhase::Revocation => "revoking the tokens",
        })
    }
}

/// Cause of the failure of a sign-in, renewal or sign-out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthErrorCause {
    /// The user declined the consent request.
    #[error("you declined the sign-in")]
    Declined,
    /// The caller cancelled the operation.
    #[error("it was cancelled")]
    Cancelled,
    /// No authorization response arrived in time.
    #[error("the browser did not come back within five minutes")]
    TimedOut,
    /// A server did not respond to a request of the app.
    #[error("{address} could not be reached: {cause}")]
    Unreachable {
        /// Requested URL without its query.
        address: String,
        /// Human-readable cause of the failure.
        cause: String,
    },
    /// A response has an unexpected HTTP status.
    #[error("{address} answered {status}")]
    Status {
        /// Requested URL without its query.
        address: String,
        /// HTTP status code of the response.
        status: u16,
    },
    /// The content of a response cannot be used.
    #[error("the answer of {address} cannot be used: {cause}")]
    Unreadable {
        /// Requested URL without its query.
        address: String,
        /// Human-readable cause of the failure.
        cause: String,
    },
    /// A URL from metadata or from a challenge must not be used, because it may lead to a private network or is not
    /// encrypted.
    #[error("the address of {what} is not used, because {cause}: {shown}")]
    UnsafeUrl {
        /// Name of the endpoint or document that has the URL, for the error message.
        what: &'static str,
        /// The URL, escaped and truncated for display.
        shown: String,
        /// Human-readable reason for the rejection.
        cause: String,
    },
    /// The protected resource metadata describes another resource.
    #[error("the server's metadata is for {resource}, which is not {server}")]
    ResourceMismatch {
        /// URL of the server whose metadata was requested.
        server: String,
        /// Resource identifier in the metadata.
        resource: String,
    },
    /// The issuer in a document or parameter differs from the expected issuer.
    #[error("{place} names the issuer {found}, but it must be exactly {expected}")]
    IssuerMismatch {
        /// Description of the document or parameter that contains the wrong issuer.
        place: &'static str,
        /// Issuer from which the document or parameter was requested.
        expected: String,
        /// Issuer in the document or parameter.
        found: String,
    },
    /// The authorization response has no `iss` parameter, although the metadata promises one.
    #[error("the authorization response does not name its issuer, although the metadata promises it")]
    IssuerMissing,
    /// The metadata does not list the PKCE method S256.
    #[error("the authorization server {issuer} does not declare support for PKCE with S256")]
    NoPkce {
        /// Issuer of the authorization server.
        issuer: String,
    },
    /// The protected resource metadata lists no authorization server.
    #[error("the server names no authorization server")]
    NoAuthorizationServer,
    /// The app cannot obtain a client id in any supported way.
    #[error(
        "the authorization server {issuer} supports no way for this app to identify itself, and no client id was given"
    )]
    NoClientId {
        /// Issuer of the authorization server.
        issuer: String,
    },
    /// A configured value, such as a client id, belongs to an authorization server other than the one in use.
    #[error("{what} is for {expected}, but the server now uses {found}")]
    OtherIssuer {
        /// Description of the configured value, such as `the client id in the settings`.
        what: &'static str,
        /// Issuer to which the configured value belongs.
        expected: String,
        /// Issuer of the authorization server that the MCP server names.
        found: String,
    },
    /// The authorization server returned an OAuth error response.
    #[error("the authorization server refused: {code}{}", description_suffix(.description.as_deref()))]
    Refused {
        /// OAuth error code of the response.
        code: String,
        /// Escaped and truncated error description.
        description: Option<String>,
    },
    /// The system browser could not be opened.
    #[error("the browser could not be opened: {cause}")]
    Browser {
        /// Human-readable cause of the failure.
        cause: String,
    },
    /// The redirect listener on the loopback address failed.
    #[error("the browser cannot return to this app: {cause}")]
    Callback {
        /// Human-readable cause of the failure.
        cause: String,
    },
    /// Too many requests were sent within a minute.
    #[error(
        "signing in to this server already took {} requests within a minute",
        crate::request_budget::MAX_REQUESTS_PER_WINDOW
    )]
    TooManyRequests,
    /// The vault, which stores tokens and registrations, returned an error.
    #[error(transparent)]
    Vault(VaultError),
    /// The private key or another configured secret cannot be used.
    #[error("the key cannot be used: {cause}")]
    Key {
        /// Human-readable cause, without the key.
        cause: String,
    },
    /// The authorization server does not support the configured method of client authentication or, for signed
    /// assertions, the configured algorithm.
    #[error("the authorization server does not support {method}; it lists {listed}")]
    NoProof {
        /// Configured authentication method or algorithm.
        method: String,
        /// Authentication methods or algorithms in the metadata, escaped and truncated.
        listed: String,
    },
    /// The authorization server issued a token that is not bound to a key, although the settings require DPoP (RFC
    /// 9449).
    #[error("the authorization server gave a token that is bound to no key, which the settings of this server require")]
    Unbound,
    /// A grant without user interaction needs an endpoint or a scope that the user has not approved.
    #[error("{what}, which was not approved")]
    NotApproved {
        /// Human-readable description of the endpoint or scope.
        what: String,
    },
    /// No usable token exists, and none can be obtained without the user. The app reports it as
    /// `SignInFailure::SignInNeeded` (`credentials/src/sign_in.rs`).
    #[error("{cause}")]
    SignInNeeded {
        /// Human-readable reason why the user must sign in.
        cause: String,
    },
}

/// Returns the name of the phase as the beginning of an error message, or an empty text if the user declined, since
/// nothing failed.
fn message_prefix_text(phase: AuthPhase, cause: &AuthErrorCause) -> String {
    if *cause == AuthErrorCause::Declined { String::new() } else { format!("{phase} failed: ") }
}

fn description_suffix(description: Option<&str>) -> String {
    description.map(|text| format!(" ({text})")).unwrap_or_default()
}

impl AuthPhase {
    /// Returns an error that occurred in this phase.
    pub(crate) fn error(self, cause: AuthErrorCause) -> AuthError {
        AuthError { phase: self, cause }
    }
}
