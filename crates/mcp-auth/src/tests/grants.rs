//! Tests of grants without a browser, DPoP-bound tokens and the enterprise-managed grant.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use testkit::authorization::{AuthorizationScript, DpopBehaviour, parameter_value};
use testkit::http::HttpServer;

use super::support::{
    BrowserBehaviour, TestAuthorization, TestCallOutcome, preregistered_client, start_servers, wait_until,
};
use crate::*;

const JWT_BEARER_GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn decode_jwt_claims(jwt: &str) -> Value {
    let payload = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// Returns a new private key in PEM, as it is entered in settings.
pub(super) fn generate_key_pem() -> String {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(pair.to_pkcs8v1().unwrap().as_ref());
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

#[tokio::test]
async fn client_credentials_token_is_obtained_and_renewed() {
    for method in ["client_secret_basic", "client_secret_post", "private_key_jwt"] {
        let (issuer, server) = start_servers(
            |script| {
                script.auth_methods = vec![method.to_owned()];
                script.clients.insert("app".to_owned(), Some("secret-of-app".to_owned()));
            },
            |script| script.scopes = Some(vec!["mcp:a".to_owned(), "mcp:b".to_owned(), "mcp:admin".to_owned()]),
        )
        .await;
        let bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::ClientCredentials;
            settings.scopes = Some(vec!["mcp:a".to_owned(), "mcp:b".to_owned()]);
            let mut client = preregistered_client("app", Some("secret-of-app"));
            if method == "private_key_jwt" {
                let (key_pem, algorithm) = (generate_key_pem().into(), "ES256".to_owned());
                client.authentication = ClientAuthentication::PrivateKeyJwt { key_pem, algorithm };
            }
            settings.client.preregistered = Some(client);
        });
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "[auth-cc-auth-method] {method}: the first call must succeed"
        );
        let form = issuer.token_requests("client_credentials").pop().unwrap();
        assert_eq!(parameter_value(&form, "resource"), Some(server.url().as_str()), "[auth-cc-baseline] {method}");
        assert_eq!(parameter_value(&form, "scope"), Some("mcp:a mcp:b"), "[auth-cc-baseline] {method}");
        assert_eq!(issuer.count("/register"), 0, "[auth-cc-preregistered] {method}: nothing must be registered");
        if let Some(statement) = parameter_value(&form, "client_assertion") {
            let claims = decode_jwt_claims(statement);
            assert_eq!(
                (&claims["iss"], &claims["sub"]),
                (&json!("app"), &json!("app")),
                "[auth-cc-auth-method] issuer and subject"
            );
            assert_eq!(claims["aud"], json!(issuer.issuer()), "[auth-cc-auth-method] audience of the assertion");
            let life = claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
            assert!(life <= 60, "[auth-cc-protect-secret] the lifetime must be short: {claims}");
        }
        bench.advance_clock(3590);
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "[auth-cc-renew] {method}: the call must succeed"
        );
        assert_eq!(
            issuer.token_requests("client_credentials").len(),
            2,
            "[auth-cc-renew] {method}: a new token must be requested before the expiry"
        );
        assert!(
            bench.user.consents.lock().unwrap().is_empty(),
            "[auth-cc-renew] {method}: no consent must be requested"
        );
        assert!(
            !bench.all_displayed_text().contains("secret-of-app"),
            "[auth-cc-protect-secret] {method}: no secret must be shown"
        );
    }
}

