//! Tests of providers that misbehave: endless, silent, truncated, and hostile responses.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use models::{ConversionChoices, ModelError, Provider as _, ProviderKind, ReplyDelta};

use crate::fake::{collect_response, provider_client, text_request};
use crate::scripted::{AfterResponsePieces, serve_partial_response, serve_response_pieces};

fn provider_at(kind: ProviderKind, url: &str) -> models::HttpProvider {
    provider_client(kind, url, None, ConversionChoices::default())
}

/// Measures the time since its creation: the processor time of this process if the system reports it, so that other
/// processes have no influence, and otherwise the wall time.
struct ProcessorStopwatch {
    begun: Instant,
    processor: Option<f64>,
}

impl ProcessorStopwatch {
    fn start() -> Self {
        Self { begun: Instant::now(), processor: processor_seconds() }
    }

    fn seconds(&self) -> f64 {
        match (self.processor, processor_seconds()) {
            (Some(before), Some(now)) => now - before,
            _ => self.begun.elapsed().as_secs_f64(),
        }
    }
}

/// Returns the processor time of this process so far in seconds, or `None` if the system does not report it.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The fields follow the program's name in parentheses. Times are in units of 10 ms.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some(fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0)
}

#[test]
fn processor_time_is_measured() {
    let (begun, stopwatch) = (Instant::now(), ProcessorStopwatch::start());
    let until = begun + Duration::from_millis(300);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    let seconds = stopwatch.seconds();
    // Other tests of this process run at the same time, each on one processor, and the system counts in units of 10 ms.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = begun.elapsed().as_secs_f64() * processors as f64 + 0.05;
    assert!((0.01..=most).contains(&seconds), "the loop of 0.3 s should be measured: {seconds} s, at most {most} s");
}

/// Returns a line of an OpenAI event stream that contains this JSON delta.
fn openai_delta_event(delta: &str) -> Vec<u8> {
    format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n").into_bytes()
}

#[tokio::test]
async fn endless_response_is_truncated_with_an_error() {
    let text = openai_delta_event(&format!("{{\"content\":\"{}\"}}", "x".repeat(60_000)));
    let url = serve_response_pieces(Vec::new(), AfterResponsePieces::Repeat(text)).await;
    let (_, error) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    assert_eq!(error, Err(ModelError::TooLarge { limit: 16 << 20 }), "endless text should be rejected");
    let url = serve_response_pieces(vec![b"data: ".to_vec()], AfterResponsePieces::Repeat(vec![b'x'; 64 << 10])).await;
    let stopwatch = ProcessorStopwatch::start();
    let (_, error) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    assert_eq!(error, Err(ModelError::TooLarge { limit: 16 << 20 }), "an endless line should be rejected");
    let seconds = stopwatch.seconds();
    assert!(seconds < 10.0, "the time should be linear in the length: {seconds} s");
}

#[tokio::test]
async fn large_tool_index_allocates_no_memory() {
    let call =
        "{\"tool_calls\":[{\"index\":4000000000,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}";
    let url =
        serve_response_pieces(vec![openai_delta_event(call), b"data: [DONE]\n\n".to_vec()], AfterResponsePieces::Close)
            .await;
    let (_, reply) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    let reply = reply.expect("a reply");
    assert_eq!(reply.message.tool_uses().count(), 1, "the delta should create one tool use, regardless of its index");
}

#[tokio::test]
async fn arguments_in_many_pieces_take_linear_time() {
    let mut pieces = vec![openai_delta_event(
        "{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"t\\\":\\\"\"}}]}",
    )];
    let more = openai_delta_event(
        "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"0123456789012345678901234567890123456789\"}}]}",
    )
    .repeat(1_000);
    pieces.extend(std::iter::repeat_n(more, 25));
    pieces.push(openai_delta_event("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"}\"}}]}"));
    pieces.push(b"data: [DONE]\n\n".to_vec());
    let url = serve_response_pieces(pieces, AfterResponsePieces::Close).await;
    let stopwatch = ProcessorStopwatch::start();
    let (_, reply) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    let seconds = stopwatch.seconds();
    let reply = reply.expect("a reply");
    let length = reply.message.tool_uses().next().unwrap().2["t"].as_str().unwrap().len();
    assert_eq!(length, 1_000_000, "the arguments should be complete");
    assert!(seconds < 20.0, "the time should be linear in the number of pieces: {seconds} s");
}

#[tokio::test]
async fn silent_provider_times_out() {
    let url =
        serve_response_pieces(vec![openai_delta_event("{\"content\":\"Well\"}")], AfterResponsePieces::Wait).await;
    let (received, error) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    assert_eq!(received, [ReplyDelta::Text("Well".into())], "the received part is returned");
    assert_eq!(error, Err(ModelError::Silent { after: Duration::from_secs(5) }), "the timeout of the settings is used");
}

