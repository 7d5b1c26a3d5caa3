//! Documents that the frames of shown apps load, and the headers that isolate these frames. The desktop shell serves
//! them from a custom scheme, the development host from a name below `localhost`. In both, each shown app has an origin
//! of its own.

use mcp_apps::{AppPage, FRAME_SANDBOX_ATTRIBUTE, FrameAncestor, SandboxPolicy, with_diagnostic_script};

/// Path of the self-test document, which Drawbridge's page loads into an app's frame before the app's document.
const ISOLATION_TEST_PATH: &str = "/self-test";
/// Document that tests the isolation of its frame: it tries to reach Drawbridge's page, and reports what it could
/// reach.
const ISOLATION_TEST_HTML: &str = include_str!("self_test.html");
/// Media type of all documents that frames load.
const HTML_CONTENT_TYPE: &str = "text/html; charset=utf-8";

/// HTTP response to a request of an app's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFrameResponse {
    /// HTTP status: 200 for a document of a shown app, otherwise 404.
    pub status: u16,
    /// HTTP headers as pairs of name and value.
    pub headers: Vec<(&'static str, String)>,
    /// Content of the document. Empty for status 404.
    pub body: Vec<u8>,
}

impl AppFrameResponse {
    /// Returns the response with status 404 to a request for anything but the documents of a shown app.
    #[must_use]
    pub fn not_found() -> Self {
        // Without a policy, a frame with this response would be less restricted than one with a document.
        let policy = "default-src 'none'; frame-ancestors 'none'; sandbox".to_owned();
        Self { status: 404, headers: vec![("Content-Security-Policy", policy)], body: Vec::new() }
    }
}

/// Documents of one shown app. Each document is served once, so that neither another frame nor a reload of the app's
/// frame receives it.
#[derive(Debug)]
pub(crate) struct FrameDocuments {
    page: Option<Vec<u8>>,
    self_test: Option<&'static str>,
    html: String,
    content_security_policy: String,
    permissions_policy: String,
}

impl FrameDocuments {
    pub(crate) fn new(page: &AppPage, policy: &SandboxPolicy, ancestors: &[FrameAncestor]) -> Self {
        Self {
            page: Some(with_diagnostic_script(&page.html).into_bytes()),
            self_test: Some(ISOLATION_TEST_HTML),
            html: page.html.clone(),
            // The attribute of the frame says the same, but only while the frame is in the page of Drawbridge.
            content_security_policy: format!(
                "{}; sandbox {FRAME_SANDBOX_ATTRIBUTE}",
                policy.content_security_policy(ancestors)
            ),
            permissions_policy: policy.permissions_policy(),
        }
    }

    /// Returns the HTML document of the app's page as its server provides it, without the diagnostic script.
    pub(crate) fn html(&self) -> &str {
        &self.html
    }

    /// Returns the value of the header `Content-Security-Policy` with which the documents are served.
    pub(crate) fn content_security_policy(&self) -> &str {
        &self.content_security_policy
    }

    /// Returns the response to a frame's request for `path`.
    pub(crate) fn respond(&mut self, path: &str) -> AppFrameResponse {
        let body = match path {
            "/" | "" => self.page.take(),
            ISOLATION_TEST_PATH => self.self_test.take().map(|text| text.as_bytes().to_vec()),
            _ => None,
        };
        let Some(body) = body else { return AppFrameResponse::not_found() };
        let headers = vec![
            ("Content-Type", HTML_CONTENT_TYPE.to_owned()),
            ("Content-Security-Policy", self.content_security_policy.clone()),
            ("Permissions-Policy", self.permissions_policy.clone()),
            ("Referrer-Policy", "no-referrer".to_owned()),
            ("X-Content-Type-Options", "nosniff".to_owned()),
            ("X-DNS-Prefetch-Control", "off".to_owned()),
            ("Cache-Control", "no-store".to_owned()),
        ];
        AppFrameResponse { status: 200, headers, body }
    }
}
