//! Scripted server of a session: sends lines, reads lines and advances the simulated time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use mcp_proto::types::{
    ClientCapabilities, ElicitationCapability, Implementation, RootsCapability, SamplingCapability,
};
use mcp_proto::*;
use serde_json::{Map, Value, json};

/// A session under test with a scripted server and a simulated clock.
pub(crate) struct TestSession {
    pub(crate) session: Session,
    pub(crate) now: Instant,
}

/// Returns the session configuration of a client with all capabilities.
pub(crate) fn client_config(handshake: HandshakeMode) -> SessionConfig {
    SessionConfig {
        client: Implementation { name: "test-host".into(), version: "1.0".into(), ..Implementation::default() },
        capabilities: ClientCapabilities {
            roots: Some(RootsCapability { list_changed: Some(true) }),
            sampling: Some(SamplingCapability { context: Some(Map::new()), tools: None }),
            elicitation: Some(ElicitationCapability { form: Some(Map::new()), url: Some(Map::new()) }),
            ..ClientCapabilities::default()
        },
        handshake,
        ..SessionConfig::default()
    }
}

/// Returns the capabilities of a server with all features.
pub(crate) fn all_capabilities() -> Value {
    json!({
        "tools": { "listChanged": true }, "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true }, "completions": {}, "logging": {},
    })
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) const LONG_DEADLINE: CallDeadline =
    CallDeadline { idle: Duration::from_secs(60), total: Duration::from_secs(600) };

impl TestSession {
    pub(crate) fn with_config(config: SessionConfig) -> TestSession {
        let now = Instant::now();
        TestSession { session: Session::new(config, now), now }
    }

    pub(crate) fn new(handshake: HandshakeMode) -> TestSession {
        TestSession::with_config(client_config(handshake))
    }

    /// Returns a session of `revision` after its handshake with a server that has all capabilities. Both queues are
    /// empty.
    pub(crate) fn ready(revision: Revision) -> TestSession {
        TestSession::ready_with(revision, all_capabilities(), client_config(HandshakeMode::Pinned(revision)))
    }

    /// Returns a session of `revision` over Streamable HTTP after its handshake.
    pub(crate) fn over_http(revision: Revision) -> TestSession {
        let settings = SessionConfig { carrier: TransportKind::StreamableHttp, ..client_config(HandshakeMode::Probe) };
        TestSession::ready_with(revision, all_capabilities(), settings)
    }

    pub(crate) fn ready_with(revision: Revision, capabilities: Value, mut config: SessionConfig) -> TestSession {
        config.handshake = HandshakeMode::Pinned(revision);
        let mut peer = TestSession::with_config(config);
        let opened = if revision.is_modern() {
            json!({ "supportedVersions": [revision], "capabilities": capabilities, "resultType": "complete" })
        } else {
            json!({ "protocolVersion": revision, "capabilities": capabilities,
                    "serverInfo": { "name": "peer", "version": "1" } })
        };
        let id = peer.take_sent_messages()[0]["id"].clone();
        peer.send_message(json!({ "jsonrpc": "2.0", "id": id, "result": opened }));
        let events = peer.take_events();
        assert!(matches!(events[..], [SessionEvent::Ready(_)]), "the session must open: {events:?}");
        for listen in peer.take_sent_messages().iter().filter(|sent| sent["method"] == "subscriptions/listen") {
            peer.acknowledge_subscription(listen);
        }
        assert_eq!(peer.take_events(), vec![], "an acknowledgement must not cause an event");
        peer
    }

    /// Delivers one line of the server to the session.
    pub(crate) fn send_line(&mut self, line: impl AsRef<[u8]>) {
        match IncomingMessage::decode(&Bytes::copy_from_slice(line.as_ref())) {
            Ok(message) => self.session.handle_message(message, StreamOrigin::Stdio, self.now),
            Err(invalid) => self.session.handle_invalid_message(invalid, self.now),
        }
    }

    pub(crate) fn send_message(&mut self, message: Value) {
        self.send_line(message.to_string());
    }

