//! Tokens of remote servers and API keys of model providers, stored in Drawbridge's secret store.
//!
//! - [`vault`]: stores the tokens of each entry in `mcp.json` separately, as the `Vault` of `mcp-auth`
//! - [`settings`]: builds the OAuth settings of an entry, with the secrets that it references
//! - [`sign_in`]: state of sign-ins, for `host` and the views of `api`
//! - [`providers`]: model providers, whose API keys are read on first use
//!
//! The owner of `host` calls these modules. It requests the user's consent before it sends anything with these
//! credentials.

pub mod providers;
pub mod settings;
pub mod sign_in;
pub mod vault;
