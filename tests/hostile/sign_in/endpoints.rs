//! Tests of the URLs with which a browser would be opened (X43). Only URLs of web pages are opened.

use serde_json::json;
use testkit::authorization::{AuthorizationScript, ProtectedScript};

use super::SignInAttempt;
use crate::report::seeded_random;

#[tokio::test]
async fn x43_only_web_urls_are_opened() {
    let number = seeded_random("forms").u32(..);
    // If a shell interpreted one of these URLs, it would create a file here.
    let ground = tempfile::tempdir().unwrap();
    let touched = ground.path().join("touched");
    let touch = format!("touch {}", touched.display());
    // [auth-https-endpoints]: an HTTP URL is allowed only for a host that the user named, and without user info.
    let forms = [
        format!("javascript:alert({number})"),
        "file:///etc/passwd".to_owned(),
        format!("data:text/html,<script>alert({number})</script>"),
        format!("http://user$({touch})@127.0.0.1/authorize"),
        format!("https://a.example/\"&{touch}&\""),
        format!("https://a.example/`{touch}`"),
        r"\\a.example\share\program.exe".to_owned(),
        "ms-settings:privacy".to_owned(),
        format!("ms-msdt:/id PCWDiagnostic /param \"$({touch})\""),
        format!("-e {touch}"),
        "--gpu-launcher=/bin/sh".to_owned(),
        format!("https://a.example/\n{touch}"),
        "vscode://a.example/open".to_owned(),
        format!("http://a{number}.example/authorize"),
        "https://user:password@a.example/authorize".to_owned(),
        "/authorize".to_owned(),
        String::new(),
    ];
    for form in forms {
        let what = format!("X43, {form:?}");
        let overrides = [("authorization_endpoint".to_owned(), json!(form))].into_iter().collect();
        let issuer = AuthorizationScript { overrides, ..AuthorizationScript::default() };
        let tried = SignInAttempt::start(&what, issuer, ProtectedScript::default()).await;
        let cause = tried
            .assert_fails_before_token_request(&["authorization endpoint", "sign-in page", "page to sign in"])
            .await;
        assert!(!cause.chars().any(char::is_control), "{what}: the URL is shown as text: {cause:?}");
        let opened = tried.pair.app.platform.opened.lock().unwrap().clone();
        assert!(opened.is_empty(), "{what}: no URL is opened: {opened:?}");
        assert!(!touched.exists(), "{what}: no command was run");
        tried.close().await;
    }
}
