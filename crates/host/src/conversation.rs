//! Conversations as they are kept. The host stores the items and does not look into them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// To refer to it by: letters, digits and dashes.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
    /// Its items in order, each an object with `id`, `at` and `body`.
    pub items: Vec<Value>,
}
