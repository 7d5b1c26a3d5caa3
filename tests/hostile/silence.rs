//! Tests of missing responses over stdio (X35): every wait has a timeout, which the error message names, and the user
//! can cancel it earlier.

use std::time::Duration;

use domain::call::CallFailure;
use host::view::{CallTimeouts, ServerState};
use mcp_proto::session::SessionTimeouts;
use serde_json::json;
use testkit::app::scripted_config;
use testkit::time::await_without_timer;

use crate::pair::{GoodAndBadServers, IDLE_CALL_TIMEOUT, TOTAL_CALL_TIMEOUT};

#[test]
fn x35_every_default_timeout_is_bounded() {
    let (opening, calls) = (SessionTimeouts::default(), CallTimeouts::default());
    assert_eq!(opening.initialize, Duration::from_secs(30), "X35: the timeout of initialize is 30 s");
    assert_eq!(opening.probe, Duration::from_secs(10), "X35: the timeout of server/discover is 10 s");
    assert!(
        calls.list.0 <= Duration::from_secs(30),
        "X35: the idle timeout of a list is at most 30 s: {:?}",
        calls.list
    );
    assert!(calls.tool.1 <= Duration::from_secs(3_600), "X35: a call has a total timeout: {:?}", calls.tool);
}

async fn assert_handshake_times_out(args: &[&str]) {
    let what = format!("X35 over stdio, {}", args.join(" "));
    let pair = GoodAndBadServers::start(scripted_config(args)).await;
    let failed = pair.app.until("bad", "failed", |s| matches!(s.state, ServerState::Failed(_)));
    let view = pair.while_good_server_responds(&what, failed).await;
    let ServerState::Failed(failure) = view.state else { panic!("{what}: the server has failed") };
    let message = &failure.message;
    assert!(
        message.contains("no answer") || message.contains("did not answer"),
        "{what}: the error message contains the cause: {message}"
    );
    pair.assert_memory_bounded(&what);
    pair.close(&what).await;
}

#[tokio::test]
async fn x35_unanswered_initialize_times_out() {
    assert_handshake_times_out(&["--misbehave", "silent@initialize"]).await;
}

#[tokio::test]
async fn x35_server_that_never_responds_times_out() {
    assert_handshake_times_out(&["--probe", "silence", "--misbehave", "silent@initialize"]).await;
}

/// The server ignores the request `server/discover`, as servers of older revisions may do. The host then sends
/// `initialize` instead.
#[tokio::test]
async fn x35_unanswered_discover_falls_back_to_initialize() {
    let what = "X35 over stdio, silence at server/discover";
    let pair = GoodAndBadServers::start(scripted_config(&["--probe", "silence"])).await;
    let ready = pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0);
    pair.while_good_server_responds(what, ready).await;
    pair.close(what).await;
}

#[tokio::test]
async fn x35_unanswered_list_keeps_the_server_usable_and_is_reported() {
    let what = "X35 over stdio, silence at tools/list";
    let pair = GoodAndBadServers::start(scripted_config(&["--misbehave", "silent@tools/list"])).await;
    pair.app.until("bad", "ready", |s| s.state == ServerState::Ready).await;
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
    let note = pair.while_good_server_responds(what, noted).await.expect("X35: the missing list is reported");
    assert!(note.contains("no answer"), "{what}: the report contains the cause: {note}");
    pair.close(what).await;
}

/// Starts a hostile server that never responds to a tool call. Returns the servers, and the folder and path of the file
/// to which it writes the messages that it receives.
async fn start_silent_server() -> (GoodAndBadServers, tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let path = record.to_str().unwrap();
    let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", "silent", "--record", path])).await;
    (pair, folder, record)
}

async fn assert_cancellation_sent(what: &str, record: &std::path::Path) {
    let is_cancelled = || std::fs::read_to_string(record).unwrap().contains("notifications/cancelled");
    let is_notified = testkit::deadline::poll_until(Duration::from_secs(1), is_cancelled).await;
    assert!(is_notified, "{what}: the server is notified: {}", std::fs::read_to_string(record).unwrap());
}

#[tokio::test]
async fn x35_unanswered_call_times_out_and_is_cancelled() {
    let what = "X35 over stdio, silence at tools/call";
    let (pair, _folder, record) = start_silent_server().await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &["no answer"]);
    assert!(call.took >= IDLE_CALL_TIMEOUT, "{what}: the timeout is not shortened: {:?}", call.took);
    assert_cancellation_sent(what, &record).await;
    pair.close(what).await;
}

#[tokio::test]
async fn x35_cancellation_is_immediate() {
    let what = "X35 over stdio, cancelling";
    let (pair, _folder, record) = start_silent_server().await;
    let call = pair.spawn_call("bad", "echo", json!({"text": "hello"}));
    let is_called = || std::fs::read_to_string(&record).unwrap().contains("tools/call");
    assert!(testkit::deadline::poll_until(TOTAL_CALL_TIMEOUT, is_called).await, "{what}: the call reaches the server");
    let ended = await_without_timer(what, async {
        pair.app.host.cancel_call("bad".into()).await.unwrap();
        call.await.unwrap()
    });
    assert_eq!(ended.await, Err(CallFailure::Cancelled), "{what}: the call is cancelled");
    assert_cancellation_sent(what, &record).await;
    pair.assert_good_server_responds(what, "afterwards").await;
    pair.close(what).await;
}
