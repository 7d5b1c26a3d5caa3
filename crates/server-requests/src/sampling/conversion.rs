//! Converts a server's sampling request to a model request, and a model's answer to a sampling result. Adds no context
//! of any server, and no tools other than those of the request. Omits content only where the documentation says so.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::types::{
    ContentBlock, CreateMessageParams, CreateMessageResult, ImageContent, Role, SamplingContent, ToolUseContent,
};
use models::{MessagePart, ModelErrorCode, ModelMessage, ModelReply, ModelRequest, ModelTool, StopReason, ToolChoice};
use serde_json::{Map, Value, json};

/// Key in `_meta` of a tool use for opaque data of the model provider, which must be sent back with that tool use.
const PROVIDER_DATA_META_KEY: &str = "dev.drawbridge/opaque";
/// Maximum length, in bytes, of a tool name that every model provider accepts.
const MAX_PROVIDER_TOOL_NAME_BYTES: usize = 64;

/// Reason why a sampling request or a model's answer can't be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SamplingConversionError {
    /// The request has no messages.
    #[error("there are no messages")]
    NoMessages,
    /// The data of an image or audio block is not valid base64.
    #[error("an image or audio is not valid base64")]
    Base64,
    /// The type of a content block is not supported by any model.
    #[error("a message has content that no model accepts")]
    Content,
    /// The model used a tool that the request does not offer, or used a tool although the request forbids it.
    #[error("the model used a tool that the request does not let it use")]
    Tool,
    /// The model's answer is empty.
    #[error("the model returned no text")]
    Empty,
    /// The model used all tokens for reasoning before it answered.
    #[error("the token limit was reached before the model returned text; raise the limit")]
    OutOfTokens,
}

impl SamplingConversionError {
    /// Returns the stable identifier of the error's cause, for which the page has a text.
    #[must_use]
    pub const fn code(&self) -> ModelErrorCode {
        match self {
            Self::OutOfTokens => ModelErrorCode::OutOfTokens,
            Self::Empty => ModelErrorCode::Empty,
            _ => ModelErrorCode::Unfit,
        }
    }
}

/// Mapping between the tool names of a server and those that models receive. Names that every provider accepts are not
/// changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SamplingToolNames {
    to_model: HashMap<String, String>,
    to_server: HashMap<String, String>,
}

impl SamplingToolNames {
    /// Creates the mapping for the tools that a request offers, and for those that are used in its messages.
    pub fn for_request(params: &CreateMessageParams) -> Self {
        let offered = params.tools.iter().flatten().map(|tool| tool.name.as_str());
        let used =
            params.messages.iter().flat_map(|message| message.content.blocks()).filter_map(|block| match block {
                ContentBlock::ToolUse(used) => Some(used.name.as_str()),
                _ => None,
            });
        let all: Vec<&str> = offered.chain(used).collect();
        let mut names = Self::default();
        for name in all.iter().copied().filter(|name| is_tool_name_valid_for_all_providers(name)) {
            names.insert(name, name.to_owned());
        }
        let mut number = 0;
        for name in all {
            if names.to_model.contains_key(name) {
                continue;
            }
            let mut key = String::new();
            while key.is_empty() || names.to_server.contains_key(&key) {
                number += 1;
                key = format!("tool_{number}");
            }
            names.insert(name, key);
        }
        names
    }

    /// Adds a tool name of the server, and the name that the model receives for it.
    fn insert(&mut self, name: &str, key: String) {
        self.to_model.insert(name.to_owned(), key.clone());
        self.to_server.insert(key, name.to_owned());
    }

    fn name_for_model(&self, name: &str) -> String {
        self.to_model.get(name).cloned().unwrap_or_default()
    }
}

/// Returns `true` if every provider accepts this tool name. Gemini requires a letter or `_` at the beginning.
fn is_tool_name_valid_for_all_providers(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    begins_well && name.len() <= MAX_PROVIDER_TOOL_NAME_BYTES && name.bytes().all(plain)
}

/// Checks that a sampling request can be converted to a model request by [`to_model_request`].
///
/// # Errors
///
/// Returns [`SamplingConversionError::NoMessages`] for a request without messages, [`SamplingConversionError::Base64`]
/// for media that are not base64, and [`SamplingConversionError::Content`] for blocks of an unknown kind.
pub fn check_sampling_request(params: &CreateMessageParams) -> Result<(), SamplingConversionError> {
    if params.messages.is_empty() {
        return Err(SamplingConversionError::NoMessages);
    }
    params.messages.iter().flat_map(|message| message.content.blocks()).try_for_each(check_content_block)
}