#[tokio::test]
async fn workload_identity_assertion_is_sent_once() {
    let (issuer, server) = start_servers(|script| drop(script.clients.insert("job".to_owned(), None)), |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| {
        settings.grant = GrantKind::WorkloadIdentity { assertion: "the.workload.jwt".into() };
        settings.client.preregistered = Some(preregistered_client("job", None));
    });
    assert_eq!(bench.call("echo").await, TestCallOutcome::Answered(200), "the token must be accepted");
    let form = issuer.token_requests(JWT_BEARER_GRANT_TYPE).pop().unwrap();
    assert_eq!(parameter_value(&form, "assertion"), Some("the.workload.jwt"), "the assertion must be sent");
    assert_eq!(
        parameter_value(&form, "resource"),
        Some(server.url().as_str()),
        "[auth-resource-token] resource of the token"
    );
    assert_eq!(issuer.count("/token"), 1, "no other grant must be tried");
    let bench = TestAuthorization::new(&server, |settings| {
        settings.grant = GrantKind::WorkloadIdentity { assertion: "the.workload.jwt".into() };
        settings.client.preregistered = Some(preregistered_client("unknown", None));
    });
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("invalid_client"), "the refusal must be reported: {stopped:?}");
    assert_eq!(issuer.count("/token"), 2, "the request must not be repeated");
}

