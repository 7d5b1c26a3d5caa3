//! A driver with a scripted server, and helpers that wait for its events.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_proto::{
    CallDeadline, CallError, CallId, ClientRequest, HandshakeMode, ServerResult, SessionConfig, SessionEvent,
    SessionTimeouts,
};
use mcp_transport::{DriverCommand, DriverEvent, DriverHandle, Frame, StdioDriverLimits, run_with_limits};
use process::{SearchPath, ServerCommand, ServerProcess, spawn};
use serde_json::{Map, Value, json};
use testkit::deadline::within;
use tokio::sync::{mpsc, oneshot};

/// Maximum time for which a test waits for an event of the driver.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(9);

pub struct RunningDriver {
    pub handle: DriverHandle,
    pub events: mpsc::Receiver<DriverEvent>,
    /// Events that the test has received from the driver so far, in order.
    pub received: Vec<DriverEvent>,
}

/// Returns the command that runs `scripted-server` with these arguments.
pub fn scripted_command(arguments: &[&str]) -> ServerCommand {
    ServerCommand {
        approved: None,
        files: None,
        program: testkit::binaries::scripted_server().display().to_string(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        environment: BTreeMap::new(),
        working_directory: None,
        sandbox: None,
    }
}

pub async fn start_process(command: &ServerCommand) -> ServerProcess {
    let path = SearchPath::from_process("a test".to_owned());
    let program = path.resolve(command).expect("the server is there");
    spawn(command, &program, &path).await.expect("the server must start")
}

pub fn session_config() -> SessionConfig {
    SessionConfig {
        handshake: HandshakeMode::Initialize,
        timeouts: SessionTimeouts { initialize: Duration::from_secs(5), ..SessionTimeouts::default() },
        ..SessionConfig::default()
    }
}

/// Starts `scripted-server` and its driver, without waiting for the end of the handshake.
pub async fn launch_driver(arguments: &[&str]) -> RunningDriver {
    launch_driver_with(&scripted_command(arguments), StdioDriverLimits::default()).await
}

pub async fn launch_driver_with(command: &ServerCommand, limits: StdioDriverLimits) -> RunningDriver {
    let process = start_process(command).await;
    let (sender, events) = mpsc::channel(64);
    let handle = run_with_limits(session_config(), process, sender, limits);
    RunningDriver { handle, events, received: Vec::new() }
}

/// Starts `scripted-server` and its driver, and waits until the session is ready.
pub async fn start_ready_driver(arguments: &[&str]) -> RunningDriver {
    let mut running = launch_driver(arguments).await;
    running.wait_until_ready().await;
    running
}

impl RunningDriver {
    pub async fn wait_until_ready(&mut self) {
        self.wait_for_event("the server is ready", |event| {
            matches!(event, DriverEvent::Session(SessionEvent::Ready(_))).then_some(())
        })
        .await;
    }

    /// Receives events until `find` returns `Some` for one, and returns its value. `what` describes the event if none
    /// arrives in time.
    pub async fn wait_for_event<T>(&mut self, what: &str, mut find: impl FnMut(&DriverEvent) -> Option<T>) -> T {
        within(WAIT_TIMEOUT, what, async {
            loop {
                let Some(event) = self.events.recv().await else {
                    panic!("{what}: the driver has ended, after {:?}", self.received.last());
                };
                let found = find(&event);
                self.received.push(event);
                if let Some(found) = found {
                    return found;
                }
            }
        })
        .await
    }

    /// Receives events until the driver has ended.
    pub async fn wait_until_driver_ends(&mut self) {
        within(WAIT_TIMEOUT, "the driver ends", async {
            while let Some(event) = self.events.recv().await {
                self.received.push(event);
            }
        })
        .await;
    }

    pub async fn send(&self, command: DriverCommand) {
        self.handle.commands.send(command).await.expect("the driver must accept commands");
    }

    pub async fn start_call(&self, request: ClientRequest) -> CallId {
        let (reply, name) = oneshot::channel();
        let deadline = CallDeadline { idle: WAIT_TIMEOUT * 2, total: WAIT_TIMEOUT * 2 };
        self.send(DriverCommand::Call { request, deadline, reply }).await;
        name.await.expect("the driver must respond").expect("the call is sent")
    }

    /// Waits until a call has ended, and returns its result or error.
    pub async fn wait_for_result(&mut self, call: CallId) -> Result<ServerResult, CallError> {
        self.wait_for_event("the call ends", |event| match event {
            DriverEvent::Session(SessionEvent::Done { call: ended, result }) if *ended == call => Some(result.clone()),
            _ => None,
        })
        .await
    }

    /// Calls the tool `echo` and returns its result.
    pub async fn echo(&mut self, text: &str) -> Result<ServerResult, CallError> {
        let call = self.start_call(tool_call("echo", json!({ "text": text }))).await;
        self.wait_for_result(call).await
    }

    /// Asserts that the server still responds after the action that `after` describes.
    pub async fn assert_server_still_answers(&mut self, after: &str) {
        let call = self.start_call(ClientRequest::Ping).await;
        let result = self.wait_for_result(call).await;
        assert_eq!(result, Ok(ServerResult::Empty), "the server must still be usable after {after}");
    }

    pub async fn stop(&mut self) {
        self.send(DriverCommand::Stop).await;
        self.wait_until_driver_ends().await;
    }

    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.received.iter().filter_map(|event| match event {
            DriverEvent::Frame(frame) => Some(frame),
            _ => None,
        })
    }

    /// Returns the [`Frame::note`] of each received invalid message.
    pub fn invalid_message_notes(&self) -> Vec<&str> {
        self.frames().filter_map(|frame| frame.note.as_deref()).collect()
    }

    /// Returns the resident memory of the test process in bytes.
    pub fn resident_memory_bytes() -> u64 {
        testkit::processes::resident_bytes(std::process::id()).unwrap_or_default()
    }
}

pub fn tool_call(name: &str, arguments: Value) -> ClientRequest {
    let arguments = match arguments {
        Value::Object(map) => map.into_iter().collect(),
        _ => Map::new(),
    };
    ClientRequest::CallTool { name: name.to_owned(), arguments, as_task: false }
}

/// Returns the text of a tool's result. Panics if the call failed.
pub fn result_text(result: &Result<ServerResult, CallError>) -> String {
    match result {
        Ok(ServerResult::Tool(result)) => result
            .content
            .iter()
            .filter_map(|block| serde_json::to_value(block).ok()?["text"].as_str().map(str::to_owned))
            .collect(),
        other => panic!("expected a tool's result, not {other:?}"),
    }
}
