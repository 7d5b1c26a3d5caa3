//! Tests of features that only OpenAI's Responses API has: encrypted reasoning that is sent back, output items other
//! than messages, and further end reasons.

use std::time::Duration;

use bytes::Bytes;
use models::{
    ConversionChoices, HttpProvider, MessagePart, ModelError, ModelMessage, ModelRequest, ModelTool, Provider as _,
    ProviderKind, ReplyDelta, Role, StopReason,
};
use serde_json::{Value, json};

use crate::fake::{collect_response, provider_client, provider_settings, receive_reply, text_request};
use crate::scripted::{
    AfterResponsePieces, ScriptedServer, http_response, serve_response_pieces, start_scripted_server,
};

const RESPONSES_WIRE: ProviderKind = ProviderKind::Responses;

fn sse_events(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"])).collect::<String>().into()
}

fn final_event(status: &str) -> Value {
    json!({ "type": format!("response.{status}"), "response": { "status": status, "model": "gpt-5-2025" } })
}

/// Returns the event stream of a response that contains encrypted reasoning and a tool use.
fn thinking_and_tool_use_stream() -> Vec<u8> {
    let thought = json!({
        "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "I look." }],
        "encrypted_content": "c2VjcmV0", "status": "completed",
    });
    let call = |arguments: &str| json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": arguments });
    sse_events(&[
        json!({ "type": "response.created", "response": { "model": "gpt-5-2025", "error": null } }),
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "I look." }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": thought }),
        json!({ "type": "response.output_item.added", "output_index": 1, "item": call("") }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "other", "delta": "{\"a\"" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "another", "delta": ":1}" }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": call("{\"a\":1}") }),
        final_event("completed"),
    ])
}

/// Returns an HTTP response with these events as its body.
fn streamed_response(events: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    [head.as_bytes(), events].concat()
}

async fn start_server_with_response(bytes: Vec<u8>) -> ScriptedServer {
    start_scripted_server(move |_| (Duration::ZERO, streamed_response(&bytes))).await
}

fn sample_tool() -> ModelTool {
    ModelTool { name: "look".into(), description: None, input_schema: json!({ "type": "object" }) }
}

#[tokio::test]
async fn reasoning_item_is_returned_before_its_tool_use_and_to_no_other_model() {
    let served = start_server_with_response(thinking_and_tool_use_stream()).await;
    let provider = provider_client(RESPONSES_WIRE, &served.url(), None, ConversionChoices::default());
    let request = ModelRequest {
        model: "gpt-5".into(),
        thinking: true,
        tools: vec![sample_tool()],
        ..text_request(RESPONSES_WIRE, "look")
    };
    let used = receive_reply(&provider, request.clone()).await;
    assert_eq!(used.stop, StopReason::ToolUse, "the model should use a tool");
    let parts = vec![MessagePart::text("seen")];
    let result = MessagePart::ToolResult { id: "call_1".into(), name: "look".into(), parts, is_error: false };
    let mut next = request;
    next.messages.extend([used.message, ModelMessage { role: Role::User, parts: vec![result] }]);
    receive_reply(&provider, next.clone()).await;
    let bodies = served.request_bodies("/v1/responses");
    let (first, second) = (&bodies[0], &bodies[1]);
    assert_eq!(
        first["include"],
        json!(["reasoning.encrypted_content"]),
        "the encrypted reasoning should be requested: {first}"
    );
    assert_eq!(
        (&first["store"], &first["stream"]),
        (&json!(false), &json!(true)),
        "the response should be streamed and not stored: {first}"
    );
    assert_eq!(first["tools"][0]["strict"], false, "the schema of a tool should not be strict: {first}");
    let kinds: Vec<&str> =
        second["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["message", "reasoning", "function_call", "function_call_output"],
        "the items should be sent back in their original order"
    );
    let thought = &second["input"][1];
    assert_eq!(
        (&thought["encrypted_content"], &thought["id"]),
        (&json!("c2VjcmV0"), &json!("rs_1")),
        "the reasoning should be unchanged"
    );
    assert_eq!(second["input"][2]["arguments"], "{\"a\":1}", "the arguments of the tool use should be sent");
    assert_eq!(second["input"][3]["output"], "seen", "the result of the tool use should be sent");
    receive_reply(&provider, ModelRequest { model: "gpt-5-mini".into(), ..next.clone() }).await;
    let elsewhere = start_server_with_response(thinking_and_tool_use_stream()).await;
    receive_reply(
        &crate::fake::provider_client(RESPONSES_WIRE, &elsewhere.url(), None, ConversionChoices::default()),
        next,
    )
    .await;
    for (who, server) in [("model", &served), ("provider", &elsewhere)] {
        let last = server.request_bodies("/v1/responses").pop().unwrap().to_string();
        assert!(!last.contains("c2VjcmV0"), "another {who} should not receive the reasoning: {last}");
        assert!(last.contains("function_call_output"), "another {who} should receive the remaining items: {last}");
    }
}

