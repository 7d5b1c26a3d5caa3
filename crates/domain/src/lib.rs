//! Plain data shared by the host, conversations, the store and the API: calls, origins of consent requests, items of
//! conversations, and the history. Nothing here reads a clock or a file, or waits.

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

/// Placeholder for secrets that were removed from text before it is shown or stored.
pub const REDACTED: &str = "[redacted]";

/// Time in milliseconds since the Unix epoch (1970).
pub type Millis = u64;
