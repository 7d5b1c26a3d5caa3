//! Requests of a server for a model's response (`client/sampling`).

use serde::{Deserialize, Serialize};

use super::lenient::{deserialize_null_as_default, deserialize_required_whole_number};
use super::{ContentBlock, Map, Role, Tool};

/// Parameters of a `sampling/createMessage` request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageParams {
    /// Messages of the conversation, oldest first.
    pub messages: Vec<SamplingMessage>,
    /// Server's preferences for the choice of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// System prompt that the server requests. The client may change or omit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Servers whose context the client should add to the messages for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// Sampling temperature for the model, in the range that its provider defines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Maximum number of tokens to generate.
    #[serde(deserialize_with = "deserialize_required_whole_number")]
    pub max_tokens: u64,
    /// Strings at which the model stops generating.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Metadata for the provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    /// Tools for the model, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Rules for the model's use of `tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Servers whose context is added to a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncludeContext {
    /// No context of any server.
    None,
    /// Context of the requesting server.
    ThisServer,
    /// Context of all servers.
    AllServers,
}

/// Rules for the model's use of the tools in a sampling request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChoice {
    /// Mode: `auto`, `required` or `none`. Absent means `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// A message of a sampling conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingMessage {
    /// Author of the message: the user or the assistant.
    pub role: Role,
    /// Content blocks of the message.
    pub content: SamplingContent,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Content of a sampling message: one block, or a list of blocks since 2025-11-25.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SamplingContent {
    /// A single content block.
    One(ContentBlock),
    /// A list of content blocks.
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// Returns the content blocks in order: the single one or those of the list.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            SamplingContent::One(block) => std::slice::from_ref(block),
            SamplingContent::Many(blocks) => blocks,
        }
    }

    /// Returns the content as a single block: its only block, or one text of all its text blocks. Returns `None` if it
    /// has several blocks that are not all text.
    pub fn to_single_block(&self) -> Option<ContentBlock> {
        let blocks = self.blocks();
        if let [only] = blocks {
            return Some(only.clone());
        }
        let texts: Option<Vec<&str>> = blocks
            .iter()
            .map(|block| if let ContentBlock::Text(text) = block { Some(text.text.as_str()) } else { None })
            .collect();
        texts.map(|texts| ContentBlock::text(texts.join("\n\n")))
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not derived because an untagged enum would hide which block is invalid and why.
        let value = serde_json::Value::deserialize(deserializer)?;
        if value.is_array() {
            Vec::deserialize(value).map(SamplingContent::Many)
        } else {
            ContentBlock::deserialize(value).map(SamplingContent::One)
        }
        .map_err(serde::de::Error::custom)
    }
}

/// Preferences of a server for the choice of the model. Hints take precedence over priorities.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Models that the server suggests, most preferred first.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// Importance of low cost, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// Importance of low latency, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// Importance of the model's capability, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// A model or family of models that the server suggests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelHint {
    /// Name of a model, or a part of the name that matches several models, such as `sonnet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}

/// Result of `sampling/createMessage`: the response of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Author of the message, usually the assistant.
    pub role: Role,
    /// Generated content blocks, including tool uses.
    pub content: SamplingContent,
    /// Name of the model that generated the message.
    pub model: String,
    /// Reason for the end of the generation, such as `endTurn`, `stopSequence` or `maxTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Metadata of the object: its JSON member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
}
