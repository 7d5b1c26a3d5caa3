//! Being asked for more scopes.

use std::sync::Arc;

use testkit::authorization::{Refusing, value};

use super::support::{Bench, Browser, Outcome, call, preregistered, servers, until};
use crate::*;

fn scopes_asked(issuer: &testkit::authorization::AuthorizationServer) -> Vec<String> {
    issuer.authorizations().iter().map(|one| value(one, "scope").unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn the_union_is_asked_for_and_the_call_goes_on() {
    let (issuer, server) = servers(
        |_| (),
        |script| {
            script.challenge_scope = Some("mcp:basic".to_owned());
            script.tool_scopes.insert("write".to_owned(), "mcp:write".to_owned());
        },
    )
    .await;
    let bench = Bench::new(&server, |_| ());
    bench.connect().await.unwrap();
    assert_eq!(
        bench.call("write").await,
        Outcome::Answered(200),
        "[auth-stepup] [auth-stepup-retry-request] it goes on"
    );
    assert_eq!(
        scopes_asked(&issuer),
        ["mcp:basic", "mcp:basic mcp:write"],
        "[auth-stepup-union] with what was there before"
    );
    let consent = bench.user.consents.lock().unwrap().pop().unwrap();
    assert_eq!(consent.new_scopes, ["mcp:write"], "the user sees what is new");
    assert_eq!(consent.reason, Reason::StepUp { operation: "tools/call".to_owned() }, "and for what");
    *bench.user.answer.lock().unwrap() = Answer::No;
    server.set(|script| drop(script.tool_scopes.insert("delete".to_owned(), "mcp:delete".to_owned())));
    let stopped = bench.call("delete").await;
    assert!(format!("{stopped:?}").contains("you declined"), "a refusal is the call's cause: {stopped:?}");
    assert_eq!(bench.call("write").await, Outcome::Answered(200), "and costs nothing that was there");
}

#[tokio::test]
async fn a_server_that_asks_for_ever_is_stopped() {
    let (issuer, server) = servers(
        |_| (),
        |script| {
            script.refusing = Refusing::InsufficientScope;
            script.tool_scopes.insert("same".to_owned(), "mcp:same".to_owned());
        },
    )
    .await;
    let bench = Bench::new(&server, |_| ());
    bench.authorization.sign_in(Reason::SignIn).await.unwrap();
    for _ in 0..5 {
        let stopped = bench.call("same").await;
        assert!(format!("{stopped:?}").contains("asked for already"), "[auth-stepup-retry-limit] X51: {stopped:?}");
    }
    assert_eq!(issuer.count("/authorize"), 2, "[auth-stepup-track] the same scopes are asked for once");
    for round in 0..6 {
        server.set(|script| drop(script.tool_scopes.insert("more".to_owned(), format!("mcp:{round}"))));
        bench.call("more").await;
    }
    assert_eq!(
        issuer.count("/authorize"),
        3,
        "[auth-stepup-retry-limit] X51: and others once more, which is thrice in all"
    );
    let stopped = bench.call("more").await;
    assert!(format!("{stopped:?}").contains("more than 2 times"), "X51: the user is told: {stopped:?}");
    let (_issuer, server) = servers(|_| (), |script| script.refusing = Refusing::InsufficientScope).await;
    let bench = Bench::new(&server, |_| ());
    bench.authorization.sign_in(Reason::SignIn).await.unwrap();
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("does not say which"), "one that names none gets none: {stopped:?}");
}

#[tokio::test]
async fn one_that_was_broken_off_is_no_try() {
    let wants_more = |script: &mut testkit::authorization::ProtectedScript| {
        drop(script.tool_scopes.insert("more".to_owned(), "mcp:more".to_owned()))
    };
    let (_issuer, server) = servers(|_| (), wants_more).await;
    let bench = Bench::new(&server, |_| ());
    bench.authorization.sign_in(Reason::SignIn).await.unwrap();
    *bench.user.browser.lock().unwrap() = Browser::Stays;
    for _ in 0..5 {
        let authorization = Arc::clone(&bench.authorization);
        let calling = tokio::spawn(async move { call(&authorization, "more").await });
        let is_waiting = || bench.authorization.in_progress().is_some_and(|at| at.phase == Phase::Callback);
        until("it waits for the browser", is_waiting).await;
        calling.abort();
        until("the call is given up", || bench.authorization.in_progress().is_none()).await;
        bench.pass(61);
    }
    *bench.user.browser.lock().unwrap() = Browser::SignsIn;
    let outcome = bench.call("more").await;
    assert_eq!(outcome, Outcome::Answered(200), "[auth-stepup-retry-limit] nobody was asked to the end before");
}

#[tokio::test]
async fn a_machine_asks_for_more_by_itself() {
    let (issuer, server) = servers(
        |script| {
            script.auth_methods = vec!["client_secret_post".to_owned()];
            script.clients.insert("app".to_owned(), Some("secret-of-app".to_owned()));
        },
        |script| drop(script.tool_scopes.insert("write".to_owned(), "mcp:write".to_owned())),
    )
    .await;
    let bench = Bench::new(&server, |settings| {
        settings.grant = GrantKind::ClientCredentials;
        settings.client.preregistered = Some(preregistered("app", Some("secret-of-app")));
    });
    assert_eq!(bench.call("write").await, Outcome::Answered(200), "[auth-stepup-machine] without a user");
    let asked = issuer.token_requests("client_credentials");
    assert_eq!(
        asked.last().and_then(|form| value(form, "scope")),
        Some("mcp:write"),
        "[auth-stepup-machine] {asked:?}"
    );
    assert!(bench.user.consents.lock().unwrap().is_empty(), "nobody is asked");
}
