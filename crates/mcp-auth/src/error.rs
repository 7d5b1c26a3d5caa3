//! Why a sign-in failed: at which step, the cause, and what to do. No text here ever holds a secret.

use std::fmt;

use crate::vault::{VaultError, VaultProblem};

/// A sign-in, renewal or sign-out that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{cause}", failed(*.phase, .cause))]
pub struct AuthError {
    /// At which step.
    pub phase: Phase,
    /// Why.
    pub cause: Cause,
}

impl AuthError {
    /// Whether the authorization server refused.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.cause, Cause::Refused { .. })
    }

    /// What the user can do about it, in one sentence.
    pub fn next_step(&self) -> &'static str {
        match &self.cause {
            Cause::Declined | Cause::Cancelled => "Sign in when you want to use this server.",
            Cause::TimedOut => "Start the sign-in again and finish it in the browser within five minutes.",
            Cause::Unreachable { .. } => "Check the connection and the address, then try again.",
            Cause::Status { .. } | Cause::Unreadable { .. } => {
                "Try again later; if it stays so, send the steps of this sign-in to whoever runs the server."
            }
            Cause::UnsafeUrl { .. }
            | Cause::ResourceMismatch { .. }
            | Cause::IssuerMismatch { .. }
            | Cause::IssuerMissing => "Do not go on; send the steps of this sign-in to whoever runs the server.",
            Cause::NoPkce { .. } => {
                "Ask whoever runs the authorization server to offer PKCE with S256; without it a code could be stolen."
            }
            Cause::NoAuthorizationServer => {
                "If the server takes an API key, put it into the headers of this server's settings."
            }
            Cause::NoClientId { .. } => {
                "Get a client id from whoever runs the authorization server and put it into this server's settings."
            }
            Cause::OtherIssuer { .. } => "Correct the issuer and the client id in this server's settings.",
            Cause::Refused { .. } => {
                "Sign in again; if it is refused again, ask whoever runs the authorization server."
            }
            Cause::Browser { .. } => "Copy the address of the sign-in into a browser.",
            Cause::Callback { .. } => {
                "Close what uses this computer's ports, or allow connections to 127.0.0.1, then try again."
            }
            Cause::TooManyRequests => "Wait a minute, then try again.",
            Cause::Vault(error) => match error.kind {
                VaultProblem::Locked => "Unlock the keychain, then try again.",
                VaultProblem::Missing => {
                    "Start a keychain (on Linux GNOME Keyring or KWallet), then try again; without one a sign-in lasts until the app is closed."
                }
                VaultProblem::Broken => "Put right what is said here, then try again.",
                VaultProblem::Closed => "Sign in again if the server is still in the settings.",
            },
            Cause::Key { .. } => "Correct the private key in this server's settings.",
            Cause::NoProof { .. } => {
                "Set up in this server's settings what the authorization server takes, or ask whoever runs it."
            }
            Cause::Unbound => {
                "Ask whoever runs the authorization server to bind tokens (DPoP), or take `dpop` out of this server's settings and sign in again."
            }
            Cause::NotApproved { .. } => "Sign in again to look at it and decide.",
            Cause::SignInNeeded { .. } => "Sign in again.",
        }
    }
}

