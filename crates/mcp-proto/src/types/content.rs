//! Content blocks of tool results, prompts and sampling (schema `ContentBlock`).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::lenient::{null_as_default, present};
use super::{Annotations, Map, Resource, ResourceContents, Text};

/// One piece of content. A kind that is not known here is kept as it came.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// `text`.
    Text(TextContent),
    /// `image`.
    Image(ImageContent),
    /// `audio`, since 2025-03-26.
    Audio(AudioContent),
    /// `resource_link`, since 2025-06-18.
    ResourceLink(Resource),
    /// `resource`: contents that are already here.
    Resource(EmbeddedResource),
    /// `tool_use`, in sampling since 2025-11-25.
    ToolUse(ToolUseContent),
    /// `tool_result`, in sampling since 2025-11-25.
    ToolResult(ToolResultContent),
    /// Any other kind.
    Unknown(Value),
}

impl ContentBlock {
    /// A plain text block.
    pub fn text(text: impl Into<Text>) -> ContentBlock {
        ContentBlock::Text(TextContent { text: text.into(), ..TextContent::default() })
    }
}

/// Text, possibly Markdown; never trusted as markup.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextContent {
    /// The text.
    pub text: Text,
    /// Hints on its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageContent {
    /// The bytes, base64.
    pub data: Text,
    /// Claimed media type.
    pub mime_type: String,
    /// Hints on its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// Sound; the same fields as a picture.
pub type AudioContent = ImageContent;

/// A resource's contents inside another result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints on its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// A tool call that a model makes, in sampling.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUseContent {
    /// Name of this call, for its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Map,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// What such a call returned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultContent {
    /// The call's name.
    pub tool_use_id: String,
    /// What it returned.
    pub content: Vec<ContentBlock>,
    /// Structured content.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = Map::deserialize(deserializer)?;
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            _ => return Err(D::Error::custom("a content block needs a `type` that is a string")),
        };
        let read = |mut map: Map| {
            map.shift_remove("type");
            Value::Object(map)
        };
        match kind.as_str() {
            "text" => TextContent::deserialize(read(map)).map(ContentBlock::Text),
            "image" => ImageContent::deserialize(read(map)).map(ContentBlock::Image),
            "audio" => AudioContent::deserialize(read(map)).map(ContentBlock::Audio),
            "resource_link" => Resource::deserialize(read(map)).map(ContentBlock::ResourceLink),
            "resource" => EmbeddedResource::deserialize(read(map)).map(ContentBlock::Resource),
            "tool_use" => ToolUseContent::deserialize(read(map)).map(ContentBlock::ToolUse),
            "tool_result" => ToolResultContent::deserialize(read(map)).map(ContentBlock::ToolResult),
            _ => Ok(ContentBlock::Unknown(Value::Object(std::mem::take(&mut map)))),
        }
        .map_err(|error| D::Error::custom(format!("{kind} block: {error}")))
    }
}

#[derive(Serialize)]
struct Tagged<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    fields: &'a T,
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentBlock::Text(fields) => Tagged { r#type: "text", fields }.serialize(serializer),
            ContentBlock::Image(fields) => Tagged { r#type: "image", fields }.serialize(serializer),
            ContentBlock::Audio(fields) => Tagged { r#type: "audio", fields }.serialize(serializer),
            ContentBlock::ResourceLink(fields) => Tagged { r#type: "resource_link", fields }.serialize(serializer),
            ContentBlock::Resource(fields) => Tagged { r#type: "resource", fields }.serialize(serializer),
            ContentBlock::ToolUse(fields) => Tagged { r#type: "tool_use", fields }.serialize(serializer),
            ContentBlock::ToolResult(fields) => Tagged { r#type: "tool_result", fields }.serialize(serializer),
            ContentBlock::Unknown(value) => value.serialize(serializer),
        }
    }
}
