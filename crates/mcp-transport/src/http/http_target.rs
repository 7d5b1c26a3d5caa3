//! Address and connection settings of a remote server.

use std::fmt;
use std::sync::Arc;

use mcp_proto::Revision;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use url::Url;

pub use reqwest::header::HeaderName;

use super::Authorizer;
use crate::driver::DetectedTransport;

/// Address and settings with which a remote server is connected.
///
/// # Examples
///
/// ```
/// use mcp_transport::http::{HeaderName, HttpTarget, SecretHeader, TransportChoice};
///
/// let token = SecretHeader::new("Bearer s3cret")?;
/// let target = HttpTarget {
///     url: "https://mcp.example.com/mcp".parse()?,
///     headers: vec![(HeaderName::from_static("authorization"), token)],
///     transport: TransportChoice::Streamable,
///     known: None,
///     authorizer: None,
/// };
/// assert!(!format!("{target:?}").contains("s3cret"), "the value is not logged");
/// assert!(SecretHeader::new("two\nlines").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HttpTarget {
    /// MCP endpoint of the server, `http` or `https`.
    pub url: Url,
    /// Headers that are sent with every request to the server's origin, and to no other. They cannot replace the
    /// headers of the protocol.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Transport to use, or automatic detection of the transport.
    pub transport: TransportChoice,
    /// Transport and revision of the last session, or `None`. The transport detection tries them first.
    pub known: Option<KnownServerConnection>,
    /// Authorizer that signs the requests, or `None` for unsigned requests. Not used if `headers` has an
    /// `Authorization` header.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

/// Transport to use for a remote server, or its automatic detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum TransportChoice {
    /// Detects the transport, and tries Streamable HTTP first.
    #[default]
    Auto,
    /// Uses Streamable HTTP only.
    Streamable,
    /// Uses HTTP+SSE of 2024-11-05 only.
    Sse,
}

/// Transport and revision of a remote server, which the session's owner stores for the next session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KnownServerConnection {
    /// Transport that the server supported in the last session.
    pub transport: DetectedTransport,
    /// Protocol revision that was negotiated in the last session.
    pub revision: Revision,
}

/// Value of an HTTP header, hidden by `Debug` because it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretHeader(HeaderValue);

/// Error for text that is not allowed as a header value, such as text with a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value holds a control character, such as a line end, which no header can carry")]
pub struct InvalidSecretHeader;

impl SecretHeader {
    /// Creates a header value that is marked as sensitive.
    ///
    /// # Errors
    /// Returns [`InvalidSecretHeader`] if the text cannot be a header value.
    pub fn new(text: &str) -> Result<SecretHeader, InvalidSecretHeader> {
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| InvalidSecretHeader)?;
        value.set_sensitive(true);
        Ok(SecretHeader(value))
    }

    /// Returns the header value as text, so that callers can redact it from output. `None` if it is not all visible
    /// ASCII.
    pub fn expose(&self) -> Option<&str> {
        self.0.to_str().ok()
    }

    pub(super) fn value(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Debug for SecretHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHeader(hidden)")
    }
}
