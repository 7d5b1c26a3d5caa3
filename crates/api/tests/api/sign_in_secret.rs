//! Test of replacing a client secret while the page polls the authorization state.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::Api;
use host::HostOptions;
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretPersistence, Secrets};
use serde_json::json;
use testkit::app::{EVENT_TIMEOUT, TestApp};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

use crate::run_command;

/// Keychain that takes time to store secrets, and records that it has started.
#[derive(Default)]
struct SlowKeychain {
    inner: SecretsInMemory,
    is_requested: AtomicBool,
}

impl Secrets for SlowKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.inner.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.is_requested.store(true, Ordering::SeqCst);
        // sleep: simulates a slow keychain.
        std::thread::sleep(Duration::from_millis(300));
        self.inner.set(key, secret)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.inner.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.inner.keys(prefix)
    }
}

/// Approves all consent requests until the server is in this state.
async fn approve_until_state(api: &Api, state: &str) {
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    loop {
        let snapshot = run_command(api, "read_snapshot", json!({})).await;
        let server = &snapshot["servers"][0]["state"];
        let consent_request = &snapshot["consentRequests"][0];
        if !consent_request.is_null() {
            let answer = json!({"action": "allow", "scope": "once"});
            let request = json!({"id": consent_request["id"], "hash": consent_request["hash"], "answer": answer});
            run_command(api, "decide_consent_request", request).await;
        } else if server["is"] == state && server["signingIn"] != true {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "the server should be {state}: {snapshot}");
        // sleep: polls, because no event reports it.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn secret_read_while_it_is_being_replaced_is_discarded() {
    let script = AuthorizationScript {
        registration: false,
        clients: [("drawbridge".to_owned(), Some("r1ght-secret".to_owned()))].into(),
        auth_methods: vec!["client_secret_basic".to_owned()],
        ..AuthorizationScript::default()
    };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let keychain = Arc::new(SlowKeychain::default());
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), keychain.clone()).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let api = Api::new(app.host.clone());
    let config = |secret: &str| {
        let auth = json!({"clientId": "drawbridge", "clientSecret": secret, "hasSecret": true,
                          "issuer": issuer.issuer(), "scopes": []});
        json!({"type": "http", "url": server.url(), "auth": auth})
    };
    run_command(&api, "add_server", json!({"name": "far", "config": config("wr0ng-secret")})).await;
    run_command(&api, "start_server", json!({"server": "far"})).await;
    approve_until_state(&api, "needs_sign_in").await;
    keychain.is_requested.store(false, Ordering::SeqCst);
    let looking = async {
        while !keychain.is_requested.load(Ordering::SeqCst) {
            // sleep: polls, because no event reports it.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let known = run_command(&api, "read_authorization", json!({"server": "far"})).await;
        assert!(known["account"].is_null(), "the wrong secret should not sign in: {known}");
    };
    let again = json!({"server": "far", "name": "far", "config": config("r1ght-secret")});
    let _ = tokio::join!(run_command(&api, "update_server", again), looking);
    run_command(&api, "sign_in", json!({"server": "far"})).await;
    approve_until_state(&api, "ready").await;
    app.host.close().await;
}
