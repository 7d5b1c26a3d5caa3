//! Tests of the conversion between MCP sampling and model requests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use models::TokenUsage;

use super::*;

fn params(value: Value) -> CreateMessageParams {
    serde_json::from_value(value).unwrap()
}

/// Returns a request in which every member is set.
fn complete_request() -> CreateMessageParams {
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
fn sampling_request_is_converted_completely() {
    let request = to_request(&complete_request()).expect("it can be put to a model");
    assert_eq!(request.system.as_deref(), Some("Be terse."), "the system prompt");
    assert_eq!(request.max_tokens, Some(64), "[sampling-max-tokens]: never more than wanted");
    assert_eq!((request.temperature, &request.stop[..]), (Some(0.5), &["END".to_owned()][..]), "how to answer");
    assert_eq!(request.tool_choice, ToolChoice::Required, "[sampling-tool-choice]");
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["weather", "tool_1"], "[sampling-tools-scoped]: its own tools, in names that providers take");
    let [first, second, third] = &request.messages[..] else { panic!("three messages") };
    let media = |part: &MessagePart| matches!(part, MessagePart::Image { data, .. } | MessagePart::Audio { data, .. } if !data.is_empty());
    assert!(media(&first.parts[1]) && media(&first.parts[2]), "[sampling-content-types]: {:?}", first.parts);
    let MessagePart::ToolUse { name, opaque, .. } = &second.parts[0] else { panic!("a use") };
    assert_eq!(name, "tool_1", "what was used has the name that is offered");
    assert_eq!(*opaque, Some(json!({ "signature": "s" })), "[sampling-preserve-meta]: the provider gets its own back");
    let MessagePart::ToolResult { id, name, is_error, .. } = &third.parts[0] else { panic!("a result") };
    assert_eq!((id.as_str(), name.as_str(), *is_error), ("1", "tool_1", true), "the result of that use");
    let told = format!("{request:?}");
    assert!(!told.contains("secret-of-the-server"), "[sampling-params-adjust]: metadata is omitted");
    assert!(!told.contains("allServers"), "[sampling-include-context], X27: nothing is put in");
}

#[test]
fn tool_keys_are_accepted_by_every_provider_and_reversible() {
    let names = ["3d-render", "-x", "_y", "tool_1", ""];
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": "x" } }]);
    let names_of = ToolNames::for_request(&params(json!({ "maxTokens": 1, "tools": tools, "messages": messages })));
    for name in names {
        let key = names_of.for_model(name);
        assert!(is_plain(&key), "Gemini refuses a request with the tool {key:?}");
        assert_eq!(names_of.to_server.get(&key).map(String::as_str), Some(name), "{key} leads back to its tool");
    }
    assert_eq!(names_of.for_model("_y"), "_y", "what every provider takes stays as it is");
}

