//! Tests of sandboxed servers that consume unlimited resources (S37), or that attempt forbidden operations (S23).

use std::time::Duration;

use host::view::{AppSettings, FailureReason, ServerFailure, ServerState};
use ports::server_config::{SandboxConfig, ServerConfig};
use serde_json::{Value, json};
use supervision::limits::ServerLimits;
use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;

/// Maximum time until a server that exceeds a limit is stopped, on a slow machine.
const STOP_TIMEOUT: Duration = Duration::from_secs(120);
const MIB: u64 = 1024 * 1024;

/// Returns limits for a test, which makes the server exceed exactly one of them.
fn small_server_limits() -> ServerLimits {
    ServerLimits {
        processes: 64,
        memory_bytes: 256 * MIB,
        home_bytes: 16 * MIB,
        processor_seconds: 600,
        ..ServerLimits::default()
    }
}

fn sandboxed_server(misbehaviour: &str) -> ServerConfig {
    let mut config = scripted_config(&["--misbehave", misbehaviour]);
    if let Some(stdio) = config.as_stdio_mut() {
        stdio.sandbox = Some(SandboxConfig::default());
    }
    config
}

async fn start_misbehaving_server(misbehaviour: &str, limits: ServerLimits) -> GoodAndBadServers {
    let pair = GoodAndBadServers::with_stopped_bad_server(sandboxed_server(misbehaviour)).await;
    let settings = AppSettings { limits, ..AppSettings::default() };
    pair.app.host.set_settings(settings).await.unwrap();
    pair.app.host.start_server("bad".into()).await.unwrap();
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    pair
}

/// Waits until the hostile server has failed, and returns the failure.
async fn wait_until_failed(pair: &GoodAndBadServers) -> ServerFailure {
    let deadline = tokio::time::Instant::now() + STOP_TIMEOUT;
    let mut events = pair.app.host.events();
    loop {
        if let ServerState::Failed(failure) = pair.app.server("bad").await.state {
            return failure;
        }
        let event = tokio::time::timeout_at(deadline, events.next()).await;
        assert!(event.is_ok(), "it is stopped in time; it is {:?}", pair.app.server("bad").await.state);
    }
}

/// Calls a server that then exceeds a limit. Asserts that the host stops the server, with `words` in the message of the
/// failure.
async fn assert_server_stopped_for_misbehaviour(what: &str, misbehaviour: &str, limits: ServerLimits, words: &str) {
    let pair = start_misbehaving_server(misbehaviour, limits).await;
    let call = pair.spawn_call("1", "echo", json!({}));
    let failure = pair.while_good_server_responds(what, wait_until_failed(&pair)).await;
    assert_eq!(failure.reason, FailureReason::LimitReached, "{what}: the failure has a specific reason: {failure:?}");
    assert_eq!(
        failure.message,
        format!("the server was stopped: {words}"),
        "{what}: the failure message contains the limit"
    );
    assert!(pair.app.activity("bad").await.contains(words), "{what}: the activity log shows the limit");
    let ended = call.await.unwrap();
    assert!(ended.is_err(), "{what}: its call fails: {ended:?}");
    let used = pair
        .app
        .host
        .limits_usage("bad".into())
        .await
        .unwrap()
        .and_then(|used| used.resources)
        .expect("it is measured");
    let excess = [used.processes, used.memory, used.home, used.processor].map(|counter| counter.excess);
    assert_eq!(excess.iter().sum::<u64>(), 1, "{what}: the violated limit is counted: {used:?}");
    pair.close(what).await;
}

/// Returns the number of running processes that the hostile server has started.
fn count_child_processes() -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_ours = |line: Vec<u8>| line.starts_with(b"sleep\x007412");
    processes.filter(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(is_ours)).count()
}

#[tokio::test]
async fn s37_forking_server_is_stopped() {
    let words = "it ran more than 64 processes and threads";
    assert_server_stopped_for_misbehaviour("S37, processes without end", "forks", small_server_limits(), words).await;
    assert_eq!(count_child_processes(), 0, "all child processes have ended");
}

#[tokio::test]
async fn s37_server_with_excessive_memory_is_stopped() {
    let words = "it used more than 256 MiB of memory";
    assert_server_stopped_for_misbehaviour("S37, memory without end", "takes-memory", small_server_limits(), words)
        .await;
}

#[tokio::test]
async fn s37_server_that_fills_its_home_is_stopped() {
    let words = "its home folder contained more than 16 MiB";
    assert_server_stopped_for_misbehaviour("S37, a file without end", "fills-home", small_server_limits(), words).await;
}

#[tokio::test]
async fn s37_spinning_server_is_stopped() {
    let words = "it used more than 5 seconds of processor time within an hour";
    let limits = ServerLimits { processor_seconds: 1, ..small_server_limits() };
    assert_server_stopped_for_misbehaviour("S37, processors kept busy", "spins", limits, words).await;
}

#[tokio::test]
async fn s37_limits_are_part_of_the_consent_request() {
    let what = "S37, what a server is stopped at is shown before it starts";
    let pair = GoodAndBadServers::with_undecided_start(sandboxed_server("silent")).await;
    let settings = AppSettings { limits: small_server_limits(), ..AppSettings::default() };
    pair.app.host.set_settings(settings).await.unwrap();
    pair.app.host.start_server("bad".into()).await.unwrap();
    let request = pair.app.consent_request("bad", "its start", |_| true).await;
    let host::view::ConsentRequestBody::StartServer { plan: Some(plan), .. } = &request.body else {
        panic!("{what}: the request shows the sandbox: {request:?}")
    };
    assert_eq!(plan.limits, small_server_limits().resource_limits(), "{what}: the request shows the limits");
    pair.app.decide(&request, host::view::UserDecision::Deny).await;
    pair.close(what).await;
}

#[tokio::test]
async fn s23_privileged_operations_are_refused() {
    let what = "S23, namespaces, mounts, the kernel's log";
    let _others = tempfile::Builder::new().prefix("s23-").tempfile_in("/tmp").unwrap();
    let pair = start_misbehaving_server("tries-the-kernel", small_server_limits()).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    let result = json!(call.result.unwrap());
    let tried: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    for (name, worked) in tried.as_object().unwrap() {
        assert_eq!(*worked, json!(name == "program"), "{what}: {name}: {tried}");
    }
    pair.close(what).await;
}
