//! Sampling requests: a server asks for a model's answer. Holds everything that is independent of the owner:
//! budgets, the selection of a model, and the conversion between the protocol's types and those of models.

pub mod conversion;
mod estimate;
pub mod model_choice;
mod model_usage;
mod settings;

pub use conversion::ConversionError;
pub use estimate::estimated_tokens;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Role, SamplingContent};
pub use model_choice::{ModelChoiceReason, ModelPriority};
pub use model_usage::{LimitPeriod, LimitedQuantity, ModelUsage, ReachedLimit, UsageRecord};
use models::{LossyConversion, ModelErrorCode, ModelRef, TokenUsage};
use policy::Hash;
use serde_json::json;
pub use settings::{Budget, SamplingSettings};

/// Model name in the result of a request that the user answered.
pub const USER_MODEL_NAME: &str = "user";

/// Returns a result without content, for an answer that the user writes.
#[must_use]
pub fn empty_response() -> CreateMessageResult {
    CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(Vec::new()),
        model: USER_MODEL_NAME.to_owned(),
        stop_reason: Some("endTurn".to_owned()),
        meta: None,
    }
}

/// The state of a sampling request, apart from its content and its answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplingState {
    /// Model that answers if the request is approved. `None` if the user writes the answer.
    pub model: Option<ModelChoice>,
    /// Maximum number of tokens that the server asked for. It never gets more.
    pub wanted_tokens: u64,
    /// Parts of the request that the model's provider doesn't support, with their consequence.
    pub losses: Vec<LossyConversion>,
    /// Number of times a model was asked.
    pub attempts: u32,
    /// Hash of the last approved request that was sent to a model. `None` before the first time.
    pub asked: Option<Hash>,
    /// Progress of the model.
    pub run: ModelAnswerState,
}

/// Returns the hash of what is sent to a model: the request, the model, the settings of its provider, and what is
/// left out of it.
#[must_use]
pub fn request_hash(request: &CreateMessageParams, state: &SamplingState) -> Hash {
    let model = state.model.as_ref().map(|own| (&own.model, &own.provider));
    Hash::of_json(&json!({ "request": request, "model": model, "losses": state.losses }))
}

/// Returns the hash of what "ask again" would send, if that is exactly what was approved and sent before. `None`
/// before the first time, and if the request or model changed since.
#[must_use]
pub fn previously_approved_hash(request: &CreateMessageParams, state: &SamplingState) -> Option<Hash> {
    let asked = state.asked.as_ref()?;
    (request_hash(request, state) == *asked).then(|| asked.clone())
}

/// The selected model, and the reason for the selection.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChoice {
    /// Model that serves the request.
    pub model: ModelRef,
    /// Display name of the model.
    pub name: String,
    /// Reason for the selection.
    pub by: ModelChoiceReason,
    /// Hash of the provider's settings: its URL, and the handling of what it doesn't support. `None` for a provider
    /// that is not in the settings.
    pub provider: Option<Hash>,
    /// Maximum cost in millionths of a US dollar, if the price is known.
    pub most_micros: Option<u64>,
}

/// The progress of a model's answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ModelAnswerState {
    /// No model was asked.
    #[default]
    No,
    /// The model is answering.
    Running {
        /// Answer received so far.
        text: String,
        /// Set while the model is reasoning.
        thinking: bool,
    },
    /// The model has answered.
    Done {
        /// Token usage as reported by the provider.
        usage: TokenUsage,
        /// Cost in millionths of a US dollar, if the price is known.
        micros: Option<u64>,
        /// Request of the server that the answer doesn't fulfil.
        note: Option<AnswerNote>,
    },
    /// The user stopped the model. The partial answer is kept for the user to continue.
    Stopped,
    /// The model could not answer.
    Failed {
        /// Stable identifier of the cause.
        code: ModelErrorCode,
        /// Cause, and what the user can do about it.
        message: String,
    },
}

/// A request of the server that an answer doesn't fulfil.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerNote {
    /// The server requires a tool use, and the answer has none.
    NoToolUsed,
}

/// The budget of a server for the user's models, and its usage.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingReport {
    /// Settings of the user.
    pub settings: SamplingSettings,
    /// Usage within the last hour.
    pub within_hour: ModelUsage,
    /// Total usage since the first request.
    pub in_all: ModelUsage,
    /// Limit that currently blocks the server.
    pub stopped: Option<ReachedLimit>,
    /// Set if the session was opened with other settings, so the server must be restarted for these to take effect.
    pub is_outdated: bool,
}

/// Returns the number of completed tool rounds of a request: messages with tool results.
#[must_use]
pub fn tool_rounds(params: &CreateMessageParams) -> usize {
    let has_result = |content: &SamplingContent| {
        content.blocks().iter().any(|block| matches!(block, mcp_proto::types::ContentBlock::ToolResult(_)))
    };
    params.messages.iter().filter(|message| has_result(&message.content)).count()
}
