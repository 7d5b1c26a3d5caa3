//! Tests of sampling with tools: the servers that may send tools, and the validation before the user is asked.

use mcp_proto::types::{ClientCapabilities, CreateMessageResult, Role, SamplingCapability, SamplingContent};
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, all_capabilities, assert_json_contains, client_config};

/// Returns the configuration of a client that declares support for tools in sampling.
fn config_with_tools() -> SessionConfig {
    let sampling = Some(SamplingCapability { tools: Some(Map::new()), ..SamplingCapability::default() });
    SessionConfig {
        capabilities: ClientCapabilities { sampling, ..ClientCapabilities::default() },
        ..client_config(HandshakeMode::Probe)
    }
}

fn sampling_request(messages: Value) -> Value {
    let tools = json!([{ "name": "weather", "inputSchema": { "type": "object" } }]);
    json!({ "messages": messages, "maxTokens": 10, "tools": tools })
}

fn text_message(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}

fn tool_use_message(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "type": "tool_use", "id": id, "name": "weather", "input": {}, "_meta": { "cache": id } }))
        .collect();
    json!({ "role": "assistant", "content": blocks })
}

fn tool_result_message(ids: &[&str]) -> Value {
    let blocks: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "type": "tool_result", "toolUseId": id, "content": [{ "type": "text", "text": "18 °C" }] }))
        .collect();
    json!({ "role": "user", "content": blocks })
}

#[test]
fn sampling_tools_are_declared_if_the_revision_supports_them() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let sent = TestSession::with_config(SessionConfig {
            handshake: HandshakeMode::Pinned(revision),
            ..config_with_tools()
        })
        .take_sent_message();
        let expected = if revision == Revision::V2025_11_25 { json!({ "tools": {} }) } else { json!({}) };
        let offered = &sent["params"]["capabilities"]["sampling"];
        assert_eq!(*offered, expected, "[sampling-tools-declare], [sampling-declare-init] in {revision}");
    }
    let sent = TestSession::with_config(config_with_tools()).take_sent_message();
    let offered = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(offered["sampling"], json!({ "tools": {} }), "[sampling-tools-declare]: must be in each modern request");
    let mut old = TestSession::ready_with(Revision::V2025_06_18, all_capabilities(), config_with_tools());
    old.send_request(json!(1), "sampling/createMessage", sampling_request(json!([text_message("user", "Hot?")])));
    assert_eq!(
        old.take_sent_message()["error"]["code"],
        -32602,
        "[sampling-tools-undeclared-error]: earlier revisions must refuse tools"
    );
}

#[test]
fn sampling_request_with_matching_tool_results_is_reported() {
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), config_with_tools());
    let mut params = sampling_request(json!([
        text_message("user", "Hot?"),
        tool_use_message(&["a", "b"]),
        tool_result_message(&["b", "a"])
    ]));
    params["toolChoice"] = json!({ "mode": "required" });
    peer.send_request(json!(1), "sampling/createMessage", params.clone());
    let (request, _, server_request) = peer.take_server_request();
    let ServerRequest::Sampling(sampling) = server_request else { panic!("expected a sampling request") };
    assert_json_contains(
        &json!(*sampling),
        &params,
        "[sampling-preserve-meta], [sampling-content-array]: the request must be unchanged",
    );
    let block = |id: &str| json!({ "type": "tool_use", "id": id, "name": "weather", "input": { "in": id }, "_meta": { "m": 1 } });
    let blocks: Vec<Value> = vec![block("c"), block("d")];
    let answer = CreateMessageResult {
        role: Role::Assistant,
        content: serde_json::from_value::<SamplingContent>(json!(blocks)).expect("blocks"),
        model: "m".into(),
        stop_reason: Some("toolUse".into()),
        meta: None,
    };
    peer.session.answer(request, ClientResponse::Sampling(Box::new(answer)), peer.now).expect("the request is open");
    let sent = peer.take_sent_message();
    assert_eq!(sent["result"]["content"], json!(blocks), "[sampling-parallel-tools], [sampling-preserve-meta]");
    assert_eq!(sent["result"]["stopReason"], "toolUse", "[sampling-tool-use-return]");
    assert_eq!(sent["result"]["role"], "assistant", "[sampling-tool-use-return]");
}

