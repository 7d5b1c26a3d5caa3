//! The trait that every client of a model provider implements.

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{LossyConversion, Model, ModelError, ModelRequest, ReplyDelta};

/// Kind of API by which a provider offers its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions API of OpenAI, which most other providers implement as well.
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
    /// All provider APIs that this crate supports.
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

/// Largest sampling temperature that the API of any provider accepts.
pub const MAX_TEMPERATURE: f64 = 2.0;

/// Events of one streamed reply. Dropping the stream cancels the request. No event follows an error.
pub type ReplyStream = BoxStream<'static, Result<ReplyDelta, ModelError>>;

/// A provider of language models.
///
/// # Examples
///
/// A provider without a network, for the tests of another program:
///
/// ```
/// use futures_util::{StreamExt as _, stream};
/// use models::{
///     ReplyStream, LossyConversion, Model, ModelError, ModelMessage, ModelReply, ModelRequest, Provider, ProviderKind,
///     ReplyDelta, Role, StopReason, TokenUsage,
/// };
///
/// /// Repeats the last message.
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl Provider for Echo {
///     fn kind(&self) -> ProviderKind {
///         ProviderKind::OpenAi
///     }
///
///     async fn models(&self) -> Result<Vec<Model>, ModelError> {
///         Ok(vec![Model { id: "echo".to_owned(), ..Model::default() }])
///     }
///
///     fn find_lossy_conversions(&self, _: &ModelRequest) -> Vec<LossyConversion> {
///         Vec::new()
///     }
///
///     async fn stream(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
///         let text = request.messages.last().map(ModelMessage::plain_text).unwrap_or_default();
///         let reply = ModelReply {
///             message: ModelMessage::text(Role::Assistant, text.clone()),
///             stop: StopReason::EndTurn,
///             usage: TokenUsage::default(),
///             model: request.model,
///         };
///         Ok(stream::iter([Ok(ReplyDelta::Text(text)), Ok(ReplyDelta::Ended(reply))]).boxed())
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), ModelError> {
///     let messages = vec![ModelMessage::text(Role::User, "Hello")];
///     let deltas = Echo.stream(ModelRequest { messages, ..ModelRequest::default() }).await?;
///     let deltas: Vec<_> = deltas.collect().await;
///     assert!(matches!(deltas.last(), Some(Ok(ReplyDelta::Ended(reply))) if reply.message.plain_text() == "Hello"));
///     Ok(())
/// }
/// ```
#[async_trait::async_trait]
pub trait Provider: Send + Sync {
    /// Returns the kind of API that the provider implements.
    fn kind(&self) -> ProviderKind;
    /// Requests the list of the provider's models.
    ///
    /// # Errors
    /// Returns a [`ModelError`] if the provider does not respond with a list.
    async fn models(&self) -> Result<Vec<Model>, ModelError>;
    /// Returns each kind of content or option in this request that the provider's API does not support, with its
    /// conversion.
    fn find_lossy_conversions(&self, request: &ModelRequest) -> Vec<LossyConversion>;
    /// Sends a request to a model, and returns its reply as a stream. Unsupported parts are converted as the user
    /// chose.
    ///
    /// # Errors
    /// Returns [`ModelError::CannotCarry`] before anything is sent if an unsupported part must be refused, and another
    /// [`ModelError`] if the request can't be sent or the provider refuses it.
    async fn stream(&self, request: ModelRequest) -> Result<ReplyStream, ModelError>;
}
