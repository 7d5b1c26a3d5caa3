//! Tests of POST streams that end before the response.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_proto::{CallError, ClientRequest, ServerResult};
use testkit::http::ordinary;

use crate::support::*;

#[tokio::test]
async fn post_stream_is_resumed_by_get() {
    for revision in LEGACY_REVISIONS {
        let call = Arc::new(std::sync::Mutex::new(None));
        let server = HttpServer::start(move |request, mut answer| {
            let call = Arc::clone(&call);
            async move {
                if request.method == "GET" {
                    let Some(last) = request.header("last-event-id") else { return answer.status(405).await };
                    answer.event_stream().await?;
                    // The first resumption yields no message, as with a server that uses polling.
                    if last == "call-1" {
                        return answer.write_raw(b"id: call-2\nretry: 100\ndata: \n\n").await;
                    }
                    let call: HttpRequest = call.lock().unwrap().clone().unwrap();
                    return respond_with_sse_event(revision, &call, &mut answer).await;
                }
                if request.rpc_method() == "tools/call" {
                    *call.lock().unwrap() = Some(request.clone());
                    answer.event_stream().await?;
                    return answer.write_raw(b"id: call-1\nretry: 600\ndata: \n\n").await;
                }
                respond_in_session(revision, &request, answer).await
            }
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        client.wait_for_note("no GET stream").await;
        let start = Instant::now();
        // [http-sse-poll-reconnect] [http-sse-priming-event]
        assert_eq!(
            client.echo("resumed").await,
            "resumed",
            "{revision}: [http-get-response-on-resume] the response must be read from the GET stream"
        );
        let waited = start.elapsed();
        assert!(
            waited >= Duration::from_millis(600),
            "{revision}: [http-sse-retry-field] the delay must be 600 ms, not {waited:?}"
        );
        let resumed: Vec<_> = requests_with_method(&server, "GET")
            .into_iter()
            .filter_map(|request| request.header("last-event-id").map(str::to_owned))
            .collect();
        assert_eq!(
            resumed,
            ["call-1", "call-2"],
            "{revision}: [http-sse-resume-last-event-id] [http-sse-resume-always-get] [http-sse-poll-reconnect]"
        );
        assert_eq!(server.count("tools/call"), 1, "{revision}: the call must not be repeated");
        assert_eq!(server.count("notifications/cancelled"), 0, "{revision}: [http-disconnect-not-cancel]");
        client.stop().await;
    }
}

#[tokio::test]
async fn stream_without_event_ids_is_not_resumed() {
    let server = HttpServer::start(move |request, mut answer| async move {
        if request.rpc_method() == "tools/call" {
            answer.event_stream().await?;
            return answer.event(&progress_notification(&request, 1)).await;
        }
        respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let result = client.call(echo_call("x")).await;
    let cause = undelivered_cause(&result);
    assert!(cause.contains("cannot be resumed"), "the cause must be reported: {cause}");
    assert!(
        matches!(result, Err(CallError::Undelivered { sent: true, .. })),
        "the request must count as sent: {result:?}"
    );
    assert_eq!(server.count("tools/call"), 1, "a call that may have been executed must not be repeated");
    assert_eq!(
        server.count("notifications/cancelled"),
        0,
        "[http-disconnect-not-cancel] the call must not be cancelled"
    );
    client.stop().await;
}

#[tokio::test]
async fn refused_resumption_fails_the_call() {
    for status in [405, 400, 404] {
        let server = HttpServer::start(move |request, mut answer| async move {
            if request.method == "GET" {
                return answer.status(status).await;
            }
            if request.rpc_method() == "tools/call" {
                answer.event_stream().await?;
                return answer.write_raw(b"id: 1\nretry: 100\ndata: \n\n").await;
            }
            respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        let result = client.call(echo_call("x")).await;
        let cause = undelivered_cause(&result);
        assert!(cause.contains("resuming it was refused"), "{status}: the cause must be reported: {cause}");
        assert_eq!(server.count("initialize"), 1, "{status}: the session must continue");
        client.stop().await;
    }
}

#[tokio::test]
async fn temporarily_unavailable_server_is_retried() {
    let down = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&down);
    let call = Arc::new(std::sync::Mutex::new(None));
    let server = HttpServer::start(move |request, mut answer| {
        let (down, call) = (Arc::clone(&count), Arc::clone(&call));
        async move {
            if request.method == "GET" {
                if request.header("last-event-id").is_none() {
                    return answer.status(405).await;
                }
                match down.fetch_add(1, Ordering::SeqCst) {
                    0 => return Ok(()),
                    1 => return answer.status(503).await,
                    2 => return answer.status(429).await,
                    _ => {}
                }
                answer.event_stream().await?;
                let call: HttpRequest = call.lock().unwrap().clone().unwrap();
                return respond_with_sse_event(NEWEST_LEGACY_REVISION, &call, &mut answer).await;
            }
            if request.rpc_method() == "tools/call" {
                *call.lock().unwrap() = Some(request.clone());
                answer.event_stream().await?;
                return answer.write_raw(b"id: 1\nretry: 100\ndata: \n\n").await;
            }
            respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    assert_eq!(
        client.echo("patient").await,
        "patient",
        "a broken connection, a 503 and a 429 must each cause another attempt"
    );
    assert_eq!(down.load(Ordering::SeqCst), 4, "there must be one GET for each attempt");
    client.stop().await;
}

#[tokio::test]
async fn lost_stream_of_2026_07_28_repeats_safe_requests_only() {
    let lost = Arc::new(AtomicBool::new(false));
    let server = HttpServer::start(move |request, mut answer| {
        let lost = Arc::clone(&lost);
        async move {
            match request.rpc_method().as_str() {
                "tools/list" if !lost.swap(true, Ordering::SeqCst) => {
                    answer.event_stream().await?;
                    answer.write_raw(b"id: 1\nretry: 100\ndata: \n\n").await
                }
                "tools/call" => {
                    answer.event_stream().await?;
                    answer.write_raw(b"id: 2\nretry: 100\ndata: \n\n").await
                }
                _ => ordinary::respond(MODERN_REVISION, &request, answer).await,
            }
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let listed = client.call(ClientRequest::ListTools { cursor: None }).await;
    assert!(matches!(listed, Ok(ServerResult::Tools { .. })), "a safe request must be repeated: {listed:?}");
    let ids: Vec<_> = server
        .received_requests()
        .iter()
        .filter(|request| request.rpc_method() == "tools/list")
        .map(|request| request.json()["id"].clone())
        .collect();
    assert_eq!(ids.len(), 2, "[http-lost-stream-new-request] there must be a new request");
    assert_ne!(ids[0], ids[1], "[http-lost-stream-new-request] the new request must have a new id");
    let called = client.call(echo_call("x")).await;
    assert!(
        undelivered_cause(&called).contains("before the answer"),
        "an unsafe request must fail with the cause: {called:?}"
    );
    assert_eq!(server.count("tools/call"), 1, "an unsafe request must not be repeated");
    assert!(
        requests_with_method(&server, "GET").is_empty(),
        "[http-no-resume-modern] [http-no-get-modern] the stream must not be resumed"
    );
    let resumes = server.received_requests().iter().any(|request| request.header("last-event-id").is_some());
    assert!(!resumes, "[http-no-resume-modern] no Last-Event-ID must be sent");
    client.stop().await;
}
