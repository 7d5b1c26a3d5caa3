//! Authorization server metadata (RFC 8414, OpenID Connect Discovery), and the default endpoints of MCP version
//! 2025-03-26.

use serde_json::{Map, Value};
use url::Url;

use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::http_client::AuthHttpClient;
use crate::metadata_address::{self, UserEnteredUrls};
use crate::metadata_document::{self, MetadataResponse};
use crate::scopes;

const PHASE: AuthPhase = AuthPhase::ServerMetadata;

/// Metadata of an authorization server (RFC 8414), as far as sign-ins use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AuthorizationServerMetadata {
    /// Issuer identifier of the authorization server, exactly as its metadata spells it.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<Url>,
    pub(crate) token_endpoint: Url,
    pub(crate) registration_endpoint: Option<Url>,
    pub(crate) revocation_endpoint: Option<Url>,
    pub(crate) scopes: Option<Vec<String>>,
    /// Value of `token_endpoint_auth_methods_supported` in the metadata.
    pub(crate) auth_methods: Option<Vec<String>>,
    /// Value of `token_endpoint_auth_signing_alg_values_supported` in the metadata.
    pub(crate) signing_algorithms: Option<Vec<String>>,
    /// `true` if the authorization server supports PKCE with S256.
    pub(crate) supports_s256: bool,
    /// `true` if the authorization server accepts the URL of a client ID metadata document (CIMD) as client id.
    pub(crate) supports_metadata_documents: bool,
    /// `true` if the metadata promises the `iss` parameter in authorization responses (RFC 9207).
    pub(crate) promises_iss: bool,
    /// `true` if the authorization server supports DPoP proofs signed with ES256.
    pub(crate) dpop: bool,
    /// `true` if `prompt=select_account` is supported, with which the user chooses an account (OpenID Connect,
    /// `prompt_values_supported`).
    pub(crate) supports_account_selection: bool,
}

/// Fetches the metadata of the authorization server with this issuer identifier.
///
/// # Errors
/// Returns an error if no well-known location has metadata, and [`AuthErrorCause::IssuerMismatch`],
/// [`AuthErrorCause::UnsafeUrl`] or [`AuthErrorCause::Unreadable`] if the metadata cannot be used.
pub(crate) async fn discover_authorization_server_by_issuer(
    web: &AuthHttpClient,
    issuer: &str,
) -> Result<AuthorizationServerMetadata, AuthError> {
    let base = metadata_address::parse_endpoint_url("the authorization server", issuer, web.user_entered_urls())
        .map_err(|cause| PHASE.error(cause))?;
    let mut last = None;
    for url in authorization_server_metadata_urls(&base) {
        match fetch_authorization_server_metadata(web, &url, &[issuer]).await? {
            ServerMetadataLookup::Found(server) => return Ok(*server),
            ServerMetadataLookup::Absent(cause) => {
                last = Some(last.map_or(cause.clone(), |before| more_informative_cause(before, cause)))
            }
        }
    }
    let cause = last.unwrap_or(AuthErrorCause::NoAuthorizationServer);
    Err(PHASE.error(cause))
}

