//! Tests of client ids: registration, documents, and ids that the user enters.

use serde_json::json;
use testkit::authorization::{AuthorizationBehaviour, AuthorizationScript, AuthorizationServer, parameter_value};
use url::Url;

use super::support::{BrowserBehaviour, TestAuthorization, preregistered_client, start_servers, wait_until};
use crate::*;

fn registration_requests(issuer: &AuthorizationServer) -> Vec<serde_json::Value> {
    issuer.received_requests().iter().filter(|one| one.path == "/register").map(|one| one.json()).collect()
}

#[tokio::test]
async fn drawbridge_registers_as_a_native_public_client() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    let sent = registration_requests(&issuer).pop().unwrap();
    assert_eq!(sent["application_type"], "native", "[auth-dcr-application-type] [auth-dcr-native]");
    assert_eq!(sent["grant_types"], json!(["authorization_code", "refresh_token"]), "[auth-refresh-grant-type]");
    assert_eq!(
        sent["token_endpoint_auth_method"], "none",
        "[auth-b-public-client] a native app must be a public client"
    );
    let used = issuer.authorization_queries().pop().unwrap();
    assert_eq!(
        sent["redirect_uris"],
        json!([parameter_value(&used, "redirect_uri")]),
        "[auth-redirect-registered] the registered URI must be used"
    );
}

#[tokio::test]
async fn registration_is_reused_while_its_port_is_free() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    bench.restart();
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
    assert_eq!(registration_requests(&issuer).len(), 1, "the second sign-in must use the same registration");
    let used = issuer.authorization_queries();
    assert_eq!(
        parameter_value(&used[0], "redirect_uri"),
        parameter_value(&used[1], "redirect_uri"),
        "[auth-redirect-registered]"
    );
    let redirect = Url::parse(parameter_value(&used[0], "redirect_uri").unwrap()).unwrap();
    let taken = tokio::net::TcpListener::bind(("127.0.0.1", redirect.port().unwrap())).await.unwrap();
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
    let sent = registration_requests(&issuer);
    assert_eq!(sent.len(), 2, "X50: an occupied port must cause a new registration");
    let used = issuer.authorization_queries();
    assert_eq!(
        sent[1]["redirect_uris"],
        json!([parameter_value(&used[2], "redirect_uri")]),
        "[auth-redirect-registered] the new URI must be used"
    );
    drop(taken);
}

#[tokio::test]
async fn listed_client_authentication_method_is_used() {
    for method in ["client_secret_basic", "client_secret_post", "none"] {
        let (issuer, server) = start_servers(
            |script| {
                script.auth_methods = vec![method.to_owned()];
                script.clients.insert("set-up".to_owned(), (method != "none").then(|| "s:e+c ret".to_owned()));
            },
            |_| (),
        )
        .await;
        let secret = (method != "none").then_some("s:e+c ret");
        for client in [Some(preregistered_client("set-up", secret)), None] {
            let what =
                if client.is_some() { "[auth-preregistration] [auth-cc-metadata-methods]" } else { "[auth-dcr]" };
            let bench = TestAuthorization::new(&server, |settings| settings.client.preregistered = client);
            bench.sign_in_and_call().await.unwrap();
            assert_eq!(
                bench.authorization.sign_out().await.unwrap().revoked,
                RevocationOutcome::Yes,
                "{what} {method}: revocation must authenticate the client"
            );
        }
        assert_eq!(registration_requests(&issuer).len(), 1, "{method}: a pre-registered client must not be registered");
    }
}

