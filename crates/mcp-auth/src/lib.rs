#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! A sign-in runs through the modules in this order:
//!
//! 1. `authorizer` handles the challenge of a 401, which `challenge` parses, and stores it. `token_refresh` renews a
//!    token without the user if possible, once for all concurrent calls. Otherwise the request fails, and the user
//!    starts [`ServerAuthorization::sign_in`], which uses the stored challenge with its metadata URL.
//! 2. `sign_in` serializes sign-ins, and `sign_in_flow` runs one. `discovery` discovers the authorization server:
//!    `protected_resource` fetches the protected resource metadata, and `authorization_server` the authorization server
//!    metadata or the defaults of 2025-03-26.
//! 3. `scopes` selects the scopes. `oauth_client` selects the client id, which `client_selection` prepares and
//!    `client_registration` registers.
//! 4. `redirect_listener` binds a redirect listener on 127.0.0.1. `authorization_request` requests consent, creates
//!    state and PKCE challenge, opens the browser, and verifies state and issuer of the authorization response.
//! 5. `token` redeems the code, with a client assertion (`client_assertion`) and a DPoP proof (`dpop`) if required.
//! 6. `sign_in_record` is the stored state, which `vault_storage` writes to the [`Vault`], a trait that the app
//!    implements.
//!
//! Issuers are checked in these places: `authorization_server` compares the metadata's issuer with the expected one,
//! `redirect_listener` and `authorization_request` that of the authorization response, and `identity_provider` that of
//! an ID token. `vault_storage` uses a record only for the configured issuer, and `token_refresh` checks before a renewal
//! that the MCP server still names the issuer. A plain token response contains no issuer.
//!
//! Grants without a browser share the steps from 2 on. `identity_provider` obtains the grant of an organization's
//! identity provider, and `grant_approval` requests consent to anything beyond the approved settings.
//!
//! `http_client` sends all requests: `request_budget` limits their number, `metadata_address` validates URLs, and
//! `step_log` stores them as [`LoggedAuthStep`]s after `secret_redactor` has removed secrets.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod account;
mod authorization;
mod authorization_context;
mod authorization_request;
mod authorization_server;
mod authorizer;
mod challenge;
mod client_assertion;
mod client_registration;
mod client_selection;
mod clock;
mod discovery;
mod dpop;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod grant_approval;
mod http_client;
mod identity_provider;
mod logged_auth_step;
mod metadata_address;
mod metadata_document;
mod oauth_client;
mod protected_resource;
mod redirect_listener;
mod request_budget;
mod scopes;
mod secret_redactor;
mod settings;
mod sign_in;
mod sign_in_flow;
mod sign_in_record;
mod sign_in_result_page;
mod sign_out;
mod step_log;
mod step_up;
mod stored_secret;
#[cfg(test)]
mod tests;
mod token;
mod token_refresh;
mod user;
mod vault;
mod vault_storage;

pub use account::{AuthProgress, ClientKind, RevocationOutcome, SignOutOutcome, SignedInAccount};
pub use authorization::ServerAuthorization;
pub use clock::Clock;
pub use error::{AuthError, AuthErrorCause, AuthPhase};
pub use logged_auth_step::{LoggedAuthStep, LoggedHttpRequest, LoggedHttpResponse};
pub use settings::{
    AuthorizationSettings, ClientAuthentication, ClientIdSettings, ClientSecretMethod, DpopUse, EnterpriseIdp,
    GrantKind, PreregisteredClient,
};
pub use user::{AuthEndpoint, AuthReason, ConsentAnswer, ConsentPrompt, EndpointUse, UserInteraction};
pub use vault::{Vault, VaultEntryKind, VaultEntryPersistence, VaultError, VaultKey, VaultProblem};
