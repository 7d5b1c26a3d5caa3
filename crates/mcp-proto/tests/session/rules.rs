//! Tests of rules for all messages: structure, metadata and error codes.

use mcp_proto::types::{CompletionReference, LogLevel};
use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{
    TestSession, accepted_form_response, all_capabilities, client_config, form_elicitation_params, sampling_params,
    seconds, tool_call,
};

/// Returns all messages that a session wrote in a run with messages of every kind.
fn sent_message_lines(revision: Revision) -> Vec<String> {
    let mut peer = TestSession::ready(revision);
    let mut lines = Vec::new();
    let mut take = |peer: &mut TestSession| {
        lines.extend(std::iter::from_fn(|| peer.session.poll_transmit()).map(|outgoing| outgoing.json));
    };
    peer.session.notify(ClientNotification::RootsListChanged);
    let arguments = json!({ "text": "日本\u{0}\n\u{2028} \"quoted\"" }).as_object().cloned().unwrap();
    let call = peer.call(ClientRequest::CallTool { name: "ä".into(), arguments, as_task: false });
    peer.call(ClientRequest::Subscribe { uri: "a:b".into() });
    peer.call(ClientRequest::ListPrompts { cursor: Some("ü".into()) });
    peer.send_request(json!(1), "roots/list", Value::Null);
    peer.send_request(json!("x"), "no/such", Value::Null);
    peer.send_request(json!("y"), "ping", Value::Null);
    take(&mut peer);
    peer.session.cancel(call, CancelReason::Other("näh".into()), peer.now);
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    take(&mut peer);
    lines
}

#[test]
fn every_message_is_valid_json_rpc() {
    for revision in Revision::ALL {
        let lines = sent_message_lines(revision);
        assert!(lines.len() >= 4, "[base-core-components]: messages must be sent in {revision}");
        for line in lines {
            // A `String` is UTF-8. The test verifies that all characters are retained.
            let message: Value = serde_json::from_str(&line).expect("[base-utf8], [base-jsonrpc2]: JSON");
            assert_eq!(message["jsonrpc"], "2.0", "[base-jsonrpc2]: {line}");
            let (method, id) = (message["method"].as_str(), message.get("id"));
            match (method, id) {
                (Some(method), None) => {
                    assert!(method.starts_with("notifications/"), "[base-notification-no-id]: {line}");
                }
                (Some(method), Some(id)) => {
                    assert!(id.is_i64(), "[base-request-id-type]: {line}");
                    assert!(!method.starts_with("notifications/"), "[base-notification-no-id]: {line}");
                }
                (None, Some(_)) => {
                    let parts = [message.get("result"), message.get("error")];
                    assert_eq!(parts.iter().flatten().count(), 1, "[base-response-one-of]: {line}");
                }
                (None, None) => panic!("[base-jsonrpc2]: neither method nor id: {line}"),
            }
        }
        let all = sent_message_lines(revision).join("\n");
        assert!(all.contains("日本") && all.contains("ä"), "[base-utf8]: characters must be unchanged: {all}");
        let token =
            serde_json::from_str::<Value>(&sent_message_lines(revision)[usize::from(!revision.is_modern())]).unwrap();
        let token = &token["params"]["_meta"]["progressToken"];
        assert!(token.is_i64(), "[progress-token-type]: {token}");
    }
}

