//! Validation of URLs from metadata before a request is sent to them or a browser opens them.
//!
//! Host names that resolve to private addresses are rejected on connection by the [`UntrustedUrlClient`].
//!
//! [`UntrustedUrlClient`]: mcp_transport::http::UntrustedUrlClient

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use foreign::escape_invisible;
use url::{Host, Url};

use crate::error::AuthErrorCause;

/// Maximum number of displayed characters of an untrusted URL.
const MAX_DISPLAYED_URL_CHARS: usize = 200;
/// Maximum length in bytes of a URL from metadata or a challenge.
const MAX_METADATA_URL_BYTES: usize = 4096;

/// URLs that the user entered for one server: the URL of the server itself, and those of configured issuers.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserEnteredUrls(Vec<Url>);

impl UserEnteredUrls {
    pub(crate) fn new<'a>(urls: impl Iterator<Item = &'a Url>) -> UserEnteredUrls {
        UserEnteredUrls(urls.cloned().collect())
    }

    /// Returns `true` if the user entered a URL with this host. The port may differ.
    fn contains_host_of(&self, url: &Url) -> bool {
        url.host().is_some_and(|host| self.0.iter().any(|named| named.host().as_ref() == Some(&host)))
    }

    fn contains_origin_of(&self, url: &Url) -> bool {
        self.0.iter().any(|named| named.origin() == url.origin())
    }
}

/// Parses and validates the URL of an endpoint: `https`, or `http` with a loopback host that the user entered.
///
/// # Errors
/// Returns [`AuthErrorCause::UnsafeUrl`] if the URL is not allowed.
pub(crate) fn parse_endpoint_url(
    what: &'static str,
    text: &str,
    named: &UserEnteredUrls,
) -> Result<Url, AuthErrorCause> {
    check_endpoint_url(text, named).map_err(|cause| AuthErrorCause::UnsafeUrl {
        what,
        shown: displayed_text(text),
        cause: cause.to_owned(),
    })
}

/// Validates a URL from the metadata or challenge of `owner`, as [`parse_endpoint_url`] does, and also its port.
///
/// Another port of a host that the user entered is another service, often one in a private network that trusts every
/// client that can connect. Such a URL is allowed only if the user entered that port, or if `owner` has the same
/// origin.
///
/// # Errors
/// Returns [`AuthErrorCause::UnsafeUrl`] if the URL is not allowed.
pub(crate) fn parse_endpoint_url_from_metadata(
    what: &'static str,
    text: &str,
    owner: &Url,
    named: &UserEnteredUrls,
) -> Result<Url, AuthErrorCause> {
    let url = parse_endpoint_url(what, text, named)?;
    if named.contains_host_of(&url) && !named.contains_origin_of(&url) && url.origin() != owner.origin() {
        let cause = "it leads to another service on a host that you named; enter it as the issuer if you trust it";
        return Err(AuthErrorCause::UnsafeUrl { what, shown: displayed_text(text), cause: cause.to_owned() });
    }
    Ok(url)
}

/// Parses and validates a URL that a browser opens. The system passes it through other programs, so characters with a
/// meaning in shells are refused as well.
///
/// # Errors
/// Returns [`AuthErrorCause::UnsafeUrl`] if the URL is not allowed.
pub(crate) fn parse_browser_url(
    what: &'static str,
    text: &str,
    named: &UserEnteredUrls,
) -> Result<Url, AuthErrorCause> {
    let refuse = |cause: &str| AuthErrorCause::UnsafeUrl { what, shown: displayed_text(text), cause: cause.to_owned() };
    let is_strange = |character: char| !character.is_ascii_graphic() || "\"'`<>\\^{|}$();!*".contains(character);
    if text.contains(is_strange) {
        return Err(refuse("it contains characters that are not allowed"));
    }
    let url = check_endpoint_url(text, named).map_err(refuse)?;
    let is_private_address = match url.host() {
        Some(Host::Ipv4(address)) => is_private_address(address.into()),
        Some(Host::Ipv6(address)) => is_private_address(address.into()),
        Some(Host::Domain(name)) => is_local_host_name(name),
        None => true,
    };
    if is_private_address && !named.contains_host_of(&url) {
        return Err(refuse("it leads into a private network that you did not name"));
    }
    Ok(url)
}

