//! The readers of challenges and metadata with the properties that must hold for any input, open to the fuzz targets in
//! `tests/fuzz`. No other caller. Each function panics where a property does not hold.

use http::Response;
use url::Url;

use crate::address::{self, Named};
use crate::challenge::Asked;
use crate::document::{self, Fetched};
use crate::{callback, resource, scopes, server};

/// The issuer that every metadata document of the corpus has to name.
const ISSUER: &str = "https://as.example/tenant";
/// The server that every resource document of the corpus has to be about.
const SERVER: &str = "https://mcp.example/v1/mcp";
/// The place where this sign-in listens, and its state.
const REDIRECT: &str = "http://127.0.0.1:49152/callback";
const STATE: &str = "state-of-this-sign-in";

/// Reads `WWW-Authenticate` lines. They stay within bounds, and a challenge written from what was read is read the same.
pub fn challenge(text: &str) {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let asked = Asked::parse(&lines);
    let length: usize = lines.iter().map(String::len).sum();
    for value in asked.resource_metadata.iter().chain(&asked.error) {
        // A lone word is joined with one space, whatever stood before it.
        assert!(value.len() <= length, "{value:?} is longer than the {length} bytes it was read from");
    }
    if let Some(list) = &asked.scope {
        assert!(!list.is_empty(), "a list without scopes is no list");
        assert_eq!(*list, scopes::parse(&list.join(" ")), "each is a scope, and none stands there twice");
    }
    let quoted = |value: &str| format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let mut parameters = Vec::new();
    if let Some(url) = &asked.resource_metadata {
        parameters.push(format!("resource_metadata={}", quoted(url)));
    }
    if let Some(list) = &asked.scope {
        parameters.push(format!("scope={}", quoted(&list.join(" "))));
    }
    if let Some(error) = &asked.error {
        parameters.push(format!("error={}", quoted(error)));
    }
    let scheme = if asked.dpop { "DPoP" } else { "Bearer" };
    let written = format!("{scheme} {}", parameters.join(", "));
    // Quoting doubles quotes and backslashes, which may pass the bound.
    if written.len() < length || length < 4096 {
        assert_eq!(Asked::parse(std::slice::from_ref(&written)), asked, "read again from {written:?}");
    }
}

/// Reads a document as the metadata of an authorization server: what is used of it is about that server, and every endpoint may be
/// gone to.
pub fn server_metadata(bytes: &[u8]) {
    let Some(url) = parsed("https://as.example/.well-known/oauth-authorization-server/tenant") else { return };
    let Fetched::Found(members) = document::read(&url, &Response::new(bytes.to_vec())) else { return };
    let named = Named::default();
    let Ok(server) = server::read(&members, &url, &[ISSUER], &named) else { return };
    assert_eq!(server.issuer, ISSUER, "the issuer that was asked");
    let endpoints =
        [Some(&server.token_endpoint), server.registration_endpoint.as_ref(), server.revocation_endpoint.as_ref()];
    for endpoint in endpoints.into_iter().flatten() {
        is_safe(endpoint);
        assert!(address::endpoint("it", endpoint.as_str(), &named).is_ok(), "{endpoint} is refused as it is written");
    }
    if let Some(page) = &server.authorization_endpoint {
        is_safe(page);
        assert!(page.host_str().is_some_and(|host| host != "localhost"), "{page} leads into a private network");
    }
    for list in [&server.scopes, &server.auth_methods, &server.signing_algorithms].into_iter().flatten() {
        assert!(list.len() <= 200, "{} items are kept", list.len());
    }
}

/// Reads a document as the metadata of a protected resource: what is used of it is about the server.
pub fn resource_metadata(bytes: &[u8]) {
    let (Some(url), Some(server)) = (parsed("https://mcp.example/.well-known/x"), parsed(SERVER)) else { return };
    let Fetched::Found(members) = document::read(&url, &Response::new(bytes.to_vec())) else { return };
    let shown = |text: &str| address::shown(text);
    match resource::read(&members, &server, &shown) {
        Ok(found) => {
            let about = parsed(&found.identifier);
            assert!(about.is_some_and(|about| about.origin() == server.origin()), "{} is another's", found.identifier);
            assert!(found.authorization_servers.len() <= 20, "the list is bounded");
            if let Some(scopes) = &found.scopes {
                assert_eq!(*scopes, scopes::parse(&scopes.join(" ")), "each is a scope");
            }
        }
        Err(Some(cause)) => {
            let words = cause.to_string();
            assert!(!words.contains(|c: char| c.is_control()), "{words:?} is fit to be shown");
            assert!(words.chars().count() < 4096, "{} characters to show", words.chars().count());
        }
        Err(None) => {}
    }
}

/// Reads a pasted address as the end of a sign-in: it counts only with the state and at the place of this sign-in.
pub fn redirect(text: &str) {
    let Some(place) = parsed(REDIRECT) else { return };
    if callback::pasted(text, &place, STATE).is_ok() {
        let url = parsed(text.trim());
        let state = url.as_ref().and_then(|url| url.query_pairs().find(|(name, _)| name == "state"));
        assert_eq!(state.map(|(_, value)| value.into_owned()).as_deref(), Some(STATE), "the state is this sign-in's");
        assert!(url.is_some_and(|url| url.origin() == place.origin()), "the place is this sign-in's");
    }
}

fn is_safe(url: &Url) {
    assert_eq!(url.scheme(), "https", "{url}");
    assert!(url.username().is_empty() && url.password().is_none(), "{url} holds a user name");
    assert!(url.fragment().is_none(), "{url} holds a fragment");
}

fn parsed(text: &str) -> Option<Url> {
    Url::parse(text).ok()
}
