//! Tests of addresses in metadata that lead to unrelated hosts (X47). They are never connected to.

use std::time::{Duration, Instant};

use serde_json::{Map, json};
use testkit::authorization::{AuthorizationScript, ProtectedScript, ResourceMetadataLocation};

use super::SignInAttempt;
use crate::collector::forbidden_url_listener;

/// Returns spellings of internal hosts that the user did not name. For those that are this computer,
/// [`forbidden_url_listener`] would count a connection.
fn internal_hosts() -> Vec<&'static str> {
    vec![
        "127.0.0.2",
        "localhost",
        "0x7f.2",
        "0177.0.0.2",
        "2130706434",
        "127。0。0。2",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.2]",
        "[64:ff9b::7f00:2]",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "[fd00::1]",
        "[64:ff9b::a00:1]",
    ]
}

/// Error message about a URL whose host is this computer or in a private network.
const PRIVATE_ADDRESS_MESSAGE: &str = "it leads to this computer or into a private network, and you did not name it";

/// Place in the metadata or redirects of a sign-in where a hostile server can name a URL.
#[derive(Debug, Clone, Copy)]
enum MetadataUrlField {
    ResourceMetadata,
    Issuer,
    Token,
    Registration,
    RedirectOfMetadata,
}

fn scripts_with_url(place: MetadataUrlField, url: &str) -> (AuthorizationScript, ProtectedScript) {
    let (mut issuer, mut server) = (AuthorizationScript::default(), ProtectedScript::default());
    let member = |name: &str, value| Map::from_iter([(name.to_owned(), value)]);
    match place {
        MetadataUrlField::ResourceMetadata => server.metadata = ResourceMetadataLocation::HeaderNames(url.to_owned()),
        MetadataUrlField::Issuer => server.overrides = member("authorization_servers", json!([url])),
        MetadataUrlField::Token => issuer.overrides = member("token_endpoint", json!(url)),
        MetadataUrlField::Registration => issuer.overrides = member("registration_endpoint", json!(url)),
        MetadataUrlField::RedirectOfMetadata => {
            let path = "/.well-known/oauth-authorization-server".to_owned();
            issuer.redirects = [(path, (302, url.to_owned()))].into();
        }
    }
    (issuer, server)
}

/// Asserts that the sign-in fails because of the URL itself, for each of [`internal_hosts`]. A failed connection would
/// not show that the host was not contacted.
async fn assert_never_connected(place: MetadataUrlField, scheme: &str, cause: &str) {
    for host in internal_hosts() {
        let url = format!("{scheme}://{host}:{}/somewhere", forbidden_url_listener().port);
        let what = format!("X47, {place:?} at {url}");
        let (issuer, server) = scripts_with_url(place, &url);
        let tried = SignInAttempt::start(&what, issuer, server).await;
        let began = Instant::now();
        let ended = tried.wait_for_end().await.expect_err(&format!("{what}: the sign-in fails"));
        // A header can't contain such letters, so this redirect has no valid address.
        let is_none = matches!(place, MetadataUrlField::RedirectOfMetadata) && !host.is_ascii();
        let cause = if is_none { "it redirects without a valid address" } else { cause };
        assert!(ended.contains(cause), "{what}: the sign-in fails because of the address: {ended}");
        assert!(
            began.elapsed() < Duration::from_secs(8),
            "{what}: the address is rejected without a connection attempt"
        );
        assert_eq!(forbidden_url_listener().connection_count(), 0, "{what}: nothing connects to the address: {ended}");
        tried.close().await;
    }
}

#[tokio::test]
async fn x47_resource_metadata_cannot_be_at_an_internal_address() {
    assert_never_connected(MetadataUrlField::ResourceMetadata, "https", PRIVATE_ADDRESS_MESSAGE).await;
}

#[tokio::test]
async fn x47_issuer_cannot_be_at_an_internal_address() {
    assert_never_connected(MetadataUrlField::Issuer, "https", PRIVATE_ADDRESS_MESSAGE).await;
}

#[tokio::test]
async fn x47_token_endpoint_cannot_be_at_an_internal_address() {
    assert_never_connected(MetadataUrlField::Token, "https", PRIVATE_ADDRESS_MESSAGE).await;
}

#[tokio::test]
async fn x47_registration_endpoint_cannot_be_at_an_internal_address() {
    assert_never_connected(MetadataUrlField::Registration, "https", PRIVATE_ADDRESS_MESSAGE).await;
}

#[tokio::test]
async fn x47_redirects_cannot_lead_to_an_internal_address() {
    assert_never_connected(MetadataUrlField::RedirectOfMetadata, "https", PRIVATE_ADDRESS_MESSAGE).await;
}

/// A sign-in fails if the metadata contains an HTTP token endpoint at a host that the user did not name. Covers the MCP
/// requirements [auth-https-endpoints] [auth-communication-security].
#[tokio::test]
async fn x47_plain_http_is_only_for_hosts_named_by_the_user() {
    assert_never_connected(MetadataUrlField::Token, "http", "it is not encrypted").await;
}