#[test]
fn error_codes_are_those_of_json_rpc() {
    let ours = [-32700, -32600, -32601, -32602, -32603];
    let mut settings = client_config(HandshakeMode::Probe);
    settings.limits.open_requests = 1;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), settings);
    peer.send_request(json!(1), "no/such/method", Value::Null);
    peer.send_request(json!(2), "elicitation/create", json!({ "message": 5 }));
    peer.send_request(json!(3), "elicitation/create", form_elicitation_params());
    peer.send_request(json!(4), "elicitation/create", form_elicitation_params());
    peer.send_request(json!(5), "sampling/createMessage", json!([]));
    peer.send_line(r#"{"jsonrpc":"2.0","id":6,"method":5}"#);
    peer.send_line(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#);
    peer.send_message(json!([{ "jsonrpc": "2.0", "id": 8, "method": "ping" }]));
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    let codes: Vec<i64> = peer.take_sent_messages().iter().filter_map(|sent| sent["error"]["code"].as_i64()).collect();
    assert!(codes.len() >= 5, "several errors must be sent: {codes:?}");
    for code in codes {
        assert!(
            ours.contains(&code),
            "[base-error-reserved-range], [base-error-avoid-legacy-range], [base-error-retired-codes]: {code}"
        );
    }
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    peer.send_request(json!(1), "no/such/method", Value::Null);
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[base-error-retired-codes]: no errors may be sent in 2026-07-28"
    );
}

#[test]
fn implementation_defined_error_codes_have_no_special_meaning() {
    for code in -32019..=-32000 {
        for revision in Revision::ALL {
            let mut peer = TestSession::over_http(revision);
            let (call, sent) = peer.start_call(tool_call());
            let data = json!({ "supported": ["2025-06-18"], "elicitations": [{ "mode": "url", "url": "https://x" }] });
            peer.send_message(json!({ "jsonrpc": "2.0", "id": sent["id"],
                              "error": { "code": code, "message": "m", "data": data } }));
            let end = peer.take_result(call);
            assert!(
                matches!(&end, Err(CallError::Server(error)) if error.code == code),
                "[base-error-32000-range]: {code} in {revision} must be an ordinary error: {end:?}"
            );
            assert_eq!(
                peer.take_sent_messages(),
                Vec::<Value>::new(),
                "[base-error-32000-range]: no message must be sent"
            );
        }
    }
}

#[test]
fn metadata_of_any_shape_is_retained_without_effect() {
    for odd in [json!(5), json!("x"), json!([1]), json!({ "a": { "b": null } }), Value::Null] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let mut peer = TestSession::ready(revision);
            let meta = json!({ "io.modelcontextprotocol/serverInfo": odd, "io.modelcontextprotocol/related-task": odd,
                               "progressToken": odd, "com.example/own": odd });
            let (call, sent) = peer.start_call(tool_call());
            peer.send_result(&sent["id"], json!({ "content": [], "_meta": meta, "future": odd }));
            match peer.take_result(call) {
                Ok(ServerResult::Tool(result)) => {
                    assert_eq!(
                        result.meta.map(Value::Object),
                        Some(meta.clone()),
                        "[base-meta-no-assumptions]: metadata must be retained"
                    );
                    assert_eq!(result.extra.get("future"), Some(&odd), "unknown members must be retained");
                }
                other => panic!("[base-meta-no-assumptions]: {odd} must be tolerated, but: {other:?}"),
            }
            if !revision.is_modern() {
                let mut params = form_elicitation_params();
                params["_meta"] = meta;
                peer.send_request(json!(1), "elicitation/create", params);
                let (server_request, ..) = peer.take_server_request();
                peer.session.answer(server_request, accepted_form_response(), peer.now).unwrap();
                assert_eq!(
                    peer.take_sent_message()["result"].get("_meta"),
                    None,
                    "[base-meta-no-assumptions]: no task must be named"
                );
            }
        }
    }
}

