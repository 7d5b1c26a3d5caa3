//! Tests of multi-round-trip requests in 2026-07-28.

use mcp_proto::types::*;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{
    LONG_DEADLINE, TestSession, accepted_form_response, all_capabilities, client_config, form_elicitation_params,
    sampling_params, seconds, tool_call,
};

fn modern_test_session() -> TestSession {
    TestSession::ready(Revision::V2026_07_28)
}

fn respond_with_input_required(peer: &mut TestSession, id: &Value, state: Option<&str>, requests: Value) {
    let mut result = json!({ "resultType": "input_required" });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    if !requests.is_null() {
        result["inputRequests"] = requests;
    }
    peer.send_result(id, result);
}

fn form_elicitation_request() -> Value {
    json!({ "when": { "method": "elicitation/create", "params": form_elicitation_params() } })
}

#[test]
fn call_is_repeated_with_the_requested_input() {
    for request in [
        tool_call(),
        ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() },
        ClientRequest::ReadResource { uri: "a:b".into() },
    ] {
        let mut peer = modern_test_session();
        let (call, first) = peer.start_call(request);
        let state = "q\u{0}9\" <opaque> \u{2028}";
        respond_with_input_required(
            &mut peer,
            &first["id"],
            Some(state),
            json!({
                "when": { "method": "elicitation/create", "params": form_elicitation_params() },
                "who": { "method": "sampling/createMessage", "params": sampling_params() },
                "where": { "method": "roots/list" },
            }),
        );
        let requests: Vec<_> = peer
            .take_events()
            .into_iter()
            .map(|event| match event {
                SessionEvent::RequestReceived { request, call: led_by, server_request } => {
                    assert_eq!(led_by, Some(call), "[mrtr-recognise]: the event must name the call");
                    (request, *server_request)
                }
                other => panic!("[mrtr-recognise]: expected a request of the server, not {other:?}"),
            })
            .collect();
        assert_eq!(requests.len(), 3, "[mrtr-recognise]: each input request must be reported");
        for (server_request, kind) in requests {
            assert_eq!(
                peer.take_sent_messages(),
                Vec::<Value>::new(),
                "[mrtr-build-inputs]: no request before the last answer"
            );
            let answer = match kind {
                ServerRequest::Elicitation(_) => accepted_form_response(),
                ServerRequest::Roots => ClientResponse::Roots(vec![]),
                ServerRequest::Sampling(_) => ClientResponse::Sampling(Box::new(CreateMessageResult {
                    role: Role::Assistant,
                    content: SamplingContent::One(ContentBlock::text("4")),
                    model: "m".into(),
                    stop_reason: None,
                    meta: None,
                })),
            };
            peer.session.answer(server_request, answer, peer.now).unwrap();
        }
        let mut again = peer.take_sent_message();
        assert_ne!(again["id"], first["id"], "[mrtr-new-id]");
        assert_eq!(again["params"]["requestState"], json!(state), "[mrtr-echo-state], [mrtr-state-opaque]");
        let inputs = json!({
            "when": { "action": "accept", "content": { "day": "2026-08-01" } },
            "who": { "role": "assistant", "content": { "type": "text", "text": "4" }, "model": "m" },
            "where": { "roots": [] },
        });
        assert_eq!(again["params"]["inputResponses"], inputs, "[mrtr-matching-keys], [mrtr-bare-results]");
        let id = again["id"].clone();
        assert_eq!(
            again["params"]["_meta"]["progressToken"], id,
            "[progress-token-unique]: each round must have a new token"
        );
        let mut expected = first.clone();
        expected["id"] = id.clone();
        expected["params"]["_meta"]["progressToken"] = id.clone();
        let params = again["params"].as_object_mut().unwrap();
        params.remove("inputResponses");
        params.remove("requestState");
        assert_eq!(again, expected, "[mrtr-same-request], [mrtr-meta-on-retry]");
        respond_with_input_required(&mut peer, &id, None, form_elicitation_request());
        let (server_request, ..) = peer.take_server_request();
        peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
        let third = peer.take_sent_message();
        assert_eq!(third["params"].get("requestState"), None, "[mrtr-state-absent]: an earlier state must not be sent");
        peer.send_result(&third["id"], json!({ "content": [], "messages": [], "contents": [] }));
        assert!(peer.take_result(call).is_ok(), "[mrtr-repeat-rounds]");
    }
}

