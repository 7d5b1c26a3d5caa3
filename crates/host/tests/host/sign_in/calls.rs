//! Calls during sign-ins: they wait while tokens are refreshed, and continue after a step-up authorization.

use std::sync::atomic::Ordering;

use credentials::sign_in::SignInReason;
use domain::call::{CallFailure, CallKind, CallState};
use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use testkit::authorization::{AuthorizationScript, ProtectedScript, RefreshBehaviour};
use testkit::browser;

use super::{RemoteSetup, SERVER_NAME, is_sign_in};

#[tokio::test]
async fn fifty_calls_share_one_token_refresh() {
    let issues = AuthorizationScript { delay_ms: 300, ..AuthorizationScript::default() };
    let far = RemoteSetup::scripted(issues, ProtectedScript::default()).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    far.echo("first", "x").await.expect("the call succeeds");
    far.issuer.invalidate_access_tokens();
    let names: Vec<String> = (0..50).map(|number| format!("call-{number}")).collect();
    let calls = names.iter().map(|name| far.echo(name, name));
    for (name, result) in names.iter().zip(futures_util::future::join_all(calls).await) {
        assert!(
            result.as_ref().is_ok_and(|text| text.contains(name.as_str())),
            "{name} receives its result: {result:?}"
        );
    }
    assert_eq!(far.issuer.token_requests("refresh_token").len(), 1, "one refresh serves all calls");
    assert!(far.app.consent_requests().await.is_empty(), "no consent is requested");
    assert!(far.view().await.account.unwrap().refreshed_at.is_some(), "the time of the refresh is known");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn call_that_requires_more_scopes_continues_after_consent() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = RemoteSetup::scripted(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    let calling = far.echo("more", "hello");
    let answering = async {
        let request = far.wait_for_sign_in_request().await;
        let ConsentRequestBody::SignIn { scopes, held_scopes, reason, .. } = &request.body else { unreachable!() };
        assert_eq!(held_scopes, &["read"], "the granted scopes are listed separately");
        assert!(
            scopes.contains(&"read".to_owned()) && scopes.contains(&"write".to_owned()),
            "the requested scopes include the granted ones: {scopes:?}"
        );
        assert_eq!(reason, &SignInReason::StepUp { operation: "tools/call".into() }, "the reason names the method");
        let led_to_it = ConsentRequestOrigin::Call {
            call: "more".into(),
            kind: CallKind::Tool,
            name: "echo".into(),
            conversation: None,
        };
        assert_eq!(request.origin, led_to_it, "the origin is the call");
        let state = far.app.host.snapshot().await.unwrap().calls[0].state;
        assert_eq!(state, CallState::AwaitingApproval, "the call waits for the decision");
        far.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    };
    let (called, ()) = tokio::join!(calling, answering);
    assert!(
        called.as_ref().is_ok_and(|text| text.contains("hello")),
        "[auth-stepup] the same call continues: {called:?}"
    );
    assert_eq!(
        far.server.requests_with_method("initialize").len(),
        1,
        "the same session continues after the initial failure without a token"
    );
    far.echo("again", "hello").await.expect("later calls are permitted");
    assert_eq!(far.view().await.account.unwrap().scopes, ["read", "write"], "the account has both scopes");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn call_with_a_denied_step_up_fails_alone() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = RemoteSetup::scripted(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    let calling = far.echo("more", "hello");
    let answering = async {
        let request = far.wait_for_sign_in_request().await;
        far.app.decide(&request, UserDecision::Deny).await;
        request
    };
    let (called, request) = tokio::join!(calling, answering);
    let entries = far.app.entries_of_kind("sign-in");
    let denied = entries.last().map(|entry| (&*entry.decision, &*entry.hash));
    assert_eq!(denied, Some(("denied", request.hash.as_str())), "the entry has the shown hash");
    let failure = called.expect_err("the call fails").to_string();
    assert!(failure.contains("403"), "the error contains the server's response: {failure}");
    assert_eq!(far.app.server(SERVER_NAME).await.state, ServerState::Ready, "the server stays ready");
    assert!(far.view().await.account.is_some(), "the user stays signed in");
    // The user can mute a server that requests more scopes than the user allows.
    far.app.host.deny_all_requests(SERVER_NAME.into(), true).await.unwrap();
    far.echo("once more", "hello").await.expect_err("the call fails again");
    assert!(!far.app.consent_requests().await.iter().any(is_sign_in), "no further consent is requested");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn cancelled_call_withdraws_only_its_own_step_up() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = RemoteSetup::scripted(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    far.app.platform.browses.store(false, Ordering::Relaxed);
    let cancellation = async {
        far.wait_for_sign_in_request().await;
        far.app.host.cancel_call("one".into()).await.unwrap();
    };
    let (called, ()) = tokio::join!(far.echo("one", "x"), cancellation);
    assert_eq!(called, Err(CallFailure::Cancelled), "the call has ended");
    far.assert_no_consent_requests().await;
    assert_eq!(far.view().await.in_progress, None, "the step-up ends with the call");
    let browsing = async {
        far.approve_sign_in().await;
        let progress = far.wait_for_browser().await.in_progress.unwrap();
        far.app.host.cancel_call("two".into()).await.unwrap();
        progress.authorization_url.unwrap()
    };
    let (called, page) = tokio::join!(far.echo("two", "x"), browsing);
    assert_eq!(called, Err(CallFailure::Cancelled), "the call has ended");
    browser::sign_in(&page).await.unwrap();
    far.echo("three", "hello").await.expect("the step-up in the browser applies to the next call");
    assert!(!far.app.consent_requests().await.iter().any(is_sign_in), "no further consent is requested");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn session_with_expired_tokens_waits_for_the_user() {
    let issues = AuthorizationScript { refresh: RefreshBehaviour::None, ..AuthorizationScript::default() };
    let far = RemoteSetup::scripted(issues, ProtectedScript::default()).await.signed_in().await;
    let allowing = far.spawn_tool_approver();
    far.issuer.invalidate_access_tokens();
    far.echo("late", "x").await.expect_err("the call can't be signed");
    far.wait_until_sign_in_required("").await;
    assert!(!far.app.consent_requests().await.iter().any(is_sign_in), "no sign-in was requested");
    far.app.host.start_server(SERVER_NAME.into()).await.unwrap();
    far.approve_sign_in().await;
    far.wait_until_ready().await;
    far.echo("after", "x").await.expect("the server is ready again");
    allowing.abort();
    far.app.host.close().await;
}
