//! Benchmarks of the host without a window: the memory of 200 idle servers, the latency from a server's message to the
//! consent request in the event stream, the overhead of a call over the transport, and the duration of a sign-in.
//! Prints the results without asserting any. Expects the demo server next to the folder of this executable.
//!
//! `bench memory 40` measures only the memory of 40 servers, which is short enough for a heap profiler. `bench latency`
//! measures only the latency, `bench queue` only the queue of consent requests, `bench cost` only the overhead of a
//! call, `bench signin` only the sign-in, and `bench streaming` only a model's reply.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a measurement that fails says where"
)]

mod cost;
mod queue;
mod sign_in;
mod streaming;

use std::path::PathBuf;
use std::time::{Duration, Instant};
use testkit::calls::UserCalls as _;

use host::view::{ConsentRequestBody, HostEvent, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::time::system_time_millis;
use testkit::app::{TestApp, local_config};

const SERVER_COUNT: usize = 200;
const CONSENT_REQUEST_COUNT: usize = 50;

#[tokio::main]
async fn main() {
    let (program, mut arguments) = (demo_server(), std::env::args().skip(1));
    let part = arguments.next();
    if part.as_deref().is_none_or(|part| part == "latency") {
        measure_latency(program.clone()).await;
    }
    if part.as_deref().is_none_or(|part| part == "queue") {
        queue::measure_queue(program.clone()).await;
    }
    if part.as_deref().is_none_or(|part| part == "cost") {
        cost::measure_overhead(program.clone()).await;
    }
    if part.as_deref().is_none_or(|part| part == "signin") {
        sign_in::measure_sign_in().await;
    }
    if part.as_deref().is_none_or(|part| part == "streaming") {
        streaming::measure_streaming().await;
    }
    if part.as_deref().is_none_or(|part| part == "memory") {
        let servers =
            arguments.next().map_or(SERVER_COUNT, |n| n.parse().expect("the argument is not a number of servers"));
        measure_memory(program, servers).await;
    }
}

fn demo_server() -> PathBuf {
    let own = std::env::current_exe().expect("the path of this executable is unknown");
    let folder = own.ancestors().nth(2).expect("this executable is not in the folder of examples");
    let program = folder.join(format!("demo-server{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "build it first: {} is missing", program.display());
    program
}

fn is_start_or_tool(body: &ConsentRequestBody) -> bool {
    matches!(body, ConsentRequestBody::StartServer { .. } | ConsentRequestBody::Tool { .. })
}

async fn measure_latency(program: PathBuf) {
    let app = TestApp::start(vec![("demo", local_config(program, &["--era", "legacy"]))]).await;
    let user =
        app.decide_automatically(|q| is_start_or_tool(&q.body).then_some(UserDecision::Allow(ApprovalScope::Once)));
    app.host.start_server("demo".into()).await.unwrap();
    app.until("demo", "known", |s| s.counts[0] >= 10).await;
    measure_consent_requests(&app, "").await;
    user.abort();
    app.host.close().await;
}

/// Measures the time from a request of the server "demo" to its consent request in the event stream, while another task
/// approves the server's tool calls.
async fn measure_consent_requests(app: &TestApp, when: &str) {
    let mut events = app.host.events();
    let mut times = Vec::new();
    for i in 0..CONSENT_REQUEST_COUNT {
        let host = app.host.clone();
        let call = tokio::spawn(async move {
            host.call_tool(format!("{i}"), "demo".into(), "ask_user".into(), serde_json::Map::new(), None).await
        });
        let request = loop {
            let event = events.next().await.expect("the host has shut down");
            if let HostEvent::ConsentRequestChanged(request) = &event.event
                && !is_start_or_tool(&request.body)
            {
                break request.clone();
            }
        };
        let shown = system_time_millis();
        // The activity log contains the time at which the server's request was read.
        let page = app.host.activity_page("demo".into(), 0, usize::MAX).await.unwrap();
        let is_request = |method: Option<&str>| method == Some("elicitation/create");
        let requested_at = page.entries.iter().rfind(|e| is_request(e.method.as_deref())).map(|e| e.at);
        times.push(shown.saturating_sub(requested_at.expect("the request is missing in the activity log")));
        app.host.decide(request.id, request.hash.to_string(), UserDecision::Deny).await.unwrap();
        let _ = call.await;
        // Three consecutive denials would mute the server otherwise.
        app.host.unmute_server("demo".into()).await.unwrap();
        // The pause keeps the number of requests below the server's rate limit.
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    times.sort_unstable();
    println!(
        "a consent request, from the server's line to the event {when}  median {} ms, worst {} ms of {CONSENT_REQUEST_COUNT}",
        times[times.len() / 2],
        times[times.len() - 1]
    );
}

async fn measure_memory(program: PathBuf, servers: usize) {
    let names: Vec<String> = (0..servers).map(|i| format!("idle-{i}")).collect();
    let set_up = names.iter().map(|name| (name.as_str(), local_config(program.clone(), &[]))).collect();
    let app = TestApp::start(set_up).await;
    let user =
        app.decide_automatically(|q| is_start_or_tool(&q.body).then_some(UserDecision::Allow(ApprovalScope::Once)));
    let own = std::process::id();
    let before = testkit::processes::resident_bytes(own).expect("the memory of a process can't be read on this system");
    let began = Instant::now();
    for name in &names {
        app.host.start_server(name.clone()).await.unwrap();
    }
    loop {
        let servers = app.host.snapshot().await.unwrap().servers;
        if servers.iter().all(|s| s.state == ServerState::Ready && s.counts[0] >= 16 && s.counts[2] >= 16) {
            break;
        }
        if let Some(failed) = servers.iter().find(|s| matches!(s.state, ServerState::Failed(_))) {
            panic!("{} failed: {:?}", failed.name, failed.state);
        }
        assert!(began.elapsed() < Duration::from_secs(300), "the servers must become ready in time");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let took = began.elapsed();
    user.abort();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = testkit::processes::resident_bytes(own).expect("the memory of a process can't be read on this system");
    let grown = after.saturating_sub(before) as f64 / (1024.0 * 1024.0);
    println!(
        "{servers} idle servers with their lists read                             {grown:.1} MiB above none ({:.1} MiB), {:.1} kB each, ready in {:.1} s",
        before as f64 / (1024.0 * 1024.0),
        after.saturating_sub(before) as f64 / servers as f64 / 1_000.0,
        took.as_secs_f64()
    );
    app.host.close().await;
}
