//! Tests of servers that violate the protocol: the affected call fails with a cause, and other calls are unaffected.

use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, all_capabilities, client_config, tool_call};

#[test]
fn unreadable_response_fails_its_call_immediately() {
    let body =
        |id: &Value, what: &[u8]| [format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).as_bytes(), what, b"}"].concat();
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let numbers = [b"[".to_vec(), b"1,".repeat(7_000_000), b"1]".to_vec()].concat();
    for (name, what) in [
        ("deep", deep),
        ("numbers", numbers),
        ("invalid UTF-8", b"{\"a\":\"\xc3\x28\"}".to_vec()),
        ("NUL", b"{\"a\":\"\0\"}".to_vec()),
        ("lone surrogate", br#"{"a":"\udfff"}"#.to_vec()),
        ("broken", b"{\"a\":}".to_vec()),
    ] {
        for revision in Revision::ALL {
            let mut peer = TestSession::ready(revision);
            let (other, _) = peer.start_call(ClientRequest::ListPrompts { cursor: None });
            let (call, sent) = peer.start_call(tool_call());
            peer.send_line(body(&sent["id"], &what));
            let end = peer.take_result(call);
            assert!(matches!(end, Err(CallError::Unreadable(_))), "X37: {name} in {revision}: {end:?}");
            peer.session.cancel(other, CancelReason::User, peer.now);
            assert_eq!(
                peer.take_result(other),
                Err(CallError::Cancelled),
                "X38: {name} must not affect the other call"
            );
            if name == "numbers" {
                break;
            }
        }
    }
}

#[test]
fn overlong_line_fails_the_call_it_answers() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    let (other, _) = peer.start_call(tool_call());
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":["#, sent["id"]);
    peer.session.handle_invalid_message(InvalidMessage::too_long(head.as_bytes(), b"", 16, 17), peer.now);
    let end = peer.take_result(call);
    assert!(matches!(&end, Err(error) if error.to_string().contains("more than 16 bytes")), "X37: {end:?}");
    peer.session.handle_invalid_message(InvalidMessage::too_long(b"xxxx", b"", 16, 17), peer.now);
    assert!(peer.take_result(other).is_err(), "X37: endless text must fail the only pending call");
    let one = peer.call(tool_call());
    peer.call(tool_call());
    peer.session.handle_invalid_message(InvalidMessage::too_long(b"xxxx", b"", 16, 17), peer.now);
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "X37: with two pending calls neither must fail");
    peer.session.cancel(one, CancelReason::User, peer.now);
    peer.take_events();
    let note = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"#;
    peer.session.handle_invalid_message(InvalidMessage::too_long(note, b"", 16, 17), peer.now);
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "X37: a notification must not fail a call");

    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let (given_up, _) = peer.start_call(tool_call());
    peer.session.cancel(given_up, CancelReason::User, peer.now);
    peer.take_events();
    let call = peer.call(tool_call());
    peer.session.handle_invalid_message(InvalidMessage::too_long(b"xxxx", b"", 16, 17), peer.now);
    assert!(
        peer.take_result(call).is_err(),
        "X37: subscriptions and abandoned requests must not count as pending calls"
    );
}

#[test]
fn response_reaches_only_its_own_call() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
        let (second, _) = peer.start_call(ClientRequest::ListTools { cursor: None });
        let id = sent["id"].as_i64().unwrap();
        for wrong in [json!(id + 1000), json!(id.to_string()), json!("x"), json!(0), json!(-1), json!(1)] {
            peer.send_result(&wrong, json!({ "tools": [] }));
            let event = peer.take_event();
            assert!(
                matches!(&event, SessionEvent::Anomaly { id: Some(_), .. }),
                "X38: the id {wrong} must match no call: {event:?}"
            );
        }
        for wrong in [r#"1.0"#, "null", "[2]", "{}", "true"] {
            peer.send_line(format!(r#"{{"jsonrpc":"2.0","id":{wrong},"result":{{"tools":[]}}}}"#));
            let event = peer.take_event();
            assert!(matches!(&event, SessionEvent::Anomaly { .. }), "X38: {wrong} must not count as an id: {event:?}");
        }
        peer.send_result(&sent["id"], json!({ "tools": [] }));
        assert!(peer.take_result(call).is_ok(), "X38: the correct response must end the call");
        peer.send_result(&sent["id"], json!({ "tools": [] }));
        let event = peer.take_event();
        assert!(
            matches!(&event, SessionEvent::Anomaly { cause, .. } if cause.contains("second answer")),
            "X38: a second response must be reported: {event:?}"
        );
        peer.session.cancel(second, CancelReason::User, peer.now);
        assert_eq!(peer.take_result(second), Err(CallError::Cancelled), "X38: the other call must still be pending");
    }
}

