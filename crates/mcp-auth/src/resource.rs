//! Protected resource metadata (RFC 9728): which authorization server a server trusts, and what it calls itself.

use serde_json::{Map, Value};
use url::Url;

use crate::address;
use crate::document::{self, Fetched};
use crate::error::{AuthError, Cause, Phase};
use crate::scopes;
use crate::web::Web;

const PHASE: Phase = Phase::ResourceMetadata;
/// The most authorization servers that are looked at.
const MOST: usize = 20;

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    /// Its identifier, byte for byte as it gave it.
    pub(crate) identifier: String,
    /// Issuer identifiers, byte for byte, in its order.
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// Whether it says that it understands tokens bound to an ES256 key.
    pub(crate) dpop: bool,
}

/// Looks where the challenge says; without that, at the well-known place of the server's path, then of its origin.
/// None: there is none, so the server is one of 2025-03-26.
///
/// # Errors
/// If it cannot be told whether there is one, or if there is one that is not about this server.
pub(crate) async fn discover(web: &Web, server: &Url, told: Option<&str>) -> Result<Option<Resource>, AuthError> {
    if let Some(told) = told {
        let url = address::endpoint_of("the protected resource metadata", told, server, web.named());
        let url = url.map_err(|cause| PHASE.error(cause))?;
        let (resource, why) = fetch(web, &url, server).await?;
        if resource.is_some() {
            return Ok(resource);
        }
        web.conclude(&format!("{}; the well-known places are tried", why.unwrap_or_default()));
        for url in well_known(server).into_iter().filter(|other| *other != url) {
            if let (Some(resource), _) = fetch(web, &url, server).await? {
                return Ok(Some(resource));
            }
        }
        // A server that names a document is none of 2025-03-26, when there were no such documents.
        let cause = "it does not lead to the metadata, which the server says is there".to_owned();
        return Err(PHASE.error(Cause::Unreadable { address: address::plain(&url), cause }));
    }
    for url in well_known(server) {
        if let (Some(resource), _) = fetch(web, &url, server).await? {
            return Ok(Some(resource));
        }
    }
    Ok(None)
}

async fn fetch(web: &Web, url: &Url, server: &Url) -> Result<(Option<Resource>, Option<String>), AuthError> {
    let answer = web.get(PHASE, url).await?;
    match document::read(url, &answer) {
        Fetched::Found(members) => match read(&members, server, &|text| web.clean(text)) {
            Ok(resource) => {
                web.conclude(&format!("this is the metadata of {}", address::shown(&resource.identifier)));
                Ok((Some(resource), None))
            }
            Err(cause) => {
                let cause = cause.unwrap_or_else(|| Cause::Unreadable {
                    address: address::plain(url),
                    cause: "it does not name its resource".to_owned(),
                });
                web.conclude(&cause.to_string());
                Err(PHASE.error(cause))
            }
        },
        Fetched::Absent(cause) => {
            web.conclude("there is no protected resource metadata here");
            Ok((None, Some(cause.to_string())))
        }
        Fetched::Failed(cause) => {
            web.conclude(&cause.to_string());
            Err(PHASE.error(cause))
        }
    }
}

/// Reads the document; no cause means that its `resource` is missing. `clean` makes foreign text fit to be shown.
pub(crate) fn read(
    members: &Map<String, Value>,
    server: &Url,
    clean: &dyn Fn(&str) -> String,
) -> Result<Resource, Option<Cause>> {
    let identifier = document::string(members, "resource").ok_or(None)?;
    if !is_about(&identifier, server) {
        let resource = clean(&identifier);
        return Err(Some(Cause::ResourceMismatch { server: address::plain(server), resource }));
    }
    let mut authorization_servers = document::strings(members, "authorization_servers").unwrap_or_default();
    authorization_servers.truncate(MOST);
    let algorithms = document::strings(members, "dpop_signing_alg_values_supported").unwrap_or_default();
    let listed = document::strings(members, "scopes_supported");
    Ok(Resource {
        identifier,
        authorization_servers,
        scopes: listed.map(|list| scopes::distinct(list.iter().map(String::as_str))),
        dpop: document::is_true(members, "dpop_bound_access_tokens_required")
            || algorithms.iter().any(|algorithm| algorithm == "ES256"),
    })
}

