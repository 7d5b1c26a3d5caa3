//! Consent requests for sign-ins, and sign-ins that fail or are cancelled.

use std::sync::atomic::Ordering;

use credentials::sign_in::{ClientIdentity, SignInError, SignInPhase, SignInReason};
use host::HostOptions;
use host::view::{AppSettings, ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use testkit::app::EVENT_TIMEOUT;
use testkit::authorization::{AuthorizationBehaviour, AuthorizationScript, ProtectedScript};
use testkit::browser;
use testkit::deadline::poll_until;

use super::{RemoteSetup, SERVER_NAME, is_sign_in};

#[tokio::test]
async fn sign_in_completes_from_401_to_a_ready_server() {
    let far = RemoteSetup::scripted(
        AuthorizationScript::default(),
        ProtectedScript { challenge_scope: Some("read write".into()), ..ProtectedScript::default() },
    )
    .await;
    far.approve_address().await;
    let request = far.wait_for_sign_in_request().await;
    let ConsentRequestBody::SignIn {
        url,
        issuer,
        resource,
        scopes,
        held_scopes,
        client,
        endpoints,
        redirect_uri: Some(redirect_uri),
        authorization_url: Some(authorization_url),
        reason,
        ..
    } = &request.body
    else {
        unreachable!()
    };
    assert_eq!((url, resource), (&far.server.url(), &far.server.url()), "the server and the resource are displayed");
    assert_eq!(issuer, &far.issuer.issuer(), "the issuer is displayed");
    assert_eq!(
        (scopes, held_scopes.len()),
        (&vec!["read".to_owned(), "write".to_owned()], 0),
        "the scopes are displayed"
    );
    assert_eq!(
        (client, reason),
        (&ClientIdentity::Registered, &SignInReason::SignIn),
        "the client identification and the reason are displayed"
    );
    assert!(redirect_uri.starts_with("http://127.0.0.1:"), "the redirect URI is displayed: {redirect_uri}");
    assert!(
        authorization_url.starts_with(&format!("{issuer}/authorize?")),
        "the authorization URL is displayed: {authorization_url}"
    );
    let at_issuer = |name: &str| format!("{issuer}/{name}");
    let shown: Vec<String> = endpoints.iter().map(|endpoint| endpoint.url.clone()).collect();
    assert_eq!(shown, ["token", "register", "revoke"].map(at_issuer), "the endpoints are displayed");
    assert_eq!(request.scopes, [ApprovalScope::Once], "the approval applies to this sign-in only");
    assert_eq!(request.reason, "sign-in-asks", "the reason names the sign-in");
    assert!(far.app.platform.opened.lock().unwrap().is_empty(), "no page is opened before the decision");
    let view = far.view().await;
    assert_eq!(view.in_progress.unwrap().phase, SignInPhase::AwaitingConsent, "the phase is reported");
    let never =
        far.app.host.decide(request.id, request.hash.to_string(), UserDecision::Allow(ApprovalScope::Always)).await;
    assert!(never.is_err(), "a permanent approval is refused");
    far.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    far.wait_until_ready().await;
    let view = far.view().await;
    let account = view.account.expect("an account is signed in");
    assert_eq!(
        (account.issuer, account.resource),
        (far.issuer.issuer(), far.server.url()),
        "the issuer and the resource are known"
    );
    assert_eq!(account.scopes, ["read", "write"], "the scopes are known");
    assert!(account.can_refresh && account.expires_at.is_some(), "the expiry is known");
    assert!(view.in_progress.is_none() && !view.steps.is_empty(), "the steps of the sign-in are available");
    let decisions: Vec<_> =
        far.app.decisions().into_iter().map(|(kind, decision, _)| format!("{kind} {decision}")).collect();
    let expected = ["connect-server allowed", "sign-in allowed", "signed-in allowed", "connect-server allowed"];
    assert_eq!(decisions, expected, "every decision is audited");
    far.app.host.close().await;
}

#[tokio::test]
async fn automatic_start_requests_no_sign_in() {
    let far = RemoteSetup::new().await;
    far.approve_address().await;
    far.app.decide(&far.wait_for_sign_in_request().await, UserDecision::Deny).await;
    far.wait_until_sign_in_required("declined").await;
    assert!(far.issuer.authorization_queries().is_empty(), "no page is opened after a denial");
    let far = far.restart(HostOptions { autostart: true, ..HostOptions::default() }).await;
    far.wait_until_sign_in_required("").await;
    assert!(far.app.consent_requests().await.is_empty(), "an automatic start requests no consent");
    let is_announced = || far.app.platform.announced.lock().unwrap().iter().any(|a| a == "far: sign-in");
    assert!(poll_until(EVENT_TIMEOUT, is_announced).await, "the sign-in is announced");
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    far.app.host.close().await;
}

#[tokio::test]
async fn declined_sign_in_is_not_requested_again_until_the_user_asks() {
    let far = RemoteSetup::new().await;
    far.approve_address().await;
    for _ in 0..2 {
        far.app.decide(&far.wait_for_sign_in_request().await, UserDecision::Deny).await;
        far.wait_until_sign_in_required("declined").await;
        assert!(far.app.consent_requests().await.is_empty(), "consent is not requested again automatically");
        assert!(far.view().await.failed.is_some(), "the reason of the failure is retained");
        far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    }
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    assert_eq!(far.view().await.failed, None, "a successful sign-in clears the failure");
    far.app.host.close().await;
}

#[tokio::test]
async fn sign_in_can_be_cancelled_at_any_time() {
    let issues =
        AuthorizationScript { authorizing: AuthorizationBehaviour::ShowsPage, ..AuthorizationScript::default() };
    let far = RemoteSetup::scripted(issues, ProtectedScript::default()).await;
    far.approve_address().await;
    // The sign-in is cancelled while its consent request is pending.
    far.wait_for_sign_in_request().await;
    far.app.host.cancel_sign_in(SERVER_NAME.into()).await.unwrap();
    far.wait_until_sign_in_required("cancelled").await;
    far.assert_no_consent_requests().await;
    // The sign-in is cancelled while the browser is open.
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    let view = far.wait_for_browser().await;
    let progress = view.in_progress.unwrap();
    let left = progress.ends_at.unwrap() - ports::time::system_time_millis();
    assert!((200_000..=300_000).contains(&left), "five minutes are left to sign in: {left} ms");
    let callback = progress.redirect_uri.unwrap();
    far.app.host.cancel_sign_in(SERVER_NAME.into()).await.unwrap();
    far.wait_until_sign_in_required("cancelled").await;
    assert!(browser::get(&callback).await.is_err(), "the redirect listener is closed");
    // The sign-in is cancelled by stopping the server.
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.wait_for_sign_in_request().await;
    far.app.host.stop_server(SERVER_NAME.into()).await.unwrap();
    far.app.until(SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
    assert!(far.app.consent_requests().await.is_empty(), "the consent request was withdrawn");
    far.wait_for_view("ended", |view| view.in_progress.is_none()).await;
    // The sign-in is cancelled by removing the server.
    far.app.host.sign_in(SERVER_NAME.into()).await.unwrap();
    far.wait_for_sign_in_request().await;
    far.app.host.remove_server(SERVER_NAME.into()).await.unwrap();
    assert!(far.app.consent_requests().await.is_empty(), "the consent request was withdrawn");
    far.app.host.close().await;
}

#[tokio::test]
async fn redirect_from_another_browser_can_be_pasted() {
    let far = RemoteSetup::new().await;
    far.app.platform.browses.store(false, Ordering::Relaxed);
    let waits = far.app.host.paste_redirect(SERVER_NAME.into(), "http://127.0.0.1:1/?code=a&state=b".into()).await;
    assert_eq!(waits, Err(SignInError::NotWaiting(SERVER_NAME.into())), "no sign-in waits for a redirect");
    far.approve_address().await;
    far.approve_sign_in().await;
    let progress = far.wait_for_browser().await.in_progress.unwrap();
    let page = browser::get(&progress.authorization_url.unwrap()).await.unwrap();
    let address = page.location().expect("the other browser is redirected").to_owned();
    for wrong in ["http://127.0.0.1:1/?code=a&state=b", "nonsense", progress.redirect_uri.as_deref().unwrap()] {
        let taken = far.app.host.paste_redirect(SERVER_NAME.into(), wrong.into()).await;
        assert!(matches!(taken, Err(SignInError::BadRedirect(_))), "{wrong} is refused: {taken:?}");
    }
    // The redirect of another sign-in must not end this one.
    let other = format!("{}?code=a&state=b", progress.redirect_uri.unwrap());
    far.app.host.paste_redirect(SERVER_NAME.into(), other).await.unwrap();
    far.app.host.paste_redirect(SERVER_NAME.into(), format!("  {address}\n")).await.unwrap();
    far.wait_until_ready().await;
    far.app.host.close().await;
}

#[tokio::test]
async fn sign_in_is_not_offered_to_a_server_with_a_configured_key() {
    let far = RemoteSetup::new().await;
    let mut config = far.app.server(SERVER_NAME).await.config.as_http().unwrap().clone();
    config.headers.insert("authorization".into(), "Bearer mine".into());
    let entry = ports::server_config::ServerEntry { name: SERVER_NAME.into(), config: config.into() };
    far.app.host.update_server(SERVER_NAME.into(), entry).await.unwrap();
    far.approve_address().await;
    let view = far.app.until(SERVER_NAME, "failed", |s| matches!(s.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = view.state else { unreachable!() };
    assert_eq!(failure.reason, host::view::FailureReason::Unauthorized, "[auth-custom-strategy] the key was refused");
    assert!(far.view().await.not_offered.is_some(), "the view states that signing in is not supported");
    let begun = far.app.host.sign_in(SERVER_NAME.into()).await;
    assert!(matches!(begun, Err(SignInError::NotOffered { .. })), "a sign-in can't be started: {begun:?}");
    let sent: Vec<_> =
        far.server.received_requests().iter().filter_map(|r| r.header("authorization").map(str::to_owned)).collect();
    assert!(
        !sent.is_empty() && sent.iter().all(|value| value == "Bearer mine"),
        "the user's header was sent: {sent:?}"
    );
    assert!(far.issuer.received_requests().is_empty(), "no authorization server was contacted");
    far.app.host.close().await;
}

#[tokio::test]
async fn sign_in_notifications_can_be_disabled() {
    let far = RemoteSetup::new().await;
    far.app.host.set_settings(AppSettings { announce: false, ..AppSettings::default() }).await.unwrap();
    far.approve_address().await;
    far.app.decide(&far.wait_for_sign_in_request().await, UserDecision::Deny).await;
    let far = far.restart(HostOptions { autostart: true, ..HostOptions::default() }).await;
    far.wait_until_sign_in_required("").await;
    assert!(far.app.platform.announced.lock().unwrap().is_empty(), "no announcement is shown");
    assert!(!far.app.consent_requests().await.iter().any(is_sign_in), "no consent is requested");
    far.app.host.close().await;
}