/// Starts an identity provider at which every sign-in succeeds.
async fn start_identity_provider(client_id: &'static str, challenges: &'static [&'static str]) -> HttpServer {
    let nonce = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    HttpServer::start(move |request, mut answer| {
        let nonce = std::sync::Arc::clone(&nonce);
        async move {
            let origin = format!("http://{}", request.header("host").unwrap_or_default());
            match request.path_without_query() {
                "/.well-known/openid-configuration" => {
                    let document = json!({
                        "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                        "token_endpoint": format!("{origin}/token"), "code_challenge_methods_supported": challenges
                    });
                    answer.json(&document).await
                }
                "/authorize" => {
                    let query = request.query();
                    *nonce.lock().unwrap() = parameter_value(&query, "nonce").unwrap_or_default().to_owned();
                    let (to, state) = (parameter_value(&query, "redirect_uri").unwrap(), parameter_value(&query, "state").unwrap());
                    answer.respond(302, &format!("location: {to}?code=idp-code-1&state={state}\r\n"), b"").await
                }
                "/token" if parameter_value(&request.form(), "grant_type") == Some("authorization_code") => {
                    let claims = json!({ "iss": origin, "aud": client_id, "exp": 1_900_000_000_u64, "nonce": *nonce.lock().unwrap() });
                    let token = format!("head.{}.sign", URL_SAFE_NO_PAD.encode(claims.to_string()));
                    answer.json(&json!({ "access_token": "idp-access", "token_type": "Bearer", "id_token": token })).await
                }
                "/token" => {
                    let kind = "urn:ietf:params:oauth:token-type:id-jag";
                    let grant = json!({
                        "access_token": "the.id.jag", "issued_token_type": kind, "token_type": "N_A", "scope": "mcp:read"
                    });
                    answer.json(&grant).await
                }
                _ => answer.status(404).await,
            }
        }
    })
    .await
}

#[tokio::test]
async fn token_is_obtained_through_the_identity_provider() {
    for signs_in in [false, true] {
        let provider = start_identity_provider("idp-client", &["S256"]).await;
        let (issuer, server) = start_servers(
            |script| {
                script.auth_methods = vec!["client_secret_basic".to_owned()];
                script.clients.insert("app".to_owned(), Some("secret-of-app".to_owned()));
            },
            |script| script.scopes = Some(vec!["mcp:read".to_owned(), "mcp:write".to_owned()]),
        )
        .await;
        let mut bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::EnterpriseManaged(EnterpriseIdp {
                issuer: provider.url(""),
                token_endpoint: None,
                client_id: "idp-client".to_owned(),
                authentication: ClientAuthentication::None,
                id_token: (!signs_in).then(|| "the.id.token".into()),
            });
            settings.client.preregistered = Some(preregistered_client("app", Some("secret-of-app")));
            // Without a consent request, only scopes of the settings are requested.
            settings.scopes = (!signs_in).then(|| vec!["mcp:read".to_owned(), "mcp:write".to_owned()]);
        });
        if signs_in {
            bench.sign_in_and_call().await.unwrap();
            let query = provider
                .received_requests()
                .iter()
                .find(|one| one.path_without_query() == "/authorize")
                .unwrap()
                .query();
            assert_eq!(
                parameter_value(&query, "scope"),
                Some("openid"),
                "[auth-ema-sso] the user must sign in at the identity provider"
            );
            assert!(
                parameter_value(&query, "nonce").is_some() && parameter_value(&query, "code_challenge").is_some(),
                "[auth-ema-nonce-pkce]"
            );
            let consent = bench.user.consents.lock().unwrap().pop().unwrap();
            assert_eq!(consent.resource, server.url(), "the consent request must name the server");
            assert_eq!(
                consent.scopes,
                ["openid", "mcp:read", "mcp:write"],
                "the consent request must list all scopes of both requests"
            );
        } else {
            assert_eq!(
                bench.call("echo").await,
                TestCallOutcome::Answered(200),
                "[auth-ema-jwt-bearer] the call must succeed without the user"
            );
        }
        let exchange = provider
            .received_requests()
            .iter()
            .map(|one| one.form())
            .find(|form| parameter_value(form, "subject_token").is_some())
            .unwrap();
        let get = |name: &str| parameter_value(&exchange, name).unwrap_or_default();
        assert_eq!(get("grant_type"), "urn:ietf:params:oauth:grant-type:token-exchange", "[auth-ema-token-exchange]");
        assert_eq!(get("requested_token_type"), "urn:ietf:params:oauth:token-type:id-jag", "[auth-ema-token-exchange]");
        assert_eq!(get("audience"), issuer.issuer(), "[auth-ema-audience]");
        assert_eq!(get("resource"), server.url(), "[auth-ema-resource]");
        assert_eq!(get("client_id"), "idp-client", "[auth-ema-exchange-client-auth]");
        let form = issuer.token_requests(JWT_BEARER_GRANT_TYPE).pop().unwrap();
        assert_eq!(
            parameter_value(&form, "assertion"),
            Some("the.id.jag"),
            "[auth-ema-jwt-bearer] the grant must be redeemed"
        );
        assert_eq!(
            get("scope"),
            "mcp:read mcp:write",
            "[auth-ema-scope-errors] all configured or shown scopes must be requested"
        );
        assert_eq!(
            parameter_value(&form, "scope"),
            Some("mcp:read"),
            "[auth-ema-scope-errors] the reduced scopes must be used"
        );
        assert_eq!(
            issuer.count("/authorize"),
            0,
            "[auth-ema-no-redirect] the user must not be sent to the authorization server"
        );
        let opened = bench.user.opened.lock().unwrap().len();
        assert_eq!(
            opened,
            usize::from(signs_in),
            "[auth-ema-no-redirect] the browser must open the identity provider only"
        );
        bench.restart();
        bench.advance_clock(3590);
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "[auth-ema-sso] a later call must succeed with the stored ID token"
        );
        let is_stored = bench.vault.entries.lock().unwrap().keys().any(|key| key.kind == VaultEntryKind::Account);
        assert!(is_stored, "[auth-ema-secure-storage] the ID token must be in the vault");
        let shown = bench.all_displayed_text();
        let is_secret = ["the.id.jag", "the.id.token", "secret-of-app", "idp-code-1"];
        let found: Vec<_> = is_secret.iter().filter(|secret| shown.contains(**secret)).collect();
        assert!(found.is_empty(), "[auth-ema-no-log] [auth-ema-refresh-protect] no secret must be shown: {found:?}");
    }
}