    pub(crate) fn send_result(&mut self, id: &Value, result: Value) {
        self.send_message(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(crate) fn send_error(&mut self, id: &Value, code: i64, message: &str) {
        self.send_message(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    pub(crate) fn send_notification(&mut self, method: &str, params: Value) {
        self.send_message(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Acknowledges all notifications that a `subscriptions/listen` request names.
    pub(crate) fn acknowledge_subscription(&mut self, listen: &Value) {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let granted = &listen["params"]["notifications"];
        self.send_notification(
            "notifications/subscriptions/acknowledged",
            json!({ "_meta": meta, "notifications": granted }),
        );
    }

    /// Returns the bodies and headers of the messages that the session has sent by POST since its messages were last
    /// taken.
    pub(crate) fn take_posts(&mut self) -> Vec<(Value, HttpPostHeaders)> {
        std::iter::from_fn(|| self.session.poll_transmit())
            .filter(|outgoing| !matches!(outgoing.about, OutgoingMessageKind::Abort { .. }))
            .map(|outgoing| {
                let body = serde_json::from_str(&outgoing.json).expect("[http-post-body-single]: one message");
                (body, outgoing.head.map(|head| *head).unwrap_or_default())
            })
            .collect()
    }

    pub(crate) fn take_post(&mut self) -> (Value, HttpPostHeaders) {
        let mut posts = self.take_posts();
        assert_eq!(posts.len(), 1, "exactly one message must be posted: {posts:?}");
        posts.remove(0)
    }

    /// Reports to the session that the request with this id was not delivered.
    pub(crate) fn report_undelivered(&mut self, id: &Value, fault: DeliveryFault) {
        let id = RequestId::Number(id.as_i64().expect("ids of the client are numbers"));
        self.session.handle_undelivered_request(&id, fault, self.now);
    }

    pub(crate) fn report_http_error_status(&mut self, id: &Value, code: u16, body: &str) {
        let error = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|body| serde_json::from_value(body["error"].clone()).ok());
        self.report_undelivered(id, DeliveryFault::Status { code, error, text: body.into(), challenge: None });
    }

    pub(crate) fn send_request(&mut self, id: Value, method: &str, params: Value) {
        self.send_message(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// Returns the messages that the session has sent since its messages were last taken.
    pub(crate) fn take_sent_messages(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.session.poll_transmit())
            .map(|outgoing| {
                if let OutgoingMessageKind::Abort { id } = outgoing.about {
                    assert!(outgoing.json.is_empty(), "an abort must not have a message");
                    return json!({ "aborted": id });
                }
                assert!(
                    !outgoing.json.contains('\n'),
                    "[stdio-newline-delimited]: no raw newline in {}",
                    outgoing.json
                );
                serde_json::from_str(&outgoing.json).expect("[stdio-stdin-only-mcp]: output must be JSON")
            })
            .collect()
    }

    /// Returns the message that the session has sent since its messages were last taken. Panics unless it is exactly
    /// one.
    pub(crate) fn take_sent_message(&mut self) -> Value {
        let mut sent = self.take_sent_messages();
        assert_eq!(sent.len(), 1, "exactly one message must be sent: {sent:?}");
        sent.remove(0)
    }

    pub(crate) fn take_events(&mut self) -> Vec<SessionEvent> {
        std::iter::from_fn(|| self.session.poll_event()).collect()
    }

    pub(crate) fn take_event(&mut self) -> SessionEvent {
        let mut events = self.take_events();
        assert_eq!(events.len(), 1, "exactly one event must be reported: {events:?}");
        events.remove(0)
    }

    /// Advances the simulated clock, and lets the session handle each timeout when it is due.
    pub(crate) fn advance_time(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.session.poll_timeout().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            self.session.handle_timeout(self.now);
            assert!(
                self.session.poll_timeout().is_none_or(|next| next > self.now),
                "a handled timeout must not stay due"
            );
        }
        self.now = until;
        self.session.handle_timeout(until);
    }

    pub(crate) fn call(&mut self, request: ClientRequest) -> CallId {
        self.session.call(request, LONG_DEADLINE, self.now).expect("the call must be accepted")
    }

    /// Starts a call. Returns its id and the request that the session sent for it.
    pub(crate) fn start_call(&mut self, request: ClientRequest) -> (CallId, Value) {
        let call = self.call(request);
        (call, self.take_sent_message())
    }

    /// Returns the result of `expected`, which must be the only call that ended.
    pub(crate) fn take_result(&mut self, expected: CallId) -> Result<ServerResult, CallError> {
        let mut ends: Vec<_> = self
            .take_events()
            .into_iter()
            .filter_map(|event| match event {
                SessionEvent::Done { call, result } => Some((call, result)),
                _ => None,
            })
            .collect();
        assert_eq!(ends.len(), 1, "exactly one call must end: {ends:?}");
        let (call, result) = ends.remove(0);
        assert_eq!(call, expected, "the answered call must end");
        result
    }

    /// Returns the server's request from the only event that the session reported.
    pub(crate) fn take_server_request(&mut self) -> (ServerRequestId, Option<CallId>, ServerRequest) {
        match self.take_event() {
            SessionEvent::RequestReceived { request, call, server_request } => (request, call, *server_request),
            other => panic!("expected a request of the server, not {other:?}"),
        }
    }
}

pub(crate) fn tool_call() -> ClientRequest {
    let arguments = json!({ "text": "hi" }).as_object().cloned().unwrap_or_default();
    ClientRequest::CallTool { name: "add_note".into(), arguments, as_task: false }
}

pub(crate) fn form_elicitation_params() -> Value {
    json!({ "message": "Which day?", "requestedSchema": { "type": "object", "properties": {} } })
}

pub(crate) fn sampling_params() -> Value {
    json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "2+2?" } }], "maxTokens": 10 })
}

pub(crate) fn accepted_form_response() -> ClientResponse {
    let content = json!({ "day": "2026-08-01" }).as_object().cloned();
    ClientResponse::Elicitation(mcp_proto::types::ElicitResult {
        action: mcp_proto::types::ElicitAction::Accept,
        content,
    })
}

/// Asserts that `whole` contains `part`. Only the members of `part` are compared in objects; other values must be
/// equal.
#[track_caller]
pub(crate) fn assert_json_contains(whole: &Value, part: &Value, proves: &str) {
    fn json_contains(whole: &Value, part: &Value) -> bool {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| json_contains(whole, part)))
            }
            _ => whole == part,
        }
    }
    assert!(json_contains(whole, part), "{proves}: {whole} must contain {part}");
}
