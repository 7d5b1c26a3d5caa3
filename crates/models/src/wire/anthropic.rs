//! Anthropic's Messages API: <https://docs.anthropic.com/en/api/messages>.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::encode::{encode_base64, opaque_data_written_by_wire, parse_positive_token_count, parse_token_count};
use super::provider_http_client::{EventFraming, ProviderHttpClient};
use super::reply_assembly::ReplyAssembly;
use super::{ReplyDecoder, Wire, WireRequest, provider_fault};
use crate::wire_capabilities::{IMAGE_MEDIA_TYPES, TemperatureSupport, WireCapabilities};
use crate::{
    MessagePart, Model, ModelCapabilities, ModelError, ModelMessage, ModelRequest, ProviderKind, ProviderSettings,
    Role, StopReason, ToolChoice, known_models, model_limits,
};

/// Name that is stored with a model's reasoning to record that this API created it.
const WIRE_NAME: &str = "anthropic";
const ANTHROPIC_API_VERSION: &str = "2023-06-01";
/// Maximum number of output tokens if neither the request nor the table of known models specifies one. The API requires
/// a value.
const DEFAULT_MAX_TOKENS: u32 = 8_192;
/// Minimum number of tokens that can be requested for reasoning.
const MIN_THINKING_TOKENS: u32 = 1_024;
/// Prefixes of the names of those models that require a token budget for reasoning. Later models choose the budget
/// themselves.
const MODELS_WITH_THINKING_BUDGET: [&str; 7] = [
    "claude-3-7",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-opus-4-2",
    "claude-opus-4-1",
    "claude-opus-4-5",
    "claude-haiku-4-5",
];

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn capabilities(&self, model: Option<&str>) -> WireCapabilities {
        WireCapabilities {
            images: IMAGE_MEDIA_TYPES,
            audio: &[],
            files: &["application/pdf"],
            images_in_results: true,
            files_in_results: true,
            tool_error: true,
            tool_required: true,
            max_stop_sequences: 8_191,
            temperature: if model.is_some_and(model_limits::anthropic_supports_temperature) {
                TemperatureSupport::WithoutThinking
            } else {
                TemperatureSupport::Never
            },
            thinking_with_tools: true,
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-api-key", key.to_owned()));
        key.into_iter().chain([("anthropic-version", ANTHROPIC_API_VERSION.to_owned())]).collect()
    }

    fn framing(&self) -> EventFraming {
        EventFraming::ServerSent
    }

    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest {
        let known =
            known_models::find_known_model(ProviderKind::Anthropic, &request.model).map(|known| known.max_output);
        let max = request.max_tokens.or(known.map(|max| max.min(32_000))).unwrap_or(DEFAULT_MAX_TOKENS);
        let mut body = Map::new();
        body.insert("model".into(), request.model.clone().into());
        body.insert("stream".into(), true.into());
        body.insert("max_tokens".into(), max.into());
        // The provider caches everything up to such a marker, and reads it later at a tenth of the price.
        if let Some(system) = &request.system {
            let cache_control = json!({ "type": "ephemeral" });
            body.insert("system".into(), json!([{ "type": "text", "text": system, "cache_control": cache_control }]));
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                let mut own = json!({ "name": tool.name, "input_schema": tool.input_schema });
                if let Some(description) = &tool.description {
                    own["description"] = description.clone().into();
                }
                own
            });
            let mut tools: Vec<Value> = tools.collect();
            if let Some(last) = tools.last_mut() {
                last["cache_control"] = json!({ "type": "ephemeral" });
            }
            body.insert("tools".into(), tools.into());
            let choice = match request.tool_choice {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "any",
                ToolChoice::None => "none",
            };
            body.insert("tool_choice".into(), json!({ "type": choice }));
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature".into(), temperature.into());
        }
        if !request.stop.is_empty() {
            body.insert("stop_sequences".into(), json!(request.stop));
        }
        if request.thinking {
            let by_budget = MODELS_WITH_THINKING_BUDGET.iter().any(|model| request.model.starts_with(model));
            if !by_budget {
                body.insert("thinking".into(), json!({ "type": "adaptive", "display": "summarized" }));
            } else if max > MIN_THINKING_TOKENS {
                let budget = (max / 2).max(MIN_THINKING_TOKENS);
                body.insert("thinking".into(), json!({ "type": "enabled", "budget_tokens": budget }));
            }
        }
        body.insert("messages".into(), encode_messages(&request.messages));
        WireRequest { url: settings.url_at("messages"), body: body.into() }
    }

    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder> {
        Box::new(AnthropicReplyDecoder { model: model.to_owned(), is_done: false })
    }
}

