//! Signs in to remote MCP servers, and keeps the sign-in alive. It knows nothing of the app around it.
//!
//! One [`Authorization`] belongs to one server. A sign-in goes through these files, in this order:
//!
//! 1. The transport got a 401 and asks [`authorizer`]. `challenge` reads what the server wants. If the token can be
//!    renewed without the user, `renew` does it, once for all calls; else [`Authorization::sign_in`] is needed.
//! 2. `sign_in` waits for its turn, `flow` runs it. `find` looks for whom to ask: `resource` asks the server whom it trusts (RFC 9728), and `server` asks
//!    that authorization server what it offers (RFC 8414, OpenID Connect), or takes the rules of 2025-03-26 where there is
//!    nothing to ask.
//! 3. `scopes` chooses what to ask for, and `client` as whom: set up before, by document, registered (`registration`), or
//!    typed; `identify` makes it ready.
//! 4. `callback` listens on 127.0.0.1. Only then `visit` asks for the user's consent, makes state and PKCE challenge and
//!    opens the browser, which comes back with a code. `callback` takes the one right answer and checks who it is from.
//! 5. `token` redeems the code, with a proof of who we are (`assertion`) and of our key (`dpop`) where wanted.
//! 6. `record` is what is kept of it all, in the [`Vault`] and nowhere else (`keep`). From here on every request is signed.
//!
//! Sign-ins without a browser take the same way from 2 on: `provider` has the organization's identity provider vouch for
//! the user, and `approved` asks for what the approved settings do not cover. All requests go through `web`, which counts them (`budget`), lets `address` judge every URL, and writes each
//! down in `log` after `redact` has taken the secrets out: those are the [`Step`]s that a user can look at.
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

pub use account::{Account, ClientKind, InProgress, Revoked, SignedOut};
pub use authorization::Authorization;
pub use clock::Clock;
pub use error::{AuthError, Cause, Phase};
pub use settings::{
    ClientAuthentication, ClientSource, DpopUse, EnterpriseIdp, GrantKind, Preregistered, SecretMethod, Settings,
};
pub use step::{Step, StepAnswer, StepRequest};
pub use user::{Answer, Consent, Endpoint, EndpointUse, Reason, User};
pub use vault::{Kept, Vault, VaultError, VaultKey, VaultKind, VaultProblem};
