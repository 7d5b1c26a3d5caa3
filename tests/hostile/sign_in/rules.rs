//! Tests of the specification's requirements on sign-in, observed at both servers. User and servers are well-behaved.

use host::view::ServerState;
use serde_json::{Map, json};
use testkit::authorization::{
    AuthorizationMetadataLocation, AuthorizationScript, ProtectedScript, RefreshBehaviour, ResourceMetadataLocation,
    find_leaked_credentials, parameter_value,
};
use testkit::calls::UserCalls as _;

use super::SignInAttempt;

async fn sign_in_successfully(what: &str, issuer: AuthorizationScript, server: ProtectedScript) -> SignInAttempt {
    let tried = SignInAttempt::start(what, issuer, server).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
    tried
}

/// The host finds the authorization server if only the `WWW-Authenticate` header contains the URL of the resource
/// metadata. Covers the MCP requirements [auth-401-starts-flow] [auth-www-authenticate-parse] [auth-prm-required]
/// [auth-prm-header-url].
#[tokio::test]
async fn unauthorized_response_starts_a_successful_sign_in() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let what = format!("signing in with {revision}");
        let server = ProtectedScript { revision: revision.to_owned(), ..ProtectedScript::default() };
        let tried = sign_in_successfully(&what, AuthorizationScript::default(), server).await;
        let call = tried.pair.call_bad_server(&what).await;
        tried.pair.assert_call_ended(&what, &call, &[]);

        let requests = tried.server.received_requests();
        let refused = requests.iter().position(|request| request.path_without_query() == "/where/nobody/looks");
        let after: Vec<_> = requests
            .iter()
            .skip(refused.unwrap() + 1)
            .filter(|request| request.path_without_query() == "/mcp")
            .collect();
        assert!(after.len() >= 3, "{what}: the server is ready: {}", after.len());
        let bearers = after.iter().filter_map(|request| request.header("authorization"));
        let bearers: Vec<&str> = bearers.filter_map(|header| header.strip_prefix("Bearer ")).collect();
        // [auth-bearer-header] [auth-every-request]
        assert_eq!(bearers.len(), after.len(), "{what}: every request has the token in its header");
        // [auth-no-query-token]
        for request in requests.iter().chain(&tried.issuer.received_requests()) {
            let in_url = bearers.iter().any(|token| request.path.contains(token));
            assert!(!in_url, "{what}: no URL contains a token: {}", request.path);
        }
        tried.close().await;
    }
}

