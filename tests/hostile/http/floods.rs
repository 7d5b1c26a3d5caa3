//! More than anybody asked for: messages, drops, and streams to be taken up again (X40, X41, X52).

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{HttpServer, Request, ordinary};

use super::{LEGACY, Pair, proper, wrong_at_calls};

/// So many that a test build takes them in within the time of a call.
const COUNT: u32 = 20_000;

fn notification(method: &str, request: &Value, step: u32) -> Value {
    let params = match method {
        "notifications/message" => json!({ "level": "error", "data": format!("line {step}") }),
        "notifications/progress" => {
            json!({ "progressToken": request["params"]["_meta"]["progressToken"], "progress": step })
        }
        _ => json!({}),
    };
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

async fn flooded_with(method: &'static str) {
    let what = format!("X41, {COUNT} times {method}");
    let server = HttpServer::start(move |request: Request, mut answer| async move {
        if request.rpc_method() != "tools/call" {
            return ordinary::answer(LEGACY, &request, answer).await;
        }
        let request = request.json();
        answer.event_stream().await?;
        for step in 0..COUNT {
            answer.event(&notification(method, &request, step)).await?;
        }
        answer.event(&proper(&request)).await
    })
    .await;
    let pair = Pair::ready(server.url("/mcp")).await;
    let lists = server.count("tools/list");
    let began = Instant::now();
    let call = pair.bad_call(&what).await;
    pair.ended(&what, &call, &[]);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let read = server.count("tools/list") - lists;
    let most = began.elapsed().as_secs_f64() + 2.0;
    assert!(read as f64 <= most, "{what}: lists are read at most once a second, not {read} times");
    pair.close().await;
}

#[tokio::test]
async fn x41_a_flood_of_log_messages() {
    flooded_with("notifications/message").await;
}

#[tokio::test]
async fn x41_a_flood_of_progress() {
    flooded_with("notifications/progress").await;
}

#[tokio::test]
async fn x41_a_flood_of_list_changes() {
    flooded_with("notifications/tools/list_changed").await;
}

/// X40: a server that drops every call at once is not asked for ever.
#[tokio::test]
async fn x40_a_server_that_drops_every_connection_ends_the_call() {
    let server = wrong_at_calls(LEGACY, |_, answer| async move {
        drop(answer);
        Ok(())
    })
    .await;
    let pair = Pair::ready(server.url("/mcp")).await;
    let call = pair.bad_call("X40, dropped connections").await;
    pair.ended("X40, dropped connections", &call, &["broke", "closed", "ended", "lost", "could not be reached"]);
    assert_eq!(server.count("tools/call"), 1, "X40: what may have been done is not sent twice");
    pair.close().await;
}

/// A stream that ends at once each time, with a wish for how soon to come back.
async fn comes_back(retry: &'static str) -> (usize, Duration) {
    let server = HttpServer::start(move |request: Request, mut answer| async move {
        if request.method == "GET" && request.header("last-event-id").is_some() || request.rpc_method() == "tools/call"
        {
            answer.event_stream().await?;
            return answer.raw(format!("id: 1\nretry: {retry}\ndata:\n\n").as_bytes()).await;
        }
        ordinary::answer(LEGACY, &request, answer).await
    })
    .await;
    let pair = Pair::ready(server.url("/mcp")).await;
    let what = format!("X52, retry: {retry}");
    let call = pair.bad_call(&what).await;
    pair.ended(&what, &call, &["no answer", "ended", "lost", "broke"]);
    let resumed = server.seen().iter().filter(|r| r.header("last-event-id").is_some()).count();
    pair.close().await;
    (resumed, call.1)
}

#[tokio::test]
async fn x52_retry_0_is_no_busy_loop() {
    let (resumed, took) = comes_back("0").await;
    assert!(resumed >= 1, "X52: [http-sse-poll-reconnect] the stream is taken up again");
    let most = took.as_secs_f64() / 0.1 + 2.0;
    assert!((resumed as f64) <= most, "X52: at most every 100 ms, not {resumed} times in {took:?}");
}

#[tokio::test]
async fn x52_retry_of_30_years_does_not_hold_the_call() {
    let (resumed, _) = comes_back("1000000000000").await;
    assert!(resumed <= 1, "X52: the pause is clamped to a minute, so nothing comes within the call's time");
}
