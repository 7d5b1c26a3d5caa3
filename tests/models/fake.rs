//! Fake provider (aimock), which a test starts and uses in each API.

use std::path::Path;
use std::process::Command;

use futures_util::StreamExt as _;
use models::{
    ConversionChoices, HttpProvider, ModelError, ModelMessage, ModelReply, ModelRequest, Provider as _, ProviderKind,
    ProviderSettings, ReplyDelta, Role,
};

use crate::running::RunningProgram;

/// API key that the fake provider accepts. It must not appear in any output or log.
pub(crate) const TEST_API_KEY: &str = "sk-canary-5f1c9e0b7a";

/// Running process of the fake provider, which is stopped on drop.
pub(crate) struct FakeProvider(pub(crate) RunningProgram);

impl FakeProvider {
    /// Starts a fake provider that accepts only the API key [`TEST_API_KEY`].
    #[allow(clippy::disallowed_methods, reason = "starts a fake provider, not a server")]
    pub(crate) fn start() -> Self {
        let node = which::which("node").expect("Node.js 20 or newer");
        // Another test package includes this file as well.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder =
            folder.ancestors().find(|folder| folder.ends_with("tests/models")).expect("the folder tests/models");
        let installed = folder.join("../node_modules/@copilotkit/aimock");
        assert!(installed.exists(), "{} should be installed: run `npm ci` in tests/", installed.display());
        Self(RunningProgram::start(
            Command::new(node).arg(folder.join("provider.mjs")).env("PROVIDER_KEY", TEST_API_KEY),
        ))
    }

    /// Returns a client that uses this API of the fake provider with the correct key.
    pub(crate) fn client(&self, kind: ProviderKind) -> HttpProvider {
        self.client_with(kind, Some(TEST_API_KEY), ConversionChoices::default())
    }

    /// Returns a client that uses this API of the fake provider with these conversions and, if given, this API key.
    pub(crate) fn client_with(
        &self,
        kind: ProviderKind,
        key: Option<&str>,
        conversions: ConversionChoices,
    ) -> HttpProvider {
        provider_client(kind, &self.0.url, key, conversions)
    }
}

/// Returns a client for the provider at the base URL `base` that uses the API `kind`.
pub(crate) fn provider_client(
    kind: ProviderKind,
    base: &str,
    key: Option<&str>,
    conversions: ConversionChoices,
) -> HttpProvider {
    let client = mcp_transport::http::client_for_models(true).unwrap();
    HttpProvider::new(provider_settings(kind, base, conversions), key.map(Into::into), client)
}

/// Returns the settings of a provider with the API `kind` at the base URL `base`.
pub(crate) fn provider_settings(kind: ProviderKind, base: &str, conversions: ConversionChoices) -> ProviderSettings {
    let path = match kind {
        ProviderKind::OpenAi | ProviderKind::Responses | ProviderKind::Anthropic => "/v1",
        ProviderKind::Gemini => "/v1beta",
        ProviderKind::Ollama => "",
    };
    ProviderSettings {
        id: "fake".into(),
        name: "Fake".into(),
        kind,
        url: format!("{base}{path}").parse().unwrap(),
        conversions,
        silence_seconds: Some(5),
    }
}

/// Returns the name of a model that fits a provider with this API.
pub(crate) fn model_name(kind: ProviderKind) -> String {
    match kind {
        ProviderKind::OpenAi | ProviderKind::Responses => "gpt-4o",
        ProviderKind::Anthropic => "claude-sonnet-4-5",
        ProviderKind::Gemini => "gemini-2.5-flash",
        ProviderKind::Ollama => "llama3.2",
    }
    .into()
}

/// Returns a request that contains one user message.
pub(crate) fn text_request(kind: ProviderKind, text: &str) -> ModelRequest {
    ModelRequest {
        model: model_name(kind),
        messages: vec![ModelMessage::text(Role::User, text)],
        ..ModelRequest::default()
    }
}

/// Sends a request. Returns all events of the response, and its final result.
pub(crate) async fn collect_response(
    provider: &HttpProvider,
    request: ModelRequest,
) -> (Vec<ReplyDelta>, Result<ModelReply, ModelError>) {
    let mut received = Vec::new();
    let mut deltas = match provider.stream(request).await {
        Ok(deltas) => deltas,
        Err(error) => return (received, Err(error)),
    };
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(ReplyDelta::Ended(reply)) => {
                assert!(deltas.next().await.is_none(), "no event follows the end");
                return (received, Ok(reply));
            }
            Ok(delta) => received.push(delta),
            Err(error) => {
                assert!(deltas.next().await.is_none(), "no event follows an error");
                return (received, Err(error));
            }
        }
    }
    panic!("the stream ended without a result after {received:?}");
}

/// Sends a request and returns the complete reply.
pub(crate) async fn receive_reply(provider: &HttpProvider, request: ModelRequest) -> ModelReply {
    collect_response(provider, request).await.1.expect("a reply")
}
