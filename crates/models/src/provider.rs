//! The interface of every provider.

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{LossyConversion, Model, ModelError, ModelRequest, ReplyDelta};

/// The wire format of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions of OpenAI, which most other providers support as well.
    OpenAi,
    /// Responses API of OpenAI.
    Responses,
    /// Messages API of Anthropic.
    Anthropic,
    /// Gemini API of Google.
    Gemini,
    /// Native API of Ollama.
    Ollama,
}

impl ProviderKind {
    /// All kinds of providers.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Returns the maximum sampling temperature that the API accepts. The minimum is 0.
    /// <https://docs.claude.com/en/api/messages>
    #[must_use]
    pub const fn max_temperature(self) -> f64 {
        match self {
            Self::Anthropic => 1.0,
            Self::OpenAi | Self::Responses | Self::Gemini | Self::Ollama => MAX_TEMPERATURE,
        }
    }
}

/// Maximum sampling temperature of any provider.
pub const MAX_TEMPERATURE: f64 = 2.0;

/// Stream of one answer's events. Dropping it cancels the request. An error is the last item.
pub type Deltas = BoxStream<'static, Result<ReplyDelta, ModelError>>;

/// A provider of language models.
#[async_trait::async_trait]
pub trait Provider: Send + Sync {
    /// Returns the wire format of the provider.
    fn kind(&self) -> ProviderKind;
    /// Lists the provider's models.
    ///
    /// # Errors
    ///
    /// Returns a [`ModelError`] if the provider does not respond, or not with a list.
    async fn models(&self) -> Result<Vec<Model>, ModelError>;
    /// Returns the losses of this request and their conversions, without duplicates.
    fn find_losses(&self, request: &ModelRequest) -> Vec<LossyConversion>;
    /// Sends a request to a model. Content that can't be represented is refused before anything is sent.
    ///
    /// # Errors
    ///
    /// Returns [`ModelError::CannotCarry`] for a refused loss, and another [`ModelError`] if the request can't be sent
    /// or the provider refuses it.
    async fn stream(&self, request: ModelRequest) -> Result<Deltas, ModelError>;
}
