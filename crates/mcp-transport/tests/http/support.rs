//! A client for scripted HTTP servers, with helpers that wait for its events.

use std::io;
use std::time::Duration;

use mcp_proto::{
    CallDeadline, CallError, CallId, ClientRequest, CloseReason, HandshakeFault, ServerResult, SessionConfig,
    SessionEvent,
};
use mcp_transport::driver::{DetectedTransport, DriverCommand, DriverEvent};
use mcp_transport::http::{HttpLimits, HttpTarget, TransportChoice, run};
use serde_json::{Map, Value, json};
pub use testkit::deadline::{poll_until, within};
use testkit::http::ordinary;
pub use testkit::http::{HttpRequest, HttpResponder, HttpServer};
use tokio::sync::{mpsc, oneshot};

/// Maximum time for which a test waits for an event of the driver.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(9);
/// Maximum time that the driver takes to close a session: 2 s, plus a tolerance for rounding.
pub const DRIVER_CLOSE_TIMEOUT: Duration = Duration::from_millis(2_100);
pub const MODERN_REVISION: &str = "2026-07-28";
pub const LEGACY_REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
pub const NEWEST_LEGACY_REVISION: &str = "2025-11-25";
pub const SESSION_ID: &str = "Session-1";

pub struct TestClient {
    pub commands: mpsc::Sender<DriverCommand>,
    pub events: mpsc::Receiver<DriverEvent>,
    /// Events that the test has received from the driver so far, in order.
    pub received: Vec<DriverEvent>,
}

pub fn http_target(url: &str) -> HttpTarget {
    HttpTarget {
        url: url.parse().expect("a URL"),
        headers: Vec::new(),
        transport: TransportChoice::Auto,
        known: None,
        authorizer: None,
    }
}

pub fn test_limits() -> HttpLimits {
    HttpLimits { pause: Duration::from_millis(200), ..HttpLimits::default() }
}

/// Starts a client of the server at `url`, without waiting for the end of the handshake.
pub fn start_client(url: &str) -> TestClient {
    start_client_with(SessionConfig::default(), http_target(url), test_limits())
}

pub fn start_client_with(session: SessionConfig, target: HttpTarget, limits: HttpLimits) -> TestClient {
    let (sender, events) = mpsc::channel(64);
    TestClient { commands: run(session, target, sender, limits), events, received: Vec::new() }
}

/// Starts a client and waits until its session is ready.
pub async fn start_ready_client(url: &str) -> TestClient {
    let mut client = start_client(url);
    client.wait_until_ready().await;
    client
}

impl TestClient {
    /// Receives events until `find` returns `Some` for one, and returns its value. `what` describes the event if none
    /// arrives in time.
    pub async fn wait_for_event<T>(&mut self, what: &str, mut find: impl FnMut(&DriverEvent) -> Option<T>) -> T {
        let received = &mut self.received;
        let found = tokio::time::timeout(WAIT_TIMEOUT, async {
            loop {
                let Some(event) = self.events.recv().await else {
                    panic!("{what}: the driver has ended, after {received:#?}");
                };
                let found = find(&event);
                received.push(event);
                if let Some(found) = found {
                    return found;
                }
            }
        })
        .await;
        found.unwrap_or_else(|_| panic!("{what}: did not happen within the timeout, events: {:#?}", self.received))
    }

    pub async fn wait_until_ready(&mut self) {
        self.wait_for_event("the server is ready", |event| {
            matches!(event, DriverEvent::Session(SessionEvent::Ready(_))).then_some(())
        })
        .await;
    }