#[test]
fn call_with_request_state_but_no_input_is_repeated_immediately() {
    let mut peer = modern_test_session();
    let (_, first) = peer.start_call(tool_call());
    respond_with_input_required(&mut peer, &first["id"], Some("s"), Value::Null);
    let again = peer.take_sent_message();
    assert_eq!(again["params"]["requestState"], "s", "[mrtr-state-only-retry]");
    assert_eq!(again["params"].get("inputResponses"), None, "[mrtr-state-only-retry]: no input responses");
    assert_eq!(peer.take_events(), vec![], "[mrtr-state-only-retry]: no event must be reported");
}

#[test]
fn input_rounds_and_request_state_are_bounded() {
    let mut peer = modern_test_session();
    let (call, mut sent) = peer.start_call(tool_call());
    let mut rounds = 0;
    while rounds < 1000 {
        respond_with_input_required(&mut peer, &sent["id"], Some("s"), Value::Null);
        match peer.session.poll_transmit() {
            Some(outgoing) => sent = serde_json::from_str(&outgoing.json).unwrap(),
            None => break,
        }
        rounds += 1;
    }
    assert_eq!(rounds, 10, "X28: the number of rounds must be limited to ten");
    assert_eq!(peer.take_result(call), Err(CallError::TooManyRounds), "X28: the call must end with the reason");

    let (call, sent) = peer.start_call(tool_call());
    let secret = "s".repeat(1024 * 1024 + 1);
    respond_with_input_required(&mut peer, &sent["id"], Some(&secret), form_elicitation_request());
    match peer.take_result(call) {
        Err(CallError::BadAnswer { cause }) => {
            assert!(cause.contains("1048577 bytes"), "X28: the cause must name the size: {cause}");
            assert!(!cause.contains("sss"), "X28: the cause must not contain the state");
        }
        other => panic!("X28: an oversized state must be rejected, not {other:?}"),
    }
    let (_, sent) = peer.start_call(tool_call());
    respond_with_input_required(&mut peer, &sent["id"], Some("topsecret"), form_elicitation_request());
    assert!(!format!("{:?}", peer.session).contains("topsecret"), "X28: debug output must not contain the state");
}

#[test]
fn request_state_belongs_to_its_request() {
    let mut peer = modern_test_session();
    let (_, a) = peer.start_call(tool_call());
    let (_, b) = peer.start_call(tool_call());
    respond_with_input_required(&mut peer, &a["id"], Some("of a"), form_elicitation_request());
    respond_with_input_required(&mut peer, &b["id"], Some("of b"), form_elicitation_request());
    let server_requests: Vec<_> = peer
        .take_events()
        .into_iter()
        .filter_map(
            |event| if let SessionEvent::RequestReceived { request, .. } = event { Some(request) } else { None },
        )
        .collect();
    peer.session.answer(server_requests[1], accepted_form_response(), peer.now).unwrap();
    assert_eq!(peer.take_sent_message()["params"]["requestState"], "of b", "[mrtr-scope-to-request], X28");
    let (_, other) = peer.start_call(tool_call());
    assert_eq!(
        other["params"].get("requestState"),
        None,
        "[mrtr-scope-to-request]: state must not leak into another call"
    );
    peer.session.answer(server_requests[0], accepted_form_response(), peer.now).unwrap();
    assert_eq!(peer.take_sent_message()["params"]["requestState"], "of a", "[mrtr-scope-to-request], X28");
}

#[test]
fn refused_input_request_ends_the_call() {
    let mut peer = modern_test_session();
    let (call, sent) = peer.start_call(tool_call());
    respond_with_input_required(
        &mut peer,
        &sent["id"],
        None,
        json!({
        "a": { "method": "sampling/createMessage", "params": sampling_params() }, "b": { "method": "roots/list" } }),
    );
    let events = peer.take_events();
    let [SessionEvent::RequestReceived { request: first, .. }, SessionEvent::RequestReceived { request: second, .. }] =
        events[..]
    else {
        panic!("expected two requests, not {events:?}");
    };
    peer.session.answer(first, ClientResponse::Refused { code: -1, message: "no".into() }, peer.now).unwrap();
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[sampling-reject-modern]: the request must not be repeated"
    );
    let expected = vec![
        SessionEvent::Withdrawn { request: second, why: WithdrawalReason::CallEnded },
        SessionEvent::Done { call, result: Err(CallError::Refused) },
    ];
    assert_eq!(
        peer.take_events(),
        expected,
        "[mrtr-may-abandon]: the other request must be withdrawn and the call end"
    );
    assert_eq!(
        peer.session.answer(second, ClientResponse::Roots(vec![]), peer.now),
        Err(ClientResponseError::NotOpen),
        "the request must not be open"
    );
}

