//! Signing out, changing the account, and removing servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use credentials::sign_in::SignOutOutcome;
use host::HostOptions;
use host::view::ServerState;
use ports::secrets::SecretsInMemory;
use ports::server_config::{HttpConfig, ServerEntry};
use ports::{SecretError, SecretPersistence, Secrets};
use testkit::app::{EVENT_TIMEOUT, TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, ProtectedScript, parameter_value};
use testkit::deadline::poll_until;

use super::{RemoteSetup, SERVER_NAME};

#[tokio::test]
async fn sign_out_revokes_tokens_and_ends_sessions() {
    let far = RemoteSetup::new().await.signed_in().await;
    let out = far.app.host.sign_out(SERVER_NAME.into()).await.unwrap();
    assert_eq!(out, SignOutOutcome::Revoked, "the tokens were revoked");
    assert_eq!(far.issuer.valid_token_counts(), (0, 0), "no token is valid any more");
    far.wait_until_sign_in_required("you signed out").await;
    assert_eq!(far.view().await.account, None, "no account is signed in");
    assert!(far.app.decisions().iter().any(|(kind, ..)| kind == "sign-out"), "the sign-out is audited");
    assert_eq!(
        far.app.host.sign_out(SERVER_NAME.into()).await.unwrap(),
        SignOutOutcome::NobodySignedIn,
        "a second sign-out has nothing to do"
    );
    let far = far.restart(host::HostOptions::default()).await;
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    far.app.host.close().await;
}

#[tokio::test]
async fn outcome_of_the_token_revocation_is_reported() {
    let issues = AuthorizationScript { revocation: false, ..AuthorizationScript::default() };
    let far = RemoteSetup::scripted(issues, ProtectedScript::default()).await.signed_in().await;
    let out = far.app.host.sign_out(SERVER_NAME.into()).await.unwrap();
    assert_eq!(out, SignOutOutcome::RevocationNotOffered, "revocation is not offered");
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    far.app.host.close().await;

    let far = RemoteSetup::new().await.signed_in().await;
    far.issuer.set(|script| script.down = Some(503));
    let out = far.app.host.sign_out(SERVER_NAME.into()).await.unwrap();
    assert!(
        matches!(&out, SignOutOutcome::RevocationFailed(cause) if cause.contains("503")),
        "the failure and its cause are reported: {out:?}"
    );
    assert_eq!(far.view().await.account, None, "the account is signed out in any case");
    far.app.host.close().await;
}

