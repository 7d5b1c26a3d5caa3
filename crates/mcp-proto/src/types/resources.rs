//! Resources, their templates and contents (`server/resources`).

use serde::{Deserialize, Serialize};

use super::lenient::{deserialize_null_as_default, deserialize_whole_number};
use super::{Annotations, Icon, Map, SharedText};

/// Description of a resource, from the server's list or from a link in content. Does not include the contents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// URI of the resource, with any scheme.
    pub uri: String,
    /// Name for use by programs. Displayed if `title` is absent.
    pub name: String,
    /// Human-readable name for display, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Human-readable description of the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of the contents, as the server claims it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size of the contents in bytes, before encoding.
    #[serde(default, deserialize_with = "deserialize_whole_number", skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Icons for display, since 2025-11-25.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints of the server on how to use the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// A set of resources whose URIs match an RFC 6570 template.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// Template of the URIs with variables in braces, such as `file:///{path}`.
    pub uri_template: String,
    /// Name for use by programs. Displayed if `title` is absent.
    pub name: String,
    /// Human-readable name for display, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Human-readable description of the resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of all matching resources, as the server claims it. Absent if their types differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Icons for display, since 2025-11-25.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints of the server on how to use the resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Contents of a resource: at least one of `text` and `blob` is present.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "RawResourceContents")]
pub struct ResourceContents {
    /// URI of these contents. May differ from the requested URI, for instance if that is a folder and these are one of
    /// its files.
    pub uri: String,
    /// Media type of these contents, as the server claims it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Contents of a text resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<SharedText>,
    /// Contents of a binary resource, encoded in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<SharedText>,
    /// Metadata of the object: its JSON member `_meta`, since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Members of [`ResourceContents`] before validation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawResourceContents {
    uri: String,
    mime_type: Option<String>,
    text: Option<SharedText>,
    blob: Option<SharedText>,
    #[serde(rename = "_meta")]
    meta: Option<Map>,
    #[serde(flatten)]
    extra: Map,
}

impl TryFrom<RawResourceContents> for ResourceContents {
    type Error = &'static str;

    fn try_from(any: RawResourceContents) -> Result<Self, Self::Error> {
        let RawResourceContents { uri, mime_type, text, blob, meta, extra } = any;
        if text.is_none() && blob.is_none() {
            return Err("resource contents need `text` or `blob`");
        }
        Ok(ResourceContents { uri, mime_type, text, blob, meta, extra })
    }
}
