//! Tests of the checks before an authorization code is redeemed: issuer, resource, and PKCE (X44, X46).

use serde_json::{Map, Value, json};
use testkit::authorization::{
    AuthorizationBehaviour, AuthorizationMetadataLocation, AuthorizationScript, IssParameter, ProtectedScript,
};

use super::SignInAttempt;
use crate::report::{random_word, seeded_random};

fn object_with_single_member(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

fn issuer_script(iss_advertised: bool, iss: IssParameter) -> AuthorizationScript {
    AuthorizationScript { iss_advertised, iss, ..AuthorizationScript::default() }
}

#[tokio::test]
async fn x44_response_of_another_issuer_is_rejected() {
    let other = format!("http://127.0.0.1:{}", seeded_random("another issuer").u16(1024..));
    // A valid response continues the sign-in: [auth-iss-absent-proceed].
    for (about, script) in [
        ("the issuer", issuer_script(true, IssParameter::Own)),
        ("none, and none promised", issuer_script(false, IssParameter::Missing)),
    ] {
        let what = format!("X44, iss is {about}");
        let tried = SignInAttempt::start(&what, script, ProtectedScript::default()).await;
        assert_eq!(tried.wait_for_end().await, Ok(()), "{what}: the sign-in succeeds");
        tried.close().await;
    }
    // [auth-iss-missing-reject] [auth-iss-compare] [auth-iss-before-code] [auth-iss-record]
    for (about, script) in [
        ("missing though promised", issuer_script(true, IssParameter::Missing)),
        ("another", issuer_script(true, IssParameter::Other(other.clone()))),
        ("another, and none was promised", issuer_script(false, IssParameter::Other(other.clone()))),
        ("empty", issuer_script(true, IssParameter::Other(String::new()))),
    ] {
        let tried = SignInAttempt::start(&format!("X44, iss is {about}"), script, ProtectedScript::default()).await;
        tried
            .assert_fails_before_token_request(&[
                "which authorization server",
                "another authorization server",
                "issuer",
            ])
            .await;
        tried.close().await;
    }
}

/// An issuer is not accepted if only its text differs from the expected one, even if a URL library considers both
/// equal. Covers the MCP requirement [auth-iss-no-normalise].
#[tokio::test]
async fn x44_issuers_are_compared_as_strings() {
    let forms: [fn(&str) -> String; 4] = [
        |issuer| format!("{issuer}/"),
        |issuer| issuer.replacen("http:", "HTTP:", 1),
        |issuer| issuer.replacen("127.0.0.1", "127.0.0.01", 1),
        |issuer| issuer.replacen("tenant", "ten%61nt", 1),
    ];
    for form in forms {
        let script = AuthorizationScript { path: "/tenant".to_owned(), ..AuthorizationScript::default() };
        let issuer = testkit::authorization::AuthorizationServer::start(script).await;
        let written = form(&issuer.issuer());
        issuer.set(|script| script.iss = IssParameter::Other(written.clone()));
        let server = testkit::authorization::ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
        let tried = SignInAttempt::start_with_servers(&format!("X44, iss is {written}"), issuer, server, |_| {}).await;
        tried
            .assert_fails_before_token_request(&[
                "which authorization server",
                "another authorization server",
                "issuer",
            ])
            .await;
        tried.close().await;
    }
}

/// An error in the response of another issuer than the expected one is not displayed. Covers the MCP requirement
/// [auth-iss-error-response].
#[tokio::test]
async fn x44_error_of_another_issuer_is_not_shown() {
    let canary = random_word("call-this-number");
    let script = AuthorizationScript {
        authorizing: AuthorizationBehaviour::Denies(canary.clone()),
        ..issuer_script(true, IssParameter::Other("http://127.0.0.1:1".to_owned()))
    };
    let tried = SignInAttempt::start("X44, an error with another iss", script, ProtectedScript::default()).await;
    let cause = tried
        .assert_fails_before_token_request(&["which authorization server", "another authorization server", "issuer"])
        .await;
    assert!(!cause.contains(&canary), "X44: the error text of another issuer is not shown: {cause}");
    tried.close().await;
}

/// Metadata that name another issuer are discarded, and none of their endpoints is used. Covers the MCP requirement
/// [auth-as-issuer-match].
#[tokio::test]
async fn x44_metadata_of_another_issuer_is_discarded() {
    for metadata in [AuthorizationMetadataLocation::OAuth, AuthorizationMetadataLocation::OpenIdAppended] {
        let script = AuthorizationScript {
            metadata,
            overrides: object_with_single_member("issuer", json!("https://evil.example")),
            ..AuthorizationScript::default()
        };
        let what = format!("X44, metadata of another issuer ({metadata:?})");
        let tried = SignInAttempt::start(&what, script, ProtectedScript::default()).await;
        tried.assert_fails_before_token_request(&["issuer"]).await;
        assert_eq!(
            tried.issuer.count("/register") + tried.issuer.count("/authorize"),
            0,
            "{what}: no endpoint is used"
        );
        tried.close().await;
    }
}

/// The sign-in fails if the protected resource metadata describes the URL of another server. Covers the MCP requirement
/// [auth-prm-resource-validate].
#[tokio::test]
async fn x44_metadata_of_another_resource_is_rejected() {
    let what = "X44, metadata of another resource";
    let server = ProtectedScript {
        overrides: object_with_single_member("resource", json!("https://evil.example/mcp")),
        ..ProtectedScript::default()
    };
    let tried = SignInAttempt::start(what, AuthorizationScript::default(), server).await;
    tried.assert_fails_before_token_request(&["metadata is for"]).await;
    assert_eq!(tried.issuer.count("/authorize"), 0, "{what}: no page is opened");
    tried.close().await;
}

/// The sign-in fails before the browser opens if the authorization server does not support the PKCE method S256. Covers
/// the MCP requirements [auth-pkce-verify-support] [auth-pkce-refuse-oauth-metadata] [auth-pkce-refuse-oidc-metadata]
/// [auth-pkce-s256].
#[tokio::test]
async fn x46_sign_in_requires_s256() {
    let plain = || Some(vec!["plain".to_owned()]);
    for metadata in [AuthorizationMetadataLocation::OAuth, AuthorizationMetadataLocation::OpenIdAppended] {
        for (about, pkce) in [("none", None), ("plain", plain()), ("an empty list", Some(Vec::new()))] {
            let what = format!("X46, PKCE: {about} ({metadata:?})");
            let script = AuthorizationScript { metadata, pkce, ..AuthorizationScript::default() };
            let tried = SignInAttempt::start(&what, script, ProtectedScript::default()).await;
            tried.assert_fails_before_token_request(&["PKCE", "S256"]).await;
            assert_eq!(tried.issuer.count("/authorize"), 0, "{what}: no page is opened");
            tried.close().await;
        }
    }
}
