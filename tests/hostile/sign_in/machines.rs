//! Tests of tokens that are obtained without a user: client credentials, and an enterprise's identity provider.

use std::sync::atomic::Ordering;

use ports::secrets;
use ports::server_config::{AuthConfig, AuthIdentityProvider, GrantType, HttpConfig};
use testkit::authorization::{
    AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer, RefreshBehaviour, RefusalBehaviour,
    parameter_value,
};

use super::{SignInAttempt, wait_for_start_result};
use crate::pair::GoodAndBadServers;
use crate::report::random_word;

pub(super) const CLIENT_ID: &str = "harbour-office";
const MODERN_REVISION: &str = "2026-07-28";

/// Returns the script of an authorization server that knows one client with this secret, and does not register others.
pub(super) fn issuer_with_client(secret: &str) -> AuthorizationScript {
    AuthorizationScript {
        registration: false,
        clients: [(CLIENT_ID.to_owned(), Some(secret.to_owned()))].into(),
        auth_methods: vec!["client_secret_basic".to_owned()],
        refresh: RefreshBehaviour::None,
        ..AuthorizationScript::default()
    }
}

/// Returns sign-in settings with this grant type that reference the client's secret.
pub(super) fn settings_with_secret(issuer: &AuthorizationServer, grant: GrantType) -> AuthConfig {
    AuthConfig {
        client_id: Some(CLIENT_ID.to_owned()),
        client_secret: Some(secrets::secret_reference("client-secret")),
        issuer: Some(issuer.issuer()),
        grant,
        ..AuthConfig::default()
    }
}

fn modern_server() -> ProtectedScript {
    ProtectedScript { revision: MODERN_REVISION.to_owned(), ..ProtectedScript::default() }
}

/// Starts a sign-in with these settings. `secrets` are the names and values of secrets that are stored before.
async fn start_sign_in(
    what: &str,
    script: ProtectedScript,
    issuer: AuthorizationServer,
    auth: impl FnOnce(&AuthorizationServer) -> AuthConfig,
    secrets: &[(&str, &str)],
) -> SignInAttempt {
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let config = HttpConfig { url: server.url(), auth: Some(auth(&issuer)), ..HttpConfig::default() };
    let origin = config.origin().unwrap();
    let pair = GoodAndBadServers::with_stopped_bad_server(config.into()).await;
    pair.app.platform.browses.store(true, Ordering::Relaxed);
    for (name, secret) in secrets {
        pair.app.host.ports().secrets.set(&secrets::secret_storage_key(name, &origin), secret).unwrap();
    }
    pair.app.host.start_server("bad".into()).await.unwrap();
    SignInAttempt { what: what.to_owned(), pair, issuer, server }
}

/// Returns `true` if every request for the tool list declares this extension as a client capability.
fn declares_extension(tried: &SignInAttempt, extension: &str) -> bool {
    let calls = tried.server.requests_with_method("tools/list");
    let capabilities = |call: &testkit::http::HttpRequest| {
        call.json()["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"][extension]
            .is_object()
    };
    !calls.is_empty() && calls.iter().all(capabilities)
}

/// The host requests a token with client credentials and renews it when it is rejected, without opening a browser.
/// Covers the MCP requirements [auth-cc-declare] [auth-cc-baseline] [auth-cc-auth-method] [auth-cc-preregistered]
/// [auth-cc-metadata-methods] [auth-cc-renew].
#[tokio::test]
async fn client_credentials_suffice_and_are_renewed_without_a_user() {
    let what = "client credentials";
    let secret = random_word("secret");
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let auth = |issuer: &AuthorizationServer| settings_with_secret(issuer, GrantType::ClientCredentials);
    let tried = start_sign_in(what, modern_server(), issuer, auth, &[("client-secret", &secret)]).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the server is ready");
    assert!(
        declares_extension(&tried, "io.modelcontextprotocol/oauth-client-credentials"),
        "{what}: the extension is declared"
    );
    tried.issuer.invalidate_access_tokens();
    let call = tried.pair.call_bad_server(what).await;
    tried.pair.assert_call_ended(what, &call, &[]);
    let requests = tried.issuer.token_requests("client_credentials");
    assert_eq!(requests.len(), 2, "{what}: one token is requested, and another after it has expired");
    for request in &requests {
        assert_eq!(
            parameter_value(request, "resource"),
            Some(tried.server.url().as_str()),
            "{what}: the token is for this server"
        );
    }
    assert_eq!(
        tried.issuer.count("/register") + tried.issuer.count("/authorize"),
        0,
        "{what}: no other request is sent"
    );
    assert!(tried.pair.app.platform.opened.lock().unwrap().is_empty(), "{what}: no browser is opened");
    tried.close().await;
}

