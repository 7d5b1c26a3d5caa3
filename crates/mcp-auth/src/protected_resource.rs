//! Protected resource metadata (RFC 9728): the resource identifier and the authorization servers of a server.

use serde_json::{Map, Value};
use url::Url;

use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::http_client::AuthHttpClient;
use crate::metadata_address;
use crate::metadata_document::{self, MetadataResponse};
use crate::scopes;

const PHASE: AuthPhase = AuthPhase::ResourceMetadata;
/// Maximum number of authorization servers that are read from the metadata.
const MAX_AUTHORIZATION_SERVERS: usize = 20;

/// Protected resource metadata of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProtectedResourceMetadata {
    /// Resource identifier, exactly as the metadata spells it.
    pub(crate) identifier: String,
    /// Issuer identifiers of the authorization servers, in the order and spelling of the metadata.
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// `true` if the MCP server accepts tokens that are bound to an ES256 key.
    pub(crate) dpop: bool,
}

/// Fetches the metadata from the URL in the challenge, or else from the well-known locations for the server's path and
/// for its origin. Returns `None` if no location has metadata, as for servers of 2025-03-26.
///
/// # Errors
/// Returns an error if it is unknown whether metadata exists, and [`AuthErrorCause::ResourceMismatch`] if it is about
/// another resource.
pub(crate) async fn discover_resource(
    web: &AuthHttpClient,
    server: &Url,
    advertised: Option<&str>,
) -> Result<Option<ProtectedResourceMetadata>, AuthError> {
    if let Some(advertised) = advertised {
        let url = metadata_address::parse_endpoint_url_from_metadata(
            "the protected resource metadata",
            advertised,
            server,
            web.user_entered_urls(),
        );
        let url = url.map_err(|cause| PHASE.error(cause))?;
        let (resource, why) = fetch_resource_metadata(web, &url, server).await?;
        if resource.is_some() {
            return Ok(resource);
        }
        web.set_conclusion(&format!("{}; trying the well-known locations", why.unwrap_or_default()));
        for url in resource_metadata_urls(server).into_iter().filter(|other| *other != url) {
            if let (Some(resource), _) = fetch_resource_metadata(web, &url, server).await? {
                return Ok(Some(resource));
            }
        }
        // A server that names a metadata URL is newer than 2025-03-26, which had no such metadata.
        let cause = "it has no metadata, although the server refers to it".to_owned();
        return Err(PHASE.error(AuthErrorCause::Unreadable { address: metadata_address::displayed_url(&url), cause }));
    }
    for url in resource_metadata_urls(server) {
        if let (Some(resource), _) = fetch_resource_metadata(web, &url, server).await? {
            return Ok(Some(resource));
        }
    }
    Ok(None)
}

async fn fetch_resource_metadata(
    web: &AuthHttpClient,
    url: &Url,
    server: &Url,
) -> Result<(Option<ProtectedResourceMetadata>, Option<String>), AuthError> {
    let answer = web.get(PHASE, url).await?;
    match metadata_document::parse_metadata_response(url, &answer) {
        MetadataResponse::Found(members) => {
            match parse_resource_metadata(&members, server, &|text| web.redact_and_escape_untrusted(text)) {
                Ok(resource) => {
                    web.set_conclusion(&format!(
                        "this is the metadata of {}",
                        metadata_address::displayed_text(&resource.identifier)
                    ));
                    Ok((Some(resource), None))
                }
                Err(cause) => {
                    let cause = cause.unwrap_or_else(|| AuthErrorCause::Unreadable {
                        address: metadata_address::displayed_url(url),
                        cause: "it does not name its resource".to_owned(),
                    });
                    web.set_conclusion(&cause.to_string());
                    Err(PHASE.error(cause))
                }
            }
        }
        MetadataResponse::Absent(cause) => {
            web.set_conclusion("there is no protected resource metadata here");
            Ok((None, Some(cause.to_string())))
        }
        MetadataResponse::Failed(cause) => {
            web.set_conclusion(&cause.to_string());
            Err(PHASE.error(cause))
        }
    }
}

