//! Tests of servers that reject every request (X51): few step-ups, few requests, and the user is notified.

use std::time::Duration;

use host::view::ServerState;
use testkit::authorization::{AuthorizationScript, ProtectedScript, RefreshBehaviour, RefusalBehaviour};
use testkit::time::advance_time;

use super::SignInAttempt;

/// Maximum number of requests per minute that a server may make the host send.
const MAX_REQUESTS_PER_MINUTE: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);

/// A server refuses every call with `insufficient_scope`. The host requests further scopes at most three times. Covers
/// the MCP requirements [auth-stepup-retry-limit] [auth-stepup-retry-request] [auth-stepup-track].
#[tokio::test]
async fn x51_more_scopes_are_requested_at_most_three_times() {
    let what = "X51, 403 insufficient_scope for ever";
    let tried = SignInAttempt::start(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the server is ready");
    let first = tried.issuer.authorization_queries().len();
    tried.server.set(|script| {
        script.refusing = RefusalBehaviour::InsufficientScope;
        script.tool_scopes = [("echo".to_owned(), "everything".to_owned())].into();
    });
    for number in 1..=2 {
        let call = tried.pair.call_bad_server(what).await;
        tried.pair.assert_call_ended(what, &call, &["scope", "permission", "allowed"]);
        let step_ups = tried.issuer.authorization_queries().len() - first;
        assert!((1..=3).contains(&step_ups), "{what}: call {number}: {step_ups} step-ups");
    }
    tried.close().await;
}

/// Returns the number of requests that the server and its authorization server have received.
fn count_sign_in_requests(tried: &SignInAttempt) -> usize {
    tried.server.received_requests().len() + tried.issuer.received_requests().len()
}

/// A server that fails after the user has started it once causes at most `MAX_REQUESTS_PER_MINUTE` requests in a
/// minute.
#[tokio::test]
async fn x51_broken_server_causes_few_requests() {
    let good = AuthorizationScript::default;
    let refusing = |refusing| ProtectedScript { refusing, ..ProtectedScript::default() };
    let cases = [
        ("401 for ever", good(), refusing(RefusalBehaviour::Unauthorized)),
        ("403 for ever", good(), refusing(RefusalBehaviour::Status(403))),
        ("503 for ever", good(), refusing(RefusalBehaviour::Status(503))),
        ("500 for ever", good(), refusing(RefusalBehaviour::Status(500))),
        (
            "an authorization server that answers 503",
            AuthorizationScript { down: Some(503), ..good() },
            ProtectedScript::default(),
        ),
        (
            "401 for ever, and refreshing fails",
            AuthorizationScript { refresh: RefreshBehaviour::Fails("invalid_grant".into()), ..good() },
            refusing(RefusalBehaviour::Unauthorized),
        ),
        (
            "401 for ever, and refreshing is answered with 503",
            AuthorizationScript { refresh: RefreshBehaviour::Down(503), ..good() },
            refusing(RefusalBehaviour::Unauthorized),
        ),
    ];
    for (about, issuer, server) in cases {
        let what = format!("X51, {about}");
        let tried = SignInAttempt::start(&what, issuer, server).await;
        // Retries have random delays of up to half a minute.
        advance_time(MINUTE).await;
        let sent = count_sign_in_requests(&tried);
        println!("{about}: {sent} requests in a minute");
        assert!(
            sent <= MAX_REQUESTS_PER_MINUTE,
            "{what}: {sent} requests in a minute: {:#?}",
            recorded_request_lines(&tried)
        );
        let state = tried.pair.app.server("bad").await.state;
        let message = match &state {
            ServerState::NeedsSignIn(needed) => needed.cause.clone(),
            ServerState::Failed(failure) => failure.message.clone(),
            ServerState::Reconnecting(retry) => retry.cause.clone(),
            _ => String::new(),
        };
        assert!(!message.is_empty(), "{what}: the user is notified: {state:?}");
        tried.close().await;
    }
}

/// A ready server that nobody calls causes few requests in a minute, although it reports changed tools and rejects
/// requests of the host.
#[tokio::test]
async fn x51_server_in_use_causes_few_requests() {
    let cases = [
        ("401 for ever", RefusalBehaviour::Unauthorized),
        ("401 for every second request, and good renewals", RefusalBehaviour::EverySecond),
        ("401 for want of a nonce, for ever", RefusalBehaviour::Nonces),
        ("401 for its stream, and good renewals", RefusalBehaviour::Streams),
    ];
    for (about, refusing) in cases {
        let what = format!("X51, in use, then {about}");
        let changes = ProtectedScript { changes_ms: Some(500), ..ProtectedScript::default() };
        let tried = SignInAttempt::start(&what, AuthorizationScript::default(), changes).await;
        assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the server is ready");
        assert_few_requests(&what, tried, refusing).await;
    }
}

/// Makes a ready server reject requests as `refusing` specifies. Asserts that it and its authorization server receive
/// few requests in the next minute.
pub(super) async fn assert_few_requests(what: &str, tried: SignInAttempt, refusing: RefusalBehaviour) {
    let is_read_again = || tried.server.requests_with_method("tools/list").len() >= 2;
    let is_limited = testkit::deadline::poll_until(Duration::from_secs(20), is_read_again).await;
    assert!(is_limited, "{what}: the tools are read again: {:#?}", recorded_request_lines(&tried));
    let (before, lists) = (count_sign_in_requests(&tried), tried.server.requests_with_method("tools/list").len());
    let began = tokio::time::Instant::now();
    tried.server.set(|script| script.refusing = refusing);
    let is_refused = |state: &ServerState| match state {
        ServerState::NeedsSignIn(needed) => !needed.cause.is_empty(),
        _ => false,
    };
    tried.pair.app.until("bad", "waits for its user, and reports the reason", |s| is_refused(&s.state)).await;
    advance_time(MINUTE.saturating_sub(began.elapsed())).await;
    let mut sent = count_sign_in_requests(&tried) - before;
    if matches!(refusing, RefusalBehaviour::Streams) {
        // Reads of lists succeed each time. Their number is bounded for every server (X41).
        sent -= tried.server.requests_with_method("tools/list").len() - lists;
    }
    assert!(
        sent <= MAX_REQUESTS_PER_MINUTE,
        "{what}: {sent} requests in a minute: {:#?}",
        &recorded_request_lines(&tried)
    );
    tried.close().await;
}

/// Returns the requests that the server and its authorization server received, each as a text with the HTTP method, the
/// path and the JSON-RPC method. Those of the server are first.
fn recorded_request_lines(tried: &SignInAttempt) -> Vec<String> {
    let requests = tried.server.received_requests().into_iter().chain(tried.issuer.received_requests());
    requests
        .map(|request| format!("{} {} {}", request.method, request.path_without_query(), request.rpc_method()))
        .collect()
}

/// The server rejects every token while the user calls its tool. The host may retry the call, but not without limit.
#[tokio::test]
async fn x51_call_to_a_server_that_refuses_every_token_ends() {
    let what = "X51, 401 for ever, in use";
    let tried = SignInAttempt::start(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the server is ready");
    let before = count_sign_in_requests(&tried);
    tried.server.set(|script| script.refusing = RefusalBehaviour::Unauthorized);
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &["401", "sign", "token"]);
    advance_time(Duration::from_secs(5)).await;
    let sent = count_sign_in_requests(&tried) - before;
    assert!(sent <= MAX_REQUESTS_PER_MINUTE, "{what}: {sent} requests: {:#?}", recorded_request_lines(&tried));
    assert!(tried.issuer.token_requests("refresh_token").len() <= 3, "{what}: the number of refreshes is small");
    tried.close().await;
}
