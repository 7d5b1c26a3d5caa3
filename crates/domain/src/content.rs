//! What tools, resources and prompts say, as it stands in a conversation.

use mcp_proto::types::{self as mcp, ContentBlock};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What it says.
    pub content: Vec<Content>,
    /// What it says as data. A server's `null` counts as none, as the history can't tell them apart.
    pub structured: Option<Value>,
    /// What is wrong with the data by the tool's own output schema.
    pub structured_problem: Option<String>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// The arguments as they were sent, after the user's changes.
    pub arguments: Value,
}

impl ToolResult {
    /// What a server gave back for a call with these arguments.
    #[must_use]
    pub fn new(result: mcp::CallToolResult, problem: Option<String>, arguments: Map<String, Value>) -> Self {
        Self {
            content: result.content.into_iter().map(Content::from).collect(),
            structured: result.structured_content.filter(|value| !value.is_null()),
            structured_problem: problem,
            is_error: result.is_error,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_same_when_it_is_read_from_the_history() {
        for structured in [Value::Null, json!({ "a": null })] {
            let result = mcp::CallToolResult { structured_content: Some(structured), ..Default::default() };
            let result = ToolResult::new(result, None, Map::new());
            let again: ToolResult = serde_json::from_value(json!(result)).unwrap();
            assert_eq!(again, result, "what the model is sent again is what it was sent first");
        }
    }
}
