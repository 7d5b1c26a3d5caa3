//! Tests of error messages: each states the cause and a next step.

use models::{ModelError, ProviderKind, ReplyDelta};

use crate::fake::{FakeProvider, collect_response, text_request};
use crate::scripted::{AfterResponsePieces, serve_response_pieces};

#[tokio::test]
async fn each_error_is_classified_on_every_wire() {
    let fake = FakeProvider::start();
    let cases = [
        ("rate limit", "rateLimited", "try again in 7 s"),
        ("overload", "overloaded", "try again in a minute"),
        ("context too long", "contextTooLong", "shorten it"),
        ("refusal", "refused", "change it"),
        ("no credit", "noCredit", "top it up"),
        ("no model", "notFound", "choose another one"),
    ];
    for wire in ProviderKind::ALL {
        for (name, code, next) in cases {
            let (_, error) =
                collect_response(&fake.client(wire), text_request(wire, &format!("say the error {name}"))).await;
            let error = error.expect_err("an error");
            let words = error.to_string();
            assert_eq!(error.code(), code, "{wire:?}: the error {name} should have this code: {words}");
            assert!(words.contains(next), "{wire:?}: the message of {name} contains a remedy: {words}");
        }
    }
}

#[tokio::test]
async fn error_event_within_a_response_is_reported() {
    let event = "data: {\"error\":{\"message\":\"The engine broke\",\"type\":\"server_error\"}}\n\n";
    let url = serve_response_pieces(vec![event.into()], AfterResponsePieces::Close).await;
    let provider = crate::fake::provider_client(ProviderKind::OpenAi, &url, None, models::ConversionChoices::default());
    let (_, error) = collect_response(&provider, text_request(ProviderKind::OpenAi, "x")).await;
    let words = error.expect_err("an error").to_string();
    let expected =
        "the provider ended its answer with an error; try again, or choose another model. It says: The engine broke";
    assert_eq!(words, expected, "the message should contain the provider's text");
}

#[tokio::test]
async fn exceeded_context_limit_is_reported() {
    let fake = FakeProvider::start();
    let (_, error) = collect_response(
        &fake.client(ProviderKind::OpenAi),
        text_request(ProviderKind::OpenAi, "say the error context too long"),
    )
    .await;
    assert_eq!(
        error,
        Err(ModelError::ContextTooLong { limit: Some(8_192) }),
        "the limit should be read from the provider's text"
    );
}

#[tokio::test]
async fn truncated_response_is_an_error() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let (received, error) = collect_response(&fake.client(wire), text_request(wire, "break off")).await;
        assert_eq!(error, Err(ModelError::Cut), "{wire:?}: the truncation should be reported");
        let has_text = received.iter().any(|delta| matches!(delta, ReplyDelta::Text(_)));
        assert!(has_text, "{wire:?}: the received part is returned: {received:?}");
    }
}

#[tokio::test]
async fn unreachable_provider_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for wire in ProviderKind::ALL {
        let provider = crate::fake::provider_client(wire, &url, None, models::ConversionChoices::default());
        let (_, error) = collect_response(&provider, text_request(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "unreachable", "{wire:?}: the provider should be unreachable: {error}");
        assert!(error.to_string().contains("check the network"), "{wire:?}: the message contains a remedy: {error}");
    }
}
