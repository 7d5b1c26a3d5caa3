//! Signs in to remote MCP servers.

mod account;
mod authorization;
mod budget;
mod error;
mod settings;
mod step;
mod user;
mod vault;

pub use account::{Account, ClientKind, InProgress, Revoked, SignedOut};
pub use authorization::Authorization;
pub use error::{AuthError, Cause, Phase};
pub use settings::{
    ClientAuthentication, ClientSource, Clock, DpopUse, EnterpriseIdp, GrantKind, Preregistered, SecretMethod, Settings,
};
pub use step::{Step, StepAnswer, StepRequest};
pub use user::{Answer, Consent, Reason, User};
pub use vault::{Kept, Vault, VaultError, VaultKey, VaultKind};