/// Returns the authorization server of an MCP server of protocol version 2025-03-26, which is at the same origin as the
/// MCP server. It is described by its metadata, or else has the default endpoints.
///
/// # Errors
/// Returns an error if the metadata cannot be used or the origin does not respond.
pub(crate) async fn discover_authorization_server_at_origin(
    web: &AuthHttpClient,
    server: &Url,
) -> Result<AuthorizationServerMetadata, AuthError> {
    let base = origin_url_of_mcp_server(server).ok_or_else(|| PHASE.error(AuthErrorCause::NoAuthorizationServer))?;
    // Issuers without a path occur with and without a trailing slash. The spelling in the document is used.
    let bare = base.as_str().trim_end_matches('/').to_owned();
    let metadata = url_with_path(&base, "/.well-known/oauth-authorization-server");
    match fetch_authorization_server_metadata(web, &metadata, &[&bare, base.as_str()]).await? {
        ServerMetadataLookup::Found(server) => Ok(*server),
        ServerMetadataLookup::Absent(cause @ AuthErrorCause::Status { status: 408 | 425 | 429 | 500..=599, .. }) => {
            Err(PHASE.error(cause))
        }
        ServerMetadataLookup::Absent(_) => {
            web.set_conclusion("there is no metadata, so the default endpoints of 2025-03-26 are used");
            Ok(AuthorizationServerMetadata {
                issuer: bare,
                authorization_endpoint: Some(url_with_path(&base, "/authorize")),
                token_endpoint: url_with_path(&base, "/token"),
                registration_endpoint: Some(url_with_path(&base, "/register")),
                revocation_endpoint: None,
                scopes: None,
                auth_methods: None,
                signing_algorithms: None,
                // 2025-03-26 requires S256 of every server, and there is no metadata that could list it.
                supports_s256: true,
                supports_metadata_documents: false,
                promises_iss: false,
                dpop: false,
                supports_account_selection: false,
            })
        }
    }
}

/// Result of requesting authorization server metadata from one URL.
enum ServerMetadataLookup {
    Found(Box<AuthorizationServerMetadata>),
    /// The URL has no usable metadata. Another URL may have it. Contains the cause.
    Absent(AuthErrorCause),
}

/// Requests authorization server metadata from one URL. The issuer in the metadata must be one of `issuers`.
///
/// # Errors
/// Returns an error if the location does not respond, or its metadata cannot be used.
async fn fetch_authorization_server_metadata(
    web: &AuthHttpClient,
    url: &Url,
    issuers: &[&str],
) -> Result<ServerMetadataLookup, AuthError> {
    let answer = web.get(PHASE, url).await?;
    match metadata_document::parse_metadata_response(url, &answer) {
        MetadataResponse::Found(members) => {
            match parse_authorization_server_metadata(&members, url, issuers, web.user_entered_urls()) {
                Ok(server) => {
                    web.set_conclusion("this is the authorization server's metadata");
                    Ok(ServerMetadataLookup::Found(Box::new(server)))
                }
                Err(cause) => {
                    web.set_conclusion(&format!("{cause}; it is not used"));
                    Err(PHASE.error(cause))
                }
            }
        }
        MetadataResponse::Absent(cause) | MetadataResponse::Failed(cause) => {
            web.set_conclusion("there is no metadata here");
            Ok(ServerMetadataLookup::Absent(cause))
        }
    }
}

/// Returns the more informative of two causes: an HTTP status from 500 to 599 is more informative than any other cause,
/// such as a missing document. Otherwise returns the first cause.
fn more_informative_cause(first: AuthErrorCause, second: AuthErrorCause) -> AuthErrorCause {
    let is_failure = |cause: &AuthErrorCause| matches!(cause, AuthErrorCause::Status { status: 500..=599, .. });
    if is_failure(&second) && !is_failure(&first) { second } else { first }
}

