//! Scripted model provider, for tests of properties that must hold for every model output. The wire protocols of
//! providers are tested separately against an independent implementation.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use host::Host;
use models::{
    ConversionChoices, LossyConversion, MessagePart, Model, ModelError, ModelMessage, ModelRef, ModelReply,
    ModelRequest, Provider, ProviderKind, ProviderSettings, ReplyDelta, ReplyStream, Role, StopReason, TokenUsage,
};

/// Identifier of the provider that [`ScriptedModel::add_to_host`] adds.
pub const SCRIPTED_PROVIDER_ID: &str = "scripted";

/// Returns the settings of an OpenAI-compatible provider at a URL. The id of the provider is `own`.
///
/// # Panics
/// Panics if the URL is invalid.
#[must_use]
pub fn provider_settings(url: &str) -> ProviderSettings {
    ProviderSettings {
        id: "own".to_owned(),
        name: "Own".to_owned(),
        kind: ProviderKind::OpenAi,
        url: url.parse().unwrap_or_else(|e| panic!("the URL of the provider is invalid: {e}")),
        conversions: ConversionChoices::default(),
        silence_seconds: None,
    }
}

/// Step in the script of a model's reply.
#[derive(Debug, Clone)]
pub enum ModelStep {
    /// Sends this part of the model's reply to the host.
    Says(ReplyDelta),
    /// Sends nothing for this duration.
    Waits(Duration),
    /// Ends the reply with this error.
    Fails(ModelError),
    /// Sends nothing and keeps the stream open.
    Hangs,
}

/// Model provider that sends scripted replies and records the requests.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    scripts: Mutex<VecDeque<Vec<ModelStep>>>,
    requests: Mutex<Vec<ModelRequest>>,
    losses: Mutex<Vec<LossyConversion>>,
}

/// Returns the last step of a reply, with all its parts, the stop reason, and the numbers of input and output tokens.
#[must_use]
pub fn final_reply_step(parts: Vec<MessagePart>, stop: StopReason, (input, output): (u64, u64)) -> ModelStep {
    let usage = TokenUsage { input: Some(input), output: Some(output), ..TokenUsage::default() };
    let message = ModelMessage { role: Role::Assistant, parts };
    ModelStep::Says(ReplyDelta::Ended(ModelReply { message, stop, usage, model: "scripted-1".to_owned() }))
}

/// Returns the script of a reply that consists of one text, with the numbers of input and output tokens.
#[must_use]
pub fn text_reply(text: &str, tokens: (u64, u64)) -> Vec<ModelStep> {
    vec![
        ModelStep::Says(ReplyDelta::Text(text.to_owned())),
        final_reply_step(vec![MessagePart::text(text)], StopReason::EndTurn, tokens),
    ]
}

impl ScriptedModel {
    /// Creates a provider with these models and adds it to a host.
    ///
    /// # Panics
    /// Panics if the host has stopped.
    pub async fn add_to_host(host: &Host, models: Vec<Model>) -> Arc<Self> {
        let own = Arc::new(Self::default());
        host.add_unsaved_provider(SCRIPTED_PROVIDER_ID.to_owned(), Arc::clone(&own) as Arc<dyn Provider>, models)
            .await
            .unwrap_or_else(|e| panic!("the provider is added: {e}"));
        own
    }

    /// Queues the script of the reply to the next request. A request for which no script is queued gets no reply.
    pub fn queue_reply(&self, script: Vec<ModelStep>) {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner).push_back(script);
    }

    /// Sets the lossy conversions of content that the provider reports for every request.
    pub fn set_losses(&self, losses: Vec<LossyConversion>) {
        *self.losses.lock().unwrap_or_else(PoisonError::into_inner) = losses;
    }

    /// Removes all queued replies.
    pub fn clear_replies(&self) {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns all recorded requests, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the description of a model with this id.
#[must_use]
pub fn model_named(model: &str) -> Model {
    Model { id: model.to_owned(), name: model.to_owned(), ..Model::default() }
}

/// Returns a reference to a model of the scripted provider.
#[must_use]
pub fn model_reference(model: &str) -> ModelRef {
    ModelRef { provider: SCRIPTED_PROVIDER_ID.to_owned(), model: model.to_owned() }
}

#[async_trait::async_trait]
impl Provider for ScriptedModel {
    fn kind(&self) -> ProviderKind {
        ProviderKind::OpenAi
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Ok(Vec::new())
    }

    fn find_lossy_conversions(&self, _: &ModelRequest) -> Vec<LossyConversion> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn stream(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let script = self.scripts.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let steps = stream::iter(script.unwrap_or_else(|| vec![ModelStep::Hangs]));
        Ok(steps
            .filter_map(|step| async move {
                match step {
                    ModelStep::Says(delta) => Some(Ok(delta)),
                    ModelStep::Fails(error) => Some(Err(error)),
                    ModelStep::Waits(time) => {
                        tokio::time::sleep(time).await;
                        None
                    }
                    ModelStep::Hangs => std::future::pending().await,
                }
            })
            .boxed())
    }
}
