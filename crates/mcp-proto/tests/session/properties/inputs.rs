//! Generators of messages and other inputs of a session. Used by `properties.rs`.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::peer::{all_capabilities, form_elicitation_params, sampling_params};

pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e6..1.0e6).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("2.0")),
        Just(json!("ping")),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let key = prop_oneof![
            "[a-z_]{0,6}",
            Just("jsonrpc".to_owned()),
            Just("id".to_owned()),
            Just("method".to_owned()),
            Just("params".to_owned()),
            Just("result".to_owned()),
            Just("error".to_owned()),
            Just("code".to_owned()),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Generates JSON values that resemble a message of a server. Some are invalid.
pub(super) fn any_message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![(-2_i64..12).prop_map(Value::from), Just(json!("1")), Just(json!(1.5)), Just(Value::Null)];
    let method = prop::sample::select(vec![
        "ping",
        "roots/list",
        "elicitation/create",
        "sampling/createMessage",
        "tools/list",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "notifications/tasks",
        "notifications/tasks/status",
    ]);
    let small = 0_i64..12;
    let body = prop_oneof![
        any_json(),
        Just(form_elicitation_params()),
        Just(sampling_params()),
        small.clone().prop_map(|id| json!({ "requestId": id })),
        (small.clone(), 0..9).prop_map(|(token, progress)| json!({ "progressToken": token, "progress": progress })),
        small.prop_map(|id| json!({ "notifications": { "resourceSubscriptions": ["a:b"] }, "_meta": { "io.modelcontextprotocol/subscriptionId": id } })),
        Just(json!({ "uri": "a:b" })),
        Just(json!({ "tools": [{ "name": "add_note", "execution": { "taskSupport": "required" }, "inputSchema": {
            "type": "object", "properties": { "text": { "type": "string", "x-mcp-header": "T" } } } }] })),
        Just(json!({ "content": [{ "type": "text", "text": "x" }] })),
        Just(json!({ "resultType": "input_required", "requestState": "s" })),
        Just(json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" }, "e": { "method": "elicitation/create", "params": form_elicitation_params() } } })),
        Just(json!({ "protocolVersion": "2025-03-26", "capabilities": all_capabilities() })),
        Just(json!({ "taskId": "t", "status": "input_required", "inputRequests": { "k": { "method": "roots/list" } } })),
        Just(json!({ "taskId": "t", "status": "working", "resultType": "task", "pollIntervalMs": 100 })),
        Just(json!({ "taskId": "t", "status": "completed", "result": { "content": [] } })),
        Just(json!({ "task": { "taskId": "t", "status": "working" } })),
        Just(json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities() })),
    ];
    (id, method, body, 0..6).prop_map(|(id, method, body, shape)| match shape {
        0 => json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": body }),
        1 => json!({ "jsonrpc": "2.0", "method": method, "params": body }),
        2 | 3 => json!({ "jsonrpc": "2.0", "id": id, "result": body }),
        4 => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": "m", "data": body } }),
        _ => body,
    })
}

/// Event that a property test passes to the session.
#[derive(Debug, Clone)]
pub(super) enum SessionInput {
    Says(Value),
    SaysBatch(Vec<Value>),
    Line(Vec<u8>),
    Call(usize),
    Cancel(usize),
    Answer(usize, usize),
    Wait(u64),
    TooLong(bool),
    Undelivered(i64, usize),
    SessionLost(i64),
}

pub(super) fn any_input() -> impl Strategy<Value = SessionInput> {
    prop_oneof![
        6 => any_message().prop_map(SessionInput::Says),
        1 => prop::collection::vec(any_message(), 0..4).prop_map(SessionInput::SaysBatch),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(SessionInput::Line),
        4 => (0_usize..7).prop_map(SessionInput::Call),
        1 => any::<usize>().prop_map(SessionInput::Cancel),
        3 => (any::<usize>(), 0_usize..4).prop_map(|(which, how)| SessionInput::Answer(which, how)),
        1 => (0_u64..90).prop_map(SessionInput::Wait),
        1 => any::<bool>().prop_map(SessionInput::TooLong),
        2 => (0_i64..14, 0_usize..6).prop_map(|(id, how)| SessionInput::Undelivered(id, how)),
        1 => (0_i64..14).prop_map(SessionInput::SessionLost),
    ]
}

/// Generates tool results as text, with members reordered, duplicated, escaped, `null` or of the wrong type.
pub(super) fn any_tool_result() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just("\"t\"".to_owned()),
        Just(r#""\u0074e\nx""#.to_owned()),
        Just("null".to_owned()),
        Just("7".to_owned()),
        Just("{\"x\":[1]}".to_owned()),
        (0_usize..9000).prop_map(|length| format!("\"{}\"", "QUJD".repeat(length / 4))),
    ];
    let kind = prop::sample::select(vec![
        "text",
        "image",
        "audio",
        "resource",
        "resource_link",
        "tool_use",
        "hologram",
        r"te\u0078t",
        "",
    ]);
    let name = prop::sample::select(vec![
        "text",
        "data",
        "mimeType",
        r"d\u0061ta",
        "annotations",
        "_meta",
        "uri",
        "name",
        "resource",
        "other",
        "type",
    ]);
    let held = (prop::sample::select(vec!["text", "blob", r"te\u0078t"]), text.clone());
    let contents = prop::collection::vec(held, 0..3).prop_map(|held| {
        let held: String = held.iter().map(|(name, text)| format!(r#","{name}":{text}"#)).collect();
        format!(r#"{{"uri":"a:b"{held}}}"#)
    });
    let value = prop_oneof![4 => text.clone(), 1 => contents];
    let block = (kind, prop::collection::vec((name, value), 0..4), any::<bool>()).prop_map(|(kind, members, last)| {
        let mut members: Vec<String> = members.iter().map(|(name, value)| format!(r#""{name}":{value}"#)).collect();
        members.insert(if last { members.len() } else { 0 }, format!(r#""type":"{kind}""#));
        format!("{{{}}}", members.join(","))
    });
    let content = prop::collection::vec(block, 0..3).prop_map(|blocks| format!(r#""content":[{}]"#, blocks.join(", ")));
    let member = prop_oneof![
        4 => content,
        1 => prop::sample::select(vec![
            r#""isError":true"#, r#""isError":false"#, r#""isError":null"#, r#""isError":"x""#, r#""is\u0045rror":true"#,
            r#""_meta":{"a":1}"#, r#""_meta":null"#, r#""_meta":1"#, r#""structuredContent":null"#,
            r#""structuredContent":{"a":[1,2]}"#, r#""content":null"#, r#""content":7"#, r#""other":{"b":1}"#,
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(member, 1..5).prop_map(|members| format!("{{{}}}", members.join(",")))
}
