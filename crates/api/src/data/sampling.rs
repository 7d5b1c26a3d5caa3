//! Sampling: requests of servers to a model, and the responses to them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, LastUse, Message, ModelErrorCode, ModelRef};

/// Sampling request of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingRequest {
    /// Messages that the model receives, in order.
    pub messages: Vec<Message>,
    /// System prompt that the server requests, or `None` if it requests none.
    pub system_prompt: Option<String>,
    /// Maximum number of tokens of the response.
    pub max_tokens: u64,
    /// Sampling temperature that the server requests, or `None` for the model's default.
    pub temperature: Option<f64>,
    /// Sequences that end the response.
    pub stop_sequences: Vec<String>,
    /// Context that the server requests: `none`, `thisServer` or `allServers`. Drawbridge never adds any context.
    pub include_context: Option<String>,
    /// Names of models that the server prefers, best first.
    pub model_hints: Vec<String>,
    /// Priority that the server gives to low cost, from 0 to 1, or `None` if it gives none.
    pub cost_priority: Option<f64>,
    /// Priority that the server gives to speed, from 0 to 1, or `None` if it gives none.
    pub speed_priority: Option<f64>,
    /// Priority that the server gives to the capabilities of the model, from 0 to 1, or `None` if it gives none.
    pub intelligence_priority: Option<f64>,
    /// Tools for the model. The server executes their calls.
    #[serde(default)]
    pub tools: Vec<SamplingTool>,
    /// Mode of tool choice: `auto`, `required` or `none`.
    #[serde(default)]
    pub tool_choice: Option<String>,
    /// Metadata for the model's provider, as JSON.
    pub metadata: Option<Value>,
}

/// Tool in a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingTool {
    /// Name of the tool, which the model's calls refer to.
    pub name: String,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

/// Model that responds to a sampling request, with the reason for its choice.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingModel {
    /// Provider and identifier of the model.
    pub model: ModelRef,
    /// Name of the model to display.
    pub name: String,
    /// Reason why this model was chosen.
    pub reason: ModelChoiceReason,
    /// Maximum cost of the request in millionths of a US dollar, or `None` if the price is unknown.
    pub max_micros: Option<u64>,
}

/// Reason why a model was chosen for a sampling request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ModelChoiceReason {
    /// The user selected the model for this request.
    User,
    /// The user configured the model for this server.
    Setting,
    /// The model's name contains a model hint that the server sent.
    Hint {
        /// Model hint, as the server sent it.
        hint: String,
    },
    /// The server's hint names a model that is not available, and this model is its closest equivalent.
    Equivalent {
        /// Model hint, as the server sent it.
        hint: String,
    },
    /// The model ranks best among the available models according to the server's priorities.
    Priorities {
        /// Priorities, the highest first: `cost`, `speed`, `intelligence`.
        priorities: Vec<String>,
    },
    /// The model is the user's default model.
    Default,
    /// Nothing determines a model, so the most capable one was chosen, or the first one if the capabilities are
    /// unknown.
    First,
}

/// Content that a provider's API can't represent, and its conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SamplingLoss {
    /// Stable identifier of the kind of content, or of the request parameter, that can't be represented.
    pub feature: String,
    /// Conversion of the content: `refuse` rejects the request, `sendAfter` sends the content in a following message,
    /// `sayInText` describes it in text, `leaveOut` drops it.
    pub conversion: String,
}

/// Progress of a model that responds to a sampling request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SamplingRunState {
    /// The request was not sent to a model.
    No,
    /// The model generates its response.
    Running {
        /// Text that the model has generated so far.
        text: String,
        /// `true` while the model reasons before it generates text.
        thinking: bool,
    },
    /// The model completed its response.
    Done {
        /// Number of tokens in the request, as reported by the provider, or `None` if it reports none.
        input_tokens: Option<u64>,
        /// Number of tokens in the response, as reported by the provider, or `None` if it reports none.
        output_tokens: Option<u64>,
        /// Cost in millionths of a US dollar, if the price is known.
        micros: Option<u64>,
        /// `true` if the model called no tool although the request requires a tool call.
        no_tool_used: bool,
    },
    /// The user stopped the model.
    Stopped,
    /// The request to the model failed.
    Failed {
        /// Stable identifier of the error's cause.
        code: ModelErrorCode,
        /// Cause and suggested remedy, for the user.
        message: String,
    },
}

/// Settings for sampling requests of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingSettings {
    /// `true` if the server may send sampling requests.
    pub is_enabled: bool,
    /// `true` if the requests may contain tools for the model.
    pub tools: bool,
    /// Maximum number of tokens of one response.
    pub max_tokens: u64,
    /// Model that responds to all requests, or `None` to choose it by the server's preferences.
    pub model: Option<ModelRef>,
    /// Limits on the server's usage of models within one hour.
    pub per_hour: SamplingLimits,
    /// Limits on the server's total usage of models.
    pub total: SamplingLimits,
}

/// Limits on the usage of the user's models. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingLimits {
    /// Maximum number of sampling requests, or `None` for no limit.
    pub requests: Option<u64>,
    /// Maximum number of tokens, of requests and responses together, or `None` for no limit.
    pub tokens: Option<u64>,
    /// Maximum cost in millionths of a US dollar, or `None` for no limit.
    pub micros: Option<u64>,
}

/// Usage of the user's models by one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
pub struct SamplingUsage {
    /// Number of sampling requests.
    pub requests: u64,
    /// Number of tokens, of requests and responses together.
    pub tokens: u64,
    /// Cost in millionths of a US dollar, without requests whose price is unknown.
    pub micros: u64,
}

/// Sampling settings and usage of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingReport {
    /// Sampling settings that the user made for the server.
    pub settings: SamplingSettings,
    /// The server's usage of models within the last hour.
    pub last_hour: SamplingUsage,
    /// The server's total usage of models, without a time limit.
    pub total: SamplingUsage,
    /// Last request of the server or its apps that used a model, or `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_use: Option<LastUse>,
    /// Reached limit that currently blocks requests, or `None` if no limit is reached.
    pub reached_limit: Option<ReachedSamplingLimit>,
    /// `true` if the server must be restarted, because the sampling capability that was declared to it differs from the
    /// current settings.
    pub outdated: bool,
}

/// Limit on a server's usage of models that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReachedSamplingLimit {
    /// Limited quantity: `requests`, `tokens`, `money` or `rounds`.
    pub quantity: String,
    /// `true` for a limit per hour, `false` for one over all time.
    pub is_per_hour: bool,
    /// Value of the limit. Money is in millionths of a US dollar.
    pub limit: u64,
}

/// Request to change the sampling settings of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetSampling {
    /// Name of the server in the settings.
    pub server: String,
    /// New sampling settings of the server.
    pub settings: SamplingSettings,
}

/// Response to a sampling request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingResponse {
    /// Content blocks of the response.
    pub content: Vec<Content>,
    /// Name of the model that generated the response, or `user` if the user wrote it.
    pub model: String,
    /// Reason why the model ended the response.
    pub stop_reason: Option<String>,
}