#[test]
fn trace_context_is_sent_with_each_request_in_w3c_form() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new(parent.into(), Some("a=1,b=2".into()), Some("user=x;p=1".into())).unwrap();
    for (revision, there) in [(Revision::V2025_11_25, false), (Revision::V2026_07_28, true)] {
        let mut peer = TestSession::ready(revision);
        peer.session.set_trace_context(Some(trace.clone()));
        let (_, sent) = peer.start_call(tool_call());
        let meta = &sent["params"]["_meta"];
        let found = [&meta["traceparent"], &meta["tracestate"], &meta["baggage"]];
        let expected =
            if there { [json!(parent), json!("a=1,b=2"), json!("user=x;p=1")] } else { [(); 3].map(|()| Value::Null) };
        assert_eq!(found.map(Clone::clone), expected, "[base-meta-trace-context]: in {revision}");
        peer.session.set_trace_context(None);
        let (_, sent) = peer.start_call(tool_call());
        assert_eq!(sent["params"]["_meta"].get("traceparent"), None, "the context must be absent after it was removed");
    }
    for (bad, state, baggage) in [
        ("", None, None),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", None, None),
        ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None, None),
        ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None, None),
        ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None, None),
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", None, None),
        (parent, Some("no member"), None),
        (parent, None, Some("a=\u{0}")),
        (parent, None, Some("=1")),
    ] {
        let made = TraceContext::new(bad.into(), state.map(Into::into), baggage.map(Into::into));
        assert!(made.is_err(), "[base-meta-trace-context]: {bad:?} {state:?} {baggage:?} must be rejected");
    }
}

#[test]
fn server_info_does_not_affect_behaviour() {
    let transcript = |info: Value, extra: Value| {
        let mut peer = TestSession::with_config(client_config(HandshakeMode::Initialize));
        let init = peer.take_sent_message();
        let mut capabilities = all_capabilities();
        capabilities["future"] = extra;
        let result = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info });
        peer.send_result(&init["id"], result);
        peer.call(tool_call());
        peer.send_request(json!(1), "sampling/createMessage", sampling_params());
        peer.advance_time(seconds(61));
        (peer.take_sent_messages(), peer.take_events().into_iter().skip(1).collect::<Vec<_>>())
    };
    let plain = transcript(json!({ "name": "s", "version": "1" }), json!({}));
    for name in ["drawbridge", "Claude", "../../etc", ""] {
        let other = transcript(json!({ "name": name, "version": "9".repeat(1000) }), json!({}));
        assert_eq!(other, plain, "[lifecycle-server-info-display-only]: {name:?}");
    }
    for extra in [json!(true), json!([1]), json!({ "deep": {} })] {
        let other = transcript(json!({ "name": "s", "version": "1" }), extra.clone());
        assert_eq!(other, plain, "[lifecycle-tolerate-unknown-caps]: {extra}");
    }
}

#[test]
fn unsupported_extension_is_not_used() {
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let request =
        ClientRequest::Extension { extension: "com.example/x", method: "x/y", params: serde_json::Map::new() };
    let end = peer.session.call(request, crate::peer::LONG_DEADLINE, peer.now);
    assert!(matches!(end, Err(CallError::Unsupported { .. })), "[lifecycle-ext-fallback]: {end:?}");
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(&sent["id"], json!({ "content": [], "resultType": "complete" }));
    assert!(peer.take_result(call).is_ok(), "[lifecycle-ext-fallback]: a plain result must be accepted");
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(&sent["id"], json!({ "content": [], "resultType": "com.example/x" }));
    let end = peer.take_result(call);
    assert!(
        matches!(end, Err(CallError::BadAnswer { .. })),
        "[base-result-type-extensions]: an undeclared type must be rejected: {end:?}"
    );
}