fn check_endpoint_url(text: &str, named: &UserEnteredUrls) -> Result<Url, &'static str> {
    if text.len() > MAX_METADATA_URL_BYTES {
        return Err("it is too long");
    }
    if text.contains(|character: char| character.is_control() || character.is_whitespace()) || text.contains('\\') {
        return Err("it contains characters that are not allowed");
    }
    let url = Url::parse(text).map_err(|_| "it is not a complete address")?;
    // Internationalized names and paths are longer in their encoded form.
    if url.as_str().len() > MAX_METADATA_URL_BYTES {
        return Err("it is too long");
    }
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&url) && named.contains_host_of(&url) => {}
        "http" => return Err("it is not encrypted (https)"),
        _ => return Err("it is not https"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it contains a user name");
    }
    if url.fragment().is_some() {
        return Err("it contains a fragment");
    }
    if url.host().is_none() {
        return Err("it has no host");
    }
    Ok(url)
}

/// Returns `true` if two URLs have the same registrable domain or the same origin, and so probably belong to the same
/// operator.
pub(crate) fn is_same_site(one: &Url, other: &Url) -> bool {
    let domain = |url: &Url| match url.host() {
        Some(Host::Domain(name)) if url.scheme() == "https" => psl::domain_str(name).map(str::to_owned),
        _ => None,
    };
    one.origin() == other.origin() || domain(one).is_some_and(|own| domain(other) == Some(own))
}

/// Returns `true` if the host is a loopback address or a name that means one, also with final dots, without resolving
/// the name. The redirect listener always has the address 127.0.0.1 (RFC 8252), which is not judged here.
pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host().is_some_and(|host| match host {
        Host::Domain(name) => is_local_host_name(name),
        Host::Ipv4(_) | Host::Ipv6(_) => foreign::is_loopback(&host),
    })
}

fn is_local_host_name(name: &str) -> bool {
    foreign::is_loopback(&Host::Domain(name.trim_end_matches('.')))
}

/// Returns `true` for addresses into which a browser must not be led without the user. Unlike [`foreign::is_public`],
/// ranges for documentation, benchmarks and multicast do not count, which lead to no computer of the user.
fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => {
            let first = address.segments()[0];
            address.is_loopback()
                || address.is_unspecified()
                || (first & 0xfe00) == 0xfc00
                || (first & 0xffc0) == 0xfe80
                || embedded_ipv4(address).is_some_and(is_private_v4)
        }
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_unspecified()
        || address.is_broadcast()
        || first == 0
        || (first == 100 && (64..128).contains(&second))
}

/// Returns the IPv4 address inside an IPv4-mapped, IPv4-compatible or NAT64 address, or `None` for any other address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let is_nat64 = address.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let last = address.octets();
    address.to_ipv4().or_else(|| is_nat64.then(|| Ipv4Addr::new(last[12], last[13], last[14], last[15])))
}

/// Formats a URL for messages: escaped, truncated and without its query.
pub(crate) fn displayed_url(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    displayed_text(url.as_str())
}

