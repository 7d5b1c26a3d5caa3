//! Address of a registry, and the requests and the header that are sent to it.

use std::fmt;

use memchr::memmem;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ports::server_config::{header_problem, server_url_problem};
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use url::{Host, Origin, Url};

use super::RegistryError;
use crate::server_json::read::quote_untrusted_text;

/// Address of the official registry.
pub const OFFICIAL_REGISTRY: &str = "https://registry.modelcontextprotocol.io";
/// Version of the registry API in request paths.
const REGISTRY_API_VERSION: &str = "v0.1";
/// Minimum length, in bytes, of a token in the registry's header for which responses are searched. A shorter token
/// could occur in a response by chance.
const MIN_TOKEN_BYTES_SEARCHED_IN_RESPONSES: usize = 6;
/// Characters that are percent-encoded in a path segment: all except letters, digits, `-`, `.`, `_` and `~`.
const PERCENT_ENCODED_IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Address of a registry. Its scheme is `https`, or `http` if the registry is on this computer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryAddress(Url);

impl RegistryAddress {
    /// Parses an address. It may end with the path of the API, as in `https://example.com/v0.1/servers`.
    ///
    /// # Errors
    ///
    /// Returns [`RegistryError::Address`] if it is not a URL, contains a query or credentials, or is unencrypted and
    /// not on this computer.
    ///
    /// # Examples
    ///
    /// ```
    /// use registry::RegistryAddress;
    ///
    /// let address = RegistryAddress::parse("https://registry.example/team/v0.1/servers")?;
    /// assert_eq!(address.as_str(), "https://registry.example/team");
    /// assert!(!address.is_official());
    /// assert!(RegistryAddress::parse("http://registry.example").is_err(), "the address is not encrypted");
    /// assert!(RegistryAddress::parse("http://localhost:8080").is_ok());
    /// # Ok::<(), registry::RegistryError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, RegistryError> {
        let text = text.trim();
        let bad = |cause: String| RegistryError::Address { address: quote_untrusted_text(text), cause };
        if let Some(problem) = server_url_problem(text) {
            return Err(bad(problem));
        }
        let mut url = Url::parse(text).map_err(|error| bad(error.to_string()))?;
        if url.query().is_some() {
            return Err(bad("it has a part after \"?\"; leave it out".to_owned()));
        }
        if url.scheme() == "http" && !is_loopback(&url) {
            return Err(bad("it is not encrypted; only a registry on this computer may have http://".to_owned()));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/servers").unwrap_or(path);
        let path = path.strip_suffix("/v0.1").or_else(|| path.strip_suffix("/v0")).unwrap_or(path).to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    /// Returns `true` for the official registry, whose naming rules [`crate::Publisher`] implements.
    #[must_use]
    pub fn is_official(&self) -> bool {
        self.as_str() == OFFICIAL_REGISTRY
    }

    /// Returns the address without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }

    pub(crate) fn host(&self) -> Option<Host<&str>> {
        self.0.host()
    }

    pub(crate) fn origin(&self) -> Origin {
        self.0.origin()
    }

    /// Returns the full URL of a request.
    ///
    /// # Errors
    /// Returns [`RegistryError::Address`] if the URL is invalid, which can't happen for validated names and versions.
    pub(super) fn url(&self, request: &RegistryRequest) -> Result<Url, RegistryError> {
        let text = format!("{}/{}", self.as_str(), request.0);
        Url::parse(&text)
            .map_err(|error| RegistryError::Address { address: quote_untrusted_text(&text), cause: error.to_string() })
    }
}

impl Default for RegistryAddress {
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "a constant that a test reads")]
        Self::parse(OFFICIAL_REGISTRY).expect("an address")
    }
}

impl fmt::Display for RegistryAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Path and query of a request to a registry, relative to the registry's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegistryRequest(String);

impl RegistryRequest {
    /// Beginning of the path and query of each request for a page of servers.
    pub(crate) const LIST_PREFIX: &str = "v0.1/servers?";

    /// Creates a request for a page of servers: `GET /v0.1/servers` with these query parameters.
    pub(crate) fn list(parameters: &[(&str, &str)]) -> Self {
        let query: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        Self(format!("{}{query}", Self::LIST_PREFIX))
    }

