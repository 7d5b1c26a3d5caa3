//! Isolation between servers: credentials for one server are never sent to another.

use std::sync::atomic::Ordering;

use host::view::{ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use testkit::app::{TestApp, remote_config};
use testkit::authorization::{self, AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

#[tokio::test]
async fn servers_with_separate_issuers_share_no_state() {
    let (one, two) = (
        AuthorizationServer::start(AuthorizationScript::default()).await,
        AuthorizationServer::start(AuthorizationScript::default()).await,
    );
    let first = ProtectedServer::start(ProtectedScript::default(), &[&one]).await;
    let second = ProtectedServer::start(ProtectedScript::default(), &[&two]).await;
    // Three servers in the settings: two accounts at the first address, one at the second.
    let servers = vec![
        ("work", remote_config(&first.url())),
        ("home", remote_config(&first.url())),
        ("other", remote_config(&second.url())),
    ];
    let app = TestApp::start(servers).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let answering = app.decide_automatically(|request| match request.body {
        ConsentRequestBody::ConnectServer { .. } | ConsentRequestBody::SignIn { .. } => {
            Some(UserDecision::Allow(ApprovalScope::Once))
        }
        _ => None,
    });
    for name in ["work", "home", "other"] {
        app.host.start_server(name.into()).await.unwrap();
    }
    for name in ["work", "home", "other"] {
        app.until(name, "in use", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    }
    assert_eq!(one.valid_token_counts().1, 2, "each entry has a separate sign-in, also at the same server");
    app.host.sign_out("work".into()).await.unwrap();
    app.until("home", "in use", |s| s.state == ServerState::Ready).await;
    assert_eq!(one.valid_token_counts().1, 1, "each entry has a separate sign-out");
    // The second server now names the issuer of the first one as its own.
    app.host.stop_server("other".into()).await.unwrap();
    app.until("other", "stopped", |s| s.state == ServerState::Stopped).await;
    second.set_issuers(&[&one]);
    app.host.start_server("other".into()).await.unwrap();
    app.until("other", "in use", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    answering.abort();
    app.host.close().await;
    assert_eq!(
        authorization::find_leaked_credentials(&[&one, &two], &[&first, &second]),
        Vec::<String>::new(),
        "[auth-only-own-as-tokens] no credentials reached another server"
    );
}

#[tokio::test]
async fn local_server_receives_no_token() {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let far = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let app = TestApp::start(vec![("far", remote_config(&far.url())), ("near", testkit::app::demo_config(&[]))]).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let answering = app.decide_automatically(|request| match request.body {
        ConsentRequestBody::ConnectServer { .. } | ConsentRequestBody::SignIn { .. } => {
            Some(UserDecision::Allow(ApprovalScope::Once))
        }
        _ => None,
    });
    app.host.start_server("far".into()).await.unwrap();
    app.until("far", "in use", |s| s.state == ServerState::Ready).await;
    let near = app.ready("near").await;
    let environment = std::fs::read(format!("/proc/{}/environ", near.pid.unwrap())).unwrap_or_default();
    let environment = String::from_utf8_lossy(&environment);
    assert!(!environment.is_empty() || !cfg!(target_os = "linux"), "the environment of the local server can be read");
    for secret in issuer.secrets() {
        assert!(!environment.contains(&secret), "the environment contains no token");
    }
    answering.abort();
    app.host.close().await;
}
