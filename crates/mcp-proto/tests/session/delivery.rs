//! Tests of delivery failures: retransmissions, undelivered calls, and cancellation over HTTP.

use std::time::Duration;

use mcp_proto::types::CompletionReference;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, accepted_form_response, form_elicitation_params, seconds, tool_call};

fn lost_stream_fault() -> DeliveryFault {
    DeliveryFault::Lost { cause: "the stream broke".into() }
}

fn unreachable_fault() -> DeliveryFault {
    DeliveryFault::Unreachable { cause: "connection refused".into() }
}

fn http_status_fault(code: u16) -> DeliveryFault {
    DeliveryFault::Status { code, error: None, text: String::new(), challenge: None }
}

fn requests_that_are_safe_to_repeat() -> Vec<ClientRequest> {
    vec![
        ClientRequest::Ping,
        ClientRequest::ListTools { cursor: Some("c".into()) },
        ClientRequest::ListPrompts { cursor: None },
        ClientRequest::ListResources { cursor: None },
        ClientRequest::ListResourceTemplates { cursor: None },
        ClientRequest::ReadResource { uri: "a:b".into() },
        ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() },
        ClientRequest::Complete {
            reference: CompletionReference::Prompt { name: "p".into() },
            argument_name: "a".into(),
            value: "v".into(),
            context: Default::default(),
        },
    ]
}

#[test]
fn safe_request_is_sent_again_with_a_new_id() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        for fault in [lost_stream_fault(), unreachable_fault(), http_status_fault(503)] {
            for request in requests_that_are_safe_to_repeat() {
                let mut peer = TestSession::over_http(revision);
                let (call, first) = peer.start_call(request);
                peer.report_undelivered(&first["id"], fault.clone());
                assert_eq!(
                    (peer.take_events(), peer.take_sent_messages().len()),
                    (vec![], 0),
                    "the retransmission must be delayed: {fault}"
                );
                peer.advance_time(Duration::from_millis(250));
                let again = peer.take_sent_message();
                assert_ne!(again["id"], first["id"], "[http-lost-stream-new-request]: {fault}");
                assert_eq!(
                    again["method"], first["method"],
                    "[http-lost-stream-new-request]: the method must be unchanged"
                );
                let (mut a, mut b) = (first["params"].clone(), again["params"].clone());
                for params in [&mut a, &mut b] {
                    if let Some(meta) = params["_meta"].as_object_mut() {
                        meta.remove("progressToken");
                    }
                }
                assert_eq!(a, b, "[http-lost-stream-new-request]: parameters must be unchanged");
                peer.send_result(&first["id"], json!({ "tools": [] }));
                assert_eq!(
                    peer.take_events(),
                    vec![],
                    "[cancel-ignore-late-response]: a late response to the first request must be ignored"
                );
                peer.report_undelivered(&again["id"], fault.clone());
                peer.advance_time(Duration::from_millis(500));
                let third = peer.take_sent_message();
                peer.report_undelivered(&third["id"], fault.clone());
                peer.advance_time(Duration::from_millis(1000));
                let fourth = peer.take_sent_message();
                peer.report_undelivered(&fourth["id"], fault.clone());
                let end = peer.take_result(call);
                let sent = fault != unreachable_fault();
                assert!(
                    matches!(&end, Err(CallError::Undelivered { sent: was, .. }) if *was == sent),
                    "three retransmissions at most, and `sent` must be correct: {end:?}"
                );
            }
        }
    }
}

