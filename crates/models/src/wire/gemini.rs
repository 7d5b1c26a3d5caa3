//! Google's Gemini API: <https://ai.google.dev/api/generate-content>.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::encode::{
    encode_base64, join_tool_result_texts, opaque_data_written_by_wire, parse_positive_token_count, parse_token_count,
};
use super::provider_http_client::{EventFraming, ProviderHttpClient};
use super::reply_assembly::ReplyAssembly;
use super::{ReplyDecoder, Wire, WireRequest, provider_fault};
use crate::wire_capabilities::{TemperatureSupport, WireCapabilities};
use crate::{
    MessagePart, Model, ModelCapabilities, ModelError, ModelMessage, ModelRequest, ProviderSettings, Role, StopReason,
    ToolChoice,
};

/// Name that is stored with a model's reasoning to record that this API created it.
const WIRE_NAME: &str = "gemini";
/// Signature that is sent for a tool call that has none, such as a call by a model of another provider. Models that
/// verify signatures accept this value.
const PLACEHOLDER_THOUGHT_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) struct Gemini;

impl Wire for Gemini {
    fn capabilities(&self, _: Option<&str>) -> WireCapabilities {
        WireCapabilities {
            images: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
            audio: &[
                "audio/wav",
                "audio/x-wav",
                "audio/mp3",
                "audio/mpeg",
                "audio/aiff",
                "audio/aac",
                "audio/ogg",
                "audio/flac",
            ],
            files: &["application/pdf"],
            images_in_results: false,
            files_in_results: false,
            tool_error: true,
            tool_required: true,
            max_stop_sequences: 5,
            temperature: TemperatureSupport::Always,
            thinking_with_tools: true,
        }
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn framing(&self) -> EventFraming {
        EventFraming::ServerSent
    }

    fn request(&self, settings: &ProviderSettings, request: &ModelRequest) -> WireRequest {
        let mut body = Map::new();
        if let Some(system) = &request.system {
            body.insert("systemInstruction".into(), json!({ "parts": [{ "text": system }] }));
        }
        body.insert("contents".into(), encode_contents(&request.messages));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                let mut own = json!({ "name": tool.name, "parametersJsonSchema": tool.input_schema });
                if let Some(description) = &tool.description {
                    own["description"] = description.clone().into();
                }
                own
            });
            body.insert("tools".into(), json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]));
            let mode = match request.tool_choice {
                ToolChoice::Auto => "AUTO",
                ToolChoice::Required => "ANY",
                ToolChoice::None => "NONE",
            };
            body.insert("toolConfig".into(), json!({ "functionCallingConfig": { "mode": mode } }));
        }
        let mut how = Map::new();
        if let Some(max) = request.max_tokens {
            how.insert("maxOutputTokens".into(), max.into());
        }
        if let Some(temperature) = request.temperature {
            how.insert("temperature".into(), temperature.into());
        }
        if !request.stop.is_empty() {
            how.insert("stopSequences".into(), json!(request.stop));
        }
        if request.thinking {
            how.insert("thinkingConfig".into(), json!({ "includeThoughts": true }));
        }
        if !how.is_empty() {
            body.insert("generationConfig".into(), how.into());
        }
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        let mut url = settings.url_at("models");
        // Added as a single segment: a model's name must not change the path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(&format!("{model}:streamGenerateContent"));
        }
        url.set_query(Some("alt=sse"));
        WireRequest { url, body: body.into() }
    }

    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder> {
        Box::new(GeminiReplyDecoder { model: model.to_owned(), has_ended: false })
    }
}

fn encode_contents(messages: &[ModelMessage]) -> Value {
    // Results refer to an identifier only if the call had one from Gemini.
    let mut calls_with_id = BTreeSet::new();
    let contents = messages.iter().filter_map(|message| {
        let mut is_first_call = true;
        let parts: Vec<Value> = message
            .parts
            .iter()
            .filter_map(|part| {
                if let MessagePart::ToolUse { id, opaque, .. } = part
                    && opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME)
                        .is_some_and(|opaque_data| opaque_data["hasId"] == true)
                {
                    calls_with_id.insert(id.clone());
                }
                let is_first = is_first_call && matches!(part, MessagePart::ToolUse { .. });
                is_first_call &= !is_first;
                encode_part(part, &calls_with_id, is_first)
            })
            .collect();
        let role = if message.role == Role::User { "user" } else { "model" };
        (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
    });
    contents.collect()
}

fn encode_part(part: &MessagePart, calls_with_id: &BTreeSet<String>, is_first_call: bool) -> Option<Value> {
    Some(match part {
        MessagePart::Text(text) => json!({ "text": text }),
        MessagePart::Image { mime, data }
        | MessagePart::Audio { mime, data }
        | MessagePart::File { mime, data, .. } => {
            json!({ "inlineData": { "mimeType": mime, "data": encode_base64(data) } })
        }
        // Thoughts are not sent back, but their signature is, in an empty part as the API may send it itself.
        MessagePart::Thinking { opaque, .. } => {
            let signature = opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME)?["signature"].as_str()?;
            json!({ "text": "", "thoughtSignature": signature })
        }
        MessagePart::ToolUse { id, name, arguments, opaque } => {
            let mut call = json!({ "name": name, "args": arguments });
            if calls_with_id.contains(id) {
                call["id"] = id.clone().into();
            }
            let mut own = json!({ "functionCall": call });
            match opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME) {
                Some(opaque_data) if opaque_data["signature"].is_string() => {
                    own["thoughtSignature"] = opaque_data["signature"].clone()
                }
                None if is_first_call => own["thoughtSignature"] = PLACEHOLDER_THOUGHT_SIGNATURE.into(),
                _ => {}
            }
            own
        }
        MessagePart::ToolResult { id, name, parts, is_error } => {
            let member = if *is_error { "error" } else { "output" };
            let mut response = json!({ "name": name, "response": { member: join_tool_result_texts(parts) } });
            if calls_with_id.contains(id) {
                response["id"] = id.clone().into();
            }
            json!({ "functionResponse": response })
        }
    })
}

