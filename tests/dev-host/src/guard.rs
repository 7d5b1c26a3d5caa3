//! Routes requests by their host name. Requests of the page that this host serves reach the files, the API and the
//! events. Each shown app has a separate host name, which serves its documents only. Requests through other names that
//! resolve to this computer, and requests of other pages in the same browser, are rejected.

use api::Api;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Host name and port of the page's development server (Vite), which forwards requests of the page to this host.
pub(crate) const UI_DEV_SERVER_HOST: &str = "localhost:1420";
/// Number of hexadecimal digits at the start of a shown app's host name.
const APP_VIEW_ID_DIGITS: usize = 32;
/// Header in which a browser reports how the origin of the requesting page relates to this host.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Part of this program that an HTTP request may reach.
#[derive(Debug, PartialEq, Eq)]
enum RequestDestination {
    /// Files of the page, the API, and the events.
    Page,
    /// Documents of the shown app with this identifier.
    App(String),
    /// Nothing, because neither the page nor a shown app sent the request.
    Nowhere,
}

/// State of the middleware [`route_by_host`]: the API, and the port on which this program listens.
#[derive(Clone)]
pub(crate) struct HostHeaderGuard {
    pub(crate) api: Api,
    pub(crate) port: u16,
}

/// Forwards requests of the page and of shown apps, and rejects all others.
pub(crate) async fn route_by_host(State(guard): State<HostHeaderGuard>, request: Request, next: Next) -> Response {
    match permitted_destination(request.headers(), guard.port) {
        RequestDestination::Page => next.run(request).await,
        RequestDestination::App(view) => respond_with_app_document(&guard.api, &view, &request),
        RequestDestination::Nowhere => {
            (StatusCode::FORBIDDEN, "only the page served here may talk to this host\n").into_response()
        }
    }
}

fn respond_with_app_document(api: &Api, view: &str, request: &Request) -> Response {
    if request.method() != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let document = api.app_views().respond_to_frame(view, request.uri().path());
    let mut response = Response::builder().status(document.status);
    for (name, value) in document.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(document.body)).unwrap_or_else(|error| {
        tracing::error!("the document of an app can't be sent: {error}");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

/// Returns the destination that a request with these headers may reach, if this program listens on `port`.
fn permitted_destination(headers: &HeaderMap, port: u16) -> RequestDestination {
    let header = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let (host, origin) = (header("host").unwrap_or_default(), header("origin"));
    if let Some(view) = app_view_id_in_host_name(&host, port) {
        // Frames load documents by navigation, which sends no origin.
        return if origin.is_none() { RequestDestination::App(view.to_owned()) } else { RequestDestination::Nowhere };
    }
    let is_own = |place: &str| place == format!("127.0.0.1:{port}") || place == UI_DEV_SERVER_HOST;
    let is_own_origin = origin.is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_own));
    // Some requests of other pages have no origin, such as those for images.
    let is_other_site = header(SEC_FETCH_SITE).is_some_and(|site| site == "cross-site" || site == "same-site");
    if is_own(&host) && is_own_origin && !is_other_site {
        RequestDestination::Page
    } else {
        RequestDestination::Nowhere
    }
}

/// Returns the identifier of the shown app that has this host name, or `None` if no shown app can have it.
fn app_view_id_in_host_name(host: &str, port: u16) -> Option<&str> {
    let view = host.strip_suffix(&format!(".localhost:{port}"))?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (view.len() == APP_VIEW_ID_DIGITS && view.bytes().all(is_digit)).then_some(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP_VIEW_ID: &str = "0123456789abcdef0123456789abcdef";

    fn destination_of(headers: &[(&'static str, &str)]) -> RequestDestination {
        let mut received = HeaderMap::new();
        for (name, value) in headers {
            received.insert(*name, value.parse().expect("a value"));
        }
        permitted_destination(&received, 1430)
    }

    #[test]
    fn requests_to_other_hosts_or_from_other_origins_are_rejected() {
        let cases = [
            ("127.0.0.1:1430", None, true, "a test without a browser"),
            ("127.0.0.1:1430", Some("http://127.0.0.1:1430"), true, "the page"),
            ("localhost:1420", Some("http://localhost:1420"), true, "the page on its development server"),
            ("evil.example:1430", None, false, "a name that leads here"),
            ("127.0.0.1:1430", Some("https://evil.example"), false, "another page"),
            ("127.0.0.1:1430", Some("null"), false, "a page in a sandbox"),
            ("localhost:1430", None, false, "a name that the page does not use"),
        ];
        for (host, origin, allowed, what) in cases {
            let mut headers = vec![("host", host)];
            headers.extend(origin.map(|origin| ("origin", origin)));
            let expected = if allowed { RequestDestination::Page } else { RequestDestination::Nowhere };
            assert_eq!(destination_of(&headers), expected, "{what}");
        }
    }

    #[test]
    fn app_host_name_serves_only_the_documents_of_its_app() {
        let host = format!("{APP_VIEW_ID}.localhost:1430");
        assert_eq!(
            destination_of(&[("host", host.as_str())]),
            RequestDestination::App(APP_VIEW_ID.to_owned()),
            "a frame loads its document"
        );
        for origin in [format!("http://{host}"), "http://127.0.0.1:1430".to_owned(), "null".to_owned()] {
            let reached = destination_of(&[("host", host.as_str()), ("origin", origin.as_str())]);
            assert_eq!(reached, RequestDestination::Nowhere, "a script of {origin} should not read documents");
        }
    }

    #[test]
    fn mcp_apps_reach_neither_the_ui_nor_the_api() {
        let origin = format!("http://{APP_VIEW_ID}.localhost:1430");
        for host in ["127.0.0.1:1430", UI_DEV_SERVER_HOST] {
            let reached = destination_of(&[("host", host), ("origin", origin.as_str())]);
            assert_eq!(reached, RequestDestination::Nowhere, "a script of an app on {host}");
            for site in ["cross-site", "same-site"] {
                let reached = destination_of(&[("host", host), (SEC_FETCH_SITE, site)]);
                assert_eq!(reached, RequestDestination::Nowhere, "a {site} image on {host}");
            }
            for site in ["same-origin", "none"] {
                assert_eq!(
                    destination_of(&[("host", host), (SEC_FETCH_SITE, site)]),
                    RequestDestination::Page,
                    "{site} on {host}"
                );
            }
        }
    }

    #[test]
    fn similar_host_names_are_not_those_of_mcp_apps() {
        let hosts = [
            format!("{}.localhost:1430", &APP_VIEW_ID[1..]),
            format!("0{APP_VIEW_ID}.localhost:1430"),
            format!("{}.localhost:1430", APP_VIEW_ID.to_uppercase()),
            format!("{}g.localhost:1430", &APP_VIEW_ID[1..]),
            format!("a.{APP_VIEW_ID}.localhost:1430"),
            format!("{APP_VIEW_ID}.localhost:1431"),
            format!("{APP_VIEW_ID}.localhost"),
            format!("{APP_VIEW_ID}.localhost.evil.example:1430"),
            format!("{APP_VIEW_ID}:1430"),
            ".localhost:1430".to_owned(),
        ];
        for host in hosts {
            assert_eq!(destination_of(&[("host", host.as_str())]), RequestDestination::Nowhere, "{host}");
        }
    }
}
