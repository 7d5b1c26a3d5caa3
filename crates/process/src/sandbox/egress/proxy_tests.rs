//! Tests of the proxy over real connections on the loopback interface.
#![allow(clippy::unwrap_used)]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::deadline::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Time limit of each wait in the tests.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts a proxy for these hosts and returns its address.
async fn start_proxy(hosts: &[&str], lookup: LookupFunction, times: ProxyTimeouts) -> (EgressProxy, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
    (EgressProxy::start_with(listener, hosts, lookup, times), address)
}

async fn start_default_proxy(hosts: &[&str]) -> (EgressProxy, SocketAddr) {
    start_proxy(hosts, resolve::resolve_with_system, ProxyTimeouts::DEFAULT).await
}

/// Starts an echo server. Returns its port, and a counter of the connections to it.
async fn start_echo_server() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    (port, connections)
}

/// Requests a CONNECT tunnel to `to` and reads the head of the response.
async fn request_tunnel(proxy: SocketAddr, to: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    stream.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    (stream, head)
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    within(WAIT_TIMEOUT, "the proxy answers", async {
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
    })
    .await;
    String::from_utf8(head).unwrap()
}

/// Reads all bytes until the connection is closed.
async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset connection counts as closed, too.
    let _ = within(WAIT_TIMEOUT, "the proxy closes the connection", stream.read_to_end(&mut text)).await;
    String::from_utf8(text).unwrap()
}

/// Sends a request, and returns all that the proxy sends until it closes the connection.
async fn send_and_read_all(proxy: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(proxy).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    read_to_end(&mut stream).await
}

#[tokio::test]
async fn s24_proxy_tunnel_reaches_permitted_hosts_only() {
    let ((named, at_named), (other, at_other)) = (start_echo_server().await, start_echo_server().await);
    let (egress, address) = start_default_proxy(&[&format!("localhost:{named}")]).await;
    let (mut stream, head) = request_tunnel(address, &format!("localhost:{named}")).await;
    assert!(head.starts_with("HTTP/1.1 200"), "S24: a named host must be reachable: {head}");
    stream.write_all(b"hello").await.unwrap();
    let mut back = [0; 5];
    within(WAIT_TIMEOUT, "the host answers", stream.read_exact(&mut back)).await.unwrap();
    assert_eq!(&back, b"hello", "bytes must be forwarded in both directions");

    let spellings = ["127.0.0.1", "127.1", "2130706433", "[::ffff:127.0.0.1]", "LOCALHOST.evil.example"];
    let others = spellings.map(|host| format!("{host}:{named}"));
    for to in others.into_iter().chain([format!("localhost:{other}"), "169.254.169.254:80".to_owned()]) {
        let (mut stream, head) = request_tunnel(address, &to).await;
        assert!(head.starts_with("HTTP/1.1 403"), "S24: a connection to {to} must be refused: {head}");
        drop(stream.shutdown().await);
        let words = read_to_end(&mut stream).await;
        assert!(
            words.contains("To allow it, add "),
            "S24: the refusal must name the pattern that allows {to}: {words}"
        );
    }
    assert_eq!(at_named.load(Ordering::SeqCst), 1, "S24: only the tunnel must reach the named host");
    assert_eq!(at_other.load(Ordering::SeqCst), 0, "S24: no connection must reach the other host");
    drop(stream);
    let lines = egress.remaining_activity_lines().join("\n");
    assert!(lines.contains(&format!("network: localhost:{named} allowed, 1 opened")), "S24: {lines}");
    assert!(lines.contains("5 bytes up, 5 bytes down"), "S24: the number of bytes must be reported: {lines}");
    let refused = format!(
        "localhost:{other} refused: it is not among the hosts that this server may reach. To allow it, add localhost:{other} "
    );
    assert!(lines.contains(&refused), "S24: the refusal must be reported: {lines}");
}

#[tokio::test]
async fn s24_name_that_resolves_to_loopback_is_refused() {
    let (port, connections) = start_echo_server().await;
    let lookup: LookupFunction = |_| Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) });
    let (_egress, address) = start_proxy(&[&format!("inside.example:{port}")], lookup, ProxyTimeouts::DEFAULT).await;
    let (mut stream, head) = request_tunnel(address, &format!("inside.example:{port}")).await;
    assert!(head.starts_with("HTTP/1.1 403"), "S24: an allowed name that resolves to loopback must be refused: {head}");
    drop(stream.shutdown().await);
    let words = read_to_end(&mut stream).await;
    assert!(words.contains(&format!("add 127.0.0.1:{port}")), "S24: the refusal must name the address to add: {words}");
    assert_eq!(connections.load(Ordering::SeqCst), 0, "S24: no connection must be made");
}

