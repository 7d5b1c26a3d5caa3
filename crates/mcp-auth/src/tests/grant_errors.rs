//! Tests of grants that fail before anything is sent.

use testkit::authorization::{AuthorizationScript, AuthorizationServer};

use super::grants::generate_key_pem;
use super::support::{TestAuthorization, preregistered_client, start_servers};
use crate::*;

#[tokio::test]
async fn invalid_client_key_is_reported() {
    let knows = AuthorizationScript { auth_methods: vec!["private_key_jwt".to_owned()], ..Default::default() };
    let issuer = AuthorizationServer::start(knows).await;
    let server = testkit::authorization::ProtectedServer::start(Default::default(), &[&issuer]).await;
    for (pem, algorithm) in [
        ("no key", "ES256"),
        (generate_key_pem().as_str(), "RS256"),
        (generate_key_pem().as_str(), "HS256"),
        (generate_key_pem().as_str(), "none"),
    ] {
        let bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::ClientCredentials;
            let mut client = preregistered_client("app", None);
            client.authentication =
                ClientAuthentication::PrivateKeyJwt { key_pem: pem.into(), algorithm: algorithm.to_owned() };
            settings.client.preregistered = Some(client);
        });
        let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
        assert!(matches!(error.cause, AuthErrorCause::Key { .. }), "[auth-cc-auth-method] {algorithm}: {error}");
        assert!(!error.to_string().contains("PRIVATE"), "[auth-cc-protect-secret] the key must not be shown: {error}");
    }
}

#[tokio::test]
async fn identity_provider_is_requested_over_tls_only() {
    let addresses = [("http://a.test", None), ("https://a.test", Some("http://a.test/")), ("ftp://a.test", None)];
    for (issuer_url, endpoint) in addresses {
        let (issuer, server) =
            start_servers(|script| drop(script.clients.insert("app".to_owned(), None)), |_| ()).await;
        let bench = TestAuthorization::new(&server, |settings| {
            settings.grant = GrantKind::EnterpriseManaged(EnterpriseIdp {
                issuer: issuer_url.to_owned(),
                token_endpoint: endpoint.map(|url| url.parse().unwrap()),
                client_id: "idp-client".to_owned(),
                authentication: ClientAuthentication::None,
                id_token: Some("the.id.token".into()),
            });
            settings.client.preregistered = Some(preregistered_client("app", None));
        });
        let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
        assert!(
            matches!(error.cause, AuthErrorCause::UnsafeUrl { .. }),
            "[auth-ema-https] {issuer_url} {endpoint:?}: {error}"
        );
        assert_eq!(issuer.count("/token"), 0, "[auth-ema-https] no request must be sent");
    }
}
