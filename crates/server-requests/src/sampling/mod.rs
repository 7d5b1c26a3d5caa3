//! Sampling: a server asks for a model's answer. Here is what can be said of that without the owner: how much a server may use,
//! which model fits, and how the protocol's words become those of models and back.

pub mod choose;
pub mod convert;
mod estimate;
mod settings;
mod spending;

pub use choose::{ChosenBy, Priority};
pub use convert::Unfit;
pub use estimate::estimated_tokens;
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, Role, SamplingContent};
use models::{Loss, ModelRef, TokenUse};
use policy::Hash;
use serde_json::json;
pub use settings::{Budget, SamplingSettings};
pub use spending::{Limit, LimitOf, Span, Spending, Spent};

/// The model's name in an answer that the user wrote.
pub const WRITTEN_BY_USER: &str = "user";

/// An answer with nothing in it yet.
#[must_use]
pub fn empty_response() -> CreateMessageResult {
    CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(Vec::new()),
        model: WRITTEN_BY_USER.to_owned(),
        stop_reason: Some("endTurn".to_owned()),
        meta: None,
    }
}

/// How a request stands, beside what is asked and what goes back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplingState {
    /// The model that answers when the request is let through; none if the user writes the answer.
    pub model: Option<Choice>,
    /// How many tokens the server wants at the most. It never gets more.
    pub wanted_tokens: u64,
    /// What the model's provider can't carry of it, and what is done about each.
    pub losses: Vec<Loss>,
    /// How often a model was asked.
    pub attempts: u32,
    /// The hash of what was approved for a model and sent to it last; none before the first time.
    pub asked: Option<Hash>,
    /// How far the model is.
    pub run: Run,
}

/// Over what leaves when a model is asked: the request, the model, how its provider is set up, and what is left out of it.
#[must_use]
pub fn ask_hash(request: &CreateMessageParams, state: &SamplingState) -> Hash {
    let model = state.model.as_ref().map(|own| (&own.model, &own.provider));
    Hash::of(&json!({ "request": request, "model": model, "losses": state.losses }))
}

/// What "ask again" would send: exactly what was approved and sent before. None before the first time, and once the request or
/// the model is another.
#[must_use]
pub fn asked_before(request: &CreateMessageParams, state: &SamplingState) -> Option<Hash> {
    let asked = state.asked.as_ref()?;
    (ask_hash(request, state) == *asked).then(|| asked.clone())
}

/// The model that answers, and why that one.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The model.
    pub model: ModelRef,
    /// Its name, to show.
    pub name: String,
    /// Why.
    pub by: ChosenBy,
    /// How its provider is set up: where it is asked, and what is done about what it can't carry. None for a provider that is
    /// not in the settings.
    pub provider: Option<Hash>,
    /// What it costs at the most, in millionths of a US dollar, if its price is known.
    pub most_micros: Option<u64>,
}

/// How far a model is with its answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Run {
    /// It was not asked.
    #[default]
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
        /// What it took, as the provider says it.
        usage: TokenUse,
        /// What that cost, in millionths of a US dollar, if its price is known.
        micros: Option<u64>,
        /// What of the server's wishes it did not keep to.
        note: Option<RunNote>,
    },
    /// The user stopped it. What it said until then is the answer, for the user to go on from.
    Stopped,
    /// It did not answer.
    Failed {
        /// A stable name of the cause.
        code: &'static str,
        /// The cause, and what to do.
        message: String,
    },
}

/// What a model did not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunNote {
    /// The server wants a tool to be used, and the model used none.
    NoToolUsed,
}

/// How much of the user's models a server may use and has used.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingReport {
    /// What the user set.
    pub settings: SamplingSettings,
    /// What it used within the hour.
    pub within_hour: Spent,
    /// What it used in all.
    pub in_all: Spent,
    /// The limit that stops it now.
    pub stopped: Option<Limit>,
    /// Whether its session was opened with other settings, so that it has to be started again to learn of these.
    pub is_outdated: bool,
}

/// How many rounds of tools a request has behind it: messages of results.
#[must_use]
pub fn tool_rounds(params: &CreateMessageParams) -> usize {
    let has_result = |content: &SamplingContent| {
        content.blocks().iter().any(|block| matches!(block, mcp_proto::types::ContentBlock::ToolResult(_)))
    };
    params.messages.iter().filter(|message| has_result(&message.content)).count()
}
