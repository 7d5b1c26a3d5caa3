//! Tests of timeouts, progress and pings.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{LONG_DEADLINE, Peer, accepted, all_capabilities, assert_contains, config, form, seconds, tool_call};

fn progress(peer: &mut Peer, token: &Value, progress: f64) {
    peer.tells("notifications/progress", json!({ "progressToken": token, "progress": progress, "message": "m" }));
}

#[test]
fn silent_call_times_out_and_is_cancelled() {
    for revision in Revision::ALL {
        let mut peer = Peer::ready(revision);
        let (call, sent) = peer.sends(tool_call());
        peer.wait(seconds(59));
        assert_eq!(peer.events(), vec![], "[lifecycle-timeouts]: no timeout before the deadline");
        peer.wait(seconds(1));
        let end = CallError::Timeout { after: seconds(60), total: false };
        assert_eq!(peer.done(call), Err(end), "[lifecycle-timeouts], X35 in {revision}");
        let expected = json!({ "method": "notifications/cancelled", "params": { "requestId": sent["id"] } });
        assert_contains(&peer.sent_one(), &expected, "[lifecycle-timeout-cancel], X35");
        peer.answers(&sent["id"], json!({ "content": [] }));
        assert_eq!(peer.events(), vec![], "[cancel-ignore-late-response]");
    }
}

#[test]
fn each_call_has_its_own_deadline() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let short = CallDeadline { idle: seconds(2), total: seconds(3) };
    let call = peer.session.call(ClientRequest::ListTools { cursor: None }, short, peer.now).unwrap();
    let endless = CallDeadline { idle: std::time::Duration::MAX, total: std::time::Duration::MAX };
    peer.session.call(tool_call(), endless, peer.now).unwrap();
    peer.wait(seconds(2));
    let end = CallError::Timeout { after: seconds(2), total: false };
    assert_eq!(peer.done(call), Err(end), "[lifecycle-timeout-configurable]");
    assert_eq!(peer.session.poll_timeout(), None, "an unreachable deadline must never be due");
}

#[test]
fn progress_extends_a_call_up_to_its_total_deadline() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let (call, sent) = peer.sends(tool_call());
    for step in 1..=11 {
        peer.wait(seconds(50));
        progress(&mut peer, &sent["id"], f64::from(step));
        let event = peer.event();
        assert!(
            matches!(&event, SessionEvent::Progress { call: of, progress, total: None, message: Some(_), .. }
                if *of == call && *progress == f64::from(step)),
            "[lifecycle-timeout-progress-reset], [progress-not-guaranteed]: {event:?}"
        );
    }
    peer.wait(seconds(49));
    assert_eq!(peer.events(), vec![], "the total deadline must not be exceeded yet");
    peer.wait(seconds(1));
    let end = CallError::Timeout { after: seconds(600), total: true };
    assert_eq!(
        peer.done(call),
        Err(end),
        "[lifecycle-timeout-maximum]: the total deadline must apply despite progress"
    );
}

#[test]
fn progress_must_increase_and_match_a_call() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let (call, sent) = peer.sends(tool_call());
    let id = sent["id"].clone();
    for unknown in [json!(999), json!(id.to_string()), json!("x")] {
        progress(&mut peer, &unknown, 1.0);
        assert_eq!(peer.events(), vec![], "[progress-track-tokens]: {unknown} must not match a call");
    }
    progress(&mut peer, &id, 0.5);
    assert!(matches!(peer.event(), SessionEvent::Progress { .. }), "[progress-floating-point]");
    peer.wait(seconds(40));
    progress(&mut peer, &id, 0.5);
    assert!(matches!(peer.event(), SessionEvent::Anomaly { .. }), "progress without an increase must be reported once");
    progress(&mut peer, &id, 0.1);
    assert_eq!(peer.events(), vec![], "further ones must be ignored");
    peer.wait(seconds(20));
    assert!(peer.done(call).is_err(), "progress without an increase must not reset the deadline");
    progress(&mut peer, &id, 9.0);
    assert_eq!(peer.events(), vec![], "progress after the end must be ignored");
    peer.tells("notifications/progress", json!({ "progressToken": 1.5, "progress": "x" }));
    assert!(matches!(peer.event(), SessionEvent::Anomaly { .. }), "invalid progress must be reported");
}

