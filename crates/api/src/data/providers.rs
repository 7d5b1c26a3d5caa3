//! Model providers and their models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ModelProblem, ModelRef, ProviderKind, ProviderPreset};

/// Model providers, both configured and available.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Models {
    /// Configured providers, in order.
    pub providers: Vec<ModelProvider>,
    /// Model of new conversations.
    pub default: Option<ModelRef>,
    /// Model servers on this computer that are not configured yet.
    pub found: Vec<FoundProvider>,
    /// Presets for the setup of a provider.
    pub presets: Vec<ProviderPreset>,
}

/// Configured provider of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelProvider {
    /// Identifier of the provider.
    pub id: String,
    /// Name of the provider.
    pub name: String,
    /// Wire protocol of the provider.
    pub kind: ProviderKind,
    /// Base URL of the API.
    pub url: String,
    /// Timeout of a reply in seconds without a received byte, if the user set it.
    pub silence_seconds: Option<u32>,
    /// Content that the wire protocol can't represent, and how each kind is converted.
    pub losses: Vec<LossyConversion>,
    /// `true` if an API key is stored for this URL.
    pub has_key: bool,
    /// `true` if the provider runs on this computer.
    pub local: bool,
    /// `true` if requests, including the API key, are sent unencrypted.
    pub readable: bool,
    /// Models that the provider listed last.
    pub models: Vec<Model>,
    /// Time of the last list, in milliseconds since 1970, or `None` if there is none.
    pub listed_at: Option<u64>,
    /// Error of the last request to the provider, if it failed.
    pub problem: Option<ModelProblem>,
}

/// Content that a wire protocol can't represent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LossyConversion {
    /// Kind of the content, such as `imageInToolResult`.
    pub what: String,
    /// Handling of the content: `refuse` rejects the request, `sendAfter` sends it in a following message, `sayInText`
    /// describes it in text, `leaveOut` drops it.
    pub then: String,
    /// Conversions that can be chosen.
    pub choices: Vec<String>,
}

/// Model of a provider. Unknown properties are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Identifier of the model at the provider.
    pub id: String,
    /// Name of the model to display.
    pub name: String,
    /// Context size in tokens, for request and reply together.
    pub context: Option<u32>,
    /// Maximum number of tokens in a reply.
    pub max_output: Option<u32>,
    /// Price of the model.
    pub price: Option<ModelPrice>,
    /// `true` if the model accepts images.
    pub images: Option<bool>,
    /// `true` if the model accepts audio.
    pub audio: Option<bool>,
    /// `true` if the model accepts files.
    pub files: Option<bool>,
    /// `true` if the model supports tools.
    pub tools: Option<bool>,
    /// `true` if thinking can be enabled.
    pub thinking: Option<bool>,
}

/// Price of a model per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Price of the request's tokens.
    pub input: f64,
    /// Price of the reply's tokens.
    pub output: f64,
    /// Currency code, such as `USD`.
    pub currency: String,
    /// Date or source of the price.
    pub as_of: String,
}

/// Model server that was found on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FoundProvider {
    /// Identifier of the preset for its setup.
    pub preset: String,
    /// Name of the model server.
    pub name: String,
    /// Base URL of the API.
    pub url: String,
    /// Names of the available models.
    pub models: Vec<String>,
}

/// Request to add or change a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetProvider {
    /// Identifier of letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Name of the provider.
    pub name: String,
    /// Wire protocol of the provider.
    pub kind: ProviderKind,
    /// Base URL of the API.
    pub url: String,
    /// Timeout of a reply in seconds without a received byte, or `None` for the default.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub silence_seconds: Option<u32>,
    /// Conversions that the user chose for content that the wire protocol can't represent.
    #[serde(default)]
    pub conversions: Vec<ConversionChoice>,
}

/// Conversion chosen for content that a wire protocol can't represent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConversionChoice {
    /// Kind of the content, as in [`LossyConversion::what`].
    pub what: String,
    /// Conversion, as in [`LossyConversion::then`].
    pub then: String,
}

/// Reference to a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProviderId {
    /// Identifier of the provider.
    pub id: String,
}

/// API key of a provider, bound to the provider's current URL.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetProviderKey {
    /// Identifier of the provider.
    pub id: String,
    /// API key, or empty to delete it.
    pub key: String,
}

impl std::fmt::Debug for SetProviderKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetProviderKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Request to test a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TestProvider {
    /// Identifier of the provider.
    pub id: String,
    /// Model to request a reply from, or `None` to only list the models.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub model: Option<String>,
}

/// Result of a provider test, safe to display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// Number of models that the provider lists.
    pub models: u32,
    /// Text of the model's reply.
    pub said: Option<String>,
    /// Time to the first token, in milliseconds.
    pub first_milliseconds: Option<u64>,
    /// Error of the test, if it failed.
    pub problem: Option<ModelProblem>,
}

/// Model of new conversations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DefaultModel {
    /// Model, or `None` to have no default.
    pub model: Option<ModelRef>,
}