#[tokio::test]
async fn reasoning_item_without_a_successor_is_not_sent() {
    let served = start_server_with_response(thinking_and_tool_use_stream()).await;
    let provider = provider_client(RESPONSES_WIRE, &served.url(), None, ConversionChoices::default());
    let mut request = ModelRequest { model: "gpt-5".into(), ..text_request(RESPONSES_WIRE, "look") };
    let mut thought = receive_reply(&provider, request.clone()).await.message;
    thought.parts.truncate(1);
    assert!(
        matches!(thought.parts[0], MessagePart::Thinking { opaque: Some(_), .. }),
        "the message should contain reasoning: {thought:?}"
    );
    request.messages.extend([thought, ModelMessage::text(Role::User, "go on")]);
    receive_reply(&provider, request).await;
    let sent = served.request_bodies("/v1/responses").pop().unwrap();
    assert_eq!(
        sent["input"].as_array().unwrap().len(),
        2,
        "the reasoning should be omitted, because the provider would reject it: {sent}"
    );
}

#[tokio::test]
async fn unstreamed_content_is_taken_from_the_final_event() {
    let call = json!({ "type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{\"a\":1}" });
    let message_item = json!({ "type": "message", "content": [{ "type": "output_text", "text": "I look." }] });
    let mut whole = final_event("completed");
    whole["response"]["output"] = json!([message_item, call]);
    let done = |item: &Value| json!({ "type": "response.output_item.done", "item": item });
    // llama.cpp sends no index, and only the id that tool results refer to.
    let added = json!({ "type": "response.output_item.added", "item": { "type": "function_call", "call_id": "call_1", "name": "look" } });
    let piece = json!({ "type": "response.function_call_arguments.delta", "item_id": "call_1", "delta": "{\"a\":1}" });
    let text = json!({ "type": "response.output_text.delta", "item_id": "msg_1", "delta": "I look." });
    let message_with_id = json!({ "type": "message", "id": "msg_1", "content": message_item["content"] });
    let cases = [
        ("all at the end", vec![whole]),
        ("whole items", vec![done(&message_item), done(&call), final_event("completed")]),
        ("pieces", vec![text, done(&message_with_id), added, piece, done(&call), final_event("completed")]),
    ];
    for (what, sent) in cases {
        let url = serve_response_pieces(vec![sse_events(&sent)], AfterResponsePieces::Close).await;
        let (received, answer) = collect_response(
            &provider_client(RESPONSES_WIRE, &url, None, ConversionChoices::default()),
            text_request(RESPONSES_WIRE, "x"),
        )
        .await;
        let message = answer.expect("a reply").message;
        assert_eq!(message.plain_text(), "I look.", "{what}: the text should occur once: {received:?}");
        let used: Vec<Value> = message.tool_uses().map(|used| Value::Object(used.2.clone())).collect();
        assert_eq!(used, [json!({ "a": 1 })], "{what}: the tool use should occur once: {received:?}");
        let began = received.iter().filter(|delta| matches!(delta, ReplyDelta::ToolUseBegan { .. })).count();
        assert_eq!(began, 1, "{what}: the tool use should begin once: {received:?}");
    }
}

#[tokio::test]
async fn reason_for_the_end_of_a_response_is_classified() {
    let incomplete = |reason: &str| {
        let mut over = final_event("incomplete");
        over["response"]["incomplete_details"] = json!({ "reason": reason });
        vec![over]
    };
    let refusal = json!({ "type": "response.refusal.delta", "output_index": 0, "delta": "I can't." });
    let failed = json!({ "code": "server_error", "message": "The engine broke" });
    let cases: [(&str, Vec<Value>, Result<StopReason, &str>); 9] = [
        ("a completed response", vec![final_event("completed")], Ok(StopReason::EndTurn)),
        ("the token limit", incomplete("max_output_tokens"), Ok(StopReason::MaxTokens)),
        ("the content filter", incomplete("content_filter"), Ok(StopReason::Refused)),
        ("an unknown reason", incomplete("tired"), Ok(StopReason::Other("tired".into()))),
        ("the model's refusal", vec![refusal, final_event("completed")], Ok(StopReason::Refused)),
        (
            "a failed response",
            vec![json!({ "type": "response.failed", "response": { "error": failed } })],
            Err("provider"),
        ),
        (
            "a rate limit",
            vec![json!({ "type": "error", "code": "rate_limit_exceeded", "message": "Slow down" })],
            Err("rateLimited"),
        ),
        (
            "an error in the format of other providers",
            vec![json!({ "error": { "type": "overloaded_error" } })],
            Err("overloaded"),
        ),
        ("a missing final event", vec![json!({ "type": "response.created", "response": {} })], Err("cut")),
    ];
    for (what, sent, expected) in cases {
        let bytes = [sse_events(&sent), b"data: [DONE]\n\n".to_vec()].concat();
        let url = serve_response_pieces(vec![bytes], AfterResponsePieces::Close).await;
        let (_, ended) = collect_response(
            &provider_client(RESPONSES_WIRE, &url, None, ConversionChoices::default()),
            text_request(RESPONSES_WIRE, "x"),
        )
        .await;
        let ended = ended.map(|reply| reply.stop).map_err(|error| error.code());
        assert_eq!(ended, expected, "{what} should be classified");
    }
}

