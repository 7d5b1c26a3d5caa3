//! Tests of keys: errors for wrong and missing keys, and redaction of the right key in all output.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use models::{ConversionChoices, MAX_PROVIDER_MESSAGE_CHARS, ModelError, Provider as _, ProviderKind, StopReason};
use serde_json::json;

use crate::fake::{FakeProvider, TEST_API_KEY, collect_response, provider_client, receive_reply, text_request};
use crate::scripted::{AfterResponsePieces, http_response, serve_response_pieces, start_scripted_server};

#[tokio::test]
async fn wrong_and_missing_api_key_are_distinct_errors() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let wrong = fake.client_with(wire, Some("sk-of-somebody-else"), ConversionChoices::default());
        let (_, error) = collect_response(&wrong, text_request(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "wrongKey", "{wire:?}: the key should be reported as wrong: {error}");
        assert!(
            !error.to_string().contains("sk-of-somebody-else"),
            "{wire:?}: the error does not contain the key: {error}"
        );
        let none = fake.client_with(wire, None, ConversionChoices::default());
        let (_, error) = collect_response(&none, text_request(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "noKey", "{wire:?}: the key should be reported as missing: {error}");
        let listed = none.models().await.expect_err("an error");
        assert_eq!(listed.code(), "noKey", "{wire:?}: the list of models requires a key: {listed}");
    }
}

#[tokio::test]
async fn api_key_is_in_no_response_and_no_error() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let provider = fake.client(wire);
        let (received, error) = collect_response(&provider, text_request(wire, "say the error with the key")).await;
        let error = error.expect_err("an error");
        for shown in [error.to_string(), format!("{error:?}"), format!("{received:?}")] {
            assert!(!shown.contains(TEST_API_KEY), "{wire:?}: a key that the provider repeats is not shown: {shown}");
        }
        assert!(error.to_string().contains("[key]"), "{wire:?}: the redaction is marked: {error}");
    }
}

#[tokio::test]
async fn api_key_in_response_metadata_is_redacted() {
    let event = json!({
        "model": format!("model of {TEST_API_KEY}"),
        "choices": [{ "delta": { "content": "Hi" }, "finish_reason": format!("{TEST_API_KEY}: enough") }],
    });
    let url = serve_response_pieces(vec![format!("data: {event}\n\n").into_bytes()], AfterResponsePieces::Close).await;
    let provider = provider_client(ProviderKind::OpenAi, &url, Some(TEST_API_KEY), ConversionChoices::default());
    let answer = receive_reply(&provider, text_request(ProviderKind::OpenAi, "x")).await;
    assert_eq!(answer.model, "model of [key]", "the key should be redacted in the name of the model");
    assert_eq!(answer.stop, StopReason::Other("[key]: enough".into()), "the key should be redacted in the stop reason");
}

#[tokio::test]
async fn api_key_at_the_end_of_a_truncated_message_is_redacted() {
    for shown in 0..=TEST_API_KEY.len() {
        // Error messages of a provider are truncated to 500 characters.
        let text = format!("{}{TEST_API_KEY} and more", "x".repeat(MAX_PROVIDER_MESSAGE_CHARS - shown));
        let event = json!({ "error": { "message": text } }).to_string();
        let served = start_scripted_server(move |_| (Duration::ZERO, http_response(500, &event))).await;
        let whole =
            provider_client(ProviderKind::OpenAi, &served.url(), Some(TEST_API_KEY), ConversionChoices::default());
        let event = json!({ "error": { "message": text } });
        let url =
            serve_response_pieces(vec![format!("data: {event}\n\n").into_bytes()], AfterResponsePieces::Close).await;
        let streamed = provider_client(ProviderKind::OpenAi, &url, Some(TEST_API_KEY), ConversionChoices::default());
        for provider in [whole, streamed] {
            let (_, error) = collect_response(&provider, text_request(ProviderKind::OpenAi, "x")).await;
            let ModelError::Provider { message, .. } = error.expect_err("an error") else {
                panic!("the error should contain the provider's message")
            };
            assert!(
                !message.contains(&TEST_API_KEY[..4]),
                "no part of the key should remain if {shown} characters of it are not truncated: {message}"
            );
        }
    }
}

/// Logger that records the messages of all libraries, down to the most detailed level.
#[derive(Clone, Default)]
struct RecordingLog(Arc<Mutex<Vec<u8>>>);

impl RecordingLog {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for RecordingLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl log::Log for RecordingLog {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let _ = writeln!(self.clone(), "{} {}", record.target(), record.args());
    }

    fn flush(&self) {}
}

#[tokio::test]
async fn api_key_is_in_no_log() {
    let written = RecordingLog::default();
    log::set_logger(Box::leak(Box::new(written.clone()))).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let own = written.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
    let _guard = tracing_subscriber::util::SubscriberInitExt::set_default(subscriber.with_writer(move || own.clone()));
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let provider = fake.client(wire);
        receive_reply(&provider, text_request(wire, "say hello")).await;
        let (_, error) = collect_response(&provider, text_request(wire, "say the error with the key")).await;
        error.expect_err("an error");
        let wrong = fake.client_with(wire, Some(&TEST_API_KEY.to_uppercase()), ConversionChoices::default());
        let (_, error) = collect_response(&wrong, text_request(wire, "say hello")).await;
        error.expect_err("an error");
        let _ = provider.models().await;
    }
    let text = written.text();
    assert!(text.contains("connect"), "the log contains messages of the libraries: {text}");
    assert!(!text.to_lowercase().contains(TEST_API_KEY), "the log does not contain the key: {text}");
}

#[tokio::test]
async fn api_key_that_no_header_can_contain_is_reported() {
    let fake = FakeProvider::start();
    for wire in ProviderKind::ALL {
        let broken = fake.client_with(wire, Some("sk-with\nnewline"), ConversionChoices::default());
        let (_, error) = collect_response(&broken, text_request(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "wrongKey", "{wire:?}: the key should be reported as wrong: {error}");
        assert!(!error.to_string().contains("newline"), "{wire:?}: the key is not shown: {error}");
    }
}
