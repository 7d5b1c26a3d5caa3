//! Tests of requests with authorization headers, and of their refusal by the server, with a scripted authorizer.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mcp_proto::{HandshakeFault, SessionConfig};
use mcp_transport::http::{
    AuthChallenge, Authorizer, ChallengeOutcome, HeaderName, HttpLimits, HttpTarget, MAX_SENDS_PER_REQUEST,
    RequestSignature, SecretHeader, SigningRefusal, TransportChoice,
};
use testkit::http::ordinary;
use testkit::time::advance_time;
use tokio::sync::Notify;
use url::Url;

use crate::support::*;

/// Authorizer that signs requests with the token `token-N`, and increments N on each challenge, at most `renewals`
/// times.
#[derive(Default)]
struct ScriptedAuthorizer {
    generation: AtomicU64,
    renewals: AtomicU32,
    refuses_to_sign: bool,
    /// Simulates the user: if present, handling a challenge waits for this notification.
    user: Option<Notify>,
    signed: Mutex<Vec<(String, String)>>,
    challenges: Mutex<Vec<AuthChallenge>>,
    nonces: Mutex<Vec<String>>,
}

impl ScriptedAuthorizer {
    fn with_renewals(renewals: u32) -> ScriptedAuthorizer {
        ScriptedAuthorizer { renewals: AtomicU32::new(renewals), ..ScriptedAuthorizer::default() }
    }

    fn challenges(&self) -> Vec<AuthChallenge> {
        self.challenges.lock().unwrap().clone()
    }
}

#[async_trait]
impl Authorizer for ScriptedAuthorizer {
    async fn sign(&self, method: &str, url: &Url) -> Result<RequestSignature, SigningRefusal> {
        if self.refuses_to_sign {
            return Err(SigningRefusal("the vault is locked".to_owned()));
        }
        self.signed.lock().unwrap().push((method.to_owned(), url.to_string()));
        let generation = self.generation.load(Ordering::SeqCst);
        let header = |name, value: String| (HeaderName::from_static(name), SecretHeader::new(&value).unwrap());
        let token = header("authorization", format!("Bearer token-{generation}"));
        Ok(RequestSignature { headers: vec![token, header("dpop", format!("{method} {url}"))], generation })
    }

    async fn on_challenge(&self, challenge: AuthChallenge) -> ChallengeOutcome {
        self.challenges.lock().unwrap().push(challenge);
        if let Some(user) = &self.user {
            user.notified().await;
        }
        let left = self.renewals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_err() {
            return ChallengeOutcome::Stop("sign in again".to_owned());
        }
        self.generation.fetch_add(1, Ordering::SeqCst);
        ChallengeOutcome::Again
    }

    fn on_response(&self, dpop_nonce: Option<&str>) {
        self.nonces.lock().unwrap().extend(dpop_nonce.map(str::to_owned));
    }
}

fn signed_target(url: &str, authorizer: &Arc<ScriptedAuthorizer>) -> HttpTarget {
    HttpTarget { authorizer: Some(Arc::clone(authorizer) as Arc<dyn Authorizer>), ..http_target(url) }
}

fn start_signed_client(url: &str, authorizer: &Arc<ScriptedAuthorizer>) -> TestClient {
    start_client_with(SessionConfig::default(), signed_target(url, authorizer), test_limits())
}

fn assert_all_signed(server: &HttpServer) {
    for request in server.received_requests() {
        let what = format!("{} {} {}", request.method, request.path, request.rpc_method());
        let tokens = request.head.to_lowercase().matches("authorization:").count();
        assert_eq!(tokens, 1, "[auth-every-request] {what} must have exactly one token");
        assert!(
            request.header("authorization").is_some_and(|value| value.starts_with("Bearer token-")),
            "[auth-bearer-header] {what} must have the token in the header"
        );
        assert!(!request.path.contains("token-"), "[auth-no-query-token] {what} must have no token in its URL");
        let proof = format!("{} http://{}{}", request.method, server.address, request.path);
        assert_eq!(request.header("dpop"), Some(&*proof), "{what} must be signed for its own method and URL");
    }
}