/// Formats untrusted text for messages, on a single line. Tabs, which URL parsers ignore, are shown as `\t`.
pub(crate) fn displayed_text(text: &str) -> String {
    let text: String = text.chars().take(MAX_DISPLAYED_URL_CHARS * 2).collect();
    escape_invisible(text.trim_end()).replace('\t', "\\t").chars().take(MAX_DISPLAYED_URL_CHARS).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn user_entered_test_urls() -> UserEnteredUrls {
        UserEnteredUrls::new([Url::parse("http://localhost:4000/mcp").unwrap()].iter())
    }

    #[test]
    fn untrusted_text_is_displayed_on_one_line() {
        assert_eq!(displayed_text("h\ttps://a.example/\n\t"), "h\\ttps://a.example/", "tabs must be escaped");
        assert_eq!(displayed_text("a\nb"), "a\\x0ab", "line ends must be escaped");
    }

    #[test]
    fn encoded_length_of_a_url_is_bounded() {
        let within = format!("https://a.example/{}", "a".repeat(MAX_METADATA_URL_BYTES - 18));
        assert!(
            parse_endpoint_url("a test", &within, &user_entered_test_urls()).is_ok(),
            "{MAX_METADATA_URL_BYTES} bytes must be allowed"
        );
        assert!(
            parse_endpoint_url("a test", &format!("{within}a"), &user_entered_test_urls()).is_err(),
            "one more byte must be rejected"
        );
        let grows = format!("https://a.example/{}", "é".repeat(MAX_METADATA_URL_BYTES / 4));
        assert!(
            parse_endpoint_url("a test", &grows, &user_entered_test_urls()).is_err(),
            "the encoded length must count"
        );
    }

    #[test]
    fn only_https_and_user_entered_loopback_urls_are_allowed() {
        for good in ["https://a.example/token", "https://a.example:8443/t?x=1", "http://localhost:5000/token"] {
            assert!(
                parse_endpoint_url("a test", good, &user_entered_test_urls()).is_ok(),
                "[auth-https-endpoints] {good} must be allowed"
            );
        }
        for bad in [
            "http://a.example/token",
            "http://127.0.0.1/token",
            "http://localhost.evil.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user@a.example/",
            "https://a.example/#x",
            "/token",
            "",
            "https://a.example/a b",
        ] {
            let refused = parse_endpoint_url("a test", bad, &user_entered_test_urls());
            assert!(refused.is_err(), "[auth-https-endpoints] [auth-communication-security] {bad} must be rejected");
        }
    }

    #[test]
    fn s07_same_site_is_one_registrable_domain() {
        for (one, other, is_same) in [
            ("https://a.example", "https://a.example/token", true),
            ("https://login.a.example", "https://token.a.example:8443/t", true),
            ("https://a.example", "https://b.example/token", false),
            ("https://one.github.io", "https://two.github.io/token", false),
            ("https://a.example", "http://a.example/token", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2/token", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:1/token", true),
            ("http://localhost:1", "http://127.0.0.1:1/token", false),
        ] {
            let [one, other] = [one, other].map(|text| Url::parse(text).unwrap());
            assert_eq!(is_same_site(&one, &other), is_same, "S07: {one} and {other}");
        }
    }

    #[test]
    fn unsafe_urls_are_not_opened_in_a_browser() {
        // X43.
        for bad in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "http://user$(touch x)@127.0.0.1/",
            "http://user$(touch${IFS}x)@127.0.0.1/",
            "https://a/\"&calc&\"",
            "https://a/'&calc&'",
            "\\\\host\\share",
            "https:\\\\a.example\\x",
            "ms-msdt:/id",
            "-https://a.example",
            "--help",
            "https://a.example/\nx",
            "https://a.example/`id`",
            "https://a.example/$(id)",
            "vscode://x",
            "https://[::1]/",
            "https://192.168.1.1/admin",
            "https://[::ffff:10.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "https://0x7f.1/",
            "https://localhost./",
        ] {
            let refused = parse_browser_url("a test", bad, &UserEnteredUrls::default());
            let Err(AuthErrorCause::UnsafeUrl { shown, .. }) = refused else {
                panic!("X43: {bad} must not be opened: {refused:?}");
            };
            assert!(!shown.contains('\n'), "X43: the URL must be shown on one line: {shown:?}");
        }
        assert!(
            parse_browser_url("a test", "https://a.example/authorize?x=1", &user_entered_test_urls()).is_ok(),
            "an ordinary URL must be allowed"
        );
        assert!(
            parse_browser_url("a test", "http://localhost:5000/authorize", &user_entered_test_urls()).is_ok(),
            "a loopback URL entered by the user must be allowed"
        );
    }
}