#[tokio::test]
async fn another_account_can_be_chosen() {
    let far = RemoteSetup::new().await.signed_in().await;
    far.app.host.change_account(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    let authorizations = far.issuer.authorization_queries();
    assert_eq!(authorizations.len(), 2, "two pages were opened");
    assert_eq!(parameter_value(&authorizations[0], "prompt"), None, "the first sign-in has no prompt parameter");
    assert!(
        parameter_value(&authorizations[1], "prompt").is_some(),
        "the second sign-in asks to choose an account: {:?}",
        authorizations[1]
    );
    assert_eq!(far.issuer.valid_token_counts().1, 1, "the tokens of the first account are revoked");
    far.app.host.close().await;
}

#[tokio::test]
async fn removed_or_moved_server_leaves_no_tokens() {
    let key = |far: &RemoteSetup, kind: &str| format!(r#"["sign-in","far","{}",[{kind}]]"#, far.server.url());
    for is_removed in [true, false] {
        let far = RemoteSetup::new().await.signed_in().await;
        assert!(far.keychain.get(&key(&far, "\"account\"")).unwrap().is_some(), "the tokens exist before the removal");
        if is_removed {
            far.app.host.remove_server(SERVER_NAME.into()).await.unwrap();
        } else {
            let config = HttpConfig { url: far.server.url().replace("/mcp", "/other"), ..HttpConfig::default() };
            let entry = ServerEntry { name: SERVER_NAME.into(), config: config.into() };
            far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
            far.app.until(SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
            assert_eq!(far.view().await.account, None, "no account is signed in at the other address");
        }
        for kind in ["\"account\"", &format!("\"client\",\"{}\"", far.issuer.issuer())] {
            let is_gone = || far.keychain.get(&key(&far, kind)).unwrap().is_none();
            assert!(
                poll_until(EVENT_TIMEOUT, is_gone).await,
                "{kind} is deleted from the keychain; removed: {is_removed}"
            );
        }
        let are_void = || far.issuer.valid_token_counts() == (0, 0);
        assert!(poll_until(EVENT_TIMEOUT, are_void).await, "the tokens are revoked; removed: {is_removed}");
        far.app.host.close().await;
    }
}

#[tokio::test]
async fn server_with_a_new_authorization_header_leaves_no_tokens_when_removed() {
    let far = RemoteSetup::new().await.signed_in().await;
    let headers = [("Authorization".to_owned(), "Bearer mine".to_owned())].into();
    let config = HttpConfig { url: far.server.url(), headers, ..HttpConfig::default() };
    let entry = ServerEntry { name: SERVER_NAME.into(), config: config.into() };
    far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
    assert!(!far.keychain.keys("[").unwrap().is_empty(), "adding a header doesn't remove the tokens");
    far.app.host.remove_server(SERVER_NAME.into()).await.unwrap();
    assert!(far.keychain.keys("[").unwrap().is_empty(), "removing the server removes the tokens");
    let are_void = || far.issuer.valid_token_counts() == (0, 0);
    assert!(poll_until(EVENT_TIMEOUT, are_void).await, "the tokens are revoked");
    far.app.host.close().await;
}

/// A keychain whose writes the test can slow down.
#[derive(Default)]
struct SlowKeychain {
    inner: SecretsInMemory,
    is_slow: AtomicBool,
    is_requested: AtomicBool,
    has_stored: AtomicBool,
}

impl Secrets for SlowKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.inner.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        let is_slow = self.is_slow.load(Ordering::SeqCst);
        if is_slow {
            self.is_requested.store(true, Ordering::SeqCst);
            // sleep: simulates the duration of a slow keychain.
            std::thread::sleep(Duration::from_millis(500));
        }
        let result = self.inner.set(key, secret);
        self.has_stored.fetch_or(is_slow, Ordering::SeqCst);
        result
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.inner.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.inner.keys(prefix)
    }
}

#[tokio::test]
async fn tokens_received_while_a_server_is_removed_are_deleted() {
    let far = RemoteSetup::new().await;
    let keychain = Arc::new(SlowKeychain::default());
    let (folder, servers) = (tempfile::tempdir().unwrap(), vec![(SERVER_NAME, remote_config(&far.server.url()))]);
    let app = TestApp::start_with_secrets(folder, servers, HostOptions::default(), keychain.clone()).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let far = RemoteSetup { app, ..far }.signed_in().await;
    let allowing = far.spawn_tool_approver();
    // The settings are saved without a change. The secrets may have changed, so the next connection creates a new
    // sign-in.
    let entry = ServerEntry { name: SERVER_NAME.into(), config: far.app.server(SERVER_NAME).await.config };
    far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
    far.issuer.invalidate_access_tokens();
    keychain.is_slow.store(true, Ordering::SeqCst);
    let removing = async {
        let is_requested = || keychain.is_requested.load(Ordering::SeqCst);
        assert!(poll_until(EVENT_TIMEOUT, is_requested).await, "the refreshed token is written to the keychain");
        far.app.host.remove_server(SERVER_NAME.into()).await.unwrap();
    };
    let (_, ()) = tokio::join!(far.echo("late", "x"), removing);
    assert!(
        poll_until(EVENT_TIMEOUT, || keychain.has_stored.load(Ordering::SeqCst)).await,
        "the keychain has completed its write"
    );
    assert_eq!(keychain.keys("[").unwrap(), Vec::<String>::new(), "the keychain contains no tokens");
    let are_void = || far.issuer.valid_token_counts() == (0, 0);
    assert!(poll_until(EVENT_TIMEOUT, are_void).await, "the tokens are revoked");
    allowing.abort();
    far.app.host.close().await;
}