#[tokio::test]
async fn every_http_request_is_signed() {
    // A session with a probe, messages, a GET stream that breaks off, and a DELETE.
    let server = HttpServer::start(|request, mut answer| async move {
        if request.method == "GET" {
            answer.event_stream().await?;
            return answer.write_raw(b"id: 7\nretry: 100\ndata:\n\n").await;
        }
        respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
    })
    .await;
    let mut client = start_signed_client(&server.url("/mcp"), &Arc::new(ScriptedAuthorizer::default()));
    client.wait_until_ready().await;
    assert_eq!(client.echo("there").await, "there", "a call must be answered");
    let resumed = || requests_with_method(&server, "GET").iter().any(|get| get.header("last-event-id") == Some("7"));
    assert!(poll_until(WAIT_TIMEOUT, resumed).await, "the GET stream must be opened again");
    client.stop().await;
    assert!(!requests_with_method(&server, "DELETE").is_empty(), "the session must be ended");
    assert!(server.count("server/discover") > 0, "a probe must be sent");
    assert_all_signed(&server);

    // The same with 2026-07-28.
    let server =
        HttpServer::start(
            move |request, answer| async move { ordinary::respond(MODERN_REVISION, &request, answer).await },
        )
        .await;
    let mut client = start_signed_client(&server.url("/mcp"), &Arc::new(ScriptedAuthorizer::default()));
    client.wait_until_ready().await;
    assert_eq!(client.echo("there").await, "there", "a call must be answered");
    client.stop().await;
    assert_all_signed(&server);
}

#[tokio::test]
async fn http_sse_requests_are_signed() {
    let server = HttpServer::start(|request, mut answer| async move {
        match request.method.as_str() {
            "GET" => {
                answer.event_stream().await?;
                answer.write_raw(b"event: endpoint\ndata: /messages\n\n").await?;
                answer.hang_until_closed().await
            }
            _ if request.path == "/messages" => answer.status(202).await,
            _ => answer.status(405).await,
        }
    })
    .await;
    for transport in [TransportChoice::Sse, TransportChoice::Auto] {
        let target =
            HttpTarget { transport, ..signed_target(&server.url("/sse"), &Arc::new(ScriptedAuthorizer::default())) };
        let mut client = start_client_with(SessionConfig::default(), target, test_limits());
        let posted =
            poll_until(WAIT_TIMEOUT, || server.received_requests().iter().any(|received| received.path == "/messages"))
                .await;
        assert!(posted, "initialize must be posted to the endpoint ({transport:?})");
        client.stop().await;
    }
    assert_all_signed(&server);
}

