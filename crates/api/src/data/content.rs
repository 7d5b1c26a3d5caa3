//! Messages of prompts and sampling requests, and binary content from servers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Content, Role};

/// Message of a prompt or of a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Message {
    /// Author of the message: the user or the model.
    pub role: Role,
    /// Content blocks of the message.
    pub content: Vec<Content>,
}

/// Request to save binary content from a server to a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveMedia {
    /// Title from which a file name is suggested. Untrusted text from the server.
    pub title: String,
    /// Media type as claimed by the server. Empty if unknown.
    pub mime_type: String,
    /// Binary content to save, encoded in Base64.
    pub data: String,
}
