//! Tests of servers that end early, partially, or never.

use std::time::{Duration, Instant};

use mcp_proto::{CallError, CloseReason, SessionEvent};
use mcp_transport::{DriverCommand, DriverEvent, StdioDriverLimits};
use process::GracePeriods;
use serde_json::json;

use crate::support::{
    RunningDriver, launch_driver, launch_driver_with, scripted_command, start_ready_driver, tool_call,
};

/// Returns the index of the first received event for which `holds` returns `true`.
fn position_of_event(server: &RunningDriver, holds: impl Fn(&DriverEvent) -> bool) -> usize {
    server.received.iter().position(holds).expect("the event was received")
}

#[tokio::test]
async fn exit_during_a_call_fails_the_call() {
    let mut server = start_ready_driver(&["--misbehave", "exit"]).await;
    let result = server.echo("hello").await;
    let reason = CloseReason::ServerExited { status: Some(3), signal: None };
    assert_eq!(result, Err(CallError::Closed(reason.clone())), "the call must fail with the exit status");
    server.wait_until_driver_ends().await;
    let exited = position_of_event(&server, |event| *event == DriverEvent::Exited { status: Some(3), signal: None });
    let hint = position_of_event(
        &server,
        |event| matches!(event, DriverEvent::Stderr { line } if line.contains("DATABASE_PATH")),
    );
    let closed =
        position_of_event(&server, |event| *event == DriverEvent::Session(SessionEvent::Closed(reason.clone())));
    assert!(
        hint < exited && exited < closed,
        "the last output and the exit must be reported before the session is closed"
    );
    assert_eq!(
        server.handle.stderr.last_lines(2),
        ["fatal: cannot open the database", "hint: set DATABASE_PATH"],
        "[stdio-stderr-capture]: the last lines must be stored"
    );
}

#[tokio::test]
async fn immediate_exit_fails_the_handshake() {
    let mut server = launch_driver(&["--misbehave", "exit@start"]).await;
    server.wait_until_driver_ends().await;
    position_of_event(&server, |event| *event == DriverEvent::Exited { status: Some(3), signal: None });
    let failed = server.received.iter().find_map(|event| match event {
        DriverEvent::Session(SessionEvent::HandshakeFailed { cause, .. }) => Some(cause.as_str()),
        _ => None,
    });
    let cause = failed.expect("the handshake must fail if the server exits early");
    assert!(cause.contains("exit status 3"), "the cause must be reported, not: {cause}");
}

#[tokio::test]
async fn exit_within_a_stdout_line_reports_the_truncated_line() {
    let mut server = start_ready_driver(&["--misbehave", "half-line"]).await;
    let error = server.echo("hello").await.expect_err("a truncated response must fail the call");
    server.wait_until_driver_ends().await;
    assert_eq!(server.invalid_message_notes().len(), 1, "the truncated line must be shown: {error}");
    position_of_event(&server, |event| *event == DriverEvent::Exited { status: Some(4), signal: None });
}

#[tokio::test]
async fn end_of_the_server_by_a_signal_is_reported() {
    let mut server = start_ready_driver(&["--misbehave", "abort"]).await;
    let result = server.echo("hello").await;
    let reason = CloseReason::ServerExited { status: None, signal: Some(6) };
    assert_eq!(result, Err(CallError::Closed(reason)), "the signal must be reported");
    server.wait_until_driver_ends().await;
}

#[tokio::test]
async fn closed_output_of_a_running_server_ends_the_session() {
    let mut server = start_ready_driver(&["--misbehave", "close-stdout"]).await;
    let result = server.echo("hello").await;
    assert_eq!(
        result,
        Err(CallError::Closed(CloseReason::ServerClosedOutput)),
        "[stdio-server-closes-stdout], X40: the session must be closed"
    );
    let group = server.handle.process.group;
    server.wait_until_driver_ends().await;
    assert_eq!(testkit::processes::living_processes_in_group(group), Vec::<u32>::new(), "the process must be ended");
}

