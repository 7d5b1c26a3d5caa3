//! Tests of two processes with one vault, such as the app and its command line.

use std::collections::BTreeSet;
use std::sync::Arc;

use testkit::authorization::{ProtectedServer, RefreshBehaviour, parameter_value};

use super::support::{TestAuthorization, TestCallOutcome, send_call, start_servers, wait_until};
use crate::*;

/// Simulates another process that uses the same vault as `bench`.
fn start_other_process(server: &ProtectedServer, bench: &TestAuthorization) -> TestAuthorization {
    TestAuthorization::for_server_url(&server.url(), Arc::clone(&bench.vault), |_| ())
}

#[tokio::test]
async fn token_renewed_by_another_process_is_used() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let app = TestAuthorization::new(&server, |_| ());
    app.sign_in_and_call().await.unwrap();
    let command_line = start_other_process(&server, &app);
    for by_clock in [true, false] {
        if by_clock {
            for bench in [&app, &command_line] {
                bench.advance_clock(3590);
            }
        } else {
            issuer.invalidate_access_tokens();
        }
        let before = issuer.token_requests("refresh_token").len();
        assert_eq!(
            command_line.call("echo").await,
            TestCallOutcome::Answered(200),
            "the command line must renew the token"
        );
        assert_eq!(
            app.call("echo").await,
            TestCallOutcome::Answered(200),
            "[auth-refresh-replace] by clock: {by_clock}"
        );
        let used = issuer.token_requests("refresh_token");
        assert_eq!(used.len(), before + 1, "[auth-refresh-replace] one renewal for both, by clock: {by_clock}");
    }
    for bench in [&app, &command_line] {
        bench.advance_clock(3590);
    }
    assert_eq!(app.call("echo").await, TestCallOutcome::Answered(200), "the app must renew the shared token");
    assert_eq!(
        command_line.call("echo").await,
        TestCallOutcome::Answered(200),
        "the command line must use the renewed token"
    );
    let used = issuer.token_requests("refresh_token");
    let tokens: BTreeSet<_> = used.iter().filter_map(|form| parameter_value(form, "refresh_token")).collect();
    assert_eq!(tokens.len(), used.len(), "[auth-refresh-replace] each refresh token must be used once");
}

#[tokio::test]
async fn two_processes_do_not_renew_concurrently() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let app = TestAuthorization::new(&server, |_| ());
    app.sign_in_and_call().await.unwrap();
    let command_line = start_other_process(&server, &app);
    command_line.authorization.load_stored_sign_in().await.unwrap();
    issuer.set(|script| script.delay_ms = 200);
    for bench in [&app, &command_line] {
        bench.advance_clock(3590);
    }
    let (first, second) = tokio::join!(app.call("echo"), command_line.call("echo"));
    assert_eq!(
        (first, second),
        (TestCallOutcome::Answered(200), TestCallOutcome::Answered(200)),
        "both calls must succeed"
    );
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "[auth-refresh-replace] both must share one renewal");
}

#[tokio::test]
async fn failed_renewal_uses_a_concurrent_sign_in_of_another_process() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let app = TestAuthorization::new(&server, |_| ());
    app.sign_in_and_call().await.unwrap();
    let command_line = start_other_process(&server, &app);
    command_line.authorization.load_stored_sign_in().await.unwrap();
    // The user signs in again on the command line while the app's renewal is in progress.
    issuer.set(|script| script.refresh = RefreshBehaviour::Fails("invalid_grant".to_owned()));
    issuer.set(|script| script.delay_ms = 1500);
    app.advance_clock(3590);
    let authorization = Arc::clone(&app.authorization);
    let calling = tokio::spawn(async move { send_call(&authorization, "echo").await });
    wait_until("the renewal must be in progress", || !issuer.token_requests("refresh_token").is_empty()).await;
    issuer.set(|script| script.delay_ms = 0);
    command_line.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(calling.await.unwrap(), TestCallOutcome::Answered(200), "the app must use the new sign-in");
    assert!(app.authorization.account().unwrap().ended.is_none(), "the account must not be ended");
    issuer.set(|script| script.refresh = RefreshBehaviour::Rotating);
    assert_eq!(command_line.call("echo").await, TestCallOutcome::Answered(200), "the command line's call must succeed");
    let again = start_other_process(&server, &app);
    assert_eq!(again.call("echo").await, TestCallOutcome::Answered(200), "a third process must use the sign-in");
}

#[tokio::test]
async fn sign_out_in_another_process_is_respected() {
    for is_under_way in [false, true] {
        let (issuer, server) = start_servers(|script| script.revocation = false, |_| ()).await;
        let app = TestAuthorization::new(&server, |_| ());
        app.sign_in_and_call().await.unwrap();
        let command_line = start_other_process(&server, &app);
        command_line.authorization.load_stored_sign_in().await.unwrap();
        app.advance_clock(3590);
        let outcome = if is_under_way {
            issuer.set(|script| script.delay_ms = 1000);
            let authorization = Arc::clone(&app.authorization);
            let calling = tokio::spawn(async move { send_call(&authorization, "echo").await });
            wait_until("the renewal must be in progress", || !issuer.token_requests("refresh_token").is_empty()).await;
            issuer.set(|script| script.delay_ms = 0);
            command_line.authorization.sign_out().await.unwrap();
            calling.await.unwrap()
        } else {
            command_line.authorization.sign_out().await.unwrap();
            app.call("echo").await
        };
        assert!(
            matches!(outcome, TestCallOutcome::Stopped(_)),
            "under way: {is_under_way}: the call must stop: {outcome:?}"
        );
        assert!(app.authorization.account().is_none(), "under way: {is_under_way}: the app must have no account");
        let is_stored = app.vault.contains_entry(|kind| *kind == VaultEntryKind::Account);
        assert!(!is_stored, "[auth-token-storage] under way: {is_under_way}: the account must not be stored again");
    }
}

#[tokio::test]
async fn sign_in_of_another_process_is_used() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let app = TestAuthorization::new(&server, |_| ());
    assert!(matches!(app.call("echo").await, TestCallOutcome::Stopped(_)), "no user is signed in");
    let command_line = start_other_process(&server, &app);
    command_line.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(app.call("echo").await, TestCallOutcome::Answered(200), "the sign-in must be shared");
    assert!(app.user.consents.lock().unwrap().is_empty(), "no further consent must be requested");
}