    /// Creates a request for all versions of a server, including deleted ones: `GET /v0.1/servers/{name}/versions`.
    pub(crate) fn versions(name: &str) -> Self {
        Self(format!("{REGISTRY_API_VERSION}/servers/{}/versions?include_deleted=true", encode_segment(name)))
    }

    /// Creates a request for one version of a server, which may be deleted: `GET
    /// /v0.1/servers/{name}/versions/{version}`.
    pub(crate) fn version(name: &str, version: &str) -> Self {
        Self(format!(
            "{REGISTRY_API_VERSION}/servers/{}/versions/{}?include_deleted=true",
            encode_segment(name),
            encode_segment(version)
        ))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, PERCENT_ENCODED_IN_PATHS).to_string()
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host().is_some_and(|host| foreign::is_loopback(&host))
}

/// HTTP header that is sent with each request to a registry, for registries that require authentication.
#[derive(Debug, Clone)]
pub struct RegistryHeader {
    pub(super) name: HeaderName,
    pub(super) value: HeaderValue,
}

impl RegistryHeader {
    /// Creates a header from its name, such as `Authorization`, and its complete value.
    ///
    /// # Errors
    /// Returns [`RegistryError::Header`] if the name or value is not allowed in HTTP. The error doesn't contain the
    /// value.
    pub fn new(name: &str, value: &SecretString) -> Result<Self, RegistryError> {
        let bad = |cause: String| RegistryError::Header { cause };
        // Checked first, because the messages of other problems contain the name, and the user may have entered the
        // whole header as the name.
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            bad("its name is not the name of a header: letters, digits and \"-\" were expected".to_owned())
        })?;
        if let Some(problem) = header_problem(name, value.expose_secret()) {
            return Err(bad(problem));
        }
        let name = header;
        let mut value = HeaderValue::from_str(value.expose_secret())
            .map_err(|_| bad(format!("the value of the header {name} has characters that can't be sent")))?;
        value.set_sensitive(true);
        Ok(Self { name, value })
    }

    /// Returns `true` if `bytes` contain the value of the header, or the token in it, as in `Bearer TOKEN`.
    pub(super) fn occurs_in(&self, bytes: &[u8]) -> bool {
        let value = self.value.as_bytes();
        let token = value.rsplit(|byte| *byte == b' ').next().unwrap_or(value);
        token.len() >= MIN_TOKEN_BYTES_SEARCHED_IN_RESPONSES && memmem::find(bytes, token).is_some()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn only_encrypted_registry_addresses_are_accepted() {
        let good = [
            ("https://registry.example", "https://registry.example"),
            (" https://registry.example/ ", "https://registry.example"),
            ("https://registry.example/v0.1/servers", "https://registry.example"),
            ("https://registry.example/team/v0/", "https://registry.example/team"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ];
        for (text, address) in good {
            assert_eq!(RegistryAddress::parse(text).unwrap().as_str(), address, "{text}");
        }
        let bad = [
            "http://registry.example",
            "http://127.0.0.1.example",
            "ftp://registry.example",
            "registry.example",
            "https://ann:pass@registry.example",
            "https://registry.example/?key=1",
            "https://registry.example/#top",
        ];
        for text in bad {
            assert!(RegistryAddress::parse(text).is_err(), "{text}");
        }
        assert!(RegistryAddress::default().is_official());
        assert!(!RegistryAddress::parse("https://registry.modelcontextprotocol.io.example").unwrap().is_official());
    }

    #[test]
    fn names_and_versions_are_one_path_segment_each() {
        let address = RegistryAddress::parse("https://registry.example/team").unwrap();
        let url = address.url(&RegistryRequest::version("io.github.alice/notes", "1.0.0+b/../ü")).unwrap();
        let path = "/team/v0.1/servers/io.github.alice%2Fnotes/versions/1.0.0%2Bb%2F..%2F%C3%BC";
        assert_eq!(url.path(), path);
    }

    #[test]
    fn header_value_is_not_logged() {
        let header = RegistryHeader::new("Authorization", &"Bearer s3cret".into()).unwrap();
        assert!(!format!("{header:?}").contains("s3cret"));
        for (name, value) in
            [("Host", "x"), ("Authorization", "two\nlines"), ("Key: s3cret", "x"), ("Authorization", "s3cret\u{1}")]
        {
            let error = RegistryHeader::new(name, &value.into()).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
