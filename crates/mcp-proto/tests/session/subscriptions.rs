//! Tests of change notifications: unsolicited up to 2025-11-25, and by subscription in 2026-07-28.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{TestSession, all_capabilities, assert_json_contains, client_config, seconds};

const SUBSCRIPTION_ID_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Returns a session of 2026-07-28 and the id of its first `subscriptions/listen` request.
fn subscribed_test_session() -> (TestSession, Value) {
    let mut peer = TestSession::with_config(client_config(HandshakeMode::Pinned(Revision::V2026_07_28)));
    let probe = peer.take_sent_message();
    peer.send_result(&probe["id"], json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities() }));
    peer.take_events();
    let listen = peer.take_sent_message();
    let expected = json!({ "method": "subscriptions/listen", "params": { "notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } });
    assert_json_contains(&listen, &expected, "[subs-opt-in-types]");
    assert_eq!(
        listen["params"]["notifications"].get("resourceSubscriptions"),
        None,
        "[subs-opt-in-types]: no resource must be requested"
    );
    (peer, listen["id"].clone())
}

fn acknowledge_resource_subscriptions(peer: &mut TestSession, id: &Value, uris: &[&str]) {
    let granted = json!({ "toolsListChanged": true, "resourceSubscriptions": uris });
    peer.send_notification(
        "notifications/subscriptions/acknowledged",
        json!({ "_meta": { SUBSCRIPTION_ID_KEY: id }, "notifications": granted }),
    );
}

fn subscribe_request(uri: &str) -> ClientRequest {
    ClientRequest::Subscribe { uri: uri.into() }
}

#[test]
fn notifications_are_unsolicited_in_legacy_revisions() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    for (method, kind) in [
        ("notifications/tools/list_changed", ListKind::Tools),
        ("notifications/prompts/list_changed", ListKind::Prompts),
        ("notifications/resources/list_changed", ListKind::Resources),
    ] {
        peer.send_message(json!({ "jsonrpc": "2.0", "method": method }));
        assert_eq!(peer.take_event(), SessionEvent::ListChanged(kind), "[subs-legacy-unsolicited]: {method}");
        peer.send_notification(method, Value::Null);
        assert_eq!(peer.take_event(), SessionEvent::ListChanged(kind), "null params must be accepted: {method}");
    }
    peer.send_notification("notifications/resources/updated", json!({ "uri": "a:b/c" }));
    let expected = SessionEvent::ResourceUpdated { uri: "a:b/c".into() };
    assert_eq!(peer.take_event(), expected, "[resources-updated-subresource]");
    peer.send_notification("notifications/resources/updated", json!({}));
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "an invalid notification must be reported");
    peer.send_notification("notifications/of/the/future", json!({ "x": 1 }));
    assert_eq!(peer.take_events(), vec![], "unknown notifications must be ignored");
}

#[test]
fn modern_notifications_are_routed_by_subscription() {
    let (mut peer, id) = subscribed_test_session();
    acknowledge_resource_subscriptions(&mut peer, &id, &[]);
    assert_eq!(peer.take_events(), vec![], "[subs-ack-interleaving]: an acknowledgement must not cause an event");
    peer.send_notification("notifications/tools/list_changed", json!({ "_meta": { SUBSCRIPTION_ID_KEY: id } }));
    assert_eq!(peer.take_event(), SessionEvent::ListChanged(ListKind::Tools), "[subs-correlate-stdio]");
    for wrong in [json!(id.to_string()), json!(999), json!(null), json!(1.0)] {
        peer.send_notification("notifications/tools/list_changed", json!({ "_meta": { SUBSCRIPTION_ID_KEY: wrong } }));
        assert!(
            matches!(peer.take_event(), SessionEvent::Anomaly { .. }),
            "[subs-id-is-request-id]: {wrong} must not match the subscription"
        );
    }
}

