//! Sign-ins persist across restarts of the app, and secrets are stored only in the keychain.

use credentials::sign_in::{ClientIdentity, EnteredClient, TokenStorage};
use host::HostOptions;
use host::view::{ConsentRequestBody, ServerState, UserDecision};
use ports::server_config::{AuthConfig, GrantType, HttpConfig, ServerEntry};
use ports::{Secrets as _, secrets};
use testkit::app::EVENT_TIMEOUT;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::deadline::poll_until;

use super::{RemoteSetup, SERVER_NAME, is_sign_in};

#[tokio::test]
async fn sign_in_persists_across_restarts() {
    let far = RemoteSetup::new().await.signed_in().await;
    let token_storage = far.view().await.token_storage;
    assert!(
        matches!(&token_storage, Some(TokenStorage::ThisRun { .. })),
        "the storage of the tokens is reported: {token_storage:?}"
    );
    let far = far.restart(HostOptions { autostart: true, ..HostOptions::default() }).await;
    far.wait_until_ready().await;
    assert_eq!(far.issuer.authorization_queries().len(), 1, "no new sign-in is required");
    let far = far.restart(HostOptions::default()).await;
    let view = far.view().await;
    assert!(view.account.is_some(), "the account is known before the server is running");
    assert!(
        matches!(&view.token_storage, Some(TokenStorage::ThisRun { .. })),
        "the storage of the found tokens is reported: {:?}",
        view.token_storage
    );
    // Repeats the test with an expired access token and a valid refresh token.
    far.issuer.invalidate_access_tokens();
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    far.wait_until_ready().await;
    assert!(!far.app.consent_requests().await.iter().any(is_sign_in), "a refresh requires no new sign-in");
    far.app.host.close().await;
}

#[tokio::test]
async fn tokens_are_never_shown_or_written() {
    let far = RemoteSetup::new().await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    for (number, token) in far.issuer.secrets().into_iter().filter(|s| s.starts_with("access")).enumerate() {
        far.echo(&format!("echo-{number}"), &format!("you sent {token}, did you not")).await.expect("a call passes");
    }
    let activity = far.app.activity(SERVER_NAME).await;
    assert!(activity.contains("you sent [redacted], did you not"), "what a server echoes is redacted: {activity}");
    assert!(activity.contains("a secret in it is redacted"), "the redaction is marked: {activity}");
    far.issuer.invalidate_access_tokens();
    far.echo("renewed", "x").await.expect("a call passes");
    far.app.host.sign_out(SERVER_NAME.into()).await.unwrap();
    far.wait_until_sign_in_required("").await;
    let activity = far.app.activity(SERVER_NAME).await;
    let view = format!("{:?} {:?}", far.view().await, far.app.host.snapshot().await.unwrap());
    let secrets = far.issuer.secrets();
    assert!(secrets.len() >= 4, "codes, access and refresh tokens were issued: {secrets:?}");
    allowing.abort();
    far.app.host.close().await;
    let mut folders = vec![far.app.folder.path().to_owned()];
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            looked_at += 1;
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            for secret in &secrets {
                assert!(
                    !text.contains(secret.as_str()),
                    "[auth-token-storage] [auth-refresh-confidential] no secret is in {}",
                    path.display()
                );
            }
        }
    }
    assert!(looked_at >= 2, "the settings and the audit log were checked");
    for secret in &secrets {
        assert!(!activity.contains(secret.as_str()), "the activity log contains no secret: {activity}");
        assert!(!view.contains(secret.as_str()), "the view contains no secret: {view}");
    }
}

