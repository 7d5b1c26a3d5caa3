//! Tests of the opening over HTTP: the outcome of each response to the probe and to `initialize`.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{Peer, all_capabilities, config, seconds};

fn http(known: Option<Revision>) -> Peer {
    Peer::with(SessionConfig { carrier: TransportKind::StreamableHttp, known, ..config(HandshakeMode::Probe) })
}

fn discovered() -> Value {
    json!({ "supportedVersions": ["2026-07-28"], "capabilities": all_capabilities(), "resultType": "complete" })
}

fn initialized(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "2" } })
}

fn rpc_error(code: i64, data: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": "no", "data": data } }).to_string()
}

#[track_caller]
fn failed(peer: &mut Peer) -> (HandshakeFault, String) {
    match peer.events().last() {
        Some(SessionEvent::OpeningFailed { fault, cause }) => (*fault, cause.clone()),
        other => panic!("expected a failed opening, not {other:?}"),
    }
}

#[track_caller]
fn ready(peer: &mut Peer) -> Revision {
    match peer.event() {
        SessionEvent::Ready(facts) => facts.revision,
        other => panic!("expected a ready session, not {other:?}"),
    }
}

#[test]
fn probe_headers_contain_only_version_and_method() {
    let mut peer = http(None);
    let (probe, head) = peer.post();
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
    peer.answers(&probe["id"], discovered());
    assert_eq!(ready(&mut peer), Revision::V2026_07_28, "a DiscoverResult must mean a modern server");
    let posts = peer.posts();
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
        let mut peer = http(None);
        let (probe, _) = peer.post();
        peer.fails_with_status(&probe["id"], code, body);
        let (init, head) = peer.post();
        assert_eq!(init["method"], "initialize", "{proves}: {code}");
        assert_eq!(init["params"]["protocolVersion"], "2025-11-25", "[lifecycle-init-version-latest]: {code}");
        assert_eq!(head, HttpHead::default(), "{proves}: no version header before negotiation");
        peer.answers(&init["id"], initialized("2025-06-18"));
        assert_eq!(ready(&mut peer), Revision::V2025_06_18, "[lifecycle-init-accept-counteroffer]: {code}");
        let (told, head) = peer.post();
        assert_eq!(told["method"], "notifications/initialized", "[lifecycle-initialized-notification]");
        assert_eq!(head.revision, Some(Revision::V2025_06_18), "[http-version-header-negotiated]");
        let (_, sent) = (peer.call(ClientRequest::Ping), peer.post());
        assert_eq!(sent.1.revision, Some(Revision::V2025_06_18), "[http-version-header]");
        assert_eq!(sent.1.method, None, "[http-mcp-method-header]: only in 2026-07-28");
    }
}

#[test]
fn other_probe_failures_fall_back_to_initialize() {
    for fault in [
        DeliveryFault::Lost { cause: "the stream ended".into() },
        DeliveryFault::Unusable { cause: "text/html is neither".into() },
    ] {
        let mut peer = http(None);
        let (probe, _) = peer.post();
        peer.fails(&probe["id"], fault.clone());
        assert_eq!(peer.post().0["method"], "initialize", "initialize must follow {fault}");
    }
    let mut peer = http(None);
    let (probe, _) = peer.post();
    peer.wait(seconds(10));
    let sent = peer.sent();
    assert_eq!(sent[0]["aborted"], probe["id"], "the stream of an unanswered probe must be closed");
    assert_eq!(sent[1]["method"], "initialize", "a timeout must mean a legacy server");
    peer.fails(&probe["id"], DeliveryFault::Lost { cause: "closed".into() });
    assert_eq!(peer.events(), vec![], "[base-request-id-session-unique]: a late fault of the probe must be ignored");
}

#[test]
fn modern_errors_do_not_fall_back_to_initialize() {
    let mut peer = http(None);
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2026-07-28"] })));
    let (again, _) = peer.post();
    assert_eq!(
        again["method"], "server/discover",
        "[http-400-modern-error-retry]: the probe must be repeated with an advertised version"
    );

    let mut peer = http(None);
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2027-01-01"] })));
    let (fault, cause) = failed(&mut peer);
    assert_eq!(fault, HandshakeFault::Refused, "[lifecycle-unsupported-version-surface]");
    assert!(cause.contains("2027-01-01"), "[lifecycle-unsupported-version-surface]: {cause}");

    let mut peer = http(None);
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 400, &rpc_error(-32022, json!({ "supported": ["2025-06-18"] })));
    let (init, _) = peer.post();
    assert_eq!(init["params"]["protocolVersion"], "2025-06-18", "[lifecycle-unsupported-version-retry]");

    for code in [-32020, -32021] {
        let mut peer = http(None);
        let (probe, _) = peer.post();
        peer.fails_with_status(&probe["id"], 400, &rpc_error(code, Value::Null));
        assert_eq!(
            failed(&mut peer).0,
            HandshakeFault::Refused,
            "[http-400-modern-error-retry]: {code} must count as modern"
        );
        assert_eq!(
            peer.sent(),
            Vec::<Value>::new(),
            "[http-400-modern-error-retry]: initialize must not follow {code}"
        );
    }
}

#[test]
fn failure_unrelated_to_the_era_ends_the_opening() {
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
            let mut peer = http(known);
            let (first, _) = peer.post();
            peer.fails(&first["id"], fault.clone());
            assert_eq!(failed(&mut peer).0, expected, "{fault} to {}", first["method"]);
            assert_eq!(peer.sent(), Vec::<Value>::new(), "no other attempt may follow {fault}");
        }
    }
}

