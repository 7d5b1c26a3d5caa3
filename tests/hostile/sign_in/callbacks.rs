//! Tests of redirects from the browser to Drawbridge (X50): only the correct authorization response is accepted, once,
//! and an incorrect one does not end the sign-in.

use std::time::Duration;

use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::browser;
use url::Url;

use super::{SignInAttempt, wait_for_start_result};

/// Starts a sign-in that waits for the browser. Returns it, and the URL with which the browser was opened.
async fn start_sign_in(what: &str) -> (SignInAttempt, Url) {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let by_hand = |pair: &crate::pair::GoodAndBadServers| {
        pair.app.platform.browses.store(false, std::sync::atomic::Ordering::Relaxed);
    };
    let tried = SignInAttempt::start_with_servers(what, issuer, server, by_hand).await;
    let opened = || tried.pair.app.platform.opened.lock().unwrap().first().cloned();
    let shown = testkit::deadline::poll_until(Duration::from_secs(20), || opened().is_some()).await;
    assert!(shown, "{what}: the browser is opened");
    let url = Url::parse(&opened().unwrap()).unwrap();
    (tried, url)
}

fn query_parameter(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// An authorization response is only accepted with the state of this sign-in. Covers the MCP requirement
/// [auth-state-verify].
#[tokio::test]
async fn x50_only_the_valid_redirect_is_accepted_and_only_once() {
    let what = "X50, callbacks";
    let (tried, url) = start_sign_in(what).await;
    let (callback, state) = (query_parameter(&url, "redirect_uri"), query_parameter(&url, "state"));
    assert!(state.len() >= 22, "{what}: the state {state:?} can't be guessed");
    let host = Url::parse(&callback).unwrap();
    // [auth-redirect-localhost-https]
    assert_eq!(host.host_str(), Some("127.0.0.1"), "{what}: the redirect URI is a loopback address: {callback}");
    let iss = tried.issuer.issuer();
    let other_state = "s".repeat(state.len());

    for (about, method, headers, query) in [
        ("no state", "GET", "", "code=stolen".to_owned()),
        ("a wrong state", "GET", "", format!("code=stolen&state={other_state}&iss={iss}")),
        ("an error with a wrong state", "GET", "", format!("error=access_denied&state={other_state}")),
        ("an error without state", "GET", "", "error=access_denied".to_owned()),
        ("a state and nothing else", "GET", "", format!("state={state}")),
        ("two states", "GET", "", format!("code=stolen&state={other_state}&state={state}&iss={iss}")),
        ("two codes", "GET", "", format!("code=stolen&code=other&state={state}&iss={iss}")),
        ("POST", "POST", "", format!("code=stolen&state={state}&iss={iss}")),
        ("HEAD", "HEAD", "", format!("code=stolen&state={state}&iss={iss}")),
        ("another Host", "GET", "host: evil.example\r\n", format!("code=stolen&state={state}&iss={iss}")),
        (
            "a script of a web page",
            "GET",
            "origin: https://evil.example\r\nsec-fetch-mode: cors\r\nsec-fetch-site: cross-site\r\n",
            format!("code=stolen&state={state}&iss={iss}"),
        ),
    ] {
        let page = browser::send(&format!("{callback}?{query}"), method, headers, "").await;
        let status = page.as_ref().map(|page| page.status).unwrap_or_default();
        assert!(status >= 400 || status == 0, "{what}, {about}: the response is rejected: {page:?}");
        let body = page.map(|page| page.body).unwrap_or_default();
        assert!(
            !body.contains("stolen") && !body.contains(&state),
            "{what}, {about}: the page does not repeat the input: {body}"
        );
    }
    let elsewhere = callback.replace("/callback", "/elsewhere");
    let page = browser::get(&format!("{elsewhere}?code=stolen&state={state}&iss={iss}")).await;
    assert!(page.is_ok_and(|page| page.status >= 400), "{what}: another path is rejected");
    let requests = tried.issuer.token_requests("authorization_code");
    assert!(requests.is_empty(), "{what}: no invalid response leads to a token request: {requests:?}");

    let page = browser::sign_in(url.as_str()).await.expect("the sign-in is still waiting");
    assert_eq!(page.status, 200, "{what}: the correct response is accepted: {}", page.body);
    let lower = page.head.to_ascii_lowercase();
    assert!(
        lower.contains("content-security-policy") && lower.contains("referrer-policy"),
        "{what}: the page has no scripts and sends no referrer: {lower}"
    );
    assert!(!page.body.contains("code-"), "{what}: the page does not show the code: {}", page.body);
    let replayed = browser::sign_in(url.as_str()).await;
    let counts = |page: &browser::BrowserPage| page.status == 200;
    assert!(!replayed.as_ref().is_ok_and(counts), "{what}: a second response has no effect: {replayed:?}");
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
    assert_eq!(tried.issuer.token_requests("authorization_code").len(), 1, "{what}: one code is redeemed");
    let code = tried.issuer.token_requests("authorization_code").remove(0);
    assert_ne!(
        testkit::authorization::parameter_value(&code, "code"),
        Some("stolen"),
        "{what}: the correct code is redeemed"
    );
    tried.close().await;
}

/// Another program sends hundreds of invalid authorization responses and opens idle connections, which must not prevent
/// the sign-in.
#[tokio::test]
async fn x50_flood_of_invalid_redirects_does_not_end_the_sign_in() {
    let what = "X50, a flood of callbacks";
    let (tried, url) = start_sign_in(what).await;
    let callback = query_parameter(&url, "redirect_uri");
    let address = Url::parse(&callback).unwrap();
    let address = (address.host_str().unwrap().to_owned(), address.port().unwrap());
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(tokio::net::TcpStream::connect(address.clone()).await.ok());
    }
    tried
        .pair
        .while_good_server_responds(what, async {
            for number in 0..300 {
                let _ = browser::get(&format!("{callback}?code=stolen&state=guess-{number}")).await;
            }
        })
        .await;
    let page = browser::sign_in(url.as_str()).await.expect("the sign-in is still waiting");
    assert_eq!(page.status, 200, "{what}: the correct response is accepted");
    assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
    tried.close().await;
}

