//! Tests of server requests up to 2025-11-25: each gets exactly one response.

use mcp_proto::types::*;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{Peer, accepted, all_capabilities, assert_contains, config, form, sampling, tool_call};

fn url() -> Value {
    json!({ "mode": "url", "message": "m", "url": "https://x.test/", "elicitationId": "e" })
}

fn message(content: SamplingContent) -> ClientResponse {
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
    let mut peer = Peer::ready(Revision::V2025_11_25);
    peer.asks(json!("s-1"), "sampling/createMessage", sampling());
    let (request, call, server_request) = peer.asked();
    assert!(
        matches!(server_request, ServerRequest::Sampling(params) if params.max_tokens == 10),
        "the sampling request must be reported"
    );
    assert_eq!(call, None, "no call must be named");
    assert_eq!(
        peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now),
        Err(UnknownRequest::WrongKind),
        "an answer of another kind must be refused"
    );
    peer.session.answer(request, message(SamplingContent::One(ContentBlock::text("4"))), peer.now).unwrap();
    let expected = json!({ "jsonrpc": "2.0", "id": "s-1", "result": { "role": "assistant", "model": "by hand",
                           "content": { "type": "text", "text": "4" }, "stopReason": "endTurn" } });
    assert_eq!(peer.sent_one(), expected, "[base-response-same-id], [sampling-result-fields]");
    assert_eq!(
        peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now),
        Err(UnknownRequest::NotOpen),
        "a second answer must be refused"
    );

    peer.asks(json!(7), "elicitation/create", form());
    let (request, ..) = peer.asked();
    peer.session.answer(request, accepted(), peer.now).unwrap();
    let expected =
        json!({ "jsonrpc": "2.0", "id": 7, "result": { "action": "accept", "content": { "day": "2026-08-01" } } });
    assert_eq!(peer.sent_one(), expected, "[elicit-default-mode], [elicit-three-actions]");

    peer.asks(json!(8), "roots/list", Value::Null);
    let (request, _, server_request) = peer.asked();
    assert_eq!(server_request, ServerRequest::Roots, "the roots request must be reported without params");
    let root = Root { uri: "file:///w".into(), name: Some("w".into()), meta: None };
    peer.session.answer(request, ClientResponse::Roots(vec![root]), peer.now).unwrap();
    let expected = json!({ "jsonrpc": "2.0", "id": 8, "result": { "roots": [{ "uri": "file:///w", "name": "w" }] } });
    assert_eq!(peer.sent_one(), expected, "[roots-list-answer]");

    peer.asks(json!(9), "sampling/createMessage", sampling());
    let (request, ..) = peer.asked();
    let no = ClientResponse::Refused { code: -1, message: "User rejected sampling request".into() };
    peer.session.answer(request, no, peer.now).unwrap();
    assert_contains(&peer.sent_one(), &json!({ "id": 9, "error": { "code": -1 } }), "[sampling-reject-error]");
}

#[test]
fn responses_contain_only_permitted_members() {
    for (action, params, content) in [
        (ElicitAction::Accept, form(), json!({ "a": 1 })),
        (ElicitAction::Decline, form(), Value::Null),
        (ElicitAction::Cancel, form(), Value::Null),
        (ElicitAction::Accept, url(), Value::Null),
        (ElicitAction::Decline, url(), Value::Null),
    ] {
        let mut peer = Peer::ready(Revision::V2025_11_25);
        peer.asks(json!(1), "elicitation/create", params);
        let (request, ..) = peer.asked();
        let given = json!({ "a": 1 }).as_object().cloned();
        peer.session
            .answer(request, ClientResponse::Elicitation(ElicitResult { action, content: given }), peer.now)
            .unwrap();
        let sent = peer.sent_one();
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
        let mut peer = Peer::ready(revision);
        peer.asks(json!(1), "sampling/createMessage", sampling());
        let (request, ..) = peer.asked();
        peer.session.answer(request, message(content), peer.now).unwrap();
        let sent = peer.sent_one();
        assert_eq!(sent["result"]["content"], expected, "[sampling-content-array] in {revision}: {sent}");
    }
}