/// Parses the metadata document that `url` returned. Its issuer must be one of `issuers`.
pub(crate) fn parse_authorization_server_metadata(
    members: &Map<String, Value>,
    url: &Url,
    issuers: &[&str],
    named: &UserEnteredUrls,
) -> Result<AuthorizationServerMetadata, AuthErrorCause> {
    let unreadable = |cause: &str| AuthErrorCause::Unreadable {
        address: metadata_address::displayed_url(url),
        cause: cause.to_owned(),
    };
    let issuer =
        metadata_document::string_member(members, "issuer").ok_or_else(|| unreadable("it does not name its issuer"))?;
    if !issuers.contains(&issuer.as_str()) {
        return Err(AuthErrorCause::IssuerMismatch {
            place: "the authorization server's metadata",
            expected: metadata_address::displayed_text(issuers.first().copied().unwrap_or_default()),
            found: metadata_address::displayed_text(&issuer),
        });
    }
    let endpoint = |name: &str, what: &'static str| {
        metadata_document::string_member(members, name)
            .map(|text| metadata_address::parse_endpoint_url(what, &text, named))
            .transpose()
    };
    // The client is registered before the consent request, which lists the other endpoints.
    let registration = metadata_document::string_member(members, "registration_endpoint")
        .map(|text| metadata_address::parse_endpoint_url_from_metadata("the registration endpoint", &text, url, named))
        .transpose()?;
    let authorization = metadata_document::string_member(members, "authorization_endpoint")
        .map(|text| metadata_address::parse_browser_url("the sign-in page", &text, named))
        .transpose()?;
    let token_endpoint = endpoint("token_endpoint", "the token endpoint")?;
    let token_endpoint = token_endpoint.ok_or_else(|| unreadable("it names no token endpoint"))?;
    let lists = |name: &str, expected: &str| {
        metadata_document::string_list_member(members, name)
            .is_some_and(|list| list.iter().any(|item| item == expected))
    };
    Ok(AuthorizationServerMetadata {
        authorization_endpoint: authorization,
        token_endpoint,
        registration_endpoint: registration,
        revocation_endpoint: endpoint("revocation_endpoint", "the revocation endpoint")?,
        scopes: metadata_document::string_list_member(members, "scopes_supported")
            .map(|list| scopes::distinct_valid_scopes(list.iter().map(String::as_str))),
        auth_methods: metadata_document::string_list_member(members, "token_endpoint_auth_methods_supported"),
        signing_algorithms: metadata_document::string_list_member(
            members,
            "token_endpoint_auth_signing_alg_values_supported",
        ),
        supports_s256: lists("code_challenge_methods_supported", "S256"),
        supports_metadata_documents: metadata_document::is_member_true(
            members,
            "client_id_metadata_document_supported",
        ),
        promises_iss: metadata_document::is_member_true(members, "authorization_response_iss_parameter_supported"),
        dpop: lists("dpop_signing_alg_values_supported", "ES256"),
        supports_account_selection: lists("prompt_values_supported", "select_account"),
        issuer,
    })
}

/// Returns the URLs at which an issuer may publish its metadata, in the order in which the specification requires to
/// try them.
fn authorization_server_metadata_urls(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    if path.is_empty() {
        return vec![
            url_with_path(issuer, "/.well-known/oauth-authorization-server"),
            url_with_path(issuer, "/.well-known/openid-configuration"),
        ];
    }
    vec![
        url_with_path(issuer, &format!("/.well-known/oauth-authorization-server{path}")),
        url_with_path(issuer, &format!("/.well-known/openid-configuration{path}")),
        url_with_path(issuer, &format!("{path}/.well-known/openid-configuration")),
    ]
}

/// Returns the URL of an MCP server without path, query and user information, which 2025-03-26 calls the authorization
/// base URL.
pub(crate) fn origin_url_of_mcp_server(server: &Url) -> Option<Url> {
    Url::parse(&server.origin().ascii_serialization()).ok()
}

