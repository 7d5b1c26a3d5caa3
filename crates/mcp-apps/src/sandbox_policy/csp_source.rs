//! Parses a declared domain into an origin that can be written into a Content Security Policy.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use super::CspSourceUse;

/// A parsed entry of the domain lists that an app page declares in `_meta.ui.csp`, used as a source in the Content
/// Security Policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CspSource {
    /// One origin, or the origins of all subdomains of a host.
    Origin(CspSourceOrigin),
    /// Every host, which an app page declares as `*`. The policy contains it without unencrypted schemes.
    EveryHost,
}

/// Parsed origin, which `Display` formats for a Content Security Policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CspSourceOrigin {
    scheme: &'static str,
    /// Set if the origin stands for all subdomains of the host, without the host itself.
    all_subdomains: bool,
    /// Domain in ASCII and lower case, or IPv4 address.
    host: String,
    /// Port, or `None` for the default port of the scheme.
    port: Option<u16>,
    reach: CspSourceReach,
}

/// Kind of computers that a source can reach, which determines the grant that the source needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppSourceReach"))]
#[serde(rename_all = "snake_case")]
pub enum CspSourceReach {
    /// A named host or public address in the internet.
    Internet,
    /// An address or name that only a private network has. A public name may also resolve to such an address.
    PrivateNetwork,
    /// The computer that the host runs on.
    Loopback,
    /// Every host, in the internet, private networks and on this computer.
    EveryHost,
}

/// Reason why a declared domain is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DeclaredDomainProblem {
    /// The text contains white space, or a character that separates parts of a policy.
    #[error("contains a character that an origin can't have")]
    ForbiddenCharacter,
    /// The text is not an absolute URL with a scheme and a host.
    #[error("is not an origin such as https://example.com")]
    NotAnOrigin,
    /// The scheme is not allowed for this use. `http` and `ws` are allowed for this computer only.
    #[error("has a scheme that is not allowed here")]
    Scheme,
    /// The text has a path, query, fragment or user name.
    #[error("has more than scheme, host and port")]
    MoreThanOrigin,
    /// The host has an asterisk other than one that stands for all subdomains of a domain with at least two labels.
    #[error("has an asterisk where none is allowed")]
    Asterisk,
    /// The host is an IPv6 address, which a policy can't express.
    #[error("is an IPv6 address, which a Content Security Policy can't express")]
    Ipv6,
    /// The host is reserved: a name below `localhost`, which the app itself uses on some systems.
    #[error("is reserved for the host of the app")]
    ReservedHost,
    /// The source is valid, but the user or the host did not grant it.
    #[error("was not granted")]
    NotGranted,
}

impl CspSource {
    /// Parses a domain that an app page declares for one use.
    ///
    /// # Errors
    ///
    /// Returns [`DeclaredDomainProblem`] with the reason why the text is not an origin that a page may use.
    pub fn parse(text: &str, used_as: CspSourceUse) -> Result<Self, DeclaredDomainProblem> {
        if text == "*" {
            return Ok(Self::EveryHost);
        }
        let is_allowed = |c: char| {
            c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '/' | '*' | '[' | ']' | '@' | '?' | '#' | '%')
        };
        if !text.chars().all(is_allowed) {
            return Err(DeclaredDomainProblem::ForbiddenCharacter);
        }
        let (scheme, rest) = text.split_once("://").ok_or(DeclaredDomainProblem::NotAnOrigin)?;
        let base = rest.strip_prefix("*.");
        if base.unwrap_or(rest).contains('*') {
            return Err(DeclaredDomainProblem::Asterisk);
        }
        let url = Url::parse(&format!("{scheme}://{}", base.unwrap_or(rest)))
            .map_err(|_| DeclaredDomainProblem::NotAnOrigin)?;
        CspSourceOrigin::from_url(&url, base.is_some(), used_as).map(Self::Origin)
    }

    /// Returns the computers that the source can reach.
    #[must_use]
    pub const fn reach(&self) -> CspSourceReach {
        match self {
            Self::Origin(origin) => origin.reach,
            Self::EveryHost => CspSourceReach::EveryHost,
        }
    }
}

impl fmt::Display for CspSource {
    /// Formats the source in the form in which pages declare it and the host reports it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(origin) => origin.fmt(f),
            Self::EveryHost => f.write_str("*"),
        }
    }
}

impl CspSourceOrigin {
    fn from_url(url: &Url, all_subdomains: bool, used_as: CspSourceUse) -> Result<Self, DeclaredDomainProblem> {
        let scheme = ["https", "wss", "http", "ws"].into_iter().find(|scheme| *scheme == url.scheme());
        let scheme = scheme.ok_or(DeclaredDomainProblem::Scheme)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if has_user || url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(DeclaredDomainProblem::MoreThanOrigin);
        }
        let (host, reach) = match url.host().ok_or(DeclaredDomainProblem::NotAnOrigin)? {
            Host::Domain(domain) => (domain.to_owned(), classify_domain_reach(domain, all_subdomains)?),
            Host::Ipv4(_) if all_subdomains => return Err(DeclaredDomainProblem::Asterisk),
            Host::Ipv4(address) if address.is_unspecified() => return Err(DeclaredDomainProblem::ReservedHost),
            Host::Ipv4(address) if address.is_loopback() => (address.to_string(), CspSourceReach::Loopback),
            Host::Ipv4(address) if foreign::is_public(address.into()) => {
                (address.to_string(), CspSourceReach::Internet)
            }
            Host::Ipv4(address) => (address.to_string(), CspSourceReach::PrivateNetwork),
            Host::Ipv6(_) => return Err(DeclaredDomainProblem::Ipv6),
        };
        let is_encrypted = matches!(scheme, "https" | "wss");
        let is_socket = matches!(scheme, "wss" | "ws");
        if (is_socket && used_as != CspSourceUse::Connect) || (!is_encrypted && reach != CspSourceReach::Loopback) {
            return Err(DeclaredDomainProblem::Scheme);
        }
        Ok(Self { scheme, all_subdomains, host, port: url.port(), reach })
    }
}

/// Checks the characters of a domain, and returns the computers that it can reach.
fn classify_domain_reach(domain: &str, all_subdomains: bool) -> Result<CspSourceReach, DeclaredDomainProblem> {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
    };
    if !domain.split('.').all(is_label) {
        return Err(DeclaredDomainProblem::ForbiddenCharacter);
    }
    let last = domain.rsplit('.').next().unwrap_or_default();
    // Tauri serves its page and its IPC at names such as `ipc.localhost` on Windows.
    if last == "localhost" && (domain != last || all_subdomains) {
        return Err(DeclaredDomainProblem::ReservedHost);
    }
    if all_subdomains && domain == last {
        return Err(DeclaredDomainProblem::Asterisk);
    }
    Ok(match last {
        "localhost" => CspSourceReach::Loopback,
        "local" | "internal" | "lan" | "home" | "intranet" | "corp" => CspSourceReach::PrivateNetwork,
        _ if domain == last || domain.ends_with(".home.arpa") => CspSourceReach::PrivateNetwork,
        _ => CspSourceReach::Internet,
    })
}

impl fmt::Display for CspSourceOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asterisk = if self.all_subdomains { "*." } else { "" };
        write!(f, "{}://{asterisk}{}", self.scheme, self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}
