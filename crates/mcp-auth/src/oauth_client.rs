//! Selection of the client id at an authorization server: a pre-registered one, a client ID metadata document, a
//! dynamic registration, or one that the user enters, in this order (`basic/authorization/client-registration`).

use serde::{Deserialize, Serialize};
use url::Url;

use crate::account::ClientKind;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::client_registration::ClientRegistration;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::metadata_address;
use crate::settings::{
    ClientAuthentication, ClientIdSettings, ClientSecretMethod, PreregisteredClient, is_client_metadata_document_url,
};
use crate::stored_secret::StoredSecret;

const PHASE: AuthPhase = AuthPhase::ClientId;

/// A client id, with the credentials that authenticate the app at the token endpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OAuthClient {
    pub(crate) kind: ClientKind,
    pub(crate) id: String,
    pub(crate) authentication: StoredClientAuth,
}

/// The way in which the app authenticates itself in token requests, as stored in the vault.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredClientAuth {
    None,
    Basic(StoredSecret),
    Post(StoredSecret),
    PrivateKeyJwt { key_pem: StoredSecret, algorithm: String },
}

/// Way in which the app obtains a client id at an authorization server.
#[derive(Debug)]
pub(crate) enum ClientIdApproach {
    Preregistered(PreregisteredClient),
    Document(Url),
    Registered(ClientRegistration),
    Register(Url),
    AskUser,
}

/// Selects the way in which the app obtains a client id. `stored` is the stored registration at this authorization
/// server.
///
/// # Errors
/// Returns [`AuthErrorCause::OtherIssuer`] if the pre-registered client id belongs to another authorization server.
pub(crate) fn choose_client_id_approach(
    source: &ClientIdSettings,
    server: &AuthorizationServerMetadata,
    stored: Option<ClientRegistration>,
    first_issuer: Option<&str>,
) -> Result<ClientIdApproach, AuthError> {
    if let Some(preregistered) = &source.preregistered {
        let expected = preregistered.issuer.as_deref().or(first_issuer);
        if let Some(expected) = expected.filter(|expected| *expected != server.issuer) {
            return Err(PHASE.error(AuthErrorCause::OtherIssuer {
                what: "the client id in the settings",
                expected: metadata_address::displayed_text(expected),
                found: metadata_address::displayed_text(&server.issuer),
            }));
        }
        return Ok(ClientIdApproach::Preregistered(preregistered.clone()));
    }
    let document = source
        .metadata_url
        .as_ref()
        .filter(|url| server.supports_metadata_documents && is_client_metadata_document_url(url));
    Ok(match (document, stored, &server.registration_endpoint) {
        (Some(url), ..) => ClientIdApproach::Document(url.clone()),
        (None, Some(stored), _) => ClientIdApproach::Registered(stored),
        (None, None, Some(endpoint)) => ClientIdApproach::Register(endpoint.clone()),
        (None, None, None) => ClientIdApproach::AskUser,
    })
}

/// Checks that the authorization server supports the configured client authentication. A client secret can be sent by
/// any method that the metadata lists. For a signed assertion, the metadata must list its method and algorithm, if it
/// lists any.
///
/// # Errors
/// Returns [`AuthErrorCause::NoProof`] if the metadata lists methods or algorithms without the configured one.
pub(crate) fn check_client_authentication_support(
    given: &ClientAuthentication,
    server: &AuthorizationServerMetadata,
) -> Result<(), AuthError> {
    let ClientAuthentication::PrivateKeyJwt { algorithm, .. } = given else { return Ok(()) };
    let listed = |method: &str, list: Option<&Vec<String>>| match list {
        Some(list) if !list.iter().any(|item| item == method) => {
            let (method, listed) =
                (metadata_address::displayed_text(method), metadata_address::displayed_text(&list.join(", ")));
            Err(PHASE.error(AuthErrorCause::NoProof { method, listed }))
        }
        _ => Ok(()),
    };
    listed("private_key_jwt", server.auth_methods.as_ref())?;
    listed(algorithm, server.signing_algorithms.as_ref())
}

