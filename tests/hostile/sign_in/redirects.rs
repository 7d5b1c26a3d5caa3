//! Tests of redirects of requests that contain a token or a code (X49).

use testkit::authorization::{AuthorizationScript, ProtectedScript};
use testkit::http::{HttpServer, ordinary};

use super::SignInAttempt;

async fn start_other_server() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await }).await
}

fn assert_received_nothing(what: &str, other: &HttpServer) {
    for request in other.received_requests() {
        assert!(
            request.header("authorization").is_none(),
            "{what}: no token is sent to the other server: {}",
            request.head
        );
        assert!(request.body.is_empty(), "{what}: no body is sent to the other server");
    }
}

/// The token is only sent to the origin of the server. Covers the MCP requirement [auth-only-own-as-tokens].
#[tokio::test]
async fn x49_token_does_not_follow_a_redirect() {
    for status in [301, 302, 303, 307, 308] {
        let what = format!("X49, {status} to another origin with a token");
        let other = start_other_server().await;
        let server = ProtectedScript { redirect: Some((status, other.url("/mcp"))), ..ProtectedScript::default() };
        let tried = SignInAttempt::start(&what, AuthorizationScript::default(), server).await;
        let cause = tried.wait_for_end().await.expect_err("X49: a redirect to another origin is not followed");
        assert!(cause.contains("redirect"), "{what}: the error message contains the cause: {cause}");
        assert_received_nothing(&what, &other);
        tried.close().await;
    }
}

/// The host sends the authorization code, the PKCE verifier and the client credentials only to the token endpoint, not
/// to the target of a redirect.
#[tokio::test]
async fn x49_code_does_not_follow_a_redirect() {
    for status in [301, 302, 303, 307, 308] {
        let what = format!("X49, {status} at the token endpoint");
        let other = start_other_server().await;
        let redirects = [("/token".to_owned(), (status, other.url("/token")))].into();
        let issuer = AuthorizationScript { redirects, ..AuthorizationScript::default() };
        let tried = SignInAttempt::start(&what, issuer, ProtectedScript::default()).await;
        let cause = tried.wait_for_end().await.expect_err("X49: a redirect of a token request is not followed");
        let is_described = cause.contains("redirect") || cause.contains(&status.to_string());
        assert!(is_described, "{what}: the error message contains the cause: {cause}");
        assert!(
            other.received_requests().is_empty(),
            "{what}: the target receives no request: {:?}",
            other.received_requests()
        );
        tried.close().await;
    }
}

#[tokio::test]
async fn x49_metadata_redirects_are_bounded() {
    let what = "X49, metadata that redirect for ever";
    let path = "/.well-known/oauth-authorization-server".to_owned();
    let issuer = testkit::authorization::AuthorizationServer::start(AuthorizationScript::default()).await;
    let to = format!("{}{path}", issuer.issuer());
    issuer.set(|script| script.redirects = [(path.clone(), (302, to))].into());
    let server = testkit::authorization::ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let tried = SignInAttempt::start_with_servers(what, issuer, server, |_| {}).await;
    let ended = tried.wait_for_end().await;
    assert!(ended.is_err(), "{what}: the sign-in fails");
    assert!(tried.issuer.count(&path) <= 10, "{what}: few redirects are followed: {}", tried.issuer.count(&path));
    tried.close().await;
}
