//! Tests of server requests up to 2025-11-25: each gets exactly one response.

use mcp_proto::types::*;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{
    TestSession, accepted_form_response, all_capabilities, assert_json_contains, client_config,
    form_elicitation_params, sampling_params, tool_call,
};

fn url_elicitation_params() -> Value {
    json!({ "mode": "url", "message": "m", "url": "https://x.test/", "elicitationId": "e" })
}

fn sampling_response(content: SamplingContent) -> ClientResponse {
    ClientResponse::Sampling(Box::new(CreateMessageResult {
        role: Role::Assistant,
        content,
        model: "by hand".into(),
        stop_reason: Some("endTurn".into()),
        meta: None,
    }))
}

#[test]
fn server_requests_are_reported_and_answered() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    peer.send_request(json!("s-1"), "sampling/createMessage", sampling_params());
    let (request, call, server_request) = peer.take_server_request();
    assert!(
        matches!(server_request, ServerRequest::Sampling(params) if params.max_tokens == 10),
        "the sampling request must be reported"
    );
    assert_eq!(call, None, "no call must be named");
    assert_eq!(
        peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now),
        Err(ClientResponseError::WrongKind),
        "an answer of another kind must be refused"
    );
    peer.session.answer(request, sampling_response(SamplingContent::One(ContentBlock::text("4"))), peer.now).unwrap();
    let expected = json!({ "jsonrpc": "2.0", "id": "s-1", "result": { "role": "assistant", "model": "by hand",
                           "content": { "type": "text", "text": "4" }, "stopReason": "endTurn" } });
    assert_eq!(peer.take_sent_message(), expected, "[base-response-same-id], [sampling-result-fields]");
    assert_eq!(
        peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now),
        Err(ClientResponseError::NotOpen),
        "a second answer must be refused"
    );

    peer.send_request(json!(7), "elicitation/create", form_elicitation_params());
    let (request, ..) = peer.take_server_request();
    peer.session.answer(request, accepted_form_response(), peer.now).unwrap();
    let expected =
        json!({ "jsonrpc": "2.0", "id": 7, "result": { "action": "accept", "content": { "day": "2026-08-01" } } });
    assert_eq!(peer.take_sent_message(), expected, "[elicit-default-mode], [elicit-three-actions]");

    peer.send_request(json!(8), "roots/list", Value::Null);
    let (request, _, server_request) = peer.take_server_request();
    assert_eq!(server_request, ServerRequest::Roots, "the roots request must be reported without params");
    let root = Root { uri: "file:///w".into(), name: Some("w".into()), meta: None };
    peer.session.answer(request, ClientResponse::Roots(vec![root]), peer.now).unwrap();
    let expected = json!({ "jsonrpc": "2.0", "id": 8, "result": { "roots": [{ "uri": "file:///w", "name": "w" }] } });
    assert_eq!(peer.take_sent_message(), expected, "[roots-list-answer]");

    peer.send_request(json!(9), "sampling/createMessage", sampling_params());
    let (request, ..) = peer.take_server_request();
    let no = ClientResponse::Refused { code: -1, message: "User rejected sampling request".into() };
    peer.session.answer(request, no, peer.now).unwrap();
    assert_json_contains(
        &peer.take_sent_message(),
        &json!({ "id": 9, "error": { "code": -1 } }),
        "[sampling-reject-error]",
    );
}

#[test]
fn responses_contain_only_permitted_members() {
    for (action, params, content) in [
        (ElicitAction::Accept, form_elicitation_params(), json!({ "a": 1 })),
        (ElicitAction::Decline, form_elicitation_params(), Value::Null),
        (ElicitAction::Cancel, form_elicitation_params(), Value::Null),
        (ElicitAction::Accept, url_elicitation_params(), Value::Null),
        (ElicitAction::Decline, url_elicitation_params(), Value::Null),
    ] {
        let mut peer = TestSession::ready(Revision::V2025_11_25);
        peer.send_request(json!(1), "elicitation/create", params);
        let (request, ..) = peer.take_server_request();
        let given = json!({ "a": 1 }).as_object().cloned();
        peer.session
            .answer(request, ClientResponse::Elicitation(ElicitResult { action, content: given }), peer.now)
            .unwrap();
        let sent = peer.take_sent_message();
        assert_eq!(sent["result"]["content"], content, "[elicit-content-accept-only], [elicit-url-no-content]: {sent}");
    }
    let two = || SamplingContent::Many(vec![ContentBlock::text("a"), ContentBlock::text("b")]);
    let one = || SamplingContent::Many(vec![ContentBlock::text("a")]);
    let picture = || ContentBlock::Image(ImageContent { mime_type: "image/png".into(), ..ImageContent::default() });
    let mixed = || SamplingContent::Many(vec![ContentBlock::text("a"), picture()]);
    for (revision, content, expected) in [
        (Revision::V2025_11_25, one(), json!({ "type": "text", "text": "a" })),
        (Revision::V2025_11_25, two(), json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }])),
        (Revision::V2025_06_18, two(), json!({ "type": "text", "text": "a\n\nb" })),
        (Revision::V2025_06_18, mixed(), Value::Null),
    ] {
        let mut peer = TestSession::ready(revision);
        peer.send_request(json!(1), "sampling/createMessage", sampling_params());
        let (request, ..) = peer.take_server_request();
        peer.session.answer(request, sampling_response(content), peer.now).unwrap();
        let sent = peer.take_sent_message();
        assert_eq!(sent["result"]["content"], expected, "[sampling-content-array] in {revision}: {sent}");
    }
}