/// The server rejects tokens that the host obtained with client credentials. The host must not request new ones in a
/// loop, which no user would notice.
#[tokio::test]
async fn x51_client_credentials_are_not_requested_in_a_loop() {
    for refusing in [RefusalBehaviour::Unauthorized, RefusalBehaviour::EverySecond] {
        let what = format!("X51, client credentials, in use, then {refusing:?}");
        let secret = random_word("secret");
        let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
        let changes = ProtectedScript { changes_ms: Some(500), ..ProtectedScript::default() };
        let auth = |issuer: &AuthorizationServer| settings_with_secret(issuer, GrantType::ClientCredentials);
        let tried = start_sign_in(&what, changes, issuer, auth, &[("client-secret", &secret)]).await;
        assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the server is ready");
        super::for_ever::assert_few_requests(&what, tried, refusing).await;
    }
}

/// The host exchanges the user's ID token at an identity provider for an assertion, with which it obtains the server's
/// token. Covers the MCP requirements [auth-ema-declare] [auth-ema-token-exchange] [auth-ema-audience]
/// [auth-ema-resource] [auth-ema-exchange-client-auth] [auth-ema-jwt-bearer] [auth-ema-no-redirect]
/// [auth-ema-no-url-tokens] [auth-ema-no-log].
#[tokio::test]
async fn identity_provider_grant_signs_in_the_user() {
    let what = "enterprise-managed";
    let (secret, at_idp) = (random_word("secret"), random_word("secret-at-idp"));
    let idp = AuthorizationServer::start(issuer_with_client(&at_idp)).await;
    let issuer = AuthorizationServer::start(issuer_with_client(&secret)).await;
    let auth = |issuer: &AuthorizationServer| AuthConfig {
        identity_provider: Some(AuthIdentityProvider {
            issuer: idp.issuer(),
            token_endpoint: Some(format!("{}/token", idp.issuer())),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Some(secrets::secret_reference("idp-secret")),
            id_token: Some(secrets::secret_reference("id-token")),
            ..AuthIdentityProvider::default()
        }),
        ..settings_with_secret(issuer, GrantType::EnterpriseManaged)
    };
    let id_token = random_word("id-token");
    let secrets = [("client-secret", secret.as_str()), ("idp-secret", &at_idp), ("id-token", &id_token)];
    let tried = start_sign_in(what, modern_server(), issuer, auth, &secrets).await;
    assert_eq!(wait_for_start_result(&tried.pair).await, Ok(()), "{what}: the server is ready");
    let extension = "io.modelcontextprotocol/enterprise-managed-authorization";
    assert!(declares_extension(&tried, extension), "{what}: the extension is declared");

    let exchange = idp.token_requests("urn:ietf:params:oauth:grant-type:token-exchange").remove(0);
    assert_eq!(
        parameter_value(&exchange, "subject_token"),
        Some(id_token.as_str()),
        "{what}: the token of the user is exchanged"
    );
    let expected = "urn:ietf:params:oauth:token-type:id-jag";
    assert_eq!(parameter_value(&exchange, "requested_token_type"), Some(expected), "{what}: a grant is requested");
    assert_eq!(
        parameter_value(&exchange, "audience"),
        Some(tried.issuer.issuer().as_str()),
        "{what}: the audience is the issuer"
    );
    let resource = parameter_value(&exchange, "resource");
    assert_eq!(resource, Some(tried.server.url().as_str()), "{what}: the resource is the server");
    let redeemed = tried.issuer.token_requests("urn:ietf:params:oauth:grant-type:jwt-bearer").remove(0);
    let assertion = parameter_value(&redeemed, "assertion").unwrap_or_default().to_owned();
    assert!(idp.secrets().contains(&assertion), "{what}: the grant of the identity provider is redeemed");
    assert_eq!(tried.issuer.count("/authorize") + idp.count("/authorize"), 0, "{what}: no browser is opened");
    for request in
        tried.server.received_requests().iter().chain(&tried.issuer.received_requests()).chain(&idp.received_requests())
    {
        assert!(!request.path.contains(&assertion) && !request.path.contains(&id_token), "{what}: {}", request.path);
    }
    super::assert_no_secrets(what, &tried.pair, &[&idp]).await;
    for secret in [&secret, &at_idp, &id_token] {
        let activity = tried.pair.app.activity("bad").await;
        let known = tried.pair.app.host.authorization("bad".into()).await.unwrap();
        assert!(
            !activity.contains(secret.as_str()) && !format!("{known:?}").contains(secret.as_str()),
            "{what}: no log contains the grant"
        );
    }
    tried.close().await;
}