/// Parses the metadata document. Returns `Err(None)` if `resource` is missing. `clean` makes untrusted text safe to
/// display.
pub(crate) fn parse_resource_metadata(
    members: &Map<String, Value>,
    server: &Url,
    clean: &dyn Fn(&str) -> String,
) -> Result<ProtectedResourceMetadata, Option<AuthErrorCause>> {
    let identifier = metadata_document::string_member(members, "resource").ok_or(None)?;
    if !resource_covers_server(&identifier, server) {
        let resource = clean(&identifier);
        return Err(Some(AuthErrorCause::ResourceMismatch {
            server: metadata_address::displayed_url(server),
            resource,
        }));
    }
    let mut authorization_servers =
        metadata_document::string_list_member(members, "authorization_servers").unwrap_or_default();
    authorization_servers.truncate(MAX_AUTHORIZATION_SERVERS);
    let algorithms =
        metadata_document::string_list_member(members, "dpop_signing_alg_values_supported").unwrap_or_default();
    let listed = metadata_document::string_list_member(members, "scopes_supported");
    Ok(ProtectedResourceMetadata {
        identifier,
        authorization_servers,
        scopes: listed.map(|list| scopes::distinct_valid_scopes(list.iter().map(String::as_str))),
        dpop: metadata_document::is_member_true(members, "dpop_bound_access_tokens_required")
            || algorithms.iter().any(|algorithm| algorithm == "ES256"),
    })
}

/// Returns `true` if the resource identifier is the URL of the server, or a parent path of it at the same origin. A
/// token for a parent path is valid for the server as well. RFC 9728 (3.3) requires the URL itself, but some servers
/// have a single document for all paths.
fn resource_covers_server(identifier: &str, server: &Url) -> bool {
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

/// Returns the well-known URLs at which a server may publish its metadata, in the order in which they are tried.
fn resource_metadata_urls(server: &Url) -> Vec<Url> {
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

/// Returns the canonical URI of a server without metadata (`basic/authorization`, canonical server URI). The query is
/// removed (RFC 8707, 2), since it may contain a key and the URI is sent through the browser.
pub(crate) fn canonical_server_uri(server: &Url) -> String {
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

    fn parse_url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn well_known_urls_are_tried_from_the_path_to_the_root() {
        let places =
            |server: &str| resource_metadata_urls(&parse_url(server)).iter().map(Url::to_string).collect::<Vec<_>>();
        let at = |path: &str| format!("https://a.example/.well-known/oauth-protected-resource{path}");
        for (server, expected) in [
            ("https://a.example/public/mcp", vec![at("/public/mcp"), at("")]),
            ("https://a.example/mcp/", vec![at("/mcp"), at("")]),
            ("https://a.example/", vec![at("")]),
            ("https://a.example/mcp?tenant=1", vec![at("/mcp?tenant=1"), at("")]),
        ] {
            assert_eq!(places(server), expected, "[auth-prm-well-known-order] for {server}");
        }
    }

    #[test]
    fn metadata_of_another_resource_is_rejected() {
        let server = parse_url("https://a.example/mcp/v1");
        for good in [
            "https://a.example/mcp/v1",
            "https://a.example/mcp/v1/",
            "https://a.example/mcp",
            "https://a.example",
            "https://a.example/",
            "HTTPS://A.example/mcp",
            "https://a.example:443/mcp",
        ] {
            assert!(resource_covers_server(good, &server), "[auth-resource-uppercase] {good} must match the server");
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
            assert!(
                !resource_covers_server(bad, &server),
                "[auth-prm-resource-validate] {bad} must not match the server"
            );
        }
    }

    #[test]
    fn server_without_metadata_has_its_canonical_url_as_resource() {
        for (server, expected) in [
            ("https://A.Example/mcp", "https://a.example/mcp"),
            ("https://a.example/", "https://a.example"),
            ("https://a.example/mcp/", "https://a.example/mcp/"),
            ("https://a.example/mcp#part", "https://a.example/mcp"),
            ("https://a.example:8443/mcp?x=1", "https://a.example:8443/mcp"),
            ("https://a.example/?x=1", "https://a.example"),
        ] {
            let name = canonical_server_uri(&parse_url(server));
            assert_eq!(name, expected, "[auth-resource-canonical] [auth-resource-no-trailing-slash] of {server}");
        }
    }
}
