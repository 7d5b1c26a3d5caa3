//! Tests of the detection of a server's revision and transport.

use std::time::Duration;

use mcp_proto::{HandshakeFault, HandshakeMode, Revision, SessionConfig};
use mcp_transport::driver::DetectedTransport;
use mcp_transport::http::{HttpLimits, HttpTarget, KnownServerConnection, TransportChoice};
use serde_json::json;
use testkit::http::ordinary;

use crate::support::*;

/// Returns the JSON-RPC methods that the server received before the first notification, and `GET` for GET requests.
fn received_methods_of_detection(server: &HttpServer) -> Vec<String> {
    let step = |request: &HttpRequest| match request.method.as_str() {
        "POST" => request.rpc_method(),
        other => other.to_owned(),
    };
    server.received_requests().iter().map(step).take_while(|step| !step.starts_with("notifications/")).collect()
}

/// Starts an HTTP+SSE server at a single URL: GET opens the stream, and POST to the same URL fails with `status`.
async fn start_http_sse_server(status: u16) -> HttpServer {
    HttpServer::start(crate::legacy::http_sse_script(
        move |_request, mut answer| async move { answer.status(status).await },
    ))
    .await
}

#[tokio::test]
async fn modern_server_is_detected_by_the_first_request() {
    let server =
        HttpServer::start(|request, answer| async move { ordinary::respond(MODERN_REVISION, &request, answer).await })
            .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    assert_eq!(client.detected_transport(), (DetectedTransport::StreamableHttp, "server/discover answered".to_owned()));
    assert_eq!(
        received_methods_of_detection(&server)[0],
        "server/discover",
        "[http-modern-first] a modern request must be sent first"
    );
    assert_eq!(server.count("initialize"), 0, "[http-modern-first] no other request must follow");
    client.stop().await;
}

#[tokio::test]
async fn unrecognized_refusal_falls_back_to_initialize() {
    let refusals: [(u16, &str, &str); 6] = [
        (400, "", ""),
        (404, "text/plain", "not found"),
        (400, "application/json", r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#),
        (400, "application/json", r#"{"detail":"missing header"}"#),
        (200, "application/json", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no method"}}"#),
        (422, "text/html", "<p>no"),
    ];
    for (status, kind, body) in refusals {
        let server = HttpServer::start(move |request, mut answer| async move {
            if request.rpc_method() != "server/discover" {
                return ordinary::respond("2025-06-18", &request, answer).await;
            }
            let body = body.replace("\"id\":1", &format!("\"id\":{}", request.json()["id"]));
            answer.respond(status, &format!("content-type: {kind}\r\n"), body.as_bytes()).await
        })
        .await;
        let mut client = start_ready_client(&server.url("/mcp")).await;
        assert_eq!(
            received_methods_of_detection(&server),
            ["server/discover", "initialize"],
            "[http-400-other-fallback] [http-400-inspect-body] {status} {body}"
        );
        let (transport, how) = client.detected_transport();
        assert_eq!(transport, DetectedTransport::StreamableHttp, "{status}: Streamable HTTP must be detected");
        assert!(how.ends_with("initialize answered"), "the steps of the detection must be reported: {how}");
        assert_eq!(client.echo("x").await, "x", "{status}: the session must work");
        let modern = server.received_requests().iter().filter(|request| request.header("mcp-method").is_some()).count();
        assert_eq!(modern, 1, "[http-400-other-fallback] later requests must be legacy");
        client.stop().await;
    }
}

#[tokio::test]
async fn recognized_modern_error_does_not_fall_back_to_initialize() {
    let server = HttpServer::start(move |request, mut answer| async move {
        if request.method == "GET" {
            return answer.status(405).await;
        }
        let error = json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": {
            "code": -32022, "message": "another version", "data": { "supported": ["2031-01-01"], "requested": MODERN_REVISION } } });
        answer.respond(400, "content-type: application/json\r\n", error.to_string().as_bytes()).await
    })
    .await;
    let mut client = start_client(&server.url("/mcp"));
    let (cause, fault) = client.wait_for_handshake_failure().await;
    assert!(cause.contains("2031-01-01"), "the server's versions must be reported: {cause}");
    assert_eq!(fault, HandshakeFault::Refused, "the failure must not be attributed to the transport");
    client.wait_until_driver_ends().await;
    assert_eq!(
        server.count("initialize"),
        0,
        "[http-400-modern-error-retry] [http-400-inspect-body] no initialize must be sent"
    );
    assert!(
        requests_with_method(&server, "GET").is_empty(),
        "[sse-fallback-check-modern-error] HTTP+SSE must not be tried"
    );
}

