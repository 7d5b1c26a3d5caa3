//! Tests of providers that reject the same requests as the real ones, with the same error messages.

use std::time::Duration;

use models::{
    Conversion, ConversionChoices, HttpProvider, LossyConversion, ModelError, ModelRequest, ModelTool, Provider as _,
    ProviderKind, UnsupportedFeature,
};
use serde_json::{Value, json};

use crate::fake::{collect_response, provider_settings, receive_reply, text_request};
use crate::scripted::{ReceivedRequest, ScriptedServer, http_response, start_scripted_server};

/// Reasoning models of OpenAI. The second text states which reasoning efforts the model accepts in requests with tools
/// to the chat completions API.
const REASONING_MODELS: [(&str, &str); 9] = [
    ("o3", "any"),
    ("o4-mini", "any"),
    ("gpt-5-mini", "any"),
    ("gpt-5.4", "no effort"),
    ("gpt-5.5", "no effort"),
    ("gpt-5.6", "none"),
    ("gpt-5.6-terra", "none"),
    ("gpt-6-sol", "none"),
    ("gpt-6.1-terra", "none"),
];

/// Hosts of OpenAI's API, and another host that rejects the same requests.
const OPENAI_API_HOSTS: [&str; 3] = ["api.openai.com", "eu.api.openai.com", "team.openai.azure.com"];

/// Returns the error with which OpenAI's API would reject a request to one of [`REASONING_MODELS`], or `None` if it
/// would accept it.
fn openai_rejection(body: &Value) -> Option<String> {
    let model = body["model"].as_str().unwrap();
    let (_, tools) = REASONING_MODELS.iter().find(|(id, _)| *id == model)?;
    let effort = body["reasoning_effort"].as_str();
    let misuses = match *tools {
        "no effort" => effort.is_some(),
        "none" => effort != Some("none"),
        _ => false,
    };
    if body["tools"].is_array() && misuses {
        return Some(format!(
            "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions."
        ));
    }
    if body["temperature"].is_number() {
        return Some("Unsupported value: 'temperature' does not support 0.5 with this model.".into());
    }
    let unsupported = ["stop", "max_tokens"].into_iter().find(|name| !body[name].is_null())?;
    Some(format!("Unsupported parameter: '{unsupported}' is not supported with this model."))
}

