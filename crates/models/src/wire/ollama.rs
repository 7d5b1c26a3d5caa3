//! Ollama's native API: <https://github.com/ollama/ollama/blob/main/docs/api.md>.

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use super::encode::{encode_base64, join_tool_result_texts, parse_positive_token_count, parse_token_count};
use super::provider_http_client::{EventFraming, ProviderHttpClient};
use super::reply_assembly::ReplyAssembly;
use super::{ReplyDecoder, Wire, WireRequest, provider_fault};
use crate::wire_capabilities::{TemperatureSupport, WireCapabilities};
use crate::{
    MessagePart, Model, ModelCapabilities, ModelError, ModelMessage, ModelRequest, ProviderSettings, Role, StopReason,
    ToolChoice,
};

/// Maximum number of models whose details are requested from Ollama. For further models only the names are known.
const MAX_MODELS_QUERIED_FOR_DETAILS: usize = 64;
/// Maximum number of models that are read from Ollama's list.
const MAX_LISTED_MODELS: usize = 1_000;
/// Maximum number of concurrent requests for details of models.
const MAX_CONCURRENT_DETAIL_REQUESTS: usize = 4;

pub(super) struct Ollama;

impl Wire for Ollama {
    fn capabilities(&self, _: Option<&str>) -> WireCapabilities {
        WireCapabilities {
            images: &["image/png", "image/jpeg", "image/webp"],
            audio: &[],
            files: &[],
            images_in_results: false,
            files_in_results: false,
            tool_error: false,
            tool_required: false,
            max_stop_sequences: 64,
            temperature: TemperatureSupport::Always,
            thinking_with_tools: true,
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn framing(&self) -> EventFraming {
        EventFraming::Lines
    }

    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest {
        let mut body = Map::new();
        body.insert("model".into(), request.model.clone().into());
        let system = request.system.iter().map(|text| json!({ "role": "system", "content": text }));
        let messages: Vec<Value> = system.chain(request.messages.iter().flat_map(encode_message)).collect();
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), true.into());
        // By default it silently drops the beginning of a request that is too long.
        body.insert("truncate".into(), false.into());
        body.insert("shift".into(), false.into());
        if !request.tools.is_empty() && request.tool_choice != ToolChoice::None {
            let tools = request.tools.iter().map(|tool| {
                let description = tool.description.as_deref().unwrap_or_default();
                let function =
                    json!({ "name": tool.name, "description": description, "parameters": tool.input_schema });
                json!({ "type": "function", "function": function })
            });
            body.insert("tools".into(), tools.collect());
        }
        if request.thinking {
            body.insert("think".into(), true.into());
        }
        let mut options = Map::new();
        if let Some(max) = request.max_tokens {
            options.insert("num_predict".into(), max.into());
        }
        if let Some(temperature) = request.temperature {
            options.insert("temperature".into(), temperature.into());
        }
        if !request.stop.is_empty() {
            options.insert("stop".into(), json!(request.stop));
        }
        if !options.is_empty() {
            body.insert("options".into(), options.into());
        }
        WireRequest { url: settings.url_at("api/chat"), body: body.into() }
    }

    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder> {
        Box::new(OllamaReplyDecoder { model: model.to_owned(), is_done: false })
    }
}

fn encode_message(message: &ModelMessage) -> Vec<Value> {
    let texts = message.parts.iter().filter_map(|part| match part {
        MessagePart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if message.role == Role::Assistant {
        let calls: Vec<Value> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                MessagePart::ToolUse { id, name, arguments, .. } => {
                    Some(json!({ "id": id, "function": { "name": name, "arguments": arguments } }))
                }
                _ => None,
            })
            .collect();
        let mut own = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            own["tool_calls"] = calls.into();
        }
        return vec![own];
    }
    let results = message.parts.iter().filter_map(|part| match part {
        MessagePart::ToolResult { id, name, parts, .. } => Some(
            json!({ "role": "tool", "tool_name": name, "tool_call_id": id, "content": join_tool_result_texts(parts) }),
        ),
        _ => None,
    });
    let images: Vec<Value> = message
        .parts
        .iter()
        .filter_map(
            |part| if let MessagePart::Image { data, .. } = part { Some(encode_base64(data).into()) } else { None },
        )
        .collect();
    let own = (!text.is_empty() || !images.is_empty()).then(|| {
        let mut own = json!({ "role": "user", "content": text });
        if !images.is_empty() {
            own["images"] = images.into();
        }
        own
    });
    results.chain(own).collect()
}

