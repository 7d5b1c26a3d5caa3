//! Servers that let in whoever comes: nobody is asked to sign in, and who wants to can.

use host::HostOptions;
use host::view::ServerState;
use testkit::authorization::{AuthorizationScript, ProtectedScript, ResourceMetadata, value};

use super::{Far, NAME};

async fn far() -> Far {
    let serves = ProtectedScript {
        lets_strangers_in: true,
        metadata: ResourceMetadata::WellKnown,
        ..ProtectedScript::default()
    };
    Far::with(AuthorizationScript::default(), serves).await
}

/// Waits until it is in use, and somebody is signed in.
async fn in_use_by_somebody(far: &Far) {
    let deadline = tokio::time::Instant::now() + testkit::app::PATIENCE;
    loop {
        let view = far.view().await;
        let is_ready = far.app.server(NAME).await.state == ServerState::Ready;
        if is_ready && view.in_progress.is_none() && view.account.is_some() {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "somebody is signed in: {view:?}");
        // sleep: looks again until it holds; no event tells of it.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

async fn stopped(far: &Far) {
    far.app.host.stop_server(NAME.into()).await.unwrap();
    far.app.until(NAME, "stopped", |s| s.state == ServerState::Stopped).await;
}

#[tokio::test]
async fn who_asks_to_sign_in_can_where_nobody_has_to() {
    let far = far().await;
    far.approve().await;
    far.ready().await;
    assert!(far.app.questions().await.is_empty(), "who only uses it is not asked");
    stopped(&far).await;
    far.app.host.sign_in(NAME.into()).await.unwrap();
    far.allow().await;
    in_use_by_somebody(&far).await;
    // Who is signed in has what they asked for.
    stopped(&far).await;
    far.app.host.sign_in(NAME.into()).await.unwrap();
    far.ready().await;
    assert!(far.app.questions().await.is_empty(), "and is not asked once more");
    // Another account is asked for in any case.
    stopped(&far).await;
    far.app.host.change_account(NAME.into()).await.unwrap();
    far.allow().await;
    in_use_by_somebody(&far).await;
    let authorizations = far.issuer.authorizations();
    assert_eq!(authorizations.len(), 2, "the browser was sent there once for each");
    assert!(value(&authorizations[1], "prompt").is_some(), "the second time to choose: {:?}", authorizations[1]);
    far.app.host.close().await;
}

#[tokio::test]
async fn a_wish_to_sign_in_ends_with_its_answer() {
    let far = far().await;
    far.approve().await;
    far.ready().await;
    let far = far.tomorrow(HostOptions::default()).await;
    far.app.host.sign_in(NAME.into()).await.unwrap();
    let question = far.question().await;
    assert!(far.view().await.in_progress.is_some(), "that it is under way is told");
    far.app.answer(&question, host::view::UserAnswer::Deny).await;
    far.no_questions().await;
    far.app.until(NAME, "in use as before", |s| s.state == ServerState::Ready).await;
    let deadline = tokio::time::Instant::now() + testkit::app::PATIENCE;
    while far.view().await.failed.is_none() {
        assert!(tokio::time::Instant::now() < deadline, "why nobody is signed in is told");
        // sleep: looks again until it holds; no event tells of it.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    far.app.host.restart_server(NAME.into()).await.unwrap();
    far.ready().await;
    assert!(far.app.questions().await.is_empty(), "it is not asked again by itself");
    far.app.host.close().await;
}
