//! Tests of local model servers: slow ones are detected, and the requested context window fits the request.

use std::time::Duration;

use models::{ConversionChoices, ModelError, ModelRequest, ProviderKind, probe_providers};
use serde_json::{Value, json};

use crate::fake::{collect_response, provider_client, provider_settings, text_request};
use crate::scripted::{ReceivedRequest, ScriptedServer, http_response, start_scripted_server};

/// Starts a fake Ollama with 40 models that takes the time `to_show` to return the details of each model.
async fn start_slow_ollama(to_show: Duration) -> ScriptedServer {
    start_scripted_server(move |taken: &ReceivedRequest| match taken.path.as_str() {
        "/api/tags" => {
            let models: Vec<Value> = (0..40).map(|number| json!({ "name": format!("model-{number}") })).collect();
            (Duration::from_millis(100), http_response(200, &json!({ "models": models }).to_string()))
        }
        "/api/show" => {
            let shown = json!({ "model_info": { "llama.context_length": 8_192 }, "capabilities": ["tools"] });
            (to_show, http_response(200, &shown.to_string()))
        }
        _ => (Duration::ZERO, http_response(404, "")),
    })
    .await
}

#[tokio::test]
async fn local_server_with_many_models_is_found() {
    let client = mcp_transport::http::client_for_models(true).unwrap();
    for (to_show, context) in [(Duration::from_millis(60), Some(8_192)), (Duration::from_secs(30), None)] {
        let served = start_slow_ollama(to_show).await;
        let found = probe_providers(
            &client,
            vec![provider_settings(ProviderKind::Ollama, &served.url(), ConversionChoices::default())],
        )
        .await;
        assert_eq!(found.len(), 1, "the provider is found although the details of each model take {to_show:?}");
        let models = &found[0].models;
        assert_eq!(models.len(), 40, "all models are listed: {models:?}");
        assert_eq!(models[39].id, "model-39", "the models are sorted by name");
        assert_eq!(models[39].context, context, "the details that arrived in time are included");
    }
}

#[tokio::test]
async fn unresponsive_local_server_is_skipped() {
    let silent = start_scripted_server(|_| (Duration::from_secs(3_600), Vec::new())).await;
    let client = mcp_transport::http::client_for_models(true).unwrap();
    // The timeout of the test runner would expire if the test waited for the response.
    let found = probe_providers(
        &client,
        vec![provider_settings(ProviderKind::Ollama, &silent.url(), ConversionChoices::default())],
    )
    .await;
    assert!(found.is_empty(), "no provider is found: {found:?}");
}

/// Starts a fake Ollama whose model supports a context of 40,960 tokens. `allocated` is the context with which the
/// model is loaded, or `None` if it is not loaded. The server rejects requests that exceed the context that they ask
/// for, at four bytes per token.
async fn start_strict_ollama(allocated: Option<u32>) -> ScriptedServer {
    start_scripted_server(move |taken: &ReceivedRequest| {
        let bytes = match taken.path.as_str() {
            "/api/ps" => {
                let loaded =
                    allocated.map(|size| json!({ "name": "llama3.2", "model": "llama3.2", "context_length": size }));
                http_response(200, &json!({ "models": Vec::from_iter(loaded) }).to_string())
            }
            "/api/show" => http_response(200, &json!({ "model_info": { "llama.context_length": 40_960 } }).to_string()),
            _ => {
                let context = taken.body["options"]["num_ctx"].as_u64().unwrap_or(4_096);
                let tokens = taken.body["messages"][0]["content"].as_str().unwrap().len() as u64 / 4;
                assert!(context <= 40_960, "the context does not exceed that of the model: {context}");
                if tokens > context {
                    http_response(400, "{\"error\":\"the input length exceeds the context length\"}")
                } else {
                    http_response(200, "{\"message\":{\"content\":\"ok\"},\"done\":true,\"done_reason\":\"stop\"}\n")
                }
            }
        };
        (Duration::ZERO, bytes)
    })
    .await
}

#[tokio::test]
async fn ollama_is_requested_to_load_the_required_context() {
    let cases = [
        ("a short request", None, 10, Some(100), None),
        ("a request of 12,000 tokens", None, 48_000, Some(1_000), Some(32_768)),
        ("a request with a longer response", None, 10, Some(6_000), Some(8_192)),
        ("a request that fits the allocated context", Some(16_384), 10, Some(100), Some(16_384)),
        ("a request that exceeds the allocated context", Some(8_192), 48_000, Some(1_000), Some(32_768)),
        ("a request that requires the largest context", None, 140_000, Some(1_000), Some(40_960)),
    ];
    for (name, allocated, length, max_tokens, expected) in cases {
        let served = start_strict_ollama(allocated).await;
        let provider = provider_client(ProviderKind::Ollama, &served.url(), None, ConversionChoices::default());
        let request = ModelRequest { max_tokens, ..text_request(ProviderKind::Ollama, &"x".repeat(length)) };
        let (_, reply) = collect_response(&provider, request).await;
        assert_eq!(reply.expect("a reply").message.plain_text(), "ok", "{name}: the request succeeds");
        let requested = served.request_bodies("/api/chat").pop().unwrap()["options"]["num_ctx"].as_u64();
        assert_eq!(requested, expected, "{name}: the context should have the required size");
    }
    let served = start_strict_ollama(None).await;
    let provider = provider_client(ProviderKind::Ollama, &served.url(), None, ConversionChoices::default());
    let (_, error) = collect_response(&provider, text_request(ProviderKind::Ollama, &"x".repeat(400_000))).await;
    assert_eq!(
        error,
        Err(ModelError::ContextTooLong { limit: None }),
        "a request that exceeds the model's context is reported"
    );
}
