//! Tests of HTTP/2: it is used if the server offers it, and errors in a stream affect only their call (X37, X40).

use testkit::http::{HttpRequest, ordinary};
use testkit::http2::{Http2Reply, Http2Server};
use testkit::tls::CertificateAuthority;

use super::secure::write_trust_file;
use super::{MODERN_REVISION, remote_server};
use crate::own_process;
use crate::pair::GoodAndBadServers;
use crate::report::AttackResultRows;

fn valid_reply(request: &HttpRequest) -> Http2Reply {
    let body = request.json();
    match request.method.as_str() {
        "POST" if body.get("id").is_some() => Http2Reply::Json(ordinary::response_message(MODERN_REVISION, &body)),
        "POST" => Http2Reply::Status(202),
        _ => Http2Reply::Status(405),
    }
}

/// Runs a test again in a separate process, with an HTTP/2 server that responds to tool calls with `at_calls`. Returns
/// the server, and the result rows of that process, which are written when they are dropped.
async fn run_test_with_http2_server(test: &str, at_calls: Option<Http2Reply>) -> (Http2Server, AttackResultRows) {
    let authority = CertificateAuthority::new();
    let (_folder, trusted) = write_trust_file(&authority);
    let server = Http2Server::start(&authority.identity("127.0.0.1"), move |request| match &at_calls {
        Some(reply) if request.rpc_method() == "tools/call" => reply.clone(),
        _ => valid_reply(request),
    })
    .await;
    let rows =
        own_process::run_test_in_process(module_path!(), test, &server.url("/mcp"), &[("SSL_CERT_FILE", &trusted)])
            .await;
    assert!(server.connections() >= 1, "{test}: HTTP/2 is used");
    (server, rows)
}

/// In the separate process: makes one call, and asserts that it fails with one of these words, or succeeds if there are
/// none.
async fn assert_call_ends(url: String, what: &str, words: &[&str]) {
    let pair = GoodAndBadServers::ready(remote_server(url)).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, words);
    pair.close(what).await;
}

#[tokio::test]
async fn http2_is_used_if_the_server_offers_it() {
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_ends(url, "HTTP/2", &[]).await;
    }
    let (server, _rows) = run_test_with_http2_server("http2_is_used_if_the_server_offers_it", None).await;
    assert_eq!(server.count("tools/call"), 1, "the call is sent over HTTP/2");
    assert_eq!(server.connections(), 1, "all requests use one connection");
}

#[tokio::test]
async fn x40_reset_stream_ends_its_call() {
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_ends(url, "X40 over HTTP/2, a reset", &["broke", "reset", "lost"]).await;
    }
    let (server, _rows) = run_test_with_http2_server("x40_reset_stream_ends_its_call", Some(Http2Reply::Reset)).await;
    assert_eq!(server.count("tools/call"), 1, "X40: a call that may have been executed is not sent again");
}

#[tokio::test]
async fn x40_closed_connection_ends_its_calls() {
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_ends(url, "X40 over HTTP/2, a cut", &["broke", "closed", "lost"]).await;
    }
    let (server, _rows) =
        run_test_with_http2_server("x40_closed_connection_ends_its_calls", Some(Http2Reply::Cut)).await;
    assert_eq!(server.count("tools/call"), 1, "X40: a call that may have been executed is not sent again");
}

#[tokio::test]
async fn x37_endless_body_is_truncated() {
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_ends(url, "X37 over HTTP/2, a body without end", &["16", "large"]).await;
    }
    run_test_with_http2_server("x37_endless_body_is_truncated", Some(Http2Reply::Endless)).await;
}

#[tokio::test]
async fn x37_oversized_headers_are_rejected() {
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_ends(url, "X37 over HTTP/2, 8 MiB of headers", &["broke", "header", "lost"]).await;
    }
    run_test_with_http2_server("x37_oversized_headers_are_rejected", Some(Http2Reply::Headers(1024))).await;
}
