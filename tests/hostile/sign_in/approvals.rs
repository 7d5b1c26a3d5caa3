//! Tests that a sign-in does not exceed its approval: destinations of credentials (S01), origin of tokens (S07), and
//! scopes of tokens (S14). Each test decides on the consent requests of the hostile server's sign-in.

use std::sync::atomic::Ordering;

use credentials::sign_in::EndpointUse;
use host::view::{ConsentRequestBody, ConsentRequestView, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::secrets;
use ports::server_config::{AuthConfig, AuthIdentityProvider, GrantType, HttpConfig};
use testkit::authorization::{
    AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer, parameter_value,
};

use super::machines::{CLIENT_ID, issuer_with_client, settings_with_secret};
use super::{SignInAttempt, wait_for_start_result};
use crate::pair::GoodAndBadServers;
use crate::report::random_word;

/// Returns a sign-in attempt whose hostile server is not started yet. The test decides on its consent requests.
async fn unstarted_sign_in(
    what: &str,
    script: ProtectedScript,
    issuer: AuthorizationServer,
    auth: Option<AuthConfig>,
    secrets: &[(&str, &str)],
) -> SignInAttempt {
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let config = HttpConfig { url: server.url(), auth, ..HttpConfig::default() };
    let origin = config.origin().unwrap();
    let pair = GoodAndBadServers::with_undecided_start(config.into()).await;
    pair.app.platform.browses.store(true, Ordering::Relaxed);
    for (name, secret) in secrets {
        pair.app.host.ports().secrets.set(&secrets::secret_storage_key(name, &origin), secret).unwrap();
    }
    SignInAttempt { what: what.to_owned(), pair, issuer, server }
}

impl SignInAttempt {
    async fn start_and_wait_for_connect_request(&self) -> ConsentRequestView {
        self.pair.app.host.start_server("bad".into()).await.unwrap();
        let is_connect = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::ConnectServer { .. });
        self.pair
            .while_good_server_responds(&self.what, self.pair.app.consent_request("bad", "its address", is_connect))
            .await
    }

    async fn wait_for_sign_in_request(&self) -> ConsentRequestView {
        let is_sign_in = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::SignIn { .. });
        self.pair
            .while_good_server_responds(&self.what, self.pair.app.consent_request("bad", "a sign-in", is_sign_in))
            .await
    }

    async fn allow(&self, request: &ConsentRequestView) {
        self.pair.app.decide(request, UserDecision::Allow(ApprovalScope::Once)).await;
    }

    async fn deny(&self, request: &ConsentRequestView) {
        self.pair.app.decide(request, UserDecision::Deny).await;
    }

    /// Approves the pending tool call once.
    async fn allow_tool(&self) {
        let request = self.pair.wait_for_tool_consent_request(&self.what, |_| true).await;
        self.allow(&request).await;
    }

    async fn stop(&self) {
        self.pair.app.host.stop_server("bad".into()).await.unwrap();
        self.pair.app.until("bad", "stopped", |s| s.state == ServerState::Stopped).await;
    }

    /// Replaces the text `before` in the settings file by `after`, as another program could.
    async fn edit_settings_file(&self, before: &str, after: &str) {
        let file = self.pair.app.folder.path().join("mcp.json");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(before), "{}: the settings have {before}: {text}", self.what);
        std::fs::write(&file, text.replace(before, after)).unwrap();
        let is_there =
            |config: &HttpConfig| config.auth.as_ref().is_some_and(|auth| format!("{auth:?}").contains(after));
        self.pair.app.until("bad", "edited", |s| s.config.as_http().is_some_and(is_there)).await;
    }
}

/// Returns settings for a sign-in with the grant type `client_credentials`, which needs no user.
fn client_credentials_settings(issuer: &AuthorizationServer, scopes: &[&str]) -> AuthConfig {
    let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
    AuthConfig { scopes, ..settings_with_secret(issuer, GrantType::ClientCredentials) }
}

/// Returns the sign-in settings that a consent request shows as changed, each with its name, old value and new value.
fn displayed_changes(request: &ConsentRequestView) -> Vec<(String, Option<String>, Option<String>)> {
    let changes = request.marks.diff.as_ref().map(|diff| diff.changes.clone()).unwrap_or_default();
    changes.into_iter().map(|change| (change.path.join(" "), change.before, change.after)).collect()
}

