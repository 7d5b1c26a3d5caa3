//! Tests of the discovery of the authorization server.

use serde_json::json;
use testkit::authorization::{
    AuthorizationMetadataLocation, AuthorizationServer, ProtectedServer, ResourceMetadataLocation, parameter_value,
};

use super::support::{TestAuthorization, json_members, start_servers};
use crate::*;

/// Returns the paths of the requests that the MCP server and the authorization server received during a sign-in, in
/// order.
fn requested_metadata_paths(server: &ProtectedServer, issuer: &AuthorizationServer) -> (Vec<String>, Vec<String>) {
    let gets = |received: Vec<testkit::http::HttpRequest>| {
        received
            .iter()
            .filter(|one| one.method == "GET")
            .map(|one| one.path_without_query().to_owned())
            .collect::<Vec<_>>()
    };
    (gets(server.received_requests()), gets(issuer.received_requests()))
}

#[tokio::test]
async fn metadata_is_found_at_every_well_known_location() {
    const RESOURCE_METADATA_PATH: &str = "/.well-known/oauth-protected-resource";
    let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
    let tenant = |place: &str| format!("{place}/tenant1");
    let all_of_tenant = vec![tenant(oauth), tenant(openid), format!("/tenant1{openid}")];
    let well_known = vec![format!("{RESOURCE_METADATA_PATH}/mcp"), RESOURCE_METADATA_PATH.to_owned()];
    // Resource metadata, server metadata and its path, expected requests in order.
    let table = [
        (
            ResourceMetadataLocation::Header,
            AuthorizationMetadataLocation::OAuth,
            "",
            vec!["/where/nobody/looks".to_owned()],
            vec![oauth.to_owned()],
        ),
        (
            ResourceMetadataLocation::WellKnown,
            AuthorizationMetadataLocation::OpenIdAppended,
            "",
            well_known[..1].to_vec(),
            vec![oauth.to_owned(), openid.to_owned()],
        ),
        (
            ResourceMetadataLocation::Root,
            AuthorizationMetadataLocation::OAuth,
            "/tenant1",
            well_known,
            all_of_tenant[..1].to_vec(),
        ),
        (
            ResourceMetadataLocation::Header,
            AuthorizationMetadataLocation::OpenIdInserted,
            "/tenant1",
            vec!["/where/nobody/looks".to_owned()],
            all_of_tenant[..2].to_vec(),
        ),
        (
            ResourceMetadataLocation::Header,
            AuthorizationMetadataLocation::OpenIdAppended,
            "/tenant1",
            vec!["/where/nobody/looks".to_owned()],
            all_of_tenant,
        ),
    ];
    for (resource, metadata, path, at_server, at_issuer) in table {
        let what = format!("{resource:?}, {metadata:?} with the path {path:?}");
        let (issuer, server) = start_servers(
            |script| (script.metadata, script.path) = (metadata, path.to_owned()),
            |script| script.metadata = resource,
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let account = bench.sign_in_and_call().await.unwrap();
        assert_eq!(account.issuer, issuer.issuer(), "[auth-401-starts-flow] {what}: the named server must be used");
        let (from_server, from_issuer) = requested_metadata_paths(&server, &issuer);
        let order = "[auth-prm-required] [auth-prm-header-url] [auth-prm-well-known-order]";
        assert_eq!(from_server, at_server, "{order} {what}: requests for resource metadata");
        let order = "[auth-as-order-path-issuer] [auth-as-order-root-issuer] [auth-as-metadata-both]";
        let authorize = format!("{path}/authorize");
        let requested: Vec<_> = from_issuer.into_iter().filter(|requested| *requested != authorize).collect();
        assert_eq!(requested, at_issuer, "{order} {what}: requests for server metadata");
        let url = server.url();
        let authorized = issuer.authorization_queries().pop().unwrap();
        assert_eq!(parameter_value(&authorized, "resource"), Some(url.as_str()), "[auth-resource-authorize] {what}");
        let redeemed = issuer.token_requests("authorization_code").pop().unwrap();
        assert_eq!(parameter_value(&redeemed, "resource"), Some(url.as_str()), "[auth-resource-token] {what}");
    }
}

#[tokio::test]
async fn server_of_2025_03_26_is_its_own_authorization_server() {
    for (metadata, path) in [(AuthorizationMetadataLocation::OAuth, ""), (AuthorizationMetadataLocation::None, "")] {
        let (_issuer, server) = start_servers(
            |script| (script.metadata, script.path) = (metadata, path.to_owned()),
            |script| script.metadata = ResourceMetadataLocation::SameOrigin,
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let account = bench.sign_in_and_call().await.unwrap();
        assert_eq!(
            format!("{}/mcp", account.issuer),
            server.url(),
            "[auth-b-base-url] the issuer must be the server's origin"
        );
        let received = server.received_requests();
        let first = |path: &str| received.iter().position(|one| one.path_without_query() == path);
        let requested = first("/.well-known/oauth-authorization-server");
        assert!(
            requested.is_some(),
            "[auth-b-as-metadata] [auth-b-metadata-location] {metadata:?}: metadata must be requested"
        );
        assert!(requested < first("/register"), "[auth-b-as-metadata] metadata must be requested first");
        let version = requested.and_then(|at| received[at].header("mcp-protocol-version"));
        assert!(version.is_some(), "[auth-b-version-header] the metadata request must have the version header");
        for path in ["/register", "/authorize", "/token"] {
            assert!(first(path).is_some(), "[auth-b-default-endpoints] {metadata:?}: {path} must be at the origin");
        }
        let authorized = received.iter().find(|one| one.path_without_query() == "/authorize").unwrap().query();
        assert_eq!(
            parameter_value(&authorized, "code_challenge_method"),
            Some("S256"),
            "[auth-pkce-s256] also without metadata"
        );
        assert_eq!(
            parameter_value(&authorized, "resource"),
            Some(server.url().as_str()),
            "[auth-resource-always] the resource must be sent"
        );
    }
}

#[tokio::test]
async fn mismatching_metadata_ends_the_sign_in_before_anything_is_sent() {
    let s256 = |list: serde_json::Value| json_members(&[("code_challenge_methods_supported", list)]);
    let other_issuer = json_members(&[("issuer", json!("https://evil.example"))]);
    // Server metadata and its members, members of the resource metadata, requirement, cause.
    let table = [
        (
            AuthorizationMetadataLocation::OAuth,
            other_issuer,
            json_members(&[]),
            "[auth-as-issuer-match] X44",
            "must be exactly",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[]),
            json_members(&[("resource", json!("https://evil.example/mcp"))]),
            "[auth-prm-resource-validate] X44",
            "is not http://127.0.0.1",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[]),
            json_members(&[("resource", json!(null))]),
            "[auth-prm-resource-validate]",
            "does not name its resource",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            s256(json!(null)),
            json_members(&[]),
            "[auth-pkce-refuse-oauth-metadata] [auth-pkce-verify-support] X46",
            "PKCE",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            s256(json!(["plain"])),
            json_members(&[]),
            "[auth-pkce-refuse-oauth-metadata] X46",
            "PKCE",
        ),
        (
            AuthorizationMetadataLocation::OpenIdAppended,
            s256(json!(null)),
            json_members(&[]),
            "[auth-pkce-refuse-oidc-metadata] X46",
            "PKCE",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[("token_endpoint", json!("http://10.0.0.1/token"))]),
            json_members(&[]),
            "[auth-https-endpoints] X47",
            "not encrypted",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[("token_endpoint", json!("http://127.0.0.2/token"))]),
            json_members(&[]),
            "[auth-https-endpoints] X47: a host that the user did not enter",
            "not encrypted",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[("authorization_endpoint", json!("javascript:alert(1)"))]),
            json_members(&[]),
            "X43",
            "sign-in page",
        ),
        (
            AuthorizationMetadataLocation::None,
            json_members(&[]),
            json_members(&[]),
            "[auth-as-metadata-rfc8414] no metadata",
            "404",
        ),
        (
            AuthorizationMetadataLocation::OAuth,
            json_members(&[]),
            json_members(&[("authorization_servers", json!(["file:///etc/passwd"]))]),
            "[auth-https-endpoints]",
            "not https",
        ),
    ];
    for (metadata, of_issuer, of_resource, what, cause) in table {
        let (issuer, server) = start_servers(
            |script| (script.metadata, script.overrides) = (metadata, of_issuer.clone()),
            |script| script.overrides = of_resource.clone(),
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let error = bench.sign_in_and_call().await.unwrap_err();
        assert!(
            error.to_string().contains(cause),
            "{what}: the cause of {of_issuer:?} {of_resource:?} must be reported: {error}"
        );
        assert!(!error.next_step().is_empty(), "{what}: a next step must be stated");
        assert!(bench.user.opened.lock().unwrap().is_empty(), "{what}: the browser must not be opened");
        for endpoint in ["/register", "/authorize", "/token"] {
            assert_eq!(issuer.count(endpoint), 0, "{what}: {endpoint} must not be requested");
        }
    }
}

