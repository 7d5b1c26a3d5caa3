//! Tests of the opening over HTTP: the outcome of each response to the probe and to `initialize`.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{TestSession, all_capabilities, client_config, seconds};

fn http_test_session(known: Option<Revision>) -> TestSession {
    TestSession::with_config(SessionConfig {
        carrier: TransportKind::StreamableHttp,
        known,
        ..client_config(HandshakeMode::Probe)
    })
}

fn discover_result() -> Value {
    json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities(), "resultType": "complete" })
}

fn initialize_result(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "2" } })
}

fn rpc_error(code: i64, data: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": "no", "data": data } }).to_string()
}

#[track_caller]
fn take_handshake_failure(peer: &mut TestSession) -> (HandshakeFault, String) {
    match peer.take_events().last() {
        Some(SessionEvent::HandshakeFailed { fault, cause }) => (*fault, cause.clone()),
        other => panic!("expected a failed handshake, not {other:?}"),
    }
}

#[track_caller]
fn take_negotiated_revision(peer: &mut TestSession) -> Revision {
    match peer.take_event() {
        SessionEvent::Ready(facts) => facts.revision,
        other => panic!("expected a ready session, not {other:?}"),
    }
}

#[test]
fn probe_headers_contain_only_version_and_method() {
    let mut peer = http_test_session(None);
    let (probe, head) = peer.take_post();
    assert_eq!(probe["method"], "server/discover", "[http-modern-first]");
    assert_eq!(
        head.revision,
        Some(Revision::V2026_07_28),
        "[http-version-header-modern]: the first request must have the header"
    );
    assert_eq!(
        probe["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28",
        "[http-version-header-matches-meta]"
    );
    assert_eq!(head.method.as_deref(), Some("server/discover"), "[http-mcp-method-header]");
    assert_eq!((head.name, head.params), (None, vec![]), "the probe must have no target");
    peer.send_result(&probe["id"], discover_result());
    assert_eq!(
        take_negotiated_revision(&mut peer),
        Revision::V2026_07_28,
        "a DiscoverResult must mean a modern server"
    );
    let posts = peer.take_posts();
    assert!(
        posts.iter().all(|(body, _)| body["method"] != "initialize" && body["method"] != "notifications/initialized"),
        "[lifecycle-no-handshake-modern]: {posts:?}"
    );
}

#[test]
fn legacy_server_is_detected_by_its_refusal_of_the_probe() {
    let id_missing = rpc_error(-32000, Value::Null);
    for (proves, code, body) in [
        ("[http-400-other-fallback]: empty", 400, ""),
        ("[http-400-inspect-body]: not recognised", 400, id_missing.as_str()),
        ("[http-400-other-fallback]: text", 400, "Bad Request: no valid session ID provided"),
        ("4xx of any kind", 404, ""),
        ("4xx of any kind", 405, ""),
        ("4xx of any kind", 406, "<html>"),
        ("4xx of any kind", 422, ""),
        ("a failure on an unknown method", 500, "Internal Server Error"),
    ] {
        let mut peer = http_test_session(None);
        let (probe, _) = peer.take_post();
        peer.report_http_error_status(&probe["id"], code, body);
        let (init, head) = peer.take_post();
        assert_eq!(init["method"], "initialize", "{proves}: {code}");
        assert_eq!(init["params"]["protocolVersion"], "2025-11-25", "[lifecycle-init-version-latest]: {code}");
        assert_eq!(head, HttpPostHeaders::default(), "{proves}: no version header before negotiation");
        peer.send_result(&init["id"], initialize_result("2025-06-18"));
        assert_eq!(
            take_negotiated_revision(&mut peer),
            Revision::V2025_06_18,
            "[lifecycle-init-accept-counteroffer]: {code}"
        );
        let (message, head) = peer.take_post();
        assert_eq!(message["method"], "notifications/initialized", "[lifecycle-initialized-notification]");
        assert_eq!(head.revision, Some(Revision::V2025_06_18), "[http-version-header-negotiated]");
        let (_, sent) = (peer.call(ClientRequest::Ping), peer.take_post());
        assert_eq!(sent.1.revision, Some(Revision::V2025_06_18), "[http-version-header]");
        assert_eq!(sent.1.method, None, "[http-mcp-method-header]: only in 2026-07-28");
    }
}

#[test]
fn unrecognized_probe_failures_fall_back_to_initialize() {
    for fault in [
        DeliveryFault::Lost { cause: "the stream ended".into() },
        DeliveryFault::Unusable { cause: "text/html is neither".into() },
    ] {
        let mut peer = http_test_session(None);
        let (probe, _) = peer.take_post();
        peer.report_undelivered(&probe["id"], fault.clone());
        assert_eq!(peer.take_post().0["method"], "initialize", "initialize must follow {fault}");
    }
    let mut peer = http_test_session(None);
    let (probe, _) = peer.take_post();
    peer.advance_time(seconds(10));
    let sent = peer.take_sent_messages();
    assert_eq!(sent[0]["aborted"], probe["id"], "the stream of an unanswered probe must be closed");
    assert_eq!(sent[1]["method"], "initialize", "a timeout must mean a legacy server");
    peer.report_undelivered(&probe["id"], DeliveryFault::Lost { cause: "closed".into() });
    assert_eq!(
        peer.take_events(),
        vec![],
        "[base-request-id-session-unique]: a late fault of the probe must be ignored"
    );
}

#[test]
fn modern_errors_do_not_fall_back_to_initialize() {
    let mut peer = http_test_session(None);
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2026-07-28"] })));
    let (again, _) = peer.take_post();
    assert_eq!(
        again["method"], "server/discover",
        "[http-400-modern-error-retry]: the probe must be repeated with an advertised version"
    );

    let mut peer = http_test_session(None);
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2027-01-01"] })));
    let (fault, cause) = take_handshake_failure(&mut peer);
    assert_eq!(fault, HandshakeFault::Refused, "[lifecycle-unsupported-version-surface]");
    assert!(cause.contains("2027-01-01"), "[lifecycle-unsupported-version-surface]: {cause}");

    let mut peer = http_test_session(None);
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2025-06-18"] })));
    let (init, _) = peer.take_post();
    assert_eq!(init["params"]["protocolVersion"], "2025-06-18", "[lifecycle-unsupported-version-retry]");

    for code in [-32020, -32021] {
        let mut peer = http_test_session(None);
        let (probe, _) = peer.take_post();
        peer.report_http_error_status(&probe["id"], 400, &rpc_error(code, Value::Null));
        assert_eq!(
            take_handshake_failure(&mut peer).0,
            HandshakeFault::Refused,
            "[http-400-modern-error-retry]: {code} must count as modern"
        );
        assert_eq!(
            peer.take_sent_messages(),
            Vec::<Value>::new(),
            "[http-400-modern-error-retry]: initialize must not follow {code}"
        );
    }
}

#[test]
fn failure_that_does_not_suggest_another_revision_ends_the_handshake() {
    let down = || DeliveryFault::Unreachable { cause: "connection refused".into() };
    let status = |code| DeliveryFault::Status { code, error: None, text: "x".into(), challenge: Some("Bearer".into()) };
    for (fault, expected) in [
        (status(401), HandshakeFault::Unauthorized),
        (status(403), HandshakeFault::Unauthorized),
        (status(503), HandshakeFault::ServerError),
        (status(429), HandshakeFault::ServerError),
        (down(), HandshakeFault::Unreachable),
    ] {
        for known in [None, Some(Revision::V2025_11_25)] {
            let mut peer = http_test_session(known);
            let (first, _) = peer.take_post();
            peer.report_undelivered(&first["id"], fault.clone());
            assert_eq!(take_handshake_failure(&mut peer).0, expected, "{fault} to {}", first["method"]);
            assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "no other attempt may follow {fault}");
        }
    }
}

