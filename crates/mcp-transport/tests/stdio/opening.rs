//! Tests of the detection of the revision with real processes.

use mcp_proto::{HandshakeFault, HandshakeMode, Revision, SessionConfig, SessionEvent, SessionTimeouts};
use mcp_transport::{DriverEvent, run};
use std::time::Duration;
use tokio::sync::mpsc;

use crate::support::{RunningDriver, result_text, scripted_command, session_config, start_process};

/// Starts `scripted-server` with a session that sends `server/discover` first.
async fn start_probed_driver(arguments: &[&str]) -> RunningDriver {
    let process = start_process(&scripted_command(arguments)).await;
    let (sender, events) = mpsc::channel(64);
    let timeouts = SessionTimeouts { probe: Duration::from_millis(300), ..session_config().timeouts };
    let handle = run(SessionConfig { handshake: HandshakeMode::Probe, timeouts, ..session_config() }, process, sender);
    RunningDriver { handle, events, received: Vec::new() }
}

async fn assert_session_opens_with_revision(arguments: &[&str], revision: Revision) {
    let mut server = start_probed_driver(arguments).await;
    let found = server
        .wait_for_event("the server is ready", |event| match event {
            DriverEvent::Session(SessionEvent::Ready(facts)) => Some(facts.revision),
            _ => None,
        })
        .await;
    assert_eq!(found, revision, "{arguments:?}: the server's revision must be detected");
    assert_eq!(result_text(&server.echo("hello").await), "hello", "{arguments:?}: the session must work");
    server.stop().await;
}

#[tokio::test]
async fn every_revision_is_detected() {
    for revision in Revision::ALL {
        assert_session_opens_with_revision(&["--revision", &revision.to_string()], revision).await;
    }
}

#[tokio::test]
async fn silent_probe_falls_back_to_legacy() {
    // [stdio-probe-timeout-fallback]
    assert_session_opens_with_revision(&["--probe", "silence"], Revision::V2025_11_25).await;
}

#[tokio::test]
async fn exit_on_the_probe_is_reported() {
    let mut server = start_probed_driver(&["--probe", "exit"]).await;
    server.wait_until_driver_ends().await;
    let on_probe = server.received.iter().find_map(|event| match event {
        DriverEvent::Session(SessionEvent::HandshakeFailed { fault, .. }) => {
            Some(*fault == HandshakeFault::ExitedOnProbe)
        }
        _ => None,
    });
    assert_eq!(on_probe, Some(true), "the failure must be classified as an exit on the probe");
}