/// Starts a server that accepts tokens whose number is at least `least`. It responds to other requests with `status`
/// and `headers`.
async fn start_token_protected_server(least: u64, status: u16, headers: &'static str) -> HttpServer {
    HttpServer::start(move |request, mut answer| async move {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer token-"));
        match token.and_then(|token| token.parse::<u64>().ok()) {
            Some(token) if token >= least => ordinary::respond(MODERN_REVISION, &request, answer).await,
            _ => answer.respond(status, headers, br#"{"error":"no"}"#).await,
        }
    })
    .await
}

#[tokio::test]
async fn refused_request_is_sent_again_unmodified_with_another_token() {
    let cases = [
        (401, "www-authenticate: Bearer realm=\"x\"\r\nwww-authenticate: DPoP\r\ndpop-nonce: n1\r\n"),
        (403, "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"files\"\r\ndpop-nonce: n1\r\n"),
    ];
    for (status, headers) in cases {
        let server = start_token_protected_server(2, status, headers).await;
        let authorizer = Arc::new(ScriptedAuthorizer::with_renewals(5));
        let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
        client.wait_until_ready().await;
        client.stop().await;
        let requests = server.received_requests();
        for again in &requests[1..3] {
            assert_eq!(
                again.body, requests[0].body,
                "[auth-expired-token-renew] {status}: the repeated request must have the same bytes"
            );
        }
        let challenges = authorizer.challenges();
        assert_eq!(challenges.len(), 2, "{status}: there must be one challenge for each refusal");
        for (attempt, challenge) in challenges.iter().enumerate() {
            assert_eq!(challenge.status, status, "[auth-status-codes] the status must be reported");
            assert_eq!(
                (challenge.attempt, challenge.generation),
                (attempt as u32, attempt as u64),
                "the attempt must be reported"
            );
            assert_eq!(challenge.operation, "server/discover", "the operation must be reported");
            assert_eq!(challenge.dpop_nonce.as_deref(), Some("n1"), "the nonce must be reported");
            let expected = headers.matches("www-authenticate").count();
            assert_eq!(
                challenge.www_authenticate.len(),
                expected,
                "[auth-www-authenticate-parse] every header must be reported"
            );
        }
    }
}

#[tokio::test]
async fn request_is_sent_at_most_four_times() {
    for (status, headers) in [(401, ""), (403, "www-authenticate: Bearer error=\"insufficient_scope\"\r\n")] {
        let server = start_token_protected_server(u64::MAX, status, headers).await;
        let authorizer = Arc::new(ScriptedAuthorizer::with_renewals(1000));
        let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
        let (cause, fault) = client.wait_for_handshake_failure().await;
        client.wait_until_driver_ends().await;
        assert_eq!(fault, HandshakeFault::Unauthorized, "X51: {status}: the opening must fail: {cause}");
        assert_eq!(
            server.received_requests().len(),
            MAX_SENDS_PER_REQUEST as usize,
            "X51: {status}: there must be four requests"
        );
        assert!(cause.contains("4 times"), "X51: {status}: the cause must be reported: {cause}");
    }
}

#[tokio::test]
async fn permanent_refusal_of_the_authorizer_reports_its_cause() {
    let server = start_token_protected_server(1, 401, "www-authenticate: Bearer\r\n").await;
    let mut client = start_signed_client(&server.url("/mcp"), &Arc::new(ScriptedAuthorizer::default()));
    let (cause, fault) = client.wait_for_handshake_failure().await;
    client.wait_until_driver_ends().await;
    assert_eq!(fault, HandshakeFault::Unauthorized, "[auth-401-starts-flow] the failure must be classified");
    assert!(cause.contains("sign in again"), "the authorizer's message must be reported: {cause}");
    assert_eq!(server.received_requests().len(), 1, "the request must not be sent again");

    let server = start_token_protected_server(0, 401, "").await;
    let authorizer = Arc::new(ScriptedAuthorizer { refuses_to_sign: true, ..ScriptedAuthorizer::default() });
    let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
    let (cause, fault) = client.wait_for_handshake_failure().await;
    client.wait_until_driver_ends().await;
    assert_eq!(fault, HandshakeFault::Unauthorized, "a request that cannot be signed must require a sign-in");
    assert!(cause.contains("the vault is locked"), "the reason must be reported: {cause}");
    assert_eq!(server.received_requests().len(), 0, "the request must not be sent");
}

#[tokio::test]
async fn refusals_without_a_challenge_do_not_reach_the_authorizer() {
    for headers in ["", "www-authenticate: Bearer error=\"invalid_request\"\r\n"] {
        let server = start_token_protected_server(1, 403, headers).await;
        let authorizer = Arc::new(ScriptedAuthorizer::with_renewals(5));
        let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
        client.wait_for_handshake_failure().await;
        client.wait_until_driver_ends().await;
        assert!(authorizer.challenges().is_empty(), "[auth-status-codes] a plain 403 must not be a challenge");
    }
}

#[tokio::test]
async fn other_calls_continue_while_one_waits_for_the_user() {
    let server = HttpServer::start(move |request, mut answer| async move {
        let is_slow = request.json()["params"]["name"] == "slow";
        if is_slow && request.header("authorization") == Some("Bearer token-0") {
            let headers = "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"more\"\r\n";
            return answer.respond(403, headers, b"").await;
        }
        ordinary::respond(MODERN_REVISION, &request, answer).await
    })
    .await;
    let authorizer = Arc::new(ScriptedAuthorizer { user: Some(Notify::new()), ..ScriptedAuthorizer::with_renewals(1) });
    let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
    client.wait_until_ready().await;
    // The simulated user takes longer than the idle deadline of the call.
    let idle = std::time::Duration::from_millis(400);
    let waits =
        client.start_call_with_idle_timeout(tool_call("slow", serde_json::json!({ "text": "later" })), idle).await;
    assert!(poll_until(WAIT_TIMEOUT, || authorizer.challenges().len() == 1).await, "the authorizer must be challenged");
    assert_eq!(authorizer.challenges()[0].operation, "tools/call", "the operation must be reported");
    for _ in 0..3 {
        assert_eq!(client.echo("meanwhile").await, "meanwhile", "other calls must continue");
    }
    advance_time(idle * 2).await;
    authorizer.user.as_ref().unwrap().notify_one();
    assert!(
        client.wait_for_result(waits).await.is_ok(),
        "[auth-stepup] the call must succeed once the user has agreed"
    );
    client.stop().await;
}

#[tokio::test]
async fn time_of_user_consent_does_not_count_towards_the_call_timeout() {
    // The server must accept `notifications/initialized` within a timeout, which excludes the time that the user takes.
    let server = HttpServer::start(move |request, mut answer| async move {
        let is_first = request.header("authorization") == Some("Bearer token-0");
        if request.rpc_method() == "notifications/initialized" && is_first {
            return answer.respond(401, "www-authenticate: Bearer\r\n", b"").await;
        }
        respond_in_session(NEWEST_LEGACY_REVISION, &request, answer).await
    })
    .await;
    let authorizer = Arc::new(ScriptedAuthorizer { user: Some(Notify::new()), ..ScriptedAuthorizer::with_renewals(1) });
    let accept = std::time::Duration::from_millis(300);
    let target = signed_target(&server.url("/mcp"), &authorizer);
    let mut client = start_client_with(SessionConfig::default(), target, HttpLimits { accept, ..test_limits() });
    assert!(poll_until(WAIT_TIMEOUT, || authorizer.challenges().len() == 1).await, "the authorizer must be challenged");
    advance_time(accept * 2).await;
    authorizer.user.as_ref().unwrap().notify_one();
    let sent = || server.count("notifications/initialized") == 2;
    assert!(poll_until(WAIT_TIMEOUT, sent).await, "the message must be sent again, however long the user took");
    assert_eq!(client.echo("there").await, "there", "the session must continue");
    client.stop().await;
}

#[tokio::test]
async fn cancelled_call_drops_its_challenge() {
    let server =
        start_token_protected_server(1, 403, "www-authenticate: Bearer error=\"insufficient_scope\"\r\n").await;
    let authorizer = Arc::new(ScriptedAuthorizer { user: Some(Notify::new()), ..ScriptedAuthorizer::with_renewals(1) });
    let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
    assert!(poll_until(WAIT_TIMEOUT, || authorizer.challenges().len() == 1).await, "the authorizer must be challenged");
    client.stop().await;
    assert_eq!(Arc::strong_count(&authorizer), 1, "the stop must drop the pending challenge");
}

#[tokio::test]
async fn configured_authorization_header_takes_precedence() {
    let server =
        HttpServer::start(
            move |request, answer| async move { ordinary::respond(MODERN_REVISION, &request, answer).await },
        )
        .await;
    let authorizer = Arc::new(ScriptedAuthorizer::default());
    let headers = vec![(HeaderName::from_static("authorization"), SecretHeader::new("Basic mine").unwrap())];
    let target = HttpTarget { headers, ..signed_target(&server.url("/mcp"), &authorizer) };
    let mut client = start_client_with(SessionConfig::default(), target, test_limits());
    client.wait_until_ready().await;
    client.stop().await;
    for request in server.received_requests() {
        assert_eq!(request.header("authorization"), Some("Basic mine"), "the configured header must be sent");
        assert_eq!(request.header("dpop"), None, "no other authorization must be sent");
    }
    assert!(authorizer.signed.lock().unwrap().is_empty(), "the authorizer must not be called");
}

#[tokio::test]
async fn dpop_nonces_of_responses_are_passed_to_the_authorizer() {
    let server = HttpServer::start(move |request, mut answer| async move {
        let body = ordinary::response_message(MODERN_REVISION, &request.json()).to_string();
        let headers = "content-type: application/json\r\ndpop-nonce: fresh\r\n";
        answer.respond(200, headers, body.as_bytes()).await
    })
    .await;
    let authorizer = Arc::new(ScriptedAuthorizer::default());
    let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
    client.wait_until_ready().await;
    client.stop().await;
    assert!(
        authorizer.nonces.lock().unwrap().iter().any(|nonce| nonce == "fresh"),
        "the nonce of a response must be reported"
    );
}

#[tokio::test]
async fn cross_origin_redirect_receives_no_token() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = HttpServer::start(|_request, mut answer| async move { answer.status(200).await }).await;
        let location = format!("location: {}\r\n", elsewhere.url("/mcp"));
        let server = HttpServer::start(move |_request, mut answer| {
            let location = location.clone();
            async move { answer.respond(status, &location, b"").await }
        })
        .await;
        let authorizer = Arc::new(ScriptedAuthorizer::with_renewals(5));
        let mut client = start_signed_client(&server.url("/mcp"), &authorizer);
        client.wait_for_handshake_failure().await;
        client.wait_until_driver_ends().await;
        assert_eq!(elsewhere.received_requests().len(), 0, "X49: {status}: no token must be sent to another origin");
        for (_, url) in authorizer.signed.lock().unwrap().iter() {
            assert!(
                url.starts_with(&server.url("/")),
                "X49: {status}: no request to another origin must be signed: {url}"
            );
        }
        assert!(!format!("{:?}", client.received).contains("token-0"), "no token must be reported");
    }
}

#[tokio::test]
async fn each_url_within_the_origin_is_signed_separately() {
    let server = HttpServer::start(move |request, mut answer| async move {
        match request.path.as_str() {
            "/mcp" => answer.respond(307, "location: /mcp/\r\n", b"").await,
            _ => ordinary::respond(MODERN_REVISION, &request, answer).await,
        }
    })
    .await;
    let mut client = start_signed_client(&server.url("/mcp"), &Arc::new(ScriptedAuthorizer::default()));
    client.wait_until_ready().await;
    client.stop().await;
    assert_all_signed(&server);
}
