//! Property tests: no input causes a panic, and every response and end occurs exactly once.

mod inputs;

use inputs::{SessionInput, any_input, any_json, any_message, any_tool_result};

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use mcp_proto::types::{CallToolResult, ElicitAction, ElicitResult};
use mcp_proto::*;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::peer::{
    LONG_DEADLINE, TestSession, all_capabilities, client_config, form_elicitation_params, sampling_params, seconds,
    tool_call,
};

/// Encodes a message as JSON, or returns `None` if a number in it is out of the range of `Value`, such as `1E999`.
fn encode_received_message(message: &IncomingMessage) -> Option<Value> {
    let raw = |raw: &RawJson| serde_json::from_str::<Value>(raw.get()).ok();
    let with_params = |method: &str, params: &Option<RawJson>| {
        let mut value = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            value["params"] = raw(params)?;
        }
        Some(value)
    };
    Some(match message {
        IncomingMessage::Request { id, method, params } => {
            let mut value = with_params(method, params)?;
            value["id"] = json!(id);
            value
        }
        IncomingMessage::Notification { method, params } => with_params(method, params)?,
        IncomingMessage::Response { id, result: Ok(result) } => {
            json!({ "jsonrpc": "2.0", "id": id, "result": raw(result)? })
        }
        IncomingMessage::Response { id, result: Err(error) } => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        IncomingMessage::ErrorWithoutId { error } => json!({ "jsonrpc": "2.0", "error": error }),
        IncomingMessage::Batch(messages) => {
            messages.iter().flatten().map(encode_received_message).collect::<Option<Vec<_>>>()?.into()
        }
    })
}

fn assert_round_trips(message: &IncomingMessage) {
    if let Some(text) = encode_received_message(message).filter(|text| *text != json!([])) {
        let again = IncomingMessage::decode(&text.to_string().into());
        assert_eq!(
            again.ok().as_ref().and_then(encode_received_message),
            Some(text),
            "a decoded message must decode again"
        );
    }
}

/// Counters of responses and call ends, each of which must occur exactly once.
#[derive(Default)]
struct ResponseCounter {
    calls: HashSet<CallId>,
    open_calls: Vec<CallId>,
    open_requests: Vec<(ServerRequestId, ServerRequest)>,
    requested: HashMap<String, i64>,
    answered: HashMap<String, i64>,
    sent_ids: HashSet<String>,
    closed: bool,
}

impl ResponseCounter {
    fn record_events(&mut self, peer: &mut TestSession) {
        for sent in peer.take_sent_messages() {
            let all = sent.as_array().cloned().unwrap_or_else(|| vec![sent]);
            for message in all {
                if message.get("aborted").is_some() {
                    continue;
                }
                if message.get("method").is_none() {
                    *self.answered.entry(message["id"].to_string()).or_default() += 1;
                } else if let Some(id) = message.get("id") {
                    assert!(self.sent_ids.insert(id.to_string()), "[base-request-id-session-unique]: {id}");
                }
            }
        }
        for event in peer.take_events() {
            assert!(!self.closed, "no event may follow the end: {event:?}");
            match event {
                SessionEvent::Done { call, .. } => {
                    let before = self.open_calls.len();
                    self.open_calls.retain(|open| *open != call);
                    assert_eq!(self.open_calls.len() + 1, before, "each call must end once: {call}");
                }
                SessionEvent::RequestReceived { request, server_request, .. } => {
                    self.open_requests.push((request, *server_request))
                }
                SessionEvent::Withdrawn { request, .. } => {
                    let before = self.open_requests.len();
                    self.open_requests.retain(|(open, _)| *open != request);
                    assert_eq!(self.open_requests.len() + 1, before, "only open requests may be withdrawn");
                }
                SessionEvent::Closed(_) => self.closed = true,
                _ => {}
            }
        }
        for (id, answers) in &self.answered {
            let times = self.requested.get(id).copied().unwrap_or_default();
            assert!(
                *answers <= times,
                "no request may be answered twice: {id} was received {times} and answered {answers} times"
            );
        }
    }

    fn receive_line(&mut self, line: &[u8]) {
        // Counts every actual or apparent request each time it is received.
        fn collect_request_ids(read: &Result<IncomingMessage, InvalidMessage>, into: &mut Vec<RequestId>) {
            match read {
                Ok(IncomingMessage::Request { id, .. }) => into.push(id.clone()),
                Ok(IncomingMessage::Batch(messages)) => {
                    messages.iter().for_each(|message| collect_request_ids(message, into))
                }
                Err(invalid) => into.extend(invalid.peer_request.clone()),
                Ok(_) => {}
            }
        }
        let mut found = Vec::new();
        collect_request_ids(&IncomingMessage::decode(&Bytes::copy_from_slice(line)), &mut found);
        for id in found {
            *self.requested.entry(json!(id).to_string()).or_default() += 1;
        }
    }
}

