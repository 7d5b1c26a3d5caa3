//! The network by host name: a server in a sandbox reaches the hosts that its user named, through a proxy of Drawbridge's own that is
//! the only way out.
//!
//! The server has a network namespace of its own with nothing but loopback in it. The proxy listens there, on a socket that is made
//! from outside before the server's program runs, and connects in Drawbridge's own network. So there is no route around it, and no
//! program of ours runs inside.
//!
//! - [`hosts`]: the patterns, and what they admit
//! - `resolve`: from a name to addresses that may be connected to
//! - `proxy`: CONNECT, and requests for `http` URLs
//! - `ledger`: what was connected to and refused, for the server's activity
//! - `environment`: the variables that lead programs to the proxy
//!
//! Only bubblewrap makes such a namespace, so nothing else holds a server to named hosts (`Plan::make` refuses it).

pub mod hosts;

#[cfg(target_os = "linux")]
mod counted;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod ledger;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod resolve;

#[cfg(target_os = "linux")]
pub(crate) use environment::{PORT, lead_to_proxy};
#[cfg(target_os = "linux")]
pub(crate) use proxy::Egress;

pub use hosts::{Destination, HostPattern, HostPatternError};

/// The most hosts of one server.
pub const MAX_HOSTS: usize = 100;

/// The network access of a sandboxed server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// No network but its own loopback.
    #[default]
    None,
    /// These hosts, through Drawbridge's proxy. In the order in which the user named them.
    Hosts(Vec<HostPattern>),
    /// The network of the computer, without a proxy.
    Full,
}

impl Network {
    /// Why it can't be used, in words; nothing if it can.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match self {
            Network::Hosts(hosts) if hosts.is_empty() => {
                Some("no host is named; name at least one, or turn the network off".to_owned())
            }
            Network::Hosts(hosts) if hosts.len() > MAX_HOSTS => Some(format!("at most {MAX_HOSTS} hosts can be named")),
            Network::None | Network::Hosts(_) | Network::Full => None,
        }
    }
}
