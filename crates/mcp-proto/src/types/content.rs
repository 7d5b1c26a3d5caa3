//! Content blocks of tool results, prompts and sampling (schema `ContentBlock`).

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::lenient::{deserialize_null_as_default, deserialize_present_or_null};
use super::{Annotations, Map, Resource, ResourceContents, SharedText};

/// A block of content. Blocks of an unknown type are retained unchanged.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Block of type `text`.
    Text(TextContent),
    /// Block of type `image`, with base64 data.
    Image(ImageContent),
    /// Block of type `audio`, since 2025-03-26.
    Audio(AudioContent),
    /// Block of type `resource_link`, since 2025-06-18.
    ResourceLink(Resource),
    /// Block of type `resource`, with the contents embedded.
    Resource(EmbeddedResource),
    /// Block of type `tool_use`, in sampling since 2025-11-25.
    ToolUse(ToolUseContent),
    /// Block of type `tool_result`, in sampling since 2025-11-25.
    ToolResult(ToolResultContent),
    /// Block of a type that this crate does not know, as the JSON that was received.
    Unknown(Value),
}

impl ContentBlock {
    /// Returns a text block without annotations or metadata.
    pub fn text(text: impl Into<SharedText>) -> ContentBlock {
        ContentBlock::Text(TextContent { text: text.into(), ..TextContent::default() })
    }
}

/// Text content, possibly Markdown. Must not be interpreted as trusted markup.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextContent {
    /// Text exactly as the sender wrote it.
    pub text: SharedText,
    /// Hints of the server on how to use the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Image content, encoded in base64, with its media type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageContent {
    /// Bytes of the image or the audio recording, encoded in base64.
    pub data: SharedText,
    /// Media type of the image or the audio recording, as the server claims it.
    pub mime_type: String,
    /// Hints of the server on how to use the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Audio content, with the same fields as an image.
pub type AudioContent = ImageContent;

/// A resource whose contents are part of a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    /// Contents of the resource: its URI, its media type, and text or binary data.
    pub resource: ResourceContents,
    /// Hints of the server on how to use the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// A tool call that a model requests in a sampling conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolUseContent {
    /// Identifier that the model chose, repeated in the result of the call.
    pub id: String,
    /// Name of the called tool, from the tools of the sampling request.
    pub name: String,
    /// Arguments that the model generated. Not validated against the tool's schema.
    pub input: Map,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Result of a [`ToolUseContent`] call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultContent {
    /// Value of [`ToolUseContent::id`] of the call.
    pub tool_use_id: String,
    /// Blocks that the tool returned for the model.
    pub content: Vec<ContentBlock>,
    /// JSON that the tool returned in addition to `content`.
    #[serde(default, deserialize_with = "deserialize_present_or_null", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// `true` if `content` describes an error of the tool.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
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
struct ContentWithTypeTag<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    fields: &'a T,
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentBlock::Text(fields) => ContentWithTypeTag { r#type: "text", fields }.serialize(serializer),
            ContentBlock::Image(fields) => ContentWithTypeTag { r#type: "image", fields }.serialize(serializer),
            ContentBlock::Audio(fields) => ContentWithTypeTag { r#type: "audio", fields }.serialize(serializer),
            ContentBlock::ResourceLink(fields) => {
                ContentWithTypeTag { r#type: "resource_link", fields }.serialize(serializer)
            }
            ContentBlock::Resource(fields) => ContentWithTypeTag { r#type: "resource", fields }.serialize(serializer),
            ContentBlock::ToolUse(fields) => ContentWithTypeTag { r#type: "tool_use", fields }.serialize(serializer),
            ContentBlock::ToolResult(fields) => {
                ContentWithTypeTag { r#type: "tool_result", fields }.serialize(serializer)
            }
            ContentBlock::Unknown(value) => value.serialize(serializer),
        }
    }
}
