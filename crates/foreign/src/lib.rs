//! Pure functions for untrusted text and addresses: escaping text for display, naming files and classifying IP addresses.
//!
//! - [`escape_invisible`] escapes text of programs and servers in the messages and logs of `process` and the `mcp-*`
//!   crates.
//! - [`is_hidden`] detects invisible characters, which `offers` flags and `other-apps` rejects in install links.
//! - [`is_public`] classifies addresses for the sandbox proxy in `process` and for requests of `mcp-transport` to addresses
//!   that a server names.
//! - [`is_loopback`] detects hosts that mean this computer, to which `http` is permitted and a proxy is not used.
//! - [`safe_file_name`] derives names for files that the user saves (`chat`, `api`).

mod addresses;
mod file_names;
mod visible_text;

pub use addresses::{is_loopback, is_public};
pub use file_names::safe_file_name;
pub use visible_text::{escape_invisible, is_hidden};
