//! Restricts access to requests of the page that this host serves. Rejects requests through a domain name that resolves
//! to this computer, and requests of other pages in the same browser.

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Host name and port of the page's development server, which forwards the requests of its page.
const DEVELOPMENT_SERVER: &str = "localhost:1420";

pub(crate) async fn allow_own_page_only(State(port): State<u16>, request: Request, next: Next) -> Response {
    if is_from_own_page(request.headers(), port) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "only the page served here may talk to this host\n").into_response()
    }
}

fn is_from_own_page(headers: &HeaderMap, port: u16) -> bool {
    let header = |name: &HeaderName| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let is_own = |place: &str| place == format!("127.0.0.1:{port}") || place == DEVELOPMENT_SERVER;
    header(&HOST).is_some_and(|host| is_own(&host))
        && header(&ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_hosts_and_origins_are_rejected() {
        let cases = [
            ("127.0.0.1:1430", None, true, "a test without a browser"),
            ("127.0.0.1:1430", Some("http://127.0.0.1:1430"), true, "the page"),
            ("localhost:1420", Some("http://localhost:1420"), true, "the page on its development server"),
            ("evil.example:1430", None, false, "a name that leads here"),
            ("127.0.0.1:1430", Some("https://evil.example"), false, "another page"),
            ("127.0.0.1:1430", Some("null"), false, "a page in a sandbox"),
        ];
        for (host, origin, allowed, what) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().expect("a value"));
            if let Some(origin) = origin {
                headers.insert(ORIGIN, origin.parse().expect("a value"));
            }
            assert_eq!(is_from_own_page(&headers, 1430), allowed, "{what}");
        }
    }
}