#[tokio::test]
async fn provider_that_sends_comments_times_out_later() {
    let waits = b": OPENROUTER PROCESSING\n\n".to_vec();
    let last = [openai_delta_event("{\"content\":\"Well\"}"), b"data: [DONE]\n\n".to_vec()].concat();
    let url = serve_response_pieces(Vec::new(), AfterResponsePieces::Drip(waits.clone(), 7, last)).await;
    let (_, reply) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    let text = reply.expect("a reply").message.plain_text();
    assert_eq!(text, "Well", "a reply may take longer than the timeout if text arrives each second");
    let idle = [waits, b"data: {}\n\n".to_vec()].map(async |idle| {
        let url = serve_response_pieces(Vec::new(), AfterResponsePieces::Drip(idle, 60, Vec::new())).await;
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await.1
    });
    for error in futures_util::future::join_all(idle).await {
        let expected = Err(ModelError::Silent { after: Duration::from_secs(25) });
        assert_eq!(error, expected, "the total time is at most five timeouts");
    }
}

#[tokio::test]
async fn endless_empty_events_are_an_error() {
    for idle in [": x\n\n", "data: {}\n\n", "\n"] {
        let url = serve_response_pieces(Vec::new(), AfterResponsePieces::Repeat(idle.repeat(1_000).into_bytes())).await;
        let (_, error) =
            collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "unreadable", "{idle:?} should be reported as unreadable: {error}");
    }
}

#[tokio::test]
async fn stored_parts_of_a_response_share_one_bound() {
    let pieces = (0..3).map(|index| {
        let text = "x".repeat(7 << 20);
        openai_delta_event(&format!(
            "{{\"reasoning_details\":[{{\"type\":\"reasoning.text\",\"index\":{index},\"text\":\"{text}\"}}]}}"
        ))
    });
    let url = serve_response_pieces(pieces.collect(), AfterResponsePieces::Wait).await;
    let (_, error) =
        collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
    assert_eq!(error, Err(ModelError::TooLarge { limit: 16 << 20 }), "thinking details count toward the limit");
}

#[tokio::test]
async fn invalid_response_bytes_are_an_error() {
    let cases: [(&str, &[u8], &str); 4] = [
        ("an HTML page", b"<html>\n\n", "cut"),
        ("no JSON", b"data: {oops\n\n", "unreadable"),
        ("no UTF-8", b"data: \xff\xfe\n\n", "unreadable"),
        (
            "an error in the stream",
            b"data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n",
            "overloaded",
        ),
    ];
    for (name, bytes, code) in cases {
        let url = serve_response_pieces(vec![bytes.to_vec()], AfterResponsePieces::Close).await;
        let (_, error) =
            collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), code, "{name} should be reported with this code: {error}");
        assert!(!error.to_string().contains("oops"), "{name}: the error does not repeat the response: {error}");
    }
}

#[tokio::test]
async fn text_split_at_any_byte_is_complete() {
    let bytes = [openai_delta_event("{\"content\":\"Grüße 👋\"}"), b"data: [DONE]\r\n\r\n".to_vec()].concat();
    for at_byte in 0..bytes.len() {
        let (first, rest) = bytes.split_at(at_byte);
        let url = serve_response_pieces(vec![first.to_vec(), rest.to_vec()], AfterResponsePieces::Close).await;
        let (_, reply) =
            collect_response(&provider_at(ProviderKind::OpenAi, &url), text_request(ProviderKind::OpenAi, "x")).await;
        let text = reply.expect("a reply").message.plain_text();
        assert_eq!(text, "Grüße 👋", "the split before byte {at_byte} has no influence");
    }
}

#[tokio::test]
async fn dropped_reply_ends_the_request() {
    let (url, closed) = serve_partial_response(openai_delta_event("{\"content\":\"Well\"}")).await;
    let mut deltas = provider_at(ProviderKind::OpenAi, &url)
        .stream(text_request(ProviderKind::OpenAi, "x"))
        .await
        .expect("a response");
    let first = deltas.next().await;
    assert_eq!(first, Some(Ok(ReplyDelta::Text("Well".into()))), "the response begins");
    assert!(!closed.is_finished(), "the connection should stay open while the response is read");
    drop(deltas);
    let closed = tokio::time::timeout(Duration::from_secs(5), closed).await;
    assert!(closed.is_ok(), "the provider detects the closed connection");
}

#[tokio::test]
async fn redirect_of_a_provider_is_not_followed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4_096];
        let _ = socket.read(&mut request).await;
        let _ = socket.write_all(b"HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n").await;
    });
    let (_, error) =
        collect_response(&provider_at(ProviderKind::Anthropic, &url), text_request(ProviderKind::Anthropic, "x")).await;
    let error = error.expect_err("an error").to_string();
    assert!(error.contains("sends elsewhere"), "a redirect is not followed, because it would receive the key: {error}");
}
