//! Tests of missing or slow responses: every wait has a timeout, which the error message names (X35, X52).

use std::time::Duration;

use domain::call::CallFailure;
use serde_json::json;
use testkit::time::await_without_timer;

use super::{
    LEGACY_REVISION, MODERN_REVISION, remote_server, server_misbehaving_in_calls, server_misbehaving_in_method,
};
use crate::pair::{GoodAndBadServers, IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT};

#[tokio::test]
async fn x35_unanswered_call_times_out_and_is_cancelled() {
    for revision in [LEGACY_REVISION, MODERN_REVISION] {
        let what = format!("X35, {revision}, a call without an answer");
        let server =
            server_misbehaving_in_calls(revision, |_, mut answer| async move { answer.hang_until_closed().await })
                .await;
        let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
        let call = pair.call_bad_server(&what).await;
        pair.assert_call_ended(&what, &call, &["no answer"]);
        assert!(call.took >= IDLE_CALL_TIMEOUT, "{what}: the timeout is not shortened: {:?}", call.took);
        // In revisions with `initialize` the server is notified. In the newer one, closing the stream cancels the call.
        let cancellations = server.count("notifications/cancelled");
        assert_eq!(
            cancellations,
            usize::from(revision == LEGACY_REVISION),
            "{what}: [cancel-http-explicit] [cancel-http-close-stream] the server is notified"
        );
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn x35_cancellation_is_immediate() {
    let server =
        server_misbehaving_in_calls(LEGACY_REVISION, |_, mut answer| async move { answer.hang_until_closed().await })
            .await;
    let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
    let call = pair.spawn_call("bad", "echo", json!({"text": "hello"}));
    let is_called = || server.count("tools/call") > 0;
    assert!(testkit::deadline::poll_until(TOTAL_CALL_TIMEOUT, is_called).await, "X35: the call reaches the server");
    let ended = await_without_timer("X35, cancelling", async {
        pair.app.host.cancel_call("bad".into()).await.unwrap();
        call.await.unwrap()
    });
    assert_eq!(ended.await, Err(CallFailure::Cancelled), "X35: the call is cancelled");
    let is_cancelled = || server.count("notifications/cancelled") == 1;
    assert!(testkit::deadline::poll_until(Duration::from_secs(1), is_cancelled).await, "X35: the server is notified");
    pair.assert_good_server_responds("X35, cancelling", "afterwards").await;
    pair.close("X35, cancelling").await;
}

#[tokio::test]
async fn x35_unanswered_list_keeps_the_server_usable_and_is_reported() {
    let server = server_misbehaving_in_method("tools/list", LEGACY_REVISION, |_, mut answer| async move {
        answer.hang_until_closed().await
    })
    .await;
    let pair = GoodAndBadServers::start(remote_server(server.url("/mcp"))).await;
    pair.app.until("bad", "ready", |s| s.state == host::view::ServerState::Ready).await;
    let mut events = pair.app.host.events();
    let noted = async {
        loop {
            let catalog = pair.app.host.catalog("bad".into()).await.unwrap();
            if let Some(note) = catalog.notes[0].first() {
                return note.clone();
            }
            events.next().await;
        }
    };
    let noted = tokio::time::timeout(TOTAL_CALL_TIMEOUT + Duration::from_secs(3), noted);
    let note = pair.while_good_server_responds("X35, a list without an answer", noted).await;
    let note = note.expect("X35: the missing list is reported");
    assert!(note.contains("no answer"), "X35: the report contains the cause: {note}");
    pair.close("X35, a list without an answer").await;
}

#[tokio::test]
async fn x52_body_of_one_byte_per_second_times_out() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n").await?;
        loop {
            answer.write_raw(b" ").await?;
            // sleep: a slow server.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    assert_call_times_out(server.url("/mcp"), "X52, a JSON body of one byte a second").await;
}

#[tokio::test]
async fn x52_stream_of_one_byte_per_second_times_out() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |_, mut answer| async move {
        answer.event_stream().await?;
        answer.write_raw(b"data: ").await?;
        loop {
            answer.write_raw(b"x").await?;
            // sleep: a slow server.
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    assert_call_times_out(server.url("/mcp"), "X52, an event of one byte a second that never ends").await;
}

#[tokio::test]
async fn x52_unterminated_event_times_out() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |request, mut answer| async move {
        answer.event_stream().await?;
        // The event without its final empty line.
        answer.write_raw(format!("data: {}\n", super::correct_call_response(&request)).as_bytes()).await?;
        answer.hang_until_closed().await
    })
    .await;
    assert_call_times_out(server.url("/mcp"), "X52, an event that is never ended").await;
}

#[tokio::test]
async fn x52_stream_of_comments_times_out() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |_, mut answer| async move {
        answer.event_stream().await?;
        loop {
            answer.write_raw(b": still here\n\n").await?;
            // sleep: a slow server.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await;
    assert_call_times_out(server.url("/mcp"), "X52, a stream of comments").await;
}

/// The server sends progress notifications without end. They extend the timeout of a call only up to a limit.
#[tokio::test]
async fn x52_stream_of_progress_times_out() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |request, mut answer| async move {
        answer.event_stream().await?;
        for step in 1_u32.. {
            let params = json!({ "progressToken": request["params"]["_meta"]["progressToken"], "progress": step });
            answer.event(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })).await?;
            // sleep: a slow server.
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        Ok(())
    })
    .await;
    assert_call_times_out(server.url("/mcp"), "X52, [lifecycle-timeout-maximum] a stream of progress").await;
}

async fn assert_call_times_out(url: String, what: &str) {
    let pair = GoodAndBadServers::ready(remote_server(url)).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &["no answer", "not ended", "took longer"]);
    pair.close(what).await;
}
