//! Serves the built page with the same content security policy as the app.

use std::path::Path;

use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, InvalidHeaderValue};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeader;

/// HTTP service that responds with the files of the page.
type PageFileService = SetResponseHeader<SetResponseHeader<ServeDir, HeaderValue>, HeaderValue>;

/// Returns the content security policy of src-tauri/tauri.conf.json, changed for this program: the page sends commands
/// to its own origin, and frames show apps from subdomains of `localhost`.
fn page_content_security_policy(port: u16) -> String {
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
         img-src 'self' data: blob:; media-src data: blob:; font-src 'self'; connect-src 'self'; \
         frame-src http://*.localhost:{port}; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}

/// Returns the HTTP service for the page's files in `folder`, with the content security policy for this port.
pub(crate) fn page_file_service(folder: &Path, port: u16) -> Result<PageFileService, InvalidHeaderValue> {
    let policy = HeaderValue::try_from(page_content_security_policy(port))?;
    let files = SetResponseHeader::overriding(ServeDir::new(folder), CONTENT_SECURITY_POLICY, policy);
    Ok(SetResponseHeader::overriding(files, CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_security_policy_matches_the_desktop_app() {
        let config: serde_json::Value =
            serde_json::from_str(include_str!("../../../src-tauri/tauri.conf.json")).expect("JSON");
        let product = config["app"]["security"]["csp"].as_object().expect("rules by name");
        let expected: Vec<String> = product
            .iter()
            .map(|(name, value)| match name.as_str() {
                "connect-src" => String::from("connect-src 'self'"),
                "frame-src" => String::from("frame-src http://*.localhost:1430"),
                _ => format!("{name} {}", value.as_str().unwrap_or_default()),
            })
            .collect();
        assert_eq!(
            page_content_security_policy(1430),
            expected.join("; "),
            "the content security policy equals that of the app"
        );
    }
}
