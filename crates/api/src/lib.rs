//! Contract between the host and Drawbridge's web page: commands, events, data types and errors.
//!
//! The table in [`commands!`](crate::commands) contains every command with its request and response types. It expands
//! to the trait [`Handler`], to the function [`respond`], to the list of commands that the shell permits its window,
//! and to the generated TypeScript. The crate does not depend on Tauri, because the development host and the command
//! line use it too.

mod conversation_scope;
pub mod data;
mod error;
mod event;
mod handler;
mod stream;
mod table;
mod typescript;

pub use app_views::{AppFrameResponse, ShownApp};
pub use checkup::{CheckInputs, ProcessEnvironment, WebView};
pub use conversation_scope::respond_in_conversation;
pub use error::{ApiError, ErrorCode};
pub use event::{Event, Events};
pub use handler::{Api, audit_verdict};
pub use mcp_apps::FrameAncestor;
pub use other_apps::AppEnvironment;
pub use stream::EventStream;
pub use table::{COMMANDS, Handler, dispatch, respond};
pub use typescript::typescript;
