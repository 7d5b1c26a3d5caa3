//! Tests of calls: the requests that they send, their results and their ends.

use bytes::Bytes;
use mcp_proto::types::*;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{LONG_DEADLINE, TestSession, all_capabilities, assert_json_contains, client_config, tool_call};

fn json_object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn completion_request() -> ClientRequest {
    ClientRequest::Complete {
        reference: CompletionReference::Prompt { name: "p".into() },
        argument_name: "city".into(),
        value: "Par".into(),
        context: [("country".to_owned(), "fr".to_owned())].into(),
    }
}

#[test]
fn sent_requests_match_the_schemas() {
    let list = |cursor: Option<&str>| cursor.map(str::to_owned);
    let text = json!({ "content": [{ "type": "text", "text": "ok" }] });
    let cases: Vec<(ClientRequest, Value, Value)> = vec![
        (ClientRequest::Ping, json!({ "method": "ping" }), json!({})),
        (
            ClientRequest::ListTools { cursor: list(None) },
            json!({ "method": "tools/list" }),
            json!({ "tools": [{ "name": "t", "inputSchema": { "type": "object" } }], "nextCursor": "" }),
        ),
        (
            ClientRequest::ListTools { cursor: list(Some("")) },
            json!({ "method": "tools/list", "params": { "cursor": "" } }),
            json!({ "tools": [] }),
        ),
        (
            tool_call(),
            // [tools-arguments-object]
            json!({ "method": "tools/call", "params": { "name": "add_note", "arguments": { "text": "hi" } } }),
            text,
        ),
        (ClientRequest::ListPrompts { cursor: None }, json!({ "method": "prompts/list" }), json!({ "prompts": [] })),
        (
            ClientRequest::GetPrompt { name: "p".into(), arguments: json_object(json!({ "a": "b" })) },
            json!({ "method": "prompts/get", "params": { "name": "p", "arguments": { "a": "b" } } }),
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "x" } }] }),
        ),
        (
            ClientRequest::ListResources { cursor: None },
            json!({ "method": "resources/list" }),
            json!({ "resources": [] }),
        ),
        (
            ClientRequest::ListResourceTemplates { cursor: list(Some("c")) },
            json!({ "method": "resources/templates/list", "params": { "cursor": "c" } }),
            json!({ "resourceTemplates": [{ "uriTemplate": "x://{a}", "name": "n" }] }),
        ),
        (
            ClientRequest::ReadResource { uri: "custom://x".into() },
            json!({ "method": "resources/read", "params": { "uri": "custom://x" } }),
            json!({ "contents": [{ "uri": "custom://x", "text": "a" }, { "uri": "custom://y", "blob": "AA==" }] }),
        ),
        (
            ClientRequest::Subscribe { uri: "a:b".into() },
            json!({ "method": "resources/subscribe", "params": { "uri": "a:b" } }),
            json!({}),
        ),
        (
            ClientRequest::Unsubscribe { uri: "a:b".into() },
            json!({ "method": "resources/unsubscribe", "params": { "uri": "a:b" } }),
            json!({}),
        ),
        (
            completion_request(),
            json!({ "method": "completion/complete", "params": { "ref": { "type": "ref/prompt", "name": "p" },
                    "argument": { "name": "city", "value": "Par" }, "context": { "arguments": { "country": "fr" } } } }),
            json!({ "completion": { "values": ["Paris"], "hasMore": true } }),
        ),
        (
            ClientRequest::SetLogLevel { level: LogLevel::Warning },
            json!({ "method": "logging/setLevel", "params": { "level": "warning" } }),
            json!({}),
        ),
    ];
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let mut ids = std::collections::HashSet::new();
    for (request, expected, answer) in cases {
        let (call, sent) = peer.start_call(request.clone());
        assert_json_contains(&sent, &expected, "[base-jsonrpc2], [pagination-opaque-cursor]");
        assert_eq!(sent["jsonrpc"], "2.0", "[base-jsonrpc2]");
        assert!(ids.insert(sent["id"].to_string()), "[base-request-id-session-unique]");
        let long = ["tools/call", "prompts/get", "resources/read"].contains(&sent["method"].as_str().unwrap());
        let token = &sent["params"]["_meta"]["progressToken"];
        assert_eq!(*token, if long { sent["id"].clone() } else { Value::Null }, "[progress-token-unique]");
        peer.send_result(&sent["id"], answer);
        let result = peer.take_result(call);
        assert!(result.is_ok(), "{request:?} must succeed: {result:?}");
        if let Ok(ServerResult::Tools { items, next_cursor, .. }) = &result
            && !items.is_empty()
        {
            assert_eq!(next_cursor.as_deref(), Some(""), "[pagination-empty-string-cursor]");
        }
    }
    let (_, sent) = TestSession::ready(Revision::V2025_03_26).start_call(completion_request());
    assert_eq!(
        sent["params"].get("context"),
        None,
        "[completion-context], [lifecycle-respect-version-early]: must be absent before 2025-06-18"
    );
}

