//! Patterns for hosts that a sandboxed server may contact: `example.com`, `*.example.com`, `10.0.0.7`, each with an
//! optional port.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::Host;

/// Ports that a host pattern without a port permits.
const DEFAULT_WEB_PORTS: [u16; 2] = [443, 80];
/// Maximum length of a host pattern, in characters.
const MAX_HOST_PATTERN_CHARS: usize = 300;
/// The host name that always means the loopback interface.
#[cfg(target_os = "linux")]
const LOCALHOST: &str = "localhost";

/// An entry in the list of hosts that a server may contact. Host names are in ASCII form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    host: PatternHost,
    /// The only port that the pattern permits. `None` permits ports 443 and 80.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PatternHost {
    Name(String),
    /// All subdomains of this name, but not the name itself.
    Subdomains(String),
    Address(IpAddr),
}

/// Error of parsing a host pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostPatternError {
    /// The text of the pattern is empty or blank.
    #[error("a host is missing")]
    Empty,
    /// The text contains a scheme, a path or a user name.
    #[error("{0:?} is not a host; leave out everything before and after it, as in \"api.example.com\"")]
    NotAHost(String),
    /// The pattern contains a star that is not its whole first label, or that is directly below a top-level domain,
    /// where it would match too much.
    #[error("{0:?} is too broad or not valid; a star matches subdomains, as in \"*.example.com\"")]
    Wildcard(String),
    /// The port of the pattern is not a number from 1 to 65535.
    #[error("the port of {0:?} must be a number from 1 to 65535")]
    Port(String),
}

impl HostPattern {
    /// Returns `true` if the pattern permits a connection to this host and port.
    pub fn admits(&self, destination: &Destination) -> bool {
        let host = match (&self.host, &destination.host) {
            (PatternHost::Name(name), DestinationHost::Name(requested)) => name == requested,
            (PatternHost::Subdomains(parent), DestinationHost::Name(requested)) => {
                requested.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
            }
            (PatternHost::Address(address), DestinationHost::Address(requested)) => address == requested,
            _ => false,
        };
        host && self.admits_port(destination.port)
    }

    /// Returns `true` if the pattern consists of exactly this IP address and permits this port.
    #[cfg(target_os = "linux")]
    pub(super) fn is_address_literal(&self, address: IpAddr, port: u16) -> bool {
        self.host == PatternHost::Address(address.to_canonical()) && self.admits_port(port)
    }

