//! APIs of model providers: encoding of requests and decoding of answers for each kind of provider. A `Wire` does no
//! I/O. `provider_http_client` does it.

mod anthropic;
mod context_size;
mod encode;
mod event_reader;
mod gemini;
mod ollama;
mod openai;
#[cfg(test)]
mod parameter_tests;
mod provider_fault;
mod provider_http_client;
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
    LossyConversion, Model, ModelError, ModelReply, ModelRequest, Provider, ProviderKind, ProviderSettings, ReplyDelta,
    ReplyStream,
};
use event_reader::EventReader;
use provider_http_client::{EventFraming, ProviderHttpClient};
use reply_assembly::ReplyAssembly;

/// URL and JSON body of a request to a provider.
struct WireRequest {
    url: Url,
    body: Value,
}

/// Encodes requests for one kind of API, and creates the decoder of its replies. Does no I/O.
trait Wire: Send + Sync {
    /// Returns the content and options that the API supports for a model, or for any model if `model` is `None`.
    fn capabilities(&self, model: Option<&str>) -> WireCapabilities;
    /// Returns the HTTP headers of every request. All values are treated as secret, since one of them contains the API
    /// key `key`.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    fn framing(&self) -> EventFraming;
    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest;
    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder>;
}

/// Decodes the events of one streamed reply.
trait ReplyDecoder: Send {
    /// Processes an event, and adds its content to the reply.
    ///
    /// # Errors
    /// Returns the error that the provider reports in the event, or [`ModelError::Unreadable`] for a malformed event.
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError>;
    /// Returns `true` if an event has marked the end of the reply.
    fn is_done(&self) -> bool;
    /// Returns `true` if the reply is complete even though the stream ended without an event that marks the end.
    fn is_complete_at_stream_end(&self) -> bool {
        self.is_done()
    }
    /// Adds content to the reply that is complete only after the last event.
    ///
    /// # Errors
    /// Returns [`ModelError::TooLarge`] if the content exceeds the limit.
    fn on_stream_end(&mut self, _assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        Ok(())
    }
}

fn create_wire(settings: &ProviderSettings) -> Box<dyn Wire> {
    match settings.kind {
        ProviderKind::OpenAi => Box::new(openai::OpenAi::for_provider(settings)),
        ProviderKind::Responses => Box::new(responses::OpenAiResponses::for_provider(settings)),
        ProviderKind::Anthropic => Box::new(anthropic::Anthropic),
        ProviderKind::Gemini => Box::new(gemini::Gemini),
        ProviderKind::Ollama => Box::new(ollama::Ollama),
    }
}

/// Returns the content and options that a provider's API supports for a model, or for any model if `model` is `None`.
pub(crate) fn wire_capabilities(settings: &ProviderSettings, model: Option<&str>) -> WireCapabilities {
    create_wire(settings).capabilities(model)
}

/// A provider that is reached over HTTP.
///
/// # Examples
///
/// Streams the reply of a server that has the API of OpenAI:
///
/// ```
/// use futures_util::StreamExt as _;
/// use models::{
///     HttpProvider, ModelMessage, ModelRequest, PROVIDER_PRESETS, Provider as _, ReplyDelta, Role, StopReason,
/// };
/// # use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
/// # use tokio::net::{TcpListener as Listener, TcpStream as Stream};
/// #
/// # /// Reads the JSON body of a request.
/// # async fn read_body(stream: &mut Stream) -> serde_json::Value {
/// #     let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
/// #     loop {
/// #         let length = stream.read(&mut part).await.expect("the request can be read");
/// #         bytes.extend_from_slice(&part[..length]);
/// #         let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
/// #         if let Some(body) = end.and_then(|end| serde_json::from_slice(&bytes[end + 4..]).ok()) {
/// #             return body;
/// #         }
/// #         assert_ne!(length, 0, "the request is complete");
/// #     }
/// # }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let listener = Listener::bind("127.0.0.1:0").await?;
///     let preset = PROVIDER_PRESETS.iter().find(|preset| preset.id == "llama-cpp").expect("the preset exists");
///     let mut settings = preset.settings()?;
///     settings.url = format!("http://{}/v1", listener.local_addr()?).parse()?;
///     let provider = HttpProvider::new(settings, None, mcp_transport::http::client_for_models(true)?);
///
///     let server = async {
///         let (mut stream, _) = listener.accept().await.expect("the provider connects");
///         let body = read_body(&mut stream).await;
///         let events = concat!(
///             "data: {\"model\":\"small\",\"choices\":[{\"delta\":{\"content\":\"The Barents\"}}]}\n\n",
///             "data: {\"choices\":[{\"delta\":{\"content\":\" Sea\"},\"finish_reason\":\"stop\"}]}\n\n",
///             "data: [DONE]\n\n",
///         );
///         let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
///         stream.write_all(format!("{head}{events}").as_bytes()).await.expect("the provider reads");
///         body
///     };
///     let answer = async {
///         let request = ModelRequest {
///             model: "small".to_owned(),
///             messages: vec![ModelMessage::text(Role::User, "Which sea is north of Norway?")],
///             ..ModelRequest::default()
///         };
///         let mut deltas = provider.stream(request).await.expect("the server responds");
///         let (mut chunks, mut reply) = (Vec::new(), None);
///         while let Some(delta) = deltas.next().await {
///             match delta.expect("the answer is valid") {
///                 ReplyDelta::Text(text) => chunks.push(text),
///                 ReplyDelta::Ended(ended) => reply = Some(ended),
///                 _ => {}
///             }
///         }
///         (chunks, reply.expect("the answer is complete"))
///     };
///     let (body, (chunks, reply)) = tokio::join!(server, answer);
///     assert_eq!(body["model"], "small");
///     assert_eq!(body["stream"], true);
///     assert_eq!(body["messages"][0]["content"], "Which sea is north of Norway?");
///     assert_eq!(chunks, ["The Barents", " Sea"]);
///     assert_eq!((reply.message.plain_text().as_str(), reply.stop), ("The Barents Sea", StopReason::EndTurn));
///     Ok(())
/// }
/// ```
pub struct HttpProvider {
    settings: ProviderSettings,
    wire: Box<dyn Wire>,
    exchange: Arc<ProviderHttpClient>,
}

