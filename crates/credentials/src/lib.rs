//! Tokens of remote servers and keys of model providers, on top of the app's secrets.
//!
//! - [`vault`]: keeps the tokens of each entry of `mcp.json` apart, as the `Vault` of `mcp-auth`
//! - [`settings`]: makes the settings of a sign-in from an entry and the secrets that it names
//! - [`sign_in`]: the state of sign-ins as an observer sees it. Callers: `host` and the views of `api`
//! - [`providers`]: model providers whose keys are read when they are first needed
//!
//! The caller of all of it is the owner of `host`, which asks the user before anything is sent with them.

pub mod providers;
pub mod settings;
pub mod sign_in;
pub mod vault;
