//! Tests of the renewal of tokens.

use std::sync::Arc;
use std::time::Duration;

use mcp_transport::http::Authorizer as _;
use testkit::authorization::{RefreshBehaviour, parameter_value};

use super::support::{TestAuthorization, TestCallOutcome, send_call, start_servers};
use crate::*;

#[tokio::test]
async fn token_is_renewed_before_its_expiry_and_after_a_restart() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    let before = server.received_requests().len();
    bench.advance_clock(3500);
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "a valid token must be used");
    assert!(issuer.token_requests("refresh_token").is_empty(), "the token must not be renewed too early");
    bench.advance_clock(60);
    assert_eq!(
        bench.call("echo").await,
        TestCallOutcome::Answered(200),
        "[auth-expired-token-renew] the call must succeed shortly before the expiry"
    );
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "the token must be renewed");
    assert_eq!(server.received_requests().len(), before + 2, "the token must be renewed before a refusal");
    assert!(bench.authorization.account().unwrap().refreshed_at.is_some(), "the account must show the renewal");
    for day in 0..3 {
        bench.restart();
        bench.advance_clock(86_400);
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "[auth-token-storage] [auth-refresh-replace] day {day}: the call must succeed"
        );
    }
    let used: Vec<_> = issuer.token_requests("refresh_token");
    let tokens: std::collections::BTreeSet<_> =
        used.iter().filter_map(|form| parameter_value(form, "refresh_token")).collect();
    assert_eq!(
        tokens.len(),
        used.len(),
        "[auth-refresh-replace] [auth-b-token-rotation] each refresh token must be used once"
    );
}

#[tokio::test]
async fn concurrent_calls_share_one_renewal_and_succeed() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    issuer.set(|script| script.delay_ms = 200);
    for (round, by_clock) in [(1, false), (2, true)] {
        if by_clock {
            bench.advance_clock(3590);
        } else {
            issuer.invalidate_access_tokens();
        }
        let began = std::time::Instant::now();
        let calls: Vec<_> = (0..20)
            .map(|_| {
                let authorization = Arc::clone(&bench.authorization);
                tokio::spawn(async move { send_call(&authorization, "echo").await })
            })
            .collect();
        for one in calls {
            assert_eq!(
                one.await.unwrap(),
                TestCallOutcome::Answered(200),
                "[auth-expired-token-renew] round {round}: each call must succeed"
            );
        }
        println!("20 calls waited {:?} for one renewal", began.elapsed());
        let renewals = issuer.token_requests("refresh_token").len();
        assert_eq!(renewals, round, "round {round}: all calls must share one renewal");
    }
}

#[tokio::test]
async fn dropped_caller_does_not_lose_a_rotated_token() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    issuer.set(|script| script.delay_ms = 300);
    bench.advance_clock(3590);
    let url = bench.settings.server.clone();
    let left = tokio::time::timeout(Duration::from_millis(100), bench.authorization.sign("POST", &url)).await;
    assert!(left.is_err(), "the caller must be dropped during the renewal");
    super::support::wait_until("the renewal must complete", || {
        bench.authorization.account().is_some_and(|account| account.refreshed_at.is_some())
    })
    .await;
    bench.restart();
    bench.advance_clock(3590);
    assert_eq!(
        bench.call("echo").await,
        TestCallOutcome::Answered(200),
        "[auth-refresh-replace] the new refresh token must be stored"
    );
    assert_eq!(issuer.token_requests("refresh_token").len(), 2, "the new refresh token must be used");
}

#[tokio::test]
async fn failed_renewal_is_reported_and_the_user_can_sign_in_again() {
    for refresh in [RefreshBehaviour::Fails("invalid_grant".to_owned()), RefreshBehaviour::None] {
        let (issuer, server) = start_servers(|script| script.refresh = refresh.clone(), |_| ()).await;
        let bench = TestAuthorization::new(&server, |_| ());
        bench.sign_in_and_call().await.unwrap();
        issuer.invalidate_access_tokens();
        let stopped = bench.call("echo").await;
        let TestCallOutcome::Stopped(cause) = stopped else { panic!("{refresh:?}: it must stop: {stopped:?}") };
        let words = cause.to_lowercase();
        assert!(
            words.contains("sign in again"),
            "[auth-refresh-not-assumed] {refresh:?}: the next step must be stated: {cause}"
        );
        let account = bench.authorization.account().unwrap();
        assert!(account.ended.is_some() && !account.can_refresh, "the account must show the end: {account:?}");
        bench.sign_in_and_call().await.unwrap();
        assert!(bench.authorization.account().unwrap().ended.is_none(), "the account must be valid again");
    }
}

#[tokio::test]
async fn unavailable_authorization_server_keeps_the_token() {
    let (issuer, server) = start_servers(|script| script.refresh = RefreshBehaviour::Down(503), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    bench.advance_clock(3560);
    for _ in 0..5 {
        assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the token must be used until it expires");
    }
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "the failed renewal must not be retried immediately");
    bench.advance_clock(60);
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("503"), "the cause must be reported: {stopped:?}");
    issuer.set(|script| script.refresh = RefreshBehaviour::Rotating);
    bench.advance_clock(20);
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the refresh token must be retained");
}

#[tokio::test]
async fn concurrent_calls_share_one_failing_renewal() {
    let (issuer, server) = start_servers(|script| script.refresh = RefreshBehaviour::Down(503), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    issuer.set(|script| script.delay_ms = 200);
    issuer.invalidate_access_tokens();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let authorization = Arc::clone(&bench.authorization);
            tokio::spawn(async move { send_call(&authorization, "echo").await })
        })
        .collect();
    for one in calls {
        let stopped = one.await.unwrap();
        assert!(
            format!("{stopped:?}").contains("503"),
            "[auth-expired-token-renew] each call must report the cause: {stopped:?}"
        );
    }
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "X51: all calls must share one renewal");
    bench.call("echo").await;
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "X51: the renewal must not be retried immediately");
    bench.advance_clock(11);
    bench.call("echo").await;
    assert_eq!(issuer.token_requests("refresh_token").len(), 2, "the renewal must be retried later");
    bench.authorization.clear_renewal_and_vault_failures();
    bench.call("echo").await;
    assert_eq!(issuer.token_requests("refresh_token").len(), 3, "try_again must allow an immediate retry");
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "a sign-in must be possible immediately");
}

#[tokio::test]
async fn vault_failure_stops_calls_until_the_vault_is_unlocked() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    assert_eq!(
        bench.authorization.token_persistence(),
        Some(VaultEntryPersistence::Safely),
        "[auth-token-storage] the tokens must be in the vault"
    );
    bench.restart();
    bench.vault.is_broken.store(true, std::sync::atomic::Ordering::SeqCst);
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("it is locked"), "the cause must be reported: {stopped:?}");
    bench.vault.is_broken.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the call must succeed after unlocking");
}

#[tokio::test]
async fn requests_to_another_origin_are_not_signed() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    for url in ["https://evil.example/mcp", "http://127.0.0.1:1/mcp"] {
        let signed = bench.authorization.sign("POST", &url.parse().unwrap()).await.unwrap();
        assert!(signed.headers.is_empty(), "[auth-only-own-as-tokens] X49: {url} must get no token");
    }
}
