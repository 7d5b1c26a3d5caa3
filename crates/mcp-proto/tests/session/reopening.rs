//! Tests of servers that discard the session, or change between legacy revisions and the modern one.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{LONG_DEADLINE, TestSession, all_capabilities, client_config, form_elicitation_params, tool_call};

fn request_id(sent: &Value) -> RequestId {
    RequestId::Number(sent["id"].as_i64().unwrap())
}

/// Reports a 404 response to the request `refused`, and returns the `initialize` request that the session then sends.
fn report_lost_session(peer: &mut TestSession, refused: &Value) -> Value {
    peer.session.handle_session_lost(Some(&request_id(refused)), peer.now);
    let (init, head) = peer.take_post();
    assert_eq!(init["method"], "initialize", "[http-session-404-reinit]");
    assert_eq!(head, HttpPostHeaders::default(), "[http-session-404-reinit]: headers must be those of a first request");
    init
}

fn accept_initialize(peer: &mut TestSession, init: &Value) {
    let result = json!({ "protocolVersion": "2025-06-18", "capabilities": all_capabilities() });
    peer.send_result(&init["id"], result);
}

#[test]
fn lost_session_is_reopened_and_refused_requests_are_sent_again() {
    let settings = SessionConfig { carrier: TransportKind::StreamableHttp, ..client_config(HandshakeMode::Initialize) };
    let mut peer = TestSession::with_config(settings);
    let init = peer.take_sent_message();
    peer.send_result(&init["id"], json!({ "protocolVersion": "2025-11-25", "capabilities": all_capabilities() }));
    peer.take_events();
    peer.take_sent_messages();

    let subscribed = peer.call(ClientRequest::Subscribe { uri: "a:b".into() });
    let sent = peer.take_sent_message();
    peer.send_result(&sent["id"], json!({}));
    peer.take_result(subscribed).unwrap();
    let level = peer.call(ClientRequest::SetLogLevel { level: types::LogLevel::Warning });
    let sent = peer.take_sent_message();
    peer.send_result(&sent["id"], json!({}));
    peer.take_result(level).unwrap();

    let (working, on_server) = peer.start_call(tool_call());
    let (listing, _) = peer.start_call(ClientRequest::ListPrompts { cursor: None });
    peer.send_request(json!(5), "elicitation/create", form_elicitation_params());
    let (server_request, ..) = peer.take_server_request();
    let (refused, sent) = peer.start_call(tool_call());
    let init = report_lost_session(&mut peer, &sent);
    let events = peer.take_events();
    assert!(
        events.contains(&SessionEvent::Withdrawn { request: server_request, why: WithdrawalReason::SessionEnded }),
        "a request of the old session must be withdrawn: {events:?}"
    );
    assert!(
        events.iter().any(|event| matches!(event, SessionEvent::Done { call, result: Err(CallError::Undelivered { sent: true, .. }) } if *call == working)),
        "an unsafe call must not be repeated: {events:?}"
    );
    assert_eq!(
        peer.session.answer(server_request, ClientResponse::Roots(vec![]), peer.now),
        Err(ClientResponseError::NotOpen),
        "the request must not be open"
    );
    let early = peer.session.call(ClientRequest::ListTools { cursor: None }, LONG_DEADLINE, peer.now).unwrap();
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[lifecycle-no-requests-before-init]: calls must wait for the new session"
    );
    peer.session.handle_session_lost(Some(&request_id(&on_server)), peer.now);
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "a second 404 must have no effect");

    accept_initialize(&mut peer, &init);
    match peer.take_event() {
        SessionEvent::Reopened(facts) => {
            assert_eq!(facts.revision, Revision::V2025_06_18, "facts must be those of the new session")
        }
        other => panic!("[http-session-404-reinit]: expected a new session, not {other:?}"),
    }
    let posts = peer.take_posts();
    let methods: Vec<&str> = posts.iter().filter_map(|(body, _)| body["method"].as_str()).collect();
    let expected = [
        "notifications/initialized",
        "resources/subscribe",
        "logging/setLevel",
        "prompts/list",
        "tools/call",
        "tools/list",
    ];
    assert_eq!(methods, expected, "[http-session-404-reinit]: state must be restored and waiting calls sent");
    assert!(posts.iter().all(|(_, head)| head.revision == Some(Revision::V2025_06_18)), "[http-version-header]");
    for ((body, _), call) in posts[3..].iter().zip([listing, refused, early]) {
        peer.send_result(&body["id"], json!({ "content": [], "prompts": [], "tools": [] }));
        assert!(peer.take_result(call).is_ok(), "the call must succeed");
    }
}

#[test]
fn failed_reopening_of_a_lost_session_ends_it() {
    let mut peer = TestSession::over_http(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    let init = report_lost_session(&mut peer, &sent);
    peer.report_undelivered(&init["id"], DeliveryFault::Unreachable { cause: "down".into() });
    let events = peer.take_events();
    assert!(
        matches!(&events[..], [SessionEvent::HandshakeFailed { fault: HandshakeFault::Unreachable, .. }, SessionEvent::Done { call: ended, result: Err(_) }] if *ended == call),
        "the failure must be reported and end the call: {events:?}"
    );
}

#[test]
fn session_is_reopened_with_a_server_that_changed_its_revision() {
    let settings = SessionConfig { carrier: TransportKind::StreamableHttp, ..client_config(HandshakeMode::Probe) };
    let mut peer = TestSession::with_config(settings);
    let probe = peer.take_sent_message();
    peer.report_http_error_status(&probe["id"], 400, "");
    let init = peer.take_sent_message();
    accept_initialize(&mut peer, &init);
    peer.take_events();
    peer.take_sent_messages();
    let (call, sent) = peer.start_call(tool_call());
    let refusal = json!({ "error": { "code": -32022, "message": "old", "data": { "supported": ["2026-07-28"] } } });
    peer.report_http_error_status(&sent["id"], 400, &refusal.to_string());
    let probe = peer.take_sent_message();
    assert_eq!(probe["method"], "server/discover", "[lifecycle-era-cache]: a mismatch must cause a probe");
    let result = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
    peer.send_result(&probe["id"], result);
    assert!(
        matches!(peer.take_event(), SessionEvent::Reopened(facts) if facts.revision.is_modern()),
        "the modern revision must be detected"
    );
    let (again, head) = peer.take_post();
    assert_eq!(
        (again["method"].as_str(), head.name.as_deref()),
        (Some("tools/call"), Some("add_note")),
        "the call must be sent again"
    );
    peer.report_http_error_status(&again["id"], 400, &refusal.to_string());
    assert!(matches!(peer.take_result(call), Err(CallError::Server(_))), "a call must reopen the session only once");
}

#[test]
fn lost_session_of_a_modern_server_is_ignored() {
    let mut peer = TestSession::over_http(Revision::V2026_07_28);
    peer.session.handle_session_lost(None, peer.now);
    assert_eq!((peer.take_events(), peer.take_sent_messages().len()), (vec![], 0), "[http-no-session-modern]");
}