fn encode_messages(messages: &[ModelMessage]) -> Value {
    let mut ids = ToolUseIds::default();
    let mut sent: Vec<Value> = messages
        .iter()
        .map(|message| {
            // The API requires tool results to come first.
            let is_result = |part: &&MessagePart| matches!(part, MessagePart::ToolResult { .. });
            let first = message.parts.iter().filter(is_result);
            let rest = message.parts.iter().filter(|part| !is_result(part));
            let content: Vec<Value> =
                first.chain(rest).filter_map(|part| encode_content_block(part, &mut ids)).collect();
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({ "role": role, "content": content })
        })
        // The API rejects a message without content.
        .filter(|message| message["content"].as_array().is_some_and(|content| !content.is_empty()))
        .collect();
    let last = sent.last_mut().and_then(|message| message["content"].as_array_mut()).and_then(|list| list.last_mut());
    if let Some(last) = last.filter(|block| !matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))) {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
    sent.into()
}

/// Maps ids of tool calls to ids that the API accepts: letters, digits, `_` and `-`, unique in the conversation. Ids
/// from servers and other providers may contain other characters, and may repeat in each reply.
#[derive(Default)]
struct ToolUseIds {
    /// Accepted id of the latest tool call with each original id.
    accepted_ids: BTreeMap<String, String>,
    sent: BTreeSet<String>,
}

impl ToolUseIds {
    fn valid_tool_use_id(&mut self, id: &str) -> String {
        let is_taken = |c: u8| c.is_ascii_alphanumeric() || b"_-".contains(&c);
        let fits = !id.is_empty() && id.len() <= 128 && id.bytes().all(is_taken);
        let mut name = id.to_owned();
        let mut number = self.sent.len();
        while !fits && name == id || self.sent.contains(&name) {
            name = format!("drawbridge_use_{number}");
            number += 1;
        }
        self.sent.insert(name.clone());
        self.accepted_ids.insert(id.to_owned(), name.clone());
        name
    }

    fn valid_tool_result_id(&mut self, id: &str) -> String {
        match self.accepted_ids.get(id) {
            Some(name) => name.clone(),
            None => self.valid_tool_use_id(id),
        }
    }
}

fn encode_content_block(part: &MessagePart, ids: &mut ToolUseIds) -> Option<Value> {
    Some(match part {
        // The API rejects an empty text.
        MessagePart::Text(text) if text.trim().is_empty() => return None,
        MessagePart::Text(text) => json!({ "type": "text", "text": text }),
        MessagePart::Image { mime, data } => {
            json!({ "type": "image", "source": { "type": "base64", "media_type": mime, "data": encode_base64(data) } })
        }
        MessagePart::File { name, mime, data } => {
            let source = json!({ "type": "base64", "media_type": mime, "data": encode_base64(data) });
            json!({ "type": "document", "title": name, "source": source })
        }
        MessagePart::Thinking { text, opaque } => {
            let opaque_data = opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME)?;
            match (opaque_data["signature"].as_str(), opaque_data["redacted"].as_str()) {
                (Some(signature), _) => json!({ "type": "thinking", "thinking": text, "signature": signature }),
                (_, Some(data)) => json!({ "type": "redacted_thinking", "data": data }),
                _ => return None,
            }
        }
        MessagePart::ToolUse { id, name, arguments, .. } => {
            json!({ "type": "tool_use", "id": ids.valid_tool_use_id(id), "name": name, "input": arguments })
        }
        MessagePart::ToolResult { id, parts, is_error, .. } => {
            let content: Vec<Value> = parts.iter().filter_map(|part| encode_content_block(part, ids)).collect();
            json!({ "type": "tool_result", "tool_use_id": ids.valid_tool_result_id(id), "content": content, "is_error": is_error })
        }
        MessagePart::Audio { .. } => return None,
    })
}

/// Decodes the events of a streamed reply in the format of the Messages API.
struct AnthropicReplyDecoder {
    model: String,
    is_done: bool,
}

