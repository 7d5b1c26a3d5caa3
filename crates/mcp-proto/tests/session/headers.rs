//! Tests of headers that repeat values of the body: `Mcp-Method`, `Mcp-Name`, `Mcp-Param-*` (2026-07-28).

use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, tool_call};

fn modern_http_test_session() -> TestSession {
    TestSession::over_http(Revision::V2026_07_28)
}

fn tool_definition(name: &str, properties: Value) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } })
}

/// Responds to `tools/list` with `tools`. Returns the names of the accepted tools, and the dropped entries.
fn respond_to_tools_list(peer: &mut TestSession, tools: &[Value]) -> (Vec<String>, Vec<DroppedListEntry>) {
    let call = peer.call(ClientRequest::ListTools { cursor: None });
    let sent = peer.take_sent_message();
    peer.send_result(&sent["id"], json!({ "tools": tools, "ttlMs": 0, "cacheScope": "public" }));
    let mut dropped = Vec::new();
    for event in peer.take_events() {
        match event {
            SessionEvent::ItemsDropped { list, items } => {
                assert_eq!(list, ListKind::Tools, "the list must be the tools");
                dropped.extend(items);
            }
            SessionEvent::Done { call: ended, result: Ok(ServerResult::Tools { items, .. }) } if ended == call => {
                return (items.iter().map(|tool| tool.name().to_owned()).collect(), dropped);
            }
            other => panic!("expected the tools, not {other:?}"),
        }
    }
    panic!("expected the tools");
}

fn tool_call_request(name: &str, arguments: Value) -> ClientRequest {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    ClientRequest::CallTool { name: name.into(), arguments, as_task: false }
}

fn sent_parameter_headers(peer: &mut TestSession, arguments: Value) -> Vec<(String, String)> {
    peer.call(tool_call_request("t", arguments));
    peer.take_post().1.params
}

#[test]
fn each_request_has_method_and_name_headers() {
    let mut peer = modern_http_test_session();
    for (request, method, name) in [
        (tool_call(), "tools/call", Some("add_note")),
        (ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() }, "prompts/get", Some("p")),
        (ClientRequest::ReadResource { uri: "file:///a b".into() }, "resources/read", Some("file:///a b")),
        (ClientRequest::ReadResource { uri: "x:日".into() }, "resources/read", Some("=?base64?eDrml6U=?=")),
        (ClientRequest::ListTools { cursor: None }, "tools/list", None),
        (ClientRequest::Ping, "server/discover", None),
    ] {
        peer.call(request);
        let (body, head) = peer.take_post();
        assert_eq!(body["method"], method, "the method");
        assert_eq!(
            head.method.as_deref(),
            Some(method),
            "[http-mcp-method-header], [http-header-value-case-sensitive]"
        );
        assert_eq!(head.name.as_deref(), name, "[http-mcp-name-header], [http-mcp-name-encoding]: {method}");
        assert_eq!(head.revision, Some(Revision::V2026_07_28), "[http-version-header-modern]: {method}");
    }
}

#[test]
fn values_not_allowed_in_headers_are_encoded() {
    for (text, value) in [
        ("plain text, \t even so", "plain text, \t even so"),
        ("", ""),
        ("日本", "=?base64?5pel5pys?="),
        (" led", "=?base64?IGxlZA==?="),
        ("trailed\t", "=?base64?dHJhaWxlZAk=?="),
        ("a\r\nHost: evil", "=?base64?YQ0KSG9zdDogZXZpbA==?="),
        ("\u{7f}", "=?base64?fw==?="),
        ("=?base64?SGk=?=", "=?base64?PT9iYXNlNjQ/U0drPT89?="),
        ("=?base64?", "=?base64?"),
        ("=?BASE64?SGk=?=", "=?BASE64?SGk=?="),
    ] {
        assert_eq!(
            encode_header_value(text),
            value,
            "[http-x-mcp-header-base64], [http-x-mcp-header-sentinel-lookalike], [http-x-mcp-header-sentinel-exact]: {text:?}"
        );
    }
}

