//! Converts a server's sampling request to a model request, and a model's answer to a sampling result. Nothing is
//! added: no context of any server, and no tools but those of the request. Nothing is omitted except where the
//! documentation says so.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::types::{
    ContentBlock, CreateMessageParams, CreateMessageResult, ImageContent, Role, SamplingContent, ToolUseContent,
};
use models::{Message, ModelErrorCode, Part, Reply, Request, Stop, Tool, ToolChoice};
use serde_json::{Map, Value, json};

/// The `_meta` key of a provider's opaque data about a tool use, which must be returned with that tool use.
const OPAQUE: &str = "dev.drawbridge/opaque";
/// Maximum length of a tool name that every provider accepts.
const MAX_NAME: usize = 64;

/// The error for a request or answer that can't be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The request has no messages.
    #[error("there are no messages")]
    NoMessages,
    /// The data of an image or audio block is not valid base64.
    #[error("a picture or sound is no base64")]
    Base64,
    /// A block is of a kind that no model accepts.
    #[error("a message has content that no model takes")]
    Content,
    /// The model used a tool that was not offered, or that the request forbids.
    #[error("the model used a tool that the request does not let it use")]
    Tool,
    /// The answer is empty.
    #[error("the model said nothing")]
    Empty,
    /// The model spent all tokens on reasoning before it answered.
    #[error("all tokens of the answer were used up before the model said anything; let it have more")]
    OutOfTokens,
}

impl Unfit {
    /// Returns a stable identifier of the cause.
    #[must_use]
    pub const fn code(&self) -> ModelErrorCode {
        match self {
            Self::OutOfTokens => ModelErrorCode::OutOfTokens,
            Self::Empty => ModelErrorCode::Empty,
            _ => ModelErrorCode::Unfit,
        }
    }
}

/// A two-way map between a server's tool names and the names that models receive. Names that every provider accepts
/// stay the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolNames {
    to_model: HashMap<String, String>,
    to_server: HashMap<String, String>,
}

impl ToolNames {
    /// Builds the map for the tools that a request offers or mentions.
    pub fn of(params: &CreateMessageParams) -> Self {
        let offered = params.tools.iter().flatten().map(|tool| tool.name.as_str());
        let used =
            params.messages.iter().flat_map(|message| message.content.blocks()).filter_map(|block| match block {
                ContentBlock::ToolUse(used) => Some(used.name.as_str()),
                _ => None,
            });
        let all: Vec<&str> = offered.chain(used).collect();
        let mut names = Self::default();
        for name in all.iter().copied().filter(|name| is_plain(name)) {
            names.put(name, name.to_owned());
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
            names.put(name, key);
        }
        names
    }

    fn put(&mut self, name: &str, key: String) {
        self.to_model.insert(name.to_owned(), key.clone());
        self.to_server.insert(key, name.to_owned());
    }

    fn for_model(&self, name: &str) -> String {
        self.to_model.get(name).cloned().unwrap_or_default()
    }
}

/// Returns true if every provider accepts a name as it is. Gemini requires a letter or `_` at the beginning.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins_well = name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    begins_well && name.len() <= MAX_NAME && name.bytes().all(plain)
}

/// Checks that a request can be sent to a model.
///
/// # Errors
///
/// Returns [`Unfit::NoMessages`] for a request without messages, [`Unfit::Base64`] for media that are not base64, and
/// [`Unfit::Content`] for blocks of an unknown kind.
pub fn check(params: &CreateMessageParams) -> Result<(), Unfit> {
    if params.messages.is_empty() {
        return Err(Unfit::NoMessages);
    }
    params.messages.iter().flat_map(|message| message.content.blocks()).try_for_each(check_block)
}

