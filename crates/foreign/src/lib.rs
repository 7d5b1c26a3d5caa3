//! Text and addresses that others name: how text is made safe to show, and which addresses lie in the open internet. Pure functions.
//!
//! - [`visible`]: text of programs and servers, for messages and logs of `process` and the `mcp-*` crates
//! - [`is_hidden`]: characters that nobody sees, for what `offers` flags and install links (`other-apps`) may not hold
//! - [`is_public`]: addresses, for the proxy of sandboxes (`process`) and for requests to addresses that a
//!   server names (`mcp-transport`)
//! - [`file_name`]: names for files that the user saves (`chat`, `api`)

mod addresses;
mod file_names;
mod visible;

pub use addresses::is_public;
pub use file_names::file_name;
pub use visible::{is_hidden, visible};
