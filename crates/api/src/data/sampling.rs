//! Sampling: what a server asks a model, and what goes back.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Content, Message, ModelErrorCode, ModelRef};

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
    /// The tools it brings for the model. It runs them itself.
    #[serde(default)]
    pub tools: Vec<SamplingTool>,
    /// Whether the model has to use one: `auto`, `required` or `none`.
    #[serde(default)]
    pub tool_choice: Option<String>,
    /// What else it sent along, as JSON.
    pub metadata: Option<Value>,
}

/// A tool that a server brings for a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingTool {
    /// Its name.
    pub name: String,
    /// What it does, as the server says.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub input_schema: Value,
}

/// The model that answers a server's request, and why that one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingModel {
    /// The model.
    pub model: ModelRef,
    /// Its name, to show.
    pub name: String,
    /// Why.
    pub by: ModelChosenBy,
    /// What it costs at the most, in millionths of a US dollar, if its price is known.
    pub most_micros: Option<u64>,
}

/// Why a model was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ModelChosenBy {
    /// The user chose it for this request.
    User,
    /// The user chose it for this server.
    Setting,
    /// This hint of the server is in its name.
    Hint {
        /// The hint, in the server's words.
        hint: String,
    },
    /// It is most like what this hint names, which the user has not.
    Equivalent {
        /// The hint, in the server's words.
        hint: String,
    },
    /// It does best in what matters to the server.
    Priorities {
        /// What matters, the most important first: `cost`, `speed`, `intelligence`.
        priorities: Vec<String>,
    },
    /// It is the user's default model.
    Default,
    /// It is the most able one, as far as that is known, or the first.
    First,
}

/// Something that a provider can't carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingLoss {
    /// What it is, by its stable name.
    pub what: String,
    /// What is done about it: `refuse`, `sendAfter`, `sayInText` or `leaveOut`.
    pub then: String,
}

/// How far a model is with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum SamplingRun {
    /// It was not asked.
    No,
    /// It answers.
    Running {
        /// What it said so far.
        text: String,
        /// Whether it thinks first.
        thinking: bool,
    },
    /// It answered.
    Done {
        /// Tokens of the request, as the provider says.
        input_tokens: Option<u64>,
        /// Tokens of the answer, as the provider says.
        output_tokens: Option<u64>,
        /// What that cost, in millionths of a US dollar, if its price is known.
        micros: Option<u64>,
        /// Whether it used no tool though the server wants one to be used.
        no_tool_used: bool,
    },
    /// The user stopped it.
    Stopped,
    /// It did not answer.
    Failed {
        /// Stable identifier of the cause.
        code: ModelErrorCode,
        /// The cause, and what to do.
        message: String,
    },
}

/// How a server may use the user's models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingSettings {
    /// Whether it may ask at all.
    pub on: bool,
    /// Whether its requests may bring tools for the model.
    pub tools: bool,
    /// The most tokens of one answer.
    pub max_tokens: u64,
    /// The model that answers, whatever the server would like.
    pub model: Option<ModelRef>,
    /// The most within an hour.
    pub per_hour: SamplingLimits,
    /// The most in all.
    pub in_all: SamplingLimits,
}

/// The most that may be used. None is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingLimits {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens, of requests and answers together.
    pub tokens: Option<u64>,
    /// Money, in millionths of a US dollar.
    pub micros: Option<u64>,
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingSpent {
    /// Requests.
    pub requests: u64,
    /// Tokens, of requests and answers together.
    pub tokens: u64,
    /// Money, in millionths of a US dollar, as far as prices are known.
    pub micros: u64,
}

/// How a server may use the user's models, and how much it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingReport {
    /// What the user set.
    pub settings: SamplingSettings,
    /// What it used within the hour.
    pub within_hour: SamplingSpent,
    /// What it used in all.
    pub in_all: SamplingSpent,
    /// The limit that stops it now.
    pub stopped: Option<SamplingStopped>,
    /// Whether it runs with other settings than these, and learns of them when it is started again.
    pub outdated: bool,
}

/// A limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SamplingStopped {
    /// Of what: `requests`, `tokens`, `money` or `rounds`.
    pub of: String,
    /// Whether it counts within an hour, and not for all time.
    pub hour: bool,
    /// How much; of money in millionths of a US dollar.
    pub most: u64,
}

/// How a server may use the user's models from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetSampling {
    /// The server.
    pub server: String,
    /// As it should be.
    pub settings: SamplingSettings,
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