/// Whether a resource identifier is the server's own, or that of a place above it at the same origin: a token for
/// that is one for the server too (RFC 9728, 3.3, with the tolerance that servers with a single document need).
fn is_about(identifier: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(identifier) else { return false };
    if resource.origin() != server.origin() || !resource.origin().is_tuple() || resource.fragment().is_some() {
        return false;
    }
    if resource.query().is_some() && resource.query() != server.query() {
        return false;
    }
    let above = resource.path().trim_end_matches('/');
    let rest = server.path().strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where the document of a server is by default, in the order in which the places are tried.
fn well_known(server: &Url) -> Vec<Url> {
    let place = |path: &str| {
        let mut url = server.clone();
        url.set_path(&format!("/.well-known/oauth-protected-resource{path}"));
        url.set_fragment(None);
        url
    };
    let path = server.path().trim_end_matches('/');
    let mut root = place("");
    root.set_query(None);
    if path.is_empty() { vec![root] } else { vec![place(path), root] }
}

/// What a server is called in requests when it does not say so itself (`basic/authorization`, canonical server URI). Its
/// query stays out (RFC 8707, 2), because that may be a key, and this goes through the browser.
pub(crate) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    url.set_query(None);
    let text = url.to_string();
    match url.path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn the_well_known_places_are_tried_from_the_path_to_the_root() {
        let places = |server: &str| well_known(&url(server)).iter().map(Url::to_string).collect::<Vec<_>>();
        let at = |path: &str| format!("https://a.example/.well-known/oauth-protected-resource{path}");
        for (server, wanted) in [
            ("https://a.example/public/mcp", vec![at("/public/mcp"), at("")]),
            ("https://a.example/mcp/", vec![at("/mcp"), at("")]),
            ("https://a.example/", vec![at("")]),
            ("https://a.example/mcp?tenant=1", vec![at("/mcp?tenant=1"), at("")]),
        ] {
            assert_eq!(places(server), wanted, "[auth-prm-well-known-order] for {server}");
        }
    }

    #[test]
    fn metadata_about_something_else_is_refused() {
        let server = url("https://a.example/mcp/v1");
        for good in [
            "https://a.example/mcp/v1",
            "https://a.example/mcp/v1/",
            "https://a.example/mcp",
            "https://a.example",
            "https://a.example/",
            "HTTPS://A.example/mcp",
            "https://a.example:443/mcp",
        ] {
            assert!(is_about(good, &server), "[auth-resource-uppercase] {good} is about the server");
        }
        for bad in [
            "https://evil.example/mcp/v1",
            "http://a.example/mcp/v1",
            "https://a.example:8443/mcp",
            "https://a.example/mcp/v1/more",
            "https://a.example/mc",
            "https://a.example/mcp?tenant=2",
            "https://a.example/mcp#x",
            "urn:mcp",
            "mcp",
            "",
        ] {
            assert!(!is_about(bad, &server), "[auth-prm-resource-validate] {bad} is not");
        }
    }

    #[test]
    fn a_server_without_metadata_has_its_canonical_name() {
        for (server, wanted) in [
            ("https://A.Example/mcp", "https://a.example/mcp"),
            ("https://a.example/", "https://a.example"),
            ("https://a.example/mcp/", "https://a.example/mcp/"),
            ("https://a.example/mcp#part", "https://a.example/mcp"),
            ("https://a.example:8443/mcp?x=1", "https://a.example:8443/mcp"),
            ("https://a.example/?x=1", "https://a.example"),
        ] {
            let name = canonical(&url(server));
            assert_eq!(name, wanted, "[auth-resource-canonical] [auth-resource-no-trailing-slash] of {server}");
        }
    }
}