#[test]
fn forbidden_input_request_ends_the_call() {
    let nothing = SessionConfig::default();
    let all = client_config(HandshakeMode::Probe);
    let sampling_with_tools = json!({ "messages": [], "maxTokens": 1, "tools": [] });
    for (proves, settings, request, result) in [
        (
            "[mrtr-other-methods-invalid]",
            &all,
            ClientRequest::ListTools { cursor: None },
            json!({ "resultType": "input_required", "inputRequests": form_elicitation_request() }),
        ),
        ("[base-result-type-unknown]", &all, tool_call(), json!({ "resultType": "task", "content": [] })),
        ("[base-result-type-dispatch]", &all, tool_call(), json!({ "resultType": 5, "content": [] })),
        ("neither state nor request", &all, tool_call(), json!({ "resultType": "input_required" })),
        (
            "[mrtr-undeclared-input]",
            &nothing,
            tool_call(),
            json!({ "resultType": "input_required", "inputRequests": form_elicitation_request() }),
        ),
        (
            "unknown method",
            &all,
            tool_call(),
            json!({ "resultType": "input_required", "inputRequests": { "x": { "method": "ping" } } }),
        ),
        (
            "[mrtr-undeclared-input]",
            &all,
            tool_call(),
            json!({ "resultType": "input_required", "inputRequests": { "x": { "method": "sampling/createMessage", "params": sampling_with_tools } } }),
        ),
        ("wrong shape", &all, tool_call(), json!({ "resultType": "input_required", "requestState": 7 })),
    ] {
        let mut peer = TestSession::ready_with(Revision::V2026_07_28, all_capabilities(), settings.clone());
        peer.take_sent_messages();
        let (call, sent) = peer.start_call(request);
        peer.send_result(&sent["id"], result);
        let end = peer.take_result(call);
        assert!(matches!(end, Err(CallError::BadAnswer { .. })), "{proves}: {end:?}");
        assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "{proves}: no message must be sent");
    }
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(&sent["id"], json!({ "resultType": "input_required", "content": [] }));
    assert!(
        peer.take_result(call).is_ok(),
        "[lifecycle-respect-version]: resultType must be ignored before 2026-07-28"
    );
}

#[test]
fn cancellation_between_input_rounds_sends_no_message() {
    let mut peer = modern_test_session();
    let (call, sent) = peer.start_call(tool_call());
    respond_with_input_required(&mut peer, &sent["id"], Some("s"), form_elicitation_request());
    let (request, ..) = peer.take_server_request();
    peer.advance_time(seconds(3600));
    assert_eq!(peer.take_events(), vec![], "no deadline may expire while a request is open");
    peer.session.cancel(call, CancelReason::User, peer.now);
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[cancel-in-progress-only]: no request is pending");
    let expected = vec![
        SessionEvent::Withdrawn { request, why: WithdrawalReason::CallEnded },
        SessionEvent::Done { call, result: Err(CallError::Cancelled) },
    ];
    assert_eq!(peer.take_events(), expected, "the request must be withdrawn with the call");
}

#[test]
fn input_rounds_of_a_call_share_one_deadline() {
    let mut peer = modern_test_session();
    let deadline = CallDeadline { idle: seconds(60), total: seconds(100) };
    let call = peer.session.call(tool_call(), deadline, peer.now).unwrap();
    let sent = peer.take_sent_message();
    peer.advance_time(seconds(50));
    respond_with_input_required(&mut peer, &sent["id"], Some("s"), form_elicitation_request());
    let (request, ..) = peer.take_server_request();
    peer.advance_time(seconds(500));
    peer.session.answer(request, accepted_form_response(), peer.now).unwrap();
    peer.take_sent_messages();
    peer.advance_time(seconds(49));
    assert_eq!(peer.take_events(), vec![], "50 s before the request and 49 s after it");
    peer.advance_time(seconds(1));
    let end = CallError::Timeout { after: seconds(100), total: true };
    assert_eq!(peer.take_result(call), Err(end), "[lifecycle-timeout-maximum], pauses must not count");
    assert!(peer.session.call(tool_call(), LONG_DEADLINE, peer.now).is_ok(), "the session must continue");
}
