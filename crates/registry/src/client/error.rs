//! What goes wrong between here and a registry.

use std::time::Duration;

use domain::StoreError;

use crate::server_json::EntryError;

/// The reason why there is no answer of a registry. Safe to print, and without the value of a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// The address is none of a registry.
    #[error("{address} can't be the address of a registry: {cause}")]
    Address {
        /// The address.
        address: String,
        /// Why not.
        cause: String,
    },
    /// The header can't be sent.
    #[error("the registry's header can't be sent: {cause}")]
    Header {
        /// Why not.
        cause: String,
    },
    /// What is asked for can't be in a registry.
    #[error("{0}")]
    Question(EntryError),
    /// TLS can't be set up.
    #[error("no connection can be made on this system: {cause}")]
    Unavailable {
        /// Why not.
        cause: String,
    },
    /// Nobody answers, or the answer broke off.
    #[error(
        "the registry {address} could not be reached: {cause}; check the network and the registry's address in the settings"
    )]
    Unreachable {
        /// The registry.
        address: String,
        /// Why not.
        cause: String,
    },
    /// It took longer than the limit.
    #[error("the registry {address} did not answer within {} s; try again later", .limit.as_secs_f32())]
    TooSlow {
        /// The registry.
        address: String,
        /// The limit.
        limit: Duration,
    },
    /// The answer is larger than the limit.
    #[error(
        "an answer of the registry {address} is larger than {limit} bytes, which no registry needs; check its address"
    )]
    TooLarge {
        /// The registry.
        address: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The registry redirects elsewhere, or again and again.
    #[error(
        "the registry {address} redirects {to}, which is not followed; if you trust it, set it as the registry's address"
    )]
    Redirect {
        /// The registry.
        address: String,
        /// Where to: scheme, host and port, or in words.
        to: String,
    },
    /// It does not have what was asked for.
    #[error("the registry {address} does not have {what}; check the spelling, small and capital letters included")]
    NotFound {
        /// The registry.
        address: String,
        /// What was asked for.
        what: String,
    },
    /// It wants to know who asks.
    #[error("the registry {address} refuses access (status {status}); check the header for it in the settings")]
    Refused {
        /// The registry.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// It answers with another status.
    #[error("the registry {address} failed (status {status}); try again later{}", .retry.as_deref().map(|after| format!(", in {after} s")).unwrap_or_default())]
    Failed {
        /// The registry.
        address: String,
        /// The HTTP status.
        status: u16,
        /// The seconds after which it wants to be asked again.
        retry: Option<String>,
    },
    /// It answers with a web page.
    #[error(
        "{address} answers with a web page; check that it is the address of a registry, and whether this network asks you to sign in"
    )]
    WebPage {
        /// The registry.
        address: String,
    },
    /// The answer holds the value of the header that went with the request. It is neither shown nor kept.
    #[error(
        "the registry {address} repeats the secret of its header in an answer, which is therefore not read; tell whoever runs it"
    )]
    RepeatsHeader {
        /// The registry.
        address: String,
    },
    /// The answer can't be read.
    #[error("an answer of the registry {address} can't be used: {cause}; tell whoever runs it")]
    Unusable {
        /// The registry.
        address: String,
        /// Why not.
        cause: EntryError,
    },
    /// Its pages lead back to one that was there before.
    #[error("the registry {address} gives the same page again and again; tell whoever runs it")]
    SamePage {
        /// The registry.
        address: String,
    },
    /// What is kept of it can't be read or written.
    #[error("what is kept of the registry: {0}")]
    Cache(#[from] StoreError),
}

impl RegistryError {
    /// Whether what is kept may stand in for an answer: the registry, or the way to it, failed.
    pub(crate) const fn is_failure(&self) -> bool {
        !matches!(self, Self::NotFound { .. } | Self::Address { .. } | Self::Header { .. } | Self::Question(_))
    }
}
