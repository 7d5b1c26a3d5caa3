//! What every provider can do.

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::{Delta, Loss, Model, ModelError, Request};

/// The wire that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// Chat completions as OpenAI has them, which most others speak too.
    OpenAi,
    /// Responses as OpenAI has them.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own.
    Ollama,
}

/// The deltas of one answer. Dropping it ends the request. After an error nothing follows.
pub type Deltas = BoxStream<'static, Result<Delta, ModelError>>;

/// A provider of models.
#[async_trait::async_trait]
pub trait Provider: Send + Sync {
    /// The wire it speaks.
    fn kind(&self) -> ProviderKind;
    /// Lists its models.
    ///
    /// # Errors
    /// If it does not answer, or not with a list.
    async fn models(&self) -> Result<Vec<Model>, ModelError>;
    /// What in this request can't be carried as it is, and what will be done about each, once.
    fn cannot_carry(&self, request: &Request) -> Vec<Loss>;
    /// Asks a model. Refuses what can't be carried before anything is sent.
    ///
    /// # Errors
    /// If it can't be sent, or the provider refuses it.
    async fn stream(&self, request: Request) -> Result<Deltas, ModelError>;
}
