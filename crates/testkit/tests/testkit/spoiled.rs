//! Tests of the scripted HTTP server and the faulty proxy.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::http::{HttpServer, ordinary};
use testkit::proxy::{FaultProxy, ProxyFault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn post_rpc_request(address: SocketAddr, method: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} }).to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: x\r\nX-Mark: here\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that the proxy closes may end with an error. The bytes received before are returned.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

async fn start_ordinary_server() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await }).await
}

#[tokio::test]
async fn ordinary_server_answers_and_records_requests() {
    let server = start_ordinary_server().await;
    let answer = post_rpc_request(server.address, "tools/list").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"echo\""), "the tools should be listed: {answer}");
    let unknown = post_rpc_request(server.address, "server/discover").await;
    assert!(unknown.starts_with("HTTP/1.1 400"), "a stateful server should not support discovery: {unknown}");
    assert_eq!(server.count("tools/list"), 1, "the request should be recorded");
    let first = &server.received_requests()[0];
    assert_eq!(
        (first.method.as_str(), first.path.as_str()),
        ("POST", "/mcp"),
        "the record should contain method and path"
    );
    assert_eq!(first.header("x-mark"), Some("here"), "header names should be case-insensitive");
}

#[tokio::test]
async fn fault_proxy_distorts_the_output_of_the_server() {
    let server = start_ordinary_server().await;
    let proxy = FaultProxy::in_front_of(server.address).await;
    let plain = post_rpc_request(proxy.address, "tools/list").await;
    assert_eq!(
        plain,
        post_rpc_request(server.address, "tools/list").await,
        "the proxy should change nothing by default"
    );
    proxy.set_fault(ProxyFault::Bytewise);
    assert_eq!(
        post_rpc_request(proxy.address, "tools/list").await,
        plain,
        "output passed on byte by byte should be the same"
    );
    proxy.set_fault(ProxyFault::Late(Duration::from_millis(200)));
    let began = Instant::now();
    assert_eq!(post_rpc_request(proxy.address, "tools/list").await, plain, "delayed output should be the same");
    assert!(began.elapsed() >= Duration::from_millis(200), "the output should be delayed: {:?}", began.elapsed());
    proxy.set_fault(ProxyFault::CutAfter(30));
    assert_eq!(
        post_rpc_request(proxy.address, "tools/list").await,
        plain[..30],
        "the output should be truncated after 30 bytes"
    );
    proxy.set_fault(ProxyFault::Refused);
    assert_eq!(post_rpc_request(proxy.address, "tools/list").await, "", "a refused connection should have no output");
    proxy.set_fault(ProxyFault::Swallowed);
    let silent = timeout(Duration::from_millis(300), post_rpc_request(proxy.address, "tools/list")).await;
    assert!(silent.is_err(), "the connection should stay open without output: {silent:?}");
    let waiting = tokio::spawn(post_rpc_request(proxy.address, "tools/list"));
    // sleep: no event reports that the proxy has accepted a connection.
    tokio::time::sleep(Duration::from_millis(100)).await;
    proxy.cut_connections();
    let cut = timeout(Duration::from_secs(2), waiting).await.expect("the connection ends when it is cut").unwrap();
    assert_eq!(cut, "", "a closed connection should have no output");
}