fn check_block(block: &ContentBlock) -> Result<(), Unfit> {
    match block {
        ContentBlock::Text(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::ResourceLink(_)
        | ContentBlock::Resource(_) => Ok(()),
        ContentBlock::Image(media) | ContentBlock::Audio(media) => {
            let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
            if media.data.as_str().bytes().all(is_base64) { Ok(()) } else { Err(Unfit::Base64) }
        }
        ContentBlock::ToolResult(result) => result.content.iter().try_for_each(check_block),
        ContentBlock::Unknown(_) => Err(Unfit::Content),
    }
}

/// Converts a request for a model.
///
/// `metadata` is not meant for models and is omitted. `includeContext` is ignored: no server's context is ever
/// included.
///
/// # Errors
///
/// Returns [`Unfit::Base64`] for media that are not base64, and [`Unfit::Content`] for blocks of an unknown kind.
pub fn to_request(params: &CreateMessageParams) -> Result<Request, Unfit> {
    let names = ToolNames::of(params);
    let mut used: HashMap<&str, &str> = HashMap::new();
    let mut messages = Vec::with_capacity(params.messages.len());
    for message in &params.messages {
        let mut parts = Vec::new();
        for block in message.content.blocks() {
            if let ContentBlock::ToolUse(own) = block {
                used.insert(&own.id, &own.name);
            }
            parts.push(to_part(block, &names, &used)?);
        }
        let role = match message.role {
            Role::User => models::Role::User,
            Role::Assistant => models::Role::Assistant,
        };
        messages.push(Message { role, parts });
    }
    let tools = params.tools.iter().flatten().map(|tool| Tool {
        name: names.for_model(&tool.name),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
    });
    Ok(Request {
        model: String::new(),
        system: params.system_prompt.clone().filter(|prompt| !prompt.is_empty()),
        messages,
        tools: tools.collect(),
        tool_choice: tool_choice(params),
        max_tokens: Some(u32::try_from(params.max_tokens).unwrap_or(u32::MAX)),
        temperature: params.temperature,
        stop: params.stop_sequences.clone(),
        thinking: false,
    })
}

/// Returns the tool choice of a request. A required tool without any tools counts as automatic.
pub fn tool_choice(params: &CreateMessageParams) -> ToolChoice {
    match params.tool_choice.as_ref().and_then(|choice| choice.mode.as_deref()) {
        Some("none") => ToolChoice::None,
        Some("required") if params.tools.iter().flatten().next().is_some() => ToolChoice::Required,
        _ => ToolChoice::Auto,
    }
}

fn to_part(block: &ContentBlock, names: &ToolNames, used: &HashMap<&str, &str>) -> Result<Part, Unfit> {
    let bytes = |media: &ImageContent| STANDARD.decode(media.data.as_str()).map(Into::into).map_err(|_| Unfit::Base64);
    Ok(match block {
        ContentBlock::Text(text) => Part::Text(text.text.as_str().to_owned()),
        ContentBlock::Image(image) => Part::Image { mime: image.mime_type.clone(), data: bytes(image)? },
        ContentBlock::Audio(audio) => Part::Audio { mime: audio.mime_type.clone(), data: bytes(audio)? },
        ContentBlock::ToolUse(used) => Part::ToolUse {
            id: used.id.clone(),
            name: names.for_model(&used.name),
            arguments: used.input.clone().into_iter().collect(),
            opaque: used.meta.as_ref().and_then(|meta| meta.get(OPAQUE)).cloned(),
        },
        ContentBlock::ToolResult(result) => {
            let mut parts = Vec::new();
            for block in &result.content {
                parts.push(to_part(block, names, used)?);
            }
            if let Some(structured) = result.structured_content.as_ref().filter(|_| result.content.is_empty()) {
                parts.push(Part::Text(structured.to_string()));
            }
            Part::ToolResult {
                id: result.tool_use_id.clone(),
                name: used.get(result.tool_use_id.as_str()).map(|name| names.for_model(name)).unwrap_or_default(),
                parts,
                is_error: result.is_error,
            }
        }
        // Resources have no counterpart in model requests, so they are sent as JSON text.
        ContentBlock::ResourceLink(_) | ContentBlock::Resource(_) => Part::Text(json!(block).to_string()),
        ContentBlock::Unknown(_) => return Err(Unfit::Content),
    })
}

/// Converts a model's answer to a sampling result. Reasoning is dropped.
///
/// # Errors
///
/// Returns [`Unfit::Tool`] if the model used a tool that it must not use, [`Unfit::Content`] for parts that have no
/// counterpart, and [`Unfit::Empty`] or [`Unfit::OutOfTokens`] if nothing remains.
pub fn from_reply(reply: &Reply, params: &CreateMessageParams) -> Result<CreateMessageResult, Unfit> {
    let names = ToolNames::of(params);
    let offered: Vec<&str> = params.tools.iter().flatten().map(|tool| tool.name.as_str()).collect();
    let may_use = tool_choice(params) != ToolChoice::None;
    let mut blocks = Vec::new();
    for part in &reply.message.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => blocks.push(ContentBlock::text(text.clone())),
            Part::Image { mime, data } => blocks.push(ContentBlock::Image(media(mime, data))),
            Part::Audio { mime, data } => blocks.push(ContentBlock::Audio(media(mime, data))),
            Part::ToolUse { id, name, arguments, opaque } => {
                let own = names.to_server.get(name).filter(|own| may_use && offered.contains(&own.as_str()));
                blocks.push(ContentBlock::ToolUse(ToolUseContent {
                    id: id.clone(),
                    name: own.ok_or(Unfit::Tool)?.clone(),
                    input: arguments.clone().into_iter().collect(),
                    meta: opaque.clone().map(|opaque| [(OPAQUE.to_owned(), opaque)].into_iter().collect()),
                    extra: Map::<String, Value>::new(),
                }));
            }
            Part::Thinking { .. } => {}
            Part::File { .. } | Part::ToolResult { .. } => return Err(Unfit::Content),
        }
    }
    if blocks.is_empty() {
        return Err(if reply.stop == Stop::MaxTokens { Unfit::OutOfTokens } else { Unfit::Empty });
    }
    let uses_tools = blocks.iter().any(|block| matches!(block, ContentBlock::ToolUse(_)));
    let stop = match &reply.stop {
        _ if uses_tools => "toolUse",
        Stop::EndTurn | Stop::ToolUse => "endTurn",
        Stop::MaxTokens => "maxTokens",
        Stop::StopSequence => "stopSequence",
        Stop::Refused => "refusal",
        Stop::Other(other) => other,
    };
    Ok(CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(blocks),
        model: reply.model.clone(),
        stop_reason: Some(stop.to_owned()),
        meta: None,
    })
}

