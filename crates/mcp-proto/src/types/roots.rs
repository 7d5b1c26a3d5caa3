//! Folders that the client exposes to a server (`client/roots`).

use serde::{Deserialize, Serialize};

use super::Map;

/// A folder that the server may use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// `file://` URI of the folder.
    pub uri: String,
    /// Human-readable name for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
}
