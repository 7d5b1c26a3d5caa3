//! The wires: how each kind of provider is asked, and how its answers are read. A wire is pure; `exchange` does the I/O.

mod anthropic;
mod assembly;
mod context;
mod encode;
mod events;
mod exchange;
mod fault;
mod gemini;
mod ollama;
mod openai;
mod responses;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::carry::Carries;
use crate::{Delta, Deltas, Loss, Model, ModelError, Provider, ProviderKind, ProviderSettings, Reply, Request};
use assembly::Assembly;
use events::Events;
use exchange::{Exchange, Framing};

/// Where and what to send.
struct Outgoing {
    url: Url,
    body: Value,
}

/// How a kind of provider is asked.
trait Wire: Send + Sync {
    /// What it carries to a model; without one, what it carries to all.
    fn carries(&self, model: Option<&str>) -> Carries;
    /// The headers of each request, and whether their value is the key or has it in it.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    fn framing(&self) -> Framing;
    fn request(&self, settings: &ProviderSettings, request: &Request) -> Outgoing;
    fn answer(&self, model: &str) -> Box<dyn Answer>;
}

/// How an answer is read.
trait Answer: Send {
    /// Takes one event in. What it says goes into the assembly.
    ///
    /// # Errors
    /// If it is an error of the provider, or can't be read.
    fn take(&mut self, event: &Value, assembly: &mut Assembly) -> Result<(), ModelError>;
    /// Whether the provider has said that this was all.
    fn is_done(&self) -> bool;
    /// Whether the end of the bytes is a good one, though it was not said.
    fn may_end(&self) -> bool {
        self.is_done()
    }
    /// Puts in what is only known at the end.
    ///
    /// # Errors
    /// If that is too large.
    fn end(&mut self, _assembly: &mut Assembly) -> Result<(), ModelError> {
        Ok(())
    }
}

fn wire(settings: &ProviderSettings) -> Box<dyn Wire> {
    match settings.kind {
        ProviderKind::OpenAi => Box::new(openai::OpenAi::of(settings)),
        ProviderKind::Responses => Box::new(responses::Responses::of(settings)),
        ProviderKind::Anthropic => Box::new(anthropic::Anthropic),
        ProviderKind::Gemini => Box::new(gemini::Gemini),
        ProviderKind::Ollama => Box::new(ollama::Ollama),
    }
}

/// What the wire of a provider carries to a model; without one, what it carries to all.
pub(crate) fn carries(settings: &ProviderSettings, model: Option<&str>) -> Carries {
    wire(settings).carries(model)
}

/// A provider over HTTP.
pub struct HttpProvider {
    settings: ProviderSettings,
    wire: Box<dyn Wire>,
    exchange: Arc<Exchange>,
}

impl HttpProvider {
    /// A provider by its settings. `key` is only ever put into a header.
    #[must_use]
    pub fn new(settings: ProviderSettings, key: Option<SecretString>, client: Client) -> Self {
        let wire = wire(&settings);
        let headers = wire.headers(key.as_ref().map(ExposeSecret::expose_secret));
        let exchange = Arc::new(Exchange::new(client, headers, key, settings.silence()));
        Self { settings, wire, exchange }
    }
}

impl HttpProvider {
    /// Lists its models by one request, however little that says of each.
    pub(crate) async fn names(&self) -> Result<Vec<Model>, ModelError> {
        match self.settings.kind {
            ProviderKind::Ollama => ollama::names(&self.exchange, &self.settings).await,
            ProviderKind::OpenAi | ProviderKind::Responses | ProviderKind::Anthropic | ProviderKind::Gemini => {
                self.models().await
            }
        }
    }
}

#[async_trait::async_trait]
impl Provider for HttpProvider {
    fn kind(&self) -> ProviderKind {
        self.settings.kind
    }

    async fn models(&self) -> Result<Vec<Model>, ModelError> {
        match self.settings.kind {
            ProviderKind::OpenAi | ProviderKind::Responses => openai::list(&self.exchange, &self.settings).await,
            ProviderKind::Anthropic => anthropic::list(&self.exchange, &self.settings).await,
            ProviderKind::Gemini => gemini::list(&self.exchange, &self.settings).await,
            ProviderKind::Ollama => ollama::list(&self.exchange, &self.settings).await,
        }
        .map(|models| models.into_iter().map(|model| crate::known::complete(&self.settings, model)).collect())
    }

    fn cannot_carry(&self, request: &Request) -> Vec<Loss> {
        self.wire.carries(Some(&request.model)).losses(request, &self.settings.conversions)
    }

    async fn stream(&self, request: Request) -> Result<Deltas, ModelError> {
        let carries = self.wire.carries(Some(&request.model));
        let request = carries.convert(request, &self.settings.conversions)?;
        let Outgoing { url, mut body } = self.wire.request(&self.settings, &request);
        if self.settings.kind == ProviderKind::Ollama {
            context::fit(&self.exchange, &self.settings, &request.model, &mut body).await;
        }
        let events = self.exchange.stream(url, &body, self.wire.framing(), &request.model).await?;
        let reading = AnswerReader {
            events,
            exchange: Arc::clone(&self.exchange),
            answer: self.wire.answer(&request.model),
            assembly: Assembly::new(request.model),
            ready: VecDeque::new(),
            is_over: false,
        };
        Ok(Box::pin(stream::unfold(reading, |mut reading| async move {
            let next = reading.next().await?;
            Some((next, reading))
        })))
    }
}

/// An answer while it is read.
struct AnswerReader {
    events: Events,
    exchange: Arc<Exchange>,
    answer: Box<dyn Answer>,
    assembly: Assembly,
    /// What was read and not taken yet. One event has only a few.
    ready: VecDeque<Delta>,
    is_over: bool,
}

impl AnswerReader {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.read().await {
                self.is_over = true;
                return Some(Err(self.exchange.redacted(error)));
            }
        }
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        let event = self.events.next().await?;
        let is_end = match &event {
            Some(event) => {
                self.answer.take(event, &mut self.assembly)?;
                self.ready.extend(self.assembly.drain());
                if !self.ready.is_empty() {
                    self.events.said_something();
                }
                self.answer.is_done()
            }
            None if self.answer.may_end() => true,
            None => return Err(ModelError::Cut),
        };
        if is_end {
            self.is_over = true;
            self.answer.end(&mut self.assembly)?;
            let reply: Reply = self.assembly.finish()?;
            self.ready.push_back(Delta::Ended(self.exchange.redacted_reply(reply)));
        }
        Ok(())
    }
}
