//! Model providers and their models.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ModelProblem, ModelRef, ProviderKind, ProviderPreset};

/// Configured model providers, model servers found on this computer, and presets.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Models {
    /// Configured providers, in the order in which they were added.
    pub providers: Vec<ModelProvider>,
    /// Default model of new conversations, or `None` if there is none.
    pub default: Option<ModelRef>,
    /// Model servers on this computer that are not configured yet.
    pub found: Vec<FoundModelServer>,
    /// Presets for adding a known provider.
    pub presets: Vec<ProviderPreset>,
}

/// Model provider that the user configured, with its models.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelProvider {
    /// Identifier that the user chose for the provider.
    pub id: String,
    /// Name of the provider for display.
    pub name: String,
    /// Kind of the provider, which determines the API that Drawbridge uses.
    pub kind: ProviderKind,
    /// Base URL to which paths of the provider's API are appended.
    pub url: String,
    /// Maximum time without received data during a reply, in seconds, or `None` for the default.
    pub silence_seconds: Option<u32>,
    /// Content that the provider's API can't represent, and the conversion of each kind.
    pub losses: Vec<LossyConversion>,
    /// `true` if an API key is stored for this URL.
    pub has_key: bool,
    /// `true` if the provider runs on this computer.
    pub local: bool,
    /// `true` if requests and the API key are sent unencrypted over the network.
    pub is_unencrypted: bool,
    /// Models that the provider's last list contained.
    pub models: Vec<Model>,
    /// Time at which the provider last listed its models, in milliseconds since 1970, or `None` if it never did.
    pub listed_at: Option<u64>,
    /// Error of the last request to the provider, or `None` if it succeeded.
    pub problem: Option<ModelProblem>,
}

/// Content that a provider's API can't represent, and its conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct LossyConversion {
    /// Kind of the content, such as `imageInToolResult`.
    pub feature: String,
    /// Conversion of the content: `refuse` rejects the request, `sendAfter` sends the content in a following message,
    /// `sayInText` describes it in text, `leaveOut` drops it.
    pub conversion: String,
    /// Conversions that the user can choose for the content.
    pub choices: Vec<String>,
}

/// Model of a provider. Properties that are unknown are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// Identifier of the model at the provider.
    pub id: String,
    /// Name of the model to display.
    pub name: String,
    /// Context size in tokens, for request and reply together, or `None` if unknown.
    pub context: Option<u32>,
    /// Maximum number of tokens in a reply, or `None` if unknown.
    pub max_output: Option<u32>,
    /// Price of the model per million tokens, if known.
    pub price: Option<ModelPrice>,
    /// `true` if the model accepts images, or `None` if unknown.
    pub images: Option<bool>,
    /// `true` if the model accepts audio, or `None` if unknown.
    pub audio: Option<bool>,
    /// `true` if the model accepts files, or `None` if unknown.
    pub files: Option<bool>,
    /// `true` if the model supports tool calls, or `None` if unknown.
    pub tools: Option<bool>,
    /// `true` if the model can reason before it replies (thinking), or `None` if unknown.
    pub thinking: Option<bool>,
}

/// Price of a model, per million tokens of requests and of replies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Price per million tokens of a request.
    pub input: f64,
    /// Price per million tokens of a reply.
    pub output: f64,
    /// Currency code, such as `USD`.
    pub currency: String,
    /// Date or source of the price information.
    pub as_of: String,
}

/// Model server that was found on this computer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct FoundModelServer {
    /// Identifier of the preset with which the server can be added as a provider.
    pub preset: String,
    /// Name of the model server.
    pub name: String,
    /// Base URL to which paths of the provider's API are appended.
    pub url: String,
    /// Names of the available models.
    pub models: Vec<String>,
}

/// Request to add or change a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetProvider {
    /// Identifier of the provider, which consists of letters, digits, `-`, `_` and `.`.
    pub id: String,
    /// Name of the provider for display.
    pub name: String,
    /// Kind of the provider, which determines the API that Drawbridge uses.
    pub kind: ProviderKind,
    /// Base URL to which paths of the provider's API are appended.
    pub url: String,
    /// Maximum time without received data during a reply, in seconds, or `None` for the default.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub silence_seconds: Option<u32>,
    /// Conversions that the user chose for content that the provider's API can't represent.
    #[serde(default)]
    pub conversions: Vec<ConversionChoice>,
}

/// Conversion that the user chose for one kind of content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ConversionChoice {
    /// Kind of the content, as in [`LossyConversion::feature`].
    pub feature: String,
    /// Conversion, as in [`LossyConversion::conversion`].
    pub conversion: String,
}

/// Request that refers to a model provider by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ProviderId {
    /// Identifier that the user chose for the provider.
    pub id: String,
}

/// Request to store the API key of a provider. The key is bound to the provider's current URL.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetProviderKey {
    /// Identifier that the user chose for the provider.
    pub id: String,
    /// API key, or an empty string to delete it.
    pub key: String,
}

impl std::fmt::Debug for SetProviderKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetProviderKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Request to test a provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct TestProvider {
    /// Identifier that the user chose for the provider.
    pub id: String,
    /// Model to request a short reply from, or `None` to only list the models.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub model: Option<String>,
}

/// Result of testing a model provider, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTest {
    /// Number of models that the provider lists.
    pub models: u32,
    /// Text of the model's reply, or `None` if no model was tested.
    pub reply: Option<String>,
    /// Time from the request to the first token of the reply, in milliseconds. `None` if no reply was received.
    pub first_token_milliseconds: Option<u64>,
    /// Error of the test, if it failed.
    pub problem: Option<ModelProblem>,
}

/// Request to set the default model of new conversations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct DefaultModel {
    /// Default model, or `None` to remove the default.
    pub model: Option<ModelRef>,
}
