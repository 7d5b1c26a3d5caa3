//! OpenAI's chat completions API: <https://platform.openai.com/docs/api-reference/chat>.
//!
//! Most other providers and servers implement it too: OpenRouter, LM Studio, vLLM, llama.cpp. Extensions are sent only
//! to those that support them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::encode::{
    encode_base64, encode_data_url, join_tool_result_texts, opaque_data_written_by_wire, parse_positive_token_count,
    parse_token_count,
};
use super::provider_http_client::{EventFraming, ProviderHttpClient};
use super::reply_assembly::ReplyAssembly;
use super::{ReplyDecoder, Wire, WireRequest, provider_fault};
use crate::model_limits::{self, ToolSupport};
use crate::wire_capabilities::{IMAGE_MEDIA_TYPES, TemperatureSupport, WireCapabilities};
use crate::{
    MessagePart, Model, ModelCapabilities, ModelError, ModelMessage, ModelPrice, ModelRequest, ModelTool,
    ProviderSettings, Role, StopReason, ToolChoice,
};

/// Name that is stored with a model's reasoning to record that this API created it.
const WIRE_NAME: &str = "openai";
/// Maximum number of models that are read from a provider's list.
const MAX_LISTED_MODELS: usize = 2_000;

/// Provider whose variant of the chat completions API is used, since providers differ in parameters and extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChatCompletionsDialect {
    OpenAi,
    OpenRouter,
    Other,
}

pub(super) struct OpenAi {
    dialect: ChatCompletionsDialect,
}

impl OpenAi {
    pub(super) fn for_provider(settings: &ProviderSettings) -> Self {
        Self { dialect: ChatCompletionsDialect::of_provider(settings) }
    }
}

impl ChatCompletionsDialect {
    pub(super) fn of_provider(settings: &ProviderSettings) -> Self {
        match settings.url.host_str() {
            Some(host) if is_openai_host(host) => Self::OpenAi,
            Some("openrouter.ai") => Self::OpenRouter,
            _ => Self::Other,
        }
    }
}

/// Returns `true` for the hosts of OpenAI, including regional ones, and for Microsoft's hosts that serve OpenAI's
/// models.
fn is_openai_host(host: &str) -> bool {
    host == "api.openai.com"
        || [".api.openai.com", ".openai.azure.com", ".services.ai.azure.com"].iter().any(|end| host.ends_with(end))
}

