//! The contract between Drawbridge and its page: commands, events, data and errors.
//!
//! One table ([`commands!`](crate::commands)) names each command with its request and its response. It expands to the
//! [`Handler`] trait, to [`respond`], to the list that the shell gives to its window's capability, and to the generated
//! TypeScript. This crate knows nothing of Tauri: the shell and the development host both serve it.

pub mod data;
mod error;
mod event;
mod handler;
mod stream;
mod table;
mod typescript;

pub use checkup::{Computer, Environment, WebView};
pub use error::{ApiError, ErrorCode};
pub use event::{Event, Events};
pub use handler::{Api, audit_verdict};
pub use other_apps::Surroundings;
pub use stream::EventStream;
pub use table::{COMMANDS, Handler, dispatch, respond};
pub use typescript::typescript;
