#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! A sign-in runs through the modules in this order:
//!
//! 1. `authorizer` handles the challenge of a 401, which `challenge` parses. `renew` renews a token without the
//!    user if possible, once for all concurrent calls. Otherwise [`Authorization::sign_in`] is required.
//! 2. `sign_in` serializes sign-ins, and `flow` runs one. `find` discovers the authorization server: `resource`
//!    fetches the protected resource metadata, and `server` the authorization server metadata or the defaults of
//!    2025-03-26.
//! 3. `scopes` selects the scopes. `client` selects the client id, which `identify` prepares and `registration`
//!    registers.
//! 4. `callback` binds a redirect listener on 127.0.0.1. `visit` requests consent, creates state and PKCE
//!    challenge, opens the browser, and verifies state and issuer of the authorization response.
//! 5. `token` redeems the code, with a client assertion (`assertion`) and a DPoP proof (`dpop`) if required.
//! 6. `record` is the stored state, which `keep` writes to the [`Vault`].
//!
//! Grants without a browser share the steps from 2 on. `provider` obtains the grant of an organization's identity
//! provider, and `approved` requests consent to anything beyond the approved settings.
//!
//! `web` sends all requests: `budget` limits their number, `address` validates URLs, and `log` stores them as
//! [`AuthStep`]s after `redact` has removed secrets.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod account;
mod address;
mod approved;
mod assertion;
mod authorization;
mod authorizer;
mod budget;
mod callback;
mod challenge;
mod client;
mod clock;
mod document;
mod dpop;
mod error;
mod find;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
mod identify;
mod keep;
mod log;
mod page;
mod provider;
mod record;
mod redact;
mod registration;
mod renew;
mod resource;
mod scopes;
mod secret;
mod server;
mod settings;
mod shared;
mod sign_in;
mod sign_out;
mod step;
mod step_up;
#[cfg(test)]
mod tests;
mod token;
mod user;
mod vault;
mod visit;
mod web;

pub use account::{Account, AuthProgress, ClientKind, RevocationOutcome, SignOutOutcome};
pub use authorization::Authorization;
pub use clock::Clock;
pub use error::{AuthError, AuthErrorCause, AuthPhase};
pub use settings::{
    AuthorizationSettings, ClientAuthentication, ClientSource, DpopUse, EnterpriseIdp, GrantKind, PreregisteredClient,
    SecretMethod,
};
pub use step::{AuthStep, StepRequest, StepResponse};
pub use user::{AuthEndpoint, AuthReason, ConsentAnswer, ConsentPrompt, EndpointUse, User};
pub use vault::{EntryPersistence, Vault, VaultEntryKind, VaultError, VaultKey, VaultProblem};
