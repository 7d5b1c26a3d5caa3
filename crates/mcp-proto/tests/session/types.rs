//! Tests of the protocol types: examples of the specification round-trip, and unknown members are retained.

use mcp_proto::types::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned>(example: Value) -> T {
    let read: T = serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), example, "the value must round-trip");
    read
}

#[test]
fn json_examples_of_every_type_round_trip() {
    let icon = json!({ "src": "https://x.test/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark", "future": 1 });
    let annotations = json!({ "audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z", "future": 1 });
    let meta = json!({ "com.example/x": [1, { "y": null }] });
    round_trip::<Implementation>(
        json!({ "name": "n", "title": "T", "version": "1", "description": "d", "icons": [icon], "websiteUrl": "https://x.test", "future": 1 }),
    );
    round_trip::<ServerCapabilities>(
        json!({ "tools": { "listChanged": true, "future": 1 }, "prompts": {}, "resources": { "subscribe": true, "listChanged": false },
        "completions": {}, "logging": {}, "extensions": { "a/b": {} }, "experimental": { "x": {} }, "tasks": { "list": {} } }),
    );
    round_trip::<ClientCapabilities>(
        json!({ "roots": { "listChanged": true }, "sampling": { "context": {} }, "elicitation": { "form": {}, "url": {} },
        "extensions": { "a/b": {} }, "experimental": { "x": {} }, "future": {} }),
    );
    let tool = json!({ "name": "t", "title": "T", "description": "d", "inputSchema": { "type": "object", "$defs": { "z": true }, "x-mcp-header": "A" },
        "outputSchema": { "type": "array" }, "annotations": { "title": "T", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false, "future": 1 },
        "icons": [icon], "execution": { "taskSupport": "optional", "future": 1 }, "_meta": meta, "future": 1 });
    round_trip::<Tool>(tool.clone());
    round_trip::<Prompt>(
        json!({ "name": "p", "title": "P", "description": "d", "arguments": [{ "name": "a", "title": "A", "description": "d", "required": true, "future": 1 }],
        "icons": [icon], "_meta": meta, "future": 1 }),
    );
    let resource = json!({ "uri": "a:b", "name": "r", "title": "R", "description": "d", "mimeType": "text/plain", "size": 12, "icons": [icon], "annotations": annotations, "_meta": meta, "future": 1 });
    round_trip::<Resource>(resource.clone());
    round_trip::<ResourceTemplate>(
        json!({ "uriTemplate": "a:{b}", "name": "r", "title": "R", "description": "d", "mimeType": "text/plain", "icons": [icon], "annotations": annotations, "_meta": meta, "future": 1 }),
    );
    round_trip::<ResourceContents>(
        json!({ "uri": "a:b", "mimeType": "text/plain", "text": "", "_meta": meta, "future": 1 }),
    );
    round_trip::<ResourceContents>(json!({ "uri": "a:b", "blob": "AA==" }));
    let mut link = resource;
    link["type"] = json!("resource_link");
    let blocks = json!([
        { "type": "text", "text": "t", "annotations": annotations, "_meta": meta, "future": 1 },
        { "type": "image", "data": "AA==", "mimeType": "image/png", "annotations": annotations, "_meta": meta, "future": 1 },
        { "type": "audio", "data": "AA==", "mimeType": "audio/wav", "_meta": meta },
        link,
        { "type": "resource", "resource": { "uri": "a:b", "text": "x", "future": 1 }, "annotations": annotations, "_meta": meta, "future": 1 },
        { "type": "tool_use", "id": "u", "name": "t", "input": { "a": 1 }, "_meta": meta, "future": 1 },
        { "type": "tool_result", "toolUseId": "u", "content": [{ "type": "text", "text": "x" }], "structuredContent": null, "isError": true, "_meta": meta, "future": 1 },
        { "type": "hologram", "future": 1 },
    ]);
    let read: Vec<ContentBlock> = round_trip(blocks.clone());
    assert!(matches!(read[7], ContentBlock::Unknown(_)), "the unknown type must be retained");
    assert!(!read[..7].iter().any(|block| matches!(block, ContentBlock::Unknown(_))), "known types must be recognized");
    round_trip::<CallToolResult>(
        json!({ "content": blocks, "structuredContent": [1], "isError": true, "_meta": meta, "resultType": "complete" }),
    );
    round_trip::<GetPromptResult>(
        json!({ "description": "d", "messages": [{ "role": "assistant", "content": { "type": "text", "text": "x" }, "future": 1 }], "_meta": meta, "future": 1 }),
    );
    round_trip::<CompletionReference>(json!({ "type": "ref/prompt", "name": "p" }));
    round_trip::<CompletionReference>(json!({ "type": "ref/resource", "uri": "a:{b}" }));
    round_trip::<CompletionResult>(json!({ "values": ["a"], "total": 3, "hasMore": true, "future": 1 }));
    round_trip::<CreateMessageParams>(
        json!({ "messages": [{ "role": "user", "content": blocks, "_meta": meta, "future": 1 }, { "role": "assistant", "content": { "type": "text", "text": "x" } }],
        "modelPreferences": { "hints": [{ "name": "sonnet", "future": 1 }], "costPriority": 0.1, "speedPriority": 0.2, "intelligencePriority": 0.3, "future": 1 },
        "systemPrompt": "s", "includeContext": "thisServer", "temperature": 0.5, "maxTokens": 100, "stopSequences": ["x"], "metadata": { "a": 1 }, "tools": [tool],
        "toolChoice": { "mode": "required", "future": 1 }, "_meta": meta, "task": { "ttl": 1 } }),
    );
    round_trip::<CreateMessageResult>(
        json!({ "role": "assistant", "content": { "type": "text", "text": "4" }, "model": "m", "stopReason": "endTurn", "_meta": meta }),
    );
    round_trip::<ElicitParams>(
        json!({ "mode": "form", "message": "m", "requestedSchema": { "type": "object", "properties": {} }, "_meta": meta, "task": {} }),
    );
    round_trip::<ElicitParams>(
        json!({ "mode": "url", "message": "m", "url": "https://x.test/", "elicitationId": "e", "_meta": meta }),
    );
    round_trip::<ElicitResult>(json!({ "action": "accept", "content": { "a": ["x"] } }));
    round_trip::<ElicitResult>(json!({ "action": "cancel" }));
    round_trip::<Root>(json!({ "uri": "file:///w", "name": "w", "_meta": meta }));
    round_trip::<LogMessage>(
        json!({ "level": "emergency", "logger": "l", "data": { "a": 1 }, "_meta": meta, "future": 1 }),
    );
}

