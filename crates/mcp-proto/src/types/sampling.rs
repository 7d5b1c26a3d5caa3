//! Answers of a model that a server asks for (`client/sampling`).

use serde::{Deserialize, Serialize};

use super::lenient::{null_as_default, required_whole_number};
use super::{ContentBlock, Map, Role, Tool};

/// What the server wants the model to do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model would suit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// System prompt, which the client may change or leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Whose context the server would like to have added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Upper bound of tokens to generate.
    #[serde(deserialize_with = "required_whole_number")]
    pub max_tokens: u64,
    /// Texts that end the answer.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Passed on to the provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map>,
    /// Tools for the model, since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// How the model uses them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// Whose context to add to a sampling request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncludeContext {
    /// No one's.
    None,
    /// The asking server's.
    ThisServer,
    /// All servers'.
    AllServers,
}

/// Whether the model must, may or must not use tools; absent means `auto`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChoice {
    /// `auto`, `required` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// One block, or several since 2025-11-25.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SamplingContent {
    /// One block.
    One(ContentBlock),
    /// A list of blocks.
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// The blocks in order, however they were written.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            SamplingContent::One(block) => std::slice::from_ref(block),
            SamplingContent::Many(blocks) => blocks,
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Not derived: an untagged enum would hide which block is wrong and why.
        let value = serde_json::Value::deserialize(deserializer)?;
        if value.is_array() {
            Vec::deserialize(value).map(SamplingContent::Many)
        } else {
            ContentBlock::deserialize(value).map(SamplingContent::One)
        }
        .map_err(serde::de::Error::custom)
    }
}

/// Which model would suit; hints come before the numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Names or parts of names, the most wanted first.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// How much a low price matters, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// How much speed matters, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// How much ability matters, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// A part of a model's name.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelHint {
    /// For instance `sonnet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}

/// The answer that goes back to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// Who says it, usually the assistant.
    pub role: Role,
    /// What is said.
    pub content: SamplingContent,
    /// Name of the model that answered.
    pub model: String,
    /// Why it stopped, such as `endTurn`, `stopSequence` or `maxTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map>,
}
