//! Splits a URL into parts, so that Drawbridge's page shows the whole URL with its registrable domain highlighted, and
//! removes possible keys from a URL before it is stored.

use foreign::is_loopback;
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Maximum length of a URL that is displayed and opened, in bytes.
pub const MAX_URL_BYTES: usize = 4_096;

/// A URL split into three parts for display, with warnings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct UrlParts {
    /// URL in the normalized form in which it would be opened.
    pub url: String,
    /// All text of the URL before the registrable domain.
    pub before: String,
    /// Registrable domain of the URL, or the host if there is none.
    pub domain: String,
    /// All text of the URL after the host.
    pub after: String,
    /// Host in ASCII (Punycode), or `None` if the host was already written in ASCII.
    pub ascii_host: Option<String>,
    /// Suspicious properties of the URL that the user should know.
    pub warnings: Vec<UrlWarning>,
    /// Set if Drawbridge may open the URL in the browser.
    pub openable: bool,
}

/// A suspicious property of a URL, for which Drawbridge's page has a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UrlWarning {
    /// The scheme of the URL is not https.
    NotEncrypted,
    /// The URL contains a user name or password.
    UserInformation,
    /// The host is not ASCII, or is the Punycode form of one that is not.
    Internationalized,
    /// The host of the URL is an IP address.
    IpAddress,
    /// The host is this computer or in the local network.
    Local,
    /// Drawbridge may not open the URL in the browser.
    NotAllowed,
}

impl UrlParts {
    /// Splits a URL. The URL is openable if its scheme is http or https, and it is not too long and has no user
    /// information.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let parsed = (text.len() <= MAX_URL_BYTES).then(|| Url::parse(text).ok()).flatten();
        let Some((url, host)) = parsed.as_ref().and_then(|url| Some((url, url.host()?))) else {
            return Self::unopenable_url(text);
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Self::unopenable_url(text);
        }
        let mut warnings = Vec::new();
        if url.scheme() != "https" {
            warnings.push(UrlWarning::NotEncrypted);
        }
        let user_information = !url.username().is_empty() || url.password().is_some();
        if user_information {
            warnings.push(UrlWarning::UserInformation);
        }
        let host_text = host.to_string();
        let is_address = !matches!(host, Host::Domain(_));
        if is_address {
            warnings.push(UrlWarning::IpAddress);
        }
        if is_local_network_host(&host) {
            warnings.push(UrlWarning::Local);
        }
        // `Url` stores the host in ASCII. A label with "xn--" is, or was converted to, Punycode.
        let internationalized = host_text.split('.').any(|label| label.starts_with("xn--"));
        if internationalized {
            warnings.push(UrlWarning::Internationalized);
        }
        let domain = if is_address { host_text.clone() } else { registrable_domain(&host_text).to_owned() };
        let whole = url.as_str();
        let host_at = whole.find("://").map_or(0, |i| i + 3);
        let host_at = host_at + whole[host_at..].find('@').filter(|_| user_information).map_or(0, |i| i + 1);
        let host_end = host_at + whole[host_at..].find(&host_text).unwrap_or(0) + host_text.len();
        let domain_at = host_end - domain.len();
        Self {
            url: whole.to_owned(),
            before: whole[..domain_at].to_owned(),
            domain,
            after: whole[host_end..].to_owned(),
            ascii_host: internationalized.then_some(host_text),
            warnings,
            openable: !user_information,
        }
    }

    /// Splits a URL that a server requests to open. To be openable, the URL must also be `https`, unless its host is
    /// this computer.
    #[must_use]
    pub fn parse_requested_by_server(text: &str) -> Self {
        let parts = Self::parse(text);
        let is_plain = parts.warnings.contains(&UrlWarning::NotEncrypted);
        let stays_here =
            || Url::parse(&parts.url).is_ok_and(|url| url.host().is_some_and(|host| is_loopback_host(&host)));
        let openable = parts.openable && (!is_plain || stays_here());
        Self { openable, ..parts }
    }

    fn unopenable_url(text: &str) -> Self {
        let shown: String = text.chars().take(MAX_URL_BYTES).collect();
        Self {
            url: shown.clone(),
            before: String::new(),
            domain: String::new(),
            after: shown,
            ascii_host: None,
            warnings: vec![UrlWarning::NotAllowed],
            openable: false,
        }
    }
}

/// Returns the registrable domain according to the public suffix list.
fn registrable_domain(host: &str) -> &str {
    psl::domain_str(host).unwrap_or(host)
}

/// Returns `true` if a browser that opens a URL with this host contacts this computer. Names with final dots and
/// IPv4-mapped addresses are recognized.
fn is_loopback_host(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_loopback(&Host::Domain(name.trim_end_matches('.'))),
        Host::Ipv4(_) => is_loopback(host),
        Host::Ipv6(ip) => ip.to_ipv4_mapped().map_or_else(|| is_loopback(host), |ip| ip.is_loopback()),
    }
}