    /// Returns `true` if the pattern is `localhost` or an IP address of the loopback interface.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_loopback(&self) -> bool {
        match &self.host {
            PatternHost::Name(name) => name == LOCALHOST,
            PatternHost::Address(address) => address.is_loopback(),
            PatternHost::Subdomains(_) => false,
        }
    }

    fn admits_port(&self, port: u16) -> bool {
        self.port.map_or_else(|| DEFAULT_WEB_PORTS.contains(&port), |only| only == port)
    }
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err(HostPatternError::Empty);
        }
        let not_a_host = || HostPatternError::NotAHost(text.chars().take(MAX_HOST_PATTERN_CHARS).collect());
        let is_foreign = |character: char| character.is_whitespace() || "/@?#\\%".contains(character);
        if text.chars().count() > MAX_HOST_PATTERN_CHARS || text.contains(is_foreign) {
            return Err(not_a_host());
        }
        // An IPv6 address without brackets has no port.
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(HostPattern { host: PatternHost::Address(address.to_canonical()), port: None });
        }
        let (host, port) = split_port(text).ok_or_else(|| HostPatternError::Port(text.to_owned()))?;
        let host = match host.strip_prefix("*.") {
            Some(parent) if parent.contains('*') => return Err(HostPatternError::Wildcard(text.to_owned())),
            Some(parent) => match normalize_host(parent).ok_or_else(not_a_host)? {
                // A star directly below a top-level domain would match nearly everything.
                DestinationHost::Name(parent) if parent.contains('.') => PatternHost::Subdomains(parent),
                _ => return Err(HostPatternError::Wildcard(text.to_owned())),
            },
            None if host.contains('*') => return Err(HostPatternError::Wildcard(text.to_owned())),
            None => match normalize_host(host).ok_or_else(not_a_host)? {
                DestinationHost::Name(name) => PatternHost::Name(name),
                DestinationHost::Address(address) => PatternHost::Address(address),
            },
        };
        Ok(HostPattern { host, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            PatternHost::Name(name) => f.write_str(name)?,
            PatternHost::Subdomains(parent) => write!(f, "*.{parent}")?,
            PatternHost::Address(address) => write_address(f, *address)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Host and port to which a server requests a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    pub(super) host: DestinationHost,
    pub(super) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum DestinationHost {
    /// Host name in ASCII form, without a trailing dot.
    Name(String),
    Address(IpAddr),
}

impl Destination {
    /// Creates a destination from a host in the form in which a client of the proxy sends it, such as `example.com` or
    /// `[::1]`. Returns `None` if the text is not a host.
    pub fn new(host: &str, port: u16) -> Option<Destination> {
        if host.len() > MAX_HOST_PATTERN_CHARS {
            return None;
        }
        Some(Destination { host: normalize_host(host)?, port })
    }

    /// Returns `true` if the destination is the name `localhost`.
    #[cfg(target_os = "linux")]
    pub(super) fn is_localhost(&self) -> bool {
        matches!(&self.host, DestinationHost::Name(name) if name == LOCALHOST)
    }

    /// Returns a pattern that permits this destination. For the ports 443 and 80, the pattern contains no port and
    /// permits both.
    #[cfg(target_os = "linux")]
    pub(super) fn as_pattern(&self) -> HostPattern {
        let host = match &self.host {
            DestinationHost::Name(name) => PatternHost::Name(name.clone()),
            DestinationHost::Address(address) => PatternHost::Address(*address),
        };
        HostPattern { host, port: (!DEFAULT_WEB_PORTS.contains(&self.port)).then_some(self.port) }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            DestinationHost::Name(name) => f.write_str(name)?,
            DestinationHost::Address(address) => write_address(f, *address)?,
        }
        write!(f, ":{}", self.port)
    }
}

fn write_address(f: &mut fmt::Formatter<'_>, address: IpAddr) -> fmt::Result {
    match address {
        IpAddr::V4(address) => write!(f, "{address}"),
        IpAddr::V6(address) => write!(f, "[{address}]"),
    }
}

/// Splits a host pattern into host and optional port. Returns `None` if the port is invalid.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let Some((host, port)) = text.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) else {
        return Some((text, None));
    };
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse::<u16>().ok().filter(|port| is_number && *port != 0)?;
    Some((host, Some(port)))
}

