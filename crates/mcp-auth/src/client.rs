//! Who the app is to an authorization server: a client id set up before, the URL of a document, one that it registers,
//! or one that the user types; in this order (`basic/authorization/client-registration`).

use serde::{Deserialize, Serialize};
use url::Url;

use crate::account::ClientKind;
use crate::address;
use crate::error::{AuthError, Cause, Phase};
use crate::registration::Registration;
use crate::secret::Kept;
use crate::server::Server;
use crate::settings::{ClientAuthentication, ClientSource, Preregistered, SecretMethod, is_document_url};

const PHASE: Phase = Phase::ClientId;

/// A client id, and how to prove that it is ours.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) kind: ClientKind,
    pub(crate) id: String,
    pub(crate) authentication: Authentication,
}

/// What goes with a token request as proof.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Authentication {
    None,
    Basic(Kept),
    Post(Kept),
    PrivateKeyJwt { key_pem: Kept, algorithm: String },
}

/// How a client id is come by.
#[derive(Debug)]
pub(crate) enum Way {
    Preregistered(Preregistered),
    Document(Url),
    Registered(Registration),
    Register(Url),
    Ask,
}

/// Chooses the way. `kept` is the registration with this very authorization server.
///
/// # Errors
/// If what is set up is for another authorization server.
pub(crate) fn way(
    source: &ClientSource,
    server: &Server,
    kept: Option<Registration>,
    first_issuer: Option<&str>,
) -> Result<Way, AuthError> {
    if let Some(preregistered) = &source.preregistered {
        let expected = preregistered.issuer.as_deref().or(first_issuer);
        if let Some(expected) = expected.filter(|expected| *expected != server.issuer) {
            return Err(PHASE.error(Cause::OtherIssuer {
                what: "the client id in the settings",
                expected: address::shown(expected),
                found: address::shown(&server.issuer),
            }));
        }
        return Ok(Way::Preregistered(preregistered.clone()));
    }
    let document = source.metadata_url.as_ref().filter(|url| server.metadata_documents && is_document_url(url));
    Ok(match (document, kept, &server.registration_endpoint) {
        (Some(url), ..) => Way::Document(url.clone()),
        (None, Some(kept), _) => Way::Registered(kept),
        (None, None, Some(endpoint)) => Way::Register(endpoint.clone()),
        (None, None, None) => Way::Ask,
    })
}

/// Whether this authorization server takes the proof that is set up. How a secret is sent follows its list by itself; a
/// signed statement is taken or not.
///
/// # Errors
/// If it lists what it takes, and this is not among it.
pub(crate) fn check_proof(given: &ClientAuthentication, server: &Server) -> Result<(), AuthError> {
    let ClientAuthentication::PrivateKeyJwt { algorithm, .. } = given else { return Ok(()) };
    let listed = |method: &str, list: Option<&Vec<String>>| match list {
        Some(list) if !list.iter().any(|item| item == method) => {
            let (method, listed) = (address::shown(method), address::shown(&list.join(", ")));
            Err(PHASE.error(Cause::NoProof { method, listed }))
        }
        _ => Ok(()),
    };
    listed("private_key_jwt", server.auth_methods.as_ref())?;
    listed(algorithm, server.signing_algorithms.as_ref())
}

/// The client of the settings, as this authorization server wants it to prove itself.
pub(crate) fn preregistered(preregistered: &Preregistered, methods: Option<&[String]>) -> Client {
    Client {
        kind: ClientKind::Preregistered,
        id: preregistered.client_id.clone(),
        authentication: authentication(&preregistered.authentication, methods),
    }
}

/// A client that the user typed.
pub(crate) fn typed(typed: &Preregistered, methods: Option<&[String]>) -> Client {
    Client { kind: ClientKind::Typed, ..preregistered(typed, methods) }
}

pub(crate) fn document_client(url: &Url) -> Client {
    Client { kind: ClientKind::MetadataDocument, id: url.to_string(), authentication: Authentication::None }
}

pub(crate) fn authentication(given: &ClientAuthentication, methods: Option<&[String]>) -> Authentication {
    match given {
        ClientAuthentication::None => Authentication::None,
        ClientAuthentication::Secret { secret, method } => {
            let secret = Kept(secret.clone());
            match method.unwrap_or_else(|| secret_method(methods)) {
                SecretMethod::Basic => Authentication::Basic(secret),
                SecretMethod::Post => Authentication::Post(secret),
            }
        }
        ClientAuthentication::PrivateKeyJwt { key_pem, algorithm } => {
            Authentication::PrivateKeyJwt { key_pem: Kept(key_pem.clone()), algorithm: algorithm.clone() }
        }
    }
}