/// The user cancels a sign-in while the browser is open. The host must close the listener of the redirect, and report
/// the cause.
#[tokio::test]
async fn x50_cancelled_sign_in_closes_its_listener() {
    let what = "X50, cancelled";
    let (tried, url) = start_sign_in(what).await;
    tried.pair.app.host.cancel_sign_in("bad".into()).await.unwrap();
    assert!(wait_for_start_result(&tried.pair).await.is_err(), "{what}: the sign-in was cancelled");
    let page = browser::sign_in(url.as_str()).await;
    assert!(page.is_err(), "{what}: a later response reaches no listener: {page:?}");
    assert!(tried.issuer.token_requests("authorization_code").is_empty(), "{what}: no code is redeemed");
    tried.close().await;
}

/// Each sign-in listens for its redirect on any free port, so that an occupied port does not prevent a sign-in. Covers
/// the MCP requirement [auth-redirect-registered].
#[tokio::test]
async fn x50_concurrent_sign_ins_have_separate_ports() {
    let what = "X50, two at a time";
    let (first, url) = start_sign_in(what).await;
    let (second, other) = start_sign_in(what).await;
    assert_ne!(
        query_parameter(&url, "redirect_uri"),
        query_parameter(&other, "redirect_uri"),
        "{what}: each sign-in has a separate port"
    );
    // The response of one sign-in is sent to the listener of the other.
    let page = browser::get(url.as_str()).await.unwrap();
    let mixed = page.location().unwrap().replacen(
        &query_parameter(&url, "redirect_uri"),
        &query_parameter(&other, "redirect_uri"),
        1,
    );
    let refused = browser::get(&mixed).await.unwrap();
    assert!(refused.status >= 400, "{what}: the response of another sign-in is rejected: {}", refused.status);
    for (tried, url) in [(&first, &url), (&second, &other)] {
        browser::sign_in(url.as_str()).await.unwrap();
        assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: both sign-ins succeed");
    }
    first.close().await;
    second.close().await;
}
