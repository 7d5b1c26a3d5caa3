//! Tests of step-up: requests of a server for more scopes.

use std::sync::Arc;

use testkit::authorization::{RefusalBehaviour, parameter_value};

use super::support::{
    BrowserBehaviour, TestAuthorization, TestCallOutcome, preregistered_client, send_call, start_servers, wait_until,
};
use crate::*;

fn requested_scopes(issuer: &testkit::authorization::AuthorizationServer) -> Vec<String> {
    issuer
        .authorization_queries()
        .iter()
        .map(|one| parameter_value(one, "scope").unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn union_of_scopes_is_requested_and_the_call_continues() {
    let (issuer, server) = start_servers(
        |_| (),
        |script| {
            script.challenge_scope = Some("mcp:basic".to_owned());
            script.tool_scopes.insert("write".to_owned(), "mcp:write".to_owned());
        },
    )
    .await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    assert_eq!(
        bench.call("write").await,
        TestCallOutcome::Answered(200),
        "[auth-stepup] [auth-stepup-retry-request] the call must succeed"
    );
    assert_eq!(
        requested_scopes(&issuer),
        ["mcp:basic", "mcp:basic mcp:write"],
        "[auth-stepup-union] previous scopes must be included"
    );
    let consent = bench.user.consents.lock().unwrap().pop().unwrap();
    assert_eq!(consent.new_scopes, ["mcp:write"], "the consent request must show the new scopes");
    assert_eq!(
        consent.reason,
        AuthReason::StepUp { operation: "tools/call".to_owned() },
        "the consent request must show the operation"
    );
    *bench.user.answer.lock().unwrap() = ConsentAnswer::No;
    server.set(|script| drop(script.tool_scopes.insert("delete".to_owned(), "mcp:delete".to_owned())));
    let stopped = bench.call("delete").await;
    assert!(
        format!("{stopped:?}").contains("you declined"),
        "the decision must be the cause of the call's failure: {stopped:?}"
    );
    assert_eq!(bench.call("write").await, TestCallOutcome::Answered(200), "previous scopes must stay valid");
}

#[tokio::test]
async fn number_of_step_ups_per_operation_is_limited() {
    let (issuer, server) = start_servers(
        |_| (),
        |script| {
            script.refusing = RefusalBehaviour::InsufficientScope;
            script.tool_scopes.insert("same".to_owned(), "mcp:same".to_owned());
        },
    )
    .await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    for _ in 0..5 {
        let stopped = bench.call("same").await;
        assert!(format!("{stopped:?}").contains("requested already"), "[auth-stepup-retry-limit] X51: {stopped:?}");
    }
    assert_eq!(issuer.count("/authorize"), 2, "[auth-stepup-track] the same scopes must be requested once");
    for round in 0..6 {
        server.set(|script| drop(script.tool_scopes.insert("more".to_owned(), format!("mcp:{round}"))));
        bench.call("more").await;
    }
    assert_eq!(
        issuer.count("/authorize"),
        3,
        "[auth-stepup-retry-limit] X51: the number of requests must be limited to three"
    );
    let stopped = bench.call("more").await;
    assert!(format!("{stopped:?}").contains("more than 2 times"), "X51: the limit must be reported: {stopped:?}");
    let (_issuer, server) = start_servers(|_| (), |script| script.refusing = RefusalBehaviour::InsufficientScope).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    let stopped = bench.call("echo").await;
    assert!(
        format!("{stopped:?}").contains("without naming them"),
        "a challenge without scopes must be refused: {stopped:?}"
    );
}

#[tokio::test]
async fn interrupted_step_up_is_not_counted() {
    let require_more = |script: &mut testkit::authorization::ProtectedScript| {
        drop(script.tool_scopes.insert("more".to_owned(), "mcp:more".to_owned()))
    };
    let (_issuer, server) = start_servers(|_| (), require_more).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    for _ in 0..5 {
        let authorization = Arc::clone(&bench.authorization);
        let calling = tokio::spawn(async move { send_call(&authorization, "more").await });
        let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
        wait_until("the sign-in must wait for the browser", is_waiting).await;
        calling.abort();
        wait_until("the call must be aborted", || bench.authorization.progress().is_none()).await;
        bench.advance_clock(61);
    }
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::SignsIn;
    let outcome = bench.call("more").await;
    assert_eq!(
        outcome,
        TestCallOutcome::Answered(200),
        "[auth-stepup-retry-limit] interrupted attempts must not count"
    );
}

/// Configures the client credentials grant with a pre-registered client.
fn configure_client_credentials_grant(settings: &mut AuthorizationSettings) {
    settings.grant = GrantKind::ClientCredentials;
    settings.client.preregistered = Some(preregistered_client("app", Some("secret-of-app")));
}

fn register_client_of_app(script: &mut testkit::authorization::AuthorizationScript) {
    script.auth_methods = vec!["client_secret_post".to_owned()];
    script.clients.insert("app".to_owned(), Some("secret-of-app".to_owned()));
}

#[tokio::test]
async fn s14_client_credentials_request_consent_for_more_scopes() {
    let (issuer, server) = start_servers(register_client_of_app, |script| {
        drop(script.tool_scopes.insert("write".to_owned(), "mcp:write".to_owned()))
    })
    .await;
    let mut bench = TestAuthorization::new(&server, |settings| {
        configure_client_credentials_grant(settings);
        settings.scopes = Some(vec!["mcp:read".to_owned()]);
    });
    assert_eq!(
        bench.call("write").await,
        TestCallOutcome::Answered(200),
        "[auth-stepup-machine] the call must succeed after consent"
    );
    let scopes = |issuer: &testkit::authorization::AuthorizationServer| {
        let requests = issuer.token_requests("client_credentials");
        requests.iter().map(|form| parameter_value(form, "scope").unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        scopes(&issuer),
        ["mcp:read", "mcp:read mcp:write"],
        "[auth-stepup-machine] previous scopes must be included"
    );
    let consent = bench.user.consents.lock().unwrap().pop().unwrap();
    assert_eq!(consent.new_scopes, ["mcp:write"], "S14: the consent request must show the new scopes");
    assert_eq!((consent.authorize_url, consent.redirect_uri), (None, None), "no page is opened");

    // The approval covers these scopes from now on, and nothing more.
    issuer.invalidate_access_tokens();
    bench.restart();
    assert_eq!(bench.call("write").await, TestCallOutcome::Answered(200), "the token must be renewed");
    assert_eq!(
        scopes(&issuer).last().map(String::as_str),
        Some("mcp:read mcp:write"),
        "the approved scopes must be requested"
    );
    assert!(bench.user.consents.lock().unwrap().is_empty(), "no further consent must be requested");
}

#[tokio::test]
async fn s14_client_credentials_without_a_user_get_no_more_scopes() {
    let (issuer, server) = start_servers(register_client_of_app, |script| {
        script.challenge_scope = Some("mcp:admin".to_owned());
        script.scopes = Some(vec!["mcp:all".to_owned()]);
        script.tool_scopes.insert("write".to_owned(), "mcp:write".to_owned());
    })
    .await;
    let bench = TestAuthorization::new(&server, |settings| {
        configure_client_credentials_grant(settings);
        settings.scopes = Some(vec!["mcp:read".to_owned()]);
    });
    *bench.user.answer.lock().unwrap() = ConsentAnswer::No;
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the current scopes must suffice");
    let stopped = format!("{:?}", bench.call("write").await);
    assert!(stopped.contains("mcp:write"), "S14: the refusal must name the scopes: {stopped}");
    for form in issuer.token_requests("client_credentials") {
        assert_eq!(
            parameter_value(&form, "scope"),
            Some("mcp:read"),
            "S14: only scopes of the settings may be requested: {form:?}"
        );
    }
}

#[tokio::test]
async fn s07_client_credentials_are_sent_to_no_other_endpoint() {
    let (issuer, server) = start_servers(register_client_of_app, |_| ()).await;
    let (other, _) = start_servers(register_client_of_app, |_| ()).await;
    let mut bench = TestAuthorization::new(&server, configure_client_credentials_grant);
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the issuer's endpoint must need no consent");
    assert!(bench.user.consents.lock().unwrap().is_empty(), "no consent must be requested");

    let elsewhere = format!("{}/token", other.issuer());
    issuer.set(|script| drop(script.overrides.insert("token_endpoint".to_owned(), elsewhere.as_str().into())));
    issuer.invalidate_access_tokens();
    bench.restart();
    let stopped = format!("{:?}", bench.call("echo").await);
    assert!(
        stopped.contains(&elsewhere) && stopped.contains("not approved"),
        "S07: the cause must name the endpoint: {stopped}"
    );
    assert!(
        other.received_requests().is_empty(),
        "S07: no request must be sent there: {:?}",
        other.received_requests()
    );

    *bench.user.answer.lock().unwrap() = ConsentAnswer::No;
    let refused = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert_eq!(refused.cause, AuthErrorCause::Declined, "S07: a sign-in must request consent");
    let shown = bench.user.consents.lock().unwrap().pop().unwrap();
    assert!(
        shown.endpoints.iter().any(|endpoint| endpoint.url.as_str() == elsewhere),
        "S07: the consent request must list the endpoint"
    );
    assert!(other.received_requests().is_empty(), "S07: no request may be sent without consent");

    *bench.user.answer.lock().unwrap() = ConsentAnswer::Yes;
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(other.token_requests("client_credentials").len(), 1, "the approved endpoint must be used");
}