/// Verifies the requirements `[base-error-reserved-range]` and `[base-error-avoid-legacy-range]`.
#[test]
fn undeclared_requests_are_refused() {
    let with_tools = json!({ "messages": [], "maxTokens": 1, "tools": [] });
    let with_choice = json!({ "messages": [], "maxTokens": 1, "toolChoice": { "mode": "auto" } });
    let nothing = SessionConfig::default();
    let all = config(HandshakeMode::Probe);
    let mut forms = config(HandshakeMode::Probe);
    forms.capabilities.elicitation = Some(ElicitationCapability::default());
    use Revision::*;
    for (requirement, config, revision, method, params, code) in [
        ("[sampling-declare-init]", &nothing, V2025_11_25, "sampling/createMessage", sampling(), -32601),
        ("[elicit-declare-init]", &nothing, V2025_11_25, "elicitation/create", form(), -32601),
        ("[roots-error-codes]", &nothing, V2025_11_25, "roots/list", json!({}), -32601),
        ("unknown method", &all, V2025_11_25, "tasks/list", json!({}), -32601),
        ("[lifecycle-respect-version]", &all, V2025_03_26, "elicitation/create", form(), -32601),
        ("[lifecycle-respect-version]", &all, V2025_06_18, "elicitation/create", url(), -32602),
        (
            "[elicit-undeclared-mode-error], [elicit-empty-means-form]",
            &forms,
            V2025_11_25,
            "elicitation/create",
            url(),
            -32602,
        ),
        ("[sampling-tools-undeclared-error]", &all, V2025_11_25, "sampling/createMessage", with_tools, -32602),
        ("[sampling-tools-undeclared-error]", &all, V2025_11_25, "sampling/createMessage", with_choice, -32602),
        ("bad params", &all, V2025_11_25, "sampling/createMessage", json!({ "messages": 1 }), -32602),
        ("bad params", &all, V2025_11_25, "elicitation/create", json!([1]), -32602),
        ("bad params", &all, V2025_11_25, "elicitation/create", json!({ "mode": "telepathy" }), -32602),
    ] {
        let mut peer = Peer::ready_with(revision, all_capabilities(), config.clone());
        peer.asks(json!("x"), method, params);
        let expected = json!({ "id": "x", "error": { "code": code } });
        assert_contains(&peer.sent_one(), &expected, requirement);
        assert_eq!(peer.events(), vec![], "{requirement}: no event must be reported");
    }
}

#[test]
fn pings_are_answered_immediately() {
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_modern()) {
        let mut peer = Peer::ready(revision);
        peer.says(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
        assert_eq!(peer.sent_one(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "[ping-respond] in {revision}");
    }
}

/// Verifies the requirement `[base-error-retired-codes]`.
#[test]
fn requests_of_a_modern_server_are_not_answered() {
    let mut peer = Peer::ready(Revision::V2026_07_28);
    for method in ["ping", "roots/list", "elicitation/create"] {
        peer.asks(json!(1), method, form());
        assert_eq!(
            peer.sent(),
            Vec::<Value>::new(),
            "[stdio-no-responses-written], [mrtr-no-server-requests]: {method}"
        );
        assert!(matches!(peer.event(), SessionEvent::Anomaly { .. }), "an anomaly must be reported");
    }
}

#[test]
fn withdrawn_request_is_not_answered() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    peer.asks(json!(4), "elicitation/create", form());
    let (request, ..) = peer.asked();
    peer.tells("notifications/cancelled", json!({ "requestId": "4" }));
    assert_eq!(peer.events(), vec![], "[cancel-received-ignore]: another id must be ignored");
    peer.tells("notifications/cancelled", json!({ "requestId": 4, "reason": "never mind" }));
    let expected = SessionEvent::Withdrawn { request, why: Withdrawal::CancelledByServer };
    assert_eq!(peer.event(), expected, "[cancel-received-stop]");
    assert_eq!(
        peer.session.answer(request, accepted(), peer.now),
        Err(UnknownRequest::NotOpen),
        "the request must not be open"
    );
    assert_eq!(peer.sent(), Vec::<Value>::new(), "[cancel-received-stop]: no response must be sent");
    peer.tells("notifications/cancelled", json!({ "requestId": 4 }));
    assert_eq!(peer.events(), vec![], "[cancel-races]: a second cancellation must have no effect");

    peer.asks(json!(5), "roots/list", json!({}));
    peer.tells("notifications/cancelled", json!({ "requestId": 5 }));
    assert_eq!(peer.events(), vec![], "a queued request must be removed");
}

