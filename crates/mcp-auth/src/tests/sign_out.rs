//! Tests of the sign-out and revocation.

use serde_json::json;
use testkit::authorization::RefreshBehaviour;

use super::support::{TestAuthorization, TestCallOutcome, json_members, start_servers};
use crate::*;

#[tokio::test]
async fn tokens_are_revoked_if_supported_and_always_forgotten() {
    for (is_offered, is_down) in [(true, false), (false, false), (true, true)] {
        let (issuer, server) = start_servers(
            |script| {
                script.revocation = is_offered;
                if !is_offered {
                    script.overrides = json_members(&[("revocation_endpoint", json!(null))]);
                }
            },
            |_| (),
        )
        .await;
        let mut bench = TestAuthorization::new(&server, |_| ());
        bench.sign_in_and_call().await.unwrap();
        issuer.set(|script| script.down = is_down.then_some(503));
        let out = bench.authorization.sign_out().await.unwrap();
        match (is_offered, is_down) {
            (true, false) => {
                assert_eq!(out.revoked, RevocationOutcome::Yes, "the tokens must be revoked");
                assert_eq!(issuer.valid_token_counts(), (0, 0), "the tokens must be invalid");
            }
            (false, _) => assert_eq!(out.revoked, RevocationOutcome::NotOffered, "revocation is not offered"),
            (true, true) => {
                assert!(matches!(out.revoked, RevocationOutcome::Failed { .. }), "the cause must be reported: {out:?}")
            }
        }
        assert!(bench.authorization.account().is_none(), "no account must remain");
        let entries: String = bench
            .vault
            .entries
            .lock()
            .unwrap()
            .values()
            .map(|entry| String::from_utf8_lossy(entry).into_owned())
            .collect();
        for secret in issuer.secrets().iter().filter(|secret| secret.contains("token")) {
            assert!(!entries.contains(secret.as_str()), "[auth-token-storage] no token may be stored");
        }
        issuer.set(|script| script.down = None);
        bench.restart();
        assert!(
            matches!(bench.call("echo").await, TestCallOutcome::Stopped(_)),
            "no token may be used after a restart"
        );
        assert_eq!(
            bench.authorization.sign_out().await.unwrap().revoked,
            RevocationOutcome::NothingToRevoke,
            "a second sign-out must succeed"
        );
    }
}

#[tokio::test]
async fn unrevocable_access_token_ends_with_its_grant() {
    for (refresh, is_done) in [(RefreshBehaviour::Rotating, true), (RefreshBehaviour::None, false)] {
        let offers = |script: &mut testkit::authorization::AuthorizationScript| {
            (script.revokes_access, script.refresh) = (false, refresh.clone());
        };
        let (issuer, server) = start_servers(offers, |_| ()).await;
        let bench = TestAuthorization::new(&server, |_| ());
        bench.sign_in_and_call().await.unwrap();
        let revoked = bench.authorization.sign_out().await.unwrap().revoked;
        assert_eq!(revoked == RevocationOutcome::Yes, is_done, "RFC 7009, 2: with {refresh:?} it is {revoked:?}");
        assert_eq!(issuer.valid_token_counts().1, 0, "no refresh token may be valid");
        assert!(!is_done || bench.step_conclusions().contains("it is revoked"), "the steps must show the revocation");
    }
}