#[tokio::test]
async fn metadata_document_is_the_client_id_if_supported() {
    const DOCUMENT_URL: &str = "https://app.example/client.json";
    let document =
        |settings: &mut AuthorizationSettings| settings.client.metadata_url = Some(Url::parse(DOCUMENT_URL).unwrap());
    let (issuer, server) = start_servers(|script| script.client_id_metadata = true, |_| ()).await;
    let bench = TestAuthorization::new(&server, document);
    assert_eq!(bench.sign_in_and_call().await.unwrap().client, ClientKind::MetadataDocument, "[auth-cimd-support]");
    let used = issuer.authorization_queries().pop().unwrap();
    assert_eq!(
        parameter_value(&used, "client_id"),
        Some(DOCUMENT_URL),
        "[auth-cimd-support] [auth-cimd-url-form] the URL must be the client id"
    );
    assert!(registration_requests(&issuer).is_empty(), "[auth-registration-priority] nothing must be registered");
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, document);
    assert_eq!(
        bench.sign_in_and_call().await.unwrap().client,
        ClientKind::Registered,
        "[auth-cimd-check-advertised] [auth-cimd-fallback]"
    );
    assert_eq!(
        registration_requests(&issuer).len(),
        1,
        "[auth-cimd-fallback] the app must register if documents are not supported"
    );
}

#[tokio::test]
async fn user_is_prompted_for_a_client_id_if_nothing_else_works() {
    let (issuer, server) = start_servers(
        |script| {
            script.registration = false;
            script.overrides = super::support::json_members(&[("registration_endpoint", json!(null))]);
            script.clients.insert("typed".to_owned(), None);
        },
        |_| (),
    )
    .await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    let error = bench.sign_in_and_call().await.unwrap_err();
    assert!(
        matches!(error.cause, AuthErrorCause::NoClientId { .. }),
        "[auth-client-id-required] a missing client id must end the sign-in: {error}"
    );
    assert_eq!(issuer.count("/authorize"), 0, "[auth-client-id-required] the browser must not be opened");
    *bench.user.client.lock().unwrap() = Some(preregistered_client("typed", None));
    assert_eq!(
        bench.sign_in_and_call().await.unwrap().client,
        ClientKind::Typed,
        "[auth-manual-client-id] the entered client id must be used"
    );
    *bench.user.client.lock().unwrap() = None;
    bench.restart();
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
}

