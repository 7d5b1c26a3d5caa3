//! Servers that are running again after a sign-in: their state is restored, and later restarts require no sign-in.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use host::HostOptions;
use host::view::{ConsentRequestBody, ServerState, UserDecision};
use mcp_proto::types::LogLevel;
use policy::ApprovalScope;
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretPersistence, Secrets};
use serde_json::{Value, json};
use testkit::app::{TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript};
use testkit::http::{HttpServer, ordinary};

use super::{RemoteSetup, SERVER_NAME};

const REVISION: &str = "2025-11-25";

/// Starts a server with resources and logging. Once the returned flag is set, the server rejects requests until one has
/// another token than the last accepted one, and then accepts that token.
async fn server_with_resources(issuer: &AuthorizationServer) -> (HttpServer, Arc<AtomicBool>) {
    let (refuses, issuer) = (Arc::new(AtomicBool::new(false)), issuer.issuer());
    let refusing = Arc::clone(&refuses);
    let good: Arc<Mutex<Option<String>>> = Arc::default();
    let server = HttpServer::start(move |request, mut answer| {
        let (refusing, issuer, good) = (Arc::clone(&refusing), issuer.clone(), Arc::clone(&good));
        async move {
            let message = request.json();
            let method = message["method"].as_str().unwrap_or_default();
            let reply = |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            if request.path.contains("/.well-known/oauth-protected-resource") {
                let resource = format!("http://{}/mcp", request.header("host").unwrap_or_default());
                return answer.json(&json!({ "resource": resource, "authorization_servers": [issuer] })).await;
            }
            // Requests are rejected until they contain a different token.
            let token = request.header("authorization").map(str::to_owned);
            let is_good = {
                let mut good = good.lock().unwrap();
                let is_same = *good == token;
                if !refusing.load(Ordering::Relaxed) || (!is_same && token.is_some()) {
                    good.clone_from(&token);
                    refusing.store(false, Ordering::Relaxed);
                    true
                } else {
                    false
                }
            };
            if !is_good {
                return answer.respond(401, "www-authenticate: Bearer\r\n", b"").await;
            }
            let result = match method {
                "initialize" => json!({
                    "protocolVersion": REVISION,
                    "capabilities": { "tools": {}, "logging": {}, "resources": { "subscribe": true } },
                    "serverInfo": { "name": "far", "version": "1" },
                }),
                "resources/subscribe" | "logging/setLevel" => json!({}),
                "resources/list" => json!({ "resources": [{ "uri": "note://1", "name": "note" }] }),
                "resources/templates/list" => json!({ "resourceTemplates": [] }),
                _ => return ordinary::respond(REVISION, &request, answer).await,
            };
            answer.json(&reply(result)).await
        }
    })
    .await;
    (server, refuses)
}

#[tokio::test]
async fn subscriptions_and_log_level_are_restored_after_a_sign_in() {
    let issues = AuthorizationScript {
        refresh: testkit::authorization::RefreshBehaviour::None,
        ..AuthorizationScript::default()
    };
    let issuer = AuthorizationServer::start(issues).await;
    let (server, refuses) = server_with_resources(&issuer).await;
    let app = TestApp::start(vec![(SERVER_NAME, remote_config(&server.url("/mcp")))]).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let answering = app.decide_automatically(|consent_request| {
        matches!(consent_request.body, ConsentRequestBody::SignIn { .. })
            .then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    // The first session requires no sign-in, but the user signs in.
    app.ready(SERVER_NAME).await;
    app.host.subscribe(SERVER_NAME.into(), "note://1".into(), true).await.unwrap();
    app.host.set_log_level(SERVER_NAME.into(), LogLevel::Warning).await.unwrap();
    for (how, expected) in [("by the user's own wish", 2), ("after a refusal", 3)] {
        let before = app.server(SERVER_NAME).await.since;
        if expected == 2 {
            app.host.sign_in(SERVER_NAME.into()).await.unwrap();
        } else {
            refuses.store(true, Ordering::Relaxed);
            app.host
                .read_resource("r".into(), SERVER_NAME.into(), "note://1".into())
                .await
                .expect_err("the request is rejected");
            app.until(SERVER_NAME, "waiting", |s| matches!(s.state, ServerState::NeedsSignIn(_))).await;
            app.host.sign_in(SERVER_NAME.into()).await.unwrap();
        }
        let is_back = |s: &host::view::ServerView| {
            s.state == ServerState::Ready
                && s.since > before
                && s.subscriptions == ["note://1"]
                && s.log_level.is_some()
        };
        app.until(SERVER_NAME, &format!("as it was before, {how}"), is_back).await;
        for method in ["resources/subscribe", "logging/setLevel"] {
            assert_eq!(server.count(method), expected, "{method} was sent again, {how}");
        }
    }
    answering.abort();
    app.host.close().await;
}

/// A keychain that the test can lock, so that reading secrets fails.
#[derive(Default)]
struct LockableKeychain {
    inner: SecretsInMemory,
    is_locked: AtomicBool,
}

impl Secrets for LockableKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if self.is_locked.load(Ordering::Relaxed) {
            return Err(SecretError::Locked("for this test".into()));
        }
        self.inner.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.inner.set(key, secret)?;
        Ok(SecretPersistence::Keychain)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.inner.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.inner.keys(prefix)
    }
}