#[test]
fn error_without_id_fails_the_only_call_if_it_is_a_parse_error() {
    let error = |code: i64| json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": "?" } });
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let call = peer.call(tool_call());
    peer.send_message(error(-32601));
    assert!(
        matches!(peer.take_event(), SessionEvent::Anomaly { .. }),
        "an error about a notification must not fail a call"
    );
    peer.send_line(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#);
    assert!(
        matches!(peer.take_event(), SessionEvent::Anomaly { .. }),
        "a response to a notification must not fail a call"
    );
    peer.send_message(error(-32700));
    assert!(matches!(peer.take_result(call), Err(CallError::Server(_))), "[base-error-without-id]");
}

#[test]
fn event_flood_is_merged_counted_and_bounded() {
    let mut settings = client_config(HandshakeMode::Probe);
    settings.limits.queued_events = 100;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    let (call, sent) = peer.start_call(tool_call());
    for step in 1..=5_000 {
        peer.send_notification("notifications/message", json!({ "level": "info", "data": step }));
        peer.send_notification("notifications/progress", json!({ "progressToken": sent["id"], "progress": step }));
        peer.send_message(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
        peer.send_notification("notifications/resources/updated", json!({ "uri": "a:b" }));
        peer.send_line("garbage");
    }
    let events = peer.take_events();
    let count = |is_counted: fn(&SessionEvent) -> bool| events.iter().filter(|event| is_counted(event)).count();
    assert!(events.len() <= 102, "X41: the queue must be bounded: {}", events.len());
    assert_eq!(count(|event| matches!(event, SessionEvent::ListChanged(_))), 1, "X41: list_changed must be merged");
    assert_eq!(count(|event| matches!(event, SessionEvent::ResourceUpdated { .. })), 1, "X41: updates must be merged");
    let latest = |event: &&SessionEvent| matches!(event, SessionEvent::Progress { .. });
    assert!(
        matches!(events.iter().find(latest), Some(SessionEvent::Progress { call: of, count: 5_000, progress, .. }) if *of == call && *progress == 5_000.0),
        "X41, [progress-rate-limit]: only the latest progress must be queued"
    );
    match events.last() {
        Some(SessionEvent::Anomaly { cause, .. }) => {
            let logs = count(|event| matches!(event, SessionEvent::Log { .. }));
            let expected = format!("{} log messages", 5_000 - logs);
            assert!(
                cause.contains(&expected),
                "X41, [logging-rate-limit]: dropped messages must be counted: {cause:?} must contain {expected:?}"
            );
        }
        other => panic!("X41: expected the count as the last event, not {other:?}"),
    }
    assert_eq!(peer.take_events(), vec![], "the count must be reported once");
    peer.send_notification("notifications/message", json!({ "level": "info", "data": 1 }));
    assert!(matches!(peer.take_event(), SessionEvent::Log { .. }), "X41: the drained queue must accept events");
}

#[test]
fn queued_events_are_bounded_in_bytes() {
    let mut settings = client_config(HandshakeMode::Probe);
    settings.limits.queued_event_bytes = 10_000;
    settings.limits.open_request_bytes = 10_000;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    let text = "x".repeat(4000);
    for _ in 0..10 {
        peer.send_notification("notifications/message", json!({ "level": "info", "data": text }));
    }
    let events = peer.take_events();
    assert!(
        matches!(&events[..], [SessionEvent::Log { .. }, SessionEvent::Log { .. }, SessionEvent::Anomaly { cause, .. }] if cause.starts_with("8 log")),
        "X41: two large messages must be queued and the others counted: {} events",
        events.len()
    );
    for id in 0..3 {
        peer.send_request(json!(id), "elicitation/create", json!({ "message": text, "requestedSchema": {} }));
    }
    assert_eq!(peer.take_events().len(), 2, "X25: two large requests must be reported");
    assert_eq!(peer.take_sent_message()["error"]["code"], -32603, "X25: the third must receive an error");
    let (_, sent) = peer.start_call(tool_call());
    peer.send_notification(
        "notifications/progress",
        json!({ "progressToken": sent["id"], "progress": 1, "message": "x".repeat(9000) }),
    );
    let event = peer.take_event();
    assert!(
        matches!(&event, SessionEvent::Progress { message: Some(message), .. } if message.len() == 4096),
        "X41: a progress message must be truncated"
    );
}

#[test]
fn session_with_a_server_that_does_not_read_is_closed() {
    let mut settings = client_config(HandshakeMode::Probe);
    settings.limits.queued_messages = 50;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    for id in 0..100 {
        peer.send_request(json!(id), "ping", json!({}));
    }
    let events = peer.take_events();
    assert_eq!(
        events,
        vec![SessionEvent::Closed(CloseReason::NotReading(51))],
        "the queue of responses must be bounded"
    );
}

#[test]
fn server_text_is_truncated_and_escaped_in_causes() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let nasty = format!("\u{1b}]52;c;x\u{7}\u{202e}{}", "x".repeat(100_000));
    peer.send_notification("notifications/message", json!({ "level": nasty, "data": 1 }));
    peer.send_request(json!(1), &nasty, json!({}));
    let refused = peer.take_sent_message()["error"]["message"].to_string();
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.send_result(&sent["id"], json!({ "tools": [{ "name": nasty, "inputSchema": {}, "icons": [{ "src": 1 }] }] }));
    let (prompt, prompt_request) =
        peer.start_call(ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() });
    peer.send_result(&prompt_request["id"], json!({ "messages": [{ "role": nasty, "content": {} }] }));
    let events = peer.take_events();
    let Some(SessionEvent::Anomaly { cause, .. }) = events.first() else { panic!("expected an anomaly: {events:?}") };
    let Some(SessionEvent::Done { call: done, result: Err(error) }) = events.last() else { panic!("{events:?}") };
    assert_eq!(*done, prompt, "the call must end");
    let Some(SessionEvent::ItemsDropped { items, .. }) = events.get(1) else { panic!("{call:?}: {events:?}") };
    for text in [cause, &error.to_string(), &refused, &items[0].name, &items[0].cause] {
        assert!(text.len() < 2000, "X37: causes must be short: {}", text.len());
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "X11: causes must have no control characters: {text:?}"
        );
    }
}
