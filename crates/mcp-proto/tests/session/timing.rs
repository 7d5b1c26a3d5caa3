//! Tests of timeouts, progress and pings.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{
    LONG_DEADLINE, TestSession, accepted_form_response, all_capabilities, assert_json_contains, client_config,
    form_elicitation_params, seconds, tool_call,
};

fn send_progress(peer: &mut TestSession, token: &Value, progress: f64) {
    peer.send_notification(
        "notifications/progress",
        json!({ "progressToken": token, "progress": progress, "message": "m" }),
    );
}

#[test]
fn silent_call_times_out_and_is_cancelled() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        let (call, sent) = peer.start_call(tool_call());
        peer.advance_time(seconds(59));
        assert_eq!(peer.take_events(), vec![], "[lifecycle-timeouts]: no timeout before the deadline");
        peer.advance_time(seconds(1));
        let end = CallError::Timeout { after: seconds(60), total: false };
        assert_eq!(peer.take_result(call), Err(end), "[lifecycle-timeouts], X35 in {revision}");
        let expected = json!({ "method": "notifications/cancelled", "params": { "requestId": sent["id"] } });
        assert_json_contains(&peer.take_sent_message(), &expected, "[lifecycle-timeout-cancel], X35");
        peer.send_result(&sent["id"], json!({ "content": [] }));
        assert_eq!(peer.take_events(), vec![], "[cancel-ignore-late-response]");
    }
}

#[test]
fn each_call_has_its_own_deadline() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let short = CallDeadline { idle: seconds(2), total: seconds(3) };
    let call = peer.session.call(ClientRequest::ListTools { cursor: None }, short, peer.now).unwrap();
    let endless = CallDeadline { idle: std::time::Duration::MAX, total: std::time::Duration::MAX };
    peer.session.call(tool_call(), endless, peer.now).unwrap();
    peer.advance_time(seconds(2));
    let end = CallError::Timeout { after: seconds(2), total: false };
    assert_eq!(peer.take_result(call), Err(end), "[lifecycle-timeout-configurable]");
    assert_eq!(peer.session.poll_timeout(), None, "an unreachable deadline must never be due");
}

#[test]
fn progress_extends_a_call_up_to_its_total_deadline() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    for step in 1..=11 {
        peer.advance_time(seconds(50));
        send_progress(&mut peer, &sent["id"], f64::from(step));
        let event = peer.take_event();
        assert!(
            matches!(&event, SessionEvent::Progress { call: of, progress, total: None, message: Some(_), .. }
                if *of == call && *progress == f64::from(step)),
            "[lifecycle-timeout-progress-reset], [progress-not-guaranteed]: {event:?}"
        );
    }
    peer.advance_time(seconds(49));
    assert_eq!(peer.take_events(), vec![], "the total deadline must not be exceeded yet");
    peer.advance_time(seconds(1));
    let end = CallError::Timeout { after: seconds(600), total: true };
    assert_eq!(
        peer.take_result(call),
        Err(end),
        "[lifecycle-timeout-maximum]: the total deadline must apply despite progress"
    );
}

#[test]
fn progress_must_increase_and_match_a_call() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    let id = sent["id"].clone();
    for unknown in [json!(999), json!(id.to_string()), json!("x")] {
        send_progress(&mut peer, &unknown, 1.0);
        assert_eq!(peer.take_events(), vec![], "[progress-track-tokens]: {unknown} must not match a call");
    }
    send_progress(&mut peer, &id, 0.5);
    assert!(matches!(peer.take_event(), SessionEvent::Progress { .. }), "[progress-floating-point]");
    peer.advance_time(seconds(40));
    send_progress(&mut peer, &id, 0.5);
    assert!(
        matches!(peer.take_event(), SessionEvent::Anomaly { .. }),
        "progress without an increase must be reported once"
    );
    send_progress(&mut peer, &id, 0.1);
    assert_eq!(peer.take_events(), vec![], "further ones must be ignored");
    peer.advance_time(seconds(20));
    assert!(peer.take_result(call).is_err(), "progress without an increase must not reset the deadline");
    send_progress(&mut peer, &id, 9.0);
    assert_eq!(peer.take_events(), vec![], "progress after the end must be ignored");
    peer.send_notification("notifications/progress", json!({ "progressToken": 1.5, "progress": "x" }));
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "invalid progress must be reported");
}