#[test]
fn subscription_is_granted_by_the_server() {
    let (mut peer, first) = subscribed_test_session();
    acknowledge_resource_subscriptions(&mut peer, &first, &[]);
    let good = peer.call(subscribe_request("a:good"));
    let sent = peer.take_sent_messages();
    let expected = json!({ "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["a:good"] } } });
    assert_json_contains(&sent[0], &expected, "[resources-subscribe-modern]: the whole set must be requested");
    let expected = json!({ "method": "notifications/cancelled", "params": { "requestId": first } });
    assert_json_contains(&sent[1], &expected, "[subs-cancel]: the previous subscription must be cancelled");
    acknowledge_resource_subscriptions(&mut peer, &first, &["a:good"]);
    assert_eq!(peer.take_events(), vec![], "an acknowledgement of the previous request must be ignored");
    acknowledge_resource_subscriptions(&mut peer, &sent[0]["id"], &["a:good"]);
    assert_eq!(peer.take_result(good), Ok(ServerResult::Empty), "[subs-ack-check]: granted");
    peer.send_notification(
        "notifications/resources/updated",
        json!({ "uri": "a:good", "_meta": { SUBSCRIPTION_ID_KEY: first } }),
    );
    assert!(
        matches!(peer.take_event(), SessionEvent::ResourceUpdated { .. }),
        "late notifications of the previous request must be reported"
    );

    let again = peer.call(subscribe_request("a:good"));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "an existing subscription must not be requested again");
    assert_eq!(peer.take_result(again), Ok(ServerResult::Empty), "the call must succeed");

    let bad = peer.call(subscribe_request("a:bad"));
    let listen = peer.take_sent_messages()[0]["id"].clone();
    acknowledge_resource_subscriptions(&mut peer, &listen, &["a:good"]);
    let end = peer.take_result(bad);
    assert!(matches!(end, Err(CallError::Unsupported { .. })), "[subs-ack-check]: not granted: {end:?}");

    let unsubscribed = peer.call(ClientRequest::Unsubscribe { uri: "a:good".into() });
    assert_eq!(peer.take_result(unsubscribed), Ok(ServerResult::Empty), "the call must succeed immediately");
    let requested = &peer.take_sent_messages()[0]["params"]["notifications"];
    assert_eq!(
        requested.get("resourceSubscriptions"),
        None,
        "[subs-opt-in-types]: the resource must be removed from the set"
    );
}

#[test]
fn unacknowledged_subscription_call_times_out() {
    let (mut peer, first) = subscribed_test_session();
    acknowledge_resource_subscriptions(&mut peer, &first, &[]);
    let call = peer.call(subscribe_request("a:b"));
    peer.take_sent_messages();
    peer.advance_time(seconds(60));
    let end = peer.take_result(call);
    assert!(matches!(end, Err(CallError::Timeout { .. })), "the call must time out: {end:?}");
    let sent = peer.take_sent_messages();
    let requested = &sent[0]["params"]["notifications"];
    assert_eq!(requested.get("resourceSubscriptions"), None, "the resource must be removed from the set");
}

#[test]
fn listen_request_has_no_timeout() {
    let (mut peer, id) = subscribed_test_session();
    acknowledge_resource_subscriptions(&mut peer, &id, &[]);
    peer.advance_time(seconds(1_000_000));
    assert_eq!((peer.take_events(), peer.take_sent_messages().len()), (vec![], 0), "[subs-no-response-timeout]");
}

#[test]
fn server_can_end_the_listen_request_by_result_or_error() {
    for by_result in [true, false] {
        let (mut peer, id) = subscribed_test_session();
        if by_result {
            peer.send_result(&id, json!({ "resultType": "complete", "_meta": { SUBSCRIPTION_ID_KEY: id } }));
        } else {
            peer.send_notification("notifications/cancelled", json!({ "requestId": id }));
        }
        let event = peer.take_event();
        assert!(
            matches!(event, SessionEvent::SubscriptionsLost { .. }),
            "[subs-graceful-end], [cancel-server-ends-listen]: {event:?}"
        );
        assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "the renewal must be delayed");
        let call = peer.call(subscribe_request("a:b"));
        let listen = peer.take_sent_message();
        assert_eq!(listen["method"], "subscriptions/listen", "a new subscription must renew immediately");
        acknowledge_resource_subscriptions(&mut peer, &listen["id"], &["a:b"]);
        assert_eq!(peer.take_result(call), Ok(ServerResult::Empty), "the call must succeed");
    }
    let (mut peer, _) = subscribed_test_session();
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.send_notification("notifications/cancelled", json!({ "requestId": sent["id"] }));
    assert_eq!(peer.take_events(), vec![], "[cancel-invalid-ignore]: the server must not be able to cancel a call");
    peer.send_result(&sent["id"], json!({ "tools": [] }));
    assert!(peer.take_result(call).is_ok(), "the response must be accepted");
}

