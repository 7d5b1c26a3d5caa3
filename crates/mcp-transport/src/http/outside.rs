//! Requests to others than the server, in its name: metadata, registration, tokens. No redirects, no private addresses that
//! the user did not name, all of it bounded.

use std::time::Duration;

use url::Origin;

/// Asks others than the server.
#[derive(Debug, Clone)]
pub struct OutsideClient {
    named: Vec<Origin>,
}

/// How much one answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutsideLimits {
    /// The most bytes of its body.
    pub bytes: usize,
    /// How long it may take in all.
    pub time: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutsideError {
    /// The address may not be asked.
    #[error("{cause}")]
    Refused {
        /// Why not, in words.
        cause: String,
    },
    /// No answer came.
    #[error("{cause}")]
    Unreachable {
        /// Why not, in words.
        cause: String,
    },
    /// The answer is beyond the bounds.
    #[error("{cause}")]
    TooMuch {
        /// Which, in words.
        cause: String,
    },
}

impl OutsideClient {
    /// The user named these origins: their hosts may lie on this computer or in the local network.
    pub fn guarded(named: Vec<Origin>) -> OutsideClient {
        OutsideClient { named }
    }

    /// Sends a request. Redirects are answers like others.
    ///
    /// # Errors
    ///
    /// If the address may not be asked, or no answer comes within the limits.
    pub async fn send(
        &self,
        request: http::Request<Vec<u8>>,
        limits: OutsideLimits,
    ) -> Result<http::Response<Vec<u8>>, OutsideError> {
        let cause = format!("{} can't be asked yet ({} named, {limits:?})", request.uri(), self.named.len());
        Err(OutsideError::Refused { cause })
    }
}
