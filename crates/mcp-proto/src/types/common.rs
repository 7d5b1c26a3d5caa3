//! Objects that several parts of the protocol share: implementations, icons, annotations, roles.

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::{deserialize_null_as_default, deserialize_one_or_many};

/// Description of a client or server program (`basic/lifecycle`, schema `Implementation`).
///
/// Name and version of a server are unverified claims, for display only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation {
    /// Name of the client or server program, for use by programs.
    pub name: String,
    /// Human-readable name for display, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version of the client or server program, not of the protocol.
    #[serde(default)]
    pub version: String,
    /// Human-readable description of the program, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Icons for display, since 2025-11-25.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// URL of the program's home page, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// An icon of a server, tool, prompt or resource (`basic`, section Icons, since 2025-11-25).
///
/// Untrusted: `src` is not validated here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// URI of the image, which should be an `https:` or `data:` URI.
    pub src: String,
    /// Media type of the image, as the server claims it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Pixel sizes that the image is designed for, such as `48x48`, or `any`.
    #[serde(default, deserialize_with = "deserialize_one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Background color that the icon is designed for: `light` or `dark`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Author or intended audience of content: the user or the model (schema `Role`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Human user of the client.
    User,
    /// Language model of the client.
    Assistant,
}

/// Hints of the server on how to use content (`server/resources`, section Annotations).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Roles that the content is intended for. Empty if the server names none.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// Importance of the content, from 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// ISO 8601 time at which the content was last changed, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}