/// Covers the MCP requirements `[base-error-reserved-range]` and `[base-error-avoid-legacy-range]`.
#[test]
fn server_requests_without_declared_capability_are_refused() {
    let with_tools = json!({ "messages": [], "maxTokens": 1, "tools": [] });
    let with_choice = json!({ "messages": [], "maxTokens": 1, "toolChoice": { "mode": "auto" } });
    let nothing = SessionConfig::default();
    let all = client_config(HandshakeMode::Probe);
    let mut forms = client_config(HandshakeMode::Probe);
    forms.capabilities.elicitation = Some(ElicitationCapability::default());
    use Revision::*;
    for (requirement, config, revision, method, params, code) in [
        ("[sampling-declare-init]", &nothing, V2025_11_25, "sampling/createMessage", sampling_params(), -32601),
        ("[elicit-declare-init]", &nothing, V2025_11_25, "elicitation/create", form_elicitation_params(), -32601),
        ("[roots-error-codes]", &nothing, V2025_11_25, "roots/list", json!({}), -32601),
        ("unknown method", &all, V2025_11_25, "tasks/list", json!({}), -32601),
        ("[lifecycle-respect-version]", &all, V2025_03_26, "elicitation/create", form_elicitation_params(), -32601),
        ("[lifecycle-respect-version]", &all, V2025_06_18, "elicitation/create", url_elicitation_params(), -32602),
        (
            "[elicit-undeclared-mode-error], [elicit-empty-means-form]",
            &forms,
            V2025_11_25,
            "elicitation/create",
            url_elicitation_params(),
            -32602,
        ),
        ("[sampling-tools-undeclared-error]", &all, V2025_11_25, "sampling/createMessage", with_tools, -32602),
        ("[sampling-tools-undeclared-error]", &all, V2025_11_25, "sampling/createMessage", with_choice, -32602),
        ("bad params", &all, V2025_11_25, "sampling/createMessage", json!({ "messages": 1 }), -32602),
        ("bad params", &all, V2025_11_25, "elicitation/create", json!([1]), -32602),
        ("bad params", &all, V2025_11_25, "elicitation/create", json!({ "mode": "telepathy" }), -32602),
    ] {
        let mut peer = TestSession::ready_with(revision, all_capabilities(), config.clone());
        peer.send_request(json!("x"), method, params);
        let expected = json!({ "id": "x", "error": { "code": code } });
        assert_json_contains(&peer.take_sent_message(), &expected, requirement);
        assert_eq!(peer.take_events(), vec![], "{requirement}: no event must be reported");
    }
}

#[test]
fn pings_of_the_server_are_answered_immediately() {
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let mut peer = TestSession::ready(revision);
        peer.send_message(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        assert_eq!(
            peer.take_sent_message(),
            json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
            "[ping-respond] in {revision}"
        );
    }
}

/// Covers the MCP requirement `[base-error-retired-codes]`.
#[test]
fn requests_of_a_modern_server_are_not_answered() {
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    for method in ["ping", "roots/list", "elicitation/create"] {
        peer.send_request(json!(1), method, form_elicitation_params());
        assert_eq!(
            peer.take_sent_messages(),
            Vec::<Value>::new(),
            "[stdio-no-responses-written], [mrtr-no-server-requests]: {method}"
        );
        assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "an anomaly must be reported");
    }
}

#[test]
fn withdrawn_request_is_not_answered() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    peer.send_request(json!(4), "elicitation/create", form_elicitation_params());
    let (request, ..) = peer.take_server_request();
    peer.send_notification("notifications/cancelled", json!({ "requestId": "4" }));
    assert_eq!(peer.take_events(), vec![], "[cancel-received-ignore]: another id must be ignored");
    peer.send_notification("notifications/cancelled", json!({ "requestId": 4, "reason": "never mind" }));
    let expected = SessionEvent::Withdrawn { request, why: WithdrawalReason::CancelledByServer };
    assert_eq!(peer.take_event(), expected, "[cancel-received-stop]");
    assert_eq!(
        peer.session.answer(request, accepted_form_response(), peer.now),
        Err(ClientResponseError::NotOpen),
        "the request must not be open"
    );
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "[cancel-received-stop]: no response must be sent");
    peer.send_notification("notifications/cancelled", json!({ "requestId": 4 }));
    assert_eq!(peer.take_events(), vec![], "[cancel-races]: a second cancellation must have no effect");

    peer.send_request(json!(5), "roots/list", json!({}));
    peer.send_notification("notifications/cancelled", json!({ "requestId": 5 }));
    assert_eq!(peer.take_events(), vec![], "a queued request must be removed");
}

