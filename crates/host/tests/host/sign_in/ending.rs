//! Signing out, changing the account, and what is left of a server that is gone.

use host::ports::Secrets as _;
use host::server_config::{HttpConfig, ServerEntry};
use host::sign_in::SignedOut;
use host::view::ServerState;
use testkit::app::PATIENCE;
use testkit::authorization::{AuthorizationScript, ProtectedScript, value};
use testkit::deadline::holds_within;

use super::{Far, NAME};

#[tokio::test]
async fn who_signs_out_is_out_everywhere() {
    let far = Far::new().await.signed_in().await;
    let out = far.app.host.sign_out(NAME.into()).await.unwrap().unwrap();
    assert_eq!(out, SignedOut::Revoked, "the authorization server was told");
    assert_eq!(far.issuer.good_tokens(), (0, 0), "no token is good any more");
    far.needs_sign_in("you signed out").await;
    assert_eq!(far.view().await.account, None, "nobody is signed in");
    assert!(far.app.decisions().iter().any(|(kind, ..)| kind == "sign-out"), "it is written down");
    assert_eq!(far.app.host.sign_out(NAME.into()).await.unwrap().unwrap(), SignedOut::NobodySignedIn, "only once");
    let far = far.tomorrow(host::HostOptions::default()).await;
    far.app.host.start_server(NAME.into()).await.unwrap().unwrap();
    far.allow().await;
    far.ready().await;
    far.app.host.close().await;
}

#[tokio::test]
async fn what_became_of_the_tokens_is_told() {
    let issues = AuthorizationScript { revocation: false, ..AuthorizationScript::default() };
    let far = Far::with(issues, ProtectedScript::default()).await.signed_in().await;
    let out = far.app.host.sign_out(NAME.into()).await.unwrap().unwrap();
    assert_eq!(out, SignedOut::RevocationNotOffered, "it can't be told");
    far.app.host.sign_in(NAME.into()).await.unwrap().unwrap();
    far.allow().await;
    far.ready().await;
    far.app.host.close().await;

    let far = Far::new().await.signed_in().await;
    far.issuer.set(|script| script.down = Some(503));
    let out = far.app.host.sign_out(NAME.into()).await.unwrap().unwrap();
    assert!(matches!(&out, SignedOut::RevocationFailed(cause) if cause.contains("503")), "it failed, and why: {out:?}");
    assert_eq!(far.view().await.account, None, "nobody is signed in all the same");
    far.app.host.close().await;
}

#[tokio::test]
async fn another_account_can_be_chosen() {
    let far = Far::new().await.signed_in().await;
    far.app.host.change_account(NAME.into()).await.unwrap().unwrap();
    far.allow().await;
    far.ready().await;
    let authorizations = far.issuer.authorizations();
    assert_eq!(authorizations.len(), 2, "the browser was sent there twice");
    assert_eq!(value(&authorizations[0], "prompt"), None, "the first time as ever");
    assert!(value(&authorizations[1], "prompt").is_some(), "the second time to choose: {:?}", authorizations[1]);
    assert_eq!(far.issuer.good_tokens().1, 1, "what the first account had is no longer good");
    far.app.host.close().await;
}

#[tokio::test]
async fn nothing_is_left_of_a_server_that_is_removed() {
    let key = |far: &Far, kind: &str| format!(r#"["sign-in","far","{}",[{kind}]]"#, far.server.url());
    for is_removed in [true, false] {
        let far = Far::new().await.signed_in().await;
        assert!(far.keychain.get(&key(&far, "\"account\"")).unwrap().is_some(), "the tokens are there before");
        if is_removed {
            far.app.host.remove_server(NAME.into()).await.unwrap().unwrap();
        } else {
            let config = HttpConfig { url: far.server.url().replace("/mcp", "/other"), ..HttpConfig::default() };
            let entry = ServerEntry { name: NAME.into(), config: config.into() };
            far.app.host.update_server(NAME.into(), entry).await.unwrap().unwrap();
            far.app.until(NAME, "stopped", |s| s.state == ServerState::Stopped).await;
            assert_eq!(far.view().await.account, None, "nobody is signed in at the other address");
        }
        for kind in ["\"account\"", &format!("\"client\",\"{}\"", far.issuer.issuer())] {
            let is_gone = || far.keychain.get(&key(&far, kind)).unwrap().is_none();
            assert!(holds_within(PATIENCE, is_gone).await, "{kind} is gone from the keychain; removed: {is_removed}");
        }
        let are_void = || far.issuer.good_tokens() == (0, 0);
        assert!(holds_within(PATIENCE, are_void).await, "and void; removed: {is_removed}");
        far.app.host.close().await;
    }
}

#[tokio::test]
async fn nothing_is_left_of_a_server_that_got_a_header_of_its_own() {
    let far = Far::new().await.signed_in().await;
    let headers = [("Authorization".to_owned(), "Bearer mine".to_owned())].into();
    let config = HttpConfig { url: far.server.url(), headers, ..HttpConfig::default() };
    let entry = ServerEntry { name: NAME.into(), config: config.into() };
    far.app.host.update_server(NAME.into(), entry).await.unwrap().unwrap();
    assert!(!far.keychain.keys("[").unwrap().is_empty(), "a header does not sign anybody out");
    far.app.host.remove_server(NAME.into()).await.unwrap().unwrap();
    assert!(far.keychain.keys("[").unwrap().is_empty(), "the end of the server does");
    let are_void = || far.issuer.good_tokens() == (0, 0);
    assert!(holds_within(PATIENCE, are_void).await, "there as well");
    far.app.host.close().await;
}

#[tokio::test]
async fn a_renewal_that_ends_after_its_server_was_removed_leaves_nothing() {
    let far = Far::new().await.signed_in().await;
    let allowing = far.allows_tools();
    // Saved as it was: its secrets may be others, and its sign-in would be made anew.
    let entry = ServerEntry { name: NAME.into(), config: far.app.server(NAME).await.config };
    far.app.host.update_server(NAME.into(), entry).await.unwrap().unwrap();
    far.issuer.end_access_tokens();
    far.issuer.set(|script| script.delay_ms = 500);
    let removing = async {
        let is_renewing = || !far.issuer.token_requests("refresh_token").is_empty();
        assert!(holds_within(PATIENCE, is_renewing).await, "the call has the token renewed");
        far.app.host.remove_server(NAME.into()).await.unwrap().unwrap();
    };
    let (called, ()) = tokio::join!(far.echo("late", "x"), removing);
    called.expect_err("the server is gone");
    let are_void = || far.issuer.good_tokens() == (0, 0);
    assert!(holds_within(PATIENCE, are_void).await, "what was still got is void, too");
    assert!(far.keychain.keys("[").unwrap().is_empty(), "and was not kept");
    allowing.abort();
    far.app.host.close().await;
}
