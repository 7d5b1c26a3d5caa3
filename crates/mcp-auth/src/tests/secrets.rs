//! Tests that steps, errors and debug output contain no secrets.

use testkit::authorization::{AuthorizationBehaviour, RefreshBehaviour, ResourceMetadataLocation, parameter_value};
use testkit::http::HttpServer;
use url::Url;

use super::support::{TestAuthorization, start_servers};
use crate::*;

fn query_secrets(url: &Url) -> Vec<String> {
    url.query_pairs().filter(|(name, _)| name == "state").map(|(_, value)| value.into_owned()).collect()
}

#[tokio::test]
async fn steps_errors_and_debug_output_contain_no_secrets() {
    for method in ["none", "client_secret_basic", "client_secret_post"] {
        let (issuer, server) = start_servers(|script| script.auth_methods = vec![method.to_owned()], |_| ()).await;
        let bench = TestAuthorization::new(&server, |_| ());
        bench.sign_in_and_call().await.unwrap();
        let mut shown = bench.all_displayed_text();
        bench.advance_clock(3590);
        bench.call("echo").await;
        issuer.set(|script| script.refresh = RefreshBehaviour::Fails("invalid_grant".to_owned()));
        issuer.invalidate_access_tokens();
        shown += &format!("{:?}", bench.call("echo").await);
        shown += &bench.all_displayed_text();
        issuer.set(|script| script.authorizing = AuthorizationBehaviour::Denies("access_denied".to_owned()));
        shown += &format!("{:?}", bench.authorization.sign_in(AuthReason::SignIn).await);
        shown += &bench.all_displayed_text();
        shown += &format!("{:?}", bench.authorization.sign_out().await);
        shown += &bench.all_displayed_text();
        let mut secrets = issuer.secrets();
        secrets.extend(bench.user.opened.lock().unwrap().iter().flat_map(query_secrets));
        let forms = issuer.token_requests("authorization_code");
        secrets
            .extend(forms.iter().flatten().filter(|(name, _)| name == "code_verifier").map(|(_, value)| value.clone()));
        assert!(secrets.len() >= 6, "the test must have secrets: {}", secrets.len());
        for secret in &secrets {
            assert!(!shown.contains(secret.as_str()), "[auth-ema-no-log] {method}: {secret} must not be shown");
        }
        assert!(shown.contains("[redacted]"), "redacted secrets must be marked");
        assert!(shown.contains("grant_type=authorization_code"), "other text must be readable");
    }
}

#[tokio::test]
async fn secrets_repeated_by_a_server_are_redacted() {
    // This server's error response repeats the whole token request.
    let issuer = HttpServer::start(|request, mut answer| async move {
        let origin = format!("http://{}", request.header("host").unwrap_or_default());
        match request.path_without_query() {
            "/.well-known/oauth-authorization-server" => {
                let endpoint = |name: &str| format!("{origin}/{name}");
                let document = serde_json::json!({
                    "issuer": origin, "authorization_endpoint": endpoint("authorize"), "token_endpoint": endpoint("token"),
                    "registration_endpoint": endpoint("register"), "code_challenge_methods_supported": ["S256"]
                });
                answer.json(&document).await
            }
            "/register" => answer.json(&serde_json::json!({ "client_id": "c", "client_secret": "the-client-secret" })).await,
            "/authorize" => {
                let query = request.query();
                let get = |name: &str| testkit::authorization::parameter_value(&query, name).unwrap_or_default().to_owned();
                let to = format!("{}?code=the-secret-code&state={}", get("redirect_uri"), get("state"));
                answer.respond(302, &format!("location: {to}\r\n"), b"").await
            }
            _ => {
                let repeated = format!("{}\n{}", request.head, String::from_utf8_lossy(&request.body));
                let verifier = request.form().into_iter().find(|(name, _)| name == "code_verifier").map(|(_, value)| value);
                let body = serde_json::json!({ "error": format!("bad {}", verifier.unwrap_or_default()), "error_description": repeated });
                answer.respond(400, "content-type: application/json\r\n", body.to_string().as_bytes()).await
            }
        }
    })
    .await;
    let (_other, server) = start_servers(|_| (), |_| ()).await;
    server.set(|script| {
        script.overrides =
            super::support::json_members(&[("authorization_servers", serde_json::json!([issuer.url("")]))])
    });
    let bench = TestAuthorization::new(&server, |_| ());
    let error = bench.sign_in_and_call().await.unwrap_err();
    let shown = format!("{error} {error:?} {}", bench.all_displayed_text());
    let posted = issuer.received_requests().into_iter().find(|one| one.path == "/token").unwrap();
    let verifier = posted.form().into_iter().find(|(name, _)| name == "code_verifier").unwrap().1;
    let mut secrets = vec!["the-secret-code".to_owned(), "the-client-secret".to_owned(), verifier];
    secrets.extend(bench.user.opened.lock().unwrap().iter().flat_map(query_secrets));
    secrets.extend(posted.header("authorization").and_then(|value| value.strip_prefix("Basic ")).map(str::to_owned));
    for secret in secrets {
        assert!(!shown.contains(&secret), "[auth-ema-no-log] {secret} must not be shown: {shown}");
    }
    let pages = bench.user.pages.lock().unwrap().clone();
    assert!(
        pages.iter().all(|page| !page.body.contains("the-secret-code")),
        "the page must not show the code: {pages:?}"
    );
}