/// Returns the OAuth client for a pre-registered client id. A client secret is sent by a method in `methods`, which the
/// authorization server supports.
pub(crate) fn preregistered_client(preregistered: &PreregisteredClient, methods: Option<&[String]>) -> OAuthClient {
    OAuthClient {
        kind: ClientKind::Preregistered,
        id: preregistered.client_id.clone(),
        authentication: to_stored_authentication(&preregistered.authentication, methods),
    }
}

/// Returns the OAuth client for a client id that the user entered.
pub(crate) fn user_entered_client(typed: &PreregisteredClient, methods: Option<&[String]>) -> OAuthClient {
    OAuthClient { kind: ClientKind::Typed, ..preregistered_client(typed, methods) }
}

pub(crate) fn metadata_document_client(url: &Url) -> OAuthClient {
    OAuthClient { kind: ClientKind::MetadataDocument, id: url.to_string(), authentication: StoredClientAuth::None }
}

pub(crate) fn to_stored_authentication(given: &ClientAuthentication, methods: Option<&[String]>) -> StoredClientAuth {
    match given {
        ClientAuthentication::None => StoredClientAuth::None,
        ClientAuthentication::Secret { secret, method } => {
            let secret = StoredSecret(secret.clone());
            match method.unwrap_or_else(|| client_secret_method(methods)) {
                ClientSecretMethod::Basic => StoredClientAuth::Basic(secret),
                ClientSecretMethod::Post => StoredClientAuth::Post(secret),
            }
        }
        ClientAuthentication::PrivateKeyJwt { key_pem, algorithm } => {
            StoredClientAuth::PrivateKeyJwt { key_pem: StoredSecret(key_pem.clone()), algorithm: algorithm.clone() }
        }
    }
}

