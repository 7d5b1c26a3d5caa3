//! Tests of JSON-RPC batches, which only revision 2025-03-26 has.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{TestSession, all_capabilities, assert_json_contains, client_config, form_elicitation_params};

fn request_message(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn batched_requests_are_answered_in_one_batch() {
    let mut peer = TestSession::ready(Revision::V2025_03_26);
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.send_message(json!([
        request_message(json!(1), "ping", json!({})),
        request_message(json!(2), "roots/list", json!({})),
        { "jsonrpc": "2.0", "method": "notifications/tools/list_changed" },
        { "jsonrpc": "2.0", "id": sent["id"], "result": { "tools": [] } },
        request_message(json!(3), "no/such/method", json!({})),
        { "jsonrpc": "1.0", "id": 4, "method": "ping" },
        17,
    ]));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[base-batch-receive]: responses must be sent together");
    let events = peer.take_events();
    let roots = events.iter().find_map(|event| {
        if let SessionEvent::RequestReceived { request, .. } = event { Some(*request) } else { None }
    });
    assert!(
        events.iter().any(|event| matches!(event, SessionEvent::Done { call: done, result: Ok(_) } if *done == call)),
        "[base-batch-receive]: responses in the batch must be processed"
    );
    assert!(
        events.contains(&SessionEvent::ListChanged(ListKind::Tools)),
        "[base-batch-receive]: notifications in the batch must be processed"
    );
    assert_eq!(
        events.iter().filter(|event| matches!(event, SessionEvent::Anomaly { .. })).count(),
        2,
        "invalid elements must be reported"
    );
    peer.session.answer(roots.unwrap(), ClientResponse::Roots(vec![]), peer.now).unwrap();
    let answers = peer.take_sent_message();
    let expected = json!([
        { "jsonrpc": "2.0", "id": 1, "result": {} },
        { "jsonrpc": "2.0", "id": 3, "error": answers[1]["error"] },
        { "jsonrpc": "2.0", "id": 4, "error": answers[2]["error"] },
        { "jsonrpc": "2.0", "id": 2, "result": { "roots": [] } },
    ]);
    assert_eq!(answers, expected, "[base-batch-receive]: one array must have each response once");
    assert_eq!(answers[1]["error"]["code"], -32601, "an unknown method");
    assert_eq!(answers[2]["error"]["code"], -32600, "an invalid request");
}

#[test]
fn batch_without_requests_is_not_answered() {
    let mut peer = TestSession::ready(Revision::V2025_03_26);
    peer.send_message(json!([{ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }]));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[base-notification-no-response]");
    peer.send_message(json!([request_message(json!(1), "roots/list", json!({}))]));
    peer.take_events();
    peer.send_notification("notifications/cancelled", json!({ "requestId": 1 }));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[cancel-received-stop]: no empty array must be sent");
}

#[test]
fn pending_batch_is_answered_when_the_session_ends() {
    let mut peer = TestSession::ready(Revision::V2025_03_26);
    peer.send_message(json!([
        request_message(json!(1), "ping", json!({})),
        request_message(json!(2), "roots/list", json!({}))
    ]));
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    assert_eq!(peer.take_sent_message().as_array().map(Vec::len), Some(2), "both requests must be answered");
}

#[test]
fn batches_are_rejected_by_other_revisions() {
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.has_batches()) {
        let mut peer = TestSession::ready(revision);
        let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
        peer.send_message(json!([{ "jsonrpc": "2.0", "id": sent["id"], "result": { "tools": [] } }, request_message(json!(1), "ping", json!({}))]));
        match peer.take_result(call) {
            Err(CallError::Unreadable(invalid)) => {
                assert_eq!(
                    invalid.cause,
                    InvalidMessageCause::BatchNotAllowed,
                    "X42, [base-batch-removed] in {revision}"
                );
            }
            other => panic!("X42: expected an immediate failure with the cause, not {other:?}"),
        }
        if revision.is_modern() {
            assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[stdio-no-responses-written]");
        } else {
            assert_json_contains(
                &peer.take_sent_message(),
                &json!({ "id": 1, "error": { "code": -32600 } }),
                "requests must receive an error",
            );
        }
    }
}

#[test]
fn number_of_messages_in_a_batch_is_bounded() {
    let mut settings = client_config(HandshakeMode::Probe);
    settings.limits.batch = 2;
    let mut peer = TestSession::ready_with(Revision::V2025_03_26, all_capabilities(), settings);
    peer.send_message(json!([
        request_message(json!(1), "ping", json!({})),
        request_message(json!(2), "elicitation/create", form_elicitation_params()),
        request_message(json!(3), "ping", json!({}))
    ]));
    let refused: Vec<Value> = peer.take_sent_messages().iter().map(|sent| sent["error"]["code"].clone()).collect();
    assert_eq!(refused, vec![json!(-32600); 3], "each request of an oversized batch must be refused");
    let many = format!("[{}1]", "1,".repeat(1000));
    let invalid = IncomingMessage::decode(&many.into()).unwrap_err();
    assert_eq!(
        invalid.cause,
        InvalidMessageCause::BatchTooLong(1000),
        "a batch beyond MAX_BATCH_MESSAGES must be rejected without parsing"
    );
}