#[tokio::test]
async fn internal_metadata_url_is_not_requested() {
    for url in [
        "http://169.254.169.254/x",
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://0x7f.1/",
    ] {
        let (issuer, server) =
            start_servers(|_| (), |script| script.metadata = ResourceMetadataLocation::HeaderNames(url.to_owned()))
                .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let error = bench.sign_in_and_call().await.unwrap_err();
        let is_refused = matches!(error.cause, AuthErrorCause::UnsafeUrl { .. } | AuthErrorCause::Unreachable { .. });
        assert!(is_refused, "X47: {url} must not be requested: {error}");
        assert!(issuer.received_requests().is_empty(), "X47: no request must be sent");
    }
}

#[tokio::test]
async fn metadata_redirects_are_followed_to_allowed_urls_only() {
    const METADATA_PATH: &str = "/.well-known/oauth-authorization-server";
    for (to, is_good) in [
        ("/.well-known/openid-configuration", true),
        ("http://10.0.0.1/x", false),
        ("file:///etc/passwd", false),
        (METADATA_PATH, false),
    ] {
        let (issuer, server) = start_servers(
            |script| {
                script.metadata = AuthorizationMetadataLocation::OpenIdAppended;
                script.redirects.insert(METADATA_PATH.to_owned(), (307, to.to_owned()));
            },
            |_| (),
        )
        .await;
        let bench = TestAuthorization::new(&server, |_| ());
        let connected = bench.sign_in_and_call().await;
        assert_eq!(connected.is_ok(), is_good, "X47 X49: a redirect to {to}: {connected:?}");
        assert!(issuer.count(METADATA_PATH) <= 4, "X49: at most three redirects may be followed");
    }
}

