//! Tools and their results (`server/tools`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lenient::{deserialize_null_as_default, deserialize_present_or_null};
use super::{ContentBlock, Icon, Map};

/// A tool as listed by the server. All fields are unverified claims of the server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Case-sensitive name of the tool, used in calls.
    pub name: String,
    /// Human-readable name for display, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Human-readable purpose of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments, with all keywords retained.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent`, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints on the behaviour of the tool, since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Icons for display, since 2025-11-25.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Task support of the tool, 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Hints of the server on the behaviour of a tool. Untrusted: no decision of the host becomes more permissive because
/// of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Human-readable name for display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `true` if the tool does not modify its environment. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// `true` if the tool may delete or overwrite data. Absent means `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// `true` if repeating a call with equal arguments has no further effect. Absent means `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// `true` if the tool interacts with external systems. Absent means `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Task support of a tool (2025-11-25, `basic/utilities/tasks`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolExecution {
    /// Support for running the tool as a task: `forbidden`, `optional` or `required`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Result of `tools/call`: the output of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// Content for the model and the user. Some servers omit it if they send structured content.
    #[serde(default, deserialize_with = "deserialize_null_as_default")]
    pub content: Vec<ContentBlock>,
    /// Output as JSON that matches the tool's output schema, since 2025-06-18. Any JSON value, including `null`, in
    /// 2026-07-28.
    #[serde(default, deserialize_with = "deserialize_present_or_null", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// `true` if `content` describes an error of the tool. `false` if the JSON member is absent.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}
