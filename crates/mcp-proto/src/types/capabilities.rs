//! What each side says it can do.

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::capability;

/// What a server offers (`basic/lifecycle`; `server/discover` in 2026-07-28).
///
/// The set is open: unknown keys are kept in `extra` and mean nothing here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Tools, and whether their list announces changes.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListCapability>,
    /// Prompts, and whether their list announces changes.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListCapability>,
    /// Resources.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Argument completion, since 2025-03-26.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub completions: Option<Map>,
    /// Log messages.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub logging: Option<Map>,
    /// Calls that go on as tasks, 2025-11-25 only.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Map>,
    /// Extensions by identifier.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map>,
    /// Experiments of the server.
    #[serde(default, deserialize_with = "capability", skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Map>,
    /// Capabilities that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// A list that may announce that it changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListCapability {
    /// Whether `list_changed` notifications come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// The resources capability (`server/resources`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesCapability {
    /// Whether single resources can be subscribed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Whether `list_changed` notifications come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// What this client offers to servers (`basic/lifecycle`, `client/*` pages).
///
/// Given once in full: the session leaves out what a revision does not have.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCapabilities {
    /// Folders that the server may ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// Answers of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// Questions to the user, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// Extensions by identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map>,
    /// Experiments of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Map>,
    /// Capabilities that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// The roots capability (`client/roots`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootsCapability {
    /// Whether changes are announced; not in 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// The sampling capability (`client/sampling`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingCapability {
    /// Whether `includeContext` is honoured, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map>,
    /// Whether requests may bring tools for the model, since 2025-11-25. Without it those that do are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Map>,
}

/// The elicitation capability (`client/elicitation`). Without a mode it means forms only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationCapability {
    /// Forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Map>,
    /// Pages to visit, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Map>,
}
