//! Tests that no credential of an authorization server, resource or server reaches another (X51).

use host::view::ServerState;
use serde_json::{Map, json};
use testkit::authorization::{
    AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer, find_leaked_credentials,
};

use super::SignInAttempt;

async fn start_issuer() -> AuthorizationServer {
    AuthorizationServer::start(AuthorizationScript::default()).await
}

/// A server names another authorization server after a sign-in. The host registers there again and sends it no
/// credential of the first one. Covers the MCP requirements [auth-as-change-reregister] [auth-credentials-per-as]
/// [auth-credentials-issuer-key] [auth-credentials-no-reuse].
#[tokio::test]
async fn x51_another_authorization_server_receives_nothing_of_the_first() {
    let what = "X51, the authorization server changed";
    let (first, second) = (start_issuer().await, start_issuer().await);
    let server = ProtectedServer::start(ProtectedScript::default(), &[&first]).await;
    let tried = SignInAttempt::start_with_servers(what, first, server, |_| {}).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in at the first server succeeds");
    let host = &tried.pair.app.host;
    host.stop_server("bad".into()).await.unwrap();
    tried.pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;

    tried.server.set_issuers(&[&second]);
    host.start_server("bad".into()).await.unwrap();
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in at the second server succeeds");
    assert_eq!(second.count("/register"), 1, "{what}: the client is registered at the second server");
    // Both issuers have the same resource server, which may receive the tokens of both.
    let found = find_leaked_credentials(&[&tried.issuer, &second], &[&tried.server]);
    assert_eq!(found, [""; 0], "{what}: the second server received no credential of the first");
    tried.close().await;
}

/// A ready server changes its metadata to another issuer and rejects its token. The host sends the refresh token only
/// to the issuer that issued it.
#[tokio::test]
async fn x51_refresh_token_is_sent_to_its_issuer_only() {
    let what = "X51, moved with a refresh token at hand";
    let (first, second) = (start_issuer().await, start_issuer().await);
    let server = ProtectedServer::start(ProtectedScript::default(), &[&first]).await;
    let tried = SignInAttempt::start_with_servers(what, first, server, |_| {}).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in at the first server succeeds");
    tried.server.set_issuers(&[&second]);
    tried.issuer.invalidate_access_tokens();
    let _ = tried.pair.call_bad_server(what).await;
    let needs = |s: &ServerState| matches!(s, ServerState::NeedsSignIn(_) | ServerState::Ready);
    tried.pair.app.until("bad", "signed in or asked for it", |s| needs(&s.state)).await;
    if matches!(tried.pair.app.server("bad").await.state, ServerState::NeedsSignIn(_)) {
        tried.pair.app.host.sign_in("bad".into()).await.unwrap();
    }
    tried.pair.app.until("bad", "signed in again", |s| s.state == ServerState::Ready).await;
    assert_eq!(
        second.token_requests("refresh_token").len(),
        0,
        "{what}: the second server receives no refresh request"
    );
    let found = find_leaked_credentials(&[&tried.issuer, &second], &[&tried.server]);
    assert_eq!(found, [""; 0], "{what}: the second server received no credential of the first");
    tried.close().await;
}

/// A server whose metadata name another server's resource gets no token for that resource, nor the other server's
/// token. Covers the MCP requirement [auth-only-own-as-tokens].
#[tokio::test]
async fn x51_server_cannot_request_a_token_for_another_resource() {
    let what = "X51, another's resource";
    let issuer = start_issuer().await;
    let honest = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let thief = ProtectedScript {
        overrides: Map::from_iter([("resource".to_owned(), json!(honest.url()))]),
        checks_audience: false,
        ..ProtectedScript::default()
    };
    let thief = ProtectedServer::start(thief, &[&issuer]).await;
    // The server of the named resource is ready.
    let tried = SignInAttempt::start_with_servers(what, issuer.clone(), honest, |_| {}).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the honest server is ready");
    let other = SignInAttempt::start_with_servers(what, issuer.clone(), thief, |_| {}).await;
    let cause = other.wait_for_end().await.expect_err("X51: a sign-in for the resource of another server fails");
    assert!(cause.contains("metadata is for"), "{what}: the error message contains the cause: {cause}");
    for request in other.server.received_requests() {
        assert!(
            request.header("authorization").is_none(),
            "{what}: the malicious server gets no token: {}",
            request.head
        );
    }
    let found = find_leaked_credentials(&[&issuer], &[&tried.server, &other.server]);
    assert_eq!(found, [""; 0], "{what}: the malicious server received no credential of the honest one");
    tried.close().await;
    other.close().await;
}