/// Parses a host in the same way as in URLs: applies IDNA, and converts numbers in any notation to an address.
fn normalize_host(host: &str) -> Option<DestinationHost> {
    match Host::parse(host).ok()? {
        Host::Domain(name) => {
            // A trailing dot, which stands for the DNS root, does not change the name.
            let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
            let is_name = !name.is_empty() && !name.contains('*') && !name.split('.').any(str::is_empty);
            is_name.then_some(DestinationHost::Name(name))
        }
        Host::Ipv4(address) => Some(DestinationHost::Address(address.into())),
        Host::Ipv6(address) => Some(DestinationHost::Address(IpAddr::from(address).to_canonical())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn admits(pattern: &str, host: &str, port: u16) -> bool {
        let pattern: HostPattern = pattern.parse().unwrap();
        Destination::new(host, port).is_some_and(|destination| pattern.admits(&destination))
    }

    #[test]
    fn s24_host_pattern_matches_all_spellings_of_its_name_only() {
        for host in ["api.example.com", "API.Example.COM", "api.example.com.", "ａｐｉ.example.com"] {
            assert!(admits("api.example.com", host, 443), "{host} must match the named host");
        }
        let others =
            ["example.com", "xapi.example.com", "x.api.example.com", "api.example.com.evil.net", "api.example.org"];
        for host in others.into_iter().chain(["api.example.com..", "", "api.example.com%2eevil.net", "1.1.1.1"]) {
            assert!(!admits("api.example.com", host, 443), "{host} must not match the named host");
        }
        assert!(admits("bücher.example", "xn--bcher-kva.example", 443), "IDNA must be applied to the pattern");
        assert!(admits("xn--bcher-kva.example", "BÜCHER.example", 443), "IDNA must be applied to the destination");
    }

    #[test]
    fn s24_wildcard_host_pattern_matches_subdomains_only() {
        for host in ["a.example.com", "a.b.example.com", "A.EXAMPLE.com."] {
            assert!(admits("*.example.com", host, 443), "{host} must match as a subdomain");
        }
        for host in ["example.com", "aexample.com", ".example.com", "example.com.evil.net"] {
            assert!(!admits("*.example.com", host, 443), "{host} must not match as a subdomain");
        }
    }

    #[test]
    fn s24_pattern_admits_its_port_only_or_else_the_web_ports() {
        assert!(admits("example.com", "example.com", 443) && admits("example.com", "example.com", 80));
        assert!(!admits("example.com", "example.com", 22), "other ports must be named explicitly");
        assert!(admits("example.com:8443", "example.com", 8443));
        assert!(!admits("example.com:8443", "example.com", 443), "a named port must exclude the default ports");
        assert!(admits("[2606:4700::1111]:853", "[2606:4700::1111]", 853));
    }

    #[test]
    fn s24_address_in_any_notation_requires_its_own_pattern() {
        for host in
            ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"]
        {
            assert!(admits("127.0.0.1:3000", host, 3000), "{host} must be parsed as 127.0.0.1");
            assert!(!admits("localhost:3000", host, 3000), "{host} must not match the name localhost");
            assert!(!admits("*.0.0.1.example", host, 3000), "{host} must not match a pattern of names");
        }
        assert!(admits("::1", "[::1]", 80), "an IPv6 address must be accepted without brackets");
    }

    #[test]
    fn pattern_round_trips_through_its_display() {
        let shown = [
            ("API.example.com", "api.example.com"),
            ("*.Example.com:8080", "*.example.com:8080"),
            ("::1", "[::1]"),
            ("[::1]:80", "[::1]:80"),
            ("0x7f.1:9", "127.0.0.1:9"),
            ("bücher.example.", "xn--bcher-kva.example"),
            (" localhost:3000 ", "localhost:3000"),
        ];
        for (text, expected) in shown {
            let pattern: HostPattern = text.parse().unwrap();
            assert_eq!(pattern.to_string(), expected, "{text} must be displayed in its normal form");
            assert_eq!(
                expected.parse::<HostPattern>().unwrap(),
                pattern,
                "{expected} must be parsed as the same pattern"
            );
        }
    }

    #[test]
    fn invalid_host_pattern_is_rejected_with_a_reason() {
        for wide in ["*", "*.com", "*.*.example.com", "a*.example.com", "*.10.0.0.1", "**.example.com", "*example.com"]
        {
            assert!(
                matches!(wide.parse::<HostPattern>(), Err(HostPatternError::Wildcard(_))),
                "the wildcard of {wide} must be refused"
            );
        }
        let foreign =
            ["https://example.com", "example.com/", "user@example.com", "a b", "a%2eb", "exa_mple..com", "[::1"];
        for text in foreign.into_iter().chain(["a\\b", "example.com?x", "1.2.3.4.5"]) {
            assert!(text.parse::<HostPattern>().is_err(), "{text} must be refused");
        }
        for port in ["example.com:", "example.com:0", "example.com:65536", "example.com:+80", "example.com:http"] {
            assert!(
                matches!(port.parse::<HostPattern>(), Err(HostPatternError::Port(_))),
                "the port of {port} must be refused"
            );
        }
        assert_eq!("  ".parse::<HostPattern>(), Err(HostPatternError::Empty));
    }
}