#[test]
fn modern_requests_contain_their_metadata() {
    let config = client_config(HandshakeMode::Probe);
    let mut peer = TestSession::ready_with(Revision::V2026_07_28, json!({ "tools": {}, "logging": {} }), config);
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    let meta = |level: Value| {
        let mut meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test-host", "version": "1.0" },
                "io.modelcontextprotocol/clientCapabilities": { "sampling": {}, "roots": {} } });
        if !level.is_null() {
            meta["io.modelcontextprotocol/logLevel"] = level;
        }
        json!({ "params": { "_meta": meta } })
    };
    assert_json_contains(
        &sent,
        &meta(Value::Null),
        "[lifecycle-meta-version] [lifecycle-meta-capabilities] [lifecycle-meta-capabilities-per-request] [lifecycle-meta-client-info]",
    );
    let level = &sent["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
    assert!(level.is_null(), "[logging-per-request-level]: must be absent by default");
    peer.send_result(&sent["id"], json!({ "tools": [], "ttlMs": 0, "cacheScope": "private" }));
    assert!(peer.take_result(call).is_ok(), "[base-result-type-absent]: an absent resultType must mean complete");

    let call = peer.call(ClientRequest::SetLogLevel { level: LogLevel::Info });
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[logging-no-set-level-modern]");
    assert_eq!(peer.take_result(call), Ok(ServerResult::Empty), "the call must succeed");
    let (_, sent) = peer.start_call(tool_call());
    assert_json_contains(&sent, &meta(json!("info")), "[logging-per-request-level]: must be in each later request");

    let (call, sent) = peer.start_call(ClientRequest::Ping);
    assert_eq!(sent["method"], "server/discover", "[ping-removed-modern]");
    peer.send_result(&sent["id"], json!({ "supportedVersions": [], "capabilities": {} }));
    assert_eq!(peer.take_result(call), Ok(ServerResult::Empty), "any result must count as a response to a ping");
}

#[test]
fn requests_that_the_server_does_not_support_are_not_sent() {
    let none: Vec<(&str, ClientRequest)> = vec![
        ("[tools-capability-gate]", ClientRequest::ListTools { cursor: None }),
        ("[tools-capability-gate]", tool_call()),
        ("[prompts-capability-gate]", ClientRequest::ListPrompts { cursor: None }),
        ("[prompts-capability-gate]", ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() }),
        ("[resources-capability-gate]", ClientRequest::ListResources { cursor: None }),
        ("[resources-capability-gate]", ClientRequest::ListResourceTemplates { cursor: None }),
        ("[resources-capability-gate]", ClientRequest::ReadResource { uri: "a:b".into() }),
        ("[resources-subscribe-gate]", ClientRequest::Subscribe { uri: "a:b".into() }),
        ("[completion-capability-gate]", completion_request()),
        (
            "[lifecycle-only-negotiated], [lifecycle-only-negotiated-early], [lifecycle-respect-server-caps-modern]",
            ClientRequest::SetLogLevel { level: LogLevel::Debug },
        ),
    ];
    for revision in Revision::ALL {
        let mut peer = TestSession::ready_with(revision, json!({ "unknown": {} }), client_config(HandshakeMode::Probe));
        for (requirement, request) in &none {
            let end = peer.session.call(request.clone(), LONG_DEADLINE, peer.now);
            if *requirement == "[completion-capability-gate]" && revision == Revision::V2024_11_05 {
                assert!(end.is_ok(), "[completion-no-flag]: must be sent in {revision}");
                peer.take_sent_messages();
                continue;
            }
            assert!(matches!(end, Err(CallError::Unsupported { .. })), "{requirement} in {revision}: {end:?}");
            assert_eq!(
                peer.take_sent_messages(),
                Vec::<Value>::new(),
                "{requirement} in {revision}: no message must be sent"
            );
        }
        assert_eq!(peer.take_events(), vec![], "a refused call must not cause an event");
    }
    let offers = json!({ "resources": { "subscribe": false } });
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, offers, client_config(HandshakeMode::Probe));
    let end = peer.session.call(ClientRequest::Subscribe { uri: "a:b".into() }, LONG_DEADLINE, peer.now);
    assert!(matches!(end, Err(CallError::Unsupported { .. })), "[resources-subscribe-gate]: {end:?}");
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let arguments = json_object(json!({ "a": 1 }));
    let end = peer.session.call(ClientRequest::GetPrompt { name: "p".into(), arguments }, LONG_DEADLINE, peer.now);
    assert!(matches!(end, Err(CallError::Unsupported { .. })), "[prompts-string-arguments]: {end:?}");
}