impl Wire for OpenAi {
    fn capabilities(&self, model: Option<&str>) -> WireCapabilities {
        // Only on OpenAI's hosts does the name identify the model.
        let limits = match (self.dialect, model) {
            (ChatCompletionsDialect::OpenAi, Some(model)) => model_limits::openai_tool_support(model),
            (ChatCompletionsDialect::OpenAi, None) => Some(ToolSupport::EffortNone),
            (ChatCompletionsDialect::OpenRouter | ChatCompletionsDialect::Other, _) => None,
        };
        WireCapabilities {
            images: IMAGE_MEDIA_TYPES,
            audio: &["audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"],
            files: if self.dialect == ChatCompletionsDialect::Other { &[] } else { &["application/pdf"] },
            images_in_results: false,
            files_in_results: false,
            tool_error: false,
            tool_required: true,
            max_stop_sequences: if limits.is_some() { 0 } else { 4 },
            temperature: if limits.is_some() { TemperatureSupport::Never } else { TemperatureSupport::Always },
            thinking_with_tools: matches!(limits, None | Some(ToolSupport::Thinking)),
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn framing(&self) -> EventFraming {
        EventFraming::ServerSent
    }

    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest {
        let mut body = Map::new();
        body.insert("model".into(), request.model.clone().into());
        let system = request.system.iter().map(|text| json!({ "role": "system", "content": text }));
        let messages: Vec<Value> = system.chain(request.messages.iter().flat_map(encode_message)).collect();
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({ "include_usage": true }));
        let has_tools = !request.tools.is_empty();
        if has_tools {
            body.insert("tools".into(), request.tools.iter().map(encode_tool).collect());
            let choice = match request.tool_choice {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "required",
                ToolChoice::None => "none",
            };
            body.insert("tool_choice".into(), choice.into());
        }
        if let Some(max) = request.max_tokens {
            // OpenAI's reasoning models accept only the newer name, and other servers only the older one.
            let name =
                if self.dialect == ChatCompletionsDialect::OpenAi { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.into(), max.into());
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature".into(), temperature.into());
        }
        if !request.stop.is_empty() {
            body.insert("stop".into(), json!(request.stop));
        }
        match self.dialect {
            ChatCompletionsDialect::OpenAi
                if has_tools && model_limits::openai_tool_support(&request.model) == Some(ToolSupport::EffortNone) =>
            {
                body.insert("reasoning_effort".into(), "none".into());
            }
            ChatCompletionsDialect::OpenAi if request.thinking => {
                body.insert("reasoning_effort".into(), "medium".into());
            }
            ChatCompletionsDialect::OpenRouter if request.thinking => {
                body.insert("reasoning".into(), json!({ "enabled": true }));
            }
            ChatCompletionsDialect::OpenAi | ChatCompletionsDialect::OpenRouter | ChatCompletionsDialect::Other => {}
        }
        WireRequest { url: settings.url_at("chat/completions"), body: body.into() }
    }

    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder> {
        Box::new(ChatCompletionsDecoder { model: model.to_owned(), ..ChatCompletionsDecoder::default() })
    }
}

fn encode_tool(tool: &ModelTool) -> Value {
    let mut function = json!({ "name": tool.name, "parameters": tool.input_schema });
    if let Some(description) = &tool.description {
        function["description"] = description.clone().into();
    }
    json!({ "type": "function", "function": function })
}

/// Encodes a message as one or more messages of the API. Tool results are separate messages, and come first.
fn encode_message(message: &ModelMessage) -> Vec<Value> {
    match message.role {
        Role::Assistant => vec![encode_assistant_message(&message.parts)],
        Role::User => {
            let results = message.parts.iter().filter_map(|part| match part {
                MessagePart::ToolResult { id, parts, .. } => {
                    Some(json!({ "role": "tool", "tool_call_id": id, "content": join_tool_result_texts(parts) }))
                }
                _ => None,
            });
            let content: Vec<Value> = message.parts.iter().filter_map(encode_content).collect();
            let only_text = message.parts.iter().all(|part| matches!(part, MessagePart::Text(_)));
            let own = (!content.is_empty()).then(|| {
                let content = if only_text { message.plain_text().into() } else { Value::from(content) };
                json!({ "role": "user", "content": content })
            });
            results.chain(own).collect()
        }
    }
}

fn encode_content(part: &MessagePart) -> Option<Value> {
    Some(match part {
        MessagePart::Text(text) => json!({ "type": "text", "text": text }),
        MessagePart::Image { mime, data } => {
            json!({ "type": "image_url", "image_url": { "url": encode_data_url(mime, data) } })
        }
        MessagePart::Audio { mime, data } => {
            let format = if mime.ends_with("wav") { "wav" } else { "mp3" };
            json!({ "type": "input_audio", "input_audio": { "data": encode_base64(data), "format": format } })
        }
        MessagePart::File { name, mime, data } => {
            json!({ "type": "file", "file": { "filename": name, "file_data": encode_data_url(mime, data) } })
        }
        MessagePart::Thinking { .. } | MessagePart::ToolUse { .. } | MessagePart::ToolResult { .. } => return None,
    })
}

fn encode_assistant_message(parts: &[MessagePart]) -> Value {
    let mut own = Map::new();
    own.insert("role".into(), "assistant".into());
    let texts: String = parts
        .iter()
        .filter_map(|part| if let MessagePart::Text(text) = part { Some(text.as_str()) } else { None })
        .collect();
    let calls: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            MessagePart::ToolUse { id, name, arguments, .. } => {
                let arguments = Value::Object(arguments.clone()).to_string();
                let function = json!({ "name": name, "arguments": arguments });
                Some(json!({ "id": id, "type": "function", "function": function }))
            }
            _ => None,
        })
        .collect();
    let content = if texts.is_empty() && !calls.is_empty() { Value::Null } else { texts.into() };
    own.insert("content".into(), content);
    if !calls.is_empty() {
        own.insert("tool_calls".into(), calls.into());
    }
    for part in parts {
        let MessagePart::Thinking { text, opaque } = part else { continue };
        let Some(opaque_data) = opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME) else { continue };
        if let Some(details) = opaque_data.get("details") {
            own.insert("reasoning_details".into(), details.clone());
        } else if opaque_data["field"] == "reasoning_content" {
            // After a tool call, some models require their reasoning in the member in which it was received.
            own.insert("reasoning_content".into(), text.clone().into());
        }
    }
    own.into()
}