/// The steps of a sign-in and of what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Asking the server which authorization server it trusts (RFC 9728).
    ResourceMetadata,
    /// Asking the authorization server what it offers (RFC 8414, OpenID Connect Discovery).
    ServerMetadata,
    /// Coming by a client id.
    ClientId,
    /// Asking the user.
    Consent,
    /// Opening the browser.
    Browser,
    /// Waiting for the browser to come back.
    Callback,
    /// Asking the organization's identity provider.
    IdentityProvider,
    /// Asking for the token.
    Token,
    /// Renewing the token.
    Refresh,
    /// Keeping or reading what is kept.
    Storage,
    /// Revoking tokens (RFC 7009).
    Revocation,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::ResourceMetadata => "finding the authorization server",
            Phase::ServerMetadata => "reading what the authorization server offers",
            Phase::ClientId => "identifying the app to the authorization server",
            Phase::Consent => "asking for consent",
            Phase::Browser => "opening the browser",
            Phase::Callback => "waiting for the browser",
            Phase::IdentityProvider => "asking the organization's identity provider",
            Phase::Token => "getting the token",
            Phase::Refresh => "renewing the token",
            Phase::Storage => "keeping the sign-in",
            Phase::Revocation => "revoking the tokens",
        })
    }
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The user said no.
    #[error("you declined the sign-in")]
    Declined,
    /// Ended from outside.
    #[error("it was cancelled")]
    Cancelled,
    /// The browser did not come back.
    #[error("the browser did not come back within five minutes")]
    TimedOut,
    /// No answer came.
    #[error("{address} could not be reached: {cause}")]
    Unreachable {
        /// The URL without query.
        address: String,
        /// In words.
        cause: String,
    },
    /// A status that does not belong there.
    #[error("{address} answered {status}")]
    Status {
        /// The URL without query.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// An answer that is not what it should be.
    #[error("the answer of {address} cannot be used: {cause}")]
    Unreadable {
        /// The URL without query.
        address: String,
        /// In words.
        cause: String,
    },
    /// A URL that is not gone to.
    #[error("the address of {what} is not used, because {cause}: {shown}")]
    UnsafeUrl {
        /// Whose address it is said to be.
        what: &'static str,
        /// The address, made visible.
        shown: String,
        /// In words.
        cause: String,
    },
    /// The metadata is about something else.
    #[error("the server's metadata is for {resource}, which is not {server}")]
    ResourceMismatch {
        /// What was asked about.
        server: String,
        /// What the metadata is about.
        resource: String,
    },
    /// Two issuers that must be the same are not.
    #[error("{place} names the issuer {found}, but it must be exactly {expected}")]
    IssuerMismatch {
        /// Where the wrong one stands.
        place: &'static str,
        /// The right one.
        expected: String,
        /// The wrong one.
        found: String,
    },
    /// An answer without the issuer that was promised in it.
    #[error("the answer to the browser does not say which authorization server it is from, though that was promised")]
    IssuerMissing,
    /// No S256.
    #[error("the authorization server {issuer} does not say that it supports PKCE with S256")]
    NoPkce {
        /// Its issuer.
        issuer: String,
    },
    /// Nothing says who could authorize.
    #[error("the server names no authorization server")]
    NoAuthorizationServer,
    /// No way to identify.
    #[error(
        "the authorization server {issuer} knows no way for this app to identify itself, and no client id was given"
    )]
    NoClientId {
        /// Its issuer.
        issuer: String,
    },
    /// What is set up is for another authorization server.
    #[error("{what} is for {expected}, but the server now uses {found}")]
    OtherIssuer {
        /// What is set up.
        what: &'static str,
        /// The issuer that it is for.
        expected: String,
        /// The issuer that the server names.
        found: String,
    },
    /// An OAuth error answer.
    #[error("the authorization server refused: {code}{}", described(.description.as_deref()))]
    Refused {
        /// The error code.
        code: String,
        /// What it says about it, made visible and short.
        description: Option<String>,
    },
    /// The browser could not be opened.
    #[error("the browser could not be opened: {cause}")]
    Browser {
        /// In words.
        cause: String,
    },
    /// There is no way back from the browser.
    #[error("this computer lets no browser come back: {cause}")]
    Callback {
        /// In words.
        cause: String,
    },
    /// The budget is spent.
    #[error("signing in to this server already took {} requests within a minute", crate::budget::MOST)]
    TooManyRequests,
    /// The vault could not be used.
    #[error(transparent)]
    Vault(VaultError),
    /// The private key or another given secret cannot be used.
    #[error("the key cannot be used: {cause}")]
    Key {
        /// In words, without the key.
        cause: String,
    },
    /// The authorization server does not take the proof of who the client is.
    #[error("the authorization server takes no {method}; it lists {listed}")]
    NoProof {
        /// What is set up.
        method: String,
        /// What its metadata list, made visible and short.
        listed: String,
    },
    /// A token that anybody could use was granted, though the settings want it bound to our key (RFC 9449).
    #[error("the authorization server gave a token that is bound to no key, which the settings of this server require")]
    Unbound,
    /// Something would be sent that nobody has approved.
    #[error("{what}, which was not approved")]
    NotApproved {
        /// The thing, in words.
        what: String,
    },
    /// There is nothing to sign with or to renew.
    #[error("{cause}")]
    SignInNeeded {
        /// In words.
        cause: String,
    },
}

/// What stands before a cause. Where the user said no, nothing failed.
fn failed(phase: Phase, cause: &Cause) -> String {
    if *cause == Cause::Declined { String::new() } else { format!("{phase} failed: ") }
}

fn described(description: Option<&str>) -> String {
    description.map(|text| format!(" ({text})")).unwrap_or_default()
}

impl Phase {
    /// An error of this step.
    pub(crate) fn error(self, cause: Cause) -> AuthError {
        AuthError { phase: self, cause }
    }
}
