//! Tests that redirects never lead to another origin (X49).

use mcp_proto::{HandshakeFault, SessionConfig};
use mcp_transport::http::{HeaderName, HttpTarget, SecretHeader};
use testkit::http::ordinary;

use crate::support::*;

fn start_client_with_secret(url: &str) -> TestClient {
    let headers = vec![
        (HeaderName::from_static("authorization"), SecretHeader::new("Bearer top-secret").unwrap()),
        (HeaderName::from_static("x-api-key"), SecretHeader::new("top-secret").unwrap()),
    ];
    start_client_with(SessionConfig::default(), HttpTarget { headers, ..http_target(url) }, test_limits())
}

#[tokio::test]
async fn redirect_to_another_origin_receives_nothing() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = HttpServer::start(|_request, mut answer| async move { answer.status(200).await }).await;
        let location = format!("location: {}\r\n", elsewhere.url("/mcp"));
        let server = HttpServer::start(move |_request, mut answer| {
            let location = location.clone();
            async move { answer.respond(status, &location, b"").await }
        })
        .await;
        let mut client = start_client_with_secret(&server.url("/mcp"));
        let (cause, fault) = client.wait_for_handshake_failure().await;
        client.wait_until_driver_ends().await;
        assert_eq!(
            elsewhere.received_requests().len(),
            0,
            "X49: {status}: no body and no credential may reach another origin"
        );
        assert_eq!(fault, HandshakeFault::Unreachable, "{status}: {cause}");
        assert!(cause.contains("redirect"), "X49: {status}: the cause must be reported: {cause}");
        if status != 303 {
            assert!(cause.contains(&elsewhere.address.to_string()), "{status}: the target must be reported: {cause}");
        }
        assert!(!format!("{:?}", client.received).contains("top-secret"), "no credential must be reported");
    }
}

#[tokio::test]
async fn same_origin_redirect_is_followed_with_all_headers() {
    for status in [301, 302, 307, 308] {
        let server = HttpServer::start(move |request, mut answer| async move {
            match request.path.as_str() {
                "/mcp" => answer.respond(status, "location: /mcp/\r\n", b"").await,
                _ => respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await,
            }
        })
        .await;
        let mut client = start_client_with_secret(&server.url("/mcp"));
        client.wait_until_ready().await;
        assert_eq!(client.echo("there").await, "there", "{status}: the call must arrive at the target");
        client.wait_for_note("a redirect was followed to /mcp/").await;
        client.stop().await;
        let arrived: Vec<_> =
            server.received_requests().into_iter().filter(|request| request.path == "/mcp/").collect();
        assert!(arrived.len() >= 4, "{status}: all requests must arrive at the target");
        for request in arrived {
            assert_eq!(
                request.header("authorization"),
                Some("Bearer top-secret"),
                "{status}: the origin must be the same"
            );
            assert_eq!(request.header("x-api-key"), Some("top-secret"), "{status}: the origin must be the same");
        }
        let twice = server.received_requests().iter().filter(|request| request.path == "/mcp").count();
        let permanent = matches!(status, 301 | 308);
        assert!(!permanent || twice <= 2, "{status} must be remembered, but the old URL was requested {twice} times");
    }
}

#[tokio::test]
async fn at_most_ten_redirects_are_followed() {
    let server = HttpServer::start(move |request, mut answer| async move {
        let hop: usize = request.path.trim_start_matches("/hop").parse().unwrap_or(0);
        answer.respond(307, &format!("location: /hop{}\r\n", hop + 1), b"").await
    })
    .await;
    let mut client = start_client(&server.url("/hop0"));
    let (cause, _) = client.wait_for_handshake_failure().await;
    client.wait_until_driver_ends().await;
    assert!(cause.contains("more than 10 redirects"), "X49: the cause must be reported: {cause}");
    let hops = server.received_requests().iter().filter(|request| request.rpc_method() == "server/discover").count();
    assert_eq!(hops, 11, "X49: one request and ten redirects must be sent");
}

#[tokio::test]
async fn user_headers_are_sent_but_cannot_replace_protocol_headers() {
    let server =
        HttpServer::start(
            move |request, answer| async move { ordinary::respond(MODERN_REVISION, &request, answer).await },
        )
        .await;
    let header = |name: &'static str, value: &str| (HeaderName::from_static(name), SecretHeader::new(value).unwrap());
    let headers = vec![
        header("x-team", "blue"),
        header("accept", "text/html"),
        header("mcp-protocol-version", "1999-01-01"),
        header("host", "elsewhere"),
    ];
    let mut client = start_client_with(
        SessionConfig::default(),
        HttpTarget { headers, ..http_target(&server.url("/mcp")) },
        test_limits(),
    );
    client.wait_until_ready().await;
    client.stop().await;
    for request in server.received_requests() {
        assert_eq!(request.header("x-team"), Some("blue"), "the configured header must be sent");
        assert_eq!(
            request.header("mcp-protocol-version"),
            Some(MODERN_REVISION),
            "the protocol's header must not be replaced"
        );
        assert_eq!(
            request.header("accept"),
            Some("application/json, text/event-stream"),
            "the protocol's header must not be replaced"
        );
        assert_eq!(request.header("host"), Some(&*server.address.to_string()), "the host must not be replaced");
    }
    let dropped = client.connection_notes().iter().filter(|line| line.contains("was omitted")).count();
    assert_eq!(dropped, 3, "the dropped headers must be reported: {:?}", client.connection_notes());
}
