//! Tests of tool uses, also several in parallel, and of their results.

use bytes::Bytes;
use models::{
    Conversion, ConversionChoices, LossyConversion, MessagePart, ModelError, ModelMessage, ModelRequest, ModelTool,
    Provider as _, ProviderKind, ReplyDelta, Role, StopReason, ToolChoice, UnsupportedFeature,
};
use serde_json::{Value, json};

use crate::fake::{FakeProvider, collect_response, receive_reply, text_request};
use crate::scripted::{AfterResponsePieces, capture_request, serve_response_pieces};

fn forecast_tool() -> ModelTool {
    ModelTool {
        name: "weather__forecast".into(),
        description: Some("The weather of the next days.".into()),
        input_schema: json!({
            "type": "object",
            "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
            "required": ["city"],
        }),
    }
}

fn request_with_tool(kind: ProviderKind, text: &str) -> ModelRequest {
    ModelRequest { tools: vec![forecast_tool()], ..text_request(kind, text) }
}

/// Returns `request` with this message of the model and the results of its tool uses appended.
fn request_with_results(request: ModelRequest, message: ModelMessage, results: Vec<MessagePart>) -> ModelRequest {
    let mut request = request;
    request.messages.push(message);
    request.messages.push(ModelMessage { role: Role::User, parts: results });
    request
}

fn tool_result(id: &str, parts: Vec<MessagePart>, is_error: bool) -> MessagePart {
    MessagePart::ToolResult { id: id.into(), name: "weather__forecast".into(), parts, is_error }
}

#[tokio::test]
async fn tool_is_used_and_its_result_answered() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let provider = fake.client(wire);
        let request = request_with_tool(wire, "what is the weather");
        let (received, used) = collect_response(&provider, request.clone()).await;
        let used = used.expect("a reply");
        assert_eq!(used.stop, StopReason::ToolUse, "{wire:?}: the model should use a tool");
        let uses: Vec<_> = used.message.tool_uses().collect();
        let [(id, name, arguments)] = uses[..] else {
            panic!("{wire:?}: the reply should contain one tool use: {uses:?}")
        };
        assert_eq!(name, "weather__forecast", "{wire:?}: the tool should have its name in the request");
        assert_eq!(
            Value::Object(arguments.clone()),
            json!({ "city": "Oslo", "days": 3 }),
            "{wire:?}: the arguments should be complete"
        );
        let began = ReplyDelta::ToolUseBegan { id: id.into(), name: name.into() };
        assert!(received.contains(&began), "{wire:?}: the beginning of the tool use should be reported: {received:?}");
        let streamed: String = received
            .iter()
            .filter_map(|delta| match delta {
                ReplyDelta::ToolUseArguments { id: of, text } if of == id => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let streamed: Value = serde_json::from_str(&streamed).expect("arguments in JSON");
        assert_eq!(
            streamed,
            Value::Object(arguments.clone()),
            "{wire:?}: the streamed arguments should equal those of the reply"
        );
        let id = id.to_owned();
        let request = request_with_results(
            request,
            used.message,
            vec![tool_result(&id, vec![MessagePart::text("sunny")], false)],
        );
        let answer = receive_reply(&provider, request).await;
        assert_eq!(
            answer.message.plain_text(),
            "It is sunny in Oslo.",
            "{wire:?}: the model should reply to the tool result"
        );
    }
}

#[tokio::test]
async fn tools_are_used_in_parallel() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let used = receive_reply(&fake.client(wire), request_with_tool(wire, "compare two cities")).await;
        let cities: Vec<_> = used.message.tool_uses().map(|(_, _, arguments)| arguments["city"].clone()).collect();
        assert_eq!(
            cities,
            [json!("Oslo"), json!("Lima")],
            "{wire:?}: each tool use should have its arguments, in order"
        );
        let ids: std::collections::BTreeSet<_> = used.message.tool_uses().map(|(id, _, _)| id).collect();
        assert_eq!(ids.len(), 2, "{wire:?}: each tool use should have a unique id: {ids:?}");
        assert_eq!(
            used.message.plain_text(),
            "I look at both.",
            "{wire:?}: the reply should contain the text before the tool uses"
        );
    }
}

#[tokio::test]
async fn images_and_failures_in_results_reach_the_model_on_every_wire() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let provider = fake.client(wire);
        let request = request_with_tool(wire, "what is the weather");
        let used = receive_reply(&provider, request.clone()).await;
        let id = used.message.tool_uses().next().unwrap().0.to_owned();
        let picture =
            MessagePart::Image { mime: "image/png".into(), data: Bytes::from_static(b"\x89PNG\r\n\x1a\nmap") };
        let results = vec![tool_result(&id, vec![MessagePart::text("no service"), picture], true)];
        let request = request_with_results(request, used.message, results);
        let losses = provider.find_lossy_conversions(&request);
        let image = LossyConversion { what: UnsupportedFeature::ImageInToolResult, then: Conversion::SendAfter };
        let failed = LossyConversion { what: UnsupportedFeature::ToolError, then: Conversion::SayInText };
        let expected: &[LossyConversion] = match wire {
            ProviderKind::Anthropic => &[],
            ProviderKind::Gemini => &[image],
            ProviderKind::OpenAi | ProviderKind::Responses | ProviderKind::Ollama => &[failed, image],
        };
        assert_eq!(losses, expected, "{wire:?}: all conversions should be reported");
        let (url, taken) = capture_request().await;
        let _ =
            collect_response(&crate::fake::provider_client(wire, &url, None, ConversionChoices::default()), request)
                .await;
        let sent = taken.await.expect("a captured request").to_string();
        assert!(sent.contains("iVBORw0KGgptYXA"), "{wire:?}: the request should contain the image: {sent}");
        let reports_failure =
            sent.contains("The tool failed") || sent.contains("\"error\"") || sent.contains("is_error");
        assert!(reports_failure, "{wire:?}: the request should report the failure: {sent}");
    }
}

