//! Resolves the destination that a server requests to addresses that may be connected to. Addresses are checked after
//! the lookup, and only the checked addresses are connected to, so DNS rebinding has no effect.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use foreign::is_public;
use tokio::time::timeout;

use super::hosts::{Destination, DestinationHost, HostPattern};

/// Maximum duration of a DNS lookup.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of addresses of one name to which a connection is attempted.
const MAX_ATTEMPTED_ADDRESSES: usize = 8;

/// The reason why the proxy does not connect to a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConnectFault {
    /// None of the hosts that the server may contact permits the connection.
    Refused {
        /// Explanation of the refusal for the server and its user.
        cause: String,
        /// Host pattern that would permit the connection.
        add: HostPattern,
    },
    /// The connection is permitted but failed. Contains an explanation.
    Unreachable(String),
}

pub(super) type LookupFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;
/// A function that resolves a host name to IP addresses. Tests use another one than [`resolve_with_system`].
pub(super) type LookupFunction = fn(&str) -> LookupFuture<'_>;

/// Resolves a name with the operating system's resolver.
pub(super) fn resolve_with_system(name: &str) -> LookupFuture<'_> {
    Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) })
}

/// Resolves a destination, and returns those of its addresses to which these hosts permit connections.
///
/// # Errors
/// Returns [`ConnectFault::Refused`] if the destination or all its addresses are not permitted, and
/// [`ConnectFault::Unreachable`] if the lookup fails, times out or yields no address.
pub(super) async fn resolve_to_allowed_addresses(
    hosts: &[HostPattern],
    destination: &Destination,
    lookup: LookupFunction,
) -> Result<Vec<SocketAddr>, ConnectFault> {
    let port = destination.port;
    if !hosts.iter().any(|host| host.admits(destination)) {
        let cause = "it is not among the hosts that this server may reach".to_owned();
        return Err(ConnectFault::Refused { cause, add: destination.as_pattern() });
    }
    let name = match &destination.host {
        DestinationHost::Address(address) => return Ok(vec![(*address, port).into()]),
        // `localhost` always means the loopback addresses, so it is not looked up.
        DestinationHost::Name(_) if destination.is_localhost() => {
            let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            return Ok(loopback.map(|address| (address, port).into()).into());
        }
        DestinationHost::Name(name) => name,
    };
    let looked_up = timeout(LOOKUP_TIMEOUT, lookup(name)).await;
    let found = match looked_up {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Err(ConnectFault::Unreachable(format!("its name can't be looked up: {error}"))),
        Err(_) => return Err(ConnectFault::Unreachable("its name was not looked up in time".to_owned())),
    };
    allowed_addresses(hosts, destination, found)
}

/// Returns those addresses of a host name to which the server may connect.
fn allowed_addresses(
    hosts: &[HostPattern],
    destination: &Destination,
    found: Vec<IpAddr>,
) -> Result<Vec<SocketAddr>, ConnectFault> {
    let port = destination.port;
    let Some(first) = found.first().copied() else {
        return Err(ConnectFault::Unreachable("its name has no address".to_owned()));
    };
    let may =
        |address: &IpAddr| is_public(*address) || hosts.iter().any(|host| host.is_address_literal(*address, port));
    let admitted: Vec<SocketAddr> =
        found.into_iter().filter(may).take(MAX_ATTEMPTED_ADDRESSES).map(|address| (address, port).into()).collect();
    if !admitted.is_empty() {
        return Ok(admitted);
    }
    let literal = Destination { host: DestinationHost::Address(first.to_canonical()), port };
    let cause = format!(
        "its name leads to {}, on this computer or in a private network, where only addresses that are named themselves may be reached",
        first.to_canonical()
    );
    Err(ConnectFault::Refused { cause, add: literal.as_pattern() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse_hosts(patterns: &[&str]) -> Vec<HostPattern> {
        patterns.iter().map(|pattern| pattern.parse().unwrap()).collect()
    }

    fn resolved_addresses(patterns: &[&str], host: &str, addresses: &[&str]) -> Result<Vec<String>, ConnectFault> {
        let destination = Destination::new(host, 443).unwrap();
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        let judged = allowed_addresses(&parse_hosts(patterns), &destination, addresses)?;
        Ok(judged.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn s24_name_must_resolve_to_public_addresses() {
        let own =
            "127.0.0.1 10.0.0.1 192.168.1.1 169.254.169.254 100.64.0.1 ::1 fe80::1 fc00::1 ::ffff:127.0.0.1 0.0.0.0";
        for address in own.split(' ') {
            let refused = resolved_addresses(&["example.com"], "example.com", &[address]);
            let Err(ConnectFault::Refused { add, .. }) = refused else {
                panic!("S24: {address} must be refused: {refused:?}")
            };
            let add = add.to_string();
            let allowed = resolved_addresses(&["example.com", &add], "example.com", &[address]);
            assert!(allowed.is_ok(), "S24: {add} must admit {address}: {allowed:?}");
        }
        let mixed = resolved_addresses(&["example.com"], "example.com", &["10.0.0.1", "1.1.1.1"]);
        assert_eq!(mixed.unwrap(), ["1.1.1.1:443"], "only allowed addresses must be used");
    }

    #[test]
    fn s24_private_address_requires_a_pattern_with_its_port() {
        let refused = resolved_addresses(&["example.com", "10.0.0.1:8443"], "example.com", &["10.0.0.1"]);
        assert!(matches!(refused, Err(ConnectFault::Refused { .. })), "S24: another port must be refused: {refused:?}");
    }

    #[tokio::test]
    async fn s24_host_that_is_not_permitted_is_not_resolved() {
        let lookup: LookupFunction =
            |name| panic!("S24: {name} must not be looked up, which would disclose it to a name server");
        let other = Destination::new("secret-in-a-name.example", 443).unwrap();
        let refused = resolve_to_allowed_addresses(&parse_hosts(&["example.com"]), &other, lookup).await;
        assert!(matches!(refused, Err(ConnectFault::Refused { .. })), "S24: the name must be refused: {refused:?}");
        let local = Destination::new("localhost", 443).unwrap();
        let reached = resolve_to_allowed_addresses(&parse_hosts(&["localhost"]), &local, lookup).await.unwrap();
        assert!(
            reached.iter().all(|address| address.ip().is_loopback()),
            "S24: localhost must resolve to loopback: {reached:?}"
        );
    }
}