/// Decodes the events of a streamed reply in the format of the chat completions API.
#[derive(Default)]
struct ChatCompletionsDecoder {
    model: String,
    is_done: bool,
    has_ended: bool,
    /// Set if the provider sent reasoning in the field `reasoning_content`.
    received_reasoning_content: bool,
    /// Reasoning details that OpenRouter requires in the next request.
    details: Vec<Value>,
    /// Latest tool call of each `index` in the stream: its id as received, and its key in the [`ReplyAssembly`].
    latest_calls: BTreeMap<u64, (String, u64)>,
}

impl ReplyDecoder for ChatCompletionsDecoder {
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        if event.is_null() {
            self.is_done = true;
            return Ok(());
        }
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(provider_fault::stream_error(event, &self.model));
        }
        if let Some(model) = event["model"].as_str() {
            assembly.set_model(model);
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            assembly.change_token_usage(|own| {
                own.input = parse_token_count(&usage["prompt_tokens"]);
                own.output = parse_token_count(&usage["completion_tokens"]);
                own.cached_input = parse_token_count(&usage["prompt_tokens_details"]["cached_tokens"]);
                own.thinking = parse_token_count(&usage["completion_tokens_details"]["reasoning_tokens"]);
            });
        }
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        self.process_thinking(delta, assembly)?;
        if let Some(text) = delta["content"].as_str() {
            assembly.append_text(text)?;
        }
        // A refusal of the model, in place of content.
        if let Some(text) = delta["refusal"].as_str() {
            assembly.append_text(text)?;
            assembly.set_stop_reason(StopReason::Refused);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.process_tool_call(call, assembly)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.has_ended = true;
            assembly.set_stop_reason(match reason {
                "stop" => StopReason::EndTurn,
                "length" => StopReason::MaxTokens,
                "tool_calls" | "function_call" => StopReason::ToolUse,
                "content_filter" => StopReason::Refused,
                other => StopReason::Other(provider_fault::shorten_provider_message(other)),
            });
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn is_complete_at_stream_end(&self) -> bool {
        // Some servers don't send `[DONE]`.
        self.has_ended
    }

    fn on_stream_end(&mut self, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        if !self.details.is_empty() {
            let details = Value::from(std::mem::take(&mut self.details));
            assembly.attach_opaque_data_to_first_reasoning(json!({ "wire": WIRE_NAME, "details": details }))
        } else if self.received_reasoning_content {
            assembly.attach_opaque_data_to_first_reasoning(json!({ "wire": WIRE_NAME, "field": "reasoning_content" }))
        } else {
            Ok(())
        }
    }
}

impl ChatCompletionsDecoder {
    fn process_thinking(&mut self, delta: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        let in_content = delta["reasoning_content"].as_str();
        self.received_reasoning_content |= in_content.is_some_and(|text| !text.is_empty());
        if let Some(text) = in_content.or_else(|| delta["reasoning"].as_str()) {
            assembly.append_thinking(text)?;
        }
        for detail in delta["reasoning_details"].as_array().into_iter().flatten() {
            self.add_reasoning_detail(detail, assembly)?;
        }
        Ok(())
    }