async fn start_strict_openai() -> ScriptedServer {
    start_scripted_server(|taken| {
        let bytes = match openai_rejection(&taken.body) {
            Some(message) => http_response(400, &json!({ "error": { "message": message } }).to_string()),
            None => http_response(200, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: [DONE]\n\n"),
        };
        (Duration::ZERO, bytes)
    })
    .await
}

/// Returns a client for an OpenAI-compatible provider with this host name. The name is resolved to the address of the
/// fake server.
#[allow(clippy::disallowed_methods, reason = "resolves the host name of a real provider to the fake one")]
fn client_for_host(host: &str, served: &ScriptedServer, conversions: ConversionChoices) -> HttpProvider {
    let client = reqwest::Client::builder().no_proxy().resolve(host, served.address).build().unwrap();
    let url = format!("http://{host}:{}", served.address.port());
    HttpProvider::new(provider_settings(ProviderKind::OpenAi, &url, conversions), None, client)
}

fn request_with_all_options(model: &str) -> ModelRequest {
    let tool = ModelTool { name: "look".into(), description: None, input_schema: json!({ "type": "object" }) };
    ModelRequest {
        model: model.into(),
        tools: vec![tool],
        max_tokens: Some(100),
        temperature: Some(0.5),
        thinking: true,
        ..text_request(ProviderKind::OpenAi, "x")
    }
}

#[tokio::test]
async fn reasoning_models_of_openai_receive_supported_parameters() {
    for host in OPENAI_API_HOSTS {
        let served = start_strict_openai().await;
        let provider = client_for_host(host, &served, ConversionChoices::default());
        for (model, tools) in REASONING_MODELS {
            let request = request_with_all_options(model);
            let mut expected =
                vec![LossyConversion { what: UnsupportedFeature::Temperature, then: Conversion::LeaveOut }];
            if tools != "any" {
                expected
                    .push(LossyConversion { what: UnsupportedFeature::ThinkingWithTools, then: Conversion::LeaveOut });
            }
            assert_eq!(
                provider.find_lossy_conversions(&request),
                expected,
                "{model} at {host}: omitted parts are reported"
            );
            let answered = receive_reply(&provider, request.clone()).await;
            assert_eq!(answered.message.plain_text(), "ok", "{model} at {host}: the model should reply");
            let plain = ModelRequest { thinking: false, temperature: None, ..request.clone() };
            assert!(
                provider.find_lossy_conversions(&plain).is_empty(),
                "{model} at {host}: tools without thinking should be supported"
            );
            receive_reply(&provider, plain).await;
            let alone = ModelRequest { tools: Vec::new(), temperature: None, ..request };
            receive_reply(&provider, alone).await;
            let effort = served.request_bodies("/v1/chat/completions").pop().unwrap()["reasoning_effort"].clone();
            assert_eq!(effort, "medium", "{model} at {host}: the effort should be sent without tools");
        }
    }
}

#[tokio::test]
async fn unsupported_stop_sequences_are_refused_before_sending() {
    let served = start_strict_openai().await;
    for (model, _) in REASONING_MODELS {
        let request =
            ModelRequest { stop: vec!["END".into()], model: model.into(), ..text_request(ProviderKind::OpenAi, "x") };
        let (_, refused) = collect_response(
            &client_for_host(OPENAI_API_HOSTS[0], &served, ConversionChoices::default()),
            request.clone(),
        )
        .await;
        let loss = LossyConversion { what: UnsupportedFeature::Stop, then: Conversion::Refuse };
        assert_eq!(refused, Err(ModelError::CannotCarry(loss)), "{model}: the stop sequences should be refused");
        let chosen = ConversionChoices([(UnsupportedFeature::Stop, Conversion::LeaveOut)].into());
        let answered = receive_reply(&client_for_host(OPENAI_API_HOSTS[0], &served, chosen), request).await;
        assert_eq!(
            answered.message.plain_text(),
            "ok",
            "{model}: the model should reply if stop sequences are omitted"
        );
    }
}

#[tokio::test]
async fn other_models_and_providers_receive_all_parameters() {
    let served = start_strict_openai().await;
    let request = ModelRequest { stop: vec!["END".into()], thinking: false, ..request_with_all_options("gpt-4o") };
    let own = client_for_host(OPENAI_API_HOSTS[0], &served, ConversionChoices::default());
    assert!(own.find_lossy_conversions(&request).is_empty(), "gpt-4o should support all parameters");
    receive_reply(&own, request.clone()).await;
    let other = client_for_host("models.example", &served, ConversionChoices::default());
    let request = ModelRequest { model: "gpt-6-like".into(), ..request };
    assert!(
        other.find_lossy_conversions(&request).is_empty(),
        "a similar model of another provider should not be restricted"
    );
    receive_reply(&other, request).await;
    let bodies = served.request_bodies("/v1/chat/completions");
    for body in &bodies {
        assert_eq!(body["temperature"], 0.5, "the temperature should be sent: {body}");
        assert_eq!(body["stop"], json!(["END"]), "the stop sequences should be sent: {body}");
        assert!(body["reasoning_effort"].is_null(), "no effort should be sent: {body}");
    }
    assert_eq!(bodies.len(), 2, "each provider should receive one request");
    assert_eq!(bodies[0]["max_completion_tokens"], 100, "OpenAI should receive the new name of the token limit");
    assert_eq!(bodies[1]["max_tokens"], 100, "other providers should receive the old name of the token limit");
}

#[tokio::test]
async fn anthropic_models_receive_a_temperature_only_if_supported() {
    let refusing = ["claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5-5", "claude-fable-5"];
    let served = start_scripted_server(move |taken: &ReceivedRequest| {
        let refuses = refusing.contains(&taken.body["model"].as_str().unwrap());
        let bytes = if refuses && taken.body.get("temperature").is_some() {
            let message = "`temperature` is deprecated for this model.";
            let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } });
            http_response(400, &error.to_string())
        } else {
            http_response(200, "data: {\"type\":\"message_stop\"}\n\n")
        };
        (Duration::ZERO, bytes)
    })
    .await;
    let provider =
        crate::fake::provider_client(ProviderKind::Anthropic, &served.url(), None, ConversionChoices::default());
    let hot = |model: &str| ModelRequest {
        model: model.into(),
        temperature: Some(0.5),
        ..text_request(ProviderKind::Anthropic, "x")
    };
    for model in refusing {
        let loss = LossyConversion { what: UnsupportedFeature::Temperature, then: Conversion::LeaveOut };
        assert_eq!(
            provider.find_lossy_conversions(&hot(model)),
            [loss],
            "{model}: the omission of the temperature should be reported"
        );
        receive_reply(&provider, hot(model)).await;
    }
    for model in ["claude-sonnet-4-5", "claude-haiku-4-5-20251001", "claude-opus-4-6"] {
        assert!(provider.find_lossy_conversions(&hot(model)).is_empty(), "{model} should support a temperature");
        receive_reply(&provider, hot(model)).await;
        let sent = served.request_bodies("/v1/messages").pop().unwrap();
        assert_eq!(sent["temperature"], 0.5, "{model}: the temperature should be sent");
    }
}

#[tokio::test]
async fn model_name_cannot_change_the_request_path() {
    let served = start_scripted_server(|_| (Duration::ZERO, http_response(404, "{}"))).await;
    let provider =
        crate::fake::provider_client(ProviderKind::Gemini, &served.url(), None, ConversionChoices::default());
    for (model, path) in [
        ("gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("models/gemini-2.5-flash", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"),
        ("../files/a?b#c", "/v1beta/models/..%2Ffiles%2Fa%3Fb%23c:streamGenerateContent?alt=sse"),
    ] {
        let before = served.request_bodies(path).len();
        let _ = collect_response(
            &provider,
            ModelRequest { model: model.into(), ..text_request(ProviderKind::Gemini, "x") },
        )
        .await;
        assert_eq!(
            served.request_bodies(path).len(),
            before + 1,
            "the path should contain the complete, escaped name {model}"
        );
    }
}
