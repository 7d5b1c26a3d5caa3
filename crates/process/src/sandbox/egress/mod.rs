//! Network access by host name: a sandboxed server connects to the hosts that its user named, through Drawbridge's
//! proxy, and has no other network access.
//!
//! The server has a network namespace with only a loopback interface. The proxy listens there, on a socket that is
//! opened from outside before the server's program runs, and connects in Drawbridge's network namespace. So there is no
//! route around the proxy, and no program of Drawbridge runs inside the sandbox.
//!
//! - [`hosts`]: patterns for hosts
//! - `resolve`: resolves names to addresses that may be connected to
//! - `proxy`: handles CONNECT and requests for `http` URLs
//! - `ledger`: aggregates connections and refusals for the server's activity log
//! - `environment`: the variables that direct programs to the proxy
//!
//! Only bubblewrap creates such a namespace. Under other mechanisms, `ResolvedSandbox::for_command` refuses named
//! hosts.

pub mod hosts;

#[cfg(target_os = "linux")]
mod byte_counting_stream;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod ledger;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod resolve;

#[cfg(target_os = "linux")]
pub(crate) use environment::{PROXY_PORT, set_proxy_variables};
#[cfg(target_os = "linux")]
pub(crate) use proxy::EgressProxy;

pub use hosts::{Destination, HostPattern, HostPatternError};

/// Maximum number of hosts that the settings of one server may permit.
pub const MAX_PERMITTED_HOSTS: usize = 100;

/// The access of a sandboxed server to the network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// No network access except the sandbox's own loopback interface.
    #[default]
    None,
    /// Access to these hosts through Drawbridge's proxy, in the order in which the user named them.
    Hosts(Vec<HostPattern>),
    /// Access to the computer's network, without a proxy.
    Full,
}

impl NetworkAccess {
    /// Returns a message that explains why the configured network access is invalid, or `None` if it is valid.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match self {
            NetworkAccess::Hosts(hosts) if hosts.is_empty() => {
                Some("no host is named; name at least one, or turn the network off".to_owned())
            }
            NetworkAccess::Hosts(hosts) if hosts.len() > MAX_PERMITTED_HOSTS => {
                Some(format!("at most {MAX_PERMITTED_HOSTS} hosts can be named"))
            }
            NetworkAccess::None | NetworkAccess::Hosts(_) | NetworkAccess::Full => None,
        }
    }
}