/// Returns true if an answer contains a tool use.
pub fn uses_tool(result: &CreateMessageResult) -> bool {
    result.content.blocks().iter().any(|block| matches!(block, ContentBlock::ToolUse(_)))
}

fn media(mime: &str, data: &[u8]) -> ImageContent {
    ImageContent { data: STANDARD.encode(data).into(), mime_type: mime.to_owned(), ..ImageContent::default() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use models::TokenUse;

    use super::*;

    fn params(value: Value) -> CreateMessageParams {
        serde_json::from_value(value).unwrap()
    }

    /// A request that uses every member.
    fn whole() -> CreateMessageParams {
        params(json!({
            "systemPrompt": "Be terse.", "maxTokens": 64, "temperature": 0.5, "stopSequences": ["END"],
            "includeContext": "allServers", "metadata": { "trace": "secret-of-the-server" },
            "tools": [{ "name": "weather", "description": "d", "inputSchema": { "type": "object" } },
                      { "name": "wetter für heute", "inputSchema": { "type": "object" } }],
            "toolChoice": { "mode": "required" },
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "What is it?" },
                    { "type": "image", "data": "AQI=", "mimeType": "image/png" },
                    { "type": "audio", "data": "Aw==", "mimeType": "audio/wav" }] },
                { "role": "assistant", "content": { "type": "tool_use", "id": "1", "name": "wetter für heute",
                    "input": { "b": 1, "a": 2 }, "_meta": { "dev.drawbridge/opaque": { "signature": "s" } } } },
                { "role": "user", "content": { "type": "tool_result", "toolUseId": "1", "isError": true,
                    "content": [{ "type": "text", "text": "18" }] } },
            ],
        }))
    }

    #[test]
    fn a_request_goes_over_with_all_that_a_model_takes_and_nothing_else() {
        let request = to_request(&whole()).expect("it can be put to a model");
        assert_eq!(request.system.as_deref(), Some("Be terse."), "the system prompt");
        assert_eq!(request.max_tokens, Some(64), "[sampling-max-tokens]: never more than wanted");
        assert_eq!((request.temperature, &request.stop[..]), (Some(0.5), &["END".to_owned()][..]), "how to answer");
        assert_eq!(request.tool_choice, ToolChoice::Required, "[sampling-tool-choice]");
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(
            names,
            ["weather", "tool_1"],
            "[sampling-tools-scoped]: its own tools, in names that providers take"
        );
        let [first, second, third] = &request.messages[..] else { panic!("three messages") };
        let media =
            |part: &Part| matches!(part, Part::Image { data, .. } | Part::Audio { data, .. } if !data.is_empty());
        assert!(media(&first.parts[1]) && media(&first.parts[2]), "[sampling-content-types]: {:?}", first.parts);
        let Part::ToolUse { name, opaque, .. } = &second.parts[0] else { panic!("a use") };
        assert_eq!(name, "tool_1", "what was used has the name that is offered");
        assert_eq!(
            *opaque,
            Some(json!({ "signature": "s" })),
            "[sampling-preserve-meta]: the provider gets its own back"
        );
        let Part::ToolResult { id, name, is_error, .. } = &third.parts[0] else { panic!("a result") };
        assert_eq!((id.as_str(), name.as_str(), *is_error), ("1", "tool_1", true), "the result of that use");
        let told = format!("{request:?}");
        assert!(!told.contains("secret-of-the-server"), "[sampling-params-adjust]: metadata is omitted");
        assert!(!told.contains("allServers"), "[sampling-include-context], X27: nothing is put in");
    }

    #[test]
    fn tools_have_names_that_every_provider_takes_and_lead_back() {
        let names = ["3d-render", "-x", "_y", "tool_1", ""];
        let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
        let messages = json!([{ "role": "user", "content": { "type": "text", "text": "x" } }]);
        let names_of = ToolNames::of(&params(json!({ "maxTokens": 1, "tools": tools, "messages": messages })));
        for name in names {
            let key = names_of.for_model(name);
            assert!(is_plain(&key), "Gemini refuses a request with the tool {key:?}");
            assert_eq!(names_of.to_server.get(&key).map(String::as_str), Some(name), "{key} leads back to its tool");
        }
        assert_eq!(names_of.for_model("_y"), "_y", "what every provider takes stays as it is");
    }

    #[test]
    fn what_can_not_be_put_to_a_model_is_refused() {
        let with =
            |content: Value| params(json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": content }] }));
        let broken = with(json!({ "type": "image", "data": "no base64!", "mimeType": "image/png" }));
        assert_eq!(check(&broken), Err(Unfit::Base64), "[sampling-validate-content]: bytes that are none");
        let short = with(json!({ "type": "image", "data": "A", "mimeType": "image/png" }));
        assert_eq!(to_request(&short).err(), Some(Unfit::Base64), "[sampling-validate-content]: half of some");
        let none = params(json!({ "maxTokens": 1, "messages": [] }));
        assert_eq!(check(&none), Err(Unfit::NoMessages), "[sampling-validate-content]: nothing to answer");
        assert_eq!(check(&whole()), Ok(()), "and all else is taken");
    }

    fn reply(parts: Vec<Part>, stop: Stop) -> Reply {
        let message = Message { role: models::Role::Assistant, parts };
        Reply { message, stop, usage: TokenUse::default(), model: "m-1".into() }
    }

    #[test]
    fn an_answer_comes_back_with_its_role_model_and_reason() {
        let text = vec![Part::Thinking { text: "hm".into(), opaque: None }, Part::text("Rain.")];
        for (stop, reason) in [
            (Stop::EndTurn, "endTurn"),
            (Stop::MaxTokens, "maxTokens"),
            (Stop::StopSequence, "stopSequence"),
            (Stop::Refused, "refusal"),
            (Stop::Other("pause".into()), "pause"),
        ] {
            let result = from_reply(&reply(text.clone(), stop), &whole()).expect("it is an answer");
            assert_eq!((result.role, result.model.as_str()), (Role::Assistant, "m-1"), "[sampling-result-fields]");
            assert_eq!(result.stop_reason.as_deref(), Some(reason), "[sampling-result-fields]: why it ended");
            assert_eq!(result.content.blocks(), [ContentBlock::text("Rain.")], "what was thought stays here");
        }
    }

    #[test]
    fn the_key_in_meta_is_our_own() {
        let (prefix, name) = OPAQUE.split_once('/').expect("[base-meta-key-grammar]: a prefix and a name");
        let labels: Vec<&str> = prefix.split('.').collect();
        let is_label = |label: &&str| {
            label.starts_with(|c: char| c.is_ascii_alphabetic()) && label.chars().all(|c| c.is_ascii_alphanumeric())
        };
        assert!(labels.iter().all(is_label) && is_label(&name), "[base-meta-key-grammar]: {OPAQUE}");
        assert_eq!(labels, ["dev", "drawbridge"], "[base-meta-reverse-dns]: the app's own");
        let reserved = |label: &&str| ["modelcontextprotocol", "mcp"].contains(label);
        let is_reserved = labels.iter().any(reserved);
        assert!(!is_reserved, "[base-meta-reserved-any-label], [base-meta-reserved-second-label]: {OPAQUE}");
    }

    #[test]
    fn tools_are_used_by_the_servers_names_and_only_where_they_may_be() {
        let used = |id: &str, name: &str| Part::ToolUse {
            id: id.into(),
            name: name.into(),
            arguments: Map::from_iter([("x".to_owned(), json!(1))]),
            opaque: Some(json!({ "signature": id })),
        };
        let both = reply(vec![used("a", "weather"), used("b", "tool_1")], Stop::EndTurn);
        let result = from_reply(&both, &whole()).expect("both are offered");
        let names: Vec<Value> = result.content.blocks().iter().map(|block| json!(block)["name"].clone()).collect();
        assert_eq!(names, ["weather", "wetter für heute"], "[sampling-parallel-tools]: both, by the server's names");
        assert_eq!(result.stop_reason.as_deref(), Some("toolUse"), "[sampling-tool-use-return]");
        let meta = json!(result.content.blocks()[0])["_meta"].clone();
        assert_eq!(meta, json!({ "dev.drawbridge/opaque": { "signature": "a" } }), "[sampling-preserve-meta]");
        let other = reply(vec![used("a", "delete_all")], Stop::ToolUse);
        assert_eq!(from_reply(&other, &whole()), Err(Unfit::Tool), "[sampling-tools-scoped]: no other tool");
        let mut none = whole();
        none.tool_choice = serde_json::from_value(json!({ "mode": "none" })).ok();
        assert_eq!(
            to_request(&none).expect("fine").tool_choice,
            ToolChoice::None,
            "[sampling-tool-choice]: none is none"
        );
        assert_eq!(from_reply(&both, &none), Err(Unfit::Tool), "[sampling-tool-choice]: and stays none");
        let mut silent = whole();
        silent.tool_choice = None;
        assert_eq!(to_request(&silent).expect("fine").tool_choice, ToolChoice::Auto, "[sampling-tool-choice]: auto");
        assert_eq!(from_reply(&reply(vec![Part::text("")], Stop::EndTurn), &whole()), Err(Unfit::Empty), "nothing");
        let cut = from_reply(&reply(vec![Part::text("")], Stop::MaxTokens), &whole());
        assert_eq!(cut, Err(Unfit::OutOfTokens), "nothing, for want of tokens: the user can do something about that");
    }
}