#[test]
fn tool_call_is_sent_again_only_if_the_server_was_not_reached() {
    for revision in [Revision::V2025_03_26, Revision::V2026_07_28] {
        for (fault, sent) in [
            (lost_stream_fault(), true),
            (http_status_fault(503), true),
            (http_status_fault(500), true),
            (DeliveryFault::Unusable { cause: "html".into() }, true),
            (DeliveryFault::Redirected { cause: "see other".into() }, true),
            (http_status_fault(413), false),
            (http_status_fault(431), false),
            (http_status_fault(404), false),
        ] {
            let mut peer = TestSession::over_http(revision);
            let (call, first) = peer.start_call(tool_call());
            peer.report_undelivered(&first["id"], fault.clone());
            match peer.take_result(call) {
                Err(CallError::Undelivered { cause, sent: was }) => {
                    assert_eq!(was, sent, "[http-413-431]: value of `sent` after {fault}");
                    assert!(cause.contains(&fault.to_string()), "[http-413-431]: the cause must be reported: {cause}");
                }
                other => panic!("[http-disconnect-not-cancel]: expected an undelivered call, not {other:?}"),
            }
            peer.advance_time(seconds(60));
            assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "the call must not be repeated after {fault}");
            let (call, sent) = peer.start_call(tool_call());
            peer.send_result(&sent["id"], json!({ "content": [] }));
            assert!(peer.take_result(call).is_ok(), "[http-413-431]: the session must continue after {fault}");
        }
        let mut peer = TestSession::over_http(revision);
        let (call, first) = peer.start_call(tool_call());
        peer.report_undelivered(&first["id"], unreachable_fault());
        peer.advance_time(Duration::from_millis(250));
        let again = peer.take_sent_message();
        assert_ne!(again["id"], first["id"], "[base-request-id-session-unique]");
        peer.send_result(&again["id"], json!({ "content": [] }));
        assert!(peer.take_result(call).is_ok(), "a request that was not delivered must be sent again");
    }
}

#[test]
fn json_rpc_error_in_an_http_error_body_is_the_response() {
    let mut peer = TestSession::over_http(Revision::V2026_07_28);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "no such method" } });
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.report_http_error_status(&sent["id"], 404, &body.to_string());
    let end = peer.take_result(call);
    assert!(
        matches!(&end, Err(CallError::Server(error)) if error.code == -32601),
        "[http-404-method-not-found]: the error must be reported: {end:?}"
    );
}

#[test]
fn cancellation_closes_the_stream_in_2026_07_28() {
    let mut peer = TestSession::over_http(Revision::V2026_07_28);
    let (call, sent) = peer.start_call(tool_call());
    peer.session.cancel(call, CancelReason::User, peer.now);
    assert_eq!(
        peer.take_sent_message(),
        json!({ "aborted": sent["id"] }),
        "[cancel-http-close-stream]: the stream must be closed"
    );
    assert_eq!(peer.take_result(call), Err(CallError::Cancelled), "the call must end");
    peer.report_undelivered(&sent["id"], lost_stream_fault());
    assert_eq!(
        (peer.take_events(), peer.take_sent_messages().len()),
        (vec![], 0),
        "[cancel-races]: a fault of the closed stream must be ignored"
    );

    let (call, sent) = peer.start_call(tool_call());
    peer.advance_time(seconds(60));
    assert_eq!(
        peer.take_sent_message(),
        json!({ "aborted": sent["id"] }),
        "[lifecycle-timeout-cancel]: the stream must be closed"
    );
    assert!(matches!(peer.take_result(call), Err(CallError::Timeout { .. })), "[lifecycle-timeouts]");

    let call = peer.call(tool_call());
    peer.session.cancel(call, CancelReason::User, peer.now);
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[cancel-in-progress-only]: a queued request must be removed"
    );
    peer.take_events();

    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        let mut peer = TestSession::over_http(revision);
        let (call, sent) = peer.start_call(tool_call());
        peer.session.cancel(call, CancelReason::User, peer.now);
        let (message, head) = peer.take_post();
        assert_eq!(message["method"], "notifications/cancelled", "[cancel-http-explicit]: {revision}");
        assert_eq!(message["params"]["requestId"], sent["id"], "[cancel-own-requests]");
        assert_eq!(head.revision, Some(revision), "[http-version-header]: notifications must have the header");
    }
}

