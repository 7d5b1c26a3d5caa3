//! Results of calls and lists, as apps receive them.

use domain::content::ToolResult;
use mcp_proto::types::{CallToolResult, Map};
use serde_json::{Value, json};

/// Converts a stored result of a tool call to the members of the protocol's `CallToolResult`.
pub(crate) fn call_tool_result_json(result: &ToolResult) -> Map {
    match json!(CallToolResult::from(result)) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Returns a result object whose only member `name` contains these entries, as in the result of a list request.
pub(crate) fn list_result_json(name: &str, entries: Vec<Value>) -> Map {
    std::iter::once((name.to_owned(), Value::Array(entries))).collect()
}
