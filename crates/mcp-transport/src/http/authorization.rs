//! Who signs the requests to one server, and decides what a refusal means. The transport knows no more of it.

use std::fmt;

use async_trait::async_trait;
use url::Url;

use super::{HeaderName, SecretHeader};

/// Signs the requests to one server, and decides what a refusal means.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Headers for a request to `url`, which is only ever of the server's own origin. Waits for a renewal that is due.
    /// Without any headers the request is sent unsigned.
    ///
    /// # Errors
    ///
    /// If the request is not to be sent at all.
    async fn sign(&self, method: &str, url: &Url) -> Result<Signed, Stop>;

    /// The server said 401, or 403 with `insufficient_scope`.
    async fn challenged(&self, challenge: Challenge) -> Verdict;

    /// Headers of an answer that concern it.
    fn answered(&self, dpop_nonce: Option<&str>);
}

impl fmt::Debug for dyn Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

/// What a request is signed with.
#[derive(Debug, Clone, Default)]
pub struct Signed {
    /// `Authorization`, and what goes with it.
    pub headers: Vec<(HeaderName, SecretHeader)>,
    /// Which token was used, so that two calls refused with the same one lead to one renewal.
    pub generation: u64,
}

/// Why a request is not sent, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Stop(pub String);

/// A request that was refused for want of an authorization. It was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// 401 or 403.
    pub status: u16,
    /// The headers `WWW-Authenticate`, in order.
    pub www_authenticate: Vec<String>,
    /// The header `DPoP-Nonce`.
    pub dpop_nonce: Option<String>,
    /// With what it had been signed.
    pub generation: u64,
    /// How often this request was already sent again.
    pub attempt: u32,
    /// The method of the JSON-RPC message; empty if there was none.
    pub operation: String,
}

/// What follows a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same request is sent again, signed anew.
    Again,
    /// It is refused for good, for this cause in words for the user.
    Stop(String),
}
