//! The errors of requests to a registry.

use std::time::Duration;

use domain::StoreError;

use crate::server_json::EntryError;

/// The error of a request to a registry. Safe to print, and without the value of a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The address can't be that of a registry.
    #[error("{address} can't be the address of a registry: {cause}")]
    Address {
        /// Address that the settings name.
        address: String,
        /// Cause of the address's rejection.
        cause: String,
    },
    /// The header can't be sent.
    #[error("the registry's header can't be sent: {cause}")]
    Header {
        /// Cause of the header's rejection.
        cause: String,
    },
    /// The requested name or version is invalid.
    #[error("{0}")]
    Question(EntryError),
    /// TLS can't be set up.
    #[error("no connection can be made on this system: {cause}")]
    Unavailable {
        /// Cause of the failed TLS setup.
        cause: String,
    },
    /// The registry doesn't answer, or the response was interrupted.
    #[error(
        "the registry {address} could not be reached: {cause}; check the network and the registry's address in the settings"
    )]
    Unreachable {
        /// Address of the registry.
        address: String,
        /// Cause of the failed connection or response.
        cause: String,
    },
    /// The registry exceeded the timeout.
    #[error("the registry {address} did not answer within {} s; try again later", .limit.as_secs_f32())]
    TooSlow {
        /// Address of the registry.
        address: String,
        /// Timeout that the registry exceeded.
        limit: Duration,
    },
    /// The response is larger than the limit.
    #[error(
        "an answer of the registry {address} is larger than {limit} bytes, which no registry needs; check its address"
    )]
    TooLarge {
        /// Address of the registry.
        address: String,
        /// Limit of the response's size, in bytes.
        limit: usize,
    },
    /// The registry redirects to another origin, or too often.
    #[error(
        "the registry {address} redirects {to}, which is not followed; if you trust it, set it as the registry's address"
    )]
    Redirect {
        /// Address of the registry.
        address: String,
        /// Target of the redirect: scheme, host and port, or a description.
        to: String,
    },
    /// The registry doesn't have the requested entry.
    #[error("the registry {address} does not have {what}; check the spelling, small and capital letters included")]
    NotFound {
        /// Address of the registry.
        address: String,
        /// Description of the entry.
        what: String,
    },
    /// The registry requires authentication.
    #[error("the registry {address} refuses access (status {status}); check the header for it in the settings")]
    Refused {
        /// Address of the registry.
        address: String,
        /// HTTP status of the response.
        status: u16,
    },
    /// The registry returned another status.
    #[error("the registry {address} failed (status {status}); try again later{}", .retry.as_deref().map(|after| format!(", in {after} s")).unwrap_or_default())]
    Failed {
        /// Address of the registry.
        address: String,
        /// HTTP status of the response.
        status: u16,
        /// Seconds after which to retry, from `Retry-After`.
        retry: Option<String>,
    },
    /// The registry returned a web page.
    #[error(
        "{address} answers with a web page; check that it is the address of a registry, and whether this network asks you to sign in"
    )]
    WebPage {
        /// Address of the registry.
        address: String,
    },
    /// The response contains the value of the header sent with the request. It is neither shown nor cached.
    #[error(
        "the registry {address} repeats the secret of its header in an answer, which is therefore not read; tell whoever runs it"
    )]
    RepeatsHeader {
        /// Address of the registry.
        address: String,
    },
    /// The response can't be parsed.
    #[error("a response of the registry {address} can't be used: {cause}; contact its operator")]
    Unusable {
        /// Address of the registry.
        address: String,
        /// Reason why the response is invalid.
        cause: EntryError,
    },
    /// The registry returned the cursor of an earlier page.
    #[error("the registry {address} returns the same page repeatedly; contact its operator")]
    SamePage {
        /// Address of the registry.
        address: String,
    },
    /// The cache can't be read or written.
    #[error("registry cache: {0}")]
    Cache(#[from] StoreError),
}

impl RegistryError {
    /// Returns true if a cached response may be used instead: the registry, or the connection to it, failed.
    pub(crate) const fn allows_cached_response(&self) -> bool {
        !matches!(self, Self::NotFound { .. } | Self::Address { .. } | Self::Header { .. } | Self::Question(_))
    }
}