/// How a secret is sent: as listed; in the header where nothing is listed (RFC 8414, 2).
pub(crate) fn secret_method(methods: Option<&[String]>) -> SecretMethod {
    let lists = |name: &str| methods.is_some_and(|methods| methods.iter().any(|method| method == name));
    if lists("client_secret_post") && !lists("client_secret_basic") { SecretMethod::Post } else { SecretMethod::Basic }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use secrecy::SecretString;

    use super::*;
    use crate::registration::wanted_method;

    const ISSUER: &str = "https://as.example";

    fn server(documents: bool, registration: bool) -> Server {
        let url = |path: &str| Url::parse(&format!("{ISSUER}{path}")).unwrap();
        Server {
            issuer: ISSUER.to_owned(),
            authorization_endpoint: Some(url("/authorize")),
            token_endpoint: url("/token"),
            registration_endpoint: registration.then(|| url("/register")),
            revocation_endpoint: None,
            scopes: None,
            auth_methods: None,
            signing_algorithms: None,
            s256: true,
            metadata_documents: documents,
            promises_iss: false,
            dpop: false,
            lets_choose: false,
        }
    }

    fn given(issuer: Option<&str>) -> Preregistered {
        Preregistered {
            issuer: issuer.map(str::to_owned),
            client_id: "mine".to_owned(),
            authentication: ClientAuthentication::None,
            redirect_port: None,
        }
    }

    fn registration() -> Registration {
        let client = Client { kind: ClientKind::Registered, id: "r".to_owned(), authentication: Authentication::None };
        Registration { issuer: ISSUER.to_owned(), client, redirect_uri: None, expires_at: None, doubted: false }
    }

    fn name(way: &Way) -> &'static str {
        match way {
            Way::Preregistered(_) => "preregistered",
            Way::Document(_) => "document",
            Way::Registered(_) => "registered",
            Way::Register(_) => "register",
            Way::Ask => "ask",
        }
    }

    #[test]
    fn ways_come_in_the_order_of_the_specification() {
        // preregistered, document URL, kept, documents taken, registration offered -> way
        let table = [
            (true, true, true, true, true, "preregistered", "[auth-registration-priority] [auth-preregistration]"),
            (false, true, true, true, true, "document", "[auth-cimd-support] before a registration"),
            (false, true, false, false, true, "register", "[auth-cimd-check-advertised] [auth-cimd-fallback]"),
            (false, false, true, true, true, "registered", "what was registered is used again"),
            (false, false, false, true, true, "register", "[auth-dcr] [auth-dcr-optional]"),
            (false, false, false, false, false, "ask", "[auth-manual-client-id] [auth-client-id-required]"),
        ];
        for (has_id, has_document, has_kept, takes_documents, takes_registration, wanted, what) in table {
            let source = ClientSource {
                preregistered: has_id.then(|| given(None)),
                metadata_url: has_document.then(|| Url::parse("https://app.example/client.json").unwrap()),
                ..ClientSource::default()
            };
            let server = server(takes_documents, takes_registration);
            let way = way(&source, &server, has_kept.then(registration), None).unwrap();
            assert_eq!(name(&way), wanted, "{what}");
        }
    }

    #[test]
    fn a_client_id_is_shown_to_no_other_authorization_server() {
        let source = |issuer| ClientSource { preregistered: Some(given(issuer)), ..ClientSource::default() };
        for (issuer, first, is_good) in [
            (Some(ISSUER), None, true),
            (None, Some(ISSUER), true),
            (None, None, true),
            (Some("https://other.example"), None, false),
            (Some("https://as.example/"), None, false),
            (None, Some("https://other.example"), false),
        ] {
            let way = way(&source(issuer), &server(true, true), None, first);
            let what = "[auth-credentials-no-reuse] [auth-prereg-mismatch-error]";
            assert_eq!(way.is_ok(), is_good, "{what} settings say {issuer:?}, it was first used at {first:?}");
        }
        let entry = registration().entry();
        assert!(Registration::read(&entry, ISSUER, 0).is_some(), "[auth-credentials-issuer-key] its own finds it");
        let other = Registration::read(&entry, "https://as.example/", 0);
        assert!(other.is_none(), "[auth-credentials-issuer-key] [auth-credentials-per-as] another does not");
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
            let is_one = is_document_url(&Url::parse(url).unwrap());
            assert_eq!(is_one, is_good, "[auth-cimd-url-form] [auth-cimd-hosted-https] {url}");
        }
    }

    #[test]
    fn a_secret_goes_the_way_that_the_metadata_lists() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let secret = ClientAuthentication::Secret { secret: SecretString::from("s"), method: None };
        for (methods, is_post) in [
            (None, false),
            (Some(list(&["client_secret_basic", "client_secret_post"])), false),
            (Some(list(&["client_secret_post"])), true),
            (Some(list(&["private_key_jwt", "client_secret_post"])), true),
        ] {
            let found = authentication(&secret, methods.as_deref());
            let is_right = matches!(found, Authentication::Post(_)) == is_post;
            assert!(is_right, "[auth-cc-metadata-methods] [auth-cc-auth-method] with {methods:?}");
        }
        for (methods, wanted) in [
            (None, "none"),
            (Some(list(&["none", "client_secret_basic"])), "none"),
            (Some(list(&["client_secret_basic", "client_secret_post"])), "client_secret_basic"),
            (Some(list(&["client_secret_post"])), "client_secret_post"),
        ] {
            assert_eq!(wanted_method(methods.as_deref()), wanted, "[auth-b-public-client] with {methods:?}");
        }
    }
}
