//! Measures the consent queue: approvals per second, and the latency of a request while 50 servers are busy.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use testkit::calls::UserCalls as _;

use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::{TestApp, local_config};

/// Number of calls that require consent.
const APPROVAL_COUNT: usize = 5_000;
/// Number of calls that wait for consent at a time.
const CONCURRENT_CALLS: usize = 100;
/// Number of servers that are called continuously.
const BUSY_SERVERS: usize = 50;

pub(super) async fn measure_queue(program: PathBuf) {
    measure_approvals(program.clone()).await;
    measure_busy_servers(program).await;
}

pub(super) fn sum_arguments() -> Map<String, Value> {
    json!({"a": 2, "b": 3}).as_object().cloned().unwrap_or_default()
}

/// Measures the approvals per second: each call requires consent, the user approves it once, and the server responds.
async fn measure_approvals(program: PathBuf) {
    let app = TestApp::start(vec![("demo", local_config(program, &["--era", "legacy"]))]).await;
    let user = app
        .decide_automatically(|q| super::is_start_or_tool(&q.body).then_some(UserDecision::Allow(ApprovalScope::Once)));
    app.host.start_server("demo".into()).await.unwrap();
    app.until("demo", "known", |s| s.counts[0] >= 10).await;
    let began = Instant::now();
    let tasks: Vec<_> = (0..CONCURRENT_CALLS)
        .map(|task| {
            let host = app.host.clone();
            tokio::spawn(async move {
                for i in 0..APPROVAL_COUNT / CONCURRENT_CALLS {
                    host.call_tool(format!("{task} {i}"), "demo".into(), "add".into(), sum_arguments(), None)
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let took = began.elapsed();
    user.abort();
    app.host.close().await;
    println!(
        "approvals, each of a call that is asked about, written down, sent and answered   {:.0} a second",
        APPROVAL_COUNT as f64 / took.as_secs_f64()
    );
}

async fn measure_busy_servers(program: PathBuf) {
    let names: Vec<String> = (0..BUSY_SERVERS).map(|i| format!("busy-{i}")).collect();
    let mut servers: Vec<_> =
        names.iter().map(|name| (name.as_str(), local_config(program.clone(), &["--era", "legacy"]))).collect();
    servers.push(("demo", local_config(program.clone(), &["--era", "legacy"])));
    let app = TestApp::start(servers).await;
    let answer = |q: &ConsentRequestView| match &q.body {
        ConsentRequestBody::StartServer { .. } => Some(UserDecision::Allow(ApprovalScope::Once)),
        ConsentRequestBody::Tool { tool, .. } => {
            Some(UserDecision::Allow(if tool.name == "add" { ApprovalScope::Session } else { ApprovalScope::Once }))
        }
        _ => None,
    };
    let user = app.decide_automatically(answer);
    for name in names.iter().map(String::as_str).chain(["demo"]) {
        app.host.start_server(name.to_owned()).await.unwrap();
        app.until(name, "known", |s| s.counts[0] >= 10).await;
    }
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let began = Instant::now();
    let tasks: Vec<_> = names
        .iter()
        .map(|name| {
            let (host, name, stop, calls) = (app.host.clone(), name.clone(), Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(async move {
                for i in 0_u64.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    host.call_tool(format!("{name} {i}"), name.clone(), "add".into(), sum_arguments(), None)
                        .await
                        .unwrap();
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    super::measure_consent_requests(&app, &format!("with {BUSY_SERVERS} busy servers")).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.unwrap();
    }
    let each_second = calls.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64();
    println!("    meanwhile the busy ones were called {each_second:.0} times a second");
    user.abort();
    app.host.close().await;
}
