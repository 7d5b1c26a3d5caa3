//! Tests the activity log: descriptions of messages, and bounds on its size.

use std::time::{Duration, SystemTime};
use testkit::calls::UserCalls as _;

use bytes::Bytes;
use host::HostOptions;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use mcp_transport::driver::{Frame, FrameDirection, FrameKind};
use policy::ApprovalScope;
use serde_json::json;
use supervision::activity::{
    ActivityKind, ActivityLog, DEFAULT_MAX_ACTIVITY_BYTES, MAX_ACTIVITY_ENTRIES, MAX_ENTRY_BODY_BYTES,
};
use testkit::app::{EVENT_TIMEOUT, TestApp, scripted_config};
use testkit::deadline::poll_until_async;

fn frame(sent: bool, at: SystemTime, bytes: &[u8], note: Option<String>) -> Frame {
    let bytes = Bytes::copy_from_slice(bytes);
    let direction = if sent { FrameDirection::Sent } else { FrameDirection::Received };
    Frame { direction, at, about: FrameKind::classify(&bytes), bytes, note }
}

#[test]
fn messages_are_described_and_responses_matched_to_requests() {
    let mut activity = ActivityLog::default();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    activity.append_frame(frame(true, at, br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, None));
    activity.append_frame(frame(false, at, br#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#, None));
    activity.append_frame(frame(
        false,
        at + Duration::from_millis(30),
        br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        None,
    ));
    activity.append_frame(frame(false, at, br#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#, None));
    activity.append_frame(frame(false, at, br#"[{"jsonrpc":"2.0","id":2,"result":{}}]"#, None));
    activity.append_frame(frame(false, at, b"hello", Some("no JSON".into())));
    let described: Vec<_> =
        activity.entries_after(0, 100).map(|e| (e.kind, e.method.as_deref().unwrap_or_default(), e.latency)).collect();
    let expected = [
        (ActivityKind::Request, "tools/call", None),
        (ActivityKind::Request, "roots/list", None),
        (ActivityKind::Response, "tools/call", Some(30.0)),
        (ActivityKind::Notification, "notifications/message", None),
        (ActivityKind::Batch, "", None),
        (ActivityKind::Invalid, "", None),
    ];
    assert_eq!(
        described, expected,
        "ids of the two directions are separate, and a response has the method and latency of its request"
    );
}

#[test]
fn large_message_is_described() {
    let mut activity = ActivityLog::default();
    let at = SystemTime::UNIX_EPOCH;
    let large = "x".repeat(2 * MAX_ENTRY_BODY_BYTES);
    let first = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{large}"}}}}"#);
    let last = format!(r#"{{"result":{{"a":"{large}"}},"jsonrpc":"2.0","id":2}}"#);
    let broken = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"a":"{large}"#);
    activity.append_frame(frame(false, at, first.as_bytes(), None));
    activity.append_frame(frame(false, at, last.as_bytes(), None));
    activity.append_frame(frame(false, at, broken.as_bytes(), Some("broken JSON".into())));
    let described: Vec<_> = activity.entries_after(0, 100).map(|e| (e.kind, e.id())).collect();
    let expected = [
        (ActivityKind::Response, Some("1".to_owned())),
        (ActivityKind::Response, Some("2".to_owned())),
        (ActivityKind::Invalid, None),
    ];
    assert_eq!(described, expected, "the id is found at any position, and an invalid message is not a response");
}

#[test]
fn list_is_stored_completely_and_compactly() {
    let mut activity = ActivityLog::default();
    let at = SystemTime::UNIX_EPOCH;
    let tools: Vec<String> =
        (0..50).map(|n| format!(r#"{{"name":"t{n}","inputSchema":{{"type":"object"}}}}"#)).collect();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
    activity.append_frame(frame(true, at, br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, None));
    activity.append_frame(frame(false, at, answer.as_bytes(), None));
    let entry = activity.entry(2).expect("the response is stored");
    assert_eq!((&*entry.body(), entry.bytes), (answer.as_str(), answer.len()), "the body is unmodified");
    assert_eq!(entry.preview(), answer.chars().take(200).collect::<String>(), "the preview is the start of the body");
}

#[test]
fn activity_log_is_bounded_in_entries_and_bytes() {
    let mut activity = ActivityLog::default();
    for _ in 0..MAX_ACTIVITY_ENTRIES + 50 {
        activity.append_line(ActivityKind::Stderr, "x");
    }
    assert_eq!(activity.entries_after(0, usize::MAX).count(), MAX_ACTIVITY_ENTRIES, "the oldest entries are dropped");
    assert_eq!(activity.missing_count(), 50, "dropped entries are counted");
    assert!(activity.entry(50).is_none() && activity.entry(51).is_some(), "entries are found by their number");
    let large = "y".repeat(2 * MAX_ENTRY_BODY_BYTES);
    for _ in 0..40 {
        activity.append_line(ActivityKind::Stderr, &large);
    }
    let retained: usize = activity.entries_after(0, usize::MAX).map(|e| e.body().len()).sum();
    assert!(retained <= DEFAULT_MAX_ACTIVITY_BYTES, "the bytes are bounded: {retained}");
    let last = activity.entry(activity.latest_sequence()).expect("the latest entry is stored");
    assert!(
        last.truncated && last.body().len() == MAX_ENTRY_BODY_BYTES && last.bytes == 2 * MAX_ENTRY_BODY_BYTES,
        "a large entry is truncated and contains its size"
    );
}

#[test]
fn paging_returns_the_latest_entries_in_order() {
    let mut activity = ActivityLog::default();
    for i in 0..10 {
        activity.append_line(ActivityKind::State, &i.to_string());
    }
    let seqs: Vec<u64> = activity.entries_after(4, 3).map(|e| e.seq).collect();
    assert_eq!(seqs, [8, 9, 10], "the latest three entries after the fourth are returned");
}

#[tokio::test]
async fn total_size_is_bounded_and_a_busy_server_loses_its_own_entries() {
    const TOTAL_BYTES: usize = 256 * 1024;
    let options = HostOptions { max_activity_bytes: TOTAL_BYTES, ..HostOptions::default() };
    let servers = vec![("loud", scripted_config(&[])), ("quiet", scripted_config(&[]))];
    let app = TestApp::start_in_folder(tempfile::tempdir().unwrap(), servers, options).await;
    app.ready("loud").await;
    app.ready("quiet").await;
    let is_call = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Tool { .. });
    let _user = app.decide_automatically(move |q| is_call(q).then_some(UserDecision::Allow(ApprovalScope::Once)));
    for number in 0..4 {
        let text = json!({ "text": "x".repeat(100 * 1024) });
        let arguments = text.as_object().cloned().unwrap();
        let call = app.host.call_tool(number.to_string(), "loud".into(), "echo".into(), arguments, None);
        call.await.unwrap_or_else(|error| panic!("the call returns a result: {error}"));
    }
    let retained = async |server: &str| {
        let page = app.host.activity_page(server.to_owned(), 0, usize::MAX).await.unwrap();
        (page.entries.iter().map(|entry| entry.body().len()).sum::<usize>(), page.missing)
    };
    let is_bounded = async || retained("loud").await.0 + retained("quiet").await.0 <= TOTAL_BYTES;
    assert!(poll_until_async(EVENT_TIMEOUT, is_bounded).await, "excess entries are dropped");
    assert!(retained("loud").await.1 > 0, "the oldest entries of the busy server are dropped and counted");
    let quiet = retained("quiet").await;
    assert!(quiet.0 > 0 && quiet.1 == 0, "the quiet server retains all entries");
}