#[test]
fn responses_are_matched_to_calls_in_any_order() {
    let mut peer = TestSession::ready(Revision::V2025_06_18);
    let (first, a) = peer.start_call(ClientRequest::ListTools { cursor: None });
    let (second, b) = peer.start_call(ClientRequest::ListPrompts { cursor: None });
    peer.send_result(&b["id"], json!({ "prompts": [] }));
    assert!(matches!(peer.take_result(second), Ok(ServerResult::Prompts { .. })), "[stdio-response-correlation]");
    peer.send_error(&a["id"], -32603, "broken");
    let expected = CallError::Server(RpcError::new(-32603, "broken"));
    assert_eq!(
        peer.take_result(first),
        Err(expected),
        "[base-error-local-distinct]: the server's error must be reported"
    );
}

#[test]
fn malformed_response_names_the_invalid_member() {
    let cases: Vec<(ClientRequest, Value, &str)> = vec![
        (ClientRequest::ListTools { cursor: None }, json!({}), "missing field `tools`"),
        (ClientRequest::ListTools { cursor: None }, json!([1]), "not an object"),
        (ClientRequest::ListTools { cursor: None }, json!({ "tools": {} }), "tools: invalid type"),
        (ClientRequest::ListTools { cursor: None }, json!({ "resources": [] }), "missing field `tools`"),
        (ClientRequest::ListTools { cursor: None }, json!({ "tools": [], "nextCursor": 4 }), "nextCursor"),
        (tool_call(), json!({}), "missing field `content`"),
        (tool_call(), json!({ "content": [{ "type": "text" }] }), "content[0]: text block: missing field `text`"),
        (tool_call(), json!({ "content": [{ "text": "x" }] }), "content[0]"),
        (tool_call(), json!({ "content": "x" }), "content: invalid type"),
        (
            ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() },
            json!({ "messages": [{ "role": "boss", "content": { "type": "text", "text": "x" } }] }),
            "messages[0].role: unknown variant `boss`",
        ),
        (ClientRequest::ReadResource { uri: "a:b".into() }, json!({ "contents": [{ "uri": "a:b" }] }), "contents[0]"),
        (completion_request(), json!({ "values": [] }), "missing field `completion`"),
    ];
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    for (request, answer, words) in cases {
        let (call, sent) = peer.start_call(request);
        peer.send_result(&sent["id"], answer.clone());
        match peer.take_result(call) {
            Err(CallError::BadAnswer { cause }) => {
                assert!(cause.contains(words), "{answer}: {cause:?} must contain {words:?}")
            }
            other => panic!("[tools-validate-results]: {answer} must be rejected, not {other:?}"),
        }
    }
}

