//! Tests of the proxy in the environment: it is used, it receives only the destination of a TLS connection, and its
//! errors are distinguished from those of the server. Local addresses are connected to without it.

use std::net::SocketAddr;

use testkit::http::{HttpRequest, HttpServer, ordinary};
use testkit::tls::{CertificateAuthority, TlsTerminator};

use super::opening::assert_start_fails;
use super::secure::write_trust_file;
use super::{LEGACY_REVISION, remote_server};
use crate::own_process;
use crate::pair::GoodAndBadServers;

async fn start_ordinary_server() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond(LEGACY_REVISION, &request, answer).await }).await
}

/// Starts an HTTP proxy that connects to this address for every CONNECT request.
async fn start_tunnel_proxy(address: SocketAddr) -> HttpServer {
    HttpServer::start(move |request: HttpRequest, mut answer| async move {
        if request.method == "CONNECT" { answer.tunnel(address).await } else { answer.status(403).await }
    })
    .await
}

async fn assert_call_succeeds(url: String, what: &str) {
    let pair = GoodAndBadServers::ready(remote_server(url)).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    pair.close(what).await;
}

#[tokio::test]
async fn server_is_reached_through_the_proxy() {
    let what = "a proxy, without TLS";
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_succeeds(url, what).await;
    }
    // The proxy responds itself instead of forwarding.
    let proxy = start_ordinary_server().await;
    let test = "server_is_reached_through_the_proxy";
    own_process::run_test_in_process(
        module_path!(),
        test,
        "http://harbour.test/mcp",
        &[("HTTP_PROXY", &proxy.url(""))],
    )
    .await;
    let call = proxy
        .received_requests()
        .into_iter()
        .find(|r| r.rpc_method() == "tools/call")
        .expect("the call comes to the proxy");
    assert_eq!(call.path, "http://harbour.test/mcp", "{what}: the request has the complete URL: {}", call.head);
    assert_eq!(call.header("host"), Some("harbour.test"), "{what}: the host header names the server: {}", call.head);
}

#[tokio::test]
async fn https_server_is_reached_through_the_proxy_and_hidden_from_it() {
    let what = "a proxy, with TLS";
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_succeeds(url, what).await;
    }
    let (authority, server) = (CertificateAuthority::new(), start_ordinary_server().await);
    let (_folder, trusted) = write_trust_file(&authority);
    let front = TlsTerminator::in_front_of(server.address, &authority.identity("harbour.test")).await;
    let proxy = start_tunnel_proxy(front.address).await;
    let test = "https_server_is_reached_through_the_proxy_and_hidden_from_it";
    let variables = [("HTTPS_PROXY", &*proxy.url("")), ("SSL_CERT_FILE", &trusted)];
    own_process::run_test_in_process(module_path!(), test, "https://harbour.test/mcp", &variables).await;
    assert_eq!(server.count("tools/call"), 1, "{what}: the call reaches the server");
    for request in proxy.received_requests() {
        assert_eq!(request.method, "CONNECT", "{what}: the proxy receives only CONNECT requests: {}", request.head);
        assert_eq!(request.path, "harbour.test:443", "{what}: the CONNECT request names the server: {}", request.head);
        assert!(
            !request.head.to_lowercase().contains("mcp-"),
            "{what}: the proxy receives no header of the message: {}",
            request.head
        );
        assert!(request.body.is_empty(), "{what}: the proxy does not receive the message: {request:?}");
    }
}

#[tokio::test]
async fn proxy_with_its_own_certificate_is_rejected() {
    let what = "a proxy that listens in";
    if let Some(url) = own_process::inherited_server_url() {
        assert_start_fails(url, what, &["certificate"]).await;
        return;
    }
    let (authority, other) = (CertificateAuthority::new(), CertificateAuthority::new());
    let (_folder, trusted) = write_trust_file(&authority);
    let server = start_ordinary_server().await;
    let front = TlsTerminator::in_front_of(server.address, &other.identity("harbour.test")).await;
    let proxy = start_tunnel_proxy(front.address).await;
    let test = "proxy_with_its_own_certificate_is_rejected";
    let variables = [("HTTPS_PROXY", &*proxy.url("")), ("SSL_CERT_FILE", &trusted)];
    own_process::run_test_in_process(module_path!(), test, "https://harbour.test/mcp", &variables).await;
    assert!(proxy.received_requests().iter().any(|request| request.method == "CONNECT"), "{what}: the proxy was used");
    assert!(
        server.received_requests().is_empty(),
        "{what}: the proxy received no message: {:?}",
        server.received_requests()
    );
}

#[tokio::test]
async fn refusal_of_the_proxy_is_reported() {
    let what = "a proxy that wants a password";
    if let Some(url) = own_process::inherited_server_url() {
        assert_start_fails(url, what, &["proxy"]).await;
        return;
    }
    let proxy = HttpServer::start(|_, mut answer| async move { answer.status(407).await }).await;
    let test = "refusal_of_the_proxy_is_reported";
    own_process::run_test_in_process(
        module_path!(),
        test,
        "https://harbour.test/mcp",
        &[("HTTPS_PROXY", &proxy.url(""))],
    )
    .await;
    assert!(!proxy.received_requests().is_empty(), "{what}: the proxy received a request");
}

#[tokio::test]
async fn silent_proxy_times_out() {
    let what = "a proxy that says nothing";
    if let Some(url) = own_process::inherited_server_url() {
        assert_start_fails(url, what, &["no answer", "in time"]).await;
        return;
    }
    let proxy = HttpServer::start(|_, mut answer| async move { answer.hang_until_closed().await }).await;
    let test = "silent_proxy_times_out";
    own_process::run_test_in_process(
        module_path!(),
        test,
        "https://harbour.test/mcp",
        &[("HTTPS_PROXY", &proxy.url(""))],
    )
    .await;
    assert!(!proxy.received_requests().is_empty(), "{what}: the proxy received a request");
}

#[tokio::test]
async fn loopback_server_is_reached_without_the_proxy() {
    let what = "a proxy, and a server on this computer";
    if let Some(url) = own_process::inherited_server_url() {
        return assert_call_succeeds(url, what).await;
    }
    let (proxy, server) = (start_ordinary_server().await, start_ordinary_server().await);
    let test = "loopback_server_is_reached_without_the_proxy";
    own_process::run_test_in_process(module_path!(), test, &server.url("/mcp"), &[("HTTP_PROXY", &proxy.url(""))])
        .await;
    assert!(
        proxy.received_requests().is_empty(),
        "{what}: the proxy receives nothing: {:?}",
        proxy.received_requests()
    );
    assert_eq!(server.count("tools/call"), 1, "{what}: the server receives the request");
}
