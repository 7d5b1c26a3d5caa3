//! Tests of the handshake: the probe, `initialize`, and the possible responses to them.

use mcp_proto::types::ElicitationCapability;
use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, assert_json_contains, client_config, seconds};

/// A step of a scripted handshake.
enum ScriptedHandshakeStep {
    /// Asserts that the session sent exactly one message, which contains this value.
    Sends(Value),
    SendsNothing,
    /// Sends this message from the server.
    Says(Value),
    Line(&'static str),
    Waits(u64),
    Ready(Revision),
    /// Asserts that the handshake fails with a cause that contains this text.
    Fails(&'static str),
    /// Closes the connection and asserts that the handshake fails. `true` if the failure must be classified as an exit
    /// on the probe.
    Exits(bool),
    /// Asserts that the session reports an anomaly with this text.
    Anomaly(&'static str),
    Quiet,
}
use ScriptedHandshakeStep::*;

fn result_step(id: i64, result: Value) -> ScriptedHandshakeStep {
    Says(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn error_step(id: i64, code: i64, message: &str, data: Value) -> ScriptedHandshakeStep {
    Says(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message, "data": data } }))
}

fn discover_result(versions: &[&str]) -> Value {
    json!({ "supportedVersions": versions, "capabilities": {}, "resultType": "complete", "instructions": "be kind",
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "2" } } })
}

fn initialize_result(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "2" } })
}

