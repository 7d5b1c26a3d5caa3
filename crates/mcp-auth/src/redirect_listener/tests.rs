//! Tests of requests that the redirect listener accepts and refuses (X50).

use std::sync::{Arc, Mutex};

use testkit::browser;

use super::*;

const OAUTH_STATE: &str = "the-right-state";

fn redirect_uri() -> Url {
    Url::parse("http://127.0.0.1:4711/callback").unwrap()
}

fn http_request(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:4711{headers}")
}

#[test]
fn only_the_valid_redirect_is_accepted() {
    let good = format!("/callback?code=c&state={OAUTH_STATE}");
    let browser_like = "\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Site: cross-site";
    let own = |target: &str| http_request(target, "");
    // Request, `true` if it is accepted, description.
    let table = [
        (own(&good), true, "the right one"),
        (http_request(&good, browser_like), true, "the right one as browsers send it"),
        (own(&format!("/callback?error=access_denied&state={OAUTH_STATE}")), true, "a right one with an error"),
        (own("/callback?code=c"), false, "no state"),
        (own("/callback?code=c&state=other"), false, "a wrong state"),
        (own("/callback?code=c&state="), false, "an empty state"),
        (own("/callback?error=access_denied&state=other"), false, "an error with a wrong state"),
        (own(&format!("/callback?code=c&state={OAUTH_STATE}&state={OAUTH_STATE}")), false, "a state twice"),
        (own(&format!("/callback?code=c&code=d&state={OAUTH_STATE}")), false, "a code twice"),
        (own(&format!("/callback?state={OAUTH_STATE}")), false, "neither code nor error"),
        (own(&format!("/other?code=c&state={OAUTH_STATE}")), false, "another path"),
        (own(&format!("//evil.example/callback?code=c&state={OAUTH_STATE}")), false, "another host in the target"),
        (
            own(&format!("http://127.0.0.1:4711/callback?code=c&state={OAUTH_STATE}")),
            false,
            "a whole URL as for a proxy",
        ),
        (own(&good).replace("GET", "POST"), false, "a POST"),
        (own(&good).replace("GET", "HEAD"), false, "a HEAD"),
        (own(&good).replace("127.0.0.1:4711", "evil.example:4711"), false, "another host"),
        (own(&good).replace("127.0.0.1:4711", "127.0.0.1"), false, "the host without its port"),
        (http_request(&good, "\r\nHost: evil.example"), false, "a second host"),
        (http_request(&good, "\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image"), false, "an image in a page"),
        (http_request(&good, "\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe"), false, "a frame in a page"),
        (http_request(&good, "\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty"), false, "a script of a page"),
        (String::new(), false, "nothing"),
    ];
    for (head, is_taken, what) in table {
        let judged = parse_redirect_request(&head, &redirect_uri(), OAUTH_STATE);
        assert_eq!(judged.is_ok(), is_taken, "[auth-state-verify] X50: {what}: {judged:?}");
    }
}

#[test]
fn pasted_redirect_is_validated_like_a_browser_request() {
    for (text, is_taken) in [
        (format!(" http://127.0.0.1:4711/callback?code=c&state={OAUTH_STATE}\n"), true),
        (format!("http://127.0.0.1:4712/callback?code=c&state={OAUTH_STATE}"), false),
        (format!("https://evil.example/callback?code=c&state={OAUTH_STATE}"), false),
        ("http://127.0.0.1:4711/callback?code=c&state=other".to_owned(), false),
        ("c".to_owned(), false),
    ] {
        let judged = parse_pasted_redirect(&text, &redirect_uri(), OAUTH_STATE);
        assert_eq!(judged.is_ok(), is_taken, "[auth-state-verify] pasted {text:?}: {judged:?}");
    }
}