    /// Processes a fragment of a tool call. The first fragment contains id and name.
    fn process_tool_call(&mut self, call: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let id = call["id"].as_str().unwrap_or_default();
        // Some servers omit the index, and each fragment is a complete call. Some use index 0 for all calls, and some
        // generate a new identifier for each fragment.
        let index = call["index"].as_u64();
        let begins_another = |own: &str| !name.is_empty() && !id.is_empty() && id != own;
        let known = index.and_then(|index| self.latest_calls.get(&index)).filter(|(own, _)| !begins_another(own));
        let key = if let Some((_, key)) = known {
            *key
        } else if name.is_empty() {
            return Err(ModelError::Unreadable { cause: "a tool call has no name".to_owned() });
        } else {
            let key = assembly.next_tool_use_key();
            assembly.begin_tool_use(key, id.to_owned(), name.to_owned(), None)?;
            if let Some(index) = index {
                self.latest_calls.insert(index, (id.to_owned(), key));
            }
            key
        };
        match &function["arguments"] {
            Value::String(text) => assembly.append_arguments(key, text),
            // Some servers send an object.
            Value::Object(arguments) => assembly.append_arguments(key, &Value::Object(arguments.clone()).to_string()),
            _ => Ok(()),
        }
    }

    /// Stores an entry of OpenRouter's `reasoning_details`. Fragments with the same index and type are merged.
    fn add_reasoning_detail(&mut self, detail: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        const MAX_REASONING_DETAILS: usize = 256;
        assembly.add_to_reply_size(detail.to_string().len())?;
        let known = self.details.iter_mut().find(|known| {
            detail["index"].is_number() && known["index"] == detail["index"] && known["type"] == detail["type"]
        });
        let (Some(known), Some(members)) = (known, detail.as_object()) else {
            if self.details.len() == MAX_REASONING_DETAILS {
                return Err(ModelError::Unreadable { cause: "too many reasoning details".to_owned() });
            }
            self.details.push(detail.clone());
            return Ok(());
        };
        for (name, value) in members {
            match (name.as_str(), value, &mut known[name]) {
                (_, Value::Null, _) => {}
                ("text" | "summary" | "data", Value::String(more), Value::String(before)) => before.push_str(more),
                (_, value, known) => known.clone_from(value),
            }
        }
        Ok(())
    }
}

/// Requests the list of the provider's models. OpenRouter and LM Studio report more properties of a model than OpenAI.
pub(super) async fn list_models(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
) -> Result<Vec<Model>, ModelError> {
    let answer = exchange.get(settings.url_at("models")).await?;
    let Some(listed) = answer["data"].as_array().or_else(|| answer.as_array()) else {
        return Err(ModelError::Unreadable { cause: "the response contains no list of models".to_owned() });
    };
    Ok(listed.iter().take(MAX_LISTED_MODELS).filter_map(parse_model).collect())
}

fn parse_model(listed: &Value) -> Option<Model> {
    let id = listed["id"].as_str()?;
    let context = ["context_length", "max_model_len", "max_context_length"]
        .iter()
        .find_map(|name| parse_positive_token_count(&listed[*name]));
    let context = context.or_else(|| parse_positive_token_count(&listed["meta"]["n_ctx_train"]));
    let has = |list: &Value, expected: &str| {
        list.as_array().map(|list| list.iter().any(|item| item.as_str() == Some(expected)))
    };
    let inputs = &listed["architecture"]["input_modalities"];
    let parameters = &listed["supported_parameters"];
    Some(Model {
        id: id.to_owned(),
        name: provider_fault::shorten_provider_message(listed["name"].as_str().unwrap_or(id)),
        context,
        max_output: parse_positive_token_count(&listed["top_provider"]["max_completion_tokens"]),
        price: parse_model_price(&listed["pricing"]),
        takes: ModelCapabilities {
            images: has(inputs, "image"),
            audio: has(inputs, "audio"),
            files: has(inputs, "file"),
            tools: has(parameters, "tools"),
            thinking: has(parameters, "reasoning"),
        },
        rank: None,
    })
}

/// Converts OpenRouter's prices, which are strings in dollars per token, to prices per million tokens.
fn parse_model_price(pricing: &Value) -> Option<ModelPrice> {
    let million = |name: &str| {
        let each: f64 = pricing[name].as_str()?.parse().ok()?;
        (each >= 0.0 && each.is_finite()).then_some(each * 1_000_000.0)
    };
    Some(ModelPrice {
        input: million("prompt")?,
        output: million("completion")?,
        cached_input: million("input_cache_read"),
        written_input: million("input_cache_write"),
        long: None,
        currency: "USD".to_owned(),
        as_of: "the provider's list".to_owned(),
    })
}