/// Lets the server end the subscription `id` in one of three ways, selected by `how`.
fn end_listen_request(peer: &mut TestSession, id: &Value, how: usize) {
    let lost = DeliveryFault::Lost { cause: "the stream broke".into() };
    let down = DeliveryFault::Unreachable { cause: "connection refused".into() };
    let id = RequestId::Number(id.as_i64().unwrap());
    match how % 3 {
        0 => peer.session.handle_undelivered_request(&id, lost, peer.now),
        1 => peer.session.handle_undelivered_request(&id, down, peer.now),
        _ => peer.send_result(&json!(id), json!({ "resultType": "complete" })),
    }
}

#[test]
fn lost_listen_request_is_renewed_with_backoff() {
    for carrier in [TransportKind::Stdio, TransportKind::StreamableHttp] {
        let mut peer = TestSession::with_config(SessionConfig {
            carrier,
            ..client_config(HandshakeMode::Pinned(Revision::V2026_07_28))
        });
        let probe = peer.take_sent_message();
        peer.send_result(
            &probe["id"],
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities() }),
        );
        peer.take_events();
        let first = peer.take_sent_message();
        peer.acknowledge_subscription(&first);
        let call = peer.call(subscribe_request("a:b"));
        let mut listen = peer.take_sent_messages().remove(0);
        peer.acknowledge_subscription(&listen);
        peer.take_result(call).unwrap();
        for (how, wait) in [1, 2, 4, 8, 16, 32, 60, 60].into_iter().enumerate() {
            end_listen_request(&mut peer, &listen["id"], how);
            let events = peer.take_events();
            let is_reported = matches!(&events[..], [SessionEvent::SubscriptionsLost { .. }]);
            assert_eq!(is_reported, how == 0, "the loss must be reported once: {events:?}");
            peer.advance_time(seconds(wait) - std::time::Duration::from_millis(1));
            assert_eq!(
                peer.take_sent_messages(),
                Vec::<Value>::new(),
                "[cache-poll-jitter]: no renewal before {wait} s"
            );
            peer.advance_time(std::time::Duration::from_millis(1));
            let again = peer.take_sent_message();
            assert_eq!(
                again["params"]["notifications"], listen["params"]["notifications"],
                "[subs-abrupt-reconnect]: the whole set must be requested again"
            );
            assert_ne!(again["id"], listen["id"], "[base-request-id-session-unique]: the renewal must have a new id");
            listen = again;
        }
        peer.acknowledge_subscription(&listen);
        assert_eq!(peer.take_event(), SessionEvent::SubscriptionsRenewed, "the renewal must be reported");
        peer.advance_time(seconds(60));
        end_listen_request(&mut peer, &listen["id"], 0);
        assert!(
            matches!(peer.take_event(), SessionEvent::SubscriptionsLost { .. }),
            "a loss after the renewal must be reported"
        );
        peer.advance_time(seconds(1));
        assert_eq!(
            peer.take_sent_message()["method"],
            "subscriptions/listen",
            "a lifetime of 60 s must reset the delay to 1 s"
        );
    }
}

