//! A minimal host that reads and writes JSON over two pipes, so that the messages are not interpreted by code under
//! test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Timeout for one message of the server, long enough for a busy computer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// Maximum number of unread messages of the server. The server blocks if there are more.
const MAX_UNREAD_MESSAGES: usize = 1000;

/// Returns the capabilities that the host declares.
pub(crate) fn declared_host_capabilities() -> Value {
    json!({
        "sampling": {},
        "roots": { "listChanged": true },
        "elicitation": { "form": {}, "url": {} }
    })
}

/// A test host: the process of the demo server, and the pipes to it.
pub(crate) struct TestHost {
    server: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    last_id: u64,
    /// Notifications and requests of the server that arrived while the host waited for another message.
    pub(crate) unread: Vec<Value>,
}

impl TestHost {
    /// Starts the server process with these command-line arguments.
    #[expect(clippy::disallowed_methods, reason = "this host shares no code with the one under test")]
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_demo-server"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the demo server should start");
        let lines = BufReader::new(server.stdout.take().expect("standard output should be a pipe"));
        let (sender, output) = sync_channel(MAX_UNREAD_MESSAGES);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("{error}: invalid line on standard output: {line:?}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { input: server.stdin.take(), server, output, last_id: 0, unread: vec![] }
    }

    /// Starts the server, and opens a session with `initialize`.
    pub(crate) fn start_legacy(revision: &str) -> Self {
        let mut host = Self::start(&[]);
        let params = json!({
            "protocolVersion": revision,
            "capabilities": declared_host_capabilities(),
            "clientInfo": { "name": "test", "version": "1" }
        });
        let result = host.request_result("initialize", params);
        assert_eq!(result["protocolVersion"], revision, "the server should accept the offered revision (lifecycle)");
        host.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        host
    }

    /// Sends a request in a session, and returns its ID. Does not wait for the response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a stateless request with its required metadata, and returns its ID.
    pub(crate) fn modern_request(&mut self, method: &str, mut params: Value) -> u64 {
        if params["_meta"].is_null() {
            params["_meta"] = json!({});
        }
        let prefix = "io.modelcontextprotocol";
        params["_meta"][format!("{prefix}/protocolVersion")] = json!("2026-07-28");
        params["_meta"][format!("{prefix}/clientInfo")] = json!({ "name": "test", "version": "1" });
        params["_meta"][format!("{prefix}/clientCapabilities")] = declared_host_capabilities();
        self.request(method, params)
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request_result(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.wait_for_result(id)
    }

    /// Sends a stateless request, and waits for its result.
    pub(crate) fn modern_result(&mut self, method: &str, params: Value) -> Value {
        let id = self.modern_request(method, params);
        self.wait_for_result(id)
    }

    /// Waits for the result of the request with this ID.
    pub(crate) fn wait_for_result(&mut self, id: u64) -> Value {
        let mut answer = self.wait_for_response(id);
        assert!(answer["error"].is_null(), "unexpected error: {answer}");
        answer["result"].take()
    }

    /// Waits for the error of the request with this ID.
    pub(crate) fn wait_for_error(&mut self, id: u64) -> Value {
        let mut answer = self.wait_for_response(id);
        assert!(answer["result"].is_null(), "expected an error: {answer}");
        answer["error"].take()
    }

    fn wait_for_response(&mut self, id: u64) -> Value {
        loop {
            let message = self.next_message("a response");
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            assert!(!message["method"].is_null(), "every response should belong to the pending request: {message}");
            self.unread.push(message);
        }
    }

    /// Waits for a notification or a request of the server with this method.
    pub(crate) fn wait_for_message(&mut self, method: &str) -> Value {
        if let Some(index) = self.unread.iter().position(|m| m["method"] == method) {
            return self.unread.remove(index);
        }
        loop {
            let message = self.next_message(method);
            if message["method"] == method {
                return message;
            }
            self.unread.push(message);
        }
    }

    /// Waits for a request of the server with this method, and responds with the result.
    pub(crate) fn respond_to(&mut self, method: &str, result: Value) -> Value {
        let request = self.wait_for_message(method);
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        request
    }

    /// Waits for the given time, and returns all messages that arrived until then and were not read yet.
    pub(crate) fn collect_messages(&mut self, time: Duration) -> Vec<Value> {
        let end = Instant::now() + time;
        let mut received = std::mem::take(&mut self.unread);
        while let Ok(message) = self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
            received.push(message);
        }
        received
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("standard input should be open");
        writeln!(input, "{message}").expect("the server should read standard input");
    }

    /// Closes standard input and waits until the server has exited. If it does not exit, the test runner's timeout ends
    /// the test.
    pub(crate) fn close(mut self) {
        self.input = None;
        let status = self.server.wait().expect("waiting for the server should succeed");
        assert!(status.success(), "the server should exit successfully when standard input is closed: {status}");
    }

    fn next_message(&mut self, what: &str) -> Value {
        self.output.recv_timeout(RESPONSE_TIMEOUT).unwrap_or_else(|error| panic!("no {what} received: {error}"))
    }
}

impl Drop for TestHost {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the texts in a tool's result, joined.
pub(crate) fn joined_texts(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("the result should have content");
    let texts: Vec<_> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
    texts.join("\n")
}
