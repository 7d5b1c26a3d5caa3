//! Tests of properties that all messages share.

use std::collections::HashSet;

use mcp_proto::types::{ContentBlock, Role};
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::*;

/// Returns a request for the method of a protocol extension.
fn extension_request() -> ClientRequest {
    ClientRequest::Extension {
        extension: "com.example/skills",
        method: "skills/list",
        params: Map::from_iter([("cursor".to_owned(), json!("c"))]),
    }
}

#[test]
fn extension_method_is_sent_only_to_servers_that_support_it() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        let end = peer.session.call(extension_request(), LONG_DEADLINE, peer.now);
        assert!(matches!(end, Err(CallError::Unsupported { .. })), "[lifecycle-ext-fallback] in {revision}: {end:?}");
        assert_eq!(
            peer.take_sent_messages(),
            Vec::<Value>::new(),
            "[lifecycle-ext-fallback] in {revision}: no message must be sent"
        );

        let mut capabilities = all_capabilities();
        capabilities["extensions"] = json!({ "com.example/skills": {} });
        let mut peer = TestSession::ready_with(revision, capabilities, client_config(HandshakeMode::Probe));
        let (call, sent) = peer.start_call(extension_request());
        assert_json_contains(
            &sent,
            &json!({ "method": "skills/list", "params": { "cursor": "c" } }),
            "method and parameters must be unchanged",
        );
        peer.send_result(&sent["id"], json!({ "skills": [1], "resultType": "complete" }));
        let Ok(ServerResult::Extension { result, .. }) = peer.take_result(call) else {
            panic!("the call must succeed")
        };
        assert_eq!(result["skills"], json!([1]), "the result must be unchanged");
    }
}

#[test]
fn in_flight_ids_are_unique_and_notifications_have_none() {
    for revision in Revision::ALL {
        let mut peer = TestSession::ready(revision);
        let mut ids = HashSet::new();
        let mut calls = Vec::new();
        for _ in 0..20 {
            let (call, sent) = peer.start_call(ClientRequest::ReadResource { uri: "a:b".into() });
            assert!(
                ids.insert(sent["id"].to_string()),
                "[base-request-id-inflight-unique] in {revision}: {}",
                sent["id"]
            );
            let token = &sent["params"]["_meta"]["progressToken"];
            assert!(token.is_i64() || token.is_string(), "[progress-token-type] in {revision}: {token}");
            calls.push(call);
        }
        peer.session.cancel(calls[0], CancelReason::User, peer.now);
        let message = peer.take_sent_message();
        assert_eq!(message["method"], "notifications/cancelled", "{revision}: the cancellation must be sent");
        assert_eq!(message.get("id"), None, "[base-notification-no-id] in {revision}");
    }
}

#[test]
fn server_error_is_reported_unchanged() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    for error in [-32_000, -32_001, -32_003, -32_019, 7] {
        let (call, sent) = peer.start_call(ClientRequest::ListTools { cursor: None });
        let error_object = json!({ "code": error, "message": "no", "data": { "a": 1 } });
        peer.send_message(json!({ "jsonrpc": "2.0", "id": sent["id"], "error": error_object }));
        let Err(CallError::Server(found)) = peer.take_result(call) else { panic!("{error} must end the call") };
        assert_eq!(json!(found), error_object, "[base-error-32000-range]: {error} must be reported unchanged");
    }
}

#[test]
fn prompt_messages_contain_every_kind_of_content() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let (call, sent) = peer.start_call(ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() });
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let messages = [
        message("assistant", json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" })),
        message("user", json!({ "type": "resource_link", "uri": "a:b", "name": "b" })),
    ];
    peer.send_result(&sent["id"], json!({ "messages": messages }));
    let Ok(ServerResult::Prompt(prompt)) = peer.take_result(call) else { panic!("the prompt must be returned") };
    let [first, second] = &prompt.messages[..] else { panic!("expected two messages: {prompt:?}") };
    let is_audio = matches!((first.role, &first.content), (Role::Assistant, ContentBlock::Audio(_)));
    assert!(is_audio, "[prompts-content-audio]: {first:?}");
    let is_link = matches!((second.role, &second.content), (Role::User, ContentBlock::ResourceLink(_)));
    assert!(is_link, "[prompts-content-resource-link]: {second:?}");
    assert_eq!(json!(prompt.messages), json!(messages), "all members must be retained");
}