/// Returns the URLs of the token endpoints that a consent request displays.
fn token_endpoints(request: &ConsentRequestView) -> Vec<String> {
    let ConsentRequestBody::SignIn { endpoints, .. } = &request.body else { panic!("a sign-in: {request:?}") };
    let of_tokens = endpoints.iter().filter(|endpoint| endpoint.purpose == EndpointUse::Token);
    of_tokens.map(|endpoint| endpoint.url.clone()).collect()
}

#[tokio::test]
async fn s01_edited_token_endpoint_is_shown_before_anything_is_sent_there() {
    let what = "S01, an identity provider's token endpoint that is edited in mcp.json";
    let (secret, at_idp, id_token) = (random_word("secret"), random_word("secret-at-idp"), random_word("id-token"));
    let idp = AuthorizationServer::start(issuer_with_client(&at_idp)).await;
    let thief = AuthorizationServer::start(issuer_with_client(&at_idp)).await;
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let [own, other] = [&idp, &thief].map(|server| format!("{}/token", server.issuer()));
    let auth = AuthConfig {
        grant: GrantType::EnterpriseManaged,
        identity_provider: Some(AuthIdentityProvider {
            issuer: idp.issuer(),
            token_endpoint: Some(own.clone()),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Some(secrets::secret_reference("idp-secret")),
            id_token: Some(secrets::secret_reference("id-token")),
            ..AuthIdentityProvider::default()
        }),
        ..client_credentials_settings(&issuer, &[])
    };
    let secrets = [("client-secret", secret.as_str()), ("idp-secret", &at_idp), ("id-token", &id_token)];
    let tried = unstarted_sign_in(what, ProtectedScript::default(), issuer, Some(auth), &secrets).await;
    let first = tried.start_and_wait_for_connect_request().await;
    tried.allow(&first).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the approved server is ready");
    tried.stop().await;

    tried.edit_settings_file(&own, &other).await;
    let second = tried.start_and_wait_for_connect_request().await;
    assert_ne!(second.hash, first.hash, "{what}: the changed settings require another approval");
    let key = "identityProvider.tokenEndpoint".to_owned();
    assert_eq!(
        displayed_changes(&second),
        [(key, Some(own), Some(other.clone()))],
        "{what}: the request shows exactly the change"
    );
    assert!(thief.received_requests().is_empty(), "{what}: nothing is sent before the decision");
    tried.deny(&second).await;
    tried.pair.app.until("bad", "refused", |s| matches!(s.state, ServerState::Failed(_))).await;
    assert!(
        thief.received_requests().is_empty(),
        "{what}: nothing is sent after a denial: {:?}",
        thief.received_requests()
    );
    tried.close().await;
}

