//! Classifies IP addresses as public or special-purpose, by the IANA registries of special-purpose addresses, and hosts
//! of URLs as loopback.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Host;

/// Returns `true` if an address is globally reachable on the public internet.
///
/// # Examples
///
/// Refuses to connect to a name that resolves to an address of the local network:
///
/// ```
/// use std::net::IpAddr;
///
/// use foreign::is_public;
///
/// let resolved: [IpAddr; 2] = ["93.184.215.14".parse()?, "::ffff:169.254.169.254".parse()?];
/// assert!(is_public(resolved[0]));
/// assert!(!is_public(resolved[1]), "an IPv4 address inside an IPv6 address counts as well");
/// assert!(!resolved.into_iter().all(is_public));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns `true` if a host of a URL is a loopback address, or a name that always means one (RFC 6761), without
/// resolving the name.
///
/// A name with a final dot and an IPv4-mapped address do not count: a resolver may look up `localhost.` at a name
/// server. Callers for which they should count convert the host before.
///
/// # Examples
///
/// ```
/// use foreign::is_loopback;
/// use url::{Host, Url};
///
/// let url = Url::parse("http://localhost:8080/mcp")?;
/// assert!(url.host().is_some_and(|host| is_loopback(&host)));
/// assert!(!is_loopback(&Host::Domain("localhost.example")));
/// # Ok::<(), url::ParseError>(())
/// ```
#[must_use]
pub fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_documentation()
        // "This network", multicast, and the reserved range above it, including broadcast.
        || a == 0
        || a >= 224
        // Carrier-grade NAT (RFC 6598).
        || (a == 100 && (64..128).contains(&b))
        // Protocol assignments, 6to4 relay anycast, benchmarking.
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(embedded) = embedded_ipv4(address) {
        return is_public_v4(embedded);
    }
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is allocated. Special ranges in it: protocol assignments with Teredo, documentation (two), 6to4.
    let is_special = match a {
        0x2001 => b < 0x0200 || b == 0x0db8,
        0x2002 => true,
        0x3fff => b < 0x1000,
        _ => false,
    };
    (a & 0xe000) == 0x2000 && !is_special
}

/// Returns the IPv4 address that an IPv4-mapped IPv6 address or an address with the NAT64 well-known prefix contains,
/// or `None` for any other address. IPv6-only networks reach IPv4 through that prefix.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return Some(mapped);
    }
    let [a, b, c, d, e, f, ..] = address.segments();
    let [.., w, x, y, z] = address.octets();
    ([a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0]).then(|| Ipv4Addr::new(w, x, y, z))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn host_is_loopback_only_if_no_dns_lookup_is_needed() {
        for host in ["localhost", "app.localhost", "127.0.0.1", "127.8.9.1", "[::1]"] {
            let host = Host::parse(host).unwrap();
            assert!(is_loopback(&borrowed_host(&host)), "{host} must be loopback");
        }
        for host in ["localhost.", "localhost.example", "notlocalhost", "0.0.0.0", "10.0.0.1", "[::ffff:127.0.0.1]"] {
            let host = Host::parse(host).unwrap();
            assert!(!is_loopback(&borrowed_host(&host)), "{host} must not be loopback");
        }
    }

    fn borrowed_host(host: &Host<String>) -> Host<&str> {
        match host {
            Host::Domain(name) => Host::Domain(name),
            Host::Ipv4(address) => Host::Ipv4(*address),
            Host::Ipv6(address) => Host::Ipv6(*address),
        }
    }

    #[test]
    fn address_is_public_only_if_globally_reachable() {
        let public =
            ["1.1.1.1", "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111"];
        for address in public.into_iter().chain(["2a00:1450::1", "64:ff9b::808:808", "::ffff:8.8.8.8"]) {
            assert!(is_public(address.parse().unwrap()), "{address} must be public");
        }
        let own = "
            0.0.0.0 0.1.2.3 127.0.0.1 127.255.0.9 10.0.0.1 172.16.0.1 172.31.255.1 192.168.1.1
            169.254.169.254 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.19.1.1
            198.51.100.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 192.88.99.1 :: ::1
            ::127.0.0.1 ::8.8.8.8 ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254
            64:ff9b::a00:1 64:ff9b::7f00:1 64:ff9b:1::1 fe80::1 fec0::1 fc00::1 fd12::1 ff02::1
            2001::1 2001:0:a00:1::1 2001:db8::1 2002:a00:1::1 2002:7f00:1::1 3fff::1 100::1 4000::1
            fd00:ec2::254
        ";
        for address in own.split_whitespace() {
            assert!(!is_public(address.parse().unwrap()), "X47: {address} must not count as public");
        }
    }
}
