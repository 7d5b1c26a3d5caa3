//! Content as servers send it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Content, Role};

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
}