#[test]
fn annotated_arguments_are_copied_to_headers() {
    let mut peer = modern_http_test_session();
    assert_eq!(sent_parameter_headers(&mut peer, json!({ "s": "x" })), [], "[http-x-mcp-header-unknown-schema]");
    let properties = json!({
        "s": { "type": "string", "x-mcp-header": "Region" },
        "n": { "type": "integer", "x-mcp-header": "Count" },
        "b": { "type": "boolean", "x-mcp-header": "Dry-Run" },
        "in": { "type": "object", "properties": { "deep": { "type": "string", "x-mcp-header": "Deep" } } },
        "plain": { "type": "string" },
        // A property with this name is not an annotation, nor is data.
        "x-mcp-header": { "type": "string", "default": { "x-mcp-header": 5 } },
    });
    let (names, dropped) = respond_to_tools_list(&mut peer, &[tool_definition("t", properties)]);
    assert_eq!((names.len(), dropped), (1, vec![]), "[http-x-mcp-header-support]: the tool must be valid");
    let pair = |name: &str, value: &str| (format!("Mcp-Param-{name}"), value.to_owned());
    for (arguments, expected) in [
        (
            json!({ "s": "eu", "n": -12, "b": true, "in": { "deep": "d" }, "plain": "p", "deep": "no" }),
            vec![pair("Region", "eu"), pair("Count", "-12"), pair("Dry-Run", "true"), pair("Deep", "d")],
        ),
        (
            json!({ "s": "日本", "b": false, "n": 5.0 }),
            vec![pair("Region", "=?base64?5pel5pys?="), pair("Count", "5"), pair("Dry-Run", "false")],
        ),
        (json!({ "s": null, "n": null, "in": null }), vec![]),
        (json!({ "in": {} }), vec![]),
        (
            json!({ "s": "", "n": 9_007_199_254_740_991_i64 }),
            vec![pair("Region", ""), pair("Count", "9007199254740991")],
        ),
    ] {
        assert_eq!(
            sent_parameter_headers(&mut peer, arguments.clone()),
            expected,
            "[http-x-mcp-header-mirror], [http-x-mcp-header-exact-path], [http-x-mcp-header-omit-absent], \
             [http-x-mcp-header-omit-null], [http-x-mcp-header-convert]: {arguments}"
        );
    }
    for n in [json!(9_007_199_254_740_992_i64), json!(-9_007_199_254_740_992_i64), json!(1.5), json!(1e300)] {
        let id = peer.call(tool_call_request("t", json!({ "n": n })));
        assert_eq!(
            peer.take_sent_messages(),
            Vec::<Value>::new(),
            "[http-x-mcp-header-safe-integer]: {n} must not be sent"
        );
        assert!(
            matches!(peer.take_result(id), Err(CallError::Unsupported { what }) if what.contains("`n`")),
            "[http-x-mcp-header-safe-integer]: the error must name the argument"
        );
    }
    respond_to_tools_list(
        &mut peer,
        &[tool_definition("t", json!({ "s": { "type": "string", "x-mcp-header": "Place" } }))],
    );
    assert_eq!(
        sent_parameter_headers(&mut peer, json!({ "s": "x" })),
        [pair("Place", "x")],
        "[http-x-mcp-header-latest-schema]"
    );
    respond_to_tools_list(&mut peer, &[tool_definition("t", json!({ "s": { "type": "string" } }))]);
    assert_eq!(
        sent_parameter_headers(&mut peer, json!({ "s": "x" })),
        [],
        "[http-x-mcp-header-latest-schema]: the header must be gone"
    );
}

#[test]
fn tool_with_an_invalid_header_annotation_is_dropped_alone() {
    let string = |header: Value| json!({ "s": { "type": "string", "x-mcp-header": header } });
    let on = |kind: Value| json!({ "s": { "type": kind, "x-mcp-header": "A" } });
    let inside = |keyword: &str, schema: Value| json!({ "s": { "type": "object", keyword: schema } });
    let annotated = || json!({ "type": "string", "x-mcp-header": "A" });
    let bad = [
        ("[http-x-mcp-header-reject-name]: empty", string(json!(""))),
        ("[http-x-mcp-header-reject-name], X54: a line break", string(json!("A\r\nHost: evil"))),
        ("[http-x-mcp-header-reject-name]: a control character", string(json!("A\u{1}"))),
        ("[http-x-mcp-header-reject-name]: a space", string(json!("A B"))),
        ("[http-x-mcp-header-reject-name]: a colon", string(json!("A:"))),
        ("[http-x-mcp-header-reject-name]: not ASCII", string(json!("Ä"))),
        ("[http-x-mcp-header-reject-name]: not a string", string(json!(5))),
        ("X54: Authorization", string(json!("Authorization"))),
        ("X54: Host", string(json!("hOST"))),
        (
            "[http-x-mcp-header-reject-duplicate]",
            json!({ "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" } }),
        ),
        ("[http-x-mcp-header-reject-type]: number", on(json!("number"))),
        ("[http-x-mcp-header-reject-type]: object", on(json!("object"))),
        ("[http-x-mcp-header-reject-type]: array", on(json!("array"))),
        ("[http-x-mcp-header-reject-type]: null", on(json!("null"))),
        ("[http-x-mcp-header-reject-type]: none", json!({ "s": { "x-mcp-header": "A" } })),
        ("[http-x-mcp-header-reject-location]: items", inside("items", annotated())),
        ("[http-x-mcp-header-reject-location]: prefixItems", inside("prefixItems", json!([annotated()]))),
        (
            "[http-x-mcp-header-reject-location]: oneOf",
            inside("oneOf", json!([{ "properties": { "x": annotated() } }])),
        ),
        ("[http-x-mcp-header-reject-location]: anyOf", inside("anyOf", json!([annotated()]))),
        ("[http-x-mcp-header-reject-location]: allOf", inside("allOf", json!([annotated()]))),
        ("[http-x-mcp-header-reject-location]: not", inside("not", annotated())),
        ("[http-x-mcp-header-reject-location]: then", inside("then", json!({ "properties": { "x": annotated() } }))),
        ("[http-x-mcp-header-reject-location]: $defs", inside("$defs", json!({ "d": annotated() }))),
        ("[http-x-mcp-header-reject-location]: any property", inside("additionalProperties", annotated())),
    ];
    for (proves, properties) in bad {
        let mut peer = modern_http_test_session();
        let good = || tool_definition("good", json!({ "s": { "type": "string", "x-mcp-header": "A" } }));
        let (names, dropped) = respond_to_tools_list(&mut peer, &[tool_definition("t", properties), good()]);
        assert_eq!(names, ["good"], "[http-x-mcp-header-drop-tool-only]; {proves}");
        let [DroppedListEntry { name, cause }] = &dropped[..] else {
            panic!("{proves}: one tool must be dropped: {dropped:?}")
        };
        assert_eq!(name, "t", "[http-x-mcp-header-log-reject]: the dropped tool must be named");
        assert!(
            cause.contains("x-mcp-header"),
            "[http-x-mcp-header-log-reject]: the cause must name the annotation: {cause}"
        );
        assert!(!cause.contains(['\r', '\n', '\u{1}']), "X54: the cause must be escaped: {cause:?}");
        assert_eq!(sent_parameter_headers(&mut peer, json!({ "s": "x" })), [], "X54: no header must be sent");
    }
    let deep = (0..100).fold(json!({ "x-mcp-header": "A" }), |inner, _| json!({ "not": inner }));
    let (_, dropped) =
        respond_to_tools_list(&mut modern_http_test_session(), &[json!({ "name": "t", "inputSchema": deep })]);
    assert!(
        dropped[0].cause.contains("nests more than 64 times"),
        "[base-schema-bounds]: nesting must be limited: {dropped:?}"
    );
}