#[test]
fn initialize_refused_with_4xx_suggests_http_sse() {
    for code in [400, 404, 405, 415] {
        let mut peer = http_test_session(None);
        let (probe, _) = peer.take_post();
        peer.report_http_error_status(&probe["id"], 405, "first words");
        let (init, _) = peer.take_post();
        peer.report_http_error_status(&init["id"], code, "second words");
        let (fault, cause) = take_handshake_failure(&mut peer);
        assert_eq!(fault, HandshakeFault::NotStreamable, "[sse-fallback-any-4xx] [sse-fallback-post-first]: {code}");
        for words in ["first words", "second words"] {
            assert!(cause.contains(words), "[lifecycle-legacy-actionable-error]: {cause}");
        }
    }
    for (fault, expected) in [
        (DeliveryFault::Lost { cause: "cut".into() }, HandshakeFault::ServerError),
        (DeliveryFault::Unusable { cause: "html".into() }, HandshakeFault::Refused),
    ] {
        let mut peer = http_test_session(None);
        let (probe, _) = peer.take_post();
        peer.report_http_error_status(&probe["id"], 405, "");
        let (init, _) = peer.take_post();
        peer.report_undelivered(&init["id"], fault);
        assert_eq!(take_handshake_failure(&mut peer).0, expected, "[lifecycle-init-errors]");
    }
    let mut peer = http_test_session(None);
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 400, "");
    let (init, _) = peer.take_post();
    peer.report_http_error_status(&init["id"], 400, &rpc_error(-32602, json!({ "supported": ["2025-03-26"] })));
    let (init, _) = peer.take_post();
    assert_eq!(
        init["params"]["protocolVersion"], "2025-03-26",
        "[lifecycle-init-errors]: a common version must be used"
    );
}