#[test]
fn secret_is_redacted_in_earlier_steps() {
    let mut log = crate::step_log::StepLog::default();
    let now = std::time::SystemTime::UNIX_EPOCH;
    log.note(now, AuthPhase::Token, "the server said token-of-later");
    let answer = http::Response::builder().status(200).header("content-type", "application/json");
    let body = br#"{"access_token":"token-of-later","note":"token-of-later is yours"}"#;
    let answer = answer.body(body.to_vec()).unwrap();
    let request = log.displayed_request(&http::Request::post("https://a.example/token").body(Vec::new()).unwrap());
    log.add_http_request(now, std::time::Duration::ZERO, AuthPhase::Token, &request, Some(&answer));
    let shown = format!("{:?}", log.steps());
    assert!(!shown.contains("token-of-later"), "the token must be redacted everywhere: {shown}");
    assert!(shown.contains("[redacted] is yours"), "other text must be retained: {shown}");
}

#[tokio::test]
async fn debug_output_of_settings_contains_no_secrets() {
    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| {
        settings.grant = GrantKind::WorkloadIdentity { assertion: "secret-assertion".into() };
        settings.client.preregistered = Some(super::support::preregistered_client("id", Some("secret-of-client")));
    });
    let provider = EnterpriseIdp {
        issuer: "https://idp.example".to_owned(),
        token_endpoint: None,
        client_id: "id".to_owned(),
        authentication: ClientAuthentication::PrivateKeyJwt {
            key_pem: "secret-key".into(),
            algorithm: "ES256".to_owned(),
        },
        id_token: Some("secret-id-token".into()),
    };
    let shown = format!("{:?} {:?} {:?} {provider:?}", bench.settings, bench.settings.client, bench.authorization);
    assert!(!shown.contains("secret-"), "[auth-cc-protect-secret] debug output must not contain secrets: {shown}");
    let entry = secrecy::SecretSlice::from(b"secret-entry".to_vec());
    assert!(!format!("{entry:?}").contains("secret-entry"), "debug output of entries must be redacted");
}

#[tokio::test]
async fn query_of_the_server_url_is_not_sent_or_shown() {
    for metadata in [ResourceMetadataLocation::WellKnown, ResourceMetadataLocation::SameOrigin] {
        let (issuer, server) = start_servers(|_| (), |script| script.metadata = metadata.clone()).await;
        let bench = TestAuthorization::for_server_url(
            &format!("{}?api_key=s3cr3t%2Fvalue+x&v=1", server.url()),
            Default::default(),
            |_| (),
        );
        bench.sign_in_and_call().await.unwrap();
        issuer.invalidate_access_tokens();
        let called = bench.call("echo").await;
        let shown = format!("{} {called:?}", bench.all_displayed_text());
        assert!(!shown.contains("s3cr3t"), "{metadata:?}: the steps must not show the key: {shown}");
        let opened = bench.user.opened.lock().unwrap().pop().unwrap();
        assert!(
            !opened.as_str().contains("s3cr3t"),
            "{metadata:?}: the browser URL must not contain the key: {opened}"
        );
        let received: Vec<_> = server.received_requests().into_iter().chain(issuer.received_requests()).collect();
        let sent: Vec<_> =
            received.iter().filter(|one| one.path_without_query() == "/token").map(|one| one.form()).collect();
        assert_eq!(sent.len(), 2, "{metadata:?}: a code and a renewal must be sent");
        for form in &sent {
            let resource = parameter_value(form, "resource");
            assert_eq!(
                resource,
                Some(server.url().as_str()),
                "[auth-resource-canonical] {metadata:?}: the resource must have no query"
            );
        }
        let document = received.iter().find(|one| one.path_without_query().contains("oauth-protected-resource"));
        let path = document.map(|one| one.path.clone()).unwrap_or_default();
        assert!(
            path.contains("s3cr3t"),
            "{metadata:?}: RFC 9728, 3.1: the metadata request must contain the query: {path}"
        );
    }
}

#[test]
fn api_key_in_the_server_url_stays_redacted() {
    let mut redactor = crate::secret_redactor::SecretRedactor::default();
    redactor.register_query_secrets(&Url::parse("https://a.example/mcp?key=the%20first+key&the-lone-key&n=1").unwrap());
    (0..200).for_each(|number| redactor.register_secret(&format!("token-number-{number}")));
    let shown = redactor.redact_text("the%20first+key, the first key, the+first+key, the-lone-key, n=1");
    assert_eq!(shown, "[redacted], [redacted], [redacted], [redacted], n=1", "all forms must be redacted permanently");
}

#[test]
fn longer_secrets_are_redacted_before_their_parts() {
    let mut redactor = crate::secret_redactor::SecretRedactor::default();
    redactor.register_secret("secret");
    redactor.register_secret("the-secret-of-all");
    let shown = redactor.redact_text("a the-secret-of-all b secret c");
    assert_eq!(shown, "a [redacted] b [redacted] c", "longer secrets must be redacted first");
}

#[test]
fn later_steps_do_not_displace_the_steps_of_the_sign_in() {
    let mut log = crate::step_log::StepLog::default();
    let now = std::time::SystemTime::UNIX_EPOCH;
    log.begin_sign_in();
    log.note(now, AuthPhase::Consent, "the user agreed");
    log.end_sign_in();
    (0..500).for_each(|number| log.note(now, AuthPhase::Refresh, &format!("renewal {number}")));
    let steps = log.steps();
    assert_eq!(steps[0].conclusion, "the user agreed", "the steps of the sign-in must be retained");
    assert_eq!(steps.last().unwrap().conclusion, "renewal 499", "the last later step must be retained");
    assert!(steps.len() < 100, "the number of steps must be limited: {}", steps.len());
    log.begin_sign_in();
    assert!(log.steps().is_empty(), "the next sign-in must clear the log");
}