impl ReplyDecoder for AnthropicReplyDecoder {
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => {
                assembly.set_model(event["message"]["model"].as_str().unwrap_or_default());
                update_token_usage(&event["message"]["usage"], assembly);
            }
            Some("content_block_start") => begin_content_block(index, &event["content_block"], assembly)?,
            Some("content_block_delta") => {
                let delta = &event["delta"];
                let text = |name: &str| delta[name].as_str().unwrap_or_default();
                match delta["type"].as_str() {
                    Some("text_delta") => assembly.append_text(text("text"))?,
                    Some("thinking_delta") => assembly.append_thinking(text("thinking"))?,
                    Some("signature_delta") => {
                        assembly.attach_opaque_data_to_last_reasoning(
                            json!({ "wire": WIRE_NAME, "signature": text("signature") }),
                        )?;
                    }
                    Some("input_json_delta") => assembly.append_arguments(index, text("partial_json"))?,
                    // Citations and future kinds of deltas contain no text to append.
                    _ => {}
                }
            }
            Some("message_delta") => {
                update_token_usage(&event["usage"], assembly);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    assembly.set_stop_reason(match reason {
                        "end_turn" => StopReason::EndTurn,
                        "max_tokens" => StopReason::MaxTokens,
                        "stop_sequence" => StopReason::StopSequence,
                        "tool_use" => StopReason::ToolUse,
                        "refusal" => StopReason::Refused,
                        other => StopReason::Other(provider_fault::shorten_provider_message(other)),
                    });
                }
            }
            Some("message_stop") => self.is_done = true,
            Some("error") => return Err(provider_fault::stream_error(event, &self.model)),
            _ => {}
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

fn begin_content_block(index: u64, block: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => assembly.append_text(&text("text")),
        Some("thinking") => assembly.append_thinking(&text("thinking")),
        Some("redacted_thinking") => {
            assembly.push_reasoning_with_opaque_data_only(json!({ "wire": WIRE_NAME, "redacted": text("data") }))
        }
        Some("tool_use") if text("name").is_empty() => {
            Err(ModelError::Unreadable { cause: "a tool call has no name".to_owned() })
        }
        Some("tool_use") => {
            assembly.begin_tool_use(index, text("id"), text("name"), None)?;
            // Some servers send all arguments at once.
            match &block["input"] {
                Value::Object(input) if !input.is_empty() => {
                    assembly.append_arguments(index, &Value::Object(input.clone()).to_string())
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn update_token_usage(usage: &Value, assembly: &mut ReplyAssembly) {
    if !usage.is_object() {
        return;
    }
    assembly.change_token_usage(|own| {
        let read = parse_token_count(&usage["cache_read_input_tokens"]).or(own.cached_input);
        let written = parse_token_count(&usage["cache_creation_input_tokens"]).or(own.written_input);
        if let Some(input) = parse_token_count(&usage["input_tokens"]) {
            own.input = Some(input + read.unwrap_or(0) + written.unwrap_or(0));
        }
        own.cached_input = read;
        own.written_input = written;
        own.output = parse_token_count(&usage["output_tokens"]).or(own.output);
    });
}

/// Requests the list of the provider's models.
pub(super) async fn list_models(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
) -> Result<Vec<Model>, ModelError> {
    let mut url = settings.url_at("models");
    url.set_query(Some("limit=1000"));
    let answer = exchange.get(url).await?;
    let Some(listed) = answer["data"].as_array() else {
        return Err(ModelError::Unreadable { cause: "the response contains no list of models".to_owned() });
    };
    let models = listed.iter().take(1_000).filter_map(|listed| {
        let id = listed["id"].as_str()?;
        let can = |name: &str| listed["capabilities"][name]["supported"].as_bool();
        Some(Model {
            id: id.to_owned(),
            name: provider_fault::shorten_provider_message(listed["display_name"].as_str().unwrap_or(id)),
            context: parse_positive_token_count(&listed["max_input_tokens"]),
            max_output: parse_positive_token_count(&listed["max_tokens"]),
            takes: ModelCapabilities {
                images: can("image_input"),
                audio: Some(false),
                files: can("pdf_input"),
                tools: Some(true),
                thinking: can("thinking"),
            },
            ..Model::default()
        })
    });
    Ok(models.collect())
}