fn is_local_network_host(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            is_loopback(&Host::Domain(name)) || name.ends_with(".local") || !name.contains('.')
        }
        Host::Ipv4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified(),
        Host::Ipv6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_local_network_host(&Host::Ipv4(ip)),
            None => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local(),
        },
    }
}

/// Minimum length, in bytes, of a path segment of a URL that may be an API key or token.
const MIN_API_KEY_BYTES: usize = 16;
/// Number of characters of a path segment that remain visible if the segment may be an API key or token.
const VISIBLE_API_KEY_CHARS: usize = 4;
/// Maximum length of a run of letters or digits in ordinary text, in bytes. Longer runs may be API keys or tokens.
const MAX_ORDINARY_WORD_BYTES: usize = 32;

/// Returns a URL for logs and files, in which `…` replaces possible API keys and tokens: each value in the query (a
/// part without a name may itself be a key, and counts as a value), the fragment, user name and password. A path
/// segment that looks like a key is shortened to its first characters.
pub fn redacted_url(url: &str) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, ""), |(url, _)| (url, "#…"));
    let (before, query) = url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)));
    let (scheme, rest) = before.split_once("://").map_or(("", before), |(scheme, rest)| (scheme, rest));
    let mut parts = rest.split('/');
    let host = parts.next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("…@{host}"));
    let mut shown = if scheme.is_empty() { host } else { format!("{scheme}://{host}") };
    for part in parts {
        shown.push('/');
        if may_be_api_key(part) {
            shown.extend(part.chars().take(VISIBLE_API_KEY_CHARS));
            shown.push('…');
        } else {
            shown.push_str(part);
        }
    }
    if let Some(query) = query {
        let values = query.split('&').map(|part| match part.split_once('=') {
            Some((name, _)) => format!("{name}=…"),
            None if part.is_empty() => String::new(),
            None => "…".to_owned(),
        });
        shown.push('?');
        shown.push_str(&values.collect::<Vec<_>>().join("&"));
    }
    shown + fragment
}

/// Returns `true` if a path segment, or another word, may be an API key or token: it is long and consists mostly of
/// mixed letters and digits, or of letters whose case changes often. A false positive only shortens the displayed text.
#[must_use]
pub fn may_be_api_key(part: &str) -> bool {
    let is_odd = |run: &&str| {
        let bytes = run.as_bytes();
        let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
        let rises = bytes.windows(2).filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase()).count();
        (has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
            || rises * 5 >= run.len()
            || run.len() >= MAX_ORDINARY_WORD_BYTES
    };
    let runs = || part.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    let all: usize = runs().map(str::len).sum();
    let odd: usize = runs().filter(is_odd).map(str::len).sum();
    all >= MIN_API_KEY_BYTES && odd * 2 >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_api_keys_are_removed_from_a_stored_url() {
        let cases = [
            ("https://a.example/mcp", "https://a.example/mcp"),
            ("https://a.example/mcp?api_key=s3cret", "https://a.example/mcp?api_key=…"),
            ("https://a.example/mcp?team=s3cret&key=s3=cret?s3cret&", "https://a.example/mcp?team=…&key=…&"),
            ("https://a.example/mcp?s3cret", "https://a.example/mcp?…"),
            ("https://a.example/mcp?", "https://a.example/mcp?"),
            ("https://a.example?key=s3cret", "https://a.example?key=…"),
            ("https://a.example/login#token=s3cret", "https://a.example/login#…"),
            ("https://ann:s3cret@a.example/x", "https://…@a.example/x"),
            // Keys of services, as hexadecimal, as a UUID, in base64, and with a prefix.
            ("https://a.example/s/9f86d081884c7d659a2feaa0c55ad015/mcp", "https://a.example/s/9f86…/mcp"),
            ("https://a.example/123e4567-e89b-42d3-a456-426614174000", "https://a.example/123e…"),
            ("https://a.example/s/TmV2ZXJHb25uYUdpdmVZb3VVcA/mcp", "https://a.example/s/TmV2…/mcp"),
            ("https://a.example/s/QwErTyUiOpAsDfGh", "https://a.example/s/QwEr…"),
            ("https://a.example/sk-live-4eC39HqLyjWDarjtT1zdp7dc/sse", "https://a.example/sk-l…/sse"),
            ("https://a.example/u/12345678901234567890123456789012345", "https://a.example/u/1234…"),
            // Ordinary paths.
            (
                "https://a.example/v1/projects/my-long-project-name-2024/mcp",
                "https://a.example/v1/projects/my-long-project-name-2024/mcp",
            ),
            ("https://a.example/api/getUserInformationById", "https://a.example/api/getUserInformationById"),
            ("https://a.example/release-2026-07-28/mcp", "https://a.example/release-2026-07-28/mcp"),
            ("not a URL", "not a URL"),
        ];
        for (url, expected) in cases {
            assert_eq!(redacted_url(url), expected, "stored form of {url}");
        }
    }
}