    /// Waits for a [`DriverEvent::Note`] that contains `text`, and returns the note.
    pub async fn wait_for_note(&mut self, text: &str) -> String {
        if let Some(line) = self.connection_notes().into_iter().find(|line| line.contains(text)) {
            return line;
        }
        self.wait_for_event(&format!("a note with {text:?}"), |event| match event {
            DriverEvent::Note { line } if line.contains(text) => Some(line.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until the handshake has failed. Returns the cause and its classification.
    pub async fn wait_for_handshake_failure(&mut self) -> (String, HandshakeFault) {
        self.wait_for_event("the opening fails", |event| match event {
            DriverEvent::Session(SessionEvent::HandshakeFailed { cause, fault }) => Some((cause.clone(), *fault)),
            _ => None,
        })
        .await
    }

    pub async fn wait_until_closed(&mut self) -> CloseReason {
        self.wait_for_event("the session closes", |event| match event {
            DriverEvent::Session(SessionEvent::Closed(reason)) => Some(reason.clone()),
            _ => None,
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
        self.commands.send(command).await.expect("the driver must accept commands");
    }

    pub async fn stop(&mut self) {
        self.send(DriverCommand::Stop).await;
        self.wait_until_driver_ends().await;
    }

    pub async fn start_call(&self, request: ClientRequest) -> CallId {
        self.start_call_with_idle_timeout(request, WAIT_TIMEOUT * 2).await
    }

    pub async fn start_call_with_idle_timeout(&self, request: ClientRequest, idle: Duration) -> CallId {
        let (reply, name) = oneshot::channel();
        let deadline = CallDeadline { idle, total: WAIT_TIMEOUT * 2 };
        self.send(DriverCommand::Call { request, deadline, reply }).await;
        name.await.expect("the driver must respond").expect("the call is sent")
    }

    /// Waits until a call has ended, and returns its result or error.
    pub async fn wait_for_result(&mut self, call: CallId) -> Result<ServerResult, CallError> {
        let found = |event: &DriverEvent| match event {
            DriverEvent::Session(SessionEvent::Done { call: ended, result }) if *ended == call => Some(result.clone()),
            _ => None,
        };
        if let Some(result) = self.received.iter().find_map(found) {
            return result;
        }
        self.wait_for_event("the call ends", found).await
    }

    pub async fn call(&mut self, request: ClientRequest) -> Result<ServerResult, CallError> {
        let call = self.start_call(request).await;
        self.wait_for_result(call).await
    }

    /// Calls the tool `echo` and returns the text of its result.
    pub async fn echo(&mut self, text: &str) -> String {
        let result = self.call(echo_call(text)).await;
        self::result_text(&result)
    }

    pub fn connection_notes(&self) -> Vec<String> {
        let note =
            |event: &'_ DriverEvent| if let DriverEvent::Note { line } = event { Some(line.clone()) } else { None };
        self.received.iter().filter_map(note).collect()
    }

    /// Returns the detected transport, and the steps of its detection as text.
    pub fn detected_transport(&self) -> (DetectedTransport, String) {
        let found = self.received.iter().find_map(|event| match event {
            DriverEvent::Connected { transport, how } => Some((*transport, how.clone())),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("the transport was not reported: {:#?}", self.received))
    }
}

pub fn echo_call(text: &str) -> ClientRequest {
    tool_call("echo", json!({ "text": text }))
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

/// Returns the cause of [`CallError::Undelivered`]. Panics for any other result.
pub fn undelivered_cause(result: &Result<ServerResult, CallError>) -> &str {
    match result {
        Err(CallError::Undelivered { cause, .. }) => cause,
        other => panic!("expected an undelivered call, not {other:?}"),
    }
}

/// Handles a request as a legacy server with the session ID [`SESSION_ID`], which refuses requests without this ID.
/// Methods other than POST and DELETE get status 405.
pub async fn respond_in_session(revision: &str, request: &HttpRequest, mut answer: HttpResponder) -> io::Result<()> {
    let body = request.json();
    let method = request.rpc_method();
    if method == "initialize" {
        let headers = format!("content-type: application/json\r\nMcp-Session-Id: {SESSION_ID}\r\n");
        return answer.respond(200, &headers, ordinary::response_message(revision, &body).to_string().as_bytes()).await;
    }
    if method == "server/discover" {
        return answer.status(400).await;
    }
    if request.header("mcp-session-id") != Some(SESSION_ID) {
        return answer.status(400).await;
    }
    match request.method.as_str() {
        "DELETE" => answer.status(204).await,
        _ => ordinary::respond(revision, request, answer).await,
    }
}

/// Responds to a JSON-RPC request with an event stream that contains the result.
pub async fn respond_with_sse_event(
    revision: &str,
    request: &HttpRequest,
    answer: &mut HttpResponder,
) -> io::Result<()> {
    answer.event(&ordinary::response_message(revision, &request.json())).await
}

/// Returns a progress notification with the progress token of a request.
pub fn progress_notification(request: &HttpRequest, progress: u64) -> Value {
    let token = &request.json()["params"]["_meta"]["progressToken"];
    json!({ "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": token, "progress": progress } })
}

/// Returns the requests with the HTTP method `method` that the server has received.
pub fn requests_with_method(server: &HttpServer, method: &str) -> Vec<HttpRequest> {
    server.received_requests().into_iter().filter(|request| request.method == method).collect()
}