#[tokio::test]
async fn x47_redirect_cannot_reach_another_port_of_a_loopback_host() {
    const METADATA_PATH: &str = "/.well-known/oauth-authorization-server";
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let to = format!("http://{}/_shutdown?now", other.local_addr().unwrap());
    let (_issuer, server) = start_servers(
        |script| {
            script.redirects.insert(METADATA_PATH.to_owned(), (307, to));
        },
        |_| (),
    )
    .await;
    let bench = TestAuthorization::new(&server, |_| ());
    let error = bench.sign_in_and_call().await.unwrap_err();
    assert!(matches!(error.cause, AuthErrorCause::UnsafeUrl { .. }), "the redirect must be refused: {error}");
    assert!(other.accept().is_err(), "no connection must be made");
}

#[tokio::test]
async fn resource_identifier_is_sent_unmodified() {
    let (issuer, server) = start_servers(|_| (), |script| script.checks_audience = false).await;
    let named = format!("{}/", server.url()).replace("http://", "HTTP://");
    server.set(|script| script.overrides = json_members(&[("resource", json!(named))]));
    let bench = TestAuthorization::new(&server, |_| ());
    let account = bench.sign_in_and_call().await.unwrap();
    assert_eq!(account.resource, named, "[auth-resource-uppercase] the identifier must be unchanged");
    let authorized = issuer.authorization_queries().pop().unwrap();
    assert_eq!(
        parameter_value(&authorized, "resource"),
        Some(named.as_str()),
        "[auth-resource-canonical] identifier in the authorization request"
    );
    bench.advance_clock(3590);
    bench.call("echo").await;
    let renewed = issuer.token_requests("refresh_token").pop().unwrap();
    assert_eq!(
        parameter_value(&renewed, "resource"),
        Some(named.as_str()),
        "[auth-resource-token] identifier in the renewal"
    );
}

#[tokio::test]
async fn configured_authorization_server_is_selected_among_several() {
    let (first, server) = start_servers(|_| (), |_| ()).await;
    let second = AuthorizationServer::start(Default::default()).await;
    server.set_issuers(&[&first, &second]);
    let bench = TestAuthorization::new(&server, |_| ());
    assert_eq!(
        bench.sign_in_and_call().await.unwrap().issuer,
        first.issuer(),
        "[auth-prm-select-as] the first must be used"
    );
    let bench = TestAuthorization::new(&server, |settings| settings.issuer = Some(second.issuer()));
    assert_eq!(
        bench.sign_in_and_call().await.unwrap().issuer,
        second.issuer(),
        "[auth-prm-select-as] the configured issuer must be used"
    );
    server.set_issuers(&[&first]);
    let error = bench.authorization.sign_in(AuthReason::SignIn).await.unwrap_err();
    assert!(
        matches!(error.cause, AuthErrorCause::OtherIssuer { .. }),
        "an unlisted configured issuer must be refused: {error}"
    );
}

#[tokio::test]
async fn resource_identifier_of_a_shared_host_must_match_and_is_shown() {
    // Path of the resource identifier, `true` if it matches the server at /mcp.
    for (path, is_about_it) in [("/mcp", true), ("/", true), ("", true), ("/other/mcp", false), ("/mcp/more", false)] {
        let (issuer, server) = start_servers(|_| (), |script| script.checks_audience = false).await;
        let origin = server.url().trim_end_matches("/mcp").to_owned();
        let resource = format!("{origin}{path}");
        server.set(|script| script.overrides = json_members(&[("resource", json!(resource))]));
        let bench = TestAuthorization::new(&server, |_| ());
        let ended = bench.authorization.sign_in(AuthReason::SignIn).await;
        let shown: Vec<_> =
            bench.user.consents.lock().unwrap().iter().map(|consent| consent.resource.clone()).collect();
        if is_about_it {
            assert!(ended.is_ok(), "[auth-prm-resource-validate] {path:?} must match the server: {ended:?}");
            assert_eq!(shown, [resource], "X51: the consent request must show the identifier unchanged");
        } else {
            let is_mismatch = matches!(ended.unwrap_err().cause, AuthErrorCause::ResourceMismatch { .. });
            assert!(
                is_mismatch && shown.is_empty(),
                "[auth-prm-resource-validate] X51: {path:?} must not match the server: {shown:?}"
            );
            assert_eq!(issuer.received_requests().len(), 0, "X51: no token must be requested for it");
        }
    }
}
