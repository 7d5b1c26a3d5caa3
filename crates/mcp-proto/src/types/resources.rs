//! Resources, their templates and contents (`server/resources`).

use serde::{Deserialize, Serialize};

use super::lenient::{null_as_default, whole_number};
use super::{Annotations, Icon, Map, Text};

/// A resource as the server lists it, or as a link in content.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its URI, of any scheme.
    pub uri: String,
    /// Name for programs.
    pub name: String,
    /// Name for people, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Claimed media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Bytes before any encoding.
    #[serde(default, deserialize_with = "whole_number", skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Icons, since 2025-11-25.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
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

/// A family of resources, named by an RFC 6570 template.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Name for programs.
    pub name: String,
    /// Name for people, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resources hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Claimed media type, if all have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Icons, since 2025-11-25.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints on their use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// What a resource holds: either `text` or `blob` is there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "AnyContents")]
pub struct ResourceContents {
    /// Its URI.
    pub uri: String,
    /// Claimed media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    /// The bytes, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<Text>,
    /// `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// The shape before it is known that there is content.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyContents {
    uri: String,
    mime_type: Option<String>,
    text: Option<Text>,
    blob: Option<Text>,
    #[serde(rename = "_meta")]
    meta: Option<Map>,
    #[serde(flatten)]
    extra: Map,
}

impl TryFrom<AnyContents> for ResourceContents {
    type Error = &'static str;

    fn try_from(any: AnyContents) -> Result<Self, Self::Error> {
        let AnyContents { uri, mime_type, text, blob, meta, extra } = any;
        if text.is_none() && blob.is_none() {
            return Err("resource contents need `text` or `blob`");
        }
        Ok(ResourceContents { uri, mime_type, text, blob, meta, extra })
    }
}
