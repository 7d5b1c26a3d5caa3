//! Decides which redirects are followed: only those within the server's origin.
//!
//! Another origin would receive the body, the configured headers and the session ID. For such a redirect, the error
//! shows the address to the user.

use foreign::escape_invisible;
use reqwest::StatusCode;
use reqwest::header::HeaderValue;
use url::Url;

/// Maximum number of consecutive redirects that one request follows.
pub(super) const MAX_REDIRECTS: usize = 10;
/// Maximum number of characters of the redirect's URL that an error message contains.
const MAX_DISPLAYED_URL_CHARS: usize = 200;

/// Returns the URL to which the redirected request is sent again with the same method and body, or `None` if the
/// response is not a redirect.
///
/// # Errors
/// Returns a message that explains why the redirect is not followed.
pub(super) fn redirect_target(
    from: &Url,
    status: StatusCode,
    location: Option<&HeaderValue>,
    has_body: bool,
) -> Result<Option<Url>, String> {
    match status.as_u16() {
        // Browsers turn a POST into a GET at 301 and 302 for historical reasons only (RFC 9110, 15.4.2). An MCP message
        // requires POST, so the method is kept.
        301 | 302 | 307 | 308 => {}
        303 if !has_body => {}
        303 => return Err("it answers a message with a redirect (303) and no answer".to_owned()),
        _ => return Ok(None),
    }
    let location = location.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let Some(mut to) = location.and_then(|location| from.join(location).ok()) else {
        return Err(format!("its redirect ({}) names no address", status.as_u16()));
    };
    if to.origin() != from.origin() {
        let _ = to.set_password(None);
        to.set_query(None);
        to.set_fragment(None);
        let shown: String = escape_invisible(to.as_str()).chars().take(MAX_DISPLAYED_URL_CHARS).collect();
        return Err(format!(
            "it redirects to another origin, {shown}, which is not followed; if you trust that address, use it instead"
        ));
    }
    to.set_fragment(None);
    Ok(Some(to))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn redirect_target_from(from: &str, status: u16, location: &str, has_body: bool) -> Result<Option<Url>, String> {
        let status = StatusCode::from_u16(status).unwrap();
        redirect_target(&Url::parse(from).unwrap(), status, Some(&HeaderValue::from_str(location).unwrap()), has_body)
    }

    #[test]
    fn same_origin_redirects_keep_the_method() {
        for status in [301, 302, 307, 308] {
            let to = redirect_target_from("https://a.example/mcp", status, "/mcp/", true).unwrap().unwrap();
            assert_eq!(to.as_str(), "https://a.example/mcp/", "{status} within the origin must be followed");
        }
        assert_eq!(
            redirect_target_from("https://a.example/mcp", 404, "/x", true),
            Ok(None),
            "404 must not count as a redirect"
        );
    }

    #[test]
    fn cross_origin_redirects_are_rejected() {
        for (from, to) in [
            ("https://a.example/mcp", "https://b.example/mcp"),
            ("https://a.example/mcp", "http://a.example/mcp"),
            ("http://a.example/mcp", "https://a.example/mcp"),
            ("https://a.example/mcp", "https://a.example:8443/mcp"),
            ("https://a.example/mcp", "//b.example/mcp"),
            ("https://a.example/mcp", "file:///etc/passwd"),
        ] {
            let refused = redirect_target_from(from, 307, to, true);
            assert!(refused.is_err(), "X49: {from} must not lead to {to}: {refused:?}");
        }
        let cause =
            redirect_target_from("https://a.example/", 308, "https://u:p@b.example/x?token=1", true).unwrap_err();
        assert!(
            cause.contains("b.example/x") && !cause.contains("token"),
            "the error must name the address without its query: {cause}"
        );
    }

    #[test]
    fn redirect_303_of_a_post_is_rejected() {
        assert!(
            redirect_target_from("https://a.example/mcp", 303, "/other", true).is_err(),
            "a POST must not follow a 303"
        );
        assert!(
            redirect_target_from("https://a.example/mcp", 303, "/other", false).unwrap().is_some(),
            "a GET must follow a 303"
        );
    }
}