/// Decodes the events of a streamed reply in Ollama's native format.
struct OllamaReplyDecoder {
    model: String,
    is_done: bool,
}

impl ReplyDecoder for OllamaReplyDecoder {
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        if event.get("error").is_some() {
            return Err(provider_fault::stream_error(event, &self.model));
        }
        assembly.set_model(event["model"].as_str().unwrap_or_default());
        let message = &event["message"];
        // Some models use the member name of OpenAI's wire.
        let thinking = message["thinking"].as_str().or_else(|| message["reasoning_content"].as_str());
        assembly.append_thinking(thinking.unwrap_or_default())?;
        assembly.append_text(message["content"].as_str().unwrap_or_default())?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let Some(name) = function["name"].as_str().filter(|name| !name.is_empty()) else {
                return Err(ModelError::Unreadable { cause: "a tool call has no name".to_owned() });
            };
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            assembly.begin_tool_use(assembly.next_tool_use_key(), id, name.to_owned(), None)?;
            match &function["arguments"] {
                Value::Object(arguments) => assembly.set_arguments(arguments.clone())?,
                Value::String(text) => assembly.append_arguments(assembly.next_tool_use_key() - 1, text)?,
                _ => {}
            }
        }
        if event["done"] == true {
            self.is_done = true;
            assembly.change_token_usage(|own| {
                own.input = parse_token_count(&event["prompt_eval_count"]);
                own.output = parse_token_count(&event["eval_count"]);
            });
            assembly.set_stop_reason(match event["done_reason"].as_str() {
                None | Some("stop") => StopReason::EndTurn,
                Some("length") => StopReason::MaxTokens,
                Some(other) => StopReason::Other(provider_fault::shorten_provider_message(other)),
            });
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// Requests the list of Ollama's models, and then their details.
pub(super) async fn list_models(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
) -> Result<Vec<Model>, ModelError> {
    let mut named = list_model_names(exchange, settings).await?;
    let rest = named.split_off(named.len().min(MAX_MODELS_QUERIED_FOR_DETAILS));
    let details = named.into_iter().map(|named| async move {
        match request_model_details(exchange, settings, &named.id).await {
            Ok(details) => model_from_details(&named.id, &details),
            Err(_) => named,
        }
    });
    let mut models: Vec<Model> = stream::iter(details).buffered(MAX_CONCURRENT_DETAIL_REQUESTS).collect().await;
    models.extend(rest);
    Ok(models)
}

/// Requests only the names of Ollama's models, with one HTTP request.
pub(super) async fn list_model_names(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
) -> Result<Vec<Model>, ModelError> {
    let answer = exchange.get(settings.url_at("api/tags")).await?;
    let Some(listed) = answer["models"].as_array() else {
        return Err(ModelError::Unreadable { cause: "the response contains no list of models".to_owned() });
    };
    let names = listed.iter().take(MAX_LISTED_MODELS).filter_map(|listed| listed["name"].as_str());
    Ok(names.map(|name| model_from_details(name, &Value::Null)).collect())
}

/// Requests the details of one model from Ollama, such as its context size.
pub(super) async fn request_model_details(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
    name: &str,
) -> Result<Value, ModelError> {
    exchange.post(settings.url_at("api/show"), &json!({ "model": name })).await
}

/// Returns the maximum context size of a model in tokens. `details` is Ollama's response with the model's details.
pub(super) fn max_context_tokens(details: &Value) -> Option<u32> {
    let info = details["model_info"].as_object()?;
    info.iter()
        .find(|(key, _)| key.ends_with(".context_length"))
        .and_then(|(_, value)| parse_positive_token_count(value))
}

fn model_from_details(name: &str, details: &Value) -> Model {
    let capabilities = details["capabilities"].as_array();
    let can = |expected: &str| capabilities.map(|list| list.iter().any(|own| own == expected));
    Model {
        id: name.to_owned(),
        name: provider_fault::shorten_provider_message(name),
        context: max_context_tokens(details),
        takes: ModelCapabilities {
            images: can("vision"),
            audio: Some(false),
            files: Some(false),
            tools: can("tools"),
            thinking: can("thinking"),
        },
        ..Model::default()
    }
}