impl HttpProvider {
    /// Creates a provider from its settings. `key` is sent only in a header.
    #[must_use]
    pub fn new(settings: ProviderSettings, key: Option<SecretString>, client: Client) -> Self {
        let wire = create_wire(&settings);
        let headers = wire.headers(key.as_ref().map(ExposeSecret::expose_secret));
        let exchange = Arc::new(ProviderHttpClient::new(client, headers, key, settings.idle_timeout()));
        Self { settings, wire, exchange }
    }
}

impl HttpProvider {
    /// Requests the names of the provider's models with a single HTTP request. Other properties of the models may be
    /// missing.
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
            models
                .into_iter()
                .map(|model| crate::known_models::fill_in_known_model_properties(&self.settings, model))
                .collect()
        })
    }

    fn find_lossy_conversions(&self, request: &ModelRequest) -> Vec<LossyConversion> {
        self.wire
            .capabilities(Some(&request.model))
            .find_lossy_conversions_for_choices(request, &self.settings.conversions)
    }

    async fn stream(&self, request: ModelRequest) -> Result<ReplyStream, ModelError> {
        let capabilities = self.wire.capabilities(Some(&request.model));
        let request = capabilities.convert_request(request, &self.settings.conversions)?;
        let WireRequest { url, mut body } = self.wire.request(&self.settings, &request);
        if self.settings.kind == ProviderKind::Ollama {
            context_size::set_ollama_context_size(&self.exchange, &self.settings, &request.model, &mut body).await;
        }
        let events = self.exchange.stream(url, &body, self.wire.framing(), &request.model).await?;
        let reading = ReplyReader {
            events,
            exchange: Arc::clone(&self.exchange),
            decoder: self.wire.reply_decoder(&request.model),
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

/// Reads and decodes the events of a streamed reply.
struct ReplyReader {
    events: EventReader,
    exchange: Arc<ProviderHttpClient>,
    decoder: Box<dyn ReplyDecoder>,
    assembly: ReplyAssembly,
    /// Deltas of decoded events that [`ReplyReader::next`] has not returned yet.
    ready: VecDeque<ReplyDelta>,
    is_over: bool,
}

impl ReplyReader {
    async fn next(&mut self) -> Option<Result<ReplyDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.is_over {
                return None;
            }
            if let Err(error) = self.process_next_event().await {
                self.is_over = true;
                return Some(Err(self.exchange.error_with_redacted_api_key(error)));
            }
        }
    }

    async fn process_next_event(&mut self) -> Result<(), ModelError> {
        let event = self.events.next().await?;
        let is_end = match &event {
            Some(event) => {
                self.decoder.process_event(event, &mut self.assembly)?;
                self.ready.extend(self.assembly.drain_deltas());
                if !self.ready.is_empty() {
                    self.events.reset_idle_time();
                }
                self.decoder.is_done()
            }
            None if self.decoder.is_complete_at_stream_end() => true,
            None => return Err(ModelError::Cut),
        };
        if is_end {
            self.is_over = true;
            self.decoder.on_stream_end(&mut self.assembly)?;
            let reply: ModelReply = self.assembly.finish()?;
            self.ready.push_back(ReplyDelta::Ended(self.exchange.reply_with_redacted_api_key(reply)));
        }
        Ok(())
    }
}
