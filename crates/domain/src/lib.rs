//! Plain data types that the host, conversations, the store and the API share: calls, consent requests, items of
//! conversations, and the history. This crate does not read clocks or files, and does not block.

pub mod app_view;
pub mod bounds;
pub mod call;
pub mod consent_request;
pub mod content;
pub mod data_flow;
mod error;
pub mod history;
pub mod item;
pub mod merge;

pub use error::StoreError;

/// Placeholder for secrets that were removed from a text before it is displayed or stored.
pub const REDACTED: &str = "[redacted]";

/// Time in milliseconds since the Unix epoch (1970).
pub type Millis = u64;