#[test]
fn malformed_list_entry_is_dropped() {
    let good = json!({ "name": "a", "inputSchema": { "type": "object" }, "future": [1] });
    let cases = [
        (json!(7), "[1]", "it is not an object"),
        (json!({ "name": 7, "inputSchema": {} }), "[1]", "name: it is not a string"),
        (json!({ "name": "b" }), "b", "missing field `inputSchema`"),
        (json!({ "inputSchema": {}, "name": "b", "title": 7 }), "b", "title: it is not a string"),
        (json!({ "name": "b", "inputSchema": {}, "icons": [{ "src": "a:b" }, { "src": 1 }] }), "b", "icons[1].src:"),
        (json!({ "name": "b", "inputSchema": {}, "annotations": { "readOnlyHint": "yes" } }), "b", "annotations.read"),
    ];
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    for (bad, name, words) in cases {
        let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
        peer.send_result(
            &sent["id"],
            json!({ "tools": [good, bad, { "name": "c", "inputSchema": {}, "title": null }] }),
        );
        let events = peer.take_events();
        let [SessionEvent::ItemsDropped { list: ListKind::Tools, items }, SessionEvent::Done { call: done, result }] =
            &events[..]
        else {
            panic!("expected dropped entries and the end of the call: {events:?}")
        };
        assert_eq!(*done, call, "the list call must end");
        assert_eq!(items.len(), 1, "one entry must be dropped: {items:?}");
        assert_eq!(items[0].name, name, "the entry must be identified");
        assert!(items[0].cause.contains(words), "{bad}: {:?} must contain {words:?}", items[0].cause);
        let Ok(ServerResult::Tools { items, .. }) = result else { panic!("the page must be returned: {result:?}") };
        let names: Vec<&str> = items.iter().map(ListEntry::name).collect();
        assert_eq!(names, ["a", "c"], "the other entries must be returned");
        assert_eq!(json!(items[0].read().unwrap()), good, "unknown members must be retained");
    }
    let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
    peer.send_result(&sent["id"], json!({ "tools": vec![json!(1); 5000] }));
    let events = peer.take_events();
    let Some(SessionEvent::ItemsDropped { items, .. }) = events.first() else { panic!("{events:?}") };
    assert_eq!((items.len(), &*items[20].name), (21, "4980 more"), "the number of reported entries must be limited");
    assert!(matches!(events.last(), Some(SessionEvent::Done { call: done, .. }) if *done == call), "{events:?}");
}

#[test]
fn large_content_shares_the_received_bytes_and_small_content_is_copied() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(tool_call());
    let (data, escaped) = ("QUJD".repeat(5000), "line\n".repeat(5000));
    let answer = json!({ "jsonrpc": "2.0", "id": sent["id"], "result": { "content": [
        { "data": data, "mimeType": "image/png", "type": "image" }, { "type": "text", "text": "small" },
        { "type": "text", "text": escaped }, { "type": "resource", "resource": { "uri": "a:b", "blob": data } } ] } });
    let line = Bytes::from(answer.to_string());
    let range = line.as_ptr_range();
    peer.session.handle_message(IncomingMessage::decode(&line).unwrap(), StreamOrigin::Stdio, peer.now);
    let Ok(ServerResult::Tool(result)) = peer.take_result(call) else { panic!("expected a tool result") };
    assert_eq!(json!(result), answer["result"], "the result must serialize to the same JSON");
    let [
        ContentBlock::Image(image),
        ContentBlock::Text(small),
        ContentBlock::Text(escaped),
        ContentBlock::Resource(blob),
    ] = &result.content[..]
    else {
        panic!("{result:?}")
    };
    let within = |text: &str| range.contains(&text.as_ptr());
    assert!(within(&image.data), "an image must be a slice of the line");
    assert!(blob.resource.blob.as_deref().is_some_and(within), "a blob must be a slice of the line");
    assert!(!within(&small.text), "small text must be copied");
    assert!(!within(&escaped.text), "text with escapes must be copied");
}