#[tokio::test]
async fn closed_input_of_a_running_server_fails_its_calls() {
    let mut server = start_ready_driver(&["--misbehave", "close-stdin"]).await;
    let first = server.start_call(tool_call("echo", json!({"text": "hello"}))).await;
    // sleep: no event reports that another program has closed its input.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let second = server.start_call(tool_call("echo", json!({"text": "again"}))).await;
    let result = server.wait_for_result(second).await;
    let words = result.expect_err("the call must fail, as it cannot be written").to_string();
    assert!(words.contains("writing to the server failed"), "the cause must be reported, not: {words}");
    server.wait_until_driver_ends().await;
    let of_first = server.received.iter().any(
        |event| matches!(event, DriverEvent::Session(SessionEvent::Done { call, result: Err(_) }) if *call == first),
    );
    assert!(of_first, "the previous call must fail as well");
}

#[tokio::test]
async fn well_behaved_server_exits_when_its_input_is_closed() {
    let mut server = start_ready_driver(&[]).await;
    server.stop().await;
    let stopped = DriverEvent::Session(SessionEvent::Closed(CloseReason::StoppedByOwner));
    let closed = position_of_event(&server, |event| *event == stopped);
    let exited = position_of_event(&server, |event| *event == DriverEvent::Exited { status: Some(0), signal: None });
    assert!(
        closed < exited,
        "[stdio-shutdown-close-stdin]: the session must be closed before the process exits by itself"
    );
}

#[tokio::test]
async fn unresponsive_server_is_killed() {
    let limits = StdioDriverLimits {
        grace: GracePeriods { after_close: Duration::from_millis(400), after_terminate: Duration::from_millis(400) },
        ..StdioDriverLimits::default()
    };
    let mut server = launch_driver_with(&scripted_command(&["--misbehave", "never-exits"]), limits).await;
    server.wait_until_ready().await;
    let begin = Instant::now();
    server.stop().await;
    let took = begin.elapsed();
    position_of_event(&server, |event| *event == DriverEvent::Exited { status: None, signal: Some(9) });
    assert!(
        took > Duration::from_millis(800),
        "[stdio-shutdown-wait-exit] [stdio-shutdown-sigkill] [lifecycle-shutdown-timeout]: the server must get its grace period, not {took:?}"
    );
}

#[tokio::test]
async fn second_stop_kills_the_server_immediately() {
    let grace = GracePeriods { after_close: Duration::from_secs(3_600), after_terminate: Duration::from_secs(3_600) };
    let limits = StdioDriverLimits { grace, ..StdioDriverLimits::default() };
    let mut server = launch_driver_with(&scripted_command(&["--misbehave", "never-exits"]), limits).await;
    server.wait_until_ready().await;
    server.send(DriverCommand::Stop).await;
    server.send(DriverCommand::Stop).await;
    server.wait_until_driver_ends().await;
    position_of_event(&server, |event| *event == DriverEvent::Exited { status: None, signal: Some(9) });
}

#[tokio::test]
async fn call_after_a_stop_is_refused() {
    let mut server = start_ready_driver(&["--misbehave", "never-exits"]).await;
    server.send(DriverCommand::Stop).await;
    let (reply, name) = tokio::sync::oneshot::channel();
    let deadline = mcp_proto::SessionTimeouts::default().deadline();
    server.send(DriverCommand::Call { request: tool_call("echo", json!({})), deadline, reply }).await;
    let refused = name.await.expect("the driver must still respond");
    assert_eq!(
        refused,
        Err(CallError::Closed(CloseReason::StoppedByOwner)),
        "the call must be refused with the reason"
    );
    server.send(DriverCommand::Stop).await;
    server.wait_until_driver_ends().await;
}

#[tokio::test]
async fn dropped_driver_handle_stops_the_server() {
    let RunningDriver { handle, mut events, .. } = start_ready_driver(&[]).await;
    let group = handle.process.group;
    drop(handle);
    let end = async { while events.recv().await.is_some() {} };
    testkit::deadline::within(Duration::from_secs(3), "the driver ends with its handle", end).await;
    assert_eq!(
        testkit::processes::living_processes_in_group(group),
        Vec::<u32>::new(),
        "no process of the server must remain"
    );
}
