//! Tests of connections that are reused, and of connections that break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::http::ordinary;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::*;

/// Starts a server that keeps its connections open. Returns its URL and a counter of its connections.
async fn start_keep_alive_server(as_stream: bool) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut read = Vec::new();
                loop {
                    let end = read.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
                    let head = end.map(|end| String::from_utf8_lossy(&read[..end]).to_lowercase());
                    let length = head.as_deref().and_then(|head| head.split("content-length: ").nth(1));
                    let length: usize = length.and_then(|rest| rest.split('\r').next()?.parse().ok()).unwrap_or(0);
                    let Some(end) = end.filter(|end| read.len() >= end + length) else {
                        match socket.read_buf(&mut read).await {
                            Ok(1..) => continue,
                            _ => return,
                        }
                    };
                    let body: serde_json::Value = serde_json::from_slice(&read[end..end + length]).unwrap_or_default();
                    read.drain(..end + length);
                    let message = ordinary::response_message(MODERN_REVISION, &body).to_string();
                    let answer = if as_stream {
                        let event = format!("data: {message}\n\n");
                        format!(
                            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
                             {:x}\r\n{event}\r\n0\r\n\r\n",
                            event.len()
                        )
                    } else {
                        let length = message.len();
                        format!(
                            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{message}"
                        )
                    };
                    if socket.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, connections)
}

#[tokio::test]
async fn one_connection_is_reused_for_consecutive_calls() {
    for as_stream in [false, true] {
        let (url, connections) = start_keep_alive_server(as_stream).await;
        let mut client = start_ready_client(&url).await;
        for number in 0..50 {
            assert_eq!(client.echo(&number.to_string()).await, number.to_string(), "the call must be answered");
        }
        client.stop().await;
        let used = connections.load(Ordering::SeqCst);
        assert!(used <= 2, "51 requests in a row (streams: {as_stream}) took {used} connections");
    }
}

#[tokio::test]
async fn broken_connection_fails_the_call() {
    let server = HttpServer::start(move |request, mut answer| async move {
        match request.rpc_method().as_str() {
            "tools/call" if request.json()["params"]["arguments"]["text"] == "cut" => {
                answer
                    .write_raw(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
                    .await
            }
            _ => ordinary::respond(MODERN_REVISION, &request, answer).await,
        }
    })
    .await;
    let mut client = start_ready_client(&server.url("/mcp")).await;
    let result = client.call(echo_call("cut")).await;
    assert!(undelivered_cause(&result).contains("broke off"), "the cause must be reported: {result:?}");
    assert_eq!(server.count("tools/call"), 1, "a call that may have been executed must not be repeated");
    assert_eq!(client.echo("next").await, "next", "the next call must succeed");
    client.stop().await;
}
