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

/// Bytes that a server gave, to be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveMedia {
    /// What the name of the file is proposed from. Text of the server.
    pub title: String,
    /// What the server says they are; empty if it does not.
    pub mime_type: String,
    /// The bytes in Base64.
    pub data: String,
}