#[tokio::test]
async fn configured_client_credentials_are_used_and_not_shown() {
    let clients = [("us".to_owned(), Some("cl1ent-secret".to_owned()))].into();
    let auth_methods = vec!["client_secret_basic".to_owned()];
    let script = AuthorizationScript { registration: false, clients, auth_methods, ..AuthorizationScript::default() };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let auth = AuthConfig {
        client_id: Some("us".into()),
        client_secret: Some(secrets::secret_reference("far.clientSecret")),
        issuer: Some(issuer.issuer()),
        scopes: vec!["files".into()],
        ..AuthConfig::default()
    };
    let config = HttpConfig { url: server.url(), auth: Some(auth), ..HttpConfig::default() };
    let key = secrets::secret_storage_key("far.clientSecret", &config.origin().unwrap());
    let far = RemoteSetup::with_servers(issuer, server, config.into()).await;
    // Without the client secret, the sign-in fails.
    far.approve_address().await;
    let view = far.app.until(SERVER_NAME, "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = view.state else { unreachable!() };
    assert_eq!(
        failure.reason,
        host::view::FailureReason::NoSecret,
        "the failure names the missing secret: {}",
        failure.message
    );
    far.keychain.set(&key, "cl1ent-secret").unwrap();
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    let request = far.wait_for_sign_in_request().await;
    let ConsentRequestBody::SignIn { client_id, scopes, .. } = &request.body else { unreachable!() };
    assert_eq!(
        (client_id.as_str(), scopes),
        ("us", &vec!["files".to_owned()]),
        "the client id and the scopes are displayed"
    );
    far.app.decide(&request, UserDecision::Allow(policy::ApprovalScope::Once)).await;
    far.wait_until_ready().await;
    assert!(
        !far.app.activity(SERVER_NAME).await.contains("cl1ent-secret"),
        "the activity log doesn't contain the secret"
    );
    let steps = format!("{:?}", far.view().await.steps);
    assert!(!steps.contains("cl1ent-secret"), "the steps don't contain the secret: {steps}");
    far.app.host.close().await;
}

/// Returns a setup whose settings refer to a client id and a client secret, and the keychain key of that secret.
async fn setup_with_secret(secret: &str) -> (RemoteSetup, String) {
    let clients = [("us".to_owned(), Some(secret.to_owned()))].into();
    let auth_methods = vec!["client_secret_basic".to_owned()];
    let script = AuthorizationScript { registration: false, clients, auth_methods, ..AuthorizationScript::default() };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let auth = AuthConfig {
        client_id: Some("us".into()),
        client_secret: Some(secrets::secret_reference("far.clientSecret")),
        issuer: Some(issuer.issuer()),
        ..AuthConfig::default()
    };
    let config = HttpConfig { url: server.url(), auth: Some(auth), ..HttpConfig::default() };
    let key = secrets::secret_storage_key("far.clientSecret", &config.origin().unwrap());
    (RemoteSetup::with_servers(issuer, server, config.into()).await, key)
}

/// Stores a new value of a secret in the keychain, and saves the server's settings without a change.
async fn change_secret(far: &RemoteSetup, key: &str, secret: &str) {
    far.keychain.set(key, secret).unwrap();
    let entry = ServerEntry { name: SERVER_NAME.into(), config: far.app.server(SERVER_NAME).await.config };
    far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
}

#[tokio::test]
async fn replaced_secret_is_used_by_the_next_sign_in() {
    let (far, key) = setup_with_secret("r1ght-secret").await;
    far.keychain.set(&key, "wr0ng-secret").unwrap();
    far.approve_address().await;
    far.approve_sign_in().await;
    far.wait_until_sign_in_required("invalid_client").await;
    change_secret(&far, &key, "r1ght-secret").await;
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    // Changes the secret again while the server is running.
    far.issuer.set(|script| drop(script.clients.insert("us".to_owned(), Some("an0ther-secret".to_owned()))));
    change_secret(&far, &key, "an0ther-secret").await;
    let before = far.app.server(SERVER_NAME).await.since;
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    let signed_in = |s: &host::view::ServerView| s.state == ServerState::Ready && s.since > before;
    far.app.until(SERVER_NAME, "in use again", signed_in).await;
    let deadline = tokio::time::Instant::now() + EVENT_TIMEOUT;
    while far.issuer.token_requests("authorization_code").len() < 3 || far.view().await.in_progress.is_some() {
        assert!(tokio::time::Instant::now() < deadline, "the sign-in did not end in time: {:?}", far.view().await);
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(far.view().await.failed, None, "the sign-in with the new secret succeeds");
    far.app.host.close().await;
}

#[tokio::test]
async fn removed_server_without_its_secret_leaves_no_tokens() {
    for is_removed_before in [true, false] {
        let (far, key) = setup_with_secret("cl1ent-secret").await;
        far.keychain.set(&key, "cl1ent-secret").unwrap();
        let far = far.signed_in().await;
        let far = far.restart(HostOptions::default()).await;
        // Tokens for another address and issuer, which the current sign-in doesn't know.
        far.keychain.set(r#"["sign-in","far","https://a.example/",["client","https://i.example"]]"#, "eA==").unwrap();
        let other = r#"["sign-in","far\",\"x","https://a.example/",["account"]]"#;
        far.keychain.set(other, "eA==").unwrap();
        if is_removed_before {
            far.keychain.delete(&key).unwrap();
        }
        far.app.host.remove_server(SERVER_NAME.into()).await.unwrap();
        assert_eq!(
            far.keychain.keys("[").unwrap(),
            [other],
            "all its tokens are removed; secret removed before: {is_removed_before}"
        );
        if !is_removed_before {
            far.keychain.delete(&key).unwrap();
            let are_void = || far.issuer.valid_token_counts() == (0, 0);
            assert!(poll_until(EVENT_TIMEOUT, are_void).await, "the tokens are revoked with the secret read before");
        }
        far.app.host.close().await;
    }
}

#[tokio::test]
async fn client_credentials_require_no_consent() {
    let clients = [("robot".to_owned(), Some("cl1ent-secret".to_owned()))].into();
    let auth_methods = vec!["client_secret_basic".to_owned()];
    let script = AuthorizationScript { registration: false, clients, auth_methods, ..AuthorizationScript::default() };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let auth = AuthConfig {
        client_id: Some("robot".into()),
        client_secret: Some(secrets::secret_reference("far.clientSecret")),
        issuer: Some(issuer.issuer()),
        grant: GrantType::ClientCredentials,
        ..AuthConfig::default()
    };
    let config = HttpConfig { url: server.url(), auth: Some(auth), ..HttpConfig::default() };
    let key = secrets::secret_storage_key("far.clientSecret", &config.origin().unwrap());
    let far = RemoteSetup::with_servers(issuer, server, config.into()).await;
    far.keychain.set(&key, "cl1ent-secret").unwrap();
    far.approve_address().await;
    far.wait_until_ready().await;
    assert!(far.issuer.authorization_queries().is_empty(), "[auth-cc-renew] no browser is opened");
    assert_eq!(far.issuer.token_requests("client_credentials").len(), 1, "one token was requested");
    // The next connection must use the new value.
    far.issuer.set(|script| drop(script.clients.insert("robot".to_owned(), Some("an0ther-secret".to_owned()))));
    far.issuer.invalidate_all_tokens();
    far.keychain.set(&key, "an0ther-secret").unwrap();
    let config = far.app.server(SERVER_NAME).await.config;
    let entry = ports::server_config::ServerEntry { name: SERVER_NAME.into(), config };
    far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
    let before = far.app.server(SERVER_NAME).await.since;
    far.app.host.restart_server(SERVER_NAME.into()).await.unwrap();
    far.app.until(SERVER_NAME, "in use again", |s| s.state == ServerState::Ready && s.since > before).await;
    far.app.host.close().await;
}

#[tokio::test]
async fn client_id_can_be_entered_if_nothing_else_works() {
    let clients = [("typed".to_owned(), None)].into();
    let script = AuthorizationScript { registration: false, clients, ..AuthorizationScript::default() };
    let far = RemoteSetup::scripted(script, ProtectedScript::default()).await;
    far.approve_address().await;
    let is_it = |q: &host::view::ConsentRequestView| matches!(q.body, ConsentRequestBody::ClientId { .. });
    let request = far.app.consent_request(SERVER_NAME, "the id", is_it).await;
    let ConsentRequestBody::ClientId { issuer, redirect_uri, .. } = &request.body else { unreachable!() };
    assert_eq!(issuer, &far.issuer.issuer(), "[auth-manual-client-id] the issuer is displayed");
    let shown = redirect_uri.clone();
    let entered = |id: &str| UserDecision::Client(EnteredClient { client_id: id.into(), client_secret: None });
    let taken = far.app.host.decide(request.id, request.hash.to_string(), entered("")).await;
    assert!(taken.is_err(), "an empty id is refused");
    far.app.decide(&request, entered("typed")).await;
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    let sent = far.issuer.authorization_queries();
    let sent = testkit::authorization::parameter_value(&sent[0], "redirect_uri");
    assert_eq!(sent, Some(shown.as_str()), "[auth-manual-client-id] the redirect URI to register is displayed");
    assert_eq!(
        far.view().await.account.unwrap().client,
        ClientIdentity::Entered,
        "the account states that the id was entered"
    );
    let far = far.restart(HostOptions::default()).await;
    far.app.host.sign_out(SERVER_NAME.into()).await.unwrap();
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    far.app.consent_request(SERVER_NAME, "signing in, with the same id", is_sign_in).await;
    far.app.host.close().await;
}
