//! Tokens of remote servers and keys of model providers, stored in the app's secret store.
//!
//! - [`vault`]: stores the tokens of each `mcp.json` entry separately, as the `Vault` of `mcp-auth`
//! - [`settings`]: builds the settings of a sign-in from an entry and the secrets that it references
//! - [`sign_in`]: observable state of sign-ins, for `host` and the views of `api`
//! - [`providers`]: model providers, whose keys are read on first use
//!
//! All of it is called by the owner of `host`, which requests the user's consent before it sends anything with these
//! credentials.

pub mod providers;
pub mod settings;
pub mod sign_in;
pub mod vault;