#[tokio::test]
async fn unsupported_tool_choice_is_refused_before_sending() {
    let fake = FakeProvider::start();
    let request =
        ModelRequest { tool_choice: ToolChoice::Required, ..request_with_tool(ProviderKind::Ollama, "say hello") };
    let (received, refused) = collect_response(&fake.client(ProviderKind::Ollama), request).await;
    let loss = LossyConversion { what: UnsupportedFeature::ToolRequired, then: Conversion::Refuse };
    assert_eq!(
        refused,
        Err(ModelError::CannotCarry(loss)),
        "a required tool should be refused, because Ollama does not support it"
    );
    assert!(received.is_empty(), "no events should be received");
}

#[tokio::test]
async fn repeated_tool_use_ids_are_made_unique() {
    let mut request = request_with_tool(ProviderKind::Anthropic, "what is the weather");
    for text in ["rain", "sun"] {
        let used = MessagePart::ToolUse {
            id: "call_0".into(),
            name: "weather__forecast".into(),
            arguments: serde_json::Map::new(),
            opaque: None,
        };
        let message = ModelMessage { role: Role::Assistant, parts: vec![used] };
        request =
            request_with_results(request, message, vec![tool_result("call_0", vec![MessagePart::text(text)], false)]);
    }
    let (url, taken) = capture_request().await;
    let _ = collect_response(
        &crate::fake::provider_client(ProviderKind::Anthropic, &url, None, ConversionChoices::default()),
        request,
    )
    .await;
    let sent = taken.await.expect("a captured request");
    let id = |message: usize, name: &str| sent["messages"][message]["content"][0][name].as_str().map(str::to_owned);
    assert_ne!(id(1, "id"), id(3, "id"), "the ids of both tool uses should differ: {sent}");
    assert_eq!(id(1, "id"), id(2, "tool_use_id"), "the first result should refer to the first tool use: {sent}");
    assert_eq!(id(3, "id"), id(4, "tool_use_id"), "the second result should refer to the second tool use: {sent}");
    assert!(id(3, "id").is_some(), "the tool uses should have ids: {sent}");
}

#[tokio::test]
async fn tool_uses_under_one_index_are_separated_by_their_ids() {
    let piece = |id: &str, name: Option<&str>, arguments: &str| {
        let call = json!({ "index": 0, "id": id, "function": { "name": name, "arguments": arguments } });
        let event = json!({ "choices": [{ "delta": { "tool_calls": [call] } }] });
        format!("data: {event}\n\n").into_bytes()
    };
    let cases = [
        (
            "index 0 for all tool uses, as sent by Ollama",
            vec![
                piece("a", Some("f"), "{\"city\":\"Oslo\"}"),
                piece("b", Some("f"), "{\"city\":"),
                piece("b", Some("f"), "\"Lima\"}"),
            ],
            vec![json!({ "city": "Oslo" }), json!({ "city": "Lima" })],
        ),
        (
            "a different id in each piece, as sent by older vLLM",
            vec![piece("a", Some("f"), "{\"city\":"), piece("b", None, "\"Oslo\""), piece("c", None, "}")],
            vec![json!({ "city": "Oslo" })],
        ),
    ];
    for (what, mut pieces, expected) in cases {
        pieces.push(b"data: [DONE]\n\n".to_vec());
        let url = serve_response_pieces(pieces, AfterResponsePieces::Close).await;
        let provider = crate::fake::provider_client(ProviderKind::OpenAi, &url, None, ConversionChoices::default());
        let answer = receive_reply(&provider, text_request(ProviderKind::OpenAi, "x")).await;
        let used: Vec<Value> = answer.message.tool_uses().map(|used| Value::Object(used.2.clone())).collect();
        assert_eq!(used, expected, "{what}: the tool uses should be separated by their ids");
    }
}

#[tokio::test]
async fn tool_use_without_an_id_gets_a_unique_one() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let call = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]}}]});
        let pieces = vec![format!("data: {call}\n\n").into_bytes(), b"data: [DONE]\n\n".to_vec()];
        let url = serve_response_pieces(pieces, AfterResponsePieces::Close).await;
        let provider = crate::fake::provider_client(ProviderKind::OpenAi, &url, None, ConversionChoices::default());
        let answer = receive_reply(&provider, text_request(ProviderKind::OpenAi, "x")).await;
        ids.extend(answer.message.tool_uses().map(|(id, _, _)| id.to_owned()));
    }
    assert_eq!(ids.len(), 2, "each reply should contain a tool use: {ids:?}");
    assert_ne!(ids[0], ids[1], "the ids should be unique across replies");
}
