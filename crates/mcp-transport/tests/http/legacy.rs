//! Tests of HTTP+SSE of 2024-11-05.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{CloseReason, SessionConfig};
use mcp_transport::driver::DetectedTransport;
use mcp_transport::http::{HttpLimits, HttpTarget, TransportChoice};
use serde_json::{Value, json};
use testkit::http::ordinary;
use testkit::time::advance_time;
use tokio::sync::{Mutex, Notify, mpsc};

use crate::support::*;

const HTTP_SSE_REVISION: &str = "2024-11-05";

/// Returns the script of an HTTP+SSE server: GET `/sse` opens the stream, `/messages?s=1` accepts messages, and the
/// closure `other` handles all other requests, such as POSTs to `/sse`.
pub fn http_sse_script<F, A>(
    other: F,
) -> impl Fn(HttpRequest, HttpResponder) -> std::pin::Pin<Box<dyn Future<Output = io::Result<()>> + Send>>
where
    F: Fn(HttpRequest, HttpResponder) -> A + Send + Sync + 'static,
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    let stream: Arc<Mutex<Option<mpsc::Sender<Value>>>> = Arc::default();
    let other = Arc::new(other);
    move |request, mut answer| {
        let (stream, other) = (Arc::clone(&stream), Arc::clone(&other));
        Box::pin(async move {
            match (request.method.as_str(), request.path.as_str()) {
                ("GET", "/sse") => {
                    let (sender, mut messages) = mpsc::channel::<Value>(16);
                    *stream.lock().await = Some(sender);
                    answer.event_stream().await?;
                    answer.write_raw(b"event: endpoint\ndata: /messages?s=1\n\n").await?;
                    while let Some(message) = messages.recv().await {
                        if message == "end" {
                            return Ok(());
                        }
                        answer.write_raw(format!("event: message\ndata: {message}\n\n").as_bytes()).await?;
                    }
                    Ok(())
                }
                ("POST", "/messages?s=1") => {
                    let body = request.json();
                    let stream = stream.lock().await.clone();
                    let say = async |message: Value| {
                        if let Some(stream) = &stream {
                            let _ = stream.send(message).await;
                        }
                    };
                    if body["params"]["name"] == "end" {
                        say(json!("end")).await;
                    } else if body["params"]["name"] == "hold" || body["params"]["name"] == "cut" {
                        // sleep: simulates a slow server.
                        tokio::time::sleep(Duration::from_millis(600)).await;
                        if body["params"]["name"] == "cut" {
                            answer.status(504).await?;
                            // sleep: simulates a slow server.
                            tokio::time::sleep(Duration::from_millis(300)).await;
                        }
                        say(ordinary::response_message(HTTP_SSE_REVISION, &body)).await;
                        return answer.hang_until_closed().await;
                    } else if body["params"]["name"] == "refuse" {
                        return answer.respond(500, "content-type: text/plain\r\n", b"out of order").await;
                    } else if body.get("method").is_some() && body.get("id").is_some() {
                        say(ordinary::response_message(HTTP_SSE_REVISION, &body)).await;
                    }
                    answer.respond(202, "content-type: text/plain\r\n", b"Accepted").await
                }
                _ => other(request, answer).await,
            }
        })
    }
}

async fn start_http_sse_server() -> HttpServer {
    HttpServer::start(http_sse_script(|_request, mut answer| async move { answer.status(404).await })).await
}

fn start_http_sse_client(server: &HttpServer) -> TestClient {
    let target = HttpTarget { transport: TransportChoice::Sse, ..http_target(&server.url("/sse")) };
    start_client_with(SessionConfig::default(), target, test_limits())
}

#[tokio::test]
async fn messages_are_posted_to_the_endpoint_and_answered_on_the_stream() {
    let server = start_http_sse_server().await;
    let mut client = start_http_sse_client(&server);
    client.wait_until_ready().await;
    assert_eq!(client.echo("old").await, "old", "[sse-message-events] the response must be read from the stream");
    assert_eq!(client.detected_transport().0, DetectedTransport::HttpSse, "the transport must be reported");
    let requests = server.received_requests();
    assert_eq!(requests[0].method, "GET", "[sse-open-stream] the stream must be opened first");
    assert_eq!(requests[0].header("accept"), Some("text/event-stream"), "the request must accept events");
    assert_eq!(
        requests[1].rpc_method(),
        "initialize",
        "[sse-wait-endpoint-event] initialize must follow, without a probe"
    );
    for request in &requests[1..] {
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/messages?s=1"),
            "[sse-post-to-endpoint] all messages must be posted to the endpoint"
        );
        assert!(request.json().is_object(), "each POST must contain one message");
        assert_eq!(request.header("mcp-session-id"), None, "the session must be identified by the URL");
    }
    assert_eq!(requests.iter().filter(|request| request.method == "GET").count(), 1, "one stream must be opened");
    client.stop().await;
}

