//! Tests of commands that report the state of the keychain and the encryption of stored content.

use std::sync::Arc;

use api::{Api, dispatch};
use host::HostOptions;
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretPersistence, Secrets, SecretsStatus};
use serde_json::json;
use testkit::app::TestApp;

/// Keychain that reports a fixed status.
struct FixedStatusKeychain(SecretsStatus, SecretsInMemory);

impl Secrets for FixedStatusKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.1.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.1.set(key, secret)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.1.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.1.keys(prefix)
    }

    fn status(&self) -> SecretsStatus {
        self.0.clone()
    }
}

#[tokio::test]
async fn each_keychain_status_has_its_own_response() {
    let cause = || "for this test".to_owned();
    for (status, expected) in [
        (SecretsStatus::Keychain, json!({"is": "keychain"})),
        (SecretsStatus::Locked { cause: cause() }, json!({"is": "locked", "cause": cause()})),
        (SecretsStatus::Missing { cause: cause() }, json!({"is": "missing", "cause": cause()})),
        (SecretsStatus::Broken { cause: cause() }, json!({"is": "broken", "cause": cause()})),
    ] {
        let keychain = Arc::new(FixedStatusKeychain(status.clone(), SecretsInMemory::default()));
        let folder = tempfile::tempdir().unwrap();
        let app = TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), keychain).await;
        let response = dispatch(&Api::new(app.host.clone()), "read_secrets_status", json!({})).await.unwrap();
        assert_eq!(response, expected, "response for {status:?}");
        app.host.close().await;
    }
}

#[tokio::test]
async fn s28_stored_contents_are_reported_as_unencrypted_without_a_keychain() {
    let folder = tempfile::tempdir().unwrap();
    let app =
        TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), Arc::new(SecretsInMemory::default()))
            .await;
    let response = dispatch(&Api::new(app.host.clone()), "read_content_protection", json!({})).await.unwrap();
    assert_eq!(response, json!({"conversations": {"is": "plain"}, "decisions": {"is": "plain"}}));
    app.host.close().await;
}

#[tokio::test]
async fn s28_stored_contents_are_reported_as_encrypted_with_a_keychain() {
    let folder = tempfile::tempdir().unwrap();
    let keychain = Arc::new(WorkingKeychain(SecretsInMemory::default()));
    let app = TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), keychain).await;
    let response = dispatch(&Api::new(app.host.clone()), "read_content_protection", json!({})).await.unwrap();
    assert_eq!(response, json!({"conversations": {"is": "encrypted"}, "decisions": {"is": "encrypted"}}));
    app.host.close().await;
}

/// Keychain that claims to persist secrets, but keeps them in memory.
struct WorkingKeychain(SecretsInMemory);

impl Secrets for WorkingKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.0.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        self.0.set(key, secret).map(|_| SecretPersistence::Keychain)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.0.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.0.keys(prefix)
    }
}
