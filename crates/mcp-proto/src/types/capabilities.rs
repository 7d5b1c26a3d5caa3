//! Capabilities that clients and servers declare to each other.

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::deserialize_lenient_capability;

/// Capabilities of a server (`basic/lifecycle`; `server/discover` in 2026-07-28).
///
/// Unknown capabilities are retained in `extra` and have no effect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerCapabilities {
    /// Tools capability, or `None` if the server has no tools.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListCapability>,
    /// Prompts capability, or `None` if the server has no prompts.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListCapability>,
    /// Resources capability, or `None` if the server has no resources.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// Capability of the server to complete arguments with `completion/complete`, since 2025-03-26.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub completions: Option<Map>,
    /// Capability of the server to send log messages to the client.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub logging: Option<Map>,
    /// Capability of the server to run calls as tasks, 2025-11-25 only.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Map>,
    /// Protocol extensions that the server supports: the settings of each, by the extension's identifier.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map>,
    /// Experimental, non-standard features of the server.
    #[serde(default, deserialize_with = "deserialize_lenient_capability", skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Map>,
    /// Capabilities without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Capability of a server to list its tools or its prompts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListCapability {
    /// `true` if the server sends `list_changed` notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Capability of a server to provide resources (`server/resources`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesCapability {
    /// `true` if the client can subscribe to changes of a single resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// `true` if the server sends `list_changed` notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Capabilities of this client (`basic/lifecycle`, `client/*` pages).
///
/// Contains all capabilities of the client. The session omits those that the negotiated revision does not define.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientCapabilities {
    /// Capability to list the folders that the server may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// Capability to answer sampling requests with a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// Capability to request input from the user, since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// Protocol extensions that the client supports: the settings of each, by the extension's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Map>,
    /// Experimental, non-standard features of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Map>,
    /// Capabilities without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Capability of a client to list the folders that the server may use (`client/roots`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootsCapability {
    /// `true` if the client sends `notifications/roots/list_changed`. Does not exist in 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
}

/// Capability of a client to answer sampling requests with a model (`client/sampling`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingCapability {
    /// Present if the client honours `includeContext` of sampling requests, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Map>,
    /// Present if sampling requests may contain tools for the model, since 2025-11-25. If absent, the session refuses
    /// such requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Map>,
}

/// Capability of a client to request input from the user (`client/elicitation`). Without `form` and `url`, the client
/// supports forms only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationCapability {
    /// Present if the client supports form mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<Map>,
    /// Present if the client supports URL mode, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Map>,
}
