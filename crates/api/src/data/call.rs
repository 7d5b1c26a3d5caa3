//! Requests to call a tool, get a prompt or read a resource, and their results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Message, ResourceContents};

/// Request to call a tool.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct CallTool {
    /// Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
    pub call: String,
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the tool, as its server lists it.
    pub tool: String,
    /// Arguments of the tool as a JSON object.
    pub arguments: Value,
    /// Identifier of the conversation that the call belongs to, or `None` outside of conversations.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Identifier of an earlier call that the user repeats with this one, or `None`. If that call can be repeated and
    /// the request is the same, it is sent without another consent request.
    #[serde(default)]
    #[ts(optional)]
    pub repeats: Option<String>,
}

/// Request for the messages of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct GetPrompt {
    /// Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
    pub call: String,
    /// Name of the server in the settings.
    pub server: String,
    /// Name of the prompt, as its server lists it.
    pub prompt: String,
    /// Arguments of the prompt, by name.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
    /// Hash of the prompt's definition that was shown to the user, or `None` if it was not shown. If the definition has
    /// changed, the request is denied.
    #[serde(default)]
    #[ts(optional)]
    pub hash: Option<String>,
}

/// Messages of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct PromptResult {
    /// Description that the server returned with the messages. Untrusted text.
    pub description: Option<String>,
    /// Messages of the prompt, in order.
    pub messages: Vec<Message>,
}

/// Request to read a resource.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ReadResource {
    /// Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
    pub call: String,
    /// Name of the server in the settings.
    pub server: String,
    /// URI that identifies the resource on its server.
    pub uri: String,
    /// `true` to request the resource from the server even if the cached contents are still fresh.
    #[serde(default)]
    pub refresh: bool,
}

/// Contents of a resource, which may consist of several parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceResult {
    /// Parts of the resource, each either text or bytes.
    pub contents: Vec<ResourceContents>,
    /// `true` if the contents are from the cache, which the server permits until `fresh_until`.
    pub cached: bool,
    /// Time until which the server permits caching of the contents, in milliseconds since 1970. `None` if the contents
    /// are not cached.
    pub fresh_until: Option<u64>,
}

/// Request that refers to a call by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct CallRef {
    /// Identifier of the call, chosen by its caller.
    pub call: String,
}