#[tokio::test]
async fn common_version_is_taken_from_a_modern_error() {
    let server = HttpServer::start(move |request, mut answer| async move {
        if request.rpc_method() != "server/discover" {
            return ordinary::respond("2025-06-18", &request, answer).await;
        }
        let error = json!({ "jsonrpc": "2.0", "id": request.json()["id"], "error": {
            "code": -32022, "message": "another version", "data": { "supported": ["2025-06-18"] } } });
        answer.respond(400, "content-type: application/json\r\n", error.to_string().as_bytes()).await
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let offered = server.received_requests().into_iter().find(|request| request.rpc_method() == "initialize").unwrap();
    assert_eq!(
        offered.json()["params"]["protocolVersion"],
        "2025-06-18",
        "[http-400-modern-error-retry] the advertised version must be used"
    );
    client.stop().await;
}

#[tokio::test]
async fn http_sse_server_is_detected_after_a_refused_post() {
    for status in [400, 404, 405] {
        let server = start_http_sse_server(status).await;
        let mut client = start_ready_client(&server.url("/sse")).await;
        assert_eq!(
            received_methods_of_detection(&server)[..3],
            ["server/discover", "initialize", "GET"],
            "{status}: [sse-fallback-post-first] [sse-fallback-400-404-405] [sse-fallback-any-4xx] POST, then GET"
        );
        for request in &server.received_requests()[..2] {
            assert_eq!(
                request.header("accept"),
                Some("application/json, text/event-stream"),
                "[sse-fallback-post-first] the POST must have the full Accept header"
            );
        }
        let (transport, how) = client.detected_transport();
        assert_eq!(
            transport,
            DetectedTransport::HttpSse,
            "{status}: [sse-accept-either-url] [sse-fallback-endpoint-first] the endpoint event decides"
        );
        assert!(
            how.contains("GET answered with an endpoint event"),
            "the steps of the detection must be reported: {how}"
        );
        assert_eq!(client.echo("old").await, "old", "{status}: [sse-fallback-endpoint-first] the session must work");
        client.stop().await;
    }
}

#[tokio::test]
async fn unsupported_server_is_reported_with_its_first_failure() {
    let server = HttpServer::start(|request, mut answer| async move {
        match request.method.as_str() {
            "GET" => answer.respond(200, "content-type: text/html\r\n", b"<html>hello").await,
            _ => answer.respond(405, "content-type: text/plain\r\n", b"no posting here").await,
        }
    })
    .await;
    let mut client = start_client(&server.url("/"));
    let (cause, fault) = client.wait_for_handshake_failure().await;
    assert!(cause.contains("405") && cause.contains("no posting here"), "the first failure must be reported: {cause}");
    assert_eq!(fault, HandshakeFault::NotStreamable, "the failure must be classified");
    client.wait_until_driver_ends().await;
    let note = client
        .connection_notes()
        .into_iter()
        .find(|line| line.contains("nor does it speak HTTP+SSE"))
        .unwrap_or_default();
    assert!(note.contains("text/html"), "the actual media type must be reported: {:?}", client.connection_notes());
}

#[tokio::test]
async fn failing_server_does_not_fall_back_to_http_sse() {
    for (status, expected) in
        [(500, HandshakeFault::ServerError), (503, HandshakeFault::ServerError), (401, HandshakeFault::Unauthorized)]
    {
        let server = HttpServer::start(move |_request, mut answer| async move { answer.status(status).await }).await;
        let mut client = start_client(&server.url("/mcp"));
        let (_, fault) = client.wait_for_handshake_failure().await;
        assert_eq!(fault, expected, "{status}");
        client.wait_until_driver_ends().await;
        assert!(
            requests_with_method(&server, "GET").is_empty(),
            "[sse-fallback-400-404-405] {status} must not indicate HTTP+SSE"
        );
    }
}

#[tokio::test]
async fn unreachable_server_is_reported() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?token=secret", listener.local_addr().unwrap());
    drop(listener);
    let mut client = start_client(&url);
    let (cause, fault) = client.wait_for_handshake_failure().await;
    assert_eq!(fault, HandshakeFault::Unreachable, "{cause}");
    assert!(cause.contains("refused"), "the system's error must be reported: {cause}");
    client.wait_until_driver_ends().await;
    assert!(!format!("{:?}", client.received).contains("secret"), "the URL with its secrets must not be reported");
}

#[tokio::test]
async fn known_transport_is_tried_first_and_detected_again_if_wrong() {
    let known = |transport, revision| HttpTarget {
        known: Some(KnownServerConnection { transport, revision }),
        ..http_target("http://x/")
    };
    let modern = |request: HttpRequest, answer: HttpResponder| async move {
        ordinary::respond(MODERN_REVISION, &request, answer).await
    };
    let begin = |server: &HttpServer, path: &str, target: HttpTarget| {
        let target = HttpTarget { url: server.url(path).parse().unwrap(), ..target };
        start_client_with(SessionConfig::default(), target, test_limits())
    };

    let legacy = HttpServer::start(|request, answer| async move {
        respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
    })
    .await;
    let mut client = begin(&legacy, "/mcp", known(DetectedTransport::StreamableHttp, Revision::V2025_11_25));
    client.wait_until_ready().await;
    assert_eq!(received_methods_of_detection(&legacy), ["initialize"], "a known legacy server must not be probed");
    client.stop().await;

    let server = HttpServer::start(modern).await;
    let mut client = begin(&server, "/mcp", known(DetectedTransport::StreamableHttp, Revision::V2025_11_25));
    client.wait_until_ready().await;
    assert_eq!(
        received_methods_of_detection(&server)[..2],
        ["initialize", "server/discover"],
        "a server that became modern must be probed again"
    );
    client.stop().await;

    let old = start_http_sse_server(405).await;
    let mut client = begin(&old, "/sse", known(DetectedTransport::HttpSse, Revision::V2024_11_05));
    client.wait_until_ready().await;
    assert_eq!(
        received_methods_of_detection(&old)[..2],
        ["GET", "initialize"],
        "a known HTTP+SSE server must not be posted to first"
    );
    client.stop().await;

    let server = HttpServer::start(modern).await;
    let mut client = begin(&server, "/mcp", known(DetectedTransport::HttpSse, Revision::V2024_11_05));
    client.wait_until_ready().await;
    assert_eq!(
        received_methods_of_detection(&server)[..2],
        ["GET", "server/discover"],
        "a server that no longer supports HTTP+SSE must be detected again"
    );
    assert_eq!(client.detected_transport().0, DetectedTransport::StreamableHttp, "the new transport must be reported");
    client.stop().await;
}

#[tokio::test]
async fn temporarily_unavailable_http_sse_server_has_a_retryable_fault() {
    let known = KnownServerConnection { transport: DetectedTransport::HttpSse, revision: Revision::V2024_11_05 };
    // Status 0: the server does not respond.
    let cases = [
        (429, HandshakeFault::ServerError, "429"),
        (503, HandshakeFault::ServerError, "503"),
        (0, HandshakeFault::ServerError, "did not answer within"),
        (404, HandshakeFault::NotStreamable, "405"),
    ];
    for (status, expected, words) in cases {
        let server = HttpServer::start(move |request, mut answer| async move {
            match (request.method.as_str(), status) {
                ("GET", 0) => answer.hang_until_closed().await,
                ("GET", _) => answer.status(status).await,
                _ => answer.status(405).await,
            }
        })
        .await;
        let target = HttpTarget { known: Some(known), ..http_target(&server.url("/sse")) };
        let limits = HttpLimits { endpoint: Duration::from_millis(300), ..test_limits() };
        let mut client = start_client_with(SessionConfig::default(), target, limits);
        let (cause, fault) = client.wait_for_handshake_failure().await;
        assert_eq!(fault, expected, "the fault of a GET with status {status}: {cause}");
        assert!(cause.contains(words), "the cause must be reported: {cause}");
        client.wait_until_driver_ends().await;
    }
}

#[tokio::test]
async fn pinned_transport_or_revision_is_used_exclusively() {
    let old = start_http_sse_server(405).await;
    let pinned = HttpTarget { transport: TransportChoice::Streamable, ..http_target(&old.url("/sse")) };
    let mut client = start_client_with(SessionConfig::default(), pinned, test_limits());
    let (_, fault) = client.wait_for_handshake_failure().await;
    assert_eq!(fault, HandshakeFault::NotStreamable, "the pinned transport must be reported as unsupported");
    client.wait_until_driver_ends().await;
    assert!(requests_with_method(&old, "GET").is_empty(), "[sse-only-for-compat] HTTP+SSE must not be tried");

    let pinned = HttpTarget { transport: TransportChoice::Sse, ..http_target(&old.url("/sse")) };
    let mut client = start_client_with(SessionConfig::default(), pinned, test_limits());
    client.wait_until_ready().await;
    assert_eq!(client.detected_transport().0, DetectedTransport::HttpSse, "HTTP+SSE must be used without a probe");
    client.stop().await;

    let server =
        HttpServer::start(|request, answer| async move { respond_in_session("2025-06-18", &request, answer).await })
            .await;
    let config = SessionConfig { handshake: HandshakeMode::Pinned(Revision::V2025_06_18), ..SessionConfig::default() };
    let mut client = start_client_with(config, http_target(&server.url("/mcp")), test_limits());
    client.wait_until_ready().await;
    assert_eq!(
        received_methods_of_detection(&server),
        ["initialize"],
        "a pinned legacy revision must not need a probe"
    );
    client.stop().await;
}

#[tokio::test]
async fn stream_without_an_endpoint_event_times_out() {
    // A Streamable HTTP server may open a stream on GET without sending events.
    let server = HttpServer::start(|request, mut answer| async move {
        if request.method == "GET" {
            answer.event_stream().await?;
            return answer.hang_until_closed().await;
        }
        ordinary::respond(MODERN_REVISION, &request, answer).await
    })
    .await;
    let known = KnownServerConnection { transport: DetectedTransport::HttpSse, revision: Revision::V2024_11_05 };
    let target = HttpTarget { known: Some(known), ..http_target(&server.url("/mcp")) };
    let limits = HttpLimits { endpoint: Duration::from_millis(300), ..test_limits() };
    let mut client = start_client_with(SessionConfig::default(), target, limits);
    client.wait_until_ready().await;
    assert_eq!(
        client.detected_transport().0,
        DetectedTransport::StreamableHttp,
        "the transport must be detected again"
    );
    client.wait_for_note("named no endpoint within").await;
    client.stop().await;
}