#[test]
fn sampling_request_with_unmatched_tool_results_is_refused() {
    let mixed = json!({ "role": "user", "content": [tool_result_message(&["a"])["content"][0], text_message("user", "and?")["content"]] });
    let user_uses = json!({ "role": "user", "content": tool_use_message(&["a"])["content"] });
    let says_results = json!({ "role": "assistant", "content": tool_result_message(&["a"])["content"] });
    let link = json!({ "role": "user", "content": { "type": "resource_link", "uri": "a:b", "name": "n" } });
    let strange = json!({ "role": "user", "content": { "type": "telepathy" } });
    for (proves, messages) in [
        ("[sampling-tool-missing-error]", json!([tool_use_message(&["a", "b"]), tool_result_message(&["a"])])),
        ("[sampling-tool-missing-error]", json!([tool_use_message(&["a"])])),
        ("[sampling-tool-balance]", json!([tool_use_message(&["a"]), text_message("user", "never mind")])),
        (
            "[sampling-tool-balance]",
            json!([tool_use_message(&["a"]), text_message("assistant", "so"), tool_result_message(&["a"])]),
        ),
        ("[sampling-tool-balance]", json!([text_message("user", "Hot?"), tool_result_message(&["a"])])),
        ("[sampling-tool-balance]", json!([tool_result_message(&["a"])])),
        ("[sampling-tool-balance]", json!([tool_use_message(&["a"]), tool_result_message(&["a", "b"])])),
        ("[sampling-tool-balance]", json!([tool_use_message(&["a", "a"]), tool_result_message(&["a"])])),
        ("[sampling-tool-mixed-error]", json!([tool_use_message(&["a"]), mixed.clone()])),
        ("[sampling-tool-results-only]", json!([tool_use_message(&["a"]), mixed])),
        ("[sampling-tool-use-return]", json!([user_uses, tool_result_message(&["a"])])),
        ("[sampling-tool-results-only]", json!([tool_use_message(&["a"]), says_results])),
        ("[sampling-validate-content]", json!([link])),
        ("[sampling-validate-content]", json!([strange])),
    ] {
        let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), config_with_tools());
        peer.send_request(json!(1), "sampling/createMessage", sampling_request(messages.clone()));
        let sent = peer.take_sent_message();
        assert_eq!(sent["error"]["code"], -32602, "{proves}: {messages} must be refused: {sent}");
        assert_eq!(peer.take_events(), vec![], "{proves}: no event must be reported");
    }
    let mut twice = sampling_request(json!([text_message("user", "Hot?")]));
    twice["tools"] = json!([{ "name": "a", "inputSchema": {} }, { "name": "a", "inputSchema": {} }]);
    let mut mode = sampling_request(json!([text_message("user", "Hot?")]));
    mode["toolChoice"] = json!({ "mode": "sometimes" });
    for (proves, params) in [("two tools of one name", twice), ("[sampling-tool-choice]", mode)] {
        let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), config_with_tools());
        peer.send_request(json!(1), "sampling/createMessage", params);
        assert_eq!(peer.take_sent_message()["error"]["code"], -32602, "{proves}: an ambiguous request must be refused");
    }
}

#[test]
fn text_images_and_audio_are_accepted_in_every_revision() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let mut peer = TestSession::ready_with(revision, all_capabilities(), client_config(HandshakeMode::Probe));
        let media = |kind: &str, mime: &str| json!({ "role": "user", "content": { "type": kind, "data": "AAAA", "mimeType": mime } });
        let messages =
            json!([text_message("user", "What is it?"), media("image", "image/png"), media("audio", "audio/wav")]);
        peer.send_request(json!(1), "sampling/createMessage", json!({ "messages": messages, "maxTokens": 1 }));
        let (.., server_request) = peer.take_server_request();
        let ServerRequest::Sampling(request) = server_request else { panic!("expected a sampling request") };
        assert_json_contains(
            &json!(request.messages[1]),
            &messages[1],
            "[sampling-content-types]: an image must be accepted",
        );
        assert_eq!(request.messages.len(), 3, "[sampling-content-types] in {revision}");
    }
}