#[tokio::test]
async fn endless_output_items_are_an_error() {
    let item = json!({ "type": "response.output_item.added", "item": {
        "type": "function_call", "id": "x".repeat(1_000), "call_id": "c", "name": "look" } });
    let many: Vec<Value> = (0..5_000)
        .map(|number| {
            let mut item = item.clone();
            item["output_index"] = json!(number);
            item
        })
        .collect();
    let url = serve_response_pieces(vec![sse_events(&many)], AfterResponsePieces::Wait).await;
    let (_, ended) = collect_response(
        &provider_client(RESPONSES_WIRE, &url, None, ConversionChoices::default()),
        text_request(RESPONSES_WIRE, "x"),
    )
    .await;
    assert_eq!(ended, Err(ModelError::TooLarge { limit: 16 << 20 }), "too many items should be rejected");
}

/// Returns the error with which OpenAI's API would reject this request body, or `None` if it would accept it.
fn openai_rejection(body: &Value) -> Option<String> {
    let model = body["model"].as_str().unwrap();
    let thinks = ["o3", "gpt-5-mini", "gpt-5.5", "gpt-6-sol"].contains(&model);
    let unsupported = |name: &str| Some(format!("Unsupported parameter: '{name}' is not supported with this model."));
    if thinks && !body["temperature"].is_null() {
        unsupported("temperature")
    } else if !thinks && !body["reasoning"].is_null() {
        unsupported("reasoning.effort")
    } else if !thinks && !body["include"].is_null() {
        Some("Encrypted content is not supported with this model.".into())
    } else if body["stop"].is_null() {
        None
    } else {
        Some("Unknown parameter: 'stop'.".into())
    }
}

#[allow(clippy::disallowed_methods, reason = "resolves the host name of a real provider to the fake one")]
fn client_for_host(host: &str, served: &ScriptedServer) -> HttpProvider {
    let client = reqwest::Client::builder().no_proxy().resolve(host, served.address).build().unwrap();
    let url = format!("http://{host}:{}", served.address.port());
    HttpProvider::new(provider_settings(RESPONSES_WIRE, &url, ConversionChoices::default()), None, client)
}

#[tokio::test]
async fn openai_models_think_with_tools_and_receive_supported_parameters() {
    let served = start_scripted_server(|taken| {
        let bytes = match openai_rejection(&taken.body) {
            Some(message) => http_response(400, &json!({ "error": { "message": message } }).to_string()),
            None => streamed_response(&sse_events(&[final_event("completed")])),
        };
        (Duration::ZERO, bytes)
    })
    .await;
    let provider = client_for_host("api.openai.com", &served);
    for (model, thinks) in
        [("o3", true), ("gpt-5-mini", true), ("gpt-5.5", true), ("gpt-6-sol", true), ("gpt-4o", false)]
    {
        let request = ModelRequest {
            model: model.into(),
            tools: vec![sample_tool()],
            temperature: Some(0.5),
            thinking: true,
            ..text_request(RESPONSES_WIRE, "x")
        };
        receive_reply(&provider, request).await;
        let sent = served.request_bodies("/v1/responses").pop().unwrap();
        assert_eq!(
            sent["reasoning"]["effort"].as_str(),
            thinks.then_some("medium"),
            "{model}: the effort should be sent with tools if supported: {sent}"
        );
        assert_eq!(
            sent["temperature"].is_null(),
            thinks,
            "{model}: the temperature should be sent only if supported: {sent}"
        );
    }
}

#[tokio::test]
async fn images_stay_in_results_if_openai_accepts_them() {
    let served = start_server_with_response(sse_events(&[final_event("completed")])).await;
    let picture = MessagePart::Image { mime: "image/png".into(), data: Bytes::from_static(b"\x89PNG\r\n\x1a\nmap") };
    let parts = vec![MessagePart::text("a map"), picture];
    let used =
        MessagePart::ToolUse { id: "1".into(), name: "look".into(), arguments: serde_json::Map::new(), opaque: None };
    let result = MessagePart::ToolResult { id: "1".into(), name: "look".into(), parts, is_error: false };
    let messages = vec![
        ModelMessage { role: Role::Assistant, parts: vec![used] },
        ModelMessage { role: Role::User, parts: vec![result] },
    ];
    let request = ModelRequest { messages, ..text_request(RESPONSES_WIRE, "x") };
    for (host, stays) in [("api.openai.com", true), ("models.example", false)] {
        let provider = client_for_host(host, &served);
        assert_eq!(
            provider.find_lossy_conversions(&request).is_empty(),
            stays,
            "{host}: a moved image should be reported"
        );
        receive_reply(&provider, request.clone()).await;
        let input = served.request_bodies("/v1/responses").pop().unwrap()["input"].clone();
        assert_eq!(
            input[1]["output"].is_array(),
            stays,
            "{host}: the result should contain the image only if supported: {input}"
        );
        assert!(input.to_string().contains("iVBORw0KGgptYXA"), "{host}: the request should contain the image: {input}");
    }
}