#[test]
fn initialize_refused_with_4xx_suggests_http_sse() {
    for code in [400, 404, 405, 415] {
        let mut peer = http(None);
        let (probe, _) = peer.post();
        peer.fails_with_status(&probe["id"], 405, "first words");
        let (init, _) = peer.post();
        peer.fails_with_status(&init["id"], code, "second words");
        let (fault, cause) = failed(&mut peer);
        assert_eq!(fault, HandshakeFault::NotStreamable, "[sse-fallback-any-4xx] [sse-fallback-post-first]: {code}");
        for words in ["first words", "second words"] {
            assert!(cause.contains(words), "[lifecycle-legacy-actionable-error]: {cause}");
        }
    }
    for (fault, expected) in [
        (DeliveryFault::Lost { cause: "cut".into() }, HandshakeFault::ServerError),
        (DeliveryFault::Unusable { cause: "html".into() }, HandshakeFault::Refused),
    ] {
        let mut peer = http(None);
        let (probe, _) = peer.post();
        peer.fails_with_status(&probe["id"], 405, "");
        let (init, _) = peer.post();
        peer.fails(&init["id"], fault);
        assert_eq!(failed(&mut peer).0, expected, "[lifecycle-init-errors]");
    }
    let mut peer = http(None);
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 400, "");
    let (init, _) = peer.post();
    peer.fails_with_status(&init["id"], 400, &rpc_error(-32602, json!({ "supported": ["2025-03-26"] })));
    let (init, _) = peer.post();
    assert_eq!(
        init["params"]["protocolVersion"], "2025-03-26",
        "[lifecycle-init-errors]: a common version must be used"
    );
}

#[test]
fn known_revision_is_tried_first_and_detected_again_on_failure() {
    let mut peer = http(Some(Revision::V2025_11_25));
    let (init, _) = peer.post();
    assert_eq!(init["method"], "initialize", "[lifecycle-era-persist], [lifecycle-era-cache]");
    peer.fails_with_status(&init["id"], 400, "");
    let (probe, _) = peer.post();
    assert_eq!(probe["method"], "server/discover", "[lifecycle-era-persist]: a failure must cause a probe");
    peer.answers(&probe["id"], discovered());
    assert_eq!(ready(&mut peer), Revision::V2026_07_28, "the modern revision must be detected");

    let mut peer = http(Some(Revision::V2025_11_25));
    let (init, _) = peer.post();
    peer.answers(&init["id"], json!({}));
    assert_eq!(failed(&mut peer).0, HandshakeFault::Refused, "an invalid result must not cause a probe");

    let mut peer = http(Some(Revision::V2025_11_25));
    let (init, _) = peer.post();
    peer.fails_with_status(&init["id"], 404, "gone");
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 404, "gone");
    assert_eq!(failed(&mut peer).0, HandshakeFault::NotStreamable, "failures of both must suggest HTTP+SSE");
    assert_eq!(peer.sent(), Vec::<Value>::new(), "each must be tried once");

    let mut peer = http(Some(Revision::V2026_07_28));
    assert_eq!(
        peer.post().0["method"],
        "server/discover",
        "[lifecycle-era-cache]: a known modern server must be probed"
    );
}

#[test]
fn http_sse_is_always_legacy() {
    let mut peer = Peer::with(SessionConfig { carrier: TransportKind::HttpSse, ..config(HandshakeMode::Probe) });
    let (init, head) = peer.post();
    assert_eq!(init["method"], "initialize", "[lifecycle-init-first]: initialize must be sent first");
    assert_eq!(head, HttpHead::default(), "HTTP+SSE must have no additional headers");
    peer.answers(&init["id"], initialized("2024-11-05"));
    assert_eq!(ready(&mut peer), Revision::V2024_11_05, "[lifecycle-init-accept-counteroffer]");
    assert_eq!(peer.post().1, HttpHead::default(), "later messages must have no additional headers");

    let pinned = config(HandshakeMode::Pinned(Revision::V2026_07_28));
    let mut peer = Peer::with(SessionConfig { carrier: TransportKind::HttpSse, ..pinned });
    assert_eq!(failed(&mut peer).0, HandshakeFault::Refused, "2026-07-28 must be refused");
}

#[test]
fn pinned_revision_has_no_fallback() {
    let settings = config(HandshakeMode::Pinned(Revision::V2026_07_28));
    let mut peer = Peer::with(SessionConfig { carrier: TransportKind::StreamableHttp, ..settings });
    let (probe, _) = peer.post();
    peer.fails_with_status(&probe["id"], 404, "");
    assert_eq!(failed(&mut peer).0, HandshakeFault::Refused, "initialize must not follow if 2026-07-28 is pinned");
    let settings = config(HandshakeMode::Pinned(Revision::V2025_06_18));
    let mut peer = Peer::with(SessionConfig { carrier: TransportKind::StreamableHttp, ..settings });
    let (init, _) = peer.post();
    assert_eq!(init["params"]["protocolVersion"], "2025-06-18", "the pinned revision must be offered");
    peer.fails_with_status(&init["id"], 404, "");
    assert_eq!(
        failed(&mut peer).0,
        HandshakeFault::NotStreamable,
        "no probe may follow if a legacy revision is pinned"
    );
}

#[test]
fn connection_closed_during_opening_is_not_an_exit_on_the_probe() {
    let mut peer = http(None);
    peer.session.handle_closed(CloseReason::ConnectionLost("reset".into()), peer.now);
    let events = peer.events();
    assert!(
        matches!(
            events[..],
            [SessionEvent::OpeningFailed { fault: HandshakeFault::Exited, .. }, SessionEvent::Closed(_)]
        ),
        "a closed connection must not count as an exit on the probe: {events:?}"
    );
}