#[test]
fn known_revision_is_tried_first_and_detected_again_on_failure() {
    let mut peer = http_test_session(Some(Revision::V2025_11_25));
    let (init, _) = peer.take_post();
    assert_eq!(init["method"], "initialize", "[lifecycle-era-persist], [lifecycle-era-cache]");
    peer.report_http_error_status(&init["id"], 400, "");
    let (probe, _) = peer.take_post();
    assert_eq!(probe["method"], "server/discover", "[lifecycle-era-persist]: a failure must cause a probe");
    peer.send_result(&probe["id"], discover_result());
    assert_eq!(take_negotiated_revision(&mut peer), Revision::V2026_07_28, "the modern revision must be detected");

    let mut peer = http_test_session(Some(Revision::V2025_11_25));
    let (init, _) = peer.take_post();
    peer.send_result(&init["id"], json!({}));
    assert_eq!(
        take_handshake_failure(&mut peer).0,
        HandshakeFault::Refused,
        "an invalid result must not cause a probe"
    );

    let mut peer = http_test_session(Some(Revision::V2025_11_25));
    let (init, _) = peer.take_post();
    peer.report_http_error_status(&init["id"], 404, "gone");
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 404, "gone");
    assert_eq!(
        take_handshake_failure(&mut peer).0,
        HandshakeFault::NotStreamable,
        "failures of both must suggest HTTP+SSE"
    );
    assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "each must be tried once");

    let mut peer = http_test_session(Some(Revision::V2026_07_28));
    assert_eq!(
        peer.take_post().0["method"],
        "server/discover",
        "[lifecycle-era-cache]: a known modern server must be probed"
    );
}

#[test]
fn http_sse_is_always_legacy() {
    let mut peer = TestSession::with_config(SessionConfig {
        carrier: TransportKind::HttpSse,
        ..client_config(HandshakeMode::Probe)
    });
    let (init, head) = peer.take_post();
    assert_eq!(init["method"], "initialize", "[lifecycle-init-first]: initialize must be sent first");
    assert_eq!(head, HttpPostHeaders::default(), "HTTP+SSE must have no additional headers");
    peer.send_result(&init["id"], initialize_result("2024-11-05"));
    assert_eq!(take_negotiated_revision(&mut peer), Revision::V2024_11_05, "[lifecycle-init-accept-counteroffer]");
    assert_eq!(peer.take_post().1, HttpPostHeaders::default(), "later messages must have no additional headers");

    let pinned = client_config(HandshakeMode::Pinned(Revision::V2026_07_28));
    let mut peer = TestSession::with_config(SessionConfig { carrier: TransportKind::HttpSse, ..pinned });
    assert_eq!(take_handshake_failure(&mut peer).0, HandshakeFault::Refused, "2026-07-28 must be refused");
}

#[test]
fn pinned_revision_has_no_fallback() {
    let settings = client_config(HandshakeMode::Pinned(Revision::V2026_07_28));
    let mut peer = TestSession::with_config(SessionConfig { carrier: TransportKind::StreamableHttp, ..settings });
    let (probe, _) = peer.take_post();
    peer.report_http_error_status(&probe["id"], 404, "");
    assert_eq!(
        take_handshake_failure(&mut peer).0,
        HandshakeFault::Refused,
        "initialize must not follow if 2026-07-28 is pinned"
    );
    let settings = client_config(HandshakeMode::Pinned(Revision::V2025_06_18));
    let mut peer = TestSession::with_config(SessionConfig { carrier: TransportKind::StreamableHttp, ..settings });
    let (init, _) = peer.take_post();
    assert_eq!(init["params"]["protocolVersion"], "2025-06-18", "the pinned revision must be offered");
    peer.report_http_error_status(&init["id"], 404, "");
    assert_eq!(
        take_handshake_failure(&mut peer).0,
        HandshakeFault::NotStreamable,
        "no probe may follow if a legacy revision is pinned"
    );
}

#[test]
fn connection_closed_during_handshake_is_not_an_exit_on_the_probe() {
    let mut peer = http_test_session(None);
    peer.session.handle_connection_closed(CloseReason::ConnectionLost("reset".into()), peer.now);
    let events = peer.take_events();
    assert!(
        matches!(
            events[..],
            [SessionEvent::HandshakeFailed { fault: HandshakeFault::Exited, .. }, SessionEvent::Closed(_)]
        ),
        "a closed connection must not count as an exit on the probe: {events:?}"
    );
}
