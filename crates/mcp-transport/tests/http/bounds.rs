//! Tests of the limits on the size and duration of HTTP responses (hostile cases X37 and X52).

use std::time::Duration;

use mcp_proto::{CallError, ClientRequest};
use mcp_transport::http::HttpLimits;
use serde_json::json;
use testkit::http::ordinary;
use testkit::time::{advance_time, measure_timer_wait};

use crate::support::*;

const TEST_MESSAGE_LIMIT_BYTES: usize = 64 * 1024;

/// Starts a server that passes calls of the tool `bad` to the closure `bad`, and a client with small limits.
async fn start_client_with_bad_call_response<F, A>(revision: &'static str, bad: F) -> (HttpServer, TestClient)
where
    F: Fn(HttpRequest, HttpResponder) -> A + Send + Sync + Clone + 'static,
    A: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let server = HttpServer::start(move |request, answer| {
        let bad = bad.clone();
        async move {
            match request.rpc_method().as_str() {
                "tools/call" if request.json()["params"]["arguments"]["text"] == "bad" => bad(request, answer).await,
                _ => ordinary::respond(revision, &request, answer).await,
            }
        }
    })
    .await;
    let limits = HttpLimits { message_bytes: TEST_MESSAGE_LIMIT_BYTES, ..test_limits() };
    let mut client = start_client_with(Default::default(), http_target(&server.url("/mcp")), limits);
    client.wait_until_ready().await;
    (server, client)
}

/// Asserts that a call of the tool `bad` fails before its deadline with a cause that contains `words`, and that another
/// call succeeds.
async fn assert_call_fails(client: &mut TestClient, what: &str, words: &str) {
    let call = client.start_call_with_idle_timeout(echo_call("bad"), Duration::from_secs(1)).await;
    let result = client.wait_for_result(call).await;
    let cause = result.as_ref().map(|_| ()).expect_err("the call fails").to_string();
    assert!(cause.contains(words), "{what}: the cause must contain {words:?}: {cause}");
    assert_eq!(client.echo("good").await, "good", "{what}: another call must succeed");
}