#[tokio::test]
async fn identity_provider_without_s256_is_rejected() {
    let provider = start_identity_provider("idp-client", &["plain"]).await;
    let (_issuer, server) = start_servers(|script| drop(script.clients.insert("app".to_owned(), None)), |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| {
        settings.grant = GrantKind::EnterpriseManaged(EnterpriseIdp {
            issuer: provider.url(""),
            token_endpoint: None,
            client_id: "idp-client".to_owned(),
            authentication: ClientAuthentication::None,
            id_token: None,
        });
        settings.client.preregistered = Some(preregistered_client("app", None));
    });
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    let is_rejected = matches!(&error.cause, AuthErrorCause::NoPkce { issuer } if *issuer == provider.url(""));
    assert!(is_rejected, "[auth-pkce-verify-support] [auth-ema-nonce-pkce] X46: {error}");
    assert!(
        bench.user.opened.lock().unwrap().is_empty(),
        "[auth-pkce-verify-support] X46: the browser must not be opened"
    );
}

#[tokio::test]
async fn dpop_token_has_a_new_proof_for_each_request() {
    for dpop in [DpopBehaviour::Required, DpopBehaviour::WithNonce] {
        let (issuer, server) = start_servers(
            |script| {
                script.dpop = dpop;
                script.overrides =
                    super::support::json_members(&[("dpop_signing_alg_values_supported", json!(["ES256"]))]);
            },
            |_| (),
        )
        .await;
        let mut bench = TestAuthorization::new(&server, |_| ());
        let account = bench.sign_in_and_call().await.unwrap();
        assert!(account.bound, "{dpop:?}: the token must be bound");
        bench.restart();
        bench.call("echo").await;
        bench.advance_clock(3590);
        assert_eq!(
            bench.call("echo").await,
            TestCallOutcome::Answered(200),
            "{dpop:?}: the token must be renewed and stored with its key"
        );
        let calls = server.requests_with_method("tools/call");
        let signed: Vec<_> = calls.iter().filter(|call| call.header("authorization").is_some()).collect();
        assert!(
            signed.iter().all(|call| call.header("authorization").unwrap().starts_with("DPoP ")),
            "{dpop:?}: scheme of the header"
        );
        let all: Vec<_> = server
            .received_requests()
            .iter()
            .chain(issuer.received_requests().iter())
            .filter_map(|one| one.header("dpop").map(str::to_owned))
            .collect();
        let ids: BTreeSet<_> = all.iter().map(|proof| decode_jwt_claims(proof)["jti"].to_string()).collect();
        assert_eq!(ids.len(), all.len(), "{dpop:?}: proofs must be unique");
    }
}

#[tokio::test]
async fn bearer_token_is_rejected_if_a_dpop_token_is_required() {
    let (issuer, server) = start_servers(|_| (), |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| settings.dpop = DpopUse::Always);
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert_eq!(
        (error.phase, &error.cause),
        (AuthPhase::Token, &AuthErrorCause::Unbound),
        "RFC 9449, 5: a bearer token must be refused"
    );
    assert!(error.next_step().contains("`dpop`"), "the next step must be stated: {}", error.next_step());
    assert_eq!(issuer.token_requests("authorization_code").len(), 1, "a token must have been issued");
    assert!(bench.authorization.account().is_none(), "no account must exist");
    assert!(matches!(bench.call("echo").await, TestCallOutcome::Stopped(_)), "the token must not be used");

    let knows = |script: &mut AuthorizationScript| {
        script.dpop = DpopBehaviour::Required;
        script.overrides = super::support::json_members(&[("dpop_signing_alg_values_supported", json!(["ES256"]))]);
    };
    let (issuer, server) = start_servers(knows, |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| settings.dpop = DpopUse::Always);
    bench.sign_in_and_call().await.unwrap();
    issuer.set(|script| script.dpop = DpopBehaviour::Off);
    bench.advance_clock(3601);
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("bound to no key"), "an unbound renewal must be refused: {stopped:?}");
    let account = bench.authorization.account().unwrap();
    assert!(account.ended.is_some() && !account.bound, "the account must show the reason: {account:?}");

    let (_issuer, server) = start_servers(|_| (), |_| ()).await;
    let mut bench = TestAuthorization::new(&server, |_| ());
    bench.sign_in_and_call().await.unwrap();
    bench.settings.dpop = DpopUse::Always;
    bench.restart();
    let stopped = bench.call("echo").await;
    assert!(format!("{stopped:?}").contains("now require"), "an older unbound token must not be used: {stopped:?}");
}

