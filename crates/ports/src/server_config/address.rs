//! How a remote server is reached: its URL, its headers, and what is wrong with them.

use std::collections::BTreeMap;

use url::Url;

use super::AuthConfig;
use crate::url_parts::{MAX_URL, shown_url};

/// How a remote server is reached.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HttpConfig {
    /// Where it is, as the user wrote it.
    pub url: String,
    /// Headers sent with each request. A value may name a secret, see [`crate::secrets`].
    pub headers: BTreeMap<String, String>,
    /// The transport to use and no other; none to find out.
    pub kind: Option<HttpKind>,
    /// How to sign in, where that can't or is not to be found out.
    pub auth: Option<AuthConfig>,
}

/// A transport over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP, since 2025-03-26.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

impl HttpKind {
    /// As `mcp.json` names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// The values of headers and of a query are often keys, so they are left out.
impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        f.debug_struct("HttpConfig")
            .field("url", &self.shown_url())
            .field("headers", &headers)
            .field("kind", &self.kind)
            .field("auth", &self.auth)
            .finish()
    }
}

/// The longest value of a header, in bytes.
const MAX_HEADER: usize = 8 * 1024;
/// The most headers of one server.
const MAX_HEADERS: usize = 50;

/// Headers that the transport sets itself; another value would break it.
const OWN_HEADERS: [&str; 14] = [
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
    /// Why it can't be used, in words; nothing if it can.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.headers.len() > MAX_HEADERS {
            return Some(format!("there are more than {MAX_HEADERS} headers"));
        }
        url_problem(&self.url)
            .or_else(|| {
                let lower: Vec<String> = self.headers.keys().map(|name| name.to_ascii_lowercase()).collect();
                self.headers.iter().enumerate().find_map(|(at, (name, value))| {
                    if lower[..at].contains(&lower[at]) {
                        return Some(format!("the header {name:?} stands there twice; names of headers have no case"));
                    }
                    header_problem(name, value)
                })
            })
            .or_else(|| self.auth.as_ref()?.problem().map(|problem| format!("\"auth\": {problem}")))
    }

    /// The URL for what is kept or looked through later, without what is or may be a key: values in
    /// its query, and parts of its path that look like one.
    #[must_use]
    pub fn shown_url(&self) -> String {
        shown_url(&self.url)
    }

    /// Whether its requests cross a network that others can read along.
    #[must_use]
    pub fn is_plain_outside(&self) -> bool {
        Url::parse(&self.url).is_ok_and(|url| url.scheme() == "http" && !is_loopback(&url))
    }

    /// The scheme, host and port, which decide who gets a secret; none if the URL can't be used.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        Url::parse(&self.url)
            .ok()
            .map(|url| url.origin())
            .filter(url::Origin::is_tuple)
            .map(|o| o.ascii_serialization())
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// Why a server can't be at a URL, in words; nothing if it can.
#[must_use]
pub fn url_problem(url: &str) -> Option<String> {
    if url.len() > MAX_URL {
        return Some(format!("the URL is longer than {MAX_URL} bytes"));
    }
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some(
            "the URL has blanks or control characters in it, which programs read in different ways".to_owned(),
        );
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

/// Why a header can't be sent, in words; nothing if it can.
#[must_use]
pub fn header_problem(name: &str, value: &str) -> Option<String> {
    let shown: String = name.chars().take(60).collect();
    let is_token = !name.is_empty()
        && name.len() <= 256
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    let lower = name.to_ascii_lowercase();
    if !is_token {
        Some(format!("{shown:?} is not the name of a header: letters, digits and \"-\" were expected"))
    } else if OWN_HEADERS.contains(&lower.as_str()) || lower.starts_with("mcp-param-") {
        Some(format!("the header {shown:?} is set by Drawbridge itself; leave it out"))
    } else if value.len() > MAX_HEADER {
        Some(format!("the value of the header {shown:?} is longer than {MAX_HEADER} bytes"))
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
    fn no_key_is_in_what_is_logged() {
        let url = "https://a.example/s/9f86d081884c7d659a2feaa0c55ad015/mcp?key=s3cret";
        let config = HttpConfig { url: url.into(), ..HttpConfig::default() };
        assert_eq!(config.shown_url(), "https://a.example/s/9f86…/mcp?key=…", "what is shown");
        let logged = format!("{config:?}");
        assert!(!logged.contains("s3cret") && !logged.contains("d081"), "nor is it in what is logged: {logged}");
    }
}
