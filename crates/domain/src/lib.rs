//! Plain data that the host, conversations, the store and the contract with the page share: calls, what led to a question, items of
//! conversations, the history. Nothing here reads a clock or a file, or waits.

pub mod bounds;
pub mod call;
pub mod content;
mod error;
pub mod flow;
pub mod history;
pub mod item;
pub mod merge;
pub mod question;

pub use error::StoreError;

/// Stands where a secret was taken out of a text that is shown or stored.
pub const REDACTED: &str = "[redacted]";

/// Milliseconds since 1970.
pub type Millis = u64;
