//! Tests of the authorization code flow in the browser.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use testkit::authorization::{AuthorizationBehaviour, AuthorizationScript, IssParameter, parameter_value};
use testkit::deadline::yield_until_idle;

use super::support::{BrowserBehaviour, TestAuthorization, TestCallOutcome, start_servers, wait_until};
use crate::*;

#[tokio::test]
async fn sign_in_completes_from_401_to_the_response() {
    let (issuer, server) = start_servers(
        |script| script.scopes = Some(vec!["mcp:read".to_owned(), "offline_access".to_owned()]),
        |script| script.challenge_scope = Some("mcp:read".to_owned()),
    )
    .await;
    let bench = TestAuthorization::new(&server, |_| ());
    let mut changed = bench.authorization.subscribe_to_changes();
    let account = bench.sign_in_and_call().await.unwrap();
    assert_eq!(account.scopes, ["mcp:read", "offline_access"], "granted scopes must be known");
    assert!(account.can_refresh && account.expires_at.is_some() && account.ended.is_none(), "{account:?}");
    assert!(changed.has_changed().unwrap(), "watchers must be notified");
    changed.borrow_and_update();

    let consent = bench.user.consents.lock().unwrap().pop().unwrap();
    assert_eq!(
        (consent.issuer.as_str(), consent.resource.as_str()),
        (issuer.issuer().as_str(), server.url().as_str()),
        "issuer and resource in the consent request"
    );
    assert_eq!(consent.new_scopes, consent.scopes, "all scopes must be new");
    assert_eq!(consent.client, ClientKind::Registered, "kind of the client id in the consent request");

    let authorized = issuer.authorization_queries().pop().unwrap();
    let get = |name: &str| parameter_value(&authorized, name).unwrap_or_default();
    assert_eq!(get("response_type"), "code", "[auth-oauth21-best-practice] response type");
    assert_eq!(
        (get("code_challenge_method"), get("code_challenge").len()),
        ("S256", 43),
        "[auth-pkce] [auth-pkce-s256]"
    );
    assert!(get("state").len() >= 16, "[auth-state-verify] the state must not be guessable");
    assert_eq!(get("scope"), "mcp:read offline_access", "[auth-scope-from-challenge] [auth-scope-least-privilege]");
    assert_eq!(get("prompt"), "consent", "offline access must request consent");
    assert!(
        get("redirect_uri").starts_with("http://127.0.0.1:"),
        "[auth-redirect-localhost-https] the redirect URI must be a loopback address"
    );
    let redeemed = issuer.token_requests("authorization_code").pop().unwrap();
    assert_eq!(
        parameter_value(&redeemed, "code_verifier").map(str::len),
        Some(43),
        "[auth-pkce] the verifier must be sent with the code"
    );

    let calls = server.requests_with_method("tools/call");
    let header = calls.last().and_then(|call| call.header("authorization")).unwrap_or_default();
    assert!(header.starts_with("Bearer "), "[auth-bearer-header] the token must be in the header");
    bench.call("echo").await;
    let calls = server.requests_with_method("tools/call");
    assert!(
        calls[1..].iter().all(|call| call.header("authorization").is_some()),
        "[auth-every-request] every later request must have the token"
    );
    assert!(
        calls.iter().all(|call| !call.path.contains('?')),
        "[auth-no-query-token] [auth-ema-no-url-tokens] the token must not be in the URL"
    );
    let pages = Arc::clone(&bench.user.pages);
    wait_until("the browser must show a page", || !pages.lock().unwrap().is_empty()).await;
    let page = bench.user.pages.lock().unwrap().pop().unwrap();
    assert!(page.body.contains("You are signed in"), "the page must show the outcome: {page:?}");
    assert!(bench.authorization.progress().is_none(), "no sign-in must be in progress");
}

#[tokio::test]
async fn denied_consent_opens_no_browser_and_sends_no_code() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    for (answer, cause) in
        [(ConsentAnswer::No, AuthErrorCause::Declined), (ConsentAnswer::Cancel, AuthErrorCause::Cancelled)]
    {
        let bench = TestAuthorization::new(&server, |_| ());
        *bench.user.answer.lock().unwrap() = answer;
        let error = bench.sign_in_and_call().await.unwrap_err();
        assert_eq!((error.phase, error.cause), (AuthPhase::Consent, cause), "phase and cause of the error");
        assert!(bench.user.opened.lock().unwrap().is_empty(), "the browser must not be opened");
    }
    assert_eq!(issuer.count("/authorize"), 0, "no authorization request must be sent");
}