#[tokio::test]
async fn rejected_registration_is_reported_and_retried_with_localhost() {
    let (issuer, server) =
        start_servers(|script| script.registration_error = Some("invalid_redirect_uri".to_owned()), |_| ()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    let error = bench.sign_in_and_call().await.unwrap_err();
    assert_eq!(error.phase, AuthPhase::ClientId, "[auth-dcr-surface-error] phase of the error");
    assert!(
        error.to_string().contains("invalid_redirect_uri"),
        "[auth-dcr-surface-error] the cause must be reported: {error}"
    );
    let sent = registration_requests(&issuer);
    let second = sent.get(1).map(|sent| sent["redirect_uris"][0].to_string()).unwrap_or_default();
    assert!(second.contains("http://localhost:"), "[auth-dcr-redirect-rejection] [auth-dcr-retry-adjusted] {sent:?}");
    assert_eq!(sent.len(), 2, "[auth-dcr-redirect-rejection] no further attempts");
    issuer.set(|script| script.registration_error = Some("invalid_client_metadata".to_owned()));
    let error = bench.sign_in_and_call().await.unwrap_err();
    assert!(error.to_string().contains("invalid_client_metadata"), "[auth-dcr-surface-error] {error}");
    assert_eq!(registration_requests(&issuer).len(), 3, "other errors must not be retried");
}

#[tokio::test]
async fn second_authorization_server_receives_no_credentials_of_the_first() {
    let (first, server) = start_servers(|_| (), |_| ()).await;
    let second = AuthorizationServer::start(Default::default()).await;
    let bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    server.set_issuers(&[&second]);
    let stopped = bench.call("echo").await;
    assert!(
        format!("{stopped:?}").contains("another authorization server"),
        "X51: the change must be reported: {stopped:?}"
    );
    assert!(
        first.token_requests("refresh_token").is_empty(),
        "X51: the token of the former server must not be renewed"
    );
    let account = bench.sign_in_and_call().await.unwrap();
    assert_eq!(account.issuer, second.issuer(), "the new server must be used");
    assert_eq!(
        registration_requests(&second).len(),
        1,
        "[auth-as-change-reregister] the app must register with the new server"
    );
    let leaks = testkit::authorization::find_leaked_credentials(&[&first, &second], &[&server]);
    let leaks: Vec<_> = leaks
        .into_iter()
        .filter(|leak| !leak.contains("got to http://127.0.0.1") || leak.contains(&second.issuer()))
        .collect();
    assert!(
        leaks.is_empty(),
        "[auth-credentials-no-reuse] [auth-credentials-per-as] [auth-only-own-as-tokens] X51: {leaks:?}"
    );
    let entries = bench.vault.entries.lock().unwrap();
    let has_old = entries
        .iter()
        .any(|(key, entry)| format!("{key:?}{}", String::from_utf8_lossy(entry)).contains(&first.issuer()));
    assert!(!has_old, "[auth-credentials-issuer-key] nothing of the former server may be stored");
}

#[tokio::test]
async fn configured_client_id_belongs_to_one_authorization_server() {
    let known = |script: &mut AuthorizationScript| {
        script.clients.insert("set-up".to_owned(), None);
    };
    let (_first, server) = start_servers(known, |_| ()).await;
    let mut script = AuthorizationScript::default();
    known(&mut script);
    let second = AuthorizationServer::start(script).await;
    let mut bench = TestAuthorization::new(&server, |settings| {
        settings.client.preregistered = Some(preregistered_client("set-up", None))
    });
    bench.sign_in_and_call().await.unwrap();
    server.set_issuers(&[&second]);
    bench.restart();
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert!(
        matches!(error.cause, AuthErrorCause::OtherIssuer { .. }),
        "[auth-prereg-mismatch-error] [auth-credentials-no-reuse] {error}"
    );
    assert_eq!(
        second.count("/authorize") + second.count("/token"),
        0,
        "[auth-credentials-no-reuse] the client id must not be sent to the other server"
    );
}

#[tokio::test]
async fn registration_of_a_cancelled_sign_in_is_replaced() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    *bench.user.answer.lock().unwrap() = ConsentAnswer::No;
    assert!(bench.authorization.sign_in(AuthReason::AnotherAccount).await.is_err(), "the user declines");
    *bench.user.answer.lock().unwrap() = ConsentAnswer::Yes;
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let authorization = std::sync::Arc::clone(&bench.authorization);
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::AnotherAccount).await });
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("the browser must be open", is_waiting).await;
    bench.authorization.cancel();
    assert!(flow.await.unwrap().is_err(), "the cancelled sign-in must fail");
    assert_eq!(registration_requests(&issuer).len(), 1, "the stored registration must be used");
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::SignsIn;
    bench.restart();
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
    assert_eq!(registration_requests(&issuer).len(), 2, "the next sign-in must register again, also after a restart");
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
    assert_eq!(registration_requests(&issuer).len(), 2, "later sign-ins must use the new registration");
}

#[tokio::test]
async fn client_rejected_in_the_browser_is_forgotten() {
    for error in ["unauthorized_client", "invalid_client", "access_denied"] {
        let (issuer, server) = start_servers(|_| (), |_| ()).await;
        let bench = TestAuthorization::new(&server, |_| ());
        bench.sign_in_and_call().await.unwrap();
        issuer.set(|script| script.authorizing = AuthorizationBehaviour::Denies(error.to_owned()));
        let refused = bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap_err();
        assert!(refused.to_string().contains(error), "[auth-dcr-surface-error] {refused}");
        issuer.set(|script| script.authorizing = AuthorizationBehaviour::Grants);
        bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
        let expected = if error == "access_denied" { 1 } else { 2 };
        assert_eq!(registration_requests(&issuer).len(), expected, "[auth-dcr] after {error}");
    }
}

