//! Patterns of addresses (URLs), matched component by component as a browser parses them: scheme, host, port and path
//! segments.

use percent_encoding::percent_decode_str;
use url::{Host, Url};

use crate::RuleError;
use crate::case_folding::fold_glob_literals;
use crate::components_pattern::{ComponentsPattern, resolve_dot_components};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::pattern::{GlobPattern, MAX_PATTERN_BYTES};
use crate::spelling::without_segment_parameters;

/// Maximum number of nested percent-encodings in a path that are decoded.
const MAX_PERCENT_DECODING_ROUNDS: usize = 3;

/// A pattern of addresses: an origin, optionally with a path. It covers all addresses below that path.
#[derive(Debug, Clone)]
pub(crate) struct AddressPattern {
    /// Scheme in lower case, or `None` for any scheme.
    scheme: Option<String>,
    host: HostPattern,
    port: PortPattern,
    /// Path segments of the pattern, or `None` if the pattern covers every path.
    path: Option<ComponentsPattern>,
    /// The path segments after decoding percent-encoded separators, as some programs parse them, or `None` if the path
    /// contains no such separators.
    decoded: Option<ComponentsPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    Any,
    Exactly(String),
    /// Any subdomain of a domain. The text is the domain with a leading dot.
    SubdomainsOf(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PortPattern {
    /// The default port of the URL's scheme.
    SchemeDefault,
    Any,
    Exactly(u16),
}

impl AddressPattern {
    /// Parses a pattern such as `https://api.example.com`, `https://*.example.com:8443` or
    /// `https://example.com/public/*`. `*` stands for any scheme, host or port, or for any characters within one path
    /// segment, and `**` for any number of path segments.
    pub(crate) fn compile(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(RuleError::TooLong { part: "address", most: MAX_PATTERN_BYTES });
        }
        let bad = || RuleError::Address(text.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        if rest.contains(['?', '#', '@']) || text.contains(is_ambiguous_in_urls) {
            return Err(bad());
        }
        let scheme = match scheme {
            "*" => None,
            scheme if is_url_scheme(scheme) => Some(scheme.to_ascii_lowercase()),
            _ => return Err(bad()),
        };
        let (host, port) = split_host_and_port(authority);
        let port = match port {
            None => PortPattern::SchemeDefault,
            Some("*") => PortPattern::Any,
            Some(port) => PortPattern::Exactly(port.parse().map_err(|_| bad())?),
        };
        let port = if scheme.as_deref().and_then(default_port).is_some_and(|usual| port == PortPattern::Exactly(usual))
        {
            PortPattern::SchemeDefault
        } else {
            port
        };
        let host = match host.strip_prefix("*.") {
            _ if host == "*" => HostPattern::Any,
            _ if host.strip_prefix("*.").unwrap_or(host).contains('*') => return Err(bad()),
            Some(under) => HostPattern::SubdomainsOf(format!(".{}", normalized_host(under).ok_or_else(bad)?)),
            None => HostPattern::Exactly(normalized_host(host).ok_or_else(bad)?),
        };
        GlobPattern::compile(path)?;
        // A percent-encoded `*` or `?` is literal: only literal characters are decoded, and then escaped again.
        let parts = without_empty_parts(path.split('/').map(|part| fold_glob_literals(part, percent_decoded_segment)));
        let separated = |letters: &str| percent_decoded(letters).replace('\\', "/");
        let decoded = without_empty_parts(fold_glob_literals(path, separated).split('/').map(str::to_owned));
        if decoded.iter().any(|part| part == "." || part == "..") {
            return Err(bad());
        }
        let compile = |parts: &[String]| ComponentsPattern::compile(parts.iter().map(String::as_str));
        let path = if parts.is_empty() { None } else { Some(compile(&parts)?) };
        let decoded = if decoded == parts { None } else { Some(compile(&decoded)?) };
        Ok(Self { scheme, host, port, path, decoded })
    }

    pub(crate) fn judge(&self, text: &str) -> MatchVerdict {
        let Ok(url) = Url::parse(text) else { return MatchVerdict::Doubtful(JudgementReason::NotAddress) };
        let Some(host) = url.host_str().and_then(normalized_host) else {
            return MatchVerdict::Doubtful(JudgementReason::NotAddress);
        };
        let by_parts = if self.matches_origin(&url, &host) {
            self.judge_url_path(&url)
        } else {
            MatchVerdict::Differs(JudgementReason::Differs)
        };
        // Parsers disagree about such an address, and another program may find a different host in it.
        if text.contains(is_ambiguous_in_urls) || text.contains('\\') {
            return MatchVerdict::Doubtful(JudgementReason::Respelled);
        }
        match by_parts {
            MatchVerdict::Fits if has_user_info(&url) => MatchVerdict::Doubtful(JudgementReason::UserInfo),
            verdict => verdict,
        }
    }

    fn matches_origin(&self, url: &Url, host: &str) -> bool {
        let is_host = match &self.host {
            HostPattern::Any => true,
            HostPattern::Exactly(own) => own == host,
            HostPattern::SubdomainsOf(own) => host.len() > own.len() && host.ends_with(own.as_str()),
        };
        let is_port = match self.port {
            PortPattern::Any => true,
            PortPattern::SchemeDefault => url.port().is_none(),
            PortPattern::Exactly(own) => url.port_or_known_default() == Some(own),
        };
        is_host && is_port && self.scheme.as_deref().is_none_or(|own| own == url.scheme())
    }

    fn judge_url_path(&self, url: &Url) -> MatchVerdict {
        let Some(path) = &self.path else { return MatchVerdict::Fits };
        match (judge_path(path, url), &self.decoded) {
            (MatchVerdict::Differs(_), Some(decoded))
                if !matches!(judge_path(decoded, url), MatchVerdict::Differs(_)) =>
            {
                MatchVerdict::Doubtful(JudgementReason::Respelled)
            }
            (verdict, _) => verdict,
        }
    }
}

/// Compares the path of a URL with a pattern in all forms in which programs parse it: as written, percent-decoded, and
/// without empty segments.
fn judge_path(pattern: &ComponentsPattern, url: &Url) -> MatchVerdict {
    let own = url.path().strip_prefix('/').unwrap_or(url.path());
    let plain: Vec<String> = own.split('/').map(percent_decoded_segment).collect();
    let verdict = pattern.judge(&plain.iter().map(String::as_str).collect::<Vec<_>>());
    // Some programs split the path before they decode it, others decode the whole path first.
    let decoded = percent_decode_str(own).decode_utf8_lossy().into_owned();
    [plain.join("/"), decoded]
        .into_iter()
        .fold(verdict, |verdict, reading| verdict.and(judge_decoded_path(pattern, reading), JudgementReason::Respelled))
}

/// Compares a path with a pattern after each round of percent-decoding. The result is doubtful if a round reveals `..`,
/// because the target then depends on when a program decodes the path and when it resolves `..`.
fn judge_decoded_path(pattern: &ComponentsPattern, mut reading: String) -> MatchVerdict {
    let mut verdict: Option<MatchVerdict> = None;
    for _ in 0..=MAX_PERCENT_DECODING_ROUNDS {
        let slashed = reading.replace('\\', "/");
        if slashed.split('/').any(|segment| without_segment_parameters(segment) == "..") {
            return MatchVerdict::Doubtful(JudgementReason::Respelled);
        }
        let own = pattern.judge(&resolve_dot_components(slashed.split('/')));
        verdict = Some(verdict.map_or(own, |verdict| verdict.and(own, JudgementReason::Respelled)));
        let decoded = percent_decode_str(&reading).decode_utf8_lossy().into_owned();
        if decoded == reading {
            return verdict.unwrap_or(own);
        }
        reading = decoded;
    }
    MatchVerdict::Doubtful(JudgementReason::Respelled)
}

/// Returns `true` if a URL contains a user name or password.
pub(crate) fn has_user_info(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Normalizes a host: lower case, Punycode, percent-decoded, without a trailing dot. An IPv4-mapped IPv6 address
/// becomes the IPv4 address.
pub(crate) fn normalized_host(host: &str) -> Option<String> {
    let host = match Host::parse(host.strip_suffix('.').unwrap_or(host)).ok()? {
        Host::Ipv6(address) => address.to_ipv4_mapped().map_or(Host::Ipv6(address), Host::Ipv4),
        host => host,
    };
    let host = host.to_string();
    let host = host.strip_suffix('.').map_or(host.clone(), str::to_owned);
    (!host.is_empty()).then_some(host)
}

/// Returns `true` for characters that some URL parsers remove and others don't.
fn is_ambiguous_in_urls(character: char) -> bool {
    character.is_control() || character.is_whitespace()
}

fn is_url_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Returns the default port of a URL scheme, or `None` for an unknown scheme.
pub(crate) fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

/// Splits an authority into host and port. The colons of an IPv6 address don't separate a port.
pub(crate) fn split_host_and_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Percent-decodes a text. Returns it unchanged if the result is not valid UTF-8.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Into::into)
}

/// Percent-decodes a path segment, unless the result would contain a separator or a NUL byte.
fn percent_decoded_segment(part: &str) -> String {
    let decoded = percent_decoded(part);
    if decoded.contains(['/', '\\', '\0']) { part.to_owned() } else { decoded }
}

fn without_empty_parts(parts: impl Iterator<Item = String>) -> Vec<String> {
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const FITS: MatchVerdict = MatchVerdict::Fits;
    const DIFFERS: MatchVerdict = MatchVerdict::Differs(JudgementReason::Differs);

    fn doubtful(reason: JudgementReason) -> MatchVerdict {
        MatchVerdict::Doubtful(reason)
    }

    fn check_cases(pattern: &str, cases: &[(&str, MatchVerdict)]) {
        let compiled = AddressPattern::compile(pattern).unwrap();
        for (text, expected) in cases {
            assert_eq!(compiled.judge(text), *expected, "{pattern} and {text:?}");
        }
    }

    #[test]
    fn s03_ipv4_mapped_ipv6_address_is_the_same_host() {
        let cases = [
            ("http://127.0.0.1/", FITS),
            ("http://[::ffff:127.0.0.1]/", FITS),
            ("http://[::ffff:7f00:1]/", FITS),
            ("http://[0:0:0:0:0:FFFF:7F00:0001]/", FITS),
            ("http://[::ffff:127.0.0.2]/", DIFFERS),
            ("http://[::127.0.0.1]/", DIFFERS),
            ("http://[::1]/", DIFFERS),
        ];
        for pattern in ["http://127.0.0.1", "http://[::ffff:127.0.0.1]"] {
            check_cases(pattern, &cases);
        }
    }

    #[test]
    fn origins_are_compared_by_their_parts() {
        check_cases(
            "https://api.x",
            &[
                ("https://api.x", FITS),
                ("https://api.x/any?q#f", FITS),
                ("HTTPS://API.X:443/", FITS),
                ("https://api.x./", FITS),
                ("https://%61pi.x/", FITS),
                ("https:api.x", FITS),
                ("https://api.x:8443/", DIFFERS),
                ("http://api.x/", DIFFERS),
                ("http://api.x:443/", DIFFERS),
                ("https://xapi.x/", DIFFERS),
                ("https://api.x.evil/", DIFFERS),
                ("https://api.x@evil/", DIFFERS),
                ("https://user@api.x/", doubtful(JudgementReason::UserInfo)),
                ("https://:password@api.x/", doubtful(JudgementReason::UserInfo)),
                (r"https://api.x\@evil/", doubtful(JudgementReason::Respelled)),
                (r"https://evil\@api.x/", doubtful(JudgementReason::Respelled)),
                (" https://api.x/", doubtful(JudgementReason::Respelled)),
                ("https://api\t.x/", doubtful(JudgementReason::Respelled)),
                ("api.x", doubtful(JudgementReason::NotAddress)),
                ("//api.x/", doubtful(JudgementReason::NotAddress)),
                ("mailto:a@api.x", doubtful(JudgementReason::NotAddress)),
                ("blob:https://api.x/", doubtful(JudgementReason::NotAddress)),
                ("file:///etc/passwd", doubtful(JudgementReason::NotAddress)),
            ],
        );
        check_cases("https://b\u{fc}cher.x", &[("https://xn--bcher-kva.x/", FITS), ("https://B\u{dc}CHER.x/", FITS)]);
        check_cases("https://xn--bcher-kva.x", &[("https://b\u{fc}cher.x/", FITS), ("https://bucher.x/", DIFFERS)]);
        check_cases("https://api.x:443", &[("https://api.x/", FITS), ("https://api.x:444/", DIFFERS)]);
        check_cases("https://api.x:8443", &[("https://api.x:8443/", FITS), ("https://api.x/", DIFFERS)]);
        check_cases("https://api.x:*", &[("https://api.x:8443/", FITS), ("https://api.x/", FITS)]);
        check_cases("*://api.x:443", &[("https://api.x/", FITS), ("http://api.x/", DIFFERS)]);
        check_cases("*://api.x", &[("https://api.x/", FITS), ("http://api.x/", FITS), ("ws://api.x:81", DIFFERS)]);
        check_cases("HTTPS://[::1]:80", &[("https://[::1]:80/", FITS), ("https://[::1]/", DIFFERS)]);
        check_cases("http://[::1]", &[("http://[0:0::1]/", FITS), ("http://[::2]/", DIFFERS)]);
        check_cases(
            "http://127.0.0.1",
            &[("http://127.1/", FITS), ("http://0x7f.1/", FITS), ("http://2130706433/", FITS)],
        );
        check_cases("ftp://api.x:21", &[("ftp://api.x/", FITS)]);
        check_cases("ws://api.x:80", &[("ws://api.x/", FITS)]);
        check_cases("wss://api.x:443", &[("wss://api.x/", FITS)]);
        check_cases("http://api.x:80", &[("http://api.x/", FITS)]);
    }

    #[test]
    fn host_wildcard_covers_subdomains_only() {
        check_cases(
            "https://*.x.com",
            &[
                ("https://a.x.com/", FITS),
                ("https://b.a.x.com/", FITS),
                ("https://x.com/", DIFFERS),
                ("https://.x.com/", DIFFERS),
                ("https://ax.com/", DIFFERS),
                ("https://evil/a.x.com/", DIFFERS),
                ("https://a.x.com.evil/", DIFFERS),
                ("https://a.x.com@evil/", DIFFERS),
            ],
        );
        check_cases("https://*", &[("https://a/", FITS), ("http://a/", DIFFERS)]);
    }

    #[test]
    fn path_is_compared_by_segments() {
        check_cases(
            "https://api.x/public/*",
            &[
                ("https://api.x/public/a", FITS),
                ("https://api.x/public/a/b?q=../..", FITS),
                ("https://api.x/public/a%20b", FITS),
                ("https://api.x/public/b/../a", FITS),
                ("https://api.x/%70ublic/a", FITS),
                ("https://api.x/public", DIFFERS),
                ("https://api.x/publicity/a", DIFFERS),
                ("https://api.x/public/../admin", DIFFERS),
                ("https://api.x/public/%2e%2e/admin", DIFFERS),
                ("https://api.x/public/%2E./admin", DIFFERS),
                ("https://api.x/public/%252e%252e/admin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/..%2fadmin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/%ff/..%2f..%2fadmin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/..%5cadmin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/..%2f/%252e%252e/public", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/a/%2525252e%2525252e", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/..;/admin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/%2e%2e;a=b/admin", doubtful(JudgementReason::Respelled)),
                ("https://api.x/public/a;b..c/d", FITS),
                ("https://api.x/public/100%25", FITS),
                ("https://api.x/other/%252e%252e/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/admin/..%2fpublic%2fa", doubtful(JudgementReason::Respelled)),
                ("https://api.x//public/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/Public/a", doubtful(JudgementReason::Letters)),
                ("https://user@api.x/admin", DIFFERS),
            ],
        );
        check_cases(
            "https://api.x/a%20b/",
            &[("https://api.x/a b", doubtful(JudgementReason::Respelled)), ("https://api.x/a%20b", FITS)],
        );
        check_cases(
            "https://api.x/group%2Fname/*",
            &[
                ("https://api.x/group%2Fname/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/group%2fname/a", doubtful(JudgementReason::Letters)),
                ("https://api.x/group%252Fname/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/group/name/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/group%5Cname/a", doubtful(JudgementReason::Respelled)),
                ("https://api.x/group/other/a", DIFFERS),
                ("https://api.x/group%2Fother/a", DIFFERS),
            ],
        );
        check_cases(
            "https://api.x/%2A/%3F/*%41",
            &[("https://api.x/*/%3F/xA", FITS), ("https://api.x/a/%3F/A", DIFFERS), ("https://api.x/*/a/A", DIFFERS)],
        );
        check_cases("https://api.x/%2epublic*", &[("https://api.x/.public/a", FITS)]);
        check_cases("https://api.x/**/admin", &[("https://api.x/a/b/admin/c", FITS), ("https://api.x/a", DIFFERS)]);
        check_cases("https://api.x/", &[("https://api.x/any", FITS)]);
    }

    #[test]
    fn invalid_address_pattern_is_rejected() {
        for bad in [
            "",
            "api.x",
            "https:api.x",
            "https://",
            "https:///a",
            "1https://x",
            "ht*ps://x",
            "://x",
            "https://x.*",
            "https://*.*.x",
            "https://a*.x",
            "https://*.",
            "https://.",
            "https://user@x",
            "https://x/?q",
            "https://x/#f",
            "https://x/a/../b",
            "https://x/./b",
            "https://x/%2e%2e/b",
            "https://x/a%2F..%2Fb",
            r"https://x/a\b",
            "https://x:99999",
            "https://x:y",
            "https://x y/",
            "https://x/\n",
        ] {
            assert!(AddressPattern::compile(bad).is_err(), "{bad:?}");
        }
        let long = |length: usize| format!("https://x/{}", "a".repeat(length - "https://x/".len()));
        assert!(AddressPattern::compile(&long(MAX_PATTERN_BYTES)).is_ok(), "a pattern of the maximum length");
        assert!(AddressPattern::compile(&long(MAX_PATTERN_BYTES + 1)).is_err(), "one byte more than the maximum");
    }
}
