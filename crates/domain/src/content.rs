//! Content blocks of tool results, resources and prompts, as stored in a conversation.

use mcp_proto::types::{self as mcp, ContentBlock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Content block in a message or a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    /// A block of text, which may be Markdown.
    Text {
        /// Text of the block.
        text: String,
    },
    /// A block with an image of any media type.
    Image {
        /// Bytes of the image, in base64.
        data: String,
        /// Media type of the image, as claimed by the server.
        mime_type: String,
    },
    /// A block with a sound recording of any media type.
    Audio {
        /// Bytes of the recording, in base64.
        data: String,
        /// Media type of the recording, as claimed by the server.
        mime_type: String,
    },
    /// A block with a link to a resource of the same server.
    ResourceLink {
        /// URI of the linked resource.
        uri: String,
        /// Name of the resource, as its server lists it.
        name: String,
        /// Title of the resource for display, if the server gives one.
        title: Option<String>,
        /// Description of the resource, if the server gives one.
        description: Option<String>,
        /// Media type of the resource, as claimed by the server.
        mime_type: Option<String>,
        /// Size of the resource in bytes, as claimed by the server.
        size: Option<u64>,
    },
    /// A block with an embedded resource and all its contents.
    Resource {
        /// Contents of the embedded resource.
        contents: ResourceContents,
    },
    /// A block of a type that this version of Drawbridge does not know.
    Unknown {
        /// The unmodified block as JSON.
        json: Value,
    },
}

/// Contents of a resource, either text or bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// URI that identifies the resource on its server.
    pub uri: String,
    /// Media type of the contents, as claimed by the server.
    pub mime_type: Option<String>,
    /// Contents of the resource as text, or `None` if they are bytes.
    pub text: Option<String>,
    /// Contents of the resource as bytes in base64, or `None` if they are text.
    pub blob: Option<String>,
}

/// Result of a tool call, as stored in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Content blocks of the tool's result.
    pub content: Vec<Content>,
    /// Structured content of the result, or `None` if there is none. A `null` from the server counts as none, since the
    /// history can't distinguish them.
    pub structured: Option<Value>,
    /// Description of how the structured content violates the tool's output schema, or `None` if it is valid.
    pub structured_problem: Option<String>,
    /// Set if the result reports an error of the tool.
    pub is_error: bool,
    /// Metadata of the result (`_meta`), which the tool's MCP app receives, and the model does not. `None` if the
    /// server sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub meta: Option<Map<String, Value>>,
    /// Arguments of the call that were sent to the server, including changes by the user.
    pub arguments: Value,
}

impl ToolResult {
    /// Converts the result of a call from the protocol's type. `problem` describes how the result violates the tool's
    /// output schema, if it does. `arguments` are those that were sent to the server.
    #[must_use]
    pub fn new(result: mcp::CallToolResult, problem: Option<String>, arguments: Map<String, Value>) -> Self {
        Self {
            content: result.content.into_iter().map(Content::from).collect(),
            structured: result.structured_content.filter(|value| !value.is_null()),
            structured_problem: problem,
            is_error: result.is_error,
            meta: result.meta.filter(|meta| !meta.is_empty()),
            arguments: arguments.into(),
        }
    }
}

impl From<mcp::ResourceContents> for ResourceContents {
    fn from(contents: mcp::ResourceContents) -> Self {
        Self {
            uri: contents.uri,
            mime_type: contents.mime_type,
            text: contents.text.map(Into::into),
            blob: contents.blob.map(Into::into),
        }
    }
}

impl From<ContentBlock> for Content {
    fn from(block: ContentBlock) -> Self {
        match block {
            ContentBlock::Text(text) => Self::Text { text: text.text.into() },
            ContentBlock::Image(image) => Self::Image { data: image.data.into(), mime_type: image.mime_type },
            ContentBlock::Audio(audio) => Self::Audio { data: audio.data.into(), mime_type: audio.mime_type },
            ContentBlock::ResourceLink(link) => Self::ResourceLink {
                uri: link.uri,
                name: link.name,
                title: link.title,
                description: link.description,
                mime_type: link.mime_type,
                size: link.size,
            },
            ContentBlock::Resource(embedded) => Self::Resource { contents: embedded.resource.into() },
            other @ (ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_) | ContentBlock::Unknown(_)) => {
                Self::Unknown { json: json!(other) }
            }
        }
    }
}

impl From<&ResourceContents> for mcp::ResourceContents {
    fn from(contents: &ResourceContents) -> Self {
        Self {
            uri: contents.uri.clone(),
            mime_type: contents.mime_type.clone(),
            text: contents.text.clone().map(Into::into),
            blob: contents.blob.clone().map(Into::into),
            ..Self::default()
        }
    }
}

impl From<&Content> for ContentBlock {
    fn from(content: &Content) -> Self {
        let image = |data: &str, mime_type: &str| mcp::ImageContent {
            data: data.into(),
            mime_type: mime_type.to_owned(),
            ..mcp::ImageContent::default()
        };
        match content {
            Content::Text { text } => Self::text(text.as_str()),
            Content::Image { data, mime_type } => Self::Image(image(data, mime_type)),
            Content::Audio { data, mime_type } => Self::Audio(image(data, mime_type)),
            Content::ResourceLink { uri, name, title, description, mime_type, size } => {
                Self::ResourceLink(mcp::Resource {
                    uri: uri.clone(),
                    name: name.clone(),
                    title: title.clone(),
                    description: description.clone(),
                    mime_type: mime_type.clone(),
                    size: *size,
                    ..mcp::Resource::default()
                })
            }
            Content::Resource { contents } => {
                Self::Resource(mcp::EmbeddedResource { resource: contents.into(), ..mcp::EmbeddedResource::default() })
            }
            Content::Unknown { json } => Self::Unknown(json.clone()),
        }
    }
}

impl From<&ToolResult> for mcp::CallToolResult {
    fn from(result: &ToolResult) -> Self {
        Self {
            content: result.content.iter().map(ContentBlock::from).collect(),
            structured_content: result.structured.clone(),
            is_error: result.is_error,
            meta: result.meta.clone(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_result_has_all_members_of_the_servers_result() {
        let wire = json!({
            "content": [
                { "type": "text", "text": "a" },
                { "type": "image", "data": "AA==", "mimeType": "image/png" },
                { "type": "resource_link", "uri": "x://a", "name": "a" },
                { "type": "resource", "resource": { "uri": "x://b", "text": "b" } },
                { "type": "chart", "points": [1, null] },
            ],
            "structuredContent": { "a": null },
            "isError": true,
            "_meta": { "page": 1 },
        });
        let result: mcp::CallToolResult = serde_json::from_value(wire.clone()).unwrap();
        let stored = ToolResult::new(result, None, Map::new());
        assert_eq!(json!(mcp::CallToolResult::from(&stored)), wire);
    }

    #[test]
    fn result_round_trips_through_the_history() {
        for structured in [Value::Null, json!({ "a": null })] {
            let result = mcp::CallToolResult { structured_content: Some(structured), ..Default::default() };
            let result = ToolResult::new(result, None, Map::new());
            let again: ToolResult = serde_json::from_value(json!(result)).unwrap();
            assert_eq!(again, result, "a result read from the history equals the original");
        }
    }
}