#[tokio::test]
async fn unsupported_authentication_method_is_reported_before_anything_is_sent() {
    for (methods, algorithms, is_taken) in [
        (vec!["private_key_jwt"], json!(["ES256", "RS256"]), true),
        (vec!["private_key_jwt"], json!(null), true),
        (vec!["private_key_jwt"], json!(["RS256"]), false),
        (vec!["client_secret_basic"], json!(null), false),
    ] {
        let what = format!("[auth-cc-metadata-methods] listed are {methods:?}, {algorithms}");
        let (issuer, server) = start_servers(
            |script| {
                script.auth_methods = methods.into_iter().map(str::to_owned).collect();
                script.clients.insert("app".to_owned(), None);
                let name = "token_endpoint_auth_signing_alg_values_supported";
                script.overrides = super::support::json_members(&[(name, algorithms)]);
            },
            |_| (),
        )
        .await;
        let bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::ClientCredentials;
            let mut client = preregistered_client("app", None);
            let (key_pem, algorithm) = (generate_key_pem().into(), "ES256".to_owned());
            client.authentication = ClientAuthentication::PrivateKeyJwt { key_pem, algorithm };
            settings.client.preregistered = Some(client);
        });
        match bench.authorization.sign_in(AuthReason::SignIn).await {
            Ok(_) => assert!(is_taken, "{what}: the method must be refused"),
            Err(error) => {
                assert!(!is_taken && matches!(error.cause, AuthErrorCause::NoProof { .. }), "{what}: {error}");
                assert_eq!(issuer.count("/token"), 0, "{what}: no request must be sent");
            }
        }
    }
}

#[tokio::test]
async fn redirect_with_a_wrong_state_is_ignored() {
    let provider = start_identity_provider("idp-client", &["S256"]).await;
    let (_issuer, server) = start_servers(|script| drop(script.clients.insert("app".to_owned(), None)), |_| ()).await;
    let bench = TestAuthorization::new(&server, |settings| {
        settings.grant = GrantKind::EnterpriseManaged(EnterpriseIdp {
            issuer: provider.url(""),
            token_endpoint: None,
            client_id: "idp-client".to_owned(),
            authentication: ClientAuthentication::None,
            id_token: None,
        });
        settings.client.preregistered = Some(preregistered_client("app", None));
    });
    *bench.user.browser.lock().unwrap() = BrowserBehaviour::Stays;
    let authorization = std::sync::Arc::clone(&bench.authorization);
    let flow = tokio::spawn(async move { authorization.sign_in(AuthReason::SignIn).await });
    let is_waiting = || bench.authorization.progress().is_some_and(|at| at.phase == AuthPhase::Callback);
    wait_until("the sign-in must wait for the browser", is_waiting).await;
    let url = bench.user.opened.lock().unwrap().last().cloned().unwrap();
    let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    for query in ["code=stolen", "code=stolen&state=", "code=stolen&state=of-another"] {
        let page = testkit::browser::get(&format!("{redirect}?{query}")).await.unwrap();
        assert_eq!(page.status, 400, "[auth-ema-state-validate] {query} must be refused");
    }
    testkit::browser::sign_in(url.as_str()).await.unwrap();
    flow.await.unwrap().unwrap();
    let codes: Vec<_> = provider
        .received_requests()
        .iter()
        .filter_map(|one| parameter_value(&one.form(), "code").map(str::to_owned))
        .collect();
    assert_eq!(codes, ["idp-code-1"], "[auth-ema-state-validate] only the valid code must be redeemed");
}
