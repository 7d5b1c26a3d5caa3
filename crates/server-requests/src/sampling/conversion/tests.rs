//! Tests of the conversion between MCP sampling and model requests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use models::TokenUsage;

use super::*;

fn parse_params(value: Value) -> CreateMessageParams {
    serde_json::from_value(value).unwrap()
}

/// Returns a request in which every member is set.
fn request_with_every_member() -> CreateMessageParams {
    parse_params(json!({
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
    let request = to_model_request(&request_with_every_member()).expect("it can be put to a model");
    assert_eq!(request.system.as_deref(), Some("Be terse."), "the system prompt must be sent");
    assert_eq!(request.max_tokens, Some(64), "[sampling-max-tokens]: the limit must not exceed the requested one");
    assert_eq!(
        (request.temperature, &request.stop[..]),
        (Some(0.5), &["END".to_owned()][..]),
        "temperature and stop sequences must be sent"
    );
    assert_eq!(request.tool_choice, ToolChoice::Required, "[sampling-tool-choice]");
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        ["weather", "tool_1"],
        "[sampling-tools-scoped]: only tools of the request, with names that every provider accepts"
    );
    let [first, second, third] = &request.messages[..] else { panic!("expected three messages") };
    let media = |part: &MessagePart| matches!(part, MessagePart::Image { data, .. } | MessagePart::Audio { data, .. } if !data.is_empty());
    assert!(media(&first.parts[1]) && media(&first.parts[2]), "[sampling-content-types]: {:?}", first.parts);
    let MessagePart::ToolUse { name, opaque, .. } = &second.parts[0] else { panic!("expected a tool use") };
    assert_eq!(name, "tool_1", "the tool use must have the name that the model received");
    assert_eq!(
        *opaque,
        Some(json!({ "signature": "s" })),
        "[sampling-preserve-meta]: the opaque data of the provider must be sent back"
    );
    let MessagePart::ToolResult { id, name, is_error, .. } = &third.parts[0] else { panic!("expected a tool result") };
    assert_eq!((id.as_str(), name.as_str(), *is_error), ("1", "tool_1", true), "the result must refer to the tool use");
    let converted = format!("{request:?}");
    assert!(!converted.contains("secret-of-the-server"), "[sampling-params-adjust]: metadata must be omitted");
    assert!(!converted.contains("allServers"), "[sampling-include-context], X27: no context must be added");
}

#[test]
fn tool_keys_are_accepted_by_every_provider_and_reversible() {
    let names = ["3d-render", "-x", "_y", "tool_1", ""];
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": "x" } }]);
    let names_of =
        SamplingToolNames::for_request(&parse_params(json!({ "maxTokens": 1, "tools": tools, "messages": messages })));
    for name in names {
        let key = names_of.name_for_model(name);
        assert!(is_tool_name_valid_for_all_providers(&key), "the name {key:?} must be valid for every provider");
        assert_eq!(names_of.to_server.get(&key).map(String::as_str), Some(name), "{key} must map back to the tool");
    }
    assert_eq!(names_of.name_for_model("_y"), "_y", "a valid name must not change");
}

#[test]
fn unconvertible_request_is_rejected() {
    let with =
        |content: Value| parse_params(json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": content }] }));
    let broken = with(json!({ "type": "image", "data": "no base64!", "mimeType": "image/png" }));
    assert_eq!(
        check_sampling_request(&broken),
        Err(SamplingConversionError::Base64),
        "[sampling-validate-content]: data that is not base64"
    );
    let short = with(json!({ "type": "image", "data": "A", "mimeType": "image/png" }));
    assert_eq!(
        to_model_request(&short).err(),
        Some(SamplingConversionError::Base64),
        "[sampling-validate-content]: incomplete base64"
    );
    let none = parse_params(json!({ "maxTokens": 1, "messages": [] }));
    assert_eq!(
        check_sampling_request(&none),
        Err(SamplingConversionError::NoMessages),
        "[sampling-validate-content]: no messages"
    );
    assert_eq!(check_sampling_request(&request_with_every_member()), Ok(()), "the complete request must be valid");
}

fn model_reply(parts: Vec<MessagePart>, stop: StopReason) -> ModelReply {
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
        let result = reply_to_sampling_result(&model_reply(text.clone(), stop), &request_with_every_member())
            .expect("it is an answer");
        assert_eq!((result.role, result.model.as_str()), (Role::Assistant, "m-1"), "[sampling-result-fields]");
        assert_eq!(result.stop_reason.as_deref(), Some(reason), "[sampling-result-fields]: the stop reason");
        assert_eq!(result.content.blocks(), [ContentBlock::text("Rain.")], "reasoning must be dropped");
    }
}

#[test]
fn provider_data_meta_key_is_in_drawbridges_namespace() {
    let (prefix, name) = PROVIDER_DATA_META_KEY.split_once('/').expect("[base-meta-key-grammar]: a prefix and a name");
    let labels: Vec<&str> = prefix.split('.').collect();
    let is_label = |label: &&str| {
        label.starts_with(|c: char| c.is_ascii_alphabetic()) && label.chars().all(|c| c.is_ascii_alphanumeric())
    };
    assert!(labels.iter().all(is_label) && is_label(&name), "[base-meta-key-grammar]: {PROVIDER_DATA_META_KEY}");
    assert_eq!(labels, ["dev", "drawbridge"], "[base-meta-reverse-dns]: the app's prefix");
    let reserved = |label: &&str| ["modelcontextprotocol", "mcp"].contains(label);
    let is_reserved = labels.iter().any(reserved);
    assert!(
        !is_reserved,
        "[base-meta-reserved-any-label], [base-meta-reserved-second-label]: {PROVIDER_DATA_META_KEY}"
    );
}

#[test]
fn tool_uses_have_the_names_of_the_server_and_are_permitted() {
    let used = |id: &str, name: &str| MessagePart::ToolUse {
        id: id.into(),
        name: name.into(),
        arguments: Map::from_iter([("x".to_owned(), json!(1))]),
        opaque: Some(json!({ "signature": id })),
    };
    let both = model_reply(vec![used("a", "weather"), used("b", "tool_1")], StopReason::EndTurn);
    let result = reply_to_sampling_result(&both, &request_with_every_member()).expect("both are offered");
    let names: Vec<Value> = result.content.blocks().iter().map(|block| json!(block)["name"].clone()).collect();
    assert_eq!(
        names,
        ["weather", "wetter für heute"],
        "[sampling-parallel-tools]: both tool uses, with the server's names"
    );
    assert_eq!(result.stop_reason.as_deref(), Some("toolUse"), "[sampling-tool-use-return]");
    let meta = json!(result.content.blocks()[0])["_meta"].clone();
    assert_eq!(meta, json!({ "dev.drawbridge/opaque": { "signature": "a" } }), "[sampling-preserve-meta]");
    let other = model_reply(vec![used("a", "delete_all")], StopReason::ToolUse);
    assert_eq!(
        reply_to_sampling_result(&other, &request_with_every_member()),
        Err(SamplingConversionError::Tool),
        "[sampling-tools-scoped]: a tool that was not offered must be refused"
    );
    let mut none = request_with_every_member();
    none.tool_choice = serde_json::from_value(json!({ "mode": "none" })).ok();
    assert_eq!(
        to_model_request(&none).expect("fine").tool_choice,
        ToolChoice::None,
        "[sampling-tool-choice]: `none` must be sent"
    );
    assert_eq!(
        reply_to_sampling_result(&both, &none),
        Err(SamplingConversionError::Tool),
        "[sampling-tool-choice]: a tool use must be refused with `none`"
    );
    let mut silent = request_with_every_member();
    silent.tool_choice = None;
    assert_eq!(
        to_model_request(&silent).expect("fine").tool_choice,
        ToolChoice::Auto,
        "[sampling-tool-choice]: the default must be `auto`"
    );
    assert_eq!(
        reply_to_sampling_result(
            &model_reply(vec![MessagePart::text("")], StopReason::EndTurn),
            &request_with_every_member()
        ),
        Err(SamplingConversionError::Empty),
        "nothing"
    );
    let cut = reply_to_sampling_result(
        &model_reply(vec![MessagePart::text("")], StopReason::MaxTokens),
        &request_with_every_member(),
    );
    assert_eq!(
        cut,
        Err(SamplingConversionError::OutOfTokens),
        "an empty answer at the token limit must have its own error"
    );
}