#[test]
fn cancelled_call_is_not_sent_again() {
    let mut peer = TestSession::over_http(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.report_undelivered(&sent["id"], lost_stream_fault());
    peer.session.cancel(call, CancelReason::User, peer.now);
    assert_eq!(peer.take_result(call), Err(CallError::Cancelled), "the call must end before the retransmission");
    peer.advance_time(seconds(60));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[cancel-in-progress-only]: no message must be sent");
}

#[test]
fn user_responses_are_sent_after_a_lost_stream() {
    let mut peer = TestSession::over_http(Revision::V2026_07_28);
    let request = ClientRequest::ReadResource { uri: "a:b".into() };
    let (call, first) = peer.start_call(request);
    let input_request = json!({ "when": { "method": "elicitation/create", "params": form_elicitation_params() } });
    let result = json!({ "resultType": "input_required", "requestState": "q9", "inputRequests": input_request });
    peer.send_result(&first["id"], result);
    let (server_request, ..) = peer.take_server_request();
    peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
    let second = peer.take_sent_message();
    peer.report_undelivered(&second["id"], lost_stream_fault());
    peer.advance_time(Duration::from_millis(250));
    let third = peer.take_sent_message();
    for key in ["inputResponses", "requestState"] {
        assert_eq!(third["params"][key], second["params"][key], "[mrtr-echo-state]: {key} must be retained");
    }
    assert_eq!(peer.take_events(), vec![], "no request must be reported again");
    let cached = json!({ "contents": [], "ttlMs": 1000, "cacheScope": "public" });
    peer.send_result(&third["id"], cached);
    match peer.take_result(call) {
        Ok(ServerResult::Contents { cache, .. }) => assert_eq!(cache, None, "[cache-no-mrtr]"),
        other => panic!("expected the resource, not {other:?}"),
    }
}

#[test]
fn server_request_belongs_to_the_call_of_its_stream() {
    let mut peer = TestSession::over_http(Revision::V2025_11_25);
    let (first, sent) = peer.start_call(tool_call());
    let (second, _) = peer.start_call(tool_call());
    let server_request = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form_elicitation_params() });
    let decode = |message: Value| IncomingMessage::decode(&message.to_string().into_bytes().into()).unwrap();
    let origin = StreamOrigin::Post(RequestId::Number(sent["id"].as_i64().unwrap()));
    peer.session.handle_message(decode(server_request(70)), origin, peer.now);
    let (_, call, _) = peer.take_server_request();
    assert_eq!(call, Some(first), "[http-sse-requests-before-response]: the call must be found by its stream");
    peer.advance_time(seconds(60));
    let end = peer.take_result(second);
    assert!(matches!(end, Err(CallError::Timeout { .. })), "only the clock of that call must be paused: {end:?}");
    peer.take_sent_messages();
    let (_third, _) = peer.start_call(tool_call());
    peer.session.handle_message(decode(server_request(71)), StreamOrigin::Get, peer.now);
    let (_, call, _) = peer.take_server_request();
    assert_eq!(call, None, "[http-get-listen]: the GET stream must not name a call");
}

#[test]
fn undelivered_ping_is_a_lost_connection() {
    let mut settings = crate::peer::client_config(HandshakeMode::Probe);
    settings.carrier = TransportKind::StreamableHttp;
    settings.timeouts.ping_interval = Some(seconds(30));
    let capabilities = crate::peer::all_capabilities();
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, capabilities.clone(), settings.clone());
    peer.advance_time(seconds(30));
    let ping = peer.take_sent_message();
    assert_eq!(ping["method"], "ping", "[ping-periodic]");
    peer.report_undelivered(&ping["id"], unreachable_fault());
    let event = peer.take_event();
    assert!(
        matches!(&event, SessionEvent::Closed(CloseReason::ConnectionLost(cause)) if cause.contains("refused")),
        "[ping-timeout-failure], [ping-log-failures]: {event:?}"
    );
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, capabilities, settings);
    peer.advance_time(seconds(30));
    let ping = peer.take_sent_message();
    peer.report_http_error_status(&ping["id"], 400, "");
    peer.advance_time(seconds(20));
    assert_eq!(peer.take_events(), vec![], "a refused ping must not end the session");
}

#[test]
fn delivery_failures_of_unknown_request_ids_are_ignored() {
    let mut peer = TestSession::over_http(Revision::V2025_11_25);
    for id in [json!(999), json!(0), json!(-1)] {
        peer.report_undelivered(&id, lost_stream_fault());
    }
    peer.session.handle_undelivered_request(&RequestId::Text("x".into()), lost_stream_fault(), peer.now);
    peer.session.handle_session_lost(Some(&RequestId::Number(999)), peer.now);
    assert_eq!(peer.take_events(), vec![], "unknown ids must be ignored");
}