#[tokio::test]
async fn trickling_responses_end_with_the_deadline_of_the_call() {
    for revision in [MODERN_REVISION, NEWEST_LEGACY_REVISION] {
        let (server, mut client) = start_client_with_bad_call_response(revision, |_, mut answer| async move {
            answer
                .write_raw(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n")
                .await?;
            loop {
                answer.write_raw(b" ").await?;
                // sleep: simulates a slow server.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        assert_call_fails(&mut client, "X52: a JSON body byte by byte", "no answer").await;
        assert_eq!(
            server.count("notifications/cancelled"),
            usize::from(revision != MODERN_REVISION),
            "the server must be notified"
        );
        client.stop().await;

        let (_server, mut client) = start_client_with_bad_call_response(revision, |_, mut answer| async move {
            answer.event_stream().await?;
            answer.write_raw(b"data: ").await?;
            loop {
                answer.write_raw(b"x").await?;
                // sleep: simulates a slow server.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        assert_call_fails(&mut client, "X52: an event without end, byte by byte", "no answer").await;
        client.stop().await;

        let (_server, mut client) = start_client_with_bad_call_response(revision, |_, mut answer| async move {
            answer.event_stream().await?;
            loop {
                answer.write_raw(b": still here\n\n").await?;
                // sleep: simulates a slow server.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        assert_call_fails(&mut client, "X52: nothing but comments", "no answer").await;
        client.stop().await;
    }
}

#[tokio::test]
async fn endless_response_head_ends_with_the_deadline_of_the_call() {
    let (_server, mut client) = start_client_with_bad_call_response(MODERN_REVISION, |_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\n").await?;
        loop {
            answer.write_raw(b"x").await?;
            // sleep: simulates a slow server.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    assert_call_fails(&mut client, "a head byte by byte", "no answer").await;
    client.stop().await;
}

#[tokio::test]
async fn responses_beyond_the_size_limit_fail_their_call() {
    for announced in [true, false] {
        let (_server, mut client) =
            start_client_with_bad_call_response(MODERN_REVISION, move |_, mut answer| async move {
                let length = if announced {
                    format!("content-length: {}\r\n", TEST_MESSAGE_LIMIT_BYTES + 1)
                } else {
                    String::new()
                };
                let head =
                    format!("HTTP/1.1 200 -\r\nconnection: close\r\ncontent-type: application/json\r\n{length}\r\n");
                answer.write_raw(head.as_bytes()).await?;
                answer.write_raw(&[b' '; TEST_MESSAGE_LIMIT_BYTES]).await?;
                answer.write_raw(b" ").await?;
                answer.hang_until_closed().await
            })
            .await;
        assert_call_fails(&mut client, "X37: a body beyond the limit", "larger than 65536 bytes").await;
        client.stop().await;
    }
    let (_server, mut client) = start_client_with_bad_call_response(MODERN_REVISION, |_, mut answer| async move {
        answer.event_stream().await?;
        answer.write_raw(b"data: ").await?;
        answer.write_raw(&[b'x'; TEST_MESSAGE_LIMIT_BYTES]).await?;
        answer.hang_until_closed().await
    })
    .await;
    assert_call_fails(&mut client, "X52: an event beyond the limit", "larger than 65536 bytes").await;
    client.stop().await;
}

#[tokio::test]
async fn unexpected_content_types_fail_immediately() {
    let cases: [(&str, &[u8], &str); 6] = [
        ("text/html; charset=utf-8", b"<html>please log in", "text/html"),
        ("", b"{}", "no Content-Type"),
        ("application/json", b"", "the answer is empty"),
        ("application/json", b"{\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":{}}", "not one to this request"),
        ("application/json", b"this is no json", "the answer is not JSON"),
        ("application/json;charset=utf-8", b"[]", "the answer cannot be read: an empty batch"),
    ];
    for (kind, body, words) in cases {
        let (_server, mut client) =
            start_client_with_bad_call_response(MODERN_REVISION, move |_, mut answer| async move {
                let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
                answer.respond(200, &kind, body).await
            })
            .await;
        assert_call_fails(&mut client, kind, words).await;
        client.stop().await;
    }
    let (_server, mut client) =
        start_client_with_bad_call_response(MODERN_REVISION, |_, mut answer| async move { answer.status(202).await })
            .await;
    assert_call_fails(&mut client, "202 to a request", "gave no answer").await;
    client.stop().await;
}

#[tokio::test]
async fn stream_without_a_response_is_not_reopened_in_a_loop() {
    for retry in ["0", "1000000000000"] {
        let (server, mut client) =
            start_client_with_bad_call_response(NEWEST_LEGACY_REVISION, move |_, mut answer| async move {
                answer.event_stream().await?;
                answer.write_raw(format!("retry: {retry}\nid: 1\ndata:\n\n").as_bytes()).await
            })
            .await;
        let call = client.start_call_with_idle_timeout(echo_call("bad"), Duration::from_millis(800)).await;
        let resumed =
            || requests_with_method(&server, "GET").iter().filter(|get| get.header("last-event-id").is_some()).count();
        client.wait_for_result(call).await.expect_err("the call must not be answered");
        assert!(resumed() <= 1, "X52: retry: {retry} was clamped, but there were {} GETs", resumed());
        let note = client.wait_for_note("again in").await;
        let expected = if retry == "0" { "again in 0.1 s" } else { "again in 60.0 s" };
        assert!(note.contains(expected), "X52: a retry of {retry} must be clamped: {note}");
        client.stop().await;
    }
}

#[tokio::test]
async fn posts_beyond_the_bound_wait_and_are_cancellable() {
    let (server, mut client) =
        start_client_with_bad_call_response(NEWEST_LEGACY_REVISION, |_, mut answer| async move {
            answer.hang_until_closed().await
        })
        .await;
    client.wait_for_note("offers no GET stream").await;
    let mut calls = Vec::new();
    for _ in 0..250 {
        calls.push(client.start_call(echo_call("bad")).await);
    }
    assert!(poll_until(WAIT_TIMEOUT, || server.count("tools/call") == 240).await, "240 calls must be sent");
    advance_time(Duration::from_millis(500)).await;
    assert_eq!(server.count("tools/call"), 240, "the other calls must wait");
    let cancel = mcp_transport::driver::DriverCommand::Cancel { call: calls[0], reason: mcp_proto::CancelReason::User };
    client.send(cancel).await;
    assert_eq!(
        client.wait_for_result(calls[0]).await,
        Err(CallError::Cancelled),
        "a call must be cancellable while all others hang"
    );
    assert!(
        poll_until(WAIT_TIMEOUT, || server.count("notifications/cancelled") == 1).await,
        "the server must be notified"
    );
    assert!(poll_until(WAIT_TIMEOUT, || server.count("tools/call") == 241).await, "the next call must be sent");
    let one_more =
        mcp_transport::driver::DriverCommand::Cancel { call: calls[1], reason: mcp_proto::CancelReason::User };
    client.send(one_more).await;
    assert!(
        poll_until(WAIT_TIMEOUT, || server.count("tools/call") == 242).await,
        "one call must be sent for each that ends"
    );
    let ((), took) = measure_timer_wait(client.stop()).await;
    assert!(took < DRIVER_CLOSE_TIMEOUT, "pending calls must not delay the stop: {took:?}");
}

#[tokio::test]
async fn unanswered_http_call_times_out() {
    // X35 over HTTP.
    for (revision, cancellations) in [(MODERN_REVISION, 0), (NEWEST_LEGACY_REVISION, 1)] {
        let (server, mut client) =
            start_client_with_bad_call_response(
                revision,
                |_, mut answer| async move { answer.hang_until_closed().await },
            )
            .await;
        assert_call_fails(&mut client, "X35: no answer", "no answer").await;
        let cancelled = poll_until(WAIT_TIMEOUT, || server.count("notifications/cancelled") == cancellations).await;
        assert!(cancelled, "X35: {revision}: the server must be notified as the revision specifies");
        client.stop().await;
    }
}

#[tokio::test]
async fn blocked_owner_applies_backpressure_to_the_server() {
    let (server, mut client) =
        start_client_with_bad_call_response(NEWEST_LEGACY_REVISION, |request, mut answer| async move {
            answer.event_stream().await?;
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": "x".repeat(20_000) } });
            for _ in 0..5_000 {
                answer.event(&log).await?;
            }
            respond_with_sse_event(NEWEST_LEGACY_REVISION, &request, &mut answer).await
        })
        .await;
    let before = testkit::processes::resident_bytes(std::process::id()).unwrap_or_default();
    let _call = client.start_call(echo_call("bad")).await;
    // sleep: simulates a slow owner, while the server writes.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let after = testkit::processes::resident_bytes(std::process::id()).unwrap_or_default();
    let grown = after.saturating_sub(before) / 1024 / 1024;
    assert!(grown < 60, "100 MB of messages must wait at the server, but memory grew by {grown} MB");
    let ((), took) = measure_timer_wait(client.stop()).await;
    assert!(took < DRIVER_CLOSE_TIMEOUT, "the driver must stop at once: {took:?}");
    drop(server);
}

#[tokio::test]
async fn concurrent_calls_get_their_own_responses() {
    let (_server, mut client) =
        start_client_with_bad_call_response(MODERN_REVISION, |_, mut answer| async move { answer.status(500).await })
            .await;
    let mut calls = Vec::new();
    for number in 0..64 {
        calls.push((number, client.start_call(echo_call(&number.to_string())).await));
    }
    for (number, call) in calls {
        assert_eq!(
            result_text(&client.wait_for_result(call).await),
            number.to_string(),
            "each call must get its own response"
        );
    }
    let listed = client.call(ClientRequest::ListTools { cursor: None }).await;
    assert!(listed.is_ok(), "the session must continue: {listed:?}");
    client.stop().await;
}