/// The requests contain the resource, although the metadata do not mention resources. Covers the MCP requirements
/// [auth-pkce] [auth-pkce-s256] [auth-resource-authorize] [auth-resource-token] [auth-resource-always]
/// [auth-resource-canonical] [auth-resource-most-specific] [auth-resource-no-trailing-slash].
#[tokio::test]
async fn authorization_and_token_request_name_the_resource_and_use_pkce() {
    let what = "the requests of a sign-in";
    let tried = sign_in_successfully(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    let (authorize, token) =
        (tried.issuer.authorization_queries().remove(0), tried.issuer.token_requests("authorization_code").remove(0));
    for (place, request) in [("the authorization request", &authorize), ("the token request", &token)] {
        assert_eq!(
            parameter_value(request, "resource"),
            Some(tried.server.url().as_str()),
            "{what}: {place} contains the resource"
        );
    }
    assert_eq!(
        parameter_value(&authorize, "code_challenge_method"),
        Some("S256"),
        "{what}: the challenge method is S256"
    );
    let verifier = parameter_value(&token, "code_verifier").unwrap_or_default();
    assert!((43..=128).contains(&verifier.len()), "{what}: the verifier has a valid length: {}", verifier.len());
    assert!(
        parameter_value(&authorize, "state").is_some_and(|state| state.len() >= 22),
        "{what}: the request contains a state"
    );
    tried.close().await;
}

/// The host registers as a native client with a loopback redirect URI and refresh tokens. Covers the MCP requirements
/// [auth-dcr-application-type] [auth-dcr-native] [auth-refresh-grant-type] [auth-redirect-localhost-https]
/// [auth-redirect-registered].
#[tokio::test]
async fn desktop_app_registers_as_a_native_client() {
    let what = "registration";
    let tried = sign_in_successfully(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    let requests = tried.issuer.received_requests();
    let registration = requests.iter().find(|request| request.path == "/register").unwrap().json();
    assert_eq!(registration["application_type"], "native", "{what}: {registration}");
    let grants = registration["grant_types"].as_array().unwrap();
    assert!(
        grants.contains(&json!("refresh_token")),
        "{what}: the registration requests refresh tokens: {registration}"
    );
    let registered = registration["redirect_uris"][0].as_str().unwrap();
    assert!(registered.starts_with("http://127.0.0.1"), "{what}: the redirect URI is a loopback address: {registered}");
    tried.close().await;
}

/// Fifty calls use an expired token. It is refreshed once, and none of them fails. Covers the MCP requirements
/// [auth-refresh-replace] [auth-b-token-rotation] [auth-expired-token-renew].
#[tokio::test]
async fn concurrent_calls_share_one_refresh_and_succeed() {
    let what = "fifty calls and one refresh";
    let tried = sign_in_successfully(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    for round in 1..=3 {
        tried.issuer.invalidate_access_tokens();
        tried.issuer.set(|script| script.delay_ms = 300);
        let calls = (0..50).map(|number| {
            let host = tried.pair.app.host.clone();
            let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
            tokio::spawn(async move {
                host.call_tool(format!("{round}-{number}"), "bad".into(), "echo".into(), arguments, None).await
            })
        });
        for call in calls.collect::<Vec<_>>() {
            let result = call.await.unwrap();
            assert!(result.is_ok(), "{what}: no call fails: {:?}", result.err());
        }
        let refreshes = tried.issuer.token_requests("refresh_token").len();
        assert_eq!(refreshes, round, "{what}: one refresh for all calls, with the latest refresh token");
    }
    assert_eq!(tried.issuer.authorization_queries().len(), 1, "{what}: the user signs in once");
    tried.close().await;
}

/// Without a refresh token the user signs in again. Covers the MCP requirement [auth-refresh-not-assumed].
#[tokio::test]
async fn user_signs_in_again_without_a_refresh_token() {
    let what = "no refresh token";
    let script = AuthorizationScript { refresh: RefreshBehaviour::None, ..AuthorizationScript::default() };
    let tried = sign_in_successfully(what, script, ProtectedScript::default()).await;
    tried.issuer.invalidate_access_tokens();
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &["sign", "401"]);
    tried.pair.app.until("bad", "in need of a sign-in", |s| matches!(s.state, ServerState::NeedsSignIn(_))).await;
    tried.pair.app.host.sign_in("bad".into()).await.unwrap();
    tried.pair.app.until("bad", "in use again", |s| s.state == ServerState::Ready).await;
    assert_eq!(tried.issuer.authorization_queries().len(), 2, "{what}: the user signs in twice");
    tried.close().await;
}

/// Consent to the scopes of a call is requested only when the call needs them. Covers the MCP requirements
/// [auth-stepup] [auth-stepup-union] [auth-scope-challenge-authoritative] [auth-scope-least-privilege].
#[tokio::test]
async fn missing_scopes_are_requested_when_a_call_needs_them() {
    let what = "step-up";
    let server = ProtectedScript {
        challenge_scope: Some("read".to_owned()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        scopes: Some(vec!["read".to_owned(), "write".to_owned(), "admin".to_owned()]),
        ..ProtectedScript::default()
    };
    let tried = sign_in_successfully(what, AuthorizationScript::default(), server).await;
    let scope = |at: usize| {
        let queries = tried.issuer.authorization_queries();
        let mut words: Vec<String> =
            parameter_value(&queries[at], "scope").unwrap_or_default().split(' ').map(str::to_owned).collect();
        words.sort();
        words.join(" ")
    };
    assert_eq!(scope(0), "read", "{what}: the first request has only the scopes of the challenge");
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &[]);
    assert_eq!(scope(1), "read write", "{what}: the second request adds the scopes of the call");
    tried.close().await;
}

/// A server of 2025-03-26 has no protected resource metadata. Its origin issues the tokens, with metadata or without.
/// Covers the MCP requirements [auth-b-as-metadata] [auth-b-base-url] [auth-b-metadata-location]
/// [auth-b-default-endpoints].
#[tokio::test]
async fn server_of_the_first_revision_issues_its_own_tokens() {
    for metadata in [AuthorizationMetadataLocation::OAuth, AuthorizationMetadataLocation::None] {
        let what = format!("2025-03-26, metadata: {metadata:?}");
        let script = AuthorizationScript { metadata, iss_advertised: false, ..AuthorizationScript::default() };
        let server = ProtectedScript {
            revision: "2025-03-26".to_owned(),
            metadata: ResourceMetadataLocation::SameOrigin,
            ..ProtectedScript::default()
        };
        let tried = sign_in_successfully(&what, script, server).await;
        let paths: Vec<String> =
            tried.server.received_requests().iter().map(|request| request.path_without_query().to_owned()).collect();
        let at = |path: &str| paths.iter().position(|found| found == path);
        let document = at("/.well-known/oauth-authorization-server");
        assert!(document.is_some(), "{what}: the metadata are requested below the origin: {paths:?}");
        for endpoint in ["/register", "/authorize", "/token"] {
            assert!(at(endpoint) > document, "{what}: {endpoint} is used afterwards: {paths:?}");
        }
        tried.close().await;
    }
}

/// After all operations with a token, no secret is in a file, in the activity, in the steps, or in the data sent to the
/// page, as [`SignInAttempt::close`] asserts. Covers the MCP requirements [auth-token-storage]
/// [auth-refresh-confidential] [auth-cc-protect-secret].
#[tokio::test]
async fn sign_out_revokes_tokens_and_leaves_no_secret() {
    let what = "signing out";
    let script =
        AuthorizationScript { auth_methods: vec!["client_secret_post".to_owned()], ..AuthorizationScript::default() };
    let tried = sign_in_successfully(what, script, ProtectedScript::default()).await;
    tried.issuer.invalidate_access_tokens();
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &[]);
    tried.pair.app.host.sign_out("bad".into()).await.unwrap();
    assert_eq!(tried.issuer.valid_token_counts(), (0, 0), "{what}: the tokens are revoked");
    assert!(tried.issuer.count("/revoke") >= 1, "{what}: the revocation was requested");
    let known = tried.pair.app.host.authorization("bad".into()).await.unwrap();
    assert!(known.account.is_none(), "{what}: no account is signed in");
    assert_eq!(
        find_leaked_credentials(&[&tried.issuer], &[&tried.server]),
        [""; 0],
        "{what}: no credential was sent elsewhere"
    );
    tried.close().await;
}

/// The message about the failed sign-in contains the error text of the authorization server. Covers the MCP
/// requirements [auth-dcr-redirect-rejection] [auth-dcr-surface-error].
#[tokio::test]
async fn rejected_registration_is_reported() {
    let what = "a refused registration";
    let refused = Some("invalid_redirect_uri".to_owned());
    let script = AuthorizationScript { registration_error: refused, ..AuthorizationScript::default() };
    let tried = SignInAttempt::start(what, script, ProtectedScript::default()).await;
    let cause = tried.wait_for_end().await.expect_err("the registration is rejected");
    let is_described = ["invalid_redirect_uri", "redirect"].iter().any(|word| cause.contains(word));
    assert!(
        cause.contains("identifying the app") && is_described,
        "{what}: the error message contains the failed step and the cause: {cause}"
    );
    assert!(tried.issuer.count("/register") <= 3, "{what}: the number of attempts is bounded");
    tried.close().await;
}
