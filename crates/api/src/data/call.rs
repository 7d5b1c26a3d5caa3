//! Calls: tools, prompts and resources that were asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Message, ResourceContents};

/// A tool call to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CallTool {
    /// An id chosen by the caller, unique among its calls.
    pub call: String,
    /// The server.
    pub server: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments: a JSON object.
    pub arguments: Value,
    /// The conversation it belongs to.
    #[serde(default)]
    pub conversation: Option<String>,
}

/// A prompt to get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GetPrompt {
    /// An id chosen by the caller.
    pub call: String,
    /// The server.
    pub server: String,
    /// The prompt's name.
    pub prompt: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
    /// The hash that was shown with it; it is refused if it is another one now. None if it was not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hash: Option<String>,
}

/// A prompt's messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PromptResult {
    /// What it is for.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<Message>,
}

/// A resource to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReadResource {
    /// An id chosen by the caller.
    pub call: String,
    /// The server.
    pub server: String,
    /// The resource.
    pub uri: String,
    /// Whether to ask the server even if what it said before is still fresh.
    #[serde(default)]
    pub refresh: bool,
}

/// What is in a resource, which may be several parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceResult {
    /// The parts.
    pub contents: Vec<ResourceContents>,
    /// Whether this was read before and kept, as the server allows.
    pub cached: bool,
    /// Until when it counts as fresh, in milliseconds since 1970, if the server says so.
    pub fresh_until: Option<u64>,
}

/// A call by the id its caller chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CallRef {
    /// The id.
    pub call: String,
}