#[test]
fn header_annotations_are_ignored_if_no_argument_headers_are_sent() {
    let bad = tool_definition("t", json!({ "s": { "type": "number", "x-mcp-header": "a b" } }));
    for (proves, mut peer) in [
        ("[http-x-mcp-header-stdio-ignore]", TestSession::ready(Revision::V2026_07_28)),
        ("[lifecycle-respect-version]", TestSession::over_http(Revision::V2025_11_25)),
    ] {
        let (names, dropped) = respond_to_tools_list(&mut peer, std::slice::from_ref(&bad));
        assert_eq!((names.len(), dropped.len()), (1, 0), "{proves}: the tool must be accepted");
        assert_eq!(sent_parameter_headers(&mut peer, json!({ "s": 1.5 })), [], "{proves}: no header must be sent");
    }
}

#[test]
fn header_mismatch_refreshes_the_tool_list() {
    let refusal = json!({ "error": { "code": -32020, "message": "Mcp-Param-Region is missing" } }).to_string();
    let mut peer = modern_http_test_session();
    let id = peer.call(tool_call_request("t", json!({ "s": "eu" })));
    let (first, head) = peer.take_post();
    assert_eq!(head.params, [], "no header must be sent before the schema is known");
    peer.report_http_error_status(&first["id"], 400, &refusal);
    let (list, _) = peer.take_post();
    assert_eq!(list["method"], "tools/list", "[http-header-mismatch-refresh]");
    peer.send_result(&list["id"], json!({ "tools": [tool_definition("other", json!({}))], "nextCursor": "2" }));
    let (list, _) = peer.take_post();
    assert_eq!(list["params"]["cursor"], "2", "[http-header-mismatch-refresh]: the next page must be requested");
    let annotated = tool_definition("t", json!({ "s": { "type": "string", "x-mcp-header": "Region" } }));
    peer.send_result(&list["id"], json!({ "tools": [annotated], "nextCursor": "3" }));
    assert_eq!(
        peer.take_event(),
        SessionEvent::ListChanged(ListKind::Tools),
        "[cache-early-refetch]: the list must be reported as changed"
    );
    let (again, head) = peer.take_post();
    assert_ne!(again["id"], first["id"], "[base-request-id-inflight-unique]");
    assert_eq!(head.params, [("Mcp-Param-Region".to_owned(), "eu".to_owned())], "[http-header-mismatch-refresh]");
    peer.report_http_error_status(&again["id"], 400, &refusal);
    let end = peer.take_result(id);
    assert!(
        matches!(end, Err(CallError::Server(_))),
        "[http-header-mismatch-refresh]: the retry must happen only once: {end:?}"
    );

    let id = peer.call(tool_call_request("t", json!({ "s": "eu" })));
    let (first, _) = peer.take_post();
    peer.report_http_error_status(&first["id"], 400, &refusal);
    let (list, _) = peer.take_post();
    peer.session.cancel(id, CancelReason::User, peer.now);
    assert_eq!(peer.take_sent_message(), json!({ "aborted": list["id"] }), "the list request must be aborted");
    assert_eq!(peer.take_result(id), Err(CallError::Cancelled), "the call must end");
}