#[test]
fn deprecated_features_work_while_declared() {
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let level = peer.call(ClientRequest::SetLogLevel { level: LogLevel::Debug });
    peer.take_result(level).unwrap();
    let (call, sent) = peer.start_call(tool_call());
    assert_eq!(sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"], "debug", "[lifecycle-deprecated-handle]");
    let both = json!({ "a": { "method": "roots/list" }, "b": { "method": "sampling/createMessage", "params": sampling_params() } });
    peer.send_result(&sent["id"], json!({ "resultType": "input_required", "inputRequests": both }));
    let requests = peer.take_events().into_iter().filter(|event| {
        matches!(event, SessionEvent::RequestReceived { call: of, server_request, .. } if *of == Some(call) && matches!(**server_request, ServerRequest::Roots | ServerRequest::Sampling(_)))
    });
    assert_eq!(requests.count(), 2, "[lifecycle-deprecated-handle]: both requests must be reported");
}

#[test]
fn log_message_belongs_to_the_request_of_its_stream() {
    let mut peer = TestSession::over_http(Revision::V2026_07_28);
    let (_other, _) = peer.start_call(tool_call());
    let (call, sent) = peer.start_call(tool_call());
    let log =
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } });
    let id = RequestId::Number(sent["id"].as_i64().unwrap());
    for (origin, expected) in [
        (StreamOrigin::Post(id), Some(call)),
        (StreamOrigin::Post(RequestId::Number(999)), None),
        (StreamOrigin::Get, None),
        (StreamOrigin::Stdio, None),
    ] {
        let message = IncomingMessage::decode(&log.to_string().into()).unwrap();
        peer.session.handle_message(message, origin.clone(), peer.now);
        match peer.take_event() {
            SessionEvent::Log { call, .. } => assert_eq!(call, expected, "[logging-request-scoped]: {origin:?}"),
            other => panic!("[logging-request-scoped]: expected a log message, not {other:?}"),
        }
    }
    let mut peer = TestSession::with_config(client_config(HandshakeMode::Pinned(Revision::V2026_07_28)));
    let probe = peer.take_sent_message();
    peer.send_result(&probe["id"], json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities() }));
    let listen = peer.take_sent_message();
    let meta = &listen["params"]["_meta"];
    assert!(
        meta.get("progressToken").is_none() && meta.get("io.modelcontextprotocol/logLevel").is_none(),
        "[subs-request-scoped-elsewhere]: the subscription must not request progress or log messages: {listen}"
    );
}

#[test]
fn list_pages_of_any_size_are_accepted() {
    for size in [0, 1, 3, 1000] {
        for cursor in [None, Some(""), Some("opaque=?\u{0}")] {
            let mut peer = TestSession::ready(Revision::V2026_07_28);
            let (call, sent) = peer.start_call(ClientRequest::ListResources { cursor: None });
            assert_eq!(
                sent["params"].get("cursor"),
                None,
                "[pagination-no-persist-cursor]: the first page must have no cursor"
            );
            let resources: Vec<Value> =
                (0..size).map(|n| json!({ "uri": format!("a:{n}"), "name": format!("n{n}") })).collect();
            let mut result = json!({ "resources": resources, "ttlMs": 0, "cacheScope": "private" });
            if let Some(cursor) = cursor {
                result["nextCursor"] = json!(cursor);
            }
            peer.send_result(&sent["id"], result);
            match peer.take_result(call) {
                Ok(ServerResult::Resources { items, next_cursor, .. }) => {
                    assert_eq!(items.len(), size, "[pagination-no-page-size]");
                    assert_eq!(
                        next_cursor.as_deref(),
                        cursor,
                        "[pagination-both-flows], [pagination-empty-string-cursor]"
                    );
                }
                other => panic!("[pagination-both-flows]: expected a page, not {other:?}"),
            }
        }
    }
}

#[test]
fn partial_completion_results_are_accepted() {
    let request = || ClientRequest::Complete {
        reference: CompletionReference::Prompt { name: "p".into() },
        argument_name: "a".into(),
        value: "v".into(),
        context: Default::default(),
    };
    for (answer, values, total, more) in [
        (json!({ "values": ["a", "b"] }), 2, None, false),
        (json!({ "values": [], "total": 7, "hasMore": true }), 0, Some(7), true),
        (json!({ "values": null, "total": null, "hasMore": null }), 0, None, false),
        (json!({}), 0, None, false),
    ] {
        let mut peer = TestSession::ready(Revision::V2025_11_25);
        let (call, sent) = peer.start_call(request());
        peer.send_result(&sent["id"], json!({ "completion": answer }));
        match peer.take_result(call) {
            Ok(ServerResult::Completion(result)) => assert_eq!(
                (result.values.len(), result.total, result.has_more),
                (values, total, more),
                "[completion-partial], [completion-max-100]: {answer}"
            ),
            other => panic!("[completion-partial]: {answer} must be accepted, not {other:?}"),
        }
    }
}
