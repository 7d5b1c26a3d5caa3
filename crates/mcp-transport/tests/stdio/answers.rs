//! Tests of responses that are missing, invalid, or belong to no request (hostile cases X35, X37, X38 and X42).
//!
//! Each such response may fail only the affected call, with a cause, and the server must stay usable.

use std::time::Duration;

use mcp_proto::{CallError, CancelReason, HandshakeFault, Revision, SessionEvent};
use mcp_transport::{DriverCommand, DriverEvent, FrameDirection};
use serde_json::json;
use testkit::deadline::poll_until;
use testkit::time::await_without_timer;

use crate::support::{RunningDriver, launch_driver, result_text, start_ready_driver, tool_call};

/// Asserts that a call of a server with this misbehaviour fails before its deadline, with a cause that contains
/// `words`.
async fn assert_call_fails_with_cause(misbehaviour: &[&str], words: &str) {
    let mut arguments = vec!["--misbehave"];
    arguments.extend(misbehaviour);
    let mut server = start_ready_driver(&arguments).await;
    // The wait is half of the call's deadline, so no timeout ends the call.
    let result = server.echo("hello").await;
    let Err(error) = result else { panic!("{misbehaviour:?}: the call must fail, not {result:?}") };
    assert!(error.to_string().contains(words), "{misbehaviour:?}: the cause must be reported, not: {error}");
    server.assert_server_still_answers(misbehaviour[0]).await;
    assert_eq!(
        server.invalid_message_notes().len(),
        1,
        "{misbehaviour:?}: the line must be reported with its fault: {:?}",
        server.invalid_message_notes()
    );
    server.stop().await;
}

#[tokio::test]
async fn unreadable_responses_fail_their_call_with_the_cause() {
    assert_call_fails_with_cause(&["invalid-utf8"], "invalid UTF-8").await;
    assert_call_fails_with_cause(&["nul-bytes"], "control character").await;
    assert_call_fails_with_cause(&["lone-surrogate"], "lone surrogate").await;
    assert_call_fails_with_cause(&["duplicate-key"], "twice").await;
    assert_call_fails_with_cause(&["wrong-version"], "jsonrpc").await;
    assert_call_fails_with_cause(&["both"], "both").await;
    assert_call_fails_with_cause(&["float-id"], "id").await;
}

#[tokio::test]
async fn json_nesting_of_responses_is_bounded() {
    assert_call_fails_with_cause(&["deep", "--count", "200"], "nests deeper").await;
    assert_call_fails_with_cause(&["deep", "--count", "100000"], "nests deeper").await;
}

#[tokio::test]
async fn large_responses_are_bounded() {
    assert_call_fails_with_cause(&["over-long"], "16777216 bytes").await;
    assert_call_fails_with_cause(&["over-long-id-last"], "16777216 bytes").await;
    assert_call_fails_with_cause(&["number-array"], "more than").await;
}

#[tokio::test]
async fn endless_line_fails_its_call_without_memory_growth() {
    let mut server = start_ready_driver(&["--misbehave", "no-newline", "--bytes", "200000000"]).await;
    let before = RunningDriver::resident_memory_bytes();
    let error = server.echo("hello").await.expect_err("X37: the call must fail, as the response never ends");
    assert!(error.to_string().contains("a line of more than"), "X37: the cause must be reported, not: {error}");
    // sleep: memory is measured while the server writes, in real time.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let grown = RunningDriver::resident_memory_bytes().saturating_sub(before);
    assert!(grown < 60_000_000, "X37: 200 MB in one line must not be stored, memory grew by {grown}");
    server.stop().await;
}

#[tokio::test]
async fn harmless_response_deviations_are_accepted() {
    for (misbehaviour, expected) in [
        ("crlf", "crlf"),
        ("blank-lines", "after blank lines"),
        ("lsp-header", "after headers"),
        ("wrong-id-first", "for you"),
        ("unknown-notification", "after an unknown notification"),
    ] {
        let mut server = start_ready_driver(&["--misbehave", misbehaviour]).await;
        let result = server.echo("hello").await;
        assert_eq!(result_text(&result), expected, "X37, X42: {misbehaviour} must not affect the response");
        server.stop().await;
    }
}

#[tokio::test]
async fn unmatched_responses_are_never_delivered() {
    for misbehaviour in ["wrong-id", "string-id", "null-id", "http-text", "silent"] {
        let mut server = start_ready_driver(&["--misbehave", misbehaviour]).await;
        let call = server.start_call(tool_call("echo", json!({"text": "hello"}))).await;
        server.assert_server_still_answers(misbehaviour).await;
        let delivered = server.received.iter().any(
            |event| matches!(event, DriverEvent::Session(SessionEvent::Done { call: ended, result: Ok(_) }) if *ended == call),
        );
        assert!(!delivered, "[stdio-response-correlation], X38: {misbehaviour} must not count as the response");
        server.stop().await;
    }
}

