//! Tests with a server that also allows anonymous requests: a user's call is never sent anonymously.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, RefreshBehaviour};
use testkit::http::HttpServer;

use super::support::{TestAuthorization, TestCallOutcome};
use crate::*;

/// Starts a server that answers every request. Sets `received_anonymous_request` if a request has no token.
async fn start_public_server(issuer: String, received_anonymous_request: Arc<AtomicBool>) -> HttpServer {
    HttpServer::start(move |request, mut answer| {
        let (issuer, received_anonymous_request) = (issuer.clone(), Arc::clone(&received_anonymous_request));
        async move {
            if request.path_without_query() == "/.well-known/oauth-protected-resource/mcp" {
                let origin = format!("http://{}", request.header("host").unwrap_or_default());
                let document = json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [issuer] });
                return answer.json(&document).await;
            }
            if request.method == "POST" && request.header("authorization").is_none() {
                received_anonymous_request.store(true, Ordering::SeqCst);
            }
            answer.status(200).await
        }
    })
    .await
}

#[tokio::test]
async fn call_fails_if_its_expired_token_cannot_be_renewed() {
    let table = [
        (RefreshBehaviour::Down(503), "503", false),
        (RefreshBehaviour::Fails("invalid_grant".to_owned()), "Sign in again", true),
        (RefreshBehaviour::None, "Sign in again", true),
    ];
    for (refresh, words, ends) in table {
        let script = AuthorizationScript { refresh: refresh.clone(), ..AuthorizationScript::default() };
        let issuer = AuthorizationServer::start(script).await;
        let received_anonymous_request = Arc::new(AtomicBool::default());
        let server = start_public_server(issuer.issuer(), Arc::clone(&received_anonymous_request)).await;
        let bench = TestAuthorization::for_server_url(&server.url("/mcp"), Arc::default(), |_| ());
        bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
        assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "{refresh:?}: the token must be accepted");
        bench.advance_clock(3601);
        for round in 0..3 {
            let stopped = bench.call("echo").await;
            let TestCallOutcome::Stopped(cause) = stopped else {
                panic!("{refresh:?}, {round}: it must stop: {stopped:?}")
            };
            assert!(cause.contains(words), "[auth-expired-token-renew] {refresh:?}, {round}: {cause}");
        }
        assert!(!received_anonymous_request.load(Ordering::SeqCst), "{refresh:?}: no anonymous request may be sent");
        let ended = bench.authorization.account().unwrap().ended;
        assert_eq!(ended.is_some(), ends, "{refresh:?}: the account must show the end: {ended:?}");
        bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "{refresh:?}: the call must succeed after a new sign-in"
        );
    }
}
