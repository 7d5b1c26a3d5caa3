//! The providers of models, and their models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ModelProblem, ModelRef, ProviderKind, ProviderPreset};

/// The providers, and what could be one.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Models {
    /// The providers that are set up, in order.
    pub providers: Vec<ModelProvider>,
    /// The model that new conversations begin with.
    pub default: Option<ModelRef>,
    /// What serves models on this computer and is not set up yet.
    pub found: Vec<FoundProvider>,
    /// What can be set up by a click.
    pub presets: Vec<ProviderPreset>,
}

/// A provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelProvider {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The wire it speaks.
    pub kind: ProviderKind,
    /// Where its API begins.
    pub url: String,
    /// After how many seconds without a byte an answer is given up, if the user chose it.
    pub silence_seconds: Option<u32>,
    /// What its wire can't carry, and what is done with each.
    pub losses: Vec<Loss>,
    /// Whether it has a key for this address.
    pub has_key: bool,
    /// Whether it runs on this computer.
    pub local: bool,
    /// Whether what is sent there, the key too, can be read on the way.
    pub readable: bool,
    /// Its models, as it listed them last.
    pub models: Vec<Model>,
    /// When that was, in milliseconds since 1970; none if it never did.
    pub listed_at: Option<u64>,
    /// Why it did not answer when it was asked last.
    pub problem: Option<ModelProblem>,
}

/// Something that a wire can't carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Loss {
    /// What, such as `imageInToolResult`.
    pub what: String,
    /// What is done: `refuse`, `sendAfter`, `sayInText` or `leaveOut`.
    pub then: String,
    /// What can be chosen.
    pub choices: Vec<String>,
}

/// A model. What is not known is not there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Its id, as the provider names it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How many tokens request and answer may have together.
    pub context: Option<u32>,
    /// How many tokens an answer may have.
    pub max_output: Option<u32>,
    /// What it costs.
    pub price: Option<ModelPrice>,
    /// Whether it takes pictures.
    pub images: Option<bool>,
    /// Whether it takes recordings.
    pub audio: Option<bool>,
    /// Whether it takes files.
    pub files: Option<bool>,
    /// Whether it takes tools.
    pub tools: Option<bool>,
    /// Whether it can be told to think first.
    pub thinking: Option<bool>,
}

/// What a model costs, for a million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Of the request.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// The currency, such as `USD`.
    pub currency: String,
    /// The day on which this was so, or who says so.
    pub as_of: String,
}

/// What serves models on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FoundProvider {
    /// The preset that it is set up with.
    pub preset: String,
    /// Its name.
    pub name: String,
    /// Where.
    pub url: String,
    /// The names of its models.
    pub models: Vec<String>,
}

/// What the user says of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetProvider {
    /// Its id: letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The wire.
    pub kind: ProviderKind,
    /// Where its API begins.
    pub url: String,
    /// After how many seconds without a byte an answer is given up; none for the usual.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub silence_seconds: Option<u32>,
    /// What is done with what its wire can't carry, where the user chose it.
    #[serde(default)]
    pub conversions: Vec<ConversionChoice>,
}

/// What is done with something that a wire can't carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversionChoice {
    /// What.
    pub what: String,
    /// What is done.
    pub then: String,
}

/// A provider, by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderId {
    /// Its id.
    pub id: String,
}

/// A provider's key, for the address that it has now.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetProviderKey {
    /// The provider.
    pub id: String,
    /// The key; empty to forget it.
    pub key: String,
}

impl std::fmt::Debug for SetProviderKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetProviderKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What to try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TestProvider {
    /// The provider.
    pub id: String,
    /// The model that is asked to say something; none if only the list is read.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub model: Option<String>,
}

/// What a test found. It can be shown as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// How many models it lists.
    pub models: u32,
    /// What the model said.
    pub said: Option<String>,
    /// After how many milliseconds it began.
    pub first_milliseconds: Option<u64>,
    /// Why it did not go well.
    pub problem: Option<ModelProblem>,
}

/// The model that new conversations begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DefaultModel {
    /// The model; none for none.
    pub model: Option<ModelRef>,
}
