//! Tests of floods of messages, dropped connections, and stream resumptions (X40, X41, X52).

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::http::{HttpRequest, HttpServer, ordinary};

use super::{LEGACY_REVISION, correct_call_response, remote_server, server_misbehaving_in_calls};
use crate::pair::GoodAndBadServers;
use crate::report::AttackResultRow;

/// Number of messages in a flood. The server runs in the same process as the host, so these tests use several threads,
/// as the app does.
const FLOOD_MESSAGE_COUNT: u32 = 200_000;
/// Number of events that the server sends in each write.
const EVENTS_PER_WRITE: u32 = 100;

/// Returns the JSON text of a notification. It is formatted directly, so that the server takes less time than the host.
fn notification_text(method: &str, token: &Value, step: u32) -> String {
    let params = match method {
        "notifications/message" => format!(r#"{{"level":"error","data":"line {step}"}}"#),
        "notifications/progress" => format!(r#"{{"progressToken":{token},"progress":{step}}}"#),
        _ => "{}".to_owned(),
    };
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

async fn run_flood(method: &'static str) {
    let what = format!("X41, {FLOOD_MESSAGE_COUNT} times {method}");
    let server = HttpServer::start(move |request: HttpRequest, mut answer| async move {
        if request.rpc_method() != "tools/call" {
            return ordinary::respond(LEGACY_REVISION, &request, answer).await;
        }
        let request = request.json();
        let token = &request["params"]["_meta"]["progressToken"];
        answer.event_stream().await?;
        for first in (0..FLOOD_MESSAGE_COUNT).step_by(EVENTS_PER_WRITE as usize) {
            let events = (first..first + EVENTS_PER_WRITE)
                .map(|step| format!("data: {}\n\n", notification_text(method, token, step)));
            answer.write_raw(events.collect::<String>().as_bytes()).await?;
        }
        answer.event(&correct_call_response(&request)).await
    })
    .await;
    let pair = GoodAndBadServers::start_ready_for_flood(remote_server(server.url("/mcp"))).await;
    let lists = server.count("tools/list");
    let began = Instant::now();
    let call = pair.call_bad_server(&what).await;
    pair.assert_call_ended(&what, &call, &[]);
    let read = server.count("tools/list") - lists;
    let most = began.elapsed().as_secs_f64() + 2.0;
    assert!(read as f64 <= most, "{what}: lists are read at most once a second, not {read} times");
    let page = pair.app.host.activity_page("bad".into(), 0, usize::MAX).await.unwrap();
    let (retained, dropped) = (page.entries.len(), page.missing);
    assert!(
        retained <= supervision::activity::MAX_ACTIVITY_ENTRIES,
        "{what}: the number of retained entries is bounded, but {retained} are retained"
    );
    assert!(
        dropped > u64::from(FLOOD_MESSAGE_COUNT) / 2,
        "{what}: the number of dropped entries is reported: {dropped}"
    );
    pair.close(&what).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x41_flood_of_log_messages_leaves_the_host_responsive() {
    run_flood("notifications/message").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x41_flood_of_progress_leaves_the_host_responsive() {
    run_flood("notifications/progress").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x41_flood_of_list_changes_leaves_the_host_responsive() {
    run_flood("notifications/tools/list_changed").await;
}

/// X40: the server closes the connection of every call. The call fails, and the host does not send it again, because
/// the server may have executed it.
#[tokio::test]
async fn x40_dropped_connections_end_the_call() {
    let server = server_misbehaving_in_calls(LEGACY_REVISION, |_, answer| async move {
        drop(answer);
        Ok(())
    })
    .await;
    let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
    let call = pair.call_bad_server("X40, dropped connections").await;
    pair.assert_call_ended(
        "X40, dropped connections",
        &call,
        &["broke", "closed", "ended", "lost", "could not be reached"],
    );
    assert_eq!(server.count("tools/call"), 1, "X40: a call that may have been executed is not sent again");
    pair.close("X40, dropped connections").await;
}

/// Calls a server whose streams always end at once, with this value in the `retry` field. Returns how often the host
/// resumed the stream, the duration of the call, and the row of the result table.
async fn count_stream_resumptions(retry: &'static str) -> (usize, Duration, AttackResultRow) {
    let server = HttpServer::start(move |request: HttpRequest, mut answer| async move {
        if request.method == "GET" && request.header("last-event-id").is_some() || request.rpc_method() == "tools/call"
        {
            answer.event_stream().await?;
            return answer.write_raw(format!("id: 1\nretry: {retry}\ndata:\n\n").as_bytes()).await;
        }
        ordinary::respond(LEGACY_REVISION, &request, answer).await
    })
    .await;
    let pair = GoodAndBadServers::ready(remote_server(server.url("/mcp"))).await;
    let what = format!("X52, retry: {retry}");
    let call = pair.call_bad_server(&what).await;
    pair.assert_call_ended(&what, &call, &["no answer", "ended", "lost", "broke"]);
    let resumed = server.received_requests().iter().filter(|r| r.header("last-event-id").is_some()).count();
    let row = pair.close(&what).await;
    (resumed, call.took, row)
}

#[tokio::test]
async fn x52_retry_0_causes_no_busy_loop() {
    let (resumed, took, _row) = count_stream_resumptions("0").await;
    assert!(resumed >= 1, "X52: [http-sse-poll-reconnect] the stream is resumed");
    let most = took.as_secs_f64() + 1.0;
    assert!((resumed as f64) <= most, "X52: at most once a second, not {resumed} times in {took:?}");
}

#[tokio::test]
async fn x52_retry_of_30_years_does_not_block_the_call() {
    let (resumed, _, _row) = count_stream_resumptions("1000000000000").await;
    assert!(resumed <= 1, "X52: the delay is clamped to a minute, so the stream is not resumed during the call");
}