fn url_with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://as.example/tenant";

    fn parse_changed_metadata(change: impl Fn(&mut Value)) -> Result<AuthorizationServerMetadata, AuthErrorCause> {
        let mut document = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token",
            "code_challenge_methods_supported": ["plain", "S256"]
        });
        change(&mut document);
        let url = Url::parse("https://as.example/.well-known/x").unwrap();
        parse_authorization_server_metadata(document.as_object().unwrap(), &url, &[ISSUER], &UserEnteredUrls::default())
    }

    #[test]
    fn metadata_urls_are_in_the_order_of_the_specification() {
        let places = |issuer: &str| {
            let issuer = Url::parse(issuer).unwrap();
            authorization_server_metadata_urls(&issuer).iter().map(|url| url.path().to_owned()).collect::<Vec<_>>()
        };
        let with_path = [
            "/.well-known/oauth-authorization-server/tenant1",
            "/.well-known/openid-configuration/tenant1",
            "/tenant1/.well-known/openid-configuration",
        ];
        let without = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        assert_eq!(
            places("https://as.example/tenant1"),
            with_path,
            "[auth-as-order-path-issuer] [auth-as-metadata-both]"
        );
        assert_eq!(
            places("https://as.example/tenant1/"),
            with_path,
            "[auth-as-order-path-issuer] with a trailing slash"
        );
        assert_eq!(places("https://as.example"), without, "[auth-as-order-root-issuer] [auth-as-metadata-rfc8414]");
        assert_eq!(places("https://as.example/"), without, "[auth-as-order-root-issuer] with a trailing slash");
    }

    #[test]
    fn metadata_issuer_must_match_exactly() {
        assert!(parse_changed_metadata(|_| ()).is_ok(), "the unchanged document must be accepted");
        for other in [
            "https://as.example/tenant/",
            "https://AS.example/tenant",
            "https://as.example:443/tenant",
            "https://evil.example",
        ] {
            let refused = parse_changed_metadata(|document| document["issuer"] = json!(other));
            let is_mismatch = matches!(refused, Err(AuthErrorCause::IssuerMismatch { .. }));
            assert!(is_mismatch, "[auth-as-issuer-match] X44: {other} must not equal {ISSUER}: {refused:?}");
        }
        assert!(
            parse_changed_metadata(|document| document["issuer"] = json!(null)).is_err(),
            "[auth-as-issuer-match] a missing issuer must be rejected"
        );
    }

    #[test]
    fn s256_is_supported_only_if_listed() {
        for (methods, expected) in [
            (json!(["S256"]), true),
            (json!(["plain", "S256"]), true),
            (json!(["plain"]), false),
            (json!([]), false),
            (json!(null), false),
            (json!("S256"), false),
        ] {
            let server =
                parse_changed_metadata(|document| document["code_challenge_methods_supported"] = methods.clone())
                    .unwrap();
            assert_eq!(server.supports_s256, expected, "[auth-pkce-verify-support] X46: {methods}");
        }
    }

    #[test]
    fn metadata_cannot_name_another_port_of_a_loopback_host() {
        let named = UserEnteredUrls::new([Url::parse("http://127.0.0.1:9401/mcp").unwrap()].iter());
        let issuer = "http://127.0.0.1:9402";
        let read = |port: u16| {
            let url = Url::parse(&format!("{issuer}/.well-known/oauth-authorization-server")).unwrap();
            let at = |path: &str| format!("http://127.0.0.1:{port}/{path}");
            let document = json!({
                "issuer": issuer,
                "token_endpoint": format!("{issuer}/token"),
                "registration_endpoint": at("containers/create?x=1"),
            });
            super::parse_authorization_server_metadata(document.as_object().unwrap(), &url, &[issuer], &named)
        };
        assert!(read(9402).is_ok(), "the authorization server's origin must be allowed");
        assert!(read(9401).is_ok(), "the server's origin must be allowed");
        let refused = read(9403);
        assert!(
            matches!(refused, Err(AuthErrorCause::UnsafeUrl { .. })),
            "X44: another service must be rejected: {refused:?}"
        );
    }

    #[test]
    fn unencrypted_endpoints_are_rejected() {
        for (name, bad) in [
            ("token_endpoint", "http://as.example/token"),
            ("registration_endpoint", "file:///etc/passwd"),
            ("revocation_endpoint", "http://127.0.0.1/revoke"),
            ("authorization_endpoint", "javascript:alert(1)"),
        ] {
            let refused = parse_changed_metadata(|document| document[name] = json!(bad));
            let is_unsafe = matches!(refused, Err(AuthErrorCause::UnsafeUrl { .. }));
            assert!(is_unsafe, "[auth-https-endpoints] X43: {name} {bad} must be rejected: {refused:?}");
        }
    }
}
