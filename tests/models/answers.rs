//! Tests of text, thinking, images, and end reasons of responses.

use bytes::Bytes;
use models::{
    ConversionChoices, MessagePart, ModelMessage, ModelRequest, Provider as _, ProviderKind, ReplyDelta, Role,
    StopReason,
};

use crate::fake::{FakeProvider, collect_response, provider_client, receive_reply, text_request};
use crate::scripted::{AfterResponsePieces, capture_request, serve_response_pieces};

#[tokio::test]
async fn text_is_streamed_and_complete() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let (received, reply) = collect_response(&fake.client(wire), text_request(wire, "say hello")).await;
        let reply = reply.expect("a reply");
        let streamed: String = received
            .iter()
            .filter_map(|delta| if let ReplyDelta::Text(text) = delta { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(streamed, "Hello! Grüße, 你好 and 👋 from the model.", "{wire:?}: the streamed text is complete");
        assert_eq!(
            reply.message,
            ModelMessage::text(Role::Assistant, streamed),
            "{wire:?}: the reply has the same text"
        );
        assert_eq!(reply.stop, StopReason::EndTurn, "{wire:?}: the reply ended normally");
        let pieces = received.iter().filter(|delta| matches!(delta, ReplyDelta::Text(_))).count();
        assert!(pieces > 2, "{wire:?}: the text arrives in several pieces: {pieces}");
        assert!(
            reply.usage.input.is_some() && reply.usage.output.is_some(),
            "{wire:?}: the token usage should be reported: {:?}",
            reply.usage
        );
        assert!(!reply.model.is_empty(), "{wire:?}: the reply names the model");
    }
}

#[tokio::test]
async fn thinking_is_separate_from_the_reply_text() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let request = ModelRequest { thinking: true, ..text_request(wire, "think first") };
        let (received, reply) = collect_response(&fake.client(wire), request).await;
        let reply = reply.expect("a reply");
        let thought: String = received
            .iter()
            .filter_map(|delta| if let ReplyDelta::Thinking(text) = delta { Some(text.as_str()) } else { None })
            .collect();
        assert_eq!(thought, "Six times seven is forty-two.", "{wire:?}: the thinking is returned");
        assert_eq!(reply.message.plain_text(), "It is 42.", "{wire:?}: the text is returned");
        let retained = reply.message.parts.iter().find_map(|part| match part {
            MessagePart::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(retained, Some(thought.as_str()), "{wire:?}: the reply contains the thinking");
    }
}

#[tokio::test]
async fn thinking_is_returned_with_its_signature_to_its_provider_only() {
    let fake = FakeProvider::start();
    let first =
        receive_reply(&fake.client(ProviderKind::Anthropic), text_request(ProviderKind::Anthropic, "think first"))
            .await;
    for wire in ProviderKind::ALL {
        let mut request = text_request(wire, "think first");
        request.messages.push(first.message.clone());
        request.messages.push(ModelMessage::text(Role::User, "go on"));
        let sent = send_and_capture(wire, request).await.to_string();
        assert!(sent.contains("It is 42."), "{wire:?}: the next request contains the text: {sent}");
        let thought = sent.contains("Six times seven") && sent.contains("\"signature\"");
        assert_eq!(
            thought,
            wire == ProviderKind::Anthropic,
            "{wire:?}: thinking is only sent back to the same provider: {sent}"
        );
    }
}

/// Sends a request to a provider with the API `wire`, and returns the JSON body that the provider received.
async fn send_and_capture(wire: ProviderKind, request: ModelRequest) -> serde_json::Value {
    let (url, taken) = capture_request().await;
    let _ = collect_response(&provider_client(wire, &url, None, ConversionChoices::default()), request).await;
    taken.await.expect("a captured request")
}

#[tokio::test]
async fn images_are_sent_to_the_model() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let picture =
            MessagePart::Image { mime: "image/png".into(), data: Bytes::from_static(b"\x89PNG\r\n\x1a\nred") };
        let parts = vec![MessagePart::text("what is in the picture"), picture];
        let request =
            ModelRequest { messages: vec![ModelMessage { role: Role::User, parts }], ..text_request(wire, "") };
        assert!(fake.client(wire).find_lossy_conversions(&request).is_empty(), "{wire:?}: pictures are supported");
        let answer = receive_reply(&fake.client(wire), request.clone()).await;
        assert_eq!(answer.message.plain_text(), "A red square.", "{wire:?}: the model should describe the picture");
        let sent = send_and_capture(wire, request).await.to_string();
        assert!(sent.contains("iVBORw0KGgpyZWQ"), "{wire:?}: the request contains the picture: {sent}");
    }
}

#[tokio::test]
async fn stop_reason_is_reported() {
    let fake = FakeProvider::start();
    // On Ollama's API the fake provider always reports "stop". A separate test below covers it.
    for wire in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini] {
        let cut = receive_reply(&fake.client(wire), text_request(wire, "stop early")).await;
        assert_eq!(cut.stop, StopReason::MaxTokens, "{wire:?}: the token limit was reached");
    }
    for wire in [ProviderKind::OpenAi, ProviderKind::Gemini] {
        let refused = receive_reply(&fake.client(wire), text_request(wire, "say a forbidden thing")).await;
        assert_eq!(refused.stop, StopReason::Refused, "{wire:?}: the provider stopped the reply");
    }
}

#[tokio::test]
async fn stop_reason_of_ollama_is_reported() {
    for (reason, stop) in
        [("stop", StopReason::EndTurn), ("length", StopReason::MaxTokens), ("load", StopReason::Other("load".into()))]
    {
        let line = format!("{{\"message\":{{\"content\":\"x\"}},\"done\":true,\"done_reason\":\"{reason}\"}}\n");
        let url = serve_response_pieces(vec![line.into_bytes()], AfterResponsePieces::Close).await;
        let provider = provider_client(ProviderKind::Ollama, &url, None, ConversionChoices::default());
        assert_eq!(
            receive_reply(&provider, text_request(ProviderKind::Ollama, "x")).await.stop,
            stop,
            "the stop reason {reason} should be recognized"
        );
    }
}

#[tokio::test]
async fn models_of_each_provider_are_listed() {
    let fake = FakeProvider::start();
    for wire in [ProviderKind::OpenAi, ProviderKind::Responses, ProviderKind::Ollama] {
        let models = fake.client(wire).models().await.expect("a list of models");
        assert!(!models.is_empty(), "{wire:?}: the list contains models");
        assert!(
            models.iter().all(|model| !model.id.is_empty() && !model.name.is_empty()),
            "{wire:?}: each model should have an id and a name: {models:?}"
        );
    }
}
