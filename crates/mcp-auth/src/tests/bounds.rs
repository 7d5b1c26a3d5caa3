//! Tests of the limits on requests that a broken server causes.

use testkit::authorization::{RefusalBehaviour, ResourceMetadataLocation};

use super::support::{TestAuthorization, TestCallOutcome, start_servers};
use crate::*;

#[tokio::test]
async fn server_that_refuses_every_token_is_reported_after_few_requests() {
    // Permanent 401, permanent 5xx of the authorization server, permanent 5xx of the server.
    for (refusing, down) in [
        (RefusalBehaviour::Unauthorized, None),
        (RefusalBehaviour::Unauthorized, Some(503)),
        (RefusalBehaviour::Status(500), None),
    ] {
        let (issuer, server) = start_servers(
            |script| script.down = down,
            |script| (script.refusing, script.metadata) = (refusing, ResourceMetadataLocation::WellKnown),
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let mut reports = 0;
        // Simulates an app that retries continuously within one minute.
        for _ in 0..12 {
            bench.call("echo").await;
            if let Err(error) = bench.authorization.sign_in(AuthReason::SignIn).await {
                assert!(!error.to_string().is_empty(), "X51: the cause must be reported");
                reports += 1;
            }
        }
        let outside = server.received_requests().iter().filter(|one| one.method == "GET").count()
            + issuer.received_requests().iter().filter(|one| one.path_without_query() != "/authorize").count();
        println!("{refusing:?}, {down:?}: {outside} requests within a minute");
        assert!(outside <= 20, "X51: {refusing:?}, {down:?}: {outside} requests within a minute");
        assert!(reports > 0, "X51: {refusing:?}, {down:?}: the failure must be reported");
        bench.advance_clock(61);
        issuer.set(|script| script.down = None);
        server.set(|script| script.refusing = RefusalBehaviour::Nothing);
        bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
        assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "a retry must succeed after a minute");
    }
}

#[tokio::test]
async fn immediately_refused_token_is_renewed_once() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    server.set(|script| script.refusing = RefusalBehaviour::Unauthorized);
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("refuses a new token"), "X51: the cause must be reported: {stopped:?}");
    assert_eq!(issuer.token_requests("refresh_token").len(), 1, "X51: the token must be renewed once");
}

#[tokio::test]
async fn repeated_refusals_limit_the_number_of_renewals() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    let before = server.received_requests().len() + issuer.received_requests().len();
    let answered = |outcome: &TestCallOutcome| *outcome == TestCallOutcome::Answered(200);
    let mut outcomes = Vec::new();
    for _ in 0..30 {
        issuer.invalidate_access_tokens();
        outcomes.push(bench.call("echo").await);
    }
    assert_eq!(
        outcomes.iter().filter(|one| answered(one)).count(),
        3,
        "X51: the number of renewals must be limited to three: {outcomes:?}"
    );
    let words = format!("{:?}", outcomes[3]);
    assert!(
        words.contains("refused several new tokens") && words.contains("Sign in again"),
        "X51: the limit must be reported: {words}"
    );
    let refused = 27;
    let sent = server.received_requests().len() + issuer.received_requests().len() - before - refused;
    assert!(sent <= 12, "X51: each renewal must take at most four requests: {sent}");
    bench.advance_clock(61);
    assert!(answered(&bench.call("echo").await), "the renewal must succeed after a minute");
}
