//! A model that says what a test tells it to, for what must hold whatever a model says. That wires are spoken right is shown
//! elsewhere, against a provider that is not ours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use host::Host;
use models::{
    Delta, Deltas, Loss, Message, Model, ModelError, ModelRef, Part, Provider, ProviderKind, Reply, Request, Role,
    Stop, TokenUse,
};

/// The provider that [`ScriptedModel::offer`] adds.
pub const PROVIDER: &str = "scripted";

/// One step of an answer.
#[derive(Debug, Clone)]
pub enum Step {
    /// This comes.
    Says(Delta),
    /// Nothing comes for so long.
    Waits(Duration),
    /// It fails.
    Fails(ModelError),
    /// Nothing comes any more.
    Hangs,
}

/// A provider of one or more models that answer as they are told, and keep what they were asked.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    scripts: Mutex<VecDeque<Vec<Step>>>,
    asked: Mutex<Vec<Request>>,
    losses: Mutex<Vec<Loss>>,
}

/// An answer with these parts, as it ends.
#[must_use]
pub fn ends(parts: Vec<Part>, stop: Stop, (input, output): (u64, u64)) -> Step {
    let usage = TokenUse { input: Some(input), output: Some(output), ..TokenUse::default() };
    let message = Message { role: Role::Assistant, parts };
    Step::Says(Delta::Ended(Reply { message, stop, usage, model: "scripted-1".to_owned() }))
}

/// An answer of one text that took so many tokens.
#[must_use]
pub fn text(text: &str, tokens: (u64, u64)) -> Vec<Step> {
    vec![Step::Says(Delta::Text(text.to_owned())), ends(vec![Part::text(text)], Stop::EndTurn, tokens)]
}

impl ScriptedModel {
    /// Adds a provider with these models to a host.
    ///
    /// # Panics
    /// If the host has ended.
    pub async fn offer(host: &Host, models: Vec<Model>) -> Arc<Self> {
        let own = Arc::new(Self::default());
        host.put_provider(PROVIDER.to_owned(), Arc::clone(&own) as Arc<dyn Provider>, models)
            .await
            .unwrap_or_else(|e| panic!("the provider is added: {e}"));
        own
    }

    /// Answers the next request so; those that nothing is said about hang.
    pub fn next(&self, script: Vec<Step>) {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner).push_back(script);
    }

    /// Can't carry this of any request.
    pub fn lose(&self, losses: Vec<Loss>) {
        *self.losses.lock().unwrap_or_else(PoisonError::into_inner) = losses;
    }

    /// Forgets what it was told to answer and was not asked for.
    pub fn forget(&self) {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What it was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One of its models.
#[must_use]
pub fn named(model: &str) -> Model {
    Model { id: model.to_owned(), name: model.to_owned(), ..Model::default() }
}

/// To refer to one of its models by.
#[must_use]
pub fn reference(model: &str) -> ModelRef {
    ModelRef { provider: PROVIDER.to_owned(), model: model.to_owned() }
}

#[async_trait::async_trait]
impl Provider for ScriptedModel {
    fn kind(&self) -> ProviderKind {
        ProviderKind::OpenAi
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        Ok(Vec::new())
    }

    fn cannot_carry(&self, _: &Request) -> Vec<Loss> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn stream(&self, request: Request) -> Result<Deltas, ModelError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let script = self.scripts.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let steps = stream::iter(script.unwrap_or_else(|| vec![Step::Hangs]));
        Ok(steps
            .filter_map(|step| async move {
                match step {
                    Step::Says(delta) => Some(Ok(delta)),
                    Step::Fails(error) => Some(Err(error)),
                    Step::Waits(time) => {
                        tokio::time::sleep(time).await;
                        None
                    }
                    Step::Hangs => std::future::pending().await,
                }
            })
            .boxed())
    }
}