#[test]
fn unconvertible_request_is_rejected() {
    let with = |content: Value| params(json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": content }] }));
    let broken = with(json!({ "type": "image", "data": "no base64!", "mimeType": "image/png" }));
    assert_eq!(
        check_request(&broken),
        Err(ConversionError::Base64),
        "[sampling-validate-content]: bytes that are none"
    );
    let short = with(json!({ "type": "image", "data": "A", "mimeType": "image/png" }));
    assert_eq!(to_request(&short).err(), Some(ConversionError::Base64), "[sampling-validate-content]: half of some");
    let none = params(json!({ "maxTokens": 1, "messages": [] }));
    assert_eq!(
        check_request(&none),
        Err(ConversionError::NoMessages),
        "[sampling-validate-content]: nothing to answer"
    );
    assert_eq!(check_request(&complete_request()), Ok(()), "and all else is taken");
}

fn reply(parts: Vec<MessagePart>, stop: StopReason) -> ModelReply {
    let message = ModelMessage { role: models::Role::Assistant, parts };
    ModelReply { message, stop, usage: TokenUsage::default(), model: "m-1".into() }
}

#[test]
fn reply_is_converted_with_role_model_and_stop_reason() {
    let text = vec![MessagePart::Thinking { text: "hm".into(), opaque: None }, MessagePart::text("Rain.")];
    for (stop, reason) in [
        (StopReason::EndTurn, "endTurn"),
        (StopReason::MaxTokens, "maxTokens"),
        (StopReason::StopSequence, "stopSequence"),
        (StopReason::Refused, "refusal"),
        (StopReason::Other("pause".into()), "pause"),
    ] {
        let result = reply_to_result(&reply(text.clone(), stop), &complete_request()).expect("it is an answer");
        assert_eq!((result.role, result.model.as_str()), (Role::Assistant, "m-1"), "[sampling-result-fields]");
        assert_eq!(result.stop_reason.as_deref(), Some(reason), "[sampling-result-fields]: why it ended");
        assert_eq!(result.content.blocks(), [ContentBlock::text("Rain.")], "what was thought stays here");
    }
}

#[test]
fn metadata_key_is_in_the_namespace_of_the_app() {
    let (prefix, name) = OPAQUE_META_KEY.split_once('/').expect("[base-meta-key-grammar]: a prefix and a name");
    let labels: Vec<&str> = prefix.split('.').collect();
    let is_label = |label: &&str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic()) && label.chars().all(|c| c.is_ascii_alphanumeric())
    };
    assert!(labels.iter().all(is_label) && is_label(&name), "[base-meta-key-grammar]: {OPAQUE_META_KEY}");
    assert_eq!(labels, ["dev", "drawbridge"], "[base-meta-reverse-dns]: the app's own");
    let reserved = |label: &&str| ["modelcontextprotocol", "mcp"].contains(label);
    let is_reserved = labels.iter().any(reserved);
    assert!(!is_reserved, "[base-meta-reserved-any-label], [base-meta-reserved-second-label]: {OPAQUE_META_KEY}");
}

#[test]
fn tool_uses_have_the_names_of_the_server_and_are_permitted() {
    let used = |id: &str, name: &str| MessagePart::ToolUse {
        id: id.into(),
        name: name.into(),
        arguments: Map::from_iter([("x".to_owned(), json!(1))]),
        opaque: Some(json!({ "signature": id })),
    };
    let both = reply(vec![used("a", "weather"), used("b", "tool_1")], StopReason::EndTurn);
    let result = reply_to_result(&both, &complete_request()).expect("both are offered");
    let names: Vec<Value> = result.content.blocks().iter().map(|block| json!(block)["name"].clone()).collect();
    assert_eq!(names, ["weather", "wetter für heute"], "[sampling-parallel-tools]: both, by the server's names");
    assert_eq!(result.stop_reason.as_deref(), Some("toolUse"), "[sampling-tool-use-return]");
    let meta = json!(result.content.blocks()[0])["_meta"].clone();
    assert_eq!(meta, json!({ "dev.drawbridge/opaque": { "signature": "a" } }), "[sampling-preserve-meta]");
    let other = reply(vec![used("a", "delete_all")], StopReason::ToolUse);
    assert_eq!(
        reply_to_result(&other, &complete_request()),
        Err(ConversionError::Tool),
        "[sampling-tools-scoped]: no other tool"
    );
    let mut none = complete_request();
    none.tool_choice = serde_json::from_value(json!({ "mode": "none" })).ok();
    assert_eq!(to_request(&none).expect("fine").tool_choice, ToolChoice::None, "[sampling-tool-choice]: none is none");
    assert_eq!(reply_to_result(&both, &none), Err(ConversionError::Tool), "[sampling-tool-choice]: and stays none");
    let mut silent = complete_request();
    silent.tool_choice = None;
    assert_eq!(to_request(&silent).expect("fine").tool_choice, ToolChoice::Auto, "[sampling-tool-choice]: auto");
    assert_eq!(
        reply_to_result(&reply(vec![MessagePart::text("")], StopReason::EndTurn), &complete_request()),
        Err(ConversionError::Empty),
        "nothing"
    );
    let cut = reply_to_result(&reply(vec![MessagePart::text("")], StopReason::MaxTokens), &complete_request());
    assert_eq!(
        cut,
        Err(ConversionError::OutOfTokens),
        "nothing, for want of tokens: the user can do something about that"
    );
}