fn probe_step() -> ScriptedHandshakeStep {
    Sends(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test-host" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } } } } }))
}

fn initialize_step(id: i64, version: &str) -> ScriptedHandshakeStep {
    Sends(json!({ "id": id, "method": "initialize", "params": { "protocolVersion": version,
                  "capabilities": { "roots": { "listChanged": true } },
                  "clientInfo": { "name": "test-host", "version": "1.0" } } }))
}

fn initialized_step() -> ScriptedHandshakeStep {
    Sends(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
}

fn run_scripted_handshake(proves: &str, handshake: HandshakeMode, steps: Vec<ScriptedHandshakeStep>) {
    let mut peer = TestSession::with_config(client_config(handshake));
    for (at, step) in steps.into_iter().enumerate() {
        let proves = format!("{proves} (step {at})");
        match step {
            Sends(part) => assert_json_contains(&peer.take_sent_message(), &part, &proves),
            SendsNothing => {
                assert_eq!(peer.take_sent_messages(), Vec::<Value>::new(), "{proves}: no message must be sent")
            }
            Says(message) => peer.send_message(message),
            Line(line) => peer.send_line(line),
            Waits(time) => peer.advance_time(seconds(time)),
            Ready(revision) => match peer.take_event() {
                SessionEvent::Ready(facts) => {
                    assert_eq!(facts.revision, revision, "{proves}: the revision");
                    assert_eq!(facts.server.map(|server| server.name), Some("s".into()), "{proves}: the name");
                }
                other => panic!("{proves}: expected a ready session, not {other:?}"),
            },
            Fails(words) => match peer.take_events().last() {
                Some(SessionEvent::HandshakeFailed {
                    cause,
                    fault: HandshakeFault::Refused | HandshakeFault::NoAnswer,
                }) => {
                    assert!(cause.contains(words), "{proves}: {cause:?} must contain {words:?}");
                }
                other => panic!("{proves}: expected a failed handshake, not {other:?}"),
            },
            Exits(on_probe) => {
                peer.session
                    .handle_connection_closed(CloseReason::ServerExited { status: Some(1), signal: None }, peer.now);
                let events = peer.take_events();
                let [SessionEvent::HandshakeFailed { fault, cause }, SessionEvent::Closed(_)] = &events[..] else {
                    panic!("{proves}: expected a failed handshake and the end of the session, not {events:?}");
                };
                assert_eq!(
                    *fault == HandshakeFault::ExitedOnProbe,
                    on_probe,
                    "{proves}: classification as exit on the probe"
                );
                assert!(cause.contains("exit status 1"), "{proves}: {cause:?} must contain the exit status");
            }
            Anomaly(words) => match peer.take_event() {
                SessionEvent::Anomaly { cause, .. } => {
                    assert!(cause.contains(words), "{proves}: {cause:?} must contain {words:?}");
                }
                other => panic!("{proves}: expected an anomaly, not {other:?}"),
            },
            Quiet => assert_eq!(peer.take_events(), vec![], "{proves}: no event must be reported"),
        }
    }
}

#[test]
fn probe_response_selects_modern_or_legacy_handshake() {
    use Revision::*;
    let legacy = |error: ScriptedHandshakeStep| vec![probe_step(), error, initialize_step(2, "2025-11-25"), Quiet];
    for (proves, steps) in [
        (
            "[stdio-probe-result-select], [lifecycle-no-handshake-modern]",
            vec![
                probe_step(),
                result_step(1, discover_result(&["2026-07-28", "2025-11-25"])),
                SendsNothing,
                Ready(V2026_07_28),
            ],
        ),
        ("[stdio-probe-other-error-fallback]", legacy(error_step(1, -32601, "no", Value::Null))),
        ("[stdio-probe-not-one-code]: -32602", legacy(error_step(1, -32602, "no", Value::Null))),
        ("[stdio-probe-not-one-code]: -32600", legacy(error_step(1, -32600, "no", Value::Null))),
        ("[stdio-probe-not-one-code]: -1", legacy(error_step(1, -1, "no", Value::Null))),
        ("[stdio-probe-other-error-fallback]: an invalid result", legacy(result_step(1, json!({})))),
        (
            "[stdio-probe-other-error-fallback]: an error without id",
            legacy(Says(json!({ "jsonrpc": "2.0", "error": { "code": -32601, "message": "?" } }))),
        ),
        (
            "[stdio-probe-timeout-fallback]: exactly after 10 s",
            vec![probe_step(), Waits(9), SendsNothing, Waits(1), initialize_step(2, "2025-11-25"), Quiet],
        ),
        (
            "[base-request-id-session-unique]: a late answer to the probe must be ignored",
            vec![
                probe_step(),
                Waits(10),
                initialize_step(2, "2025-11-25"),
                result_step(1, discover_result(&["2026-07-28"])),
                Quiet,
                result_step(2, initialize_result("2025-11-25")),
                initialized_step(),
                Ready(V2025_11_25),
            ],
        ),
        (
            "a modern server that was slow to start: after its refusal of initialize the probe is sent once more",
            vec![
                probe_step(),
                Waits(10),
                initialize_step(2, "2025-11-25"),
                result_step(1, discover_result(&["2026-07-28"])),
                error_step(2, -32022, "?", json!({ "supported": ["2026-07-28"] })),
                Sends(json!({ "id": 3, "method": "server/discover" })),
                result_step(3, discover_result(&["2026-07-28"])),
                Ready(V2026_07_28),
            ],
        ),
        (
            "the second probe is the last one, whether it is refused or times out",
            vec![
                probe_step(),
                Waits(10),
                initialize_step(2, "2025-11-25"),
                error_step(2, -32022, "?", json!({ "supported": ["2026-07-28"] })),
                Sends(json!({ "id": 3, "method": "server/discover" })),
                Waits(10),
                SendsNothing,
                Fails("no common protocol version"),
            ],
        ),
        (
            "[stdio-probe-modern-error-stay]: versions in common are tried again without initialize",
            vec![
                probe_step(),
                error_step(1, -32022, "?", json!({ "supported": ["2026-07-28"] })),
                Sends(json!({ "id": 2, "method": "server/discover" })),
                result_step(2, discover_result(&["2026-07-28"])),
                Ready(V2026_07_28),
            ],
        ),
        (
            "[lifecycle-unsupported-version-retry]: only older versions in common",
            vec![
                probe_step(),
                error_step(1, -32022, "?", json!({ "supported": ["2025-03-26", "2025-06-18"] })),
                initialize_step(2, "2025-06-18"),
                result_step(2, initialize_result("2025-06-18")),
                initialized_step(),
                Ready(V2025_06_18),
            ],
        ),
        (
            "[lifecycle-unsupported-version-surface]",
            vec![
                probe_step(),
                error_step(1, -32022, "go away", json!({ "supported": ["2031-01-01"] })),
                SendsNothing,
                Fails("it speaks 2031-01-01; this client speaks 2024-11-05, 2025-03-26"),
            ],
        ),
        (
            "[lifecycle-unsupported-version-surface]: the error text of the server",
            vec![probe_step(), error_step(1, -32022, "go away", Value::Null), Fails("go away")],
        ),
        (
            "[stdio-probe-modern-error-stay]: a missing capability",
            vec![
                probe_step(),
                error_step(1, -32021, "needs sampling", Value::Null),
                SendsNothing,
                Fails("needs sampling"),
            ],
        ),
        (
            "[lifecycle-discover-choose-version]: a modern server with older versions only",
            vec![
                probe_step(),
                result_step(1, discover_result(&["2030-01-01", "2025-11-25"])),
                initialize_step(2, "2025-11-25"),
                Quiet,
            ],
        ),
        (
            "X37: an answer to the probe that cannot be read must cause an immediate initialize",
            vec![
                probe_step(),
                Line(r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800"}}"#),
                initialize_step(2, "2025-11-25"),
                Anomaly("surrogate"),
            ],
        ),
        ("5 of stdio choosing: the process ends on the probe", vec![probe_step(), Exits(true)]),
        (
            "5 of stdio choosing: the process fails on the probe, and exits at the next line",
            vec![probe_step(), Waits(10), initialize_step(2, "2025-11-25"), Exits(true)],
        ),
    ] {
        run_scripted_handshake(proves, HandshakeMode::Probe, steps);
    }
}

#[test]
fn initialize_negotiates_the_protocol_version() {
    use Revision::*;
    let first = || initialize_step(1, "2025-11-25");
    for (proves, steps) in [
        (
            "[lifecycle-init-first], [lifecycle-init-params], [lifecycle-initialized-notification], [lifecycle-init-version-latest]",
            vec![
                first(),
                SendsNothing,
                result_step(1, initialize_result("2025-11-25")),
                initialized_step(),
                Ready(V2025_11_25),
            ],
        ),
        (
            "[lifecycle-init-accept-counteroffer]",
            vec![first(), result_step(1, initialize_result("2024-11-05")), initialized_step(), Ready(V2024_11_05)],
        ),
        (
            "[lifecycle-disconnect-unsupported]",
            vec![first(), result_step(1, initialize_result("1999-01-01")), SendsNothing, Fails("it speaks 1999-01-01")],
        ),
        (
            "[lifecycle-disconnect-unsupported]: the modern revision is not opened with initialize",
            vec![first(), result_step(1, initialize_result("2026-07-28")), SendsNothing, Fails("it speaks 2026-07-28")],
        ),
        (
            "[lifecycle-init-errors]: the server names versions and one of them is supported",
            vec![
                first(),
                error_step(1, -32602, "version", json!({ "supported": ["2024-11-05"] })),
                initialize_step(2, "2024-11-05"),
                error_step(2, -32602, "version", json!({ "supported": ["2025-03-26"] })),
                Fails("it speaks 2025-03-26"),
            ],
        ),
        (
            "[lifecycle-legacy-actionable-error]",
            vec![first(), error_step(1, -32000, "no licence", Value::Null), Fails("no licence")],
        ),
        (
            "[lifecycle-init-errors], [cancel-not-initialize]: no response within 30 s",
            vec![first(), Waits(29), Quiet, Waits(1), SendsNothing, Fails("no answer to `initialize` within 30s")],
        ),
        (
            "[lifecycle-init-errors]: an answer of the wrong shape names the field",
            vec![
                first(),
                result_step(1, json!({ "protocolVersion": 7, "capabilities": {} })),
                Fails("protocolVersion: invalid type"),
            ],
        ),
        ("[lifecycle-init-errors]: the process ends", vec![first(), Exits(false)]),
        (
            "X42: a banner before the answer must be tolerated",
            vec![
                first(),
                Line("Server listening on stdio"),
                Anomaly("not a message"),
                result_step(1, initialize_result("2025-06-18")),
                initialized_step(),
                Ready(V2025_06_18),
            ],
        ),
        (
            "X42: a web server must be recognized and quoted in the cause",
            vec![
                first(),
                Line("HTTP/1.1 400 Bad Request"),
                Anomaly("this seems to be a web server"),
                Waits(30),
                Fails("HTTP/1.1 400 Bad Request"),
            ],
        ),
        (
            "[lifecycle-init-no-batch]: a response in a batch must fail immediately",
            vec![
                first(),
                Line(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#),
                SendsNothing,
                Fails("the answer to `initialize`: the server's answer cannot be read: a batch"),
            ],
        ),
        (
            "[lifecycle-early-server-traffic]: pings must be answered",
            vec![
                first(),
                Says(json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" })),
                Sends(json!({ "jsonrpc": "2.0", "id": "p", "result": {} })),
                Quiet,
            ],
        ),
        (
            "[lifecycle-early-server-traffic]: other requests must receive an error",
            vec![
                first(),
                Says(json!({ "jsonrpc": "2.0", "id": 5, "method": "roots/list" })),
                Sends(json!({ "id": 5, "error": { "code": -32600 } })),
                Anomaly("before the session was initialized"),
            ],
        ),
    ] {
        run_scripted_handshake(proves, HandshakeMode::Initialize, steps);
    }
}

#[test]
fn pinned_revision_is_the_only_one_accepted() {
    for revision in Revision::ALL {
        let handshake = HandshakeMode::Pinned(revision);
        if revision.is_modern() {
            run_scripted_handshake(
                "pinned",
                handshake,
                vec![probe_step(), error_step(1, -32601, "no method", Value::Null), Fails("must support")],
            );
            run_scripted_handshake(
                "pinned",
                handshake,
                vec![probe_step(), Waits(10), SendsNothing, Fails("within 10s")],
            );
            run_scripted_handshake("pinned", handshake, vec![probe_step(), Exits(false)]);
        } else {
            let version = revision.as_str();
            let opens = |answer| Sends(json!({ "method": "initialize", "params": { "protocolVersion": answer } }));
            run_scripted_handshake(
                "[lifecycle-init-version-supported]",
                handshake,
                vec![opens(version), result_step(1, initialize_result(version)), initialized_step(), Ready(revision)],
            );
            let other = if revision == Revision::V2024_11_05 { "2025-03-26" } else { "2024-11-05" };
            run_scripted_handshake(
                "pinned: any other revision must be refused",
                handshake,
                vec![opens(version), result_step(1, initialize_result(other)), SendsNothing, Fails(other)],
            );
        }
    }
}

#[test]
fn declared_client_capabilities_match_the_revision() {
    for (revision, elicitation, context) in [
        (Revision::V2024_11_05, Value::Null, Value::Null),
        (Revision::V2025_03_26, Value::Null, Value::Null),
        (Revision::V2025_06_18, json!({}), Value::Null),
        (Revision::V2025_11_25, json!({ "form": {}, "url": {} }), json!({})),
    ] {
        let sent = TestSession::new(HandshakeMode::Pinned(revision)).take_sent_message();
        let offered = &sent["params"]["capabilities"];
        assert_eq!(offered["elicitation"], elicitation, "[elicit-declare-init]: elicitation in {revision}");
        assert_eq!(offered["sampling"]["context"], context, "[sampling-declare-init]: context in {revision}");
        assert_eq!(offered["roots"]["listChanged"], json!(true), "[roots-declare-init]: roots in {revision}");
        assert_eq!(
            offered["sampling"].get("tools"),
            None,
            "[sampling-tools-declare]: must not be offered unless configured"
        );
        assert_eq!(offered.get("tasks"), None, "tasks must not be offered");
    }
    let mut pages = client_config(HandshakeMode::Pinned(Revision::V2025_06_18));
    pages.capabilities.elicitation = Some(ElicitationCapability { form: None, url: Some(Map::new()) });
    let sent = TestSession::with_config(pages).take_sent_message();
    let offered = &sent["params"]["capabilities"];
    assert_eq!(
        offered.get("elicitation"),
        None,
        "[elicit-declare-init]: URL mode alone must not be declared in 2025-06-18"
    );
    let sent = TestSession::new(HandshakeMode::Probe).take_sent_message();
    let offered = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(offered["roots"], json!({}), "[roots-no-list-changed-modern]: no listChanged");
    assert_eq!(offered["elicitation"], json!({ "form": {}, "url": {} }), "[elicit-declare-per-request]");
    assert_eq!(offered["sampling"], json!({ "context": {} }), "[sampling-declare-per-request]");
}

#[test]
fn known_revision_of_a_local_server_is_tried_first() {
    let settings = SessionConfig { known: Some(Revision::V2025_06_18), ..client_config(HandshakeMode::Probe) };
    let mut peer = TestSession::with_config(settings.clone());
    let init = peer.take_sent_message();
    assert_eq!(init["method"], "initialize", "[lifecycle-era-cache]: a known legacy server must not be probed");
    peer.send_result(&init["id"], initialize_result("2025-06-18"));
    assert!(matches!(peer.take_event(), SessionEvent::Ready(_)), "the known revision must be used");

    let mut peer = TestSession::with_config(settings);
    let init = peer.take_sent_message();
    peer.send_error(&init["id"], -32601, "no such method");
    let probe = peer.take_sent_message();
    assert_eq!(probe["method"], "server/discover", "[lifecycle-era-cache]: the probe must follow a refused initialize");
    peer.send_result(&probe["id"], discover_result(&["2026-07-28"]));
    assert!(
        matches!(peer.take_event(), SessionEvent::Ready(facts) if facts.revision.is_modern()),
        "the modern revision must be detected"
    );
}