#[test]
fn every_kind_of_content_is_parsed() {
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(
        &sent["id"],
        json!({ "resultType": "complete", "isError": true, "structuredContent": null, "content": [
        { "type": "text", "text": "t" }, { "type": "image", "data": "AA==", "mimeType": "image/png" },
        { "type": "audio", "data": "AA==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "a:b", "name": "n" },
        { "type": "resource", "resource": { "uri": "a:b", "text": "x" } }, { "type": "hologram", "x": 1 } ] }),
    );
    let Ok(ServerResult::Tool(result)) = peer.take_result(call) else { panic!("expected a tool result") };
    let kinds: Vec<bool> = result
        .content
        .iter()
        .zip(0..)
        .map(|(block, at)| match at {
            0 => matches!(block, ContentBlock::Text(_)),
            1 => matches!(block, ContentBlock::Image(_)),
            2 => matches!(block, ContentBlock::Audio(_)),
            3 => matches!(block, ContentBlock::ResourceLink(_)),
            4 => matches!(block, ContentBlock::Resource(_)),
            _ => matches!(block, ContentBlock::Unknown(value) if value["x"] == 1),
        })
        .collect();
    assert_eq!(kinds, vec![true; 6], "[tools-content-basic], [tools-content-audio], [tools-content-resource-link]");
    assert!(result.is_error, "[tools-is-error]");
    assert_eq!(result.structured_content, Some(Value::Null), "[tools-structured-any]: null must count as a value");
}

#[test]
fn url_elicitation_error_is_recognized_in_one_revision() {
    let page = json!({ "mode": "url", "url": "https://x.test/", "message": "sign in", "elicitationId": "e1" });
    for (revision, known) in [(Revision::V2025_06_18, false), (Revision::V2025_11_25, true)] {
        let mut peer = TestSession::ready(revision);
        let (call, sent) = peer.start_call(tool_call());
        let error = json!({ "code": -32042, "message": "visit", "data": { "elicitations": [page] } });
        peer.send_message(json!({ "jsonrpc": "2.0", "id": sent["id"], "error": error }));
        let end = peer.take_result(call);
        match (known, &end) {
            (true, Err(CallError::UrlRequired(pages))) => {
                assert!(matches!(&pages[..], [ElicitParams::Url { url, .. }] if url == "https://x.test/"), "{pages:?}");
            }
            (false, Err(CallError::Server(_))) => {}
            _ => panic!("[elicit-url-required-error] in {revision}: {end:?}"),
        }
        peer.send_notification("notifications/elicitation/complete", json!({ "elicitationId": "e1" }));
        peer.send_notification("notifications/elicitation/complete", json!({ "elicitationId": "e1" }));
        peer.send_notification("notifications/elicitation/complete", json!({ "elicitationId": "other" }));
        let expected: Vec<SessionEvent> =
            if known { vec![SessionEvent::ElicitationComplete { elicitation_id: "e1".into() }] } else { vec![] };
        assert_eq!(
            peer.take_events(),
            expected,
            "[elicit-complete-unknown], [elicit-id-opaque] in {revision}: each known id must be reported once"
        );
    }
}

#[test]
fn cancelled_call_ends_immediately() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        let (call, sent) = peer.start_call(tool_call());
        peer.session.cancel(call, CancelReason::User, peer.now);
        let expected = json!({ "method": "notifications/cancelled", "params": { "requestId": sent["id"],
                               "reason": "cancelled by the user" } });
        assert_json_contains(&peer.take_sent_message(), &expected, "[cancel-stdio-notify], [cancel-should-notify]");
        assert_eq!(peer.take_result(call), Err(CallError::Cancelled), "X35: the call must end immediately");
        peer.send_result(&sent["id"], json!({ "content": [] }));
        assert_eq!(peer.take_events(), vec![], "[cancel-ignore-late-response]");
        peer.session.cancel(call, CancelReason::User, peer.now);
        assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[cancel-in-progress-only]");
    }
}

#[test]
fn number_of_concurrent_calls_is_bounded() {
    let mut config = client_config(HandshakeMode::Probe);
    config.limits.in_flight_calls = 3;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), config);
    let first = peer.call(tool_call());
    peer.call(tool_call());
    peer.call(tool_call());
    let more = peer.session.call(tool_call(), LONG_DEADLINE, peer.now);
    assert_eq!(more, Err(CallError::TooManyCalls), "the limit of calls must be enforced");
    peer.session.cancel(first, CancelReason::User, peer.now);
    assert!(peer.session.call(tool_call(), LONG_DEADLINE, peer.now).is_ok(), "an ended call must not count");
}

#[test]
fn calls_end_with_the_session() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let call = peer.call(tool_call());
    peer.session.handle_connection_closed(CloseReason::ServerExited { status: None, signal: Some(9) }, peer.now);
    let events = peer.take_events();
    let reason = CloseReason::ServerExited { status: None, signal: Some(9) };
    let expected = vec![
        SessionEvent::Done { call, result: Err(CallError::Closed(reason.clone())) },
        SessionEvent::Closed(reason.clone()),
    ];
    assert_eq!(events, expected, "[stdio-server-closes-stdout]: each call must end before the session");
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    peer.send_message(json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" }));
    assert_eq!(
        (peer.take_events(), peer.take_sent_messages().len()),
        (vec![], 1),
        "input after the end must be ignored"
    );
    let later = peer.session.call(ClientRequest::Ping, LONG_DEADLINE, peer.now);
    assert_eq!(later, Err(CallError::Closed(reason)), "later calls must report the reason");
}

#[test]
fn root_changes_are_notified_in_legacy_revisions() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        peer.session.notify(ClientNotification::RootsListChanged);
        let notified: Vec<Value> = peer.take_sent_messages().iter().map(|sent| sent["method"].clone()).collect();
        let expected = if revision.is_modern() { vec![] } else { vec![json!("notifications/roots/list_changed")] };
        assert_eq!(notified, expected, "[roots-list-changed], [roots-no-list-changed-modern] in {revision}");
    }
}