/// Returns the method of sending a client secret: one that the metadata lists, or the `Authorization` header if it
/// lists none (RFC 8414, 2).
pub(crate) fn client_secret_method(methods: Option<&[String]>) -> ClientSecretMethod {
    let lists = |name: &str| methods.is_some_and(|methods| methods.iter().any(|method| method == name));
    if lists("client_secret_post") && !lists("client_secret_basic") {
        ClientSecretMethod::Post
    } else {
        ClientSecretMethod::Basic
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use secrecy::SecretString;

    use super::*;
    use crate::client_registration::token_endpoint_auth_method_to_register;

    const ISSUER: &str = "https://as.example";

    fn server_metadata(documents: bool, registration: bool) -> AuthorizationServerMetadata {
        let url = |path: &str| Url::parse(&format!("{ISSUER}{path}")).unwrap();
        AuthorizationServerMetadata {
            issuer: ISSUER.to_owned(),
            authorization_endpoint: Some(url("/authorize")),
            token_endpoint: url("/token"),
            registration_endpoint: registration.then(|| url("/register")),
            revocation_endpoint: None,
            scopes: None,
            auth_methods: None,
            signing_algorithms: None,
            supports_s256: true,
            supports_metadata_documents: documents,
            promises_iss: false,
            dpop: false,
            supports_account_selection: false,
        }
    }

    fn test_preregistered_client(issuer: Option<&str>) -> PreregisteredClient {
        PreregisteredClient {
            issuer: issuer.map(str::to_owned),
            client_id: "mine".to_owned(),
            authentication: ClientAuthentication::None,
            redirect_port: None,
        }
    }

    fn stored_registration() -> ClientRegistration {
        let client =
            OAuthClient { kind: ClientKind::Registered, id: "r".to_owned(), authentication: StoredClientAuth::None };
        ClientRegistration { issuer: ISSUER.to_owned(), client, redirect_uri: None, expires_at: None, doubted: false }
    }

    fn client_id_approach_variant_name(way: &ClientIdApproach) -> &'static str {
        match way {
            ClientIdApproach::Preregistered(_) => "preregistered",
            ClientIdApproach::Document(_) => "document",
            ClientIdApproach::Registered(_) => "registered",
            ClientIdApproach::Register(_) => "register",
            ClientIdApproach::AskUser => "ask",
        }
    }

    #[test]
    fn client_id_approaches_are_in_the_order_of_the_specification() {
        // Pre-registered, document URL, stored registration, documents supported, registration supported -> method
        let table = [
            (true, true, true, true, true, "preregistered", "[auth-registration-priority] [auth-preregistration]"),
            (false, true, true, true, true, "document", "[auth-cimd-support] must precede a registration"),
            (false, true, false, false, true, "register", "[auth-cimd-check-advertised] [auth-cimd-fallback]"),
            (false, false, true, true, true, "registered", "a registration must be used again"),
            (false, false, false, true, true, "register", "[auth-dcr] [auth-dcr-optional]"),
            (false, false, false, false, false, "ask", "[auth-manual-client-id] [auth-client-id-required]"),
        ];
        for (has_id, has_document, has_registration, takes_documents, takes_registration, expected, what) in table {
            let source = ClientIdSettings {
                preregistered: has_id.then(|| test_preregistered_client(None)),
                metadata_url: has_document.then(|| Url::parse("https://app.example/client.json").unwrap()),
                ..ClientIdSettings::default()
            };
            let server = server_metadata(takes_documents, takes_registration);
            let way =
                choose_client_id_approach(&source, &server, has_registration.then(stored_registration), None).unwrap();
            assert_eq!(client_id_approach_variant_name(&way), expected, "{what}");
        }
    }

    #[test]
    fn client_id_is_not_sent_to_another_authorization_server() {
        let source = |issuer| ClientIdSettings {
            preregistered: Some(test_preregistered_client(issuer)),
            ..ClientIdSettings::default()
        };
        for (issuer, first, is_good) in [
            (Some(ISSUER), None, true),
            (None, Some(ISSUER), true),
            (None, None, true),
            (Some("https://other.example"), None, false),
            (Some("https://as.example/"), None, false),
            (None, Some("https://other.example"), false),
        ] {
            let way = choose_client_id_approach(&source(issuer), &server_metadata(true, true), None, first);
            let what = "[auth-credentials-no-reuse] [auth-prereg-mismatch-error]";
            assert_eq!(way.is_ok(), is_good, "{what} settings specify {issuer:?}, it was first used at {first:?}");
        }
        let entry = stored_registration().to_vault_entry();
        assert!(
            ClientRegistration::from_vault_entry(&entry, ISSUER, 0).is_some(),
            "[auth-credentials-issuer-key] the same issuer must find the registration"
        );
        let other = ClientRegistration::from_vault_entry(&entry, "https://as.example/", 0);
        assert!(
            other.is_none(),
            "[auth-credentials-issuer-key] [auth-credentials-per-as] another issuer must not find it"
        );
    }

    #[test]
    fn only_an_https_url_with_a_path_is_a_client_id() {
        for (url, is_good) in [
            ("https://app.example/client.json", true),
            ("https://app.example/", false),
            ("http://app.example/client.json", false),
            ("https://app.example/client.json#x", false),
            ("https://u@app.example/client.json", false),
        ] {
            let is_one = is_client_metadata_document_url(&Url::parse(url).unwrap());
            assert_eq!(is_one, is_good, "[auth-cimd-url-form] [auth-cimd-hosted-https] {url}");
        }
    }

    #[test]
    fn client_secret_is_sent_by_a_method_listed_in_the_metadata() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let secret = ClientAuthentication::Secret { secret: SecretString::from("s"), method: None };
        for (methods, is_post) in [
            (None, false),
            (Some(list(&["client_secret_basic", "client_secret_post"])), false),
            (Some(list(&["client_secret_post"])), true),
            (Some(list(&["private_key_jwt", "client_secret_post"])), true),
        ] {
            let found = to_stored_authentication(&secret, methods.as_deref());
            let is_right = matches!(found, StoredClientAuth::Post(_)) == is_post;
            assert!(is_right, "[auth-cc-metadata-methods] [auth-cc-auth-method] with {methods:?}");
        }
        for (methods, expected) in [
            (None, "none"),
            (Some(list(&["none", "client_secret_basic"])), "none"),
            (Some(list(&["client_secret_basic", "client_secret_post"])), "client_secret_basic"),
            (Some(list(&["client_secret_post"])), "client_secret_post"),
        ] {
            assert_eq!(
                token_endpoint_auth_method_to_register(methods.as_deref()),
                expected,
                "[auth-b-public-client] with {methods:?}"
            );
        }
    }
}
