//! Tests of the temperature and the maximum number of answer tokens in the requests of each wire.
#![allow(clippy::expect_used)]

use serde_json::{Value, json};

use super::create_wire;
use crate::{MessagePart, ModelMessage, ModelRequest, PROVIDER_PRESETS, ProviderKind, ProviderSettings, Role};

fn settings_of_preset(kind: ProviderKind) -> ProviderSettings {
    let preset = PROVIDER_PRESETS.iter().find(|preset| preset.kind == kind).expect("each kind has a preset");
    preset.settings().expect("the URL of a preset is valid")
}

/// Returns the body of a request after its conversion for the provider's API.
fn request_body(kind: ProviderKind, request: ModelRequest) -> Value {
    let (settings, wire) = (settings_of_preset(kind), create_wire(&settings_of_preset(kind)));
    let capabilities = wire.capabilities(Some(&request.model));
    let sent = capabilities.convert_request(request, &settings.conversions).expect("only the temperature can be lost");
    wire.request(&settings, &sent).body
}

fn request_with_parameters(model: &str, temperature: Option<f64>, max_tokens: Option<u32>) -> ModelRequest {
    let messages = vec![ModelMessage { role: Role::User, parts: vec![MessagePart::text("Hi")] }];
    ModelRequest { model: model.into(), messages, temperature, max_tokens, ..ModelRequest::default() }
}

/// For each API: a model that supports a temperature, and the JSON pointers of the temperature and of the maximum
/// number of reply tokens in the request body.
const MODELS_AND_PARAMETER_POINTERS: [(ProviderKind, &str, &str, &str); 5] = [
    (ProviderKind::OpenAi, "gpt-4o", "/temperature", "/max_completion_tokens"),
    (ProviderKind::Responses, "gpt-4o", "/temperature", "/max_output_tokens"),
    (ProviderKind::Anthropic, "claude-sonnet-4-5", "/temperature", "/max_tokens"),
    (ProviderKind::Gemini, "gemini-2.5-pro", "/generationConfig/temperature", "/generationConfig/maxOutputTokens"),
    (ProviderKind::Ollama, "llama3", "/options/temperature", "/options/num_predict"),
];

#[test]
fn parameters_are_sent_in_the_members_of_each_provider_api() {
    assert_eq!(MODELS_AND_PARAMETER_POINTERS.map(|(kind, ..)| kind), ProviderKind::ALL, "each wire is tested");
    for (kind, model, temperature, tokens) in MODELS_AND_PARAMETER_POINTERS {
        let body = request_body(kind, request_with_parameters(model, Some(0.5), Some(700)));
        assert_eq!(body.pointer(temperature), Some(&json!(0.5)), "temperature of {kind:?}: {body}");
        assert_eq!(body.pointer(tokens), Some(&json!(700)), "answer tokens of {kind:?}: {body}");
    }
}

#[test]
fn unset_model_parameters_are_not_sent() {
    for (kind, model, temperature, tokens) in MODELS_AND_PARAMETER_POINTERS {
        let body = request_body(kind, request_with_parameters(model, None, None));
        assert_eq!(body.pointer(temperature), None, "temperature of {kind:?}: {body}");
        // The API of Anthropic requires a maximum.
        let is_required = kind == ProviderKind::Anthropic;
        assert_eq!(body.pointer(tokens).is_some(), is_required, "answer tokens of {kind:?}: {body}");
    }
}

#[test]
fn temperature_is_omitted_for_models_that_reject_it() {
    let models = [
        (ProviderKind::OpenAi, "o3"),
        (ProviderKind::Responses, "gpt-5"),
        (ProviderKind::Anthropic, "claude-opus-4-8"),
    ];
    for (kind, model) in models {
        let body = request_body(kind, request_with_parameters(model, Some(0.5), Some(700)));
        assert_eq!(body.get("temperature"), None, "{model} receives no temperature: {body}");
        assert!(body.to_string().contains("700"), "{model} receives the maximum number of tokens: {body}");
    }
}