fn check_content_block(block: &ContentBlock) -> Result<(), SamplingConversionError> {
    match block {
        ContentBlock::Text(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::ResourceLink(_)
        | ContentBlock::Resource(_) => Ok(()),
        ContentBlock::Image(media) | ContentBlock::Audio(media) => {
            let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
            if media.data.as_str().bytes().all(is_base64) { Ok(()) } else { Err(SamplingConversionError::Base64) }
        }
        ContentBlock::ToolResult(result) => result.content.iter().try_for_each(check_content_block),
        ContentBlock::Unknown(_) => Err(SamplingConversionError::Content),
    }
}

/// Converts a sampling request to a model request.
///
/// `metadata` is not meant for models and is omitted. `includeContext` is ignored: no server's context is ever
/// included.
///
/// # Errors
/// Returns [`SamplingConversionError::Base64`] for media that are not base64, and [`SamplingConversionError::Content`]
/// for blocks of an unknown kind.
///
/// # Examples
///
/// Converts the request of a server, and the answer of a model back:
///
/// ```
/// use mcp_proto::types::{ContentBlock, CreateMessageParams};
/// use models::{ModelMessage, ModelReply, Role, StopReason, TokenUsage};
/// use serde_json::json;
/// use server_requests::sampling::conversion::{check_sampling_request, reply_to_sampling_result, to_model_request};
///
/// let params: CreateMessageParams = serde_json::from_value(json!({
///     "messages": [{ "role": "user", "content": { "type": "text", "text": "Name a sea" } }],
///     "systemPrompt": "Answer in one word",
///     "maxTokens": 20
/// }))?;
/// check_sampling_request(&params)?;
/// let request = to_model_request(&params)?;
/// assert_eq!(request.messages, [ModelMessage::text(Role::User, "Name a sea")]);
/// assert_eq!((request.system.as_deref(), request.max_tokens), (Some("Answer in one word"), Some(20)));
///
/// let reply = ModelReply {
///     message: ModelMessage::text(Role::Assistant, "Barents"),
///     stop: StopReason::EndTurn,
///     usage: TokenUsage::default(),
///     model: "small".to_owned(),
/// };
/// let result = reply_to_sampling_result(&reply, &params)?;
/// assert_eq!(result.content.blocks(), [ContentBlock::text("Barents")]);
/// assert_eq!(result.stop_reason.as_deref(), Some("endTurn"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_model_request(params: &CreateMessageParams) -> Result<ModelRequest, SamplingConversionError> {
    let names = SamplingToolNames::for_request(params);
    let mut used: HashMap<&str, &str> = HashMap::new();
    let mut messages = Vec::with_capacity(params.messages.len());
    for message in &params.messages {
        let mut parts = Vec::new();
        for block in message.content.blocks() {
            if let ContentBlock::ToolUse(own) = block {
                used.insert(&own.id, &own.name);
            }
            parts.push(to_message_part(block, &names, &used)?);
        }
        let role = match message.role {
            Role::User => models::Role::User,
            Role::Assistant => models::Role::Assistant,
        };
        messages.push(ModelMessage { role, parts });
    }
    let tools = params.tools.iter().flatten().map(|tool| ModelTool {
        name: names.name_for_model(&tool.name),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    });
    Ok(ModelRequest {
        model: String::new(),
        system: params.system_prompt.clone().filter(|prompt| !prompt.is_empty()),
        messages,
        tools: tools.collect(),
        tool_choice: to_tool_choice(params),
        max_tokens: Some(u32::try_from(params.max_tokens).unwrap_or(u32::MAX)),
        temperature: params.temperature,
        stop: params.stop_sequences.clone(),
        thinking: false,
    })
}

/// Returns the tool choice for the model. If the server requires a tool use but offers no tools, returns the default
/// `auto`.
pub fn to_tool_choice(params: &CreateMessageParams) -> ToolChoice {
    match params.tool_choice.as_ref().and_then(|choice| choice.mode.as_deref()) {
        Some("none") => ToolChoice::None,
        Some("required") if params.tools.iter().flatten().next().is_some() => ToolChoice::Required,
        _ => ToolChoice::Auto,
    }
}