#[tokio::test]
async fn nothing_is_posted_before_the_endpoint_event() {
    let go_on = Arc::new(Notify::new());
    let notified = Arc::clone(&go_on);
    let server = HttpServer::start(move |request, mut answer| {
        let notified = Arc::clone(&notified);
        async move {
            if request.method == "GET" {
                answer.event_stream().await?;
                notified.notified().await;
                answer.write_raw(b"event: endpoint\ndata: /messages\n\n").await?;
                return answer.hang_until_closed().await;
            }
            answer.status(202).await
        }
    })
    .await;
    let mut client = start_http_sse_client(&server);
    assert!(
        poll_until(WAIT_TIMEOUT, || requests_with_method(&server, "GET").len() == 1).await,
        "the stream must be opened"
    );
    advance_time(Duration::from_millis(500)).await;
    assert_eq!(
        requests_with_method(&server, "POST").len(),
        0,
        "[sse-wait-endpoint-event] no message must be posted before the endpoint event"
    );
    go_on.notify_one();
    let posted = poll_until(WAIT_TIMEOUT, || server.count("initialize") == 1).await;
    assert!(posted, "[sse-wait-endpoint-event] initialize must be posted afterwards");
    client.stop().await;
}

#[tokio::test]
async fn stopping_the_driver_closes_the_http_sse_stream() {
    let (closed, mut was_closed) = tokio::sync::watch::channel(false);
    let closed = Arc::new(closed);
    let server = HttpServer::start(move |request, mut answer| {
        let closed = closed.clone();
        async move {
            if request.method != "GET" {
                return answer.status(202).await;
            }
            answer.event_stream().await?;
            answer.write_raw(b"event: endpoint\ndata: /messages\n\n").await?;
            let is_closed = answer.hang_until_closed().await;
            let _ = closed.send(true);
            is_closed
        }
    })
    .await;
    let mut client = start_http_sse_client(&server);
    assert!(poll_until(WAIT_TIMEOUT, || server.count("initialize") == 1).await, "the session must open");
    client.stop().await;
    within(WAIT_TIMEOUT, "[sse-close-to-shutdown] the stream is closed", was_closed.wait_for(|closed| *closed))
        .await
        .unwrap();
}

#[tokio::test]
async fn end_of_the_stream_ends_the_session() {
    let server = start_http_sse_server().await;
    let mut client = start_http_sse_client(&server);
    client.wait_until_ready().await;
    let call = client.start_call(tool_call("end", json!({}))).await;
    let result = client.wait_for_result(call).await;
    assert!(result.is_err(), "the call must end with the session: {result:?}");
    let reason = client.wait_until_closed().await;
    let CloseReason::ConnectionLost(cause) = &reason else { panic!("unexpected reason {reason:?}") };
    assert!(cause.contains("ended the stream"), "the cause must be reported: {cause}");
    client.wait_until_driver_ends().await;
}

#[tokio::test]
async fn refused_post_fails_one_call() {
    let server = start_http_sse_server().await;
    let mut client = start_http_sse_client(&server);
    client.wait_until_ready().await;
    let result = client.call(tool_call("refuse", json!({}))).await;
    let cause = undelivered_cause(&result);
    assert!(cause.contains("500") && cause.contains("out of order"), "the cause must be reported: {cause}");
    assert_eq!(client.echo("still").await, "still", "the session must continue");
    client.stop().await;
}

#[tokio::test]
async fn pending_post_does_not_end_its_call() {
    let server = start_http_sse_server().await;
    let target = HttpTarget { transport: TransportChoice::Sse, ..http_target(&server.url("/sse")) };
    // Both POSTs would be occupied if the delayed ones were retained for too long.
    let limits = HttpLimits { accept: Duration::from_millis(150), posts: 2, ..test_limits() };
    let mut client = start_client_with(SessionConfig::default(), target, limits);
    client.wait_until_ready().await;
    for _ in 0..3 {
        let result = client.call(tool_call("hold", json!({ "text": "x" }))).await;
        assert!(result.is_ok(), "the response must be read from the stream while the POST is pending: {result:?}");
    }
    let result = client.call(tool_call("cut", json!({ "text": "x" }))).await;
    assert!(result.is_ok(), "a gateway that ends the POST must not end the call: {result:?}");
    client.wait_for_note("its answer is still waited for").await;
    assert_eq!(client.echo("still").await, "still", "the session must continue");
    client.stop().await;
}

#[tokio::test]
async fn cross_origin_endpoint_is_rejected() {
    let elsewhere = HttpServer::start(|_request, mut answer| async move { answer.status(202).await }).await;
    for endpoint in [elsewhere.url("/messages"), format!("//{}/messages", elsewhere.address), "https:///x".to_owned()] {
        let event = format!("event: endpoint\ndata: {endpoint}\n\n");
        let server = HttpServer::start(move |_request, mut answer| {
            let event = event.clone();
            async move {
                answer.event_stream().await?;
                answer.write_raw(event.as_bytes()).await?;
                answer.hang_until_closed().await
            }
        })
        .await;
        let mut client = start_http_sse_client(&server);
        let (cause, _) = client.wait_for_handshake_failure().await;
        assert!(cause.contains("endpoint event names"), "{endpoint}: the cause must be reported: {cause}");
        client.wait_until_driver_ends().await;
    }
    assert!(elsewhere.received_requests().is_empty(), "X49: no request must be sent to the other origin");
}

#[tokio::test]
async fn stream_without_a_leading_endpoint_event_is_rejected() {
    let server = HttpServer::start(|_request, mut answer| async move {
        answer.event_stream().await?;
        answer.write_raw(b"data: hello\n\n").await?;
        answer.hang_until_closed().await
    })
    .await;
    let mut client = start_http_sse_client(&server);
    let (cause, _) = client.wait_for_handshake_failure().await;
    assert!(cause.contains("not `endpoint`"), "[sse-fallback-endpoint-first] the first event must decide: {cause}");
    client.wait_until_driver_ends().await;
}