#[tokio::test]
async fn entered_client_id_is_stored_after_it_is_verified() {
    let (issuer, server) = start_servers(
        |script| {
            script.registration = false;
            script.overrides = super::support::json_members(&[("registration_endpoint", json!(null))]);
            script.clients.insert("typed".to_owned(), None);
            script.authorizing = AuthorizationBehaviour::Denies("access_denied".to_owned());
        },
        |_| (),
    )
    .await;
    let bench = TestAuthorization::new(&server, |_| ());
    *bench.user.client.lock().unwrap() = Some(preregistered_client("typed", None));
    let is_stored = || bench.vault.contains_entry(|kind| matches!(kind, VaultEntryKind::Client { .. }));
    assert!(bench.authorization.sign_in(AuthReason::SignIn).await.is_err(), "the sign-in must fail");
    assert!(!is_stored(), "[auth-manual-client-id] an unverified client id must not be stored");
    issuer.set(|script| script.authorizing = AuthorizationBehaviour::Grants);
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert!(is_stored(), "[auth-manual-client-id] a verified client id must be stored");
}

#[tokio::test]
async fn redirect_uri_shown_for_registration_stays_the_same() {
    let (issuer, server) = start_servers(
        |script| {
            script.registration = false;
            script.overrides = super::support::json_members(&[("registration_endpoint", json!(null))]);
            script.clients.insert("typed".to_owned(), None);
        },
        |_| (),
    )
    .await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    let sent = || {
        let redirect_uri = |request: &Vec<_>| parameter_value(request, "redirect_uri").unwrap().to_owned();
        issuer.authorization_queries().iter().map(redirect_uri).collect::<Vec<String>>()
    };
    bench.authorization.sign_in(AuthReason::SignIn).await.expect_err("the user has no client id yet");
    *bench.user.client.lock().unwrap() = Some(preregistered_client("typed", None));
    bench.restart();
    bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    let shown: Vec<String> = bench.user.shown_redirect_uris.lock().unwrap().iter().map(Url::to_string).collect();
    assert_eq!(shown.len(), 2, "the user must be prompted twice");
    assert_eq!(shown[0], shown[1], "[auth-manual-client-id] the redirect URI must stay the same");
    assert_eq!(sent(), [shown[1].clone()], "[auth-manual-client-id] the shown redirect URI must be used");
    bench.restart();
    bench.authorization.sign_in(AuthReason::AnotherAccount).await.unwrap();
    assert_eq!(
        bench.user.shown_redirect_uris.lock().unwrap().len(),
        2,
        "a stored client id must not be requested again"
    );
    assert_eq!(sent()[1], shown[1], "[auth-manual-client-id] the redirect URI must stay the same later");
}

#[tokio::test]
async fn declined_sign_in_does_not_bind_the_client_id() {
    let known = |script: &mut AuthorizationScript| drop(script.clients.insert("set-up".to_owned(), None));
    let (_wrong, server) = start_servers(known, |_| ()).await;
    let mut script = AuthorizationScript::default();
    known(&mut script);
    let right = AuthorizationServer::start(script).await;
    let bench = TestAuthorization::new(&server, |settings| {
        settings.client.preregistered = Some(preregistered_client("set-up", None))
    });
    *bench.user.answer.lock().unwrap() = ConsentAnswer::No;
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert_eq!(error.cause, AuthErrorCause::Declined, "the user declines");
    *bench.user.answer.lock().unwrap() = ConsentAnswer::Yes;
    server.set_issuers(&[&right]);
    let account = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap();
    assert_eq!(
        account.issuer,
        right.issuer(),
        "[auth-credentials-issuer-key] the client id must belong to the first approved issuer"
    );
    assert!(
        bench.vault.contains_entry(|kind| *kind == VaultEntryKind::FirstIssuer),
        "[auth-credentials-issuer-key] the issuer must be stored"
    );
}
