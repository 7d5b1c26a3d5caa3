//! Wire formats: encoding of requests and decoding of answers for each kind of provider. A wire is pure.
//! `http_exchange` does the I/O.

mod anthropic;
mod context_size;
mod encode;
mod event_reader;
mod gemini;
mod http_exchange;
mod ollama;
mod openai;
#[cfg(test)]
mod parameter_tests;
mod provider_fault;
mod reply_assembly;
mod responses;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::wire_capabilities::WireCapabilities;
use crate::{
    Deltas, LossyConversion, Model, ModelError, ModelReply, ModelRequest, Provider, ProviderKind, ProviderSettings,
    ReplyDelta,
};
use event_reader::EventReader;
use http_exchange::{EventFraming, HttpExchange};
use reply_assembly::ReplyAssembly;

/// URL and body of a request.
struct WireRequest {
    url: Url,
    body: Value,
}

/// Encoding of requests for a kind of provider.
trait Wire: Send + Sync {
    /// Returns the content that can be represented for a model, or for every model if `model` is `None`.
    fn capabilities(&self, model: Option<&str>) -> WireCapabilities;
    /// Returns the headers of each request. All values are treated as secret, as one contains the key.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    fn framing(&self) -> EventFraming;
    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest;
    fn answer_decoder(&self, model: &str) -> Box<dyn AnswerDecoder>;
}

/// Decoder of an answer.
trait AnswerDecoder: Send {
    /// Processes an event, and adds its content to the assembly.
    ///
    /// # Errors
    ///
    /// Returns an error that the provider reports, or [`ModelError::Unreadable`] for a malformed event.
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError>;
    /// Returns `true` if the provider has ended the answer.
    fn is_done(&self) -> bool;
    /// Returns `true` if the stream may end here without an explicit end of the answer.
    fn may_end(&self) -> bool {
        self.is_done()
    }
    /// Adds content that is only known at the end.
    ///
    /// # Errors
    ///
    /// Returns [`ModelError::TooLarge`] if the content exceeds the limit.
    fn end(&mut self, _assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        Ok(())
    }
}

fn wire(settings: &ProviderSettings) -> Box<dyn Wire> {
    match settings.kind {
        ProviderKind::OpenAi => Box::new(openai::OpenAi::for_provider(settings)),
        ProviderKind::Responses => Box::new(responses::Responses::for_provider(settings)),
        ProviderKind::Anthropic => Box::new(anthropic::Anthropic),
        ProviderKind::Gemini => Box::new(gemini::Gemini),
        ProviderKind::Ollama => Box::new(ollama::Ollama),
    }
}

/// Returns the content that the wire of a provider can represent for a model, or for every model if `model` is `None`.
pub(crate) fn wire_capabilities(settings: &ProviderSettings, model: Option<&str>) -> WireCapabilities {
    wire(settings).capabilities(model)
}

/// A provider that is reached over HTTP.
pub struct HttpProvider {
    settings: ProviderSettings,
    wire: Box<dyn Wire>,
    exchange: Arc<HttpExchange>,
}

impl HttpProvider {
    /// Creates a provider from its settings. `key` is only sent in a header.
    #[must_use]
    pub fn new(settings: ProviderSettings, key: Option<SecretString>, client: Client) -> Self {
        let wire = wire(&settings);
        let headers = wire.headers(key.as_ref().map(ExposeSecret::expose_secret));
        let exchange = Arc::new(HttpExchange::new(client, headers, key, settings.idle_timeout()));
        Self { settings, wire, exchange }
    }
}

impl HttpProvider {
    /// Lists the models with a single request, even if it returns few details.
    pub(crate) async fn list_model_names(&self) -> Result<Vec<Model>, ModelError> {
        match self.settings.kind {
            ProviderKind::Ollama => ollama::list_model_names(&self.exchange, &self.settings).await,
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
            ProviderKind::OpenAi | ProviderKind::Responses => openai::list_models(&self.exchange, &self.settings).await,
            ProviderKind::Anthropic => anthropic::list_models(&self.exchange, &self.settings).await,
            ProviderKind::Gemini => gemini::list_models(&self.exchange, &self.settings).await,
            ProviderKind::Ollama => ollama::list_models(&self.exchange, &self.settings).await,
        }
        .map(|models| {
            models.into_iter().map(|model| crate::known_models::complete_model(&self.settings, model)).collect()
        })
    }

    fn find_losses(&self, request: &ModelRequest) -> Vec<LossyConversion> {
        self.wire.capabilities(Some(&request.model)).losses(request, &self.settings.conversions)
    }

    async fn stream(&self, request: ModelRequest) -> Result<Deltas, ModelError> {
        let carries = self.wire.capabilities(Some(&request.model));
        let request = carries.convert(request, &self.settings.conversions)?;
        let WireRequest { url, mut body } = self.wire.request(&self.settings, &request);
        if self.settings.kind == ProviderKind::Ollama {
            context_size::set_context(&self.exchange, &self.settings, &request.model, &mut body).await;
        }
        let events = self.exchange.stream(url, &body, self.wire.framing(), &request.model).await?;
        let reading = AnswerReader {
            events,
            exchange: Arc::clone(&self.exchange),
            answer: self.wire.answer_decoder(&request.model),
            assembly: ReplyAssembly::new(request.model),
            ready: VecDeque::new(),
            is_over: false,
        };
        Ok(Box::pin(stream::unfold(reading, |mut reading| async move {
            let next = reading.next().await?;
            Some((next, reading))
        })))
    }
}

/// Reader of a streamed answer.
struct AnswerReader {
    events: EventReader,
    exchange: Arc<HttpExchange>,
    answer: Box<dyn AnswerDecoder>,
    assembly: ReplyAssembly,
    /// Decoded deltas that are not returned yet. One event results in few of them.
    ready: VecDeque<ReplyDelta>,
    is_over: bool,
}

impl AnswerReader {
    async fn next(&mut self) -> Option<Result<ReplyDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.read().await {
                self.is_over = true;
                return Some(Err(self.exchange.redact_error(error)));
            }
        }
    }

    async fn read(&mut self) -> Result<(), ModelError> {
        let event = self.events.next().await?;
        let is_end = match &event {
            Some(event) => {
                self.answer.process_event(event, &mut self.assembly)?;
                self.ready.extend(self.assembly.drain());
                if !self.ready.is_empty() {
                    self.events.reset_silence();
                }
                self.answer.is_done()
            }
            None if self.answer.may_end() => true,
            None => return Err(ModelError::Cut),
        };
        if is_end {
            self.is_over = true;
            self.answer.end(&mut self.assembly)?;
            let reply: ModelReply = self.assembly.finish()?;
            self.ready.push_back(ReplyDelta::Ended(self.exchange.redacted_reply(reply)));
        }
        Ok(())
    }
}
