//! Content as servers send it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    /// Text, which may be Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Base64.
        data: String,
        /// Its type, as claimed.
        mime_type: String,
    },
    /// Sound.
    Audio {
        /// Base64.
        data: String,
        /// Its type, as claimed.
        mime_type: String,
    },
    /// A link to a resource of the same server.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// Its name.
        name: String,
        /// A name for people.
        title: Option<String>,
        /// What it is.
        description: Option<String>,
        /// Its type, as claimed.
        mime_type: Option<String>,
        /// Its size in bytes, as claimed.
        size: Option<u64>,
    },
    /// A resource, whole.
    Resource {
        /// What is in it.
        contents: ResourceContents,
    },
    /// Something this version does not know, as JSON.
    Unknown {
        /// As it came.
        json: Value,
    },
}

/// What is in a resource: text or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// Its type, as claimed.
    pub mime_type: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// The bytes, in base64.
    pub blob: Option<String>,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
}
