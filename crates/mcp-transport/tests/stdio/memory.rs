//! Tests of the driver on two in-memory streams, with a paused clock.

use std::time::Duration;

use mcp_proto::{CloseReason, SessionEvent};
use mcp_transport::memory_end::{InMemoryStreamEnd, connected_stream_pair};
use mcp_transport::{DriverCommand, DriverEvent, StdioDriverLimits, run_over_streams};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use crate::support::session_config;

/// Starts a driver on in-memory streams. Returns the owner's channels and the server's end of the streams.
fn start_in_memory_driver(
    capacity: usize,
) -> (mpsc::Sender<DriverCommand>, mpsc::Receiver<DriverEvent>, InMemoryStreamEnd) {
    let (ours, servers) = connected_stream_pair(capacity);
    let (sender, events) = mpsc::channel(16);
    let commands = run_over_streams(session_config(), ours.reader, ours.writer, sender, StdioDriverLimits::default());
    (commands, events, servers)
}

async fn wait_for_close_reason(events: &mut mpsc::Receiver<DriverEvent>) -> CloseReason {
    while let Some(event) = events.recv().await {
        if let DriverEvent::Session(SessionEvent::Closed(reason)) = event {
            return reason;
        }
    }
    panic!("the session must report the reason for its end")
}

#[tokio::test(start_paused = true)]
async fn session_opens_over_an_in_memory_stream() {
    let (commands, mut events, servers) = start_in_memory_driver(64 * 1024);
    let InMemoryStreamEnd { reader, mut writer } = servers;
    let mut lines = BufReader::new(reader).lines();
    let initialize: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(initialize["method"], "initialize", "the driver must write the first message of the session");
    let result =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "m", "version": "1"}});
    let answer = json!({"jsonrpc": "2.0", "id": initialize["id"], "result": result});
    writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    let initialized = lines.next_line().await.unwrap().unwrap();
    assert!(initialized.contains("notifications/initialized"), "the session must continue: {initialized}");
    commands.send(DriverCommand::Stop).await.unwrap();
    assert_eq!(wait_for_close_reason(&mut events).await, CloseReason::StoppedByOwner, "Stop must end the session");
    assert_eq!(events.recv().await, None, "no event must follow");
}

#[tokio::test(start_paused = true)]
async fn closed_stream_closes_the_session() {
    let (_commands, mut events, servers) = start_in_memory_driver(64 * 1024);
    drop(servers);
    let reason = wait_for_close_reason(&mut events).await;
    assert!(
        matches!(reason, CloseReason::ServerClosedOutput | CloseReason::WriteFailed(_)),
        "a lost connection must close the session: {reason}"
    );
}

#[tokio::test(start_paused = true)]
async fn dropped_event_receiver_ends_the_driver() {
    let (commands, events, servers) = start_in_memory_driver(64 * 1024);
    let mut reader = servers.reader;
    drop(events);
    let mut rest = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(60), reader.read_to_end(&mut rest)).await;
    assert!(read.is_ok(), "the driver must close its end when its events are not received");
    let refused = commands.send(DriverCommand::Stop).await;
    assert!(refused.is_err(), "the driver must have ended");
}
