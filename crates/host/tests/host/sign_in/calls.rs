//! What signing in means for calls: they wait while tokens are renewed, and go on after the user allowed more.

use std::sync::atomic::Ordering;

use credentials::sign_in::SignInReason;
use domain::call::{CallFailure, CallKind, CallState};
use domain::question::Why;
use host::view::{QuestionBody, ServerState, UserAnswer};
use policy::Scope;
use testkit::authorization::{AuthorizationScript, ProtectedScript, Refresh};
use testkit::browser;

use super::{Far, NAME, is_sign_in};

#[tokio::test]
async fn fifty_calls_wait_for_one_renewal() {
    let issues = AuthorizationScript { delay_ms: 300, ..AuthorizationScript::default() };
    let far = Far::with(issues, ProtectedScript::default()).await.signed_in().await;
    let allowing = far.allows_tools();
    far.echo("first", "x").await.expect("a call passes");
    far.issuer.end_access_tokens();
    let names: Vec<String> = (0..50).map(|number| format!("call-{number}")).collect();
    let calls = names.iter().map(|name| far.echo(name, name));
    for (name, result) in names.iter().zip(futures_util::future::join_all(calls).await) {
        assert!(result.as_ref().is_ok_and(|text| text.contains(name.as_str())), "{name} gets its answer: {result:?}");
    }
    assert_eq!(far.issuer.token_requests("refresh_token").len(), 1, "one renewal for all of them");
    assert!(far.app.questions().await.is_empty(), "and nobody was asked");
    assert!(far.view().await.account.unwrap().refreshed_at.is_some(), "that it was renewed is told");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn a_call_that_needs_more_goes_on_after_the_question() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = Far::with(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.allows_tools();
    let calling = far.echo("more", "hello");
    let answering = async {
        let question = far.question().await;
        let QuestionBody::SignIn { scopes, held_scopes, reason, .. } = &question.body else { unreachable!() };
        assert_eq!(held_scopes, &["read"], "what is allowed already is told apart");
        assert!(scopes.contains(&"read".to_owned()) && scopes.contains(&"write".to_owned()), "from all: {scopes:?}");
        assert_eq!(reason, &SignInReason::StepUp { operation: "tools/call".into() }, "and what it is for");
        let led_to_it = Why::Call { call: "more".into(), kind: CallKind::Tool, name: "echo".into() };
        assert_eq!(question.why, led_to_it, "and which call led to it");
        let state = far.app.host.snapshot().await.unwrap().calls[0].state;
        assert_eq!(state, CallState::AwaitingApproval, "which waits for the answer");
        far.app.answer(&question, UserAnswer::Allow(Scope::Once)).await;
    };
    let (called, ()) = tokio::join!(calling, answering);
    assert!(
        called.as_ref().is_ok_and(|text| text.contains("hello")),
        "[auth-stepup] the very call goes on: {called:?}"
    );
    assert_eq!(
        far.server.with_method("initialize").len(),
        1,
        "in the very session, after the one that failed for want of a token"
    );
    far.echo("again", "hello").await.expect("from now on it is allowed");
    assert_eq!(far.view().await.account.unwrap().scopes, ["read", "write"], "with both scopes");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn a_call_that_is_not_allowed_more_fails_alone() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = Far::with(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.allows_tools();
    let calling = far.echo("more", "hello");
    let answering = async { far.app.answer(&far.question().await, UserAnswer::Deny).await };
    let (called, ()) = tokio::join!(calling, answering);
    let failure = called.expect_err("the call fails").to_string();
    assert!(failure.contains("403"), "with what the server said: {failure}");
    assert_eq!(far.app.server(NAME).await.state, ServerState::Ready, "and the server stays in use");
    assert!(far.view().await.account.is_some(), "with the user signed in as before");
    // One that asks for more than the user wants can be silenced.
    far.app.host.deny_all(NAME.into(), true).await.unwrap();
    far.echo("once more", "hello").await.expect_err("it fails again");
    assert!(!far.app.questions().await.iter().any(is_sign_in), "without another question");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn a_call_that_is_given_up_takes_back_its_question_and_no_more() {
    let serves = ProtectedScript {
        challenge_scope: Some("read".into()),
        tool_scopes: [("echo".to_owned(), "write".to_owned())].into(),
        ..ProtectedScript::default()
    };
    let far = Far::with(AuthorizationScript::default(), serves).await.signed_in().await;
    let allowing = far.allows_tools();
    far.app.platform.browses.store(false, Ordering::Relaxed);
    let asked = async {
        far.question().await;
        far.app.host.cancel_call("one".into()).await.unwrap();
    };
    let (called, ()) = tokio::join!(far.echo("one", "x"), asked);
    assert_eq!(called, Err(CallFailure::Cancelled), "the call is over");
    far.no_questions().await;
    assert_eq!(far.view().await.in_progress, None, "and with it what nobody has begun");
    let browsing = async {
        far.allow().await;
        let progress = far.until_waits_for_browser().await.in_progress.unwrap();
        far.app.host.cancel_call("two".into()).await.unwrap();
        progress.authorization_url.unwrap()
    };
    let (called, page) = tokio::join!(far.echo("two", "x"), browsing);
    assert_eq!(called, Err(CallFailure::Cancelled), "the call is over");
    browser::sign_in(&page).await.unwrap();
    far.echo("three", "hello").await.expect("what the user was at in the browser counts for the next call");
    assert!(!far.app.questions().await.iter().any(is_sign_in), "without another question");
    allowing.abort();
    far.app.host.close().await;
}

#[tokio::test]
async fn a_session_whose_tokens_ended_waits_for_the_user() {
    let issues = AuthorizationScript { refresh: Refresh::None, ..AuthorizationScript::default() };
    let far = Far::with(issues, ProtectedScript::default()).await.signed_in().await;
    let allowing = far.allows_tools();
    far.issuer.end_access_tokens();
    far.echo("late", "x").await.expect_err("the call can't be signed");
    far.needs_sign_in("").await;
    assert!(!far.app.questions().await.iter().any(is_sign_in), "nobody asked for a sign-in now");
    far.app.host.start_server(NAME.into()).await.unwrap();
    far.allow().await;
    far.ready().await;
    far.echo("after", "x").await.expect("it is in use again");
    allowing.abort();
    far.app.host.close().await;
}
