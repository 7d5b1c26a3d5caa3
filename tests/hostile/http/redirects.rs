//! Tests of redirects: no user data is sent to another origin, and the number of redirects is bounded (X49).

use std::collections::BTreeMap;
use std::sync::Arc;

use host::view::ServerState;
use ports::server_config::HttpConfig;
use testkit::http::{HttpRequest, HttpServer, ordinary};
use testkit::tls::{CertificateAuthority, TlsTerminator};

use super::LEGACY_REVISION;
use super::secure::write_trust_file;
use crate::own_process;
use crate::pair::GoodAndBadServers;

const AUTHORIZATION_HEADER: &str = "Bearer of-the-user";

/// Adds and starts a server with a secret header, while the well-behaved server has to respond. Returns the servers,
/// and the result of the start.
async fn start_server_with_secret_header(what: &str, url: String) -> (GoodAndBadServers, Result<(), String>) {
    let headers = BTreeMap::from([("Authorization".to_owned(), AUTHORIZATION_HEADER.to_owned())]);
    let pair = GoodAndBadServers::start(HttpConfig { url, headers, ..HttpConfig::default() }.into()).await;
    let over = |s: &ServerState| matches!(s, ServerState::Ready | ServerState::Failed(_));
    let view =
        pair.while_good_server_responds(what, pair.app.until("bad", "ready or failed", |s| over(&s.state))).await;
    pair.assert_memory_bounded(what);
    let ended = match view.state {
        ServerState::Failed(failure) => Err(failure.message),
        _ => Ok(()),
    };
    (pair, ended)
}

fn assert_received_nothing(what: &str, other: &HttpServer) {
    for request in other.received_requests() {
        assert!(request.body.is_empty(), "{what}: no body is sent to another origin: {request:?}");
        assert!(
            request.header("authorization").is_none(),
            "{what}: no token is sent to another origin: {}",
            request.head
        );
        assert!(
            !request.head.contains(AUTHORIZATION_HEADER),
            "{what}: no secret is in another header: {}",
            request.head
        );
    }
}

/// Starts a server that redirects every request to `target`.
async fn start_redirecting_server(status: u16, target: String) -> HttpServer {
    let target = Arc::new(target);
    HttpServer::start(move |_, mut answer| {
        let target = Arc::clone(&target);
        async move { answer.respond(status, &format!("location: {target}\r\n"), b"").await }
    })
    .await
}

async fn start_ordinary_server() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond(LEGACY_REVISION, &request, answer).await }).await
}

#[tokio::test]
async fn x49_redirect_to_another_origin_receives_nothing() {
    for status in [301, 302, 303, 307, 308] {
        let what = format!("X49, {status} to another origin");
        let other = start_ordinary_server().await;
        let server = start_redirecting_server(status, other.url("/mcp")).await;
        let (pair, ended) = start_server_with_secret_header(&what, server.url("/mcp")).await;
        let message = ended.expect_err("X49: a redirect to another origin is not followed");
        assert!(message.contains("redirect"), "{what}: the error message contains the cause: {message}");
        assert_received_nothing(&what, &other);
        pair.close(&what).await;
    }
}

/// The server responds to the handshake as usual, but redirects every tool call to another origin.
#[tokio::test]
async fn x49_call_does_not_follow_a_redirect_to_another_origin() {
    for status in [301, 302, 303, 307, 308] {
        let what = format!("X49, {status} at a call");
        let other = start_ordinary_server().await;
        let target = Arc::new(other.url("/mcp"));
        let server = HttpServer::start(move |request: HttpRequest, mut answer| {
            let target = Arc::clone(&target);
            async move {
                if request.rpc_method() != "tools/call" {
                    return ordinary::respond(LEGACY_REVISION, &request, answer).await;
                }
                answer.respond(status, &format!("location: {target}\r\n"), b"").await
            }
        })
        .await;
        let (pair, ended) = start_server_with_secret_header(&what, server.url("/mcp")).await;
        assert_eq!(ended, Ok(()), "{what}: the server is ready");
        pair.app.until("bad", "known", |s| s.counts[0] > 0).await;
        let call = pair.call_bad_server(&what).await;
        pair.assert_call_ended(&what, &call, &["redirect"]);
        assert_received_nothing(&what, &other);
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn x49_https_does_not_redirect_to_http() {
    let what = "X49, https to http";
    if let Some(url) = own_process::inherited_server_url() {
        let (pair, ended) = start_server_with_secret_header(what, url).await;
        let message = ended.expect_err("X49: a redirect to http is not followed");
        assert!(message.contains("redirect"), "{what}: the error message contains the cause: {message}");
        pair.close(what).await;
        return;
    }
    let (authority, other) = (CertificateAuthority::new(), start_ordinary_server().await);
    let (_folder, trusted) = write_trust_file(&authority);
    let server = start_redirecting_server(307, other.url("/mcp")).await;
    let front = TlsTerminator::in_front_of(server.address, &authority.identity("127.0.0.1")).await;
    let test = "x49_https_does_not_redirect_to_http";
    let environment = [("SSL_CERT_FILE", &*trusted)];
    let _rows = own_process::run_test_in_process(module_path!(), test, &front.url("/mcp"), &environment).await;
    assert!(!server.received_requests().is_empty(), "{what}: the server received a request");
    assert!(
        other.received_requests().is_empty(),
        "{what}: the unencrypted server received nothing: {:?}",
        other.received_requests()
    );
}

#[tokio::test]
async fn x49_same_origin_redirect_is_followed_with_body_and_headers() {
    let server = HttpServer::start(|request: HttpRequest, mut answer| async move {
        if request.path == "/mcp" {
            return answer.respond(307, "location: /moved/mcp\r\n", b"").await;
        }
        ordinary::respond(LEGACY_REVISION, &request, answer).await
    })
    .await;
    let what = "X49, a redirect within the origin";
    let (pair, ended) = start_server_with_secret_header(what, server.url("/mcp")).await;
    assert_eq!(ended, Ok(()), "X49: a redirect within the origin is followed");
    let moved = server.received_requests().into_iter().find(|r| r.path == "/moved/mcp").expect("it was followed");
    assert_eq!(
        moved.header("authorization"),
        Some(AUTHORIZATION_HEADER),
        "X49: the redirected request has the user's header"
    );
    pair.close(what).await;
}

#[tokio::test]
async fn x49_chain_of_30_redirects_is_not_followed_to_its_end() {
    let server = HttpServer::start(|request: HttpRequest, mut answer| async move {
        let hop: u32 = request.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        if hop == 30 {
            return ordinary::respond(LEGACY_REVISION, &request, answer).await;
        }
        answer.respond(307, &format!("location: /hop/{}\r\n", hop + 1), b"").await
    })
    .await;
    let what = "X49, 30 hops";
    let (pair, ended) = start_server_with_secret_header(what, server.url("/hop/0")).await;
    let message = ended.expect_err("X49: an endless chain of redirects fails");
    assert!(message.contains("redirect"), "X49: the error message contains the cause: {message}");
    let longest =
        server.received_requests().iter().filter_map(|r| r.path.rsplit('/').next()?.parse::<u32>().ok()).max();
    assert!(longest.is_some_and(|longest| longest <= 10), "X49: at most 10 redirects are followed: {longest:?}");
    pair.close(what).await;
}
