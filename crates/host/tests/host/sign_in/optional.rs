//! Servers that don't require a sign-in: the user is not prompted, but can sign in.

use host::HostOptions;
use host::view::ServerState;
use testkit::authorization::{AuthorizationScript, ProtectedScript, ResourceMetadataLocation, parameter_value};

use super::{RemoteSetup, SERVER_NAME};

async fn start_remote_with_optional_sign_in() -> RemoteSetup {
    let serves = ProtectedScript {
        allows_anonymous: true,
        metadata: ResourceMetadataLocation::WellKnown,
        ..ProtectedScript::default()
    };
    RemoteSetup::scripted(AuthorizationScript::default(), serves).await
}

/// Waits until the server is ready and an account is signed in.
async fn wait_until_signed_in(far: &RemoteSetup) {
    let deadline = tokio::time::Instant::now() + testkit::app::EVENT_TIMEOUT;
    loop {
        let view = far.view().await;
        let is_ready = far.app.server(SERVER_NAME).await.state == ServerState::Ready;
        if is_ready && view.in_progress.is_none() && view.account.is_some() {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "no account is signed in: {view:?}");
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

async fn stop_and_wait(far: &RemoteSetup) {
    far.app.host.stop_server(SERVER_NAME.into()).await.unwrap();
    far.app.until(SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
}

#[tokio::test]
async fn user_can_sign_in_to_a_server_that_does_not_require_it() {
    let far = start_remote_with_optional_sign_in().await;
    far.approve_address().await;
    far.wait_until_ready().await;
    assert!(far.app.consent_requests().await.is_empty(), "using the server requires no sign-in");
    stop_and_wait(&far).await;
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    wait_until_signed_in(&far).await;
    // The user is signed in already, so the request requires nothing more.
    stop_and_wait(&far).await;
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.wait_until_ready().await;
    assert!(far.app.consent_requests().await.is_empty(), "a signed-in user is not prompted again");
    // Changing the account requires a sign-in in any case.
    stop_and_wait(&far).await;
    far.app.host.change_account(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    wait_until_signed_in(&far).await;
    let authorizations = far.issuer.authorization_queries();
    assert_eq!(authorizations.len(), 2, "one page was opened for each account");
    assert!(
        parameter_value(&authorizations[1], "prompt").is_some(),
        "the second sign-in asks to choose an account: {:?}",
        authorizations[1]
    );
    far.app.host.close().await;
}

#[tokio::test]
async fn sign_in_request_ends_with_its_decision() {
    let far = start_remote_with_optional_sign_in().await;
    far.approve_address().await;
    far.wait_until_ready().await;
    let far = far.restart(HostOptions::default()).await;
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    let request = far.wait_for_sign_in_request().await;
    assert!(far.view().await.in_progress.is_some(), "the sign-in in progress is reported");
    far.app.decide(&request, host::view::UserDecision::Deny).await;
    far.assert_no_consent_requests().await;
    far.app.until(SERVER_NAME, "in use as before", |s| s.state == ServerState::Ready).await;
    let deadline = tokio::time::Instant::now() + testkit::app::EVENT_TIMEOUT;
    while far.view().await.failed.is_none() {
        assert!(tokio::time::Instant::now() < deadline, "the reason of the failure was not reported in time");
        // sleep: polls for a condition that no event reports.
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    far.app.host.restart_server(SERVER_NAME.into()).await.unwrap();
    far.wait_until_ready().await;
    assert!(far.app.consent_requests().await.is_empty(), "the sign-in is not requested again automatically");
    far.app.host.close().await;
}
