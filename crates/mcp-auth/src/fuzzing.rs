//! Entry points for the fuzz targets in `tests/fuzz`: parsers of challenges and metadata, and assertions of the
//! properties that hold for any input. Each function panics if a property is violated.

use http::Response;
use url::Url;

use crate::challenge::TokenChallenge;
use crate::metadata_address::{self, UserEnteredUrls};
use crate::metadata_document::{self, MetadataResponse};
use crate::{authorization_server, protected_resource, redirect_listener, scopes};

/// Issuer of the metadata documents in the corpus.
const ISSUER: &str = "https://as.example/tenant";
/// Server URL of the resource documents in the corpus.
const SERVER_URL: &str = "https://mcp.example/v1/mcp";
/// Redirect URI of the simulated sign-in.
const REDIRECT_URI: &str = "http://127.0.0.1:49152/callback";
/// State of the simulated sign-in.
const OAUTH_STATE: &str = "state-of-this-sign-in";

/// Parses `WWW-Authenticate` values. Asserts that the result is within the bounds, and that formatting and parsing it
/// again yields the same result.
pub fn assert_challenge_parser_invariants(text: &str) {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let challenge = TokenChallenge::parse(&lines);
    let length: usize = lines.iter().map(String::len).sum();
    for value in challenge.resource_metadata.iter().chain(&challenge.error) {
        // A lone word is joined with one space, regardless of the original separator.
        assert!(value.len() <= length, "{value:?} is longer than the {length} bytes it was read from");
    }
    if let Some(list) = &challenge.scope {
        assert!(!list.is_empty(), "a scope list must not be empty");
        assert_eq!(*list, scopes::parse_scopes(&list.join(" ")), "scopes must be valid and unique");
    }
    let quoted = |value: &str| format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let mut parameters = Vec::new();
    if let Some(url) = &challenge.resource_metadata {
        parameters.push(format!("resource_metadata={}", quoted(url)));
    }
    if let Some(list) = &challenge.scope {
        parameters.push(format!("scope={}", quoted(&list.join(" "))));
    }
    if let Some(error) = &challenge.error {
        parameters.push(format!("error={}", quoted(error)));
    }
    let scheme = if challenge.dpop { "DPoP" } else { "Bearer" };
    let written = format!("{scheme} {}", parameters.join(", "));
    // Quoting doubles quotes and backslashes, which may exceed the bound.
    if written.len() < length || length < 4096 {
        assert_eq!(
            TokenChallenge::parse(std::slice::from_ref(&written)),
            challenge,
            "the result must be the same when {written:?} is parsed"
        );
    }
}

/// Parses a document as authorization server metadata. Asserts that the result has the requested issuer and allowed
/// endpoints only.
pub fn assert_server_metadata_parser_invariants(bytes: &[u8]) {
    let Some(url) = parse_url("https://as.example/.well-known/oauth-authorization-server/tenant") else { return };
    let MetadataResponse::Found(members) =
        metadata_document::parse_metadata_response(&url, &Response::new(bytes.to_vec()))
    else {
        return;
    };
    let named = UserEnteredUrls::default();
    let Ok(server) = authorization_server::parse_authorization_server_metadata(&members, &url, &[ISSUER], &named)
    else {
        return;
    };
    assert_eq!(server.issuer, ISSUER, "the issuer must be the requested one");
    let endpoints =
        [Some(&server.token_endpoint), server.registration_endpoint.as_ref(), server.revocation_endpoint.as_ref()];
    for endpoint in endpoints.into_iter().flatten() {
        assert_safe_url(endpoint);
        assert!(
            metadata_address::parse_endpoint_url("it", endpoint.as_str(), &named).is_ok(),
            "{endpoint} must be accepted again"
        );
    }
    if let Some(page) = &server.authorization_endpoint {
        assert_safe_url(page);
        assert!(page.host_str().is_some_and(|host| host != "localhost"), "{page} leads into a private network");
    }
    for list in [&server.scopes, &server.auth_methods, &server.signing_algorithms].into_iter().flatten() {
        assert!(list.len() <= 200, "the list must be bounded, but has {} items", list.len());
    }
}

/// Parses a document as protected resource metadata. Asserts that the result is about the server.
pub fn assert_resource_metadata_parser_invariants(bytes: &[u8]) {
    let (Some(url), Some(server)) = (parse_url("https://mcp.example/.well-known/x"), parse_url(SERVER_URL)) else {
        return;
    };
    let MetadataResponse::Found(members) =
        metadata_document::parse_metadata_response(&url, &Response::new(bytes.to_vec()))
    else {
        return;
    };
    let shown = |text: &str| metadata_address::displayed_text(text);
    match protected_resource::parse_resource_metadata(&members, &server, &shown) {
        Ok(found) => {
            let about = parse_url(&found.identifier);
            assert!(
                about.is_some_and(|about| about.origin() == server.origin()),
                "{} must belong to the server",
                found.identifier
            );
            assert!(found.authorization_servers.len() <= 20, "the list must be bounded");
            if let Some(scopes) = &found.scopes {
                assert_eq!(*scopes, scopes::parse_scopes(&scopes.join(" ")), "scopes must be valid and unique");
            }
        }
        Err(Some(cause)) => {
            let words = cause.to_string();
            assert!(!words.contains(|c: char| c.is_control()), "{words:?} must have no control characters");
            assert!(
                words.chars().count() < 4096,
                "the text must be bounded, but has {} characters",
                words.chars().count()
            );
        }
        Err(None) => {}
    }
}

/// Parses a pasted URL as an authorization response. Asserts that an accepted one has the state and the origin of the
/// sign-in.
pub fn assert_redirect_parser_invariants(text: &str) {
    let Some(place) = parse_url(REDIRECT_URI) else { return };
    if redirect_listener::parse_pasted_redirect(text, &place, OAUTH_STATE).is_ok() {
        let url = parse_url(text.trim());
        let state = url.as_ref().and_then(|url| url.query_pairs().find(|(name, _)| name == "state"));
        assert_eq!(
            state.map(|(_, value)| value.into_owned()).as_deref(),
            Some(OAUTH_STATE),
            "the state must belong to the sign-in"
        );
        assert!(url.is_some_and(|url| url.origin() == place.origin()), "the origin must belong to the sign-in");
    }
}

fn assert_safe_url(url: &Url) {
    assert_eq!(url.scheme(), "https", "{url}");
    assert!(url.username().is_empty() && url.password().is_none(), "{url} contains a user name");
    assert!(url.fragment().is_none(), "{url} contains a fragment");
}

fn parse_url(text: &str) -> Option<Url> {
    Url::parse(text).ok()
}
