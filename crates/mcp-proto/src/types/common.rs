//! What many objects share: who someone is, icons, annotations, roles.

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::{null_as_default, one_or_many};

/// What a client or server calls itself (`basic/lifecycle`, schema `Implementation`).
///
/// A server's is a claim, for display only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation {
    /// Name for programs.
    pub name: String,
    /// Name for people, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Version of the program, not of the protocol.
    #[serde(default)]
    pub version: String,
    /// What it is, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Icons, since 2025-11-25.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Home page, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// A picture for a server, tool, prompt or resource (`basic`, section Icons, since 2025-11-25).
///
/// Hostile until proven otherwise: the source is only a text here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// `https:` or `data:` URI.
    pub src: String,
    /// Claimed media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    #[serde(default, deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// `light` or `dark`: the background it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// Who speaks, or for whom something is meant (schema `Role`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// Hints of the server on how to use content (`server/resources`, section Annotations).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// For whom it is meant; empty means not said.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// From 0 (optional) to 1 (required).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// ISO 8601 time, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}