#[tokio::test]
async fn s24_proxy_connects_to_the_address_that_it_checked() {
    static LOOKUPS: AtomicUsize = AtomicUsize::new(0);
    let (port, connections) = start_echo_server().await;
    // A second lookup would return another address.
    let lookup: LookupFunction = |_| {
        let is_first = LOOKUPS.fetch_add(1, Ordering::SeqCst) == 0;
        let address = if is_first { Ipv4Addr::LOCALHOST } else { Ipv4Addr::new(127, 0, 0, 2) };
        Box::pin(async move { Ok(vec![IpAddr::V4(address)]) })
    };
    let hosts = [format!("name.example:{port}"), format!("127.0.0.1:{port}")];
    let (_egress, address) = start_proxy(&hosts.each_ref().map(String::as_str), lookup, ProxyTimeouts::DEFAULT).await;
    let (_stream, head) = request_tunnel(address, &format!("name.example:{port}")).await;
    assert!(head.starts_with("HTTP/1.1 200"), "an allowed address must be connected to: {head}");
    assert_eq!(LOOKUPS.load(Ordering::SeqCst), 1, "S24: the name must be resolved only once");
    within(WAIT_TIMEOUT, "the connection arrives", async {
        while connections.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn s24_proxied_http_requests_are_forwarded_in_origin_form() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: x-hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nhi")
            .await
            .unwrap();
        request
    });
    let (_egress, address) = start_default_proxy(&[&format!("localhost:{port}")]).await;
    let request = format!(
        "GET http://user:secret@LOCALHOST:{port}/a?b=c HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic x\r\nConnection: x-mine, close\r\nX-Mine: 1\r\nX-Kept: 1\r\n\r\n"
    );
    let answer = send_and_read_all(address, &request).await.to_lowercase();
    assert!(answer.starts_with("http/1.1 200") && answer.ends_with("hi"), "the response must be forwarded: {answer}");
    assert!(!answer.contains("x-hop"), "hop-by-hop headers must be removed from the response: {answer}");
    let request = within(WAIT_TIMEOUT, "the host is asked", host).await.unwrap().to_lowercase();
    assert!(request.starts_with("get /a?b=c http/1.1\r\n"), "the host must receive a path: {request}");
    assert!(
        request.contains(&format!("host: localhost:{port}\r\n")),
        "S24: the Host header must be the authorized host: {request}"
    );
    assert!(request.contains("x-kept: 1"), "end-to-end headers must be forwarded: {request}");
    for absent in ["other.example", "proxy-authorization", "x-mine", "secret"] {
        assert!(!request.contains(absent), "{absent} must not be forwarded: {request}");
    }
}

#[tokio::test]
async fn s24_invalid_proxy_requests_are_refused() {
    let (port, connections) = start_echo_server().await;
    let (_egress, address) = start_default_proxy(&[&format!("localhost:{port}")]).await;
    let cases = [
        (
            format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"),
            "403",
        ),
        (format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"), "400"),
        (
            format!("GET https://localhost:{port}/ HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"),
            "400",
        ),
        ("CONNECT localhost HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_owned(), "400"),
        (format!("CONNECT {}.example:443 HTTP/1.1\r\nConnection: close\r\n\r\n", "a".repeat(400)), "400"),
        (format!("GET http://localhost:{port}/ HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(MAX_REQUEST_HEAD_BYTES)), "431"),
        (
            format!(
                "GET http://localhost:{port}/ HTTP/1.1\r\n{}\r\n",
                "X: x\r\n".repeat(MAX_PROXY_REQUEST_HEADERS + 1)
            ),
            "431",
        ),
    ];
    for (request, status) in cases {
        let answer = send_and_read_all(address, &request).await;
        let shown: String = request.chars().take(60).collect();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "S24: {shown:?} must be answered with {status}: {answer}"
        );
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "S24: no connection must reach the host");
}

#[tokio::test]
async fn s24_slow_or_idle_proxy_connections_are_closed() {
    let (port, _) = start_echo_server().await;
    let short = Duration::from_millis(50);
    let hosts = format!("localhost:{port}");
    let (_egress, address) =
        start_proxy(&[&hosts], resolve::resolve_with_system, ProxyTimeouts { head: short, ..ProxyTimeouts::DEFAULT })
            .await;
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"CONNECT ").await.unwrap();
    read_to_end(&mut slow).await;
    let (_egress, address) =
        start_proxy(&[&hosts], resolve::resolve_with_system, ProxyTimeouts { idle: short, ..ProxyTimeouts::DEFAULT })
            .await;
    let (mut idle, head) = request_tunnel(address, &hosts).await;
    assert!(head.starts_with("HTTP/1.1 200"), "the tunnel must be opened: {head}");
    assert_eq!(read_to_end(&mut idle).await, "", "an idle tunnel must be closed");
}

#[tokio::test]
async fn s24_excess_proxy_connections_wait() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let to = format!("localhost:{}", listener.local_addr().unwrap().port());
    let (_egress, address) = start_default_proxy(&[&to]).await;
    let mut tunnels = Vec::new();
    for _ in 0..MAX_PROXY_CONNECTIONS {
        tunnels.push((
            request_tunnel(address, &to).await,
            within(WAIT_TIMEOUT, "the host is reached", listener.accept()).await.unwrap(),
        ));
    }
    let late = tokio::spawn({
        let to = to.clone();
        async move { request_tunnel(address, &to).await }
    });
    let (_, (mut first, _)) = tunnels.swap_remove(0);
    let early = listener.accept();
    tokio::pin!(early);
    // All connections are in use until one ends, however often the tunnels are used.
    for (at, ((stream, _), (upstream, _))) in tunnels.iter_mut().enumerate() {
        stream.write_all(b"x").await.unwrap();
        let byte = tokio::select! {
            byte = upstream.read_u8() => byte.unwrap(),
            _ = &mut early => panic!("S24: more than {MAX_PROXY_CONNECTIONS} connections are open, after {at} bytes"),
        };
        assert_eq!(byte, b'x');
    }
    first.shutdown().await.unwrap();
    drop(first);
    within(WAIT_TIMEOUT, "the next one is reached", early).await.unwrap();
    let (_, head) = within(WAIT_TIMEOUT, "the next one is answered", late).await.unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "a connection must be accepted after another has ended: {head}");
}