#[tokio::test]
async fn second_response_is_dropped_and_reported() {
    let mut server = start_ready_driver(&["--misbehave", "duplicate-answer"]).await;
    assert_eq!(result_text(&server.echo("hello").await), "first", "X38: the first response must be used");
    server.assert_server_still_answers("a second answer").await;
    let anomalies =
        server.received.iter().filter(|event| matches!(event, DriverEvent::Session(SessionEvent::Anomaly { .. })));
    assert_eq!(anomalies.count(), 1, "X38: the second response must be reported as an anomaly");
    server.stop().await;
}

#[tokio::test]
async fn start_up_banner_on_stdout_is_reported_without_effect() {
    let mut server = start_ready_driver(&["--misbehave", "banner"]).await;
    assert_eq!(result_text(&server.echo("hello").await), "hello", "X42: banner lines must not break the session");
    let notes = server.invalid_message_notes();
    assert_eq!(notes.len(), 3, "X42: each banner line must be reported: {notes:?}");
    assert!(notes[0].contains("standard output"), "X42: the fault must be reported: {}", notes[0]);
    server.stop().await;
}

#[tokio::test]
async fn batches_are_read_if_the_revision_has_them() {
    let mut server = start_ready_driver(&["--misbehave", "batch", "--revision", "2025-03-26"]).await;
    assert_eq!(
        result_text(&server.echo("hello").await),
        "from a batch",
        "[base-batch-receive]: batches must be accepted in 2025-03-26"
    );
    server.stop().await;
    let mut server = start_ready_driver(&["--misbehave", "batch", "--revision", "2025-11-25"]).await;
    let error = server.echo("hello").await.expect_err("batches must be refused in 2025-11-25");
    assert!(error.to_string().contains("batch"), "X42: the cause must be reported, not: {error}");
    server.stop().await;
}

#[tokio::test]
async fn cancelled_call_ends_immediately_and_the_server_is_notified() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = start_ready_driver(&["--misbehave", "silent", "--record", record.to_str().unwrap()]).await;
    let call = server.start_call(tool_call("echo", json!({"text": "hello"}))).await;
    let cancelled = await_without_timer("X35: cancelling", async {
        server.send(DriverCommand::Cancel { call, reason: CancelReason::User }).await;
        server.wait_for_result(call).await
    });
    assert_eq!(cancelled.await, Err(CallError::Cancelled), "X35: the call must end as cancelled");
    let is_cancelled = poll_until(Duration::from_secs(2), || {
        std::fs::read_to_string(&record).unwrap_or_default().contains("notifications/cancelled")
    })
    .await;
    assert!(is_cancelled, "[cancel-stdio-notify], X35: the server must receive notifications/cancelled");
    server.stop().await;
}

#[tokio::test]
async fn unanswered_initialize_times_out() {
    let mut server = launch_driver(&["--misbehave", "silent@initialize"]).await;
    server.wait_until_driver_ends().await;
    let failed = server.received.iter().find_map(|event| match event {
        DriverEvent::Session(SessionEvent::HandshakeFailed { cause, fault }) => Some((cause, fault)),
        _ => None,
    });
    let (cause, fault) = failed.expect("X35: the handshake must fail by its timeout");
    assert!(cause.contains("initialize"), "X35: the cause must be reported, not: {cause}");
    assert_eq!(*fault, HandshakeFault::NoAnswer, "X35: the failure must not be classified as an exit");
    let last = server.received.last();
    assert!(
        matches!(last, Some(DriverEvent::Exited { .. })),
        "the process must be ended as well, the last event is {last:?}"
    );
}

/// Covers the MCP requirement [stdio-launch-subprocess]: messages are exchanged over the pipes of a subprocess.
#[tokio::test]
async fn every_sent_and_received_line_is_reported_in_order() {
    let mut server = start_ready_driver(&["--revision", "2025-06-18"]).await;
    assert_eq!(result_text(&server.echo("hällo").await), "hällo", "the call must be answered");
    server.stop().await;
    let methods: Vec<(FrameDirection, String)> = server
        .frames()
        .map(|frame| {
            let message: serde_json::Value =
                serde_json::from_slice(&frame.bytes).expect("each frame is one whole message");
            (frame.direction, message["method"].as_str().unwrap_or("answer").to_owned())
        })
        .collect();
    let expected = [
        (FrameDirection::Sent, "initialize"),
        (FrameDirection::Received, "answer"),
        (FrameDirection::Sent, "notifications/initialized"),
        (FrameDirection::Sent, "tools/call"),
        (FrameDirection::Received, "answer"),
    ];
    assert_eq!(
        methods,
        expected.map(|(direction, method)| (direction, method.to_owned())),
        "[stdio-stdin-only-mcp]: sent and received lines must be reported in order"
    );
    let facts = server.received.iter().find_map(|event| match event {
        DriverEvent::Session(SessionEvent::Ready(facts)) => Some(facts.revision),
        _ => None,
    });
    assert_eq!(facts, Some(Revision::V2025_06_18), "the negotiated revision must be used");
}