#[test]
fn cancelling_a_call_refuses_its_server_requests() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    let call = peer.call(tool_call());
    peer.take_sent_messages();
    peer.send_request(json!("e"), "elicitation/create", form_elicitation_params());
    peer.send_request(json!("s"), "sampling/createMessage", sampling_params());
    assert_eq!(peer.take_events().len(), 2, "both requests must be reported");
    peer.session.cancel(call, CancelReason::User, peer.now);
    let sent = peer.take_sent_messages();
    assert_eq!(sent[0]["method"], "notifications/cancelled", "the cancellation must be sent");
    assert_json_contains(
        &sent[1],
        &json!({ "id": "e", "result": { "action": "cancel" } }),
        "[elicit-dismiss-is-cancel]",
    );
    assert_json_contains(&sent[2], &json!({ "id": "s", "error": { "code": -32603 } }), "each request must be answered");
    let withdrawn = peer
        .take_events()
        .into_iter()
        .filter(|event| matches!(event, SessionEvent::Withdrawn { why: WithdrawalReason::CallEnded, .. }));
    assert_eq!(withdrawn.count(), 2, "both requests must be withdrawn");
}

#[test]
fn each_request_is_answered_when_the_session_ends() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    peer.send_request(json!("e"), "elicitation/create", form_elicitation_params());
    peer.send_request(json!("s"), "sampling/createMessage", sampling_params());
    peer.send_request(json!("r"), "roots/list", json!({}));
    assert_eq!(peer.take_events().len(), 3, "all requests must be reported");
    peer.session.handle_connection_closed(CloseReason::StoppedByOwner, peer.now);
    let answered: Vec<Value> = peer.take_sent_messages().iter().map(|sent| sent["id"].clone()).collect();
    assert_eq!(
        answered,
        [json!("e"), json!("s"), json!("r")],
        "[base-response-one-of]: each request must be answered once"
    );
    let events = peer.take_events();
    let ends = events
        .iter()
        .filter(|event| matches!(event, SessionEvent::Withdrawn { why: WithdrawalReason::SessionEnded, .. }));
    assert_eq!(ends.count(), 3, "each request must be withdrawn");
    assert_eq!(
        events.last(),
        Some(&SessionEvent::Closed(CloseReason::StoppedByOwner)),
        "the end must be the last event"
    );
}

#[test]
fn open_server_requests_are_bounded() {
    let mut config = client_config(HandshakeMode::Probe);
    config.limits.open_requests = 2;
    let mut peer = TestSession::ready_with(Revision::V2025_11_25, all_capabilities(), config);
    for id in 1..=3 {
        peer.send_request(json!(id), "elicitation/create", form_elicitation_params());
    }
    assert_eq!(peer.take_events().len(), 2, "X24: two requests must be reported");
    assert_json_contains(
        &peer.take_sent_message(),
        &json!({ "id": 3, "error": { "code": -32603 } }),
        "X24: the third must receive an error",
    );
}

#[test]
fn duplicate_request_id_is_answered_once() {
    let mut peer = TestSession::ready(Revision::V2025_11_25);
    peer.send_request(json!(1), "roots/list", json!({}));
    let (request, ..) = peer.take_server_request();
    peer.send_request(json!(1), "elicitation/create", form_elicitation_params());
    assert!(matches!(peer.take_event(), SessionEvent::Anomaly { .. }), "X38: the second must be reported and ignored");
    peer.send_request(json!("1"), "ping", json!({}));
    assert_eq!(peer.take_sent_message()["id"], "1", "X38: \"1\" must differ from 1");
    peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now).unwrap();
    assert_eq!(peer.take_sent_message()["result"], json!({ "roots": [] }), "X38: the response must be to the first");
}

#[test]
fn extensions_are_declared_to_every_server() {
    let mut settings = client_config(HandshakeMode::Initialize);
    settings.capabilities.extensions = Some(Map::from_iter([("io.modelcontextprotocol/ui".to_owned(), json!({}))]));
    let sent = TestSession::with_config(settings.clone()).take_sent_message();
    let declared = json!({ "params": { "capabilities": { "extensions": { "io.modelcontextprotocol/ui": {} } } } });
    assert_json_contains(&sent, &declared, "[lifecycle-ext-advertise-legacy]");
    settings.handshake = HandshakeMode::Probe;
    let sent = TestSession::with_config(settings).take_sent_message();
    let capabilities = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_json_contains(capabilities, &declared["params"]["capabilities"], "[lifecycle-ext-advertise-modern]");
}