/// Decodes the events of a streamed reply in the format of the Gemini API.
struct GeminiReplyDecoder {
    model: String,
    has_ended: bool,
}

impl ReplyDecoder for GeminiReplyDecoder {
    fn process_event(&mut self, event: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        if event.is_null() {
            return Ok(());
        }
        if event.get("error").is_some() || event[0].get("error").is_some() {
            return Err(provider_fault::stream_error(event, &self.model));
        }
        if let Some(reason) = event["promptFeedback"]["blockReason"].as_str() {
            return Err(ModelError::Refused { message: provider_fault::shorten_provider_message(reason) });
        }
        assembly.set_model(event["modelVersion"].as_str().unwrap_or_default());
        update_token_usage(&event["usageMetadata"], assembly);
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.process_part(part, assembly)?;
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.has_ended = true;
            assembly.set_stop_reason(match reason {
                "STOP" => StopReason::EndTurn,
                // Not part of the API itself, but sent by some compatible servers.
                "FUNCTION_CALL" => StopReason::ToolUse,
                "MAX_TOKENS" => StopReason::MaxTokens,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
                    StopReason::Refused
                }
                other => StopReason::Other(provider_fault::shorten_provider_message(other)),
            });
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        false
    }

    fn is_complete_at_stream_end(&self) -> bool {
        // The reason may precede the final token counts, so only the end of the stream ends the answer.
        self.has_ended
    }
}

impl GeminiReplyDecoder {
    fn process_part(&mut self, part: &Value, assembly: &mut ReplyAssembly) -> Result<(), ModelError> {
        let signature = part["thoughtSignature"].as_str();
        if let Some(call) = part.get("functionCall") {
            let Some(name) = call["name"].as_str().filter(|name| !name.is_empty()) else {
                return Err(ModelError::Unreadable { cause: "a tool call has no name".to_owned() });
            };
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            let mut opaque = json!({ "wire": WIRE_NAME, "hasId": !id.is_empty() });
            if let Some(signature) = signature {
                opaque["signature"] = signature.into();
            }
            assembly.begin_tool_use(assembly.next_tool_use_key(), id, name.to_owned(), Some(opaque))?;
            return assembly.set_arguments(call["args"].as_object().cloned().unwrap_or_default());
        }
        if let Some(text) = part["text"].as_str() {
            if part["thought"] == true {
                assembly.append_thinking(text)?;
            } else {
                assembly.append_text(text)?;
            }
        }
        match signature {
            Some(signature) => {
                assembly.push_reasoning_with_opaque_data_only(json!({ "wire": WIRE_NAME, "signature": signature }))
            }
            None => Ok(()),
        }
    }
}

fn update_token_usage(usage: &Value, assembly: &mut ReplyAssembly) {
    if !usage.is_object() {
        return;
    }
    assembly.change_token_usage(|own| {
        let thinking = parse_token_count(&usage["thoughtsTokenCount"]);
        let answer = parse_token_count(&usage["candidatesTokenCount"]);
        own.input = parse_token_count(&usage["promptTokenCount"]).or(own.input);
        own.cached_input = parse_token_count(&usage["cachedContentTokenCount"]).or(own.cached_input);
        own.thinking = thinking.or(own.thinking);
        if answer.is_some() || thinking.is_some() {
            own.output = Some(answer.unwrap_or(0) + thinking.unwrap_or(0));
        }
    });
}

/// Requests the list of the provider's models that can generate text.
pub(super) async fn list_models(
    exchange: &ProviderHttpClient,
    settings: &ProviderSettings,
) -> Result<Vec<Model>, ModelError> {
    let mut url = settings.url_at("models");
    url.set_query(Some("pageSize=1000"));
    let answer = exchange.get(url).await?;
    let Some(listed) = answer["models"].as_array() else {
        return Err(ModelError::Unreadable { cause: "the response contains no list of models".to_owned() });
    };
    let models = listed.iter().take(1_000).filter_map(|listed| {
        let id = listed["name"].as_str()?;
        let id = id.strip_prefix("models/").unwrap_or(id);
        let methods = listed["supportedGenerationMethods"].as_array();
        if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
            return None;
        }
        Some(Model {
            id: id.to_owned(),
            name: provider_fault::shorten_provider_message(listed["displayName"].as_str().unwrap_or(id)),
            context: parse_positive_token_count(&listed["inputTokenLimit"]),
            max_output: parse_positive_token_count(&listed["outputTokenLimit"]),
            takes: ModelCapabilities { thinking: listed["thinking"].as_bool(), ..ModelCapabilities::default() },
            ..Model::default()
        })
    });
    Ok(models.collect())
}
