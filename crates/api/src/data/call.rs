//! Calls: tools, prompts and resources that were asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, Message, ResourceContents};

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

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What it says.
    pub content: Vec<Content>,
    /// What it says as data.
    pub structured: Option<Value>,
    /// What is wrong with the data by the tool's own output schema.
    pub structured_problem: Option<String>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The arguments as they were sent, after the user's changes.
    pub arguments: Value,
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

/// A call under way or just ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The id its caller chose.
    pub id: String,
    /// The server.
    pub server: String,
    /// What is asked for.
    pub kind: CallKind,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: String,
    /// When it was made, in milliseconds since 1970.
    pub started_at: u64,
    /// How it is.
    pub state: CallState,
    /// How far it is, if the server says so.
    pub progress: Option<Progress>,
    /// The task that the server does it as, if it does.
    pub task: Option<Task>,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
}

/// A call that the server does as a task. All in it is the server's claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The server's name for it.
    pub id: String,
    /// Where it is.
    pub status: TaskStatus,
    /// What the server says about that.
    pub message: Option<String>,
    /// When it began, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub updated_at: String,
}

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It is being done.
    Working,
    /// It waits for answers to questions of the server.
    InputRequired,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// To run a tool.
    Tool,
    /// A prompt's messages.
    Prompt,
    /// A resource's contents.
    Resource,
}

/// How a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Waits for the user's approval; nothing was sent.
    AwaitingApproval,
    /// Sent, not answered yet.
    Running,
    /// The server asks for something before it goes on.
    AwaitingInput,
    /// Answered.
    Done,
    /// Refused by the policy or the user.
    Refused,
    /// Cancelled.
    Cancelled,
    /// Failed.
    Failed,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// Of how much, if known.
    pub total: Option<f64>,
    /// What is being done, as the server says.
    pub message: Option<String>,
}
