//! Tests that the calls of a server stay quick while a resource of the host or of another server is blocked (S15). The
//! measurement is also used by `busy_history.rs`.

use std::time::{Duration, Instant};

use host::HostOptions;
use host::view::{AppSettings, ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use testkit::app::scripted_config;

use crate::blocked_disk::lock_documents;
use crate::hanging_disk::{HangingDisk, reread_launch_files_when_disk_responds};
use crate::pair::GoodAndBadServers;

/// Time for which a test blocks a resource. It is shorter than the lock timeout of the store, so that no data is lost.
pub(crate) const BLOCKED_TIME: Duration = Duration::from_secs(2);
/// Maximum median duration of the calls while a resource is blocked.
const MAX_MEDIAN_CALL_TIME: Duration = Duration::from_millis(100);
/// Maximum duration of each call while a resource is blocked, on a busy test machine. A call that waited for the
/// resource would exceed it.
pub(crate) const MAX_CALL_TIME: Duration = Duration::from_secs(1);

/// Calls the well-behaved server repeatedly for `duration`, and asserts that the calls are quick.
pub(crate) async fn assert_calls_stay_quick(pair: &GoodAndBadServers, duration: Duration, what: &str) {
    let (began, mut times) = (Instant::now(), Vec::new());
    while began.elapsed() < duration || times.is_empty() {
        let started = Instant::now();
        let answered = pair.call_echo_tool("good", &format!("meanwhile-{}", times.len()), "hello").await;
        assert!(answered.is_ok(), "{what}: the other server responds: {answered:?}");
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let (half, slowest) = (times[times.len() / 2], times[times.len() - 1]);
    assert!(half < MAX_MEDIAN_CALL_TIME, "{what}: half of {} calls end within {half:?}", times.len());
    assert!(slowest < MAX_CALL_TIME, "{what}: the slowest of {} calls ends within {slowest:?}", times.len());
}

#[tokio::test]
async fn s15_locked_documents_delay_no_call() {
    let what = "S15, calls run while another program holds the lock of the documents";
    let pair = GoodAndBadServers::ready(scripted_config(&[])).await;
    let lock = lock_documents(&pair.app.folder.path().join("data"));
    let host = pair.app.host.clone();
    let settings = AppSettings { audit_days: 365, ..AppSettings::default() };
    let change = tokio::spawn(async move { host.set_settings(settings).await });
    assert_calls_stay_quick(&pair, BLOCKED_TIME, what).await;
    assert!(!change.is_finished(), "{what}: the change is not confirmed before it is stored");
    drop(lock);
    change.await.unwrap().expect("the settings are stored afterwards");
    pair.close(what).await;
}

#[tokio::test]
async fn s15_program_on_a_hanging_file_system_delays_no_call() {
    let what = "S15, calls run while the program of another server is on a file system that does not respond";
    let reread_launch_files = reread_launch_files_when_disk_responds;
    let pair = GoodAndBadServers::with_undecided_start_and_options(scripted_config(&[]), |options| HostOptions {
        reread_launch_files,
        ..options
    })
    .await;
    let host = pair.app.host.clone();
    host.start_server("bad".into()).await.unwrap();
    let is_start =
        |request: &host::view::ConsentRequestView| matches!(request.body, ConsentRequestBody::StartServer { .. });
    let request = pair.app.consent_request("bad", "its start", is_start).await;
    let hanging = HangingDisk::start();
    let allow = tokio::spawn(async move {
        host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Once)).await
    });
    assert_calls_stay_quick(&pair, BLOCKED_TIME, what).await;
    assert!(!allow.is_finished(), "{what}: the start waits for the file system");
    drop(hanging);
    allow.await.unwrap().expect("the start is allowed afterwards");
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
    pair.close(what).await;
}