#[tokio::test]
async fn locked_keychain_is_reported_and_loses_nothing() {
    let far = RemoteSetup::new().await;
    let keychain = Arc::new(LockableKeychain::default());
    let folder = tempfile::tempdir().unwrap();
    let servers = vec![(SERVER_NAME, remote_config(&far.server.url()))];
    let app = TestApp::start_with_secrets(folder, servers, HostOptions::default(), keychain.clone()).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let far = RemoteSetup { app, ..far }.signed_in().await;
    assert_eq!(
        far.view().await.token_storage,
        Some(credentials::sign_in::TokenStorage::Keychain),
        "the tokens are in the keychain"
    );
    far.app.host.close().await;
    keychain.is_locked.store(true, Ordering::Relaxed);
    let options = HostOptions { autostart: true, ..HostOptions::default() };
    let RemoteSetup { issuer, server, app, .. } = far;
    let app = TestApp::start_with_secrets(app.folder, Vec::new(), options, keychain.clone()).await;
    let far = RemoteSetup { issuer, server, app, keychain: Arc::default() };
    // The grant can't be verified without the key in the locked keychain, so the start requires consent.
    let allowing = far.app.decide_automatically(|consent_request| {
        matches!(consent_request.body, ConsentRequestBody::ConnectServer { .. })
            .then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    assert_eq!(
        far.app.server(SERVER_NAME).await.state,
        ServerState::Stopped,
        "nothing is started by a grant that can't be verified"
    );
    assert!(far.app.consent_requests().await.is_empty(), "no consent is requested for it");
    keychain.is_locked.store(false, Ordering::Relaxed);
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    far.wait_until_ready().await;
    assert_eq!(far.issuer.authorization_queries().len(), 1, "the earlier sign-in is used");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn failed_token_refresh_is_retried_after_a_network_change() {
    let far = RemoteSetup::scripted(AuthorizationScript::default(), ProtectedScript::default()).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    far.issuer.invalidate_access_tokens();
    far.issuer.set(|script| script.down = Some(503));
    far.echo("late", "x").await.expect_err("the token can't be refreshed");
    far.wait_until_sign_in_required("503").await;
    far.issuer.set(|script| script.down = None);
    far.app.host.handle_network_change().await.unwrap();
    far.wait_until_ready().await;
    assert_eq!(far.issuer.authorization_queries().len(), 1, "no new sign-in is required");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn failed_token_refresh_is_retried_later() {
    let far = RemoteSetup::scripted(AuthorizationScript::default(), ProtectedScript::default()).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    far.issuer.invalidate_access_tokens();
    far.issuer.set(|script| script.down = Some(503));
    far.echo("late", "x").await.expect_err("the token can't be refreshed");
    far.wait_until_sign_in_required("503").await;
    far.issuer.set(|script| script.down = None);
    far.wait_until_ready().await;
    assert_eq!(far.issuer.authorization_queries().len(), 1, "no action of the user is required");
    allowing.abort();
    far.app.host.close().await;
}