#[test]
fn issuer_of_an_authorization_response_is_compared_as_a_string() {
    const ISSUER: &str = "https://as.example";
    // Issuer in the response, `true` if promised, `true` if accepted, requirement.
    let table = [
        (Some(ISSUER), true, true, "[auth-iss-compare]"),
        (Some(ISSUER), false, true, "[auth-iss-compare]"),
        (None, true, false, "[auth-iss-missing-reject]"),
        (None, false, true, "[auth-iss-absent-proceed]"),
        (Some("https://evil.example"), true, false, "[auth-iss-compare]"),
        (Some("https://evil.example"), false, false, "[auth-iss-compare]"),
        (Some("https://as.example/"), true, false, "[auth-iss-no-normalise]"),
        (Some("https://AS.example"), true, false, "[auth-iss-no-normalise]"),
        (Some("https://as.example:443"), true, false, "[auth-iss-no-normalise]"),
        (Some("https://as.%65xample"), true, false, "[auth-iss-no-normalise]"),
        (Some(""), false, false, "[auth-iss-compare]"),
    ];
    for (iss, promised, is_good, what) in table {
        let checked = check_authorization_response_issuer(iss, ISSUER, promised);
        assert_eq!(checked.is_ok(), is_good, "{what} X44: {iss:?}, promised: {promised}: {checked:?}");
    }
}

#[tokio::test]
async fn invalid_redirects_do_not_end_the_wait_for_the_valid_one() {
    let callback = RedirectListener::bind(None, false).await.unwrap();
    let redirect_uri = callback.redirect_uri().unwrap();
    assert_eq!(
        redirect_uri.host_str(),
        Some("127.0.0.1"),
        "[auth-redirect-localhost-https] the redirect URI must use the loopback address"
    );
    let refused: Arc<Mutex<Vec<String>>> = Arc::default();
    let refusals = Arc::clone(&refused);
    let expected = redirect_uri.clone();
    let waiting = tokio::spawn(async move {
        let state = SecretString::from(OAUTH_STATE);
        callback.wait_for_response(&expected, &state, |why| refusals.lock().unwrap().push(why.to_owned())).await
    });
    let port = redirect_uri.port().unwrap();
    let at = |query: &str| format!("{redirect_uri}?{query}");
    for (url, method, headers) in [
        (at("code=c&state=wrong"), "GET", String::new()),
        (at(&format!("code=c&state={OAUTH_STATE}")), "POST", String::new()),
        (at(&format!("code=c&state={OAUTH_STATE}")), "GET", format!("host: evil.example:{port}\r\n")),
        (at("error=access_denied"), "GET", String::new()),
    ] {
        let page = browser::send(&url, method, &headers, "").await.unwrap();
        assert!((400..500).contains(&page.status), "X50: the request must be refused with a page: {page:?}");
        assert!(!page.body.contains(OAUTH_STATE), "the page must not repeat the state: {page:?}");
    }
    let right = at(&format!("code=the-code&state={OAUTH_STATE}"));
    let shown = tokio::spawn({
        let right = right.clone();
        async move { browser::send(&right, "GET", "Accept-Language: zh-CN,en;q=0.5\r\n", "").await }
    });
    let (returned, page) = waiting.await.unwrap();
    assert!(
        matches!(&returned.answer, AuthorizationResult::Code(code) if code.expose_secret() == "the-code"),
        "X50: the valid response must be accepted"
    );
    assert_eq!(refused.lock().unwrap().len(), 4, "X50: each invalid response must be reported");
    assert!(browser::get(&right).await.is_err(), "X50: the listener must be closed, so a replay must fail");
    page.send_sign_in_result_page(Ok(())).await;
    let page = shown.await.unwrap().unwrap();
    assert!(
        page.status == 200 && page.body.contains("你已登录"),
        "the result page must be in the browser's language: {page:?}"
    );
}

#[tokio::test]
async fn occupied_redirect_port_is_replaced_unless_it_is_required() {
    let first = RedirectListener::bind(None, false).await.unwrap();
    let second = RedirectListener::bind(Some(first.port()), false).await.unwrap();
    assert_ne!(first.port(), second.port(), "X50: another port must be used");
    let only = RedirectListener::bind(Some(first.port()), true).await.map(|callback| callback.port());
    let error = only.unwrap_err();
    assert!(
        matches!(error.cause, AuthErrorCause::Callback { .. }),
        "a required port must fail with the cause: {error}"
    );
    let words = format!("port {}, which the redirect URI names", first.port());
    assert!(error.to_string().contains(&words), "the message must name the port: {error}");
}
