//! Information about the tool call that a view belongs to, for its page.

use mcp_proto::RequestId;
use mcp_proto::types::{Map, Tool};
use serde_json::{Value, json};

/// Id of the tool call that a view shows, and the definition of the called tool. Contains only members that the
/// specification defines.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInfo {
    call: Option<RequestId>,
    definition: Value,
}

impl ToolInfo {
    /// Creates the information from the tool's definition as the server listed it, and the id of the `tools/call`
    /// request if it is known.
    ///
    /// Returns `None` if the input schema is not a schema of an object. A page would refuse the whole context.
    #[must_use]
    pub fn new(call: Option<RequestId>, tool: &Tool) -> Option<Self> {
        let is_object = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("object");
        if !is_object(&tool.input_schema) {
            return None;
        }
        let mut known = Tool { extra: Map::new(), icons: Vec::new(), execution: None, ..tool.clone() };
        known.output_schema = known.output_schema.filter(is_object);
        if let Some(annotations) = &mut known.annotations {
            annotations.extra = Map::new();
        }
        serde_json::to_value(known).ok().map(|definition| Self { call, definition })
    }

    pub(super) fn to_value(&self) -> Value {
        match &self.call {
            Some(id) => json!({ "id": id, "tool": self.definition }),
            None => json!({ "tool": self.definition }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unspecified_tool_members_are_not_sent_to_the_page() {
        let tool: Tool = serde_json::from_value(json!({
            "name": "get-time",
            "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true, "color": "red" },
            "_meta": { "ui": { "resourceUri": "ui://clock" } },
            "price": 5,
        }))
        .unwrap();
        let info = ToolInfo::new(Some(7.into()), &tool).unwrap();
        let expected = json!({
            "id": 7,
            "tool": {
                "name": "get-time",
                "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": true },
                "_meta": { "ui": { "resourceUri": "ui://clock" } },
            },
        });
        assert_eq!(info.to_value(), expected);
        let unusual = Tool { input_schema: json!(true), ..tool };
        assert_eq!(ToolInfo::new(None, &unusual), None);
    }
}