#[tokio::test]
async fn issuer_of_the_response_is_checked_before_the_code_is_sent() {
    let other = |issuer: &str| IssParameter::Other(issuer.to_owned());
    // Issuer in the response, `true` if promised, `true` if accepted, requirement.
    let table = [
        (IssParameter::Own, true, true, "[auth-iss-compare] [auth-iss-record]"),
        (IssParameter::Own, false, true, "[auth-iss-compare]"),
        (IssParameter::Missing, false, true, "[auth-iss-absent-proceed]"),
        (IssParameter::Missing, true, false, "[auth-iss-missing-reject]"),
        (other("https://evil.example"), true, false, "[auth-iss-compare]"),
        (other("https://evil.example"), false, false, "[auth-iss-compare]"),
        (other("own/"), true, false, "[auth-iss-no-normalise]"),
    ];
    for (iss, promised, is_good, what) in table {
        let (issuer, server) = start_servers(|script| script.iss_advertised = promised, |_| ()).await;
        let iss = if iss == other("own/") { other(&format!("{}/", issuer.issuer())) } else { iss };
        issuer.set(|script| script.iss = iss.clone());
        let bench = TestAuthorization::new(&server, |_| ());
        let connected = bench.sign_in_and_call().await;
        assert_eq!(connected.is_ok(), is_good, "{what} X44: {iss:?}, promised: {promised}: {connected:?}");
        let redeemed = issuer.count("/token");
        assert_eq!(
            redeemed,
            usize::from(is_good),
            "[auth-iss-before-code] X44: {iss:?}: the code must not be redeemed after a mismatch"
        );
    }
}

#[tokio::test]
async fn error_of_another_issuer_is_not_shown() {
    for (iss, is_shown) in [
        (IssParameter::Own, true),
        (IssParameter::Other("https://evil.example".to_owned()), false),
        (IssParameter::Missing, false),
    ] {
        let (_issuer, server) = start_servers(
            |script| {
                script.authorizing = AuthorizationBehaviour::Denies("access_denied".to_owned());
                script.iss = iss.clone();
            },
            |_| (),
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let error = bench.sign_in_and_call().await.unwrap_err();
        let shown = format!("{error} {}", bench.step_conclusions());
        assert_eq!(shown.contains("access_denied"), is_shown, "[auth-iss-error-response] {iss:?}: {shown}");
    }
}

#[tokio::test]
async fn sign_in_can_be_cancelled_or_dropped_and_repeated() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let authorization = Arc::clone(&bench.authorization);
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await });
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("the sign-in must wait for the browser", is_waiting).await;
    let shown = bench.authorization.progress().and_then(|at| at.authorize_url);
    assert_eq!(shown, bench.user.opened.lock().unwrap().first().cloned(), "the URL must be available");
    bench.authorization.cancel();
    let error = flow.await.unwrap().unwrap_err();
    assert_eq!(
        (error.phase, error.cause),
        (AuthPhase::Callback, AuthErrorCause::Cancelled),
        "phase and cause of the error"
    );
    assert!(bench.authorization.progress().is_none(), "no sign-in must be in progress");

    let dropped =
        tokio::time::timeout(Duration::from_millis(500), bench.authorization.sign_in(AuthReason::SignIn)).await;
    assert!(dropped.is_err(), "the browser does not return");
    assert!(bench.authorization.progress().is_none(), "a dropped sign-in must not be in progress");
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::SignsIn;
    bench.sign_in_and_call().await.unwrap();
}

#[tokio::test]
async fn sign_in_times_out_after_five_minutes() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    assert_eq!(issuer.count("/register"), 1, "the app must be registered");

    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let authorization = Arc::clone(&bench.authorization);
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await });
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("the sign-in must wait for the browser", is_waiting).await;
    let url = bench.user.opened.lock().unwrap().last().cloned().unwrap();
    let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(299)).await;
    tokio::time::resume();
    let page = testkit::browser::get(&format!("{redirect}?code=x&state=y")).await;
    assert!(page.is_ok_and(|page| page.status == 400), "the listener must still be open");
    assert!(is_waiting(), "the sign-in must still be in progress");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();

    let error = flow.await.unwrap().unwrap_err();
    assert_eq!(
        (error.phase, &error.cause),
        (AuthPhase::Callback, &AuthErrorCause::TimedOut),
        "phase and cause of the error"
    );
    assert!(
        error.to_string().contains("did not come back within five minutes"),
        "the message must state the cause: {error}"
    );
    assert!(
        error.next_step().contains("Start the sign-in again"),
        "the next step must be stated: {}",
        error.next_step()
    );
    assert!(bench.authorization.progress().is_none(), "no sign-in must be in progress");
    assert!(testkit::browser::get(&redirect).await.is_err(), "the port must be closed");
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the earlier sign-in must stay valid");

    *bench.user.browser.lock().unwrap() = BrowserBehaviour::SignsIn;
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(issuer.count("/register"), 2, "a doubted registration must be replaced");
}

