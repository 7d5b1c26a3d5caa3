//! Tests of the GET stream of Streamable HTTP, which carries messages that belong to no request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_proto::{ListKind, SessionEvent};
use mcp_transport::driver::DriverEvent;
use serde_json::json;
use testkit::time::advance_time;
use tokio::sync::Notify;

use crate::support::*;

fn list_changed_notification() -> serde_json::Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
}

impl TestClient {
    async fn wait_until_list_changed(&mut self) {
        self.wait_for_event("the change of the list is reported", |event| {
            matches!(event, DriverEvent::Session(SessionEvent::ListChanged(ListKind::Tools))).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn unsolicited_messages_arrive_on_the_get_stream() {
    for revision in LEGACY_REVISIONS {
        let server = HttpServer::start(move |request, mut answer| async move {
            match request.method.as_str() {
                "GET" => {
                    answer.event_stream().await?;
                    answer.event(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" })).await?;
                    answer.event(&list_changed_notification()).await?;
                    answer.hang_until_closed().await
                }
                _ => respond_in_session(revision, &request, answer).await,
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        client.wait_until_list_changed().await;
        let get = requests_with_method(&server, "GET").pop().expect("[http-get-listen] a GET stream is opened");
        assert_eq!(get.header("accept"), Some("text/event-stream"), "{revision}: [http-get-accept]");
        assert_eq!(get.header("mcp-session-id"), Some(SESSION_ID), "{revision}: [http-session-header] on GET");
        assert_eq!(get.header("mcp-protocol-version"), Some(revision), "{revision}: [http-version-header] on GET");
        assert_eq!(get.header("last-event-id"), None, "{revision}: a new stream must have no Last-Event-ID");
        let answered =
            || server.received_requests().iter().any(|request| request.method == "POST" && request.json()["id"] == "p");
        assert!(
            poll_until(WAIT_TIMEOUT, answered).await,
            "{revision}: [http-server-request-answer-post] a request on the GET stream must be answered by a POST"
        );
        assert_eq!(client.echo("beside").await, "beside", "{revision}: [http-multi-sse] calls must work in parallel");
        client.stop().await;
    }
}

#[tokio::test]
async fn get_stream_is_optional() {
    for (status, note) in
        [(405, "offers no GET stream"), (404, "there is no GET stream"), (400, "there is no GET stream")]
    {
        let server = HttpServer::start(move |request, mut answer| async move {
            match request.method.as_str() {
                "GET" => answer.status(status).await,
                _ => respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await,
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        client.wait_for_note(note).await;
        assert_eq!(client.echo("posted").await, "posted", "[http-get-405] {status} to GET: POSTs must still work");
        advance_time(Duration::from_secs(5)).await;
        assert_eq!(
            requests_with_method(&server, "GET").len(),
            1,
            "[http-get-405] {status}: the GET must be sent only once"
        );
        assert_eq!(server.count("initialize"), 1, "{status} to the first GET must not end the session");
        client.stop().await;
    }
}

#[tokio::test]
async fn lost_get_stream_is_resumed_after_the_retry_delay() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |request, mut answer| {
        let count = Arc::clone(&count);
        async move {
            if request.method != "GET" {
                return respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await;
            }
            answer.event_stream().await?;
            match count.fetch_add(1, Ordering::SeqCst) {
                0 => answer.write_raw(b"retry: 400\nid: e1\ndata: \n\n").await,
                _ => {
                    answer.event(&list_changed_notification()).await?;
                    answer.hang_until_closed().await
                }
            }
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let lost = client.wait_for_note("the server ended the stream; again in").await;
    assert!(lost.contains("0.4 s"), "[http-sse-retry-field] the server's pause must be reported: {lost}");
    let start = Instant::now();
    client.wait_until_list_changed().await;
    let waited = start.elapsed();
    assert!(waited > Duration::from_millis(300), "[http-sse-retry-field] the pause must be awaited, not {waited:?}");
    let again = requests_with_method(&server, "GET").pop().expect("there were two GETs");
    assert_eq!(
        again.header("last-event-id"),
        Some("e1"),
        "[http-sse-resume-last-event-id] [http-sse-priming-event] the last ID must be sent"
    );
    client.stop().await;
}

#[tokio::test]
async fn missing_get_stream_of_a_session_reopens_the_session() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |request, mut answer| {
        let count = Arc::clone(&count);
        async move {
            if request.method != "GET" {
                return respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await;
            }
            match count.fetch_add(1, Ordering::SeqCst) {
                0 => {
                    answer.event_stream().await?;
                    answer.write_raw(b"retry: 100\n\n").await
                }
                1 => answer.status(404).await,
                _ => answer.status(405).await,
            }
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    client
        .wait_for_event("the session is opened anew", |event| {
            matches!(event, DriverEvent::Session(SessionEvent::Reopened(_))).then_some(())
        })
        .await;
    assert_eq!(server.count("initialize"), 2, "[http-session-404-reinit] initialize must be sent again");
    client.stop().await;
}

#[tokio::test]
async fn nothing_is_posted_before_initialized_is_accepted() {
    let go_on = Arc::new(Notify::new());
    let notified = Arc::clone(&go_on);
    let server = HttpServer::start(move |request, mut answer| {
        let notified = Arc::clone(&notified);
        async move {
            if request.rpc_method() == "notifications/initialized" {
                notified.notified().await;
                return answer.respond(202, "x-taken: yes\r\n", b"").await;
            }
            respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let call = client.start_call(echo_call("waits")).await;
    assert!(
        poll_until(WAIT_TIMEOUT, || server.count("notifications/initialized") == 1).await,
        "the server must be notified"
    );
    advance_time(Duration::from_millis(500)).await;
    assert_eq!(server.count("tools/call"), 0, "the call must not be sent before `initialized` is accepted");
    go_on.notify_one();
    assert_eq!(result_text(&client.wait_for_result(call).await), "waits", "the call must be sent after `initialized`");
    client.stop().await;
}

#[tokio::test]
async fn response_on_the_get_stream_is_accepted() {
    let (request_sender, sent_request) = tokio::sync::watch::channel(None);
    let request_sender = Arc::new(request_sender);
    let (closed, mut was_closed) = tokio::sync::watch::channel(false);
    let closed = Arc::new(closed);
    let server = HttpServer::start(move |request, mut answer| {
        let (request_sender, mut sent_request, closed) = (request_sender.clone(), sent_request.clone(), closed.clone());
        async move {
            match (request.method.as_str(), request.rpc_method().as_str()) {
                ("GET", _) => {
                    answer.event_stream().await?;
                    let call = sent_request.wait_for(Option::is_some).await.unwrap().clone().unwrap();
                    respond_with_sse_event(NEWEST_LEGACY_REVISION, &call, &mut answer).await?;
                    answer.hang_until_closed().await
                }
                (_, "tools/call") => {
                    let _ = request_sender.send(Some(request));
                    answer.event_stream().await?;
                    answer.hang_until_closed().await?;
                    let _ = closed.send(true);
                    Ok(())
                }
                _ => respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await,
            }
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    client.wait_for_note("the GET stream is open").await;
    assert_eq!(
        client.echo("elsewhere").await,
        "elsewhere",
        "[http-get-response-on-resume] the response must be accepted"
    );
    within(WAIT_TIMEOUT, "the useless stream is closed", was_closed.wait_for(|closed| *closed)).await.unwrap();
    client.stop().await;
}
