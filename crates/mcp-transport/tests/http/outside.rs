//! Tests that addresses named by a server lead only to the public internet (X47).

use std::time::Duration;

use mcp_transport::http::{UntrustedUrlClient, UntrustedUrlError, UntrustedUrlLimits};
use testkit::http::HttpServer;
use tokio::net::TcpListener;
use url::Url;

use crate::support::WAIT_TIMEOUT;

const TEST_URL_LIMITS: UntrustedUrlLimits = UntrustedUrlLimits { bytes: 1024, time: Duration::from_secs(5) };

async fn get(client: &UntrustedUrlClient, url: &str) -> Result<http::Response<Vec<u8>>, UntrustedUrlError> {
    client.send(http::Request::get(url).body(Vec::new()).unwrap(), TEST_URL_LIMITS).await
}

fn client_allowing_named_hosts(named: &[&str]) -> UntrustedUrlClient {
    UntrustedUrlClient::for_public_hosts_and(named.iter().map(|url| Url::parse(url).unwrap().origin()).collect())
}

/// Listens on all addresses of this computer. Returns the port, the task that accepts connections, and a counter of
/// connections.
async fn start_connection_counting_listener()
-> (u16, tokio::task::JoinHandle<()>, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hits = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&hits);
    let accepting = tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    });
    (port, accepting, hits)
}

#[tokio::test]
async fn private_addresses_are_rejected() {
    let (port, accepting, hits) = start_connection_counting_listener().await;
    let client = client_allowing_named_hosts(&["https://mcp.example"]);
    let hosts = [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "a.localhost",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::10.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[2002:7f00:1::1]",
        "[2001:0:7f00:1::1]",
        "[fe80::1]",
        "[fc00::1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
    ];
    for host in hosts {
        for path in ["", "/.well-known/oauth-authorization-server?q=1"] {
            let url = format!("https://{host}:{port}{path}");
            let answer =
                tokio::time::timeout(WAIT_TIMEOUT, get(&client, &url)).await.expect("the request must end in time");
            let is_refused = matches!(answer, Err(UntrustedUrlError::Refused { .. }));
            assert!(is_refused, "X47: {url} must be refused, not {answer:?}");
        }
    }
    let dots = format!("https://127\u{3002}0\u{3002}0\u{3002}1:{port}/");
    let dots = Url::parse(&dots).unwrap();
    assert!(get(&client, dots.as_str()).await.is_err(), "X47: ideographic dots must count as dots");
    let schemes =
        [format!("http://127.0.0.1:{port}/"), format!("http://localhost:{port}/"), "http://mcp.example/".into()];
    for url in schemes {
        let refused = get(&client, &url).await;
        assert!(
            matches!(refused, Err(UntrustedUrlError::Refused { .. })),
            "X47: {url} is not encrypted and must be refused: {refused:?}"
        );
    }
    assert_eq!(hits.load(std::sync::atomic::Ordering::SeqCst), 0, "X47: no connection must be made");
    accepting.abort();
}

#[tokio::test]
async fn addresses_named_by_the_user_may_be_private() {
    let server = HttpServer::start(|request, mut answer| async move {
        match request.path.as_str() {
            "/large" => answer.respond(200, "", &[b'x'; 4096]).await,
            "/away" => answer.respond(302, "location: /found\r\n", b"").await,
            "/slow" => answer.hang_until_closed().await,
            _ => answer.respond(404, "x-kept: 1\r\n", &request.body).await,
        }
    })
    .await;
    let client = client_allowing_named_hosts(&[&server.url("/")]);
    let request = http::Request::post(server.url("/token")).header("x-mine", "2").body(b"a=b".to_vec()).unwrap();
    let answer = client.send(request, TEST_URL_LIMITS).await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.body().as_slice()), (404, &b"a=b"[..]), "any status must be returned");
    assert_eq!(answer.headers()["x-kept"], "1", "the response headers must be returned");
    assert_eq!(server.received_requests()[0].header("x-mine"), Some("2"), "the request headers must be sent");
    let away = get(&client, &server.url("/away")).await.unwrap();
    assert_eq!(away.status().as_u16(), 302, "redirects must be returned");
    assert!(
        server.received_requests().iter().all(|request| request.path != "/found"),
        "redirects must not be followed"
    );
    let large = get(&client, &server.url("/large")).await;
    assert!(
        matches!(large, Err(UntrustedUrlError::TooLarge { bytes: 1024, .. })),
        "the size of bodies must be limited: {large:?}"
    );
    let short = UntrustedUrlLimits { time: Duration::from_millis(200), ..TEST_URL_LIMITS };
    let slow = client.send(http::Request::get(server.url("/slow")).body(Vec::new()).unwrap(), short).await;
    assert!(matches!(slow, Err(UntrustedUrlError::TooSlow { .. })), "the time must be bounded: {slow:?}");
    let secret = get(&client, "https://10.0.0.1/?code=secret").await.unwrap_err();
    assert!(!format!("{secret} {secret:?}").contains("secret"), "errors must contain only the origin: {secret}");
}

#[tokio::test]
async fn another_port_of_a_named_host_is_allowed() {
    let server = HttpServer::start(|_request, mut answer| async move { answer.status(200).await }).await;
    let other = client_allowing_named_hosts(&["http://127.0.0.1:1/"]);
    assert!(get(&other, &server.url("/")).await.is_ok(), "a host that the user entered must be allowed");
    let unlike = client_allowing_named_hosts(&["http://127.0.0.2:1/", "https://localhost/"]);
    assert!(
        get(&unlike, &server.url("/")).await.is_err(),
        "X47: another name of this computer must count as another host"
    );
    assert_eq!(server.received_requests().len(), 1, "X47: the other host must not be contacted");
}