#[test]
fn unacknowledged_listen_request_is_cancelled() {
    let (mut peer, id) = subscribed_test_session();
    peer.advance_time(seconds(29));
    assert_eq!((peer.take_events(), peer.take_sent_messages().len()), (vec![], 0), "no timeout within 30 s");
    peer.advance_time(seconds(1));
    assert!(
        matches!(peer.take_event(), SessionEvent::SubscriptionsLost { cause } if cause.contains("acknowledge")),
        "[subs-ack-check]: a missing acknowledgement must be reported"
    );
    assert_eq!(peer.take_sent_message()["params"]["requestId"], id, "[subs-cancel]: the request must be cancelled");
    peer.advance_time(seconds(1));
    let again = peer.take_sent_message();
    peer.send_notification(
        "notifications/tools/list_changed",
        json!({ "_meta": { SUBSCRIPTION_ID_KEY: again["id"] } }),
    );
    peer.take_events();
    peer.advance_time(seconds(100));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "a notification must count as an acknowledgement");
}

#[test]
fn unsupported_listen_method_is_not_retried() {
    let (mut peer, id) = subscribed_test_session();
    peer.send_error(&id, -32601, "no such method");
    peer.take_events();
    peer.advance_time(seconds(1_000_000));
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "an unknown method must not be retried");
}

#[test]
fn subscriptions_are_restored_after_a_restart() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let settings = client_config(HandshakeMode::Pinned(revision));
        let mut peer = TestSession::with_config(SessionConfig { subscribed: vec!["a:b".into()], ..settings });
        let opening = peer.take_sent_message();
        let mut result = json!({ "capabilities": all_capabilities(), "protocolVersion": revision });
        result["supportedVersions"] = json!([revision]);
        peer.send_result(&opening["id"], result);
        let sent = peer.take_sent_messages();
        let (method, params) = (&sent.last().unwrap()["method"], &sent.last().unwrap()["params"]);
        if revision.is_modern() {
            assert_eq!(*method, "subscriptions/listen", "[subs-relisten-stdio]");
            assert_eq!(params["notifications"]["resourceSubscriptions"], json!(["a:b"]), "[subs-relisten-stdio]");
        } else {
            assert_eq!((method.as_str(), &params["uri"]), (Some("resources/subscribe"), &json!("a:b")), "{revision}");
        }
    }
}

#[test]
fn refused_subscription_change_keeps_the_granted_subscriptions() {
    let (mut peer, first) = subscribed_test_session();
    acknowledge_resource_subscriptions(&mut peer, &first, &[]);
    let good = peer.call(subscribe_request("a:good"));
    let listen = peer.take_sent_messages()[0]["id"].clone();
    acknowledge_resource_subscriptions(&mut peer, &listen, &["a:good"]);
    peer.take_result(good).unwrap();
    let bad = peer.call(subscribe_request("a:bad"));
    let listen = peer.take_sent_messages()[0]["id"].clone();
    peer.send_error(&listen, -32602, "no such resource");
    let end = peer.take_result(bad);
    assert!(matches!(end, Err(CallError::Server(_))), "the refusal must end the call: {end:?}");
    let requested = peer.take_sent_message()["params"]["notifications"]["resourceSubscriptions"].clone();
    assert_eq!(requested, json!(["a:good"]), "the granted set must be requested again");
}

#[test]
fn listen_request_is_not_sent_without_list_changes() {
    let mut peer = TestSession::with_config(client_config(HandshakeMode::Pinned(Revision::V2026_07_28)));
    let probe = peer.take_sent_message();
    peer.send_result(&probe["id"], json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }));
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[subs-opt-in-types]: no subscription without list changes"
    );
}

#[test]
fn log_messages_of_any_shape_are_reported() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        for data in [json!("x"), json!(null), json!([1]), json!({ "a": 1 })] {
            peer.send_notification("notifications/message", json!({ "level": level, "data": data, "logger": "l" }));
            let event = peer.take_event();
            assert!(
                matches!(&event, SessionEvent::Log { message, call: None } if message.data == data),
                "[logging-levels], [logging-any-data], [logging-unsolicited]: {event:?}"
            );
        }
    }
    peer.send_notification("notifications/message", json!({ "level": "loud", "data": 1 }));
    let event = peer.take_event();
    assert!(
        matches!(&event, SessionEvent::Anomaly { cause, .. } if cause.contains("loud")),
        "[logging-validate]: the cause must name the unknown level: {event:?}"
    );
}
