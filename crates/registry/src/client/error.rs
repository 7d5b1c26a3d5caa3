//! The errors of requests to a registry.

use std::time::Duration;

use domain::StoreError;

use crate::server_json::EntryError;

/// Error of a request to a registry. Messages are escaped for display, and do not contain the value of a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The text is not a valid address of a registry.
    #[error("{address} can't be the address of a registry: {cause}")]
    Address {
        /// Address of the registry as the user entered it.
        address: String,
        /// Reason why the address of the registry is not allowed.
        cause: String,
    },
    /// The name or value of the header is not allowed in HTTP.
    #[error("the registry's header can't be sent: {cause}")]
    Header {
        /// Reason why the header's name or value is not allowed.
        cause: String,
    },
    /// The search text, server name or version is not valid, so no request was sent.
    #[error("{0}")]
    InvalidInput(EntryError),
    /// The HTTP client could not be created because TLS is unavailable.
    #[error("no connection can be made on this system: {cause}")]
    Unavailable {
        /// Message of the TLS library, which could not be initialized.
        cause: String,
    },
    /// The registry doesn't respond, or the connection failed before the whole response was received.
    #[error(
        "the registry {address} could not be reached: {cause}; check the network and the registry's address in the settings"
    )]
    Unreachable {
        /// Address of the registry that is unreachable.
        address: String,
        /// Message of the connection error, without the URL.
        cause: String,
    },
    /// The registry didn't respond before the timeout.
    #[error("the registry {address} did not respond within {} s; try again later", .limit.as_secs_f32())]
    TooSlow {
        /// Address of the registry whose response took too long.
        address: String,
        /// Timeout that the request exceeded.
        limit: Duration,
    },
    /// The response is larger than [`RegistryLimits::bytes`](super::RegistryLimits::bytes).
    #[error(
        "a response of the registry {address} is larger than {limit} bytes, the limit for registries; check its address"
    )]
    TooLarge {
        /// Address of the registry that sent the large response.
        address: String,
        /// Maximum size of the response in bytes.
        limit: usize,
    },
    /// The registry redirects to another origin, or too often. The redirect is not followed.
    #[error(
        "the registry {address} redirects {to}, which is not followed; if you trust it, set it as the registry's address"
    )]
    Redirect {
        /// Address of the registry that redirects.
        address: String,
        /// Target of the redirect: scheme, host and port, or a description.
        to: String,
    },
    /// The registry has no such server or version.
    #[error("the registry {address} does not have {what}; check the spelling, including upper and lower case")]
    NotFound {
        /// Address of the registry that lacks the server or version.
        address: String,
        /// Description of the server or version that was requested.
        what: String,
    },
    /// The registry requires authentication, or refuses the header that was sent.
    #[error("the registry {address} refuses access (status {status}); check the header for it in the settings")]
    Refused {
        /// Address of the registry that refused the request.
        address: String,
        /// HTTP status of the response, such as 401.
        status: u16,
    },
    /// The registry responded with an error status that no other variant covers.
    #[error("the registry {address} failed (status {status}); try again later{}", .retry.as_deref().map(|after| format!(", in {after} s")).unwrap_or_default())]
    Failed {
        /// Address of the registry that reported the error.
        address: String,
        /// HTTP status of the response, such as 503.
        status: u16,
        /// Value of the response's `Retry-After` header, in seconds, or `None` if it has none.
        retry: Option<String>,
    },
    /// The registry responded with a web page instead of JSON.
    #[error(
        "{address} answers with a web page; check that it is the address of a registry, and whether this network asks you to sign in"
    )]
    WebPage {
        /// Address of the server that sent the web page.
        address: String,
    },
    /// The response contains the secret value of the header that was sent. Such a response is neither displayed nor
    /// cached.
    #[error(
        "the registry {address} repeats the secret of its header in a response, which is therefore not read; inform its operator"
    )]
    RepeatsHeader {
        /// Address of the registry that repeated the secret value.
        address: String,
    },
    /// The response is not JSON of the expected form, or exceeds a limit.
    #[error("a response of the registry {address} can't be used: {cause}; contact its operator")]
    Unusable {
        /// Address of the registry that sent the invalid response.
        address: String,
        /// Reason why the response is invalid.
        cause: EntryError,
    },
    /// The registry returned the cursor of an earlier page, so its list would never end.
    #[error("the registry {address} returns the same page repeatedly; contact its operator")]
    RepeatedPage {
        /// Address of the registry that repeated the cursor.
        address: String,
    },
    /// The cache of the registry's responses can't be read or written.
    #[error("registry cache: {0}")]
    Cache(#[from] StoreError),
}

impl RegistryError {
    /// Returns `true` if a cached response may be used instead, because the registry or the connection to it failed.
    pub(crate) const fn allows_cached_response(&self) -> bool {
        !matches!(self, Self::NotFound { .. } | Self::Address { .. } | Self::Header { .. } | Self::InvalidInput(_))
    }
}
