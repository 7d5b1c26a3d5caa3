//! Sampling: what a server asks a model, and what goes back.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, Message};

/// What a server asks a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingRequest {
    /// The messages.
    pub messages: Vec<Message>,
    /// How the model should behave.
    pub system_prompt: Option<String>,
    /// The most tokens the answer may have.
    pub max_tokens: u64,
    /// How free the answer may be.
    pub temperature: Option<f64>,
    /// Where the answer should end.
    pub stop_sequences: Vec<String>,
    /// `none`, `thisServer` or `allServers`; nothing is ever included.
    pub include_context: Option<String>,
    /// Models it would like, best first.
    pub model_hints: Vec<String>,
    /// How much cost matters, 0 to 1.
    pub cost_priority: Option<f64>,
    /// How much speed matters, 0 to 1.
    pub speed_priority: Option<f64>,
    /// How much skill matters, 0 to 1.
    pub intelligence_priority: Option<f64>,
    /// What else it sent along, as JSON.
    pub metadata: Option<Value>,
}

/// What goes back for a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingResponse {
    /// What is said.
    pub content: Vec<Content>,
    /// Who wrote it: `user` when the user answers by hand.
    pub model: String,
    /// Why it ended.
    pub stop_reason: Option<String>,
}