#[test]
fn cancelling_a_call_refuses_its_server_requests() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    let call = peer.call(tool_call());
    peer.sent();
    peer.asks(json!("e"), "elicitation/create", form());
    peer.asks(json!("s"), "sampling/createMessage", sampling());
    assert_eq!(peer.events().len(), 2, "both requests must be reported");
    peer.session.cancel(call, CancelReason::User, peer.now);
    let sent = peer.sent();
    assert_eq!(sent[0]["method"], "notifications/cancelled", "the cancellation must be sent");
    assert_contains(&sent[1], &json!({ "id": "e", "result": { "action": "cancel" } }), "[elicit-dismiss-is-cancel]");
    assert_contains(&sent[2], &json!({ "id": "s", "error": { "code": -32603 } }), "each request must be answered");
    let withdrawn = peer
        .events()
        .into_iter()
        .filter(|event| matches!(event, SessionEvent::Withdrawn { why: Withdrawal::CallEnded, .. }));
    assert_eq!(withdrawn.count(), 2, "both requests must be withdrawn");
}

#[test]
fn each_request_is_answered_when_the_session_ends() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    peer.asks(json!("e"), "elicitation/create", form());
    peer.asks(json!("s"), "sampling/createMessage", sampling());
    peer.asks(json!("r"), "roots/list", json!({}));
    assert_eq!(peer.events().len(), 3, "all requests must be reported");
    peer.session.handle_closed(CloseReason::StoppedByUser, peer.now);
    let answered: Vec<Value> = peer.sent().iter().map(|sent| sent["id"].clone()).collect();
    assert_eq!(
        answered,
        [json!("e"), json!("s"), json!("r")],
        "[base-response-one-of]: each request must be answered once"
    );
    let events = peer.events();
    let ends =
        events.iter().filter(|event| matches!(event, SessionEvent::Withdrawn { why: Withdrawal::SessionEnded, .. }));
    assert_eq!(ends.count(), 3, "each request must be withdrawn");
    assert_eq!(
        events.last(),
        Some(&SessionEvent::Closed(CloseReason::StoppedByUser)),
        "the end must be the last event"
    );
}

#[test]
fn open_server_requests_are_bounded() {
    let mut config = config(HandshakeMode::Probe);
    config.limits.open_requests = 2;
    let mut peer = Peer::ready_with(Revision::V2025_11_25, all_capabilities(), config);
    for id in 1..=3 {
        peer.asks(json!(id), "elicitation/create", form());
    }
    assert_eq!(peer.events().len(), 2, "X24: two requests must be reported");
    assert_contains(
        &peer.sent_one(),
        &json!({ "id": 3, "error": { "code": -32603 } }),
        "X24: the third must receive an error",
    );
}

#[test]
fn duplicate_request_id_is_answered_once() {
    let mut peer = Peer::ready(Revision::V2025_11_25);
    peer.asks(json!(1), "roots/list", json!({}));
    let (request, ..) = peer.asked();
    peer.asks(json!(1), "elicitation/create", form());
    assert!(matches!(peer.event(), SessionEvent::Anomaly { .. }), "X38: the second must be reported and ignored");
    peer.asks(json!("1"), "ping", json!({}));
    assert_eq!(peer.sent_one()["id"], "1", "X38: \"1\" must differ from 1");
    peer.session.answer(request, ClientResponse::Roots(vec![]), peer.now).unwrap();
    assert_eq!(peer.sent_one()["result"], json!({ "roots": [] }), "X38: the response must be to the first");
}

#[test]
fn extensions_are_declared_to_every_server() {
    let mut settings = config(HandshakeMode::Initialize);
    settings.capabilities.extensions = Some(Map::from_iter([("io.modelcontextprotocol/ui".to_owned(), json!({}))]));
    let sent = Peer::with(settings.clone()).sent_one();
    let told = json!({ "params": { "capabilities": { "extensions": { "io.modelcontextprotocol/ui": {} } } } });
    assert_contains(&sent, &told, "[lifecycle-ext-advertise-legacy]");
    settings.opening = HandshakeMode::Probe;
    let sent = Peer::with(settings).sent_one();
    let capabilities = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_contains(capabilities, &told["params"]["capabilities"], "[lifecycle-ext-advertise-modern]");
}