#[test]
fn deadlines_are_paused_while_the_user_decides() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let (call, sent) = peer.sends(tool_call());
    peer.wait(seconds(50));
    peer.asks(json!("q"), "elicitation/create", form());
    let (server_request, led_by, _) = peer.asked();
    assert_eq!(led_by, Some(call), "the only call in flight must be named");
    peer.wait(seconds(3600));
    assert_eq!(peer.events(), vec![], "both deadlines must be paused while the request is open");
    peer.session.answer(server_request, accepted(), peer.now).unwrap();
    peer.sent();
    peer.wait(seconds(59));
    assert_eq!(peer.events(), vec![], "the idle deadline must start again");
    for step in 1..=10 {
        progress(&mut peer, &sent["id"], f64::from(step));
        peer.events();
        peer.wait(seconds(50));
    }
    let end = CallError::Timeout { after: seconds(600), total: true };
    assert_eq!(peer.done(call), Err(end), "the total deadline must count the remaining time: 50 + 59 + 491 s");
}

#[test]
fn ambiguous_server_request_pauses_all_possible_calls() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let first = peer.call(tool_call());
    peer.call(tool_call());
    let list = peer.call(ClientRequest::ListTools { cursor: None });
    peer.asks(json!(1), "elicitation/create", form());
    let (server_request, led_by, _) = peer.asked();
    assert_eq!(led_by, None, "an ambiguous call must not be named");
    peer.wait(seconds(100));
    assert!(peer.done(list).is_err(), "a list must not be paused");
    peer.session.cancel(first, CancelReason::User, peer.now);
    peer.events();
    peer.session.answer(server_request, accepted(), peer.now).unwrap();
    peer.wait(seconds(60));
    assert_eq!(peer.events().len(), 1, "the other call must be resumed and time out");
}

#[test]
fn pings_detect_an_unresponsive_server() {
    let mut settings = config(HandshakeMode::Probe);
    settings.timeouts.ping_interval = Some(seconds(30));
    for revision in Revision::ALL {
        let mut peer = Peer::ready_with(revision, all_capabilities(), settings.clone());
        peer.wait(seconds(20));
        peer.tells("notifications/message", json!({ "level": "info", "data": 1 }));
        peer.events();
        peer.wait(seconds(29));
        assert_eq!(peer.sent(), Vec::<Value>::new(), "[ping-not-excessive]: an active server must not be pinged");
        peer.wait(seconds(1));
        let ping = peer.sent_one();
        let method = if revision.is_modern() { "server/discover" } else { "ping" };
        assert_eq!(ping["method"], method, "[ping-periodic] in {revision}, [ping-removed-modern]");
        peer.answers(&ping["id"], json!({}));
        peer.wait(seconds(29));
        assert_eq!(peer.sent(), Vec::<Value>::new(), "[ping-frequency-configurable]");
        peer.wait(seconds(11));
        let events = peer.events();
        let reason = CloseReason::Unresponsive(seconds(10));
        assert_eq!(events, vec![SessionEvent::Closed(reason)], "[ping-timeout-failure] in {revision}");
    }
    let mut peer = Peer::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    peer.wait(seconds(30));
    let ping = peer.sent_one();
    for _ in 0..3 {
        peer.wait(seconds(9));
        peer.tells("notifications/message", json!({ "level": "info", "data": 1 }));
        assert_eq!(peer.events().len(), 1, "[ping-timeout-fit]: messages must extend the deadline of the ping");
    }
    peer.answers(&ping["id"], json!({}));
    assert_eq!(peer.events(), vec![], "the late response must be accepted");

    let mut peer = Peer::ready(Revision::V2025_11_25);
    peer.wait(seconds(100_000));
    assert_eq!((peer.sent().len(), peer.events()), (0, vec![]), "no pings without an interval");
    assert!(peer.session.call(ClientRequest::Ping, LONG_DEADLINE, peer.now).is_ok(), "explicit pings must be possible");
}