#[tokio::test]
async fn sign_in_waiting_for_the_vault_can_be_cancelled() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    let begin = || {
        let authorization = Arc::clone(&bench.authorization);
        tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await.map_err(|error| error.cause) })
    };
    let held = bench.vault.gate.lock().await;
    let first = begin();
    wait_until("the sign-in must wait for the vault", || bench.vault.reads.load(Ordering::SeqCst) > 0).await;
    bench.authorization.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(10), first).await;
    assert_eq!(
        ended.expect("the sign-in must end immediately").unwrap(),
        Err(AuthErrorCause::Cancelled),
        "cancelled before the vault responds"
    );
    drop(held);

    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let flows = [begin(), begin()];
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("one sign-in must wait for the browser", is_waiting).await;
    yield_until_idle().await;
    bench.authorization.cancel();
    for flow in flows {
        let ended = tokio::time::timeout(Duration::from_secs(10), flow).await;
        assert_eq!(
            ended.expect("each sign-in must end").unwrap(),
            Err(AuthErrorCause::Cancelled),
            "waiting sign-ins must be cancelled too"
        );
    }
    assert_eq!(issuer.count("/authorize"), 0, "no authorization request must be sent");
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::SignsIn;
    bench.authorization.sign_in(AuthReason::SignIn).await.expect("the next sign-in must succeed");
}

#[tokio::test]
async fn concurrent_sign_ins_share_one_result() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    let (first, second) =
        tokio::join!(bench.authorization.sign_in(AuthReason::SignIn), bench.authorization.sign_in(AuthReason::SignIn));
    assert_eq!(first.unwrap(), second.unwrap(), "both must have the same outcome");
    assert_eq!(issuer.count("/authorize"), 1, "the user must sign in once");
}

#[tokio::test]
async fn redirect_is_pasted_if_the_browser_fails() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Missing;
    let error = bench.sign_in_and_call().await.unwrap_err();
    assert!(matches!(error.cause, AuthErrorCause::Browser { .. }), "without pasting the sign-in must fail: {error}");
    bench.user.can_paste.store(true, Ordering::SeqCst);
    let authorization = Arc::clone(&bench.authorization);
    let before = bench.user.opened.lock().unwrap().len();
    // While the test has this lock, the user can paste no URL.
    let held = bench.user.pasted.lock().await;
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await });
    wait_until("the URL must be shown", || bench.user.opened.lock().unwrap().len() > before).await;
    let url = bench.user.opened.lock().unwrap().last().cloned().unwrap();
    let page = testkit::browser::get(url.as_str()).await.unwrap();
    let location = page.location().unwrap().to_owned();
    let mut held = held;
    *held = vec![location, "https://evil.example/?code=x".to_owned(), "nonsense".to_owned()];
    drop(held);
    let account = flow.await.unwrap().unwrap();
    assert_eq!(account.issuer, issuer.issuer(), "the pasted response must be accepted");
    assert!(
        bench.step_conclusions().contains("an invalid response was refused"),
        "invalid responses must not end the sign-in"
    );
}

#[tokio::test]
async fn invalid_authorization_responses_do_not_end_a_sign_in() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let authorization = Arc::clone(&bench.authorization);
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await });
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("the sign-in must wait for the browser", is_waiting).await;
    let url = bench.user.opened.lock().unwrap().last().cloned().unwrap();
    let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    for query in ["", "?code=x", "?code=x&state=y", "?error=access_denied&state=y"] {
        let page = testkit::browser::get(&format!("{redirect}{query}")).await.unwrap();
        assert_eq!(page.status, 400, "X50: {query:?} must be refused");
    }
    testkit::browser::sign_in(url.as_str()).await.unwrap();
    assert!(flow.await.unwrap().is_ok(), "X50: the valid response must be accepted");
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the token must be accepted");
}

#[tokio::test]
async fn prompt_for_another_account_is_requested() {
    for (supported, expected) in [(json!(null), "login"), (json!(["login", "select_account"]), "select_account")] {
        let select_account = |script: &mut AuthorizationScript| {
            script.overrides.insert("prompt_values_supported".to_owned(), supported.clone());
        };
        let (issuer, server) = start_servers(select_account, |_| ()).await;
        let bench = TestAuthorization::new(&server, |_| ());
        bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
        let authorized = issuer.authorization_queries().pop().unwrap();
        assert_eq!(
            parameter_value(&authorized, "prompt"),
            Some(expected),
            "a supported prompt must be requested: {supported}"
        );
    }
}

#[tokio::test]
async fn sign_in_before_any_call_requests_a_challenge_from_the_server() {
    let (issuer, server) = start_servers(|_| (), |script| script.challenge_scope = Some("mcp:read".to_owned())).await;
    let bench = TestAuthorization::new(&server, |_| ());
    let began = std::time::Instant::now();
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    println!("a sign-in with a provider that answers at once took {:?}", began.elapsed());
    let authorized = issuer.authorization_queries().pop().unwrap();
    assert_eq!(
        parameter_value(&authorized, "scope"),
        Some("mcp:read"),
        "[auth-prm-header-url] the challenge must be used"
    );
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the token must be accepted");
}

#[tokio::test]
async fn sign_in_to_an_unencrypted_server_is_refused() {
    let bench = TestAuthorization::for_server_url("http://mcp.example/mcp", Arc::default(), |_| ());
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert!(
        matches!(error.cause, AuthErrorCause::UnsafeUrl { .. }),
        "[auth-communication-security] an unencrypted server must be refused: {error}"
    );
    assert!(
        bench.authorization.logged_steps().iter().all(|step| step.request.is_none()),
        "[auth-https-endpoints] no request must be sent"
    );
}