fn nth_sample_request(which: usize) -> ClientRequest {
    match which {
        0 => ClientRequest::Ping,
        1 => ClientRequest::ListTools { cursor: None },
        2 => ClientRequest::Subscribe { uri: "a:b".into() },
        3 => ClientRequest::Unsubscribe { uri: "a:b".into() },
        4 => ClientRequest::SetLogLevel { level: mcp_proto::types::LogLevel::Info },
        _ => tool_call(),
    }
}

fn nth_sample_response(server_request: &ServerRequest, how: usize) -> ClientResponse {
    match (server_request, how) {
        (_, 0) => ClientResponse::Refused { code: -1, message: "no".into() },
        (ServerRequest::Elicitation(_), _) => {
            ClientResponse::Elicitation(ElicitResult { action: ElicitAction::Accept, content: None })
        }
        // Includes answers of another kind than the request.
        (ServerRequest::Sampling(_) | ServerRequest::Roots, _) => ClientResponse::Roots(vec![]),
    }
}

fn run_session_with_inputs(mut peer: TestSession, inputs: Vec<SessionInput>) {
    let mut ledger = ResponseCounter::default();
    ledger.record_events(&mut peer);
    for input in inputs {
        match input {
            SessionInput::Says(message) => {
                let line = message.to_string();
                ledger.receive_line(line.as_bytes());
                peer.send_line(line);
            }
            SessionInput::SaysBatch(messages) => {
                let line = Value::from(messages).to_string();
                ledger.receive_line(line.as_bytes());
                peer.send_line(line);
            }
            SessionInput::Line(line) => {
                ledger.receive_line(&line);
                peer.send_line(line);
            }
            SessionInput::Call(which) => {
                if let Ok(call) = peer.session.call(nth_sample_request(which), LONG_DEADLINE, peer.now) {
                    assert!(ledger.calls.insert(call), "ids of calls must be unique");
                    ledger.open_calls.push(call);
                }
            }
            SessionInput::Cancel(which) if !ledger.open_calls.is_empty() => {
                let call = ledger.open_calls[which % ledger.open_calls.len()];
                peer.session.cancel(call, CancelReason::User, peer.now);
            }
            SessionInput::Answer(which, how) if !ledger.open_requests.is_empty() => {
                let at = which % ledger.open_requests.len();
                let (server_request, kind) = ledger.open_requests[at].clone();
                if peer.session.answer(server_request, nth_sample_response(&kind, how), peer.now).is_ok() {
                    ledger.open_requests.remove(at);
                    let again = peer.session.answer(server_request, nth_sample_response(&kind, how), peer.now);
                    assert_eq!(again, Err(ClientResponseError::NotOpen), "a request may be answered once");
                }
            }
            SessionInput::Cancel(_) | SessionInput::Answer(..) => {}
            SessionInput::Wait(time) => peer.advance_time(seconds(time)),
            SessionInput::TooLong(answer) => {
                let head: &[u8] = if answer { b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":[" } else { b"xxxxx" };
                peer.session.handle_invalid_message(InvalidMessage::too_long(head, b"", 4, 5), peer.now);
            }
            SessionInput::Undelivered(id, how) => {
                let error = Some(RpcError::new([-32020, -32022, -32601][how % 3], "no"));
                let status = |code, error| DeliveryFault::Status { code, error, text: String::new(), challenge: None };
                let fault = match how {
                    0 => DeliveryFault::Lost { cause: "cut".into() },
                    1 => DeliveryFault::Unreachable { cause: "down".into() },
                    2 => DeliveryFault::Unusable { cause: "html".into() },
                    3 => status(503, None),
                    _ => status(400, error),
                };
                peer.session.handle_undelivered_request(&RequestId::Number(id), fault, peer.now);
            }
            SessionInput::SessionLost(id) => {
                peer.session.handle_session_lost(Some(&RequestId::Number(id)), peer.now);
            }
        }
        ledger.record_events(&mut peer);
    }
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    ledger.record_events(&mut peer);
    assert!(ledger.closed, "the end must be reported");
    assert_eq!(ledger.open_calls, vec![], "each call must have ended");
    assert!(ledger.open_requests.is_empty(), "each request must be answered or withdrawn");
    assert_eq!(peer.session.poll_timeout(), None, "no timeout may be pending after the end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn message_of_arbitrary_bytes_is_parsed_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = IncomingMessage::decode(&bytes.into()) {
            assert_round_trips(&message);
        }
    }

    #[test]
    fn message_of_arbitrary_json_is_parsed_or_rejected(value in any_json()) {
        if let Ok(message) = IncomingMessage::decode(&value.to_string().into()) {
            assert_round_trips(&message);
        }
    }

    #[test]
    fn arbitrary_message_is_parsed_or_rejected(value in any_message(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut line = value.to_string().into_bytes();
        if let Ok(message) = IncomingMessage::decode(&Bytes::copy_from_slice(&line)) {
            assert_round_trips(&message);
        }
        let at = cut.index(line.len());
        line[at] = byte;
        if let Ok(message) = IncomingMessage::decode(&Bytes::copy_from_slice(&line)) {
            assert_round_trips(&message);
        }
        line.truncate(at);
        let _ = InvalidMessage::too_long(&line, &line, at, at);
        prop_assert!(at == 0 || IncomingMessage::decode(&Bytes::copy_from_slice(&line)).is_err() || !value.is_object(), "a truncated message must be invalid");
    }

    #[test]
    fn session_in_handshake_keeps_its_invariants(inputs in prop::collection::vec(any_input(), 0..40)) {
        run_session_with_inputs(TestSession::new(HandshakeMode::Probe), inputs);
    }

    #[test]
    fn session_in_handshake_over_http_keeps_its_invariants(
        known in prop::sample::select(vec![None, Some(Revision::V2025_11_25), Some(Revision::V2026_07_28)]),
        inputs in prop::collection::vec(any_input(), 0..40),
    ) {
        run_session_with_inputs(TestSession::with_config(SessionConfig { carrier: TransportKind::StreamableHttp, known, ..client_config(HandshakeMode::Probe) }), inputs);
    }

    #[test]
    fn ready_session_keeps_its_invariants(
        revision in prop::sample::select(Revision::ALL.to_vec()),
        carrier in prop::sample::select(vec![TransportKind::Stdio, TransportKind::StreamableHttp, TransportKind::HttpSse]),
        inputs in prop::collection::vec(any_input(), 0..60),
    ) {
        let revision = if carrier == TransportKind::HttpSse { Revision::V2024_11_05 } else { revision };
        let mut settings = client_config(HandshakeMode::Probe);
        settings.carrier = carrier;
        settings.limits.open_requests = 5;
        settings.limits.in_flight_calls = 6;
        settings.timeouts.ping_interval = Some(seconds(45));
        let mut capabilities = all_capabilities();
        capabilities["tasks"] = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
        capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
        run_session_with_inputs(TestSession::ready_with(revision, capabilities, settings), inputs);
    }

    #[test]
    fn each_server_request_is_answered_exactly_once(
        revision in prop::sample::select(vec![Revision::V2025_03_26, Revision::V2025_11_25]),
        steps in prop::collection::vec((0_usize..4, 0_usize..3, any::<usize>(), any::<bool>()), 1..40),
    ) {
        let mut peer = TestSession::ready(revision);
        let mut open = Vec::new();
        let mut missing = HashSet::new();
        for (id, (kind, how, which, withdraw)) in steps.into_iter().enumerate() {
            let (method, params) = [
                ("ping", json!({})), ("roots/list", json!({})), ("elicitation/create", form_elicitation_params()), ("sampling/createMessage", sampling_params()),
            ][kind].clone();
            let ask = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            peer.send_message(if how == 0 && revision.has_batches() { json!([ask]) } else { ask });
            missing.insert(json!(id));
            if withdraw && kind > 0 {
                let known = peer.take_events().iter().any(|event| matches!(event, SessionEvent::RequestReceived { .. }));
                peer.send_notification("notifications/cancelled", json!({ "requestId": id }));
                if known {
                    missing.remove(&json!(id));
                }
            }
            for event in peer.take_events() {
                if let SessionEvent::RequestReceived { request, server_request, .. } = event {
                    open.push((request, server_request));
                }
            }
            if how == 1 && !open.is_empty() {
                let (request, server_request) = open.swap_remove(which % open.len());
                let _ = peer.session.answer(request, nth_sample_response(&server_request, how), peer.now);
            }
        }
        peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
        for sent in peer.take_sent_messages() {
            for message in sent.as_array().cloned().unwrap_or_else(|| vec![sent]) {
                prop_assert!(missing.remove(&message["id"]), "[base-response-same-id]: {message} must answer an open request");
            }
        }
        prop_assert!(missing.is_empty(), "each request must be answered exactly once: {missing:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    /// Parsing a tool result in place gives the same value as `serde_json`, which retains the last of duplicate
    /// members.
    #[test]
    fn arbitrary_tool_result_parses_as_with_serde(text in any_tool_result()) {
        let mut peer = TestSession::ready(Revision::V2025_11_25);
        let (call, sent) = peer.start_call(tool_call());
        peer.send_line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{text}}}"#, sent["id"]));
        let members: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let complete = members.contains_key("content") || members.contains_key("structuredContent");
        let expected = serde_json::from_value::<CallToolResult>(Value::Object(members)).ok().filter(|_| complete);
        match (peer.take_result(call), expected) {
            (Ok(ServerResult::Tool(read)), Some(expected)) => prop_assert_eq!(*read, expected, "[tools-content-basic]: {}", text),
            (Err(CallError::BadAnswer { .. }), None) => {}
            (read, expected) => prop_assert!(false, "{text} is parsed as {read:?}, and by serde as {expected:?}"),
        }
    }
}
