//! Tests of sign-ins while the vault is unusable.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use testkit::deadline::yield_until_idle;
use testkit::http::HttpServer;

use super::support::{TestAuthorization, TestCallOutcome, preregistered_client, start_servers, wait_until};
use crate::*;

#[tokio::test]
async fn server_without_sign_in_does_not_require_a_vault() {
    let server = HttpServer::start(|_, mut answer| async move { answer.status(200).await }).await;
    let bench = TestAuthorization::for_server_url(&server.url("/mcp"), Arc::default(), |_| ());
    bench.vault.is_broken.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the call must succeed without a vault");
    }
    assert_eq!(bench.vault.reads.load(Ordering::SeqCst), 1, "a failed vault must not be read for each request");
}

#[tokio::test]
async fn sign_in_succeeds_without_persistence() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.vault.is_broken.store(true, Ordering::SeqCst);
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("it is locked"), "the refusal must state the vault's error: {stopped:?}");
    bench.sign_in_and_call().await.unwrap();
    let persistence = Some(VaultEntryPersistence::ThisRun { cause: "it is locked".to_owned() });
    assert_eq!(
        bench.authorization.token_persistence(),
        persistence,
        "[auth-token-storage] the missing persistence must be reported"
    );
    assert!(
        bench.step_conclusions().contains("the stored sign-in could not be read: it is locked"),
        "the steps must state the vault's error"
    );
    bench.advance_clock(3590);
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the token must be renewed");

    let error = bench.authorization.sign_out().await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains("could not be removed") && words.contains("it is locked"),
        "the failure must be reported: {words}"
    );
    assert!(bench.authorization.account().is_none(), "no account must remain");
    assert_eq!(issuer.valid_token_counts(), (0, 0), "the tokens must be revoked");
    assert!(matches!(bench.call("echo").await, TestCallOutcome::Stopped(_)), "no token may be used");
    bench.vault.is_broken.store(false, Ordering::SeqCst);
    bench.authorization.sign_out().await.expect("a repeated sign-out must succeed");
}

#[tokio::test]
async fn sign_out_without_the_vault_applies_until_drawbridge_exits() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    bench.restart();
    bench.vault.is_broken.store(true, Ordering::SeqCst);
    bench.authorization.sign_out().await.expect_err("the sign-out must report the failure");
    bench.vault.is_broken.store(false, Ordering::SeqCst);
    assert!(matches!(bench.call("echo").await, TestCallOutcome::Stopped(_)), "no token may be used after the sign-out");
    assert!(bench.authorization.account().is_none(), "the stored account must be ignored");
    bench.authorization.sign_out().await.unwrap();
    assert!(
        !bench.vault.contains_entry(|kind| *kind == VaultEntryKind::Account),
        "[auth-token-storage] the entry must be removed"
    );
}

#[tokio::test]
async fn concurrent_calls_share_one_vault_read() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.vault.is_broken.store(true, Ordering::SeqCst);
    let held = bench.vault.gate.lock().await;
    let loads: Vec<_> = (0..10)
        .map(|_| {
            let authorization = Arc::clone(&bench.authorization);
            tokio::spawn(async move { authorization.load_stored_sign_in().await })
        })
        .collect();
    wait_until("one call must read the vault", || bench.vault.reads.load(Ordering::SeqCst) == 1).await;
    yield_until_idle().await;
    drop(held);
    for load in loads {
        assert!(load.await.unwrap().is_err(), "each call must fail");
    }
    assert_eq!(bench.vault.reads.load(Ordering::SeqCst), 1, "the vault must be read once");
}

#[tokio::test]
async fn secret_without_a_known_issuer_is_not_sent() {
    let known = |script: &mut testkit::authorization::AuthorizationScript| {
        script.auth_methods = vec!["client_secret_post".to_owned()];
        script.clients.insert("app".to_owned(), Some("secret-of-app".to_owned()));
    };
    for names_issuer in [false, true] {
        let (issuer, server) = start_servers(known, |_| ()).await;
        let bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::ClientCredentials;
            let client = preregistered_client("app", Some("secret-of-app"));
            let issuer = names_issuer.then(|| issuer.issuer());
            settings.client.preregistered = Some(PreregisteredClient { issuer, ..client });
        });
        bench.vault.is_broken.store(true, Ordering::SeqCst);
        let signed_in = bench.authorization.sign_in(AuthReason::SignIn).await;
        assert_eq!(signed_in.is_ok(), names_issuer, "the sign-in requires an issuer in the settings: {signed_in:?}");
        let sent = issuer.count("/token");
        assert_eq!(
            sent,
            usize::from(names_issuer),
            "[auth-credentials-no-reuse] issuer in the settings: {names_issuer}"
        );
    }
}
