//! Sampling: requests of servers to a model, and the responses.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, Message, ModelErrorCode, ModelRef};

/// Sampling request of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingRequest {
    /// Messages for the model.
    pub messages: Vec<Message>,
    /// System prompt of the request.
    pub system_prompt: Option<String>,
    /// Maximum number of tokens of the response.
    pub max_tokens: u64,
    /// Sampling temperature of the model.
    pub temperature: Option<f64>,
    /// Sequences that end the response.
    pub stop_sequences: Vec<String>,
    /// Requested context: `none`, `thisServer` or `allServers`. Drawbridge never includes any.
    pub include_context: Option<String>,
    /// Names of preferred models, best first.
    pub model_hints: Vec<String>,
    /// Priority of low cost, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// Priority of speed, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// Priority of capability, from 0 to 1.
    pub intelligence_priority: Option<f64>,
    /// Tools for the model, which the server executes itself.
    #[serde(default)]
    pub tools: Vec<SamplingTool>,
    /// Tool choice of the model: `auto`, `required` or `none`.
    #[serde(default)]
    pub tool_choice: Option<String>,
    /// Further metadata of the request, as JSON.
    pub metadata: Option<Value>,
}

/// Tool in a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingTool {
    /// Name of the tool.
    pub name: String,
    /// Description from the server.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

/// Model that responds to a sampling request, with the reason for its choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingModel {
    /// Reference to the model.
    pub model: ModelRef,
    /// Name of the model to display.
    pub name: String,
    /// Reason for the choice.
    pub by: ModelChosenBy,
    /// Maximum cost in millionths of a US dollar, if the price is known.
    pub most_micros: Option<u64>,
}

/// Reason for the choice of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ModelChosenBy {
    /// The user chose it for this request.
    User,
    /// The user chose it for this server.
    Setting,
    /// The server's hint is part of its name.
    Hint {
        /// Hint as the server sent it.
        hint: String,
    },
    /// The model is the closest equivalent of a hinted model that the user does not have.
    Equivalent {
        /// Hint as the server sent it.
        hint: String,
    },
    /// The model ranks best by the server's priorities.
    Priorities {
        /// Priorities, the highest first: `cost`, `speed`, `intelligence`.
        priorities: Vec<String>,
    },
    /// The model is the user's default.
    Default,
    /// The model is the most capable one as far as known, or the first.
    First,
}

/// Content that a provider's wire protocol can't represent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingLoss {
    /// Kind of the content, by its stable name.
    pub what: String,
    /// Handling of the content: `refuse` rejects the request, `sendAfter` sends it in a following message, `sayInText`
    /// describes it in text, `leaveOut` drops it.
    pub then: String,
}

/// Progress of a model with a sampling request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SamplingRun {
    /// No request was sent to the model.
    No,
    /// The model generates its response.
    Running {
        /// Text received so far.
        text: String,
        /// `true` while the model produces thinking.
        thinking: bool,
    },
    /// The model completed its response.
    Done {
        /// Tokens of the request, as the provider reports.
        input_tokens: Option<u64>,
        /// Tokens of the response, as the provider reports.
        output_tokens: Option<u64>,
        /// Cost in millionths of a US dollar, if the price is known.
        micros: Option<u64>,
        /// `true` if the model called no tool although the server requires it.
        no_tool_used: bool,
    },
    /// The user stopped the model.
    Stopped,
    /// The request to the model failed.
    Failed {
        /// Stable identifier of the cause.
        code: ModelErrorCode,
        /// Cause and suggested remedy, for the user.
        message: String,
    },
}

/// Settings for a server's use of the user's models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingSettings {
    /// `true` if the server may send sampling requests.
    pub on: bool,
    /// `true` if requests may contain tools for the model.
    pub tools: bool,
    /// Maximum number of tokens of one response.
    pub max_tokens: u64,
    /// Model that responds regardless of the server's preferences.
    pub model: Option<ModelRef>,
    /// Limits within an hour.
    pub per_hour: SamplingLimits,
    /// Limits over all time.
    pub in_all: SamplingLimits,
}

/// Limits of usage. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingLimits {
    /// Maximum number of requests.
    pub requests: Option<u64>,
    /// Maximum number of tokens, of requests and responses together.
    pub tokens: Option<u64>,
    /// Maximum cost in millionths of a US dollar.
    pub micros: Option<u64>,
}

/// Usage of the user's models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingUsage {
    /// Number of sampling requests.
    pub requests: u64,
    /// Number of tokens, of requests and responses together.
    pub tokens: u64,
    /// Cost in millionths of a US dollar, as far as prices are known.
    pub micros: u64,
}

/// Sampling settings and usage of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingReport {
    /// Settings that the user made.
    pub settings: SamplingSettings,
    /// Usage within the last hour.
    pub within_hour: SamplingUsage,
    /// Usage over all time.
    pub in_all: SamplingUsage,
    /// Limit that currently blocks the server's requests.
    pub stopped: Option<ReachedSamplingLimit>,
    /// `true` if the running server uses older settings, until it is restarted.
    pub outdated: bool,
}

/// Limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReachedSamplingLimit {
    /// Limited quantity: `requests`, `tokens`, `money` or `rounds`.
    pub of: String,
    /// `true` for a limit per hour, `false` for one over all time.
    pub hour: bool,
    /// Value of the limit, in millionths of a US dollar for money.
    pub most: u64,
}

/// Request to change the sampling settings of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetSampling {
    /// Name of the server in the settings.
    pub server: String,
    /// New settings of the server.
    pub settings: SamplingSettings,
}

/// Response to a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingResponse {
    /// Content blocks of the response.
    pub content: Vec<Content>,
    /// Name of the model, or `user` if the user wrote the response.
    pub model: String,
    /// Reason why the generation ended.
    pub stop_reason: Option<String>,
}
