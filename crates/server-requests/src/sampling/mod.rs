//! Sampling requests, with which a server uses one of the user's models. Contains what needs no state of the host:
//! budgets, the selection of a model, and the conversion between the protocol's types and those of models.

pub mod conversion;
mod estimate;
pub mod model_choice;
mod model_usage;
mod settings;

pub use conversion::SamplingConversionError;
pub use estimate::estimated_input_tokens;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Role, SamplingContent};
pub use model_choice::{ModelChoiceReason, ModelPriority};
pub use model_usage::{LimitPeriod, LimitedQuantity, ModelUsage, ModelUsageRecord, ReachedLimit};
use models::{LossyConversion, ModelErrorCode, ModelRef, TokenUsage};
use policy::{Hash, LastUse};
use serde_json::json;
pub use settings::{Budget, SamplingSettings};

/// Model name in the result of a sampling request that the user answered without a model.
pub const MODEL_NAME_OF_USER_ANSWERS: &str = "user";

/// Returns an empty sampling result, into which the user writes an answer.
#[must_use]
pub fn empty_sampling_result() -> CreateMessageResult {
    CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(Vec::new()),
        model: MODEL_NAME_OF_USER_ANSWERS.to_owned(),
        stop_reason: Some("endTurn".to_owned()),
        meta: None,
    }
}

/// Processing state of a sampling request: the selected model, the attempts to get an answer, and the answer so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplingState {
    /// Model that will answer if the user approves the request. `None` if the user writes the answer.
    pub model: Option<ModelChoice>,
    /// Maximum number of tokens of the answer that the server requested. The model never gets a higher limit.
    pub wanted_tokens: u64,
    /// Parts of the request that the API of the model's provider can't represent, with their conversions.
    pub losses: Vec<LossyConversion>,
    /// Number of times that the request was sent to a model.
    pub attempts: u32,
    /// Hash of the last approved request that was sent to a model, or `None` if none was sent.
    pub last_sent: Option<Hash>,
    /// State of the model's answer.
    pub run: ModelAnswerState,
}

/// Returns the hash of everything that is sent to a model: the request, the model, the settings of its provider, and
/// the conversions of unsupported parts.
#[must_use]
pub fn sampling_request_hash(request: &CreateMessageParams, state: &SamplingState) -> Hash {
    let model = state.model.as_ref().map(|own| (&own.model, &own.provider));
    Hash::of_json(&json!({ "request": request, "model": model, "losses": state.losses }))
}

/// Returns the hash of the last request that was approved and sent, if asking the model again would send exactly the
/// same. Returns `None` if none was sent, or if the request or the model has changed since.
#[must_use]
pub fn previously_approved_hash(request: &CreateMessageParams, state: &SamplingState) -> Option<Hash> {
    let last_sent = state.last_sent.as_ref()?;
    (sampling_request_hash(request, state) == *last_sent).then(|| last_sent.clone())
}

/// Model that was selected to answer a sampling request, and the reason for its selection.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// Reference to the selected model and its provider.
    pub model: ModelRef,
    /// Display name of the model.
    pub name: String,
    /// Reason why this model was selected.
    pub by: ModelChoiceReason,
    /// Hash of the provider's settings: its URL, and its conversions of unsupported content. `None` if the provider is
    /// not in the settings.
    pub provider: Option<Hash>,
    /// Maximum cost of the request in millionths of a US dollar, or `None` if the price is unknown.
    pub most_micros: Option<u64>,
}

/// State of a model's answer to a sampling request.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ModelAnswerState {
    /// The request has not been sent to a model yet.
    #[default]
    No,
    /// The model is generating its answer.
    Running {
        /// Text of the answer so far.
        text: String,
        /// Set while the model is reasoning.
        thinking: bool,
    },
    /// The answer is complete.
    Done {
        /// Token usage as reported by the provider.
        usage: TokenUsage,
        /// Cost in millionths of a US dollar, or `None` if the price is unknown.
        micros: Option<u64>,
        /// Requirement of the server that the answer does not fulfil, or `None`.
        note: Option<UnmetRequirementNote>,
    },
    /// The user stopped the model. The partial answer is stored, so that the user can continue it.
    Stopped,
    /// The model could not answer.
    Failed {
        /// Stable identifier of the cause.
        code: ModelErrorCode,
        /// Message for the user with the cause, and with a remedy if there is one.
        message: String,
    },
}

/// Requirement of the server that the model's answer does not fulfil.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmetRequirementNote {
    /// The server required a tool use, but the answer has none.
    NoToolUsed,
}

/// Sampling settings of a server, and how much of its budget it has used.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingReport {
    /// Sampling settings that the user chose for the server.
    pub settings: SamplingSettings,
    /// Usage within the last 60 minutes.
    pub within_hour: ModelUsage,
    /// Total usage since the first request.
    pub in_all: ModelUsage,
    /// Last request that used a model, or `None` if there was none.
    pub last_use: Option<LastUse>,
    /// Limit that currently blocks sampling requests of the server, or `None`.
    pub stopped: Option<ReachedLimit>,
    /// Set if the MCP session was opened with other settings, so that the server must be restarted to apply these.
    pub is_outdated: bool,
}

/// Returns the number of messages with tool results, each of which ends a tool round (the use of tools by the model).
#[must_use]
pub fn count_tool_rounds(params: &CreateMessageParams) -> usize {
    let has_result = |content: &SamplingContent| {
        content.blocks().iter().any(|block| matches!(block, mcp_proto::types::ContentBlock::ToolResult(_)))
    };
    params.messages.iter().filter(|message| has_result(&message.content)).count()
}
