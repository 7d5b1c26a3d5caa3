//! The address of a remote server: URL and headers, and their validation.

use std::collections::BTreeMap;

use url::Url;

use super::AuthConfig;
use crate::url_parts::{MAX_URL_BYTES, redacted_url};

/// The address of a remote server, and its transport settings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HttpConfig {
    /// URL of the server, as the user entered it.
    pub url: String,
    /// Headers that are sent with each request. A value may refer to a secret, see [`crate::secrets`].
    pub headers: BTreeMap<String, String>,
    /// Transport that must be used, or `None` to detect it.
    pub kind: Option<HttpKind>,
    /// Sign-in settings that can't or must not be discovered, or `None` if there are none.
    pub auth: Option<AuthConfig>,
}

/// A transport over HTTP, named as in `mcp.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpKind {
    /// The transport Streamable HTTP, since revision 2025-03-26.
    Http,
    /// The transport HTTP+SSE of revision 2024-11-05.
    Sse,
}

impl HttpKind {
    /// Returns the name of the transport in `mcp.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// Omits values of headers and of the query, because they often are API keys.
impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        f.debug_struct("HttpConfig")
            .field("url", &self.redacted_url())
            .field("headers", &headers)
            .field("kind", &self.kind)
            .field("auth", &self.auth)
            .finish()
    }
}

/// Maximum length of the value of a configured header, in bytes.
const MAX_HEADER_VALUE_BYTES: usize = 8 * 1024;
/// Maximum number of headers for one server.
const MAX_SERVER_HEADERS: usize = 50;

/// Headers that the transport sets itself, so that users can't configure them.
const TRANSPORT_CONTROLLED_HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

impl HttpConfig {
    /// Returns the reason why the address or its settings are invalid, or `None` if they are valid.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.headers.len() > MAX_SERVER_HEADERS {
            return Some(format!("there are more than {MAX_SERVER_HEADERS} headers"));
        }
        server_url_problem(&self.url)
            .or_else(|| {
                let lower: Vec<String> = self.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
                self.headers.iter().enumerate().find_map(|(at, (name, value))| {
                    if lower[..at].contains(&lower[at]) {
                        return Some(format!("the header {name:?} occurs twice; header names are case-insensitive"));
                    }
                    header_problem(name, value)
                })
            })
            .or_else(|| self.auth.as_ref()?.problem().map(|problem| format!("\"auth\": {problem}")))
    }

    /// Returns the server's URL for storage and search, without parts that may be keys: values in the query, and path
    /// segments that look like a key.
    #[must_use]
    pub fn redacted_url(&self) -> String {
        redacted_url(&self.url)
    }

    /// Returns `true` if requests to the server are sent unencrypted to another computer.
    #[must_use]
    pub fn is_unencrypted_remote(&self) -> bool {
        let is_loopback = |url: &Url| url.host().is_some_and(|host| foreign::is_loopback(&host));
        Url::parse(&self.url).is_ok_and(|url| url.scheme() == "http" && !is_loopback(&url))
    }

    /// Returns scheme, host and port, to which secrets are bound, or `None` if the URL is invalid.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        Url::parse(&self.url)
            .ok()
            .map(|url| url.origin())
            .filter(url::Origin::is_tuple)
            .map(|o| o.ascii_serialization())
    }
}

/// Returns the reason why a URL is invalid for a remote server, or `None` if it is valid.
#[must_use]
pub fn server_url_problem(url: &str) -> Option<String> {
    if url.len() > MAX_URL_BYTES {
        return Some(format!("the URL is longer than {MAX_URL_BYTES} bytes"));
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some("the URL has blanks or control characters in it, which programs interpret differently".to_owned());
    }
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(error) => return Some(format!("the URL can't be read: {error}; expected https://…")),
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return Some("the URL must begin with https:// or http://".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Some("the URL has a user name or password; put it into the header Authorization instead".to_owned());
    }
    parsed.fragment().map(|_| "the URL has a part after \"#\", which no server gets; leave it out".to_owned())
}

/// Returns the reason why a header is invalid, or `None` if it is valid.
#[must_use]
pub fn header_problem(name: &str, value: &str) -> Option<String> {
    let shown: String = name.chars().take(60).collect();
    let is_token = !name.is_empty()
        && name.len() <= 256
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    let lower = name.to_ascii_lowercase();
    if !is_token {
        // The name is not quoted in the message: a mistyped header may contain the secret in its name.
        Some("the name of a header may have only letters, digits and \"-\"".to_owned())
    } else if TRANSPORT_CONTROLLED_HEADERS.contains(&lower.as_str()) || lower.starts_with("mcp-param-") {
        Some(format!("the header {shown:?} is set by Drawbridge itself; leave it out"))
    } else if value.len() > MAX_HEADER_VALUE_BYTES {
        Some(format!("the value of the header {shown:?} is longer than {MAX_HEADER_VALUE_BYTES} bytes"))
    } else if value.chars().any(|c| c.is_control() && c != '\t') {
        Some(format!("the value of the header {shown:?} has a line break or another control character"))
    } else if value.trim_matches([' ', '\t']) != value {
        Some(format!("the value of the header {shown:?} begins or ends with a space"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_url_contains_no_api_key() {
        let url = "https://a.example/s/9f86d081884c7d659a2feaa0c55ad015/mcp?key=s3cret";
        let config = HttpConfig { url: url.into(), ..HttpConfig::default() };
        assert_eq!(config.redacted_url(), "https://a.example/s/9f86…/mcp?key=…", "the displayed URL contains no key");
        let logged = format!("{config:?}");
        assert!(!logged.contains("s3cret") && !logged.contains("d081"), "logs contain no key: {logged}");
    }
}