#[test]
fn common_server_deviations_from_the_schema_are_accepted() {
    let read: ServerCapabilities =
        serde_json::from_value(json!({ "tools": [], "logging": true, "prompts": null, "completions": false })).unwrap();
    assert!(read.tools.is_some() && read.logging.is_some(), "`[]` and `true` must mean present");
    assert!(read.prompts.is_none() && read.completions.is_none(), "`null` and `false` must mean absent");
    let read: Prompt = serde_json::from_value(json!({ "name": "p", "arguments": null, "icons": null })).unwrap();
    assert!(read.arguments.is_empty(), "null must mean an empty list");
    let read: Icon = serde_json::from_value(json!({ "src": "x", "sizes": "48x48" })).unwrap();
    assert_eq!(read.sizes, ["48x48"], "a single size must be a list of one");
    for (size, expected) in [(json!(12.0), Some(12)), (json!(-1), None), (json!("big"), None), (json!(null), None)] {
        let read: Resource = serde_json::from_value(json!({ "uri": "a:b", "name": "r", "size": size })).unwrap();
        assert_eq!(read.size, expected, "[resources-size]: an invalid size must be unknown: {size}");
    }
    let read: ElicitParams = serde_json::from_value(json!({ "message": "m", "requestedSchema": {} })).unwrap();
    assert!(matches!(read, ElicitParams::Form { .. }), "[elicit-default-mode]");
    assert!(LogLevel::Debug < LogLevel::Emergency, "[logging-levels]: levels must be ordered by severity");
}

#[test]
fn type_error_names_the_invalid_member() {
    fn assert_fails<T: DeserializeOwned>(example: Value, words: &str) {
        match serde_json::from_value::<T>(example.clone()) {
            Err(error) => assert!(error.to_string().contains(words), "{example}: {error} must contain {words:?}"),
            Ok(_) => panic!("{example} must be rejected"),
        }
    }
    assert_fails::<ContentBlock>(json!({ "text": "x" }), "`type`");
    assert_fails::<ContentBlock>(json!({ "type": "image", "data": "" }), "image block: missing field `mimeType`");
    assert_fails::<ResourceContents>(json!({ "uri": "a:b" }), "`text` or `blob`");
    assert_fails::<ElicitParams>(json!({ "mode": "telepathy", "message": "m" }), "telepathy");
    assert_fails::<CompletionReference>(json!({ "type": "ref/tool" }), "ref/tool");
    assert_fails::<CreateMessageParams>(json!({ "messages": [], "maxTokens": -1 }), "whole number");
    assert_fails::<CreateMessageParams>(
        json!({ "messages": [{ "role": "user", "content": [{ "type": "text" }] }], "maxTokens": 1 }),
        "missing field `text`",
    );
}