fn to_message_part(
    block: &ContentBlock,
    names: &SamplingToolNames,
    used: &HashMap<&str, &str>,
) -> Result<MessagePart, SamplingConversionError> {
    let bytes = |media: &ImageContent| {
        STANDARD.decode(media.data.as_str()).map(Into::into).map_err(|_| SamplingConversionError::Base64)
    };
    Ok(match block {
        ContentBlock::Text(text) => MessagePart::Text(text.text.as_str().to_owned()),
        ContentBlock::Image(image) => MessagePart::Image { mime: image.mime_type.clone(), data: bytes(image)? },
        ContentBlock::Audio(audio) => MessagePart::Audio { mime: audio.mime_type.clone(), data: bytes(audio)? },
        ContentBlock::ToolUse(used) => MessagePart::ToolUse {
            id: used.id.clone(),
            name: names.name_for_model(&used.name),
            arguments: used.input.clone().into_iter().collect(),
            opaque: used.meta.as_ref().and_then(|meta| meta.get(PROVIDER_DATA_META_KEY)).cloned(),
        },
        ContentBlock::ToolResult(result) => {
            let mut parts = Vec::new();
            for block in &result.content {
                parts.push(to_message_part(block, names, used)?);
            }
            if let Some(structured) = result.structured_content.as_ref().filter(|_| result.content.is_empty()) {
                parts.push(MessagePart::Text(structured.to_string()));
            }
            MessagePart::ToolResult {
                id: result.tool_use_id.clone(),
                name: used.get(result.tool_use_id.as_str()).map(|name| names.name_for_model(name)).unwrap_or_default(),
                parts,
                is_error: result.is_error,
            }
        }
        // Resources have no counterpart in model requests, so they are sent as JSON text.
        ContentBlock::ResourceLink(_) | ContentBlock::Resource(_) => MessagePart::Text(json!(block).to_string()),
        ContentBlock::Unknown(_) => return Err(SamplingConversionError::Content),
    })
}

/// Converts a model's answer to a sampling result, without the model's reasoning.
///
/// # Errors
/// Returns [`SamplingConversionError::Tool`] if the model used a tool that it must not use,
/// [`SamplingConversionError::Content`] for parts that a sampling result can't contain, and
/// [`SamplingConversionError::Empty`] or [`SamplingConversionError::OutOfTokens`] if the answer is empty.
pub fn reply_to_sampling_result(
    reply: &ModelReply,
    params: &CreateMessageParams,
) -> Result<CreateMessageResult, SamplingConversionError> {
    let names = SamplingToolNames::for_request(params);
    let offered: Vec<&str> = params.tools.iter().flatten().map(|tool| tool.name.as_str()).collect();
    let may_use = to_tool_choice(params) != ToolChoice::None;
    let mut blocks = Vec::new();
    for part in &reply.message.parts {
        match part {
            MessagePart::Text(text) if text.is_empty() => {}
            MessagePart::Text(text) => blocks.push(ContentBlock::text(text.clone())),
            MessagePart::Image { mime, data } => blocks.push(ContentBlock::Image(to_media_content(mime, data))),
            MessagePart::Audio { mime, data } => blocks.push(ContentBlock::Audio(to_media_content(mime, data))),
            MessagePart::ToolUse { id, name, arguments, opaque } => {
                let own = names.to_server.get(name).filter(|own| may_use && offered.contains(&own.as_str()));
                blocks.push(ContentBlock::ToolUse(ToolUseContent {
                    id: id.clone(),
                    name: own.ok_or(SamplingConversionError::Tool)?.clone(),
                    input: arguments.clone().into_iter().collect(),
                    meta: opaque
                        .clone()
                        .map(|opaque| [(PROVIDER_DATA_META_KEY.to_owned(), opaque)].into_iter().collect()),
                    extra: Map::<String, Value>::new(),
                }));
            }
            MessagePart::Thinking { .. } => {}
            MessagePart::File { .. } | MessagePart::ToolResult { .. } => return Err(SamplingConversionError::Content),
        }
    }
    if blocks.is_empty() {
        return Err(if reply.stop == StopReason::MaxTokens {
            SamplingConversionError::OutOfTokens
        } else {
            SamplingConversionError::Empty
        });
    }
    let uses_tools = blocks.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
    let stop = match &reply.stop {
        _ if uses_tools => "toolUse",
        StopReason::EndTurn | StopReason::ToolUse => "endTurn",
        StopReason::MaxTokens => "maxTokens",
        StopReason::StopSequence => "stopSequence",
        StopReason::Refused => "refusal",
        StopReason::Other(other) => other,
    };
    Ok(CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(blocks),
        model: reply.model.clone(),
        stop_reason: Some(stop.to_owned()),
        meta: None,
    })
}

/// Returns `true` if a sampling result contains a tool use.
pub fn contains_tool_use(result: &CreateMessageResult) -> bool {
    result.content.blocks().iter().any(|block| matches!(block, ContentBlock::ToolUse(_)))
}

fn to_media_content(mime: &str, data: &[u8]) -> ImageContent {
    ImageContent { data: STANDARD.encode(data).into(), mime_type: mime.to_owned(), ..ImageContent::default() }
}

#[cfg(test)]
mod tests;
