//! Which remote server, and what is known about it.

use std::fmt;
use std::sync::Arc;

use mcp_proto::Revision;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use url::Url;

pub use reqwest::header::HeaderName;

use super::Authorizer;
use crate::driver::TransportFound;

/// A remote server.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    /// Its MCP endpoint, `http` or `https`.
    pub url: Url,
    /// Sent with every request to the server's origin, and to no other. They cannot replace the headers of
    /// the protocol.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Which transport to use.
    pub transport: TransportChoice,
    /// What was found the last time. It is tried first, and found anew if it has stopped being true.
    pub known: Option<KnownServer>,
    /// What signs its requests. A header `Authorization` among `headers` takes its place.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

/// Which transport to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum TransportChoice {
    /// Whichever the server speaks; Streamable HTTP is tried first.
    #[default]
    Auto,
    /// Streamable HTTP and no other.
    Streamable,
    /// HTTP+SSE of 2024-11-05 and no other.
    Sse,
}

/// What was found out about a server, to be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KnownServer {
    /// Its transport.
    pub transport: TransportFound,
    /// The revision that it speaks.
    pub revision: Revision,
}

/// The value of a header. It may be a secret, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretHeader(HeaderValue);

/// The text cannot stand in a header: it holds a control character such as a line end. Correct the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value holds a control character, such as a line end, which no header can carry")]
pub struct BadHeader;

impl SecretHeader {
    /// # Errors
    /// If the text cannot stand in a header.
    pub fn new(text: &str) -> Result<SecretHeader, BadHeader> {
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| BadHeader)?;
        value.set_sensitive(true);
        Ok(SecretHeader(value))
    }

    /// The text, for whoever keeps it out of what is shown. None if it is not all ASCII.
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