#[tokio::test]
async fn s01_id_token_is_not_sent_unencrypted() {
    let what = "S01, an identity provider's token endpoint over plain http";
    let (secret, id_token) = (random_word("secret"), random_word("id-token"));
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let auth = AuthConfig {
        grant: GrantType::EnterpriseManaged,
        identity_provider: Some(AuthIdentityProvider {
            issuer: "https://idp.example".to_owned(),
            token_endpoint: Some("http://idp.example/token".to_owned()),
            client_id: CLIENT_ID.to_owned(),
            id_token: Some(secrets::secret_reference("id-token")),
            ..AuthIdentityProvider::default()
        }),
        ..client_credentials_settings(&issuer, &[])
    };
    let secrets = [("client-secret", secret.as_str()), ("id-token", &id_token)];
    let tried = unstarted_sign_in(what, ProtectedScript::default(), issuer, Some(auth), &secrets).await;
    let request = tried.start_and_wait_for_connect_request().await;
    tried.allow(&request).await;
    let cause = wait_for_start_result(&tried.pair).await.expect_err("S01: no token is requested without encryption");
    assert!(cause.contains("not encrypted"), "{what}: the error message contains the cause: {cause}");
    let redeemed = tried.issuer.token_requests("urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert!(redeemed.is_empty(), "{what}: the sign-in stops before the token request: {redeemed:?}");
    tried.close().await;
}

#[tokio::test]
async fn s01_every_edit_of_the_sign_in_settings_asks_again_with_the_change() {
    let what = "S01, issuer, client, scopes and key binding that are edited in mcp.json";
    let secret = random_word("secret");
    let thief = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let own = issuer.issuer();
    let auth = AuthConfig { dpop: Some(false), ..client_credentials_settings(&issuer, &["ships:read"]) };
    let tried =
        unstarted_sign_in(what, ProtectedScript::default(), issuer, Some(auth), &[("client-secret", &secret)]).await;
    let request = tried.start_and_wait_for_connect_request().await;
    tried.allow(&request).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the approved server is ready");
    tried.stop().await;
    let before = thief.received_requests().len();
    let edits = [
        ("issuer", own, thief.issuer()),
        ("clientId", CLIENT_ID.to_owned(), "another-office".to_owned()),
        ("scopes", "ships:read".to_owned(), "ships:sink".to_owned()),
        ("clientSecret", "client-secret".to_owned(), "other-secret".to_owned()),
    ];
    for (key, from, to) in edits {
        tried.edit_settings_file(&from, &to).await;
        let request = tried.start_and_wait_for_connect_request().await;
        let found = displayed_changes(&request);
        let expected = (key.to_owned(), Some(from.clone()), Some(to.clone()));
        assert_eq!(found, [expected], "{what}: the change of {key} is shown");
        tried.deny(&request).await;
        tried.pair.app.until("bad", "refused", |s| matches!(s.state, ServerState::Failed(_))).await;
        tried.edit_settings_file(&to, &from).await;
    }
    assert_eq!(thief.received_requests().len(), before, "{what}: nothing is sent to the other issuer");
    tried.close().await;
}

#[tokio::test]
async fn s07_token_endpoint_is_in_the_consent_request() {
    let what = "S07, an issuer whose token endpoint is another's";
    let thief = AuthorizationServer::start(AuthorizationScript::default()).await;
    let elsewhere = format!("{}/token", thief.issuer());
    let overrides = [("token_endpoint".to_owned(), elsewhere.as_str().into())].into_iter().collect();
    let issuer = AuthorizationServer::start(AuthorizationScript { overrides, ..AuthorizationScript::default() }).await;
    let tried = unstarted_sign_in(what, ProtectedScript::default(), issuer, None, &[]).await;
    let request = tried.start_and_wait_for_connect_request().await;
    tried.allow(&request).await;
    let request = tried.wait_for_sign_in_request().await;
    assert_eq!(token_endpoints(&request), [elsewhere], "{what}: the new endpoint is shown");
    tried.deny(&request).await;
    let cause = tried.wait_for_end().await.expect_err("S07: the user denied the sign-in");
    assert!(cause.contains("declined"), "{what}: {cause}");
    assert!(
        thief.received_requests().is_empty(),
        "{what}: nothing is sent to the endpoint: {:?}",
        thief.received_requests()
    );
    tried.close().await;
}

#[tokio::test]
async fn s07_issuer_and_endpoints_of_an_approved_sign_in_are_pinned() {
    let what = "S07, what an approved sign-in rests on";
    let tried = SignInAttempt::start(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
    let pins = tried.pair.app.host.pins().await.unwrap();
    let pins = pins.get("bad").expect("something is remembered of the server");
    let issuer = tried.issuer.issuer();
    assert_eq!(pins.issuer.as_deref(), Some(issuer.as_str()), "{what}: the issuer is shown");
    let token = format!("{issuer}/token");
    assert!(
        pins.endpoints.values().any(|urls| urls.contains(&token)),
        "{what}: the token endpoint is shown: {:?}",
        pins.endpoints
    );
    tried.close().await;
}

/// The authorization server names other endpoints after the sign-in and invalidates the token. The host still sends the
/// refresh request to the approved endpoint.
#[tokio::test]
async fn s07_refresh_is_sent_to_the_approved_endpoint() {
    let what = "S07, metadata that move after the sign-in";
    let thief = AuthorizationServer::start(AuthorizationScript::default()).await;
    let tried = SignInAttempt::start(what, AuthorizationScript::default(), ProtectedScript::default()).await;
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
    let elsewhere = |name: &str| (format!("{name}_endpoint"), format!("{}/{name}", thief.issuer()).into());
    tried
        .issuer
        .set(|script| script.overrides = ["token", "registration", "revocation"].map(elsewhere).into_iter().collect());
    tried.issuer.invalidate_access_tokens();
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &[]);
    assert_eq!(
        tried.issuer.token_requests("refresh_token").len(),
        1,
        "{what}: the token is refreshed at the approved endpoint"
    );
    tried.pair.app.host.sign_out("bad".into()).await.unwrap();
    assert!(tried.issuer.count("/revoke") > 0, "{what}: the token is revoked at the approved endpoint");
    assert!(
        thief.received_requests().is_empty(),
        "{what}: nothing is sent to another endpoint: {:?}",
        thief.received_requests()
    );
    tried.close().await;
}

#[tokio::test]
async fn s07_client_credentials_request_consent_for_another_endpoint() {
    let what = "S07, a machine whose issuer moves its token endpoint";
    let secret = random_word("secret");
    let thief = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let auth = client_credentials_settings(&issuer, &[]);
    let tried =
        unstarted_sign_in(what, ProtectedScript::default(), issuer, Some(auth), &[("client-secret", &secret)]).await;
    let request = tried.start_and_wait_for_connect_request().await;
    tried.allow(&request).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the approved settings contain the endpoint");
    let elsewhere = format!("{}/token", thief.issuer());
    tried.issuer.set(|script| drop(script.overrides.insert("token_endpoint".to_owned(), elsewhere.as_str().into())));
    tried.issuer.invalidate_access_tokens();
    let call = tried.pair.spawn_call("moved", "echo", serde_json::json!({ "text": "hello" }));
    tried.allow_tool().await;
    let request = tried.wait_for_sign_in_request().await;
    assert_eq!(token_endpoints(&request), [elsewhere], "{what}: the endpoint is shown");
    let ConsentRequestBody::SignIn { authorization_url, .. } = &request.body else { unreachable!() };
    assert_eq!(*authorization_url, None, "{what}: the request shows that no page is opened");
    tried.deny(&request).await;
    assert!(call.await.unwrap().is_err(), "{what}: the call has failed");
    assert!(
        thief.received_requests().is_empty(),
        "{what}: nothing is sent to the endpoint: {:?}",
        thief.received_requests()
    );
    tried.close().await;
}

#[tokio::test]
async fn s14_client_credentials_request_only_approved_scopes() {
    let what = "S14, a server that names scopes to a machine";
    let secret = random_word("secret");
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let auth = client_credentials_settings(&issuer, &["ships:read"]);
    let script = ProtectedScript {
        challenge_scope: Some("ships:all".to_owned()),
        scopes: Some(vec!["ships:all".to_owned()]),
        tool_scopes: [("echo".to_owned(), "ships:sink".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let tried = unstarted_sign_in(what, script, issuer, Some(auth), &[("client-secret", &secret)]).await;
    let request = tried.start_and_wait_for_connect_request().await;
    tried.allow(&request).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the server is ready");
    let scopes = || {
        let requests = tried.issuer.token_requests("client_credentials");
        requests.iter().map(|form| parameter_value(form, "scope").unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(scopes(), ["ships:read"], "{what}: the settings override the challenge");

    let begin = |id: &str| tried.pair.spawn_call(id, "echo", serde_json::json!({ "text": "hello" }));
    let call = begin("refused");
    tried.allow_tool().await;
    let request = tried.wait_for_sign_in_request().await;
    let ConsentRequestBody::SignIn { scopes: shown, held_scopes, authorization_url, .. } = &request.body else {
        unreachable!()
    };
    assert_eq!(*shown, ["ships:read", "ships:sink"], "{what}: all requested scopes are shown");
    assert_eq!(*held_scopes, ["ships:read"], "{what}: the new scopes are marked");
    assert_eq!(*authorization_url, None, "{what}: no page is opened");
    tried.deny(&request).await;
    let cause = call.await.unwrap().expect_err("S14: without the user it is refused").to_string();
    assert!(cause.contains("ships:sink"), "{what}: the error message names the scopes: {cause}");
    assert_eq!(scopes(), ["ships:read"], "{what}: no further scopes were requested");

    let call = begin("allowed");
    tried.allow_tool().await;
    let request = tried.wait_for_sign_in_request().await;
    tried.allow(&request).await;
    assert!(call.await.unwrap().is_ok(), "{what}: the call succeeds after the approval");
    assert_eq!(scopes(), ["ships:read", "ships:read ships:sink"], "{what}: exactly the displayed scopes are requested");
    tried.close().await;
}