#[test]
fn deadlines_are_paused_while_the_user_decides() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    peer.advance_time(seconds(50));
    peer.send_request(json!("q"), "elicitation/create", form_elicitation_params());
    let (server_request, led_by, _) = peer.take_server_request();
    assert_eq!(led_by, Some(call), "the only call in flight must be named");
    peer.advance_time(seconds(3600));
    assert_eq!(peer.take_events(), vec![], "both deadlines must be paused while the request is open");
    peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
    peer.take_sent_messages();
    peer.advance_time(seconds(59));
    assert_eq!(peer.take_events(), vec![], "the idle deadline must start again");
    for step in 1..=10 {
        send_progress(&mut peer, &sent["id"], f64::from(step));
        peer.take_events();
        peer.advance_time(seconds(50));
    }
    let end = CallError::Timeout { after: seconds(600), total: true };
    assert_eq!(peer.take_result(call), Err(end), "the total deadline must count the remaining time: 50 + 59 + 491 s");
}

#[test]
fn ambiguous_server_request_pauses_all_possible_calls() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let first = peer.call(tool_call());
    peer.call(tool_call());
    let list = peer.call(ClientRequest::ListTools { cursor: None });
    peer.send_request(json!(1), "elicitation/create", form_elicitation_params());
    let (server_request, led_by, _) = peer.take_server_request();
    assert_eq!(led_by, None, "an ambiguous call must not be named");
    peer.advance_time(seconds(100));
    assert!(peer.take_result(list).is_err(), "a list must not be paused");
    peer.session.cancel(first, CancelReason::User, peer.now);
    peer.take_events();
    peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
    peer.advance_time(seconds(60));
    assert_eq!(peer.take_events().len(), 1, "the other call must be resumed and time out");
}

#[test]
fn pings_detect_an_unresponsive_server() {
    let mut settings = client_config(HandshakeMode::Probe);
    settings.timeouts.ping_interval = Some(seconds(30));
    for revision in Revision::ALL {
        let mut peer = TestSession::ready_with(revision, all_capabilities(), settings.clone());
        peer.advance_time(seconds(20));
        peer.send_notification("notifications/message", json!({ "level": "info", "data": 1 }));
        peer.take_events();
        peer.advance_time(seconds(29));
        assert_eq!(
            peer.take_sent_messages(),
            Vec::<Value>::new(),
            "[ping-not-excessive]: an active server must not be pinged"
        );
        peer.advance_time(seconds(1));
        let ping = peer.take_sent_message();
        let method = if revision.is_modern() { "server/discover" } else { "ping" };
        assert_eq!(ping["method"], method, "[ping-periodic] in {revision}, [ping-removed-modern]");
        peer.send_result(&ping["id"], json!({}));
        peer.advance_time(seconds(29));
        assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[ping-frequency-configurable]");
        peer.advance_time(seconds(11));
        let events = peer.take_events();
        let reason = CloseReason::Unresponsive(seconds(10));
        assert_eq!(events, vec![SessionEvent::Closed(reason)], "[ping-timeout-failure] in {revision}");
    }
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    peer.advance_time(seconds(30));
    let ping = peer.take_sent_message();
    for _ in 0..3 {
        peer.advance_time(seconds(9));
        peer.send_notification("notifications/message", json!({ "level": "info", "data": 1 }));
        assert_eq!(peer.take_events().len(), 1, "[ping-timeout-fit]: messages must extend the deadline of the ping");
    }
    peer.send_result(&ping["id"], json!({}));
    assert_eq!(peer.take_events(), vec![], "the late response must be accepted");

    let mut peer = TestSession::ready(Revision::V2025_11_25);
    peer.advance_time(seconds(100_000));
    assert_eq!((peer.take_sent_messages().len(), peer.take_events()), (0, vec![]), "no pings without an interval");
    assert!(peer.session.call(ClientRequest::Ping, LONG_DEADLINE, peer.now).is_ok(), "explicit pings must be possible");
}
