//! OpenAI's Responses API: <https://platform.openai.com/docs/api-reference/responses>.
//!
//! Requests are stateless: the provider stores nothing, and each request contains the whole conversation. Reasoning is
//! sent back encrypted, only to the provider and model that generated it.

mod response_stream;

use serde_json::{Map, Value, json};

use super::encode::{encode_data_url, join_tool_result_texts, opaque_data_written_by_wire};
use super::openai::ChatCompletionsDialect;
use super::provider_http_client::EventFraming;
use super::{ReplyDecoder, Wire, WireRequest};
use crate::wire_capabilities::{IMAGE_MEDIA_TYPES, TemperatureSupport, WireCapabilities};
use crate::{MessagePart, ModelMessage, ModelRequest, ModelTool, ProviderSettings, Role, ToolChoice, model_limits};
use response_stream::ResponsesReplyDecoder;

/// Name that is stored with a model's reasoning to record that this API created it.
const WIRE_NAME: &str = "responses";

pub(super) struct OpenAiResponses {
    dialect: ChatCompletionsDialect,
    /// Scheme, host and port of the provider's address.
    origin: String,
}

impl OpenAiResponses {
    pub(super) fn for_provider(settings: &ProviderSettings) -> Self {
        Self { dialect: ChatCompletionsDialect::of_provider(settings), origin: settings.origin() }
    }

    /// Returns `true` if the model reasons before it replies, or `None` if the model's name does not indicate it.
    fn is_reasoning_model(&self, model: &str) -> Option<bool> {
        (self.dialect == ChatCompletionsDialect::OpenAi).then(|| model_limits::openai_tool_support(model).is_some())
    }

    /// Returns text that identifies provider and model, which is stored with reasoning because only they can decrypt
    /// it.
    fn provider_and_model_of_reasoning(&self, model: &str) -> String {
        format!("{} {model}", self.origin)
    }
}

impl Wire for OpenAiResponses {
    fn capabilities(&self, model: Option<&str>) -> WireCapabilities {
        let is_openai_host = self.dialect == ChatCompletionsDialect::OpenAi;
        let thinks = model.map_or(is_openai_host, |model| self.is_reasoning_model(model) == Some(true));
        WireCapabilities {
            images: IMAGE_MEDIA_TYPES,
            audio: &[],
            files: if self.dialect == ChatCompletionsDialect::Other { &[] } else { &["application/pdf"] },
            // Other implementations of the API accept only text there.
            images_in_results: is_openai_host,
            files_in_results: is_openai_host,
            tool_error: false,
            tool_required: true,
            max_stop_sequences: 0,
            temperature: if thinks { TemperatureSupport::Never } else { TemperatureSupport::Always },
            thinking_with_tools: true,
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
        body.insert("stream".into(), true.into());
        body.insert("store".into(), false.into());
        if let Some(system) = &request.system {
            body.insert("instructions".into(), system.clone().into());
        }
        let source = self.provider_and_model_of_reasoning(&request.model);
        body.insert(
            "input".into(),
            request.messages.iter().flat_map(|message| encode_input_items(message, &source)).collect(),
        );
        if !request.tools.is_empty() {
            body.insert("tools".into(), request.tools.iter().map(encode_tool).collect());
            let choice = match request.tool_choice {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "required",
                ToolChoice::None => "none",
            };
            body.insert("tool_choice".into(), choice.into());
        }
        if let Some(max) = request.max_tokens {
            body.insert("max_output_tokens".into(), max.into());
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature".into(), temperature.into());
        }
        let thinks = self.is_reasoning_model(&request.model);
        // OpenAI's models without reasoning reject both members.
        if thinks.unwrap_or(request.thinking) {
            body.insert("include".into(), json!(["reasoning.encrypted_content"]));
            if request.thinking {
                body.insert("reasoning".into(), json!({ "effort": "medium", "summary": "auto" }));
            }
        }
        WireRequest { url: settings.url_at("responses"), body: body.into() }
    }

    fn reply_decoder(&self, model: &str) -> Box<dyn ReplyDecoder> {
        Box::new(ResponsesReplyDecoder::new(model.to_owned(), self.provider_and_model_of_reasoning(model)))
    }
}

fn encode_tool(tool: &ModelTool) -> Value {
    // By default the schema must be strict, which the schemas of servers seldom are.
    let mut own = json!({ "type": "function", "name": tool.name, "parameters": tool.input_schema, "strict": false });
    if let Some(description) = &tool.description {
        own["description"] = description.clone().into();
    }
    own
}

/// Encodes a message as items of the API: reasoning, tool calls and tool results are separate items. Tool results come
/// first.
fn encode_input_items(message: &ModelMessage, source: &str) -> Vec<Value> {
    match message.role {
        Role::Assistant => {
            let mut items: Vec<Value> =
                message.parts.iter().filter_map(|part| encode_assistant_item(part, source)).collect();
            // The API rejects reasoning without the item that followed it.
            while items.last().is_some_and(|item| item["type"] == "reasoning") {
                items.pop();
            }
            items
        }
        Role::User => {
            let results = message.parts.iter().filter_map(encode_tool_result);
            let content: Vec<Value> = message.parts.iter().filter_map(encode_content).collect();
            let own = (!content.is_empty()).then(|| json!({ "type": "message", "role": "user", "content": content }));
            results.chain(own).collect()
        }
    }
}

fn encode_assistant_item(part: &MessagePart, source: &str) -> Option<Value> {
    match part {
        MessagePart::Text(text) if text.is_empty() => None,
        MessagePart::Text(text) => {
            let content = json!([{ "type": "output_text", "text": text }]);
            Some(json!({ "type": "message", "role": "assistant", "content": content }))
        }
        MessagePart::ToolUse { id, name, arguments, .. } => {
            let arguments = Value::Object(arguments.clone()).to_string();
            Some(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }))
        }
        MessagePart::Thinking { opaque, .. } => {
            let opaque_data = opaque_data_written_by_wire(opaque.as_ref(), WIRE_NAME)?;
            (opaque_data["source"] == source).then(|| opaque_data["item"].clone())
        }
        _ => None,
    }
}

fn encode_tool_result(part: &MessagePart) -> Option<Value> {
    let MessagePart::ToolResult { id, parts, .. } = part else { return None };
    let is_text = parts.iter().all(|part| matches!(part, MessagePart::Text(_)));
    let output: Value =
        if is_text { join_tool_result_texts(parts).into() } else { parts.iter().filter_map(encode_content).collect() };
    Some(json!({ "type": "function_call_output", "call_id": id, "output": output }))
}

fn encode_content(part: &MessagePart) -> Option<Value> {
    Some(match part {
        MessagePart::Text(text) => json!({ "type": "input_text", "text": text }),
        MessagePart::Image { mime, data } => {
            json!({ "type": "input_image", "detail": "auto", "image_url": encode_data_url(mime, data) })
        }
        MessagePart::File { name, mime, data } => {
            json!({ "type": "input_file", "filename": name, "file_data": encode_data_url(mime, data) })
        }
        MessagePart::Audio { .. }
        | MessagePart::Thinking { .. }
        | MessagePart::ToolUse { .. }
        | MessagePart::ToolResult { .. } => return None,
    })
}
