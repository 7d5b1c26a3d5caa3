//! Results of calls, resources and lists, as apps receive them.

use domain::content::{Content, ResourceContents, ToolResult};
use mcp_proto::types::Map;
use serde_json::{Value, json};

/// Converts a stored result of a tool call to a `CallToolResult` of the protocol.
pub(crate) fn call_tool_result(result: &ToolResult) -> Map {
    let content: Vec<Value> = result.content.iter().map(content_block_json).collect();
    let members = [
        ("content", Some(Value::Array(content))),
        ("structuredContent", result.structured.clone()),
        ("isError", result.is_error.then_some(Value::Bool(true))),
        ("_meta", result.meta.clone().map(Value::Object)),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn content_block_json(content: &Content) -> Value {
    let mut block = match content {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image { data, mime_type } => json!({ "type": "image", "data": data, "mimeType": mime_type }),
        Content::Audio { data, mime_type } => json!({ "type": "audio", "data": data, "mimeType": mime_type }),
        Content::ResourceLink { uri, name, title, description, mime_type, size } => json!({
            "type": "resource_link", "uri": uri, "name": name, "title": title, "description": description,
            "mimeType": mime_type, "size": size,
        }),
        Content::Resource { contents } => json!({ "type": "resource", "resource": resource_contents(contents) }),
        Content::Unknown { json } => json.clone(),
    };
    remove_nulls(&mut block);
    block
}

fn resource_contents(contents: &ResourceContents) -> Value {
    let ResourceContents { uri, mime_type, text, blob } = contents;
    let mut value = json!({ "uri": uri, "mimeType": mime_type, "text": text, "blob": blob });
    remove_nulls(&mut value);
    value
}

fn remove_nulls(value: &mut Value) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
}

/// Returns a result object whose only member `name` contains these entries, as in the result of a list request.
pub(crate) fn list_result(name: &str, entries: Vec<Value>) -> Map {
    std::iter::once((name.to_owned(), Value::Array(entries))).collect()
}

#[cfg(test)]
mod tests {
    use mcp_proto::types::CallToolResult;

    use super::*;

    #[test]
    fn call_tool_results_keep_all_members_that_the_history_stores() {
        let wire = json!({
            "content": [
                { "type": "text", "text": "a" },
                { "type": "image", "data": "AA==", "mimeType": "image/png" },
                { "type": "resource_link", "uri": "x://a", "name": "a" },
                { "type": "resource", "resource": { "uri": "x://b", "text": "b" } },
            ],
            "structuredContent": { "a": null },
            "isError": true,
            "_meta": { "page": 1 },
        });
        let parsed: CallToolResult = serde_json::from_value(wire.clone()).unwrap();
        let stored = ToolResult::new(parsed, None, Map::new());
        assert_eq!(Value::Object(call_tool_result(&stored)), wire, "the app should get the result of the server");
    }
}
