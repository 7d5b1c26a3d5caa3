//! Tests of servers that send floods of output, and of servers that do not read their input (hostile cases X40 and
//! X41).

use std::time::Duration;

use mcp_proto::{CloseReason, SessionEvent};
use mcp_transport::{DriverCommand, DriverEvent, StdioDriverLimits};
use serde_json::json;

use crate::support::{RunningDriver, launch_driver_with, result_text, scripted_command, start_ready_driver, tool_call};

#[tokio::test]
async fn stderr_without_a_newline_is_bounded_by_the_ring() {
    let mut server = start_ready_driver(&["--misbehave", "flood-stderr", "--bytes", "67108864"]).await;
    let before = RunningDriver::resident_memory_bytes();
    assert_eq!(
        result_text(&server.echo("hello").await),
        "after the flood",
        "X40: 64 MiB on stderr must not block the server"
    );
    let grown = RunningDriver::resident_memory_bytes().saturating_sub(before);
    assert!(grown < 20_000_000, "X40: memory grew by {grown}");
    assert!(server.handle.stderr.bytes() <= 1024 * 1024, "X40: the ring must stay within 1 MiB");
    server.stop().await;
    let dropped: u64 = server
        .received
        .iter()
        .map(|event| match event {
            DriverEvent::StderrDropped { bytes } => *bytes,
            _ => 0,
        })
        .sum();
    assert!(dropped > 67_000_000, "X40: dropped bytes must be counted, {dropped} were");
}

#[tokio::test]
async fn stderr_lines_are_rate_limited_and_the_last_retained() {
    let mut server = start_ready_driver(&["--misbehave", "flood-stderr-lines", "--count", "100000"]).await;
    assert_eq!(result_text(&server.echo("hello").await), "after the flood", "X40: the server must still work");
    server.stop().await;
    let shown = server.received.iter().filter(|event| matches!(event, DriverEvent::Stderr { .. })).count();
    assert!(shown < 1000, "X40: only some of 100,000 lines must be reported, not {shown}");
    assert_eq!(server.handle.stderr.last_lines(1), ["warning number 99999"], "the last line must be stored");
}

#[tokio::test]
async fn stderr_is_escaped_and_is_not_a_failure() {
    let mut server = start_ready_driver(&["--misbehave", "stderr-garbage"]).await;
    assert_eq!(
        result_text(&server.echo("hello").await),
        "after the garbage",
        "[stdio-stderr-not-error]: the call must succeed"
    );
    server.stop().await;
    assert_eq!(
        server.handle.stderr.last_lines(9),
        ["caf\u{fffd} \\x1b[2Jcleared", "\\x07bell"],
        "X11: control characters on stderr must be escaped"
    );
}

#[tokio::test]
async fn malformed_lines_are_counted_instead_of_reported_one_by_one() {
    let mut server = start_ready_driver(&["--misbehave", "flood-garbage", "--count", "200000"]).await;
    assert_eq!(
        result_text(&server.echo("hello").await),
        "after the flood",
        "X41: the response after the invalid lines must be found"
    );
    server.stop().await;
    assert!(server.received.len() < 1000, "200,000 invalid lines must not cause {} events", server.received.len());
    let (mut lines, mut bytes) = (0, 0);
    for event in &server.received {
        if let DriverEvent::InvalidDropped { lines: more, bytes: of_them, .. } = event {
            lines += more;
            bytes += of_them;
        }
    }
    let shown = server.invalid_message_notes().len() as u64;
    assert_eq!(lines + shown, 200_000, "X41: every line must be reported or counted ({shown} were reported)");
    assert!(bytes > lines * 30, "the bytes must be counted as well");
}

#[tokio::test]
async fn unmatched_responses_do_not_flood_events() {
    let mut server = start_ready_driver(&["--misbehave", "flood-unknown-answers", "--count", "20000"]).await;
    assert_eq!(result_text(&server.echo("hello").await), "after the flood", "X41: the correct response must be found");
    server.stop().await;
    let anomalies =
        server.received.iter().filter(|event| matches!(event, DriverEvent::Session(SessionEvent::Anomaly { .. })));
    let shown = anomalies.count();
    assert!(shown < 1000, "20,000 unrelated responses must not cause {shown} anomalies");
}

#[tokio::test]
async fn server_output_is_not_read_while_events_are_not_received() {
    let mut server = start_ready_driver(&["--misbehave", "flood-log", "--count", "200000"]).await;
    let before = RunningDriver::resident_memory_bytes();
    let call = server.start_call(tool_call("echo", json!({"text": "hello"}))).await;
    // sleep: memory is measured while the server writes, in real time, and no events are received.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let grown = RunningDriver::resident_memory_bytes().saturating_sub(before);
    assert!(grown < 20_000_000, "X41: memory grew by {grown} although no events were received");
    server.send(DriverCommand::Stop).await;
    // Events are still not received, but the process must be ended.
    let group = server.handle.process.group;
    let is_stopped = testkit::deadline::poll_until(Duration::from_secs(5), || {
        testkit::processes::living_processes_in_group(group).is_empty()
    })
    .await;
    assert!(is_stopped, "a stop must work although no events are received");
    let ended = server.wait_for_result(call).await;
    assert!(ended.is_err(), "the call must end with the session: {ended:?}");
    server.wait_until_driver_ends().await;
}

#[tokio::test]
async fn server_that_never_reads_cannot_block_the_driver() {
    let limits = StdioDriverLimits { write_stall: Duration::from_millis(800), ..StdioDriverLimits::default() };
    let mut server =
        launch_driver_with(&scripted_command(&["--misbehave", "flood-malformed", "--count", "20000"]), limits).await;
    server.wait_until_ready().await;
    let call = server.start_call(tool_call("echo", json!({"text": "hello"}))).await;
    // Larger than the capacity of a pipe.
    let large = "x".repeat(300_000);
    let second = server.start_call(tool_call("echo", json!({ "text": large }))).await;
    let first = server.wait_for_result(call).await;
    assert!(first.is_err(), "the call must end: {first:?}");
    let ended = server.wait_for_result(second).await;
    assert!(ended.is_err(), "the call that could not be written must fail: {ended:?}");
    server.wait_until_driver_ends().await;
    let reason = reported_close_reason(&server);
    let words = reason.to_string();
    assert!(
        matches!(reason, CloseReason::WriteFailed(_)) && words.contains("took none of"),
        "the reason must be reported, not: {words}"
    );
}

#[tokio::test]
async fn write_queue_is_bounded() {
    let limits = StdioDriverLimits { write_queue_bytes: 1_000_000, ..StdioDriverLimits::default() };
    let mut server = launch_driver_with(&scripted_command(&["--misbehave", "never-reads"]), limits).await;
    server.wait_until_ready().await;
    for _ in 0..8 {
        let (reply, name) = tokio::sync::oneshot::channel();
        let request = tool_call("echo", json!({"text": "x".repeat(200_000)}));
        let deadline = mcp_proto::SessionTimeouts::default().deadline();
        server.send(DriverCommand::Call { request, deadline, reply }).await;
        let _ = name.await;
    }
    server.wait_until_driver_ends().await;
    let words = reported_close_reason(&server).to_string();
    assert!(words.contains("does not read its input"), "the reason must be reported, not: {words}");
}

/// Returns the reason from the received [`SessionEvent::Closed`].
fn reported_close_reason(server: &RunningDriver) -> CloseReason {
    let reason = server.received.iter().find_map(|event| match event {
        DriverEvent::Session(SessionEvent::Closed(reason)) => Some(reason.clone()),
        _ => None,
    });
    reason.expect("the reason must be reported")
}
