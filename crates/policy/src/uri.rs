//! Patterns of URIs in an answers file, in which users decide in advance on consent requests: URIs of pages, resources
//! and authorization servers. A pattern that allows covers only URIs that match component by component. A pattern that
//! refuses covers all spellings and ports of a location. Callers: `wider_conditions.rs` and
//! `cli/src/answers_file/name_pattern.rs`.

use url::Url;

use crate::RuleError;
use crate::address::{AddressPattern, default_port, normalized_host};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::path_pattern::{PathPattern, ResolvedPaths};
use crate::pattern::GlobPattern;
use crate::text_pattern::TextGlob;

/// A pattern of URIs: `*` matches any characters, `?` one character. If the pattern allows, wildcards don't cross
/// components of an address.
#[derive(Debug, Clone)]
pub struct UriPattern {
    glob: TextGlob,
    parts: UriParts,
}

/// Components of a URI pattern that are compared separately.
#[derive(Debug, Clone)]
enum UriParts {
    /// The address of a host with a path. A refusal uses a wider pattern than an allow.
    Address { allows: AddressPattern, refuses: AddressPattern },
    /// A path without a host, such as that of `file:///srv/*`.
    Path { scheme: String, path: PathPattern },
    /// The URI has no components that are compared separately. Only the glob is compared with the whole URI.
    Glob,
}

impl UriPattern {
    /// Compiles a pattern. A backslash is literal.
    ///
    /// # Errors
    ///
    /// Returns [`RuleError::TooLong`] if the pattern is too long, and [`RuleError::Path`] if its path contains `..`.
    ///
    /// # Examples
    ///
    /// ```
    /// use policy::UriPattern;
    ///
    /// let docs = UriPattern::compile("https://*.example.com/docs/*")?;
    /// assert!(docs.allows("https://www.example.com/docs/start"));
    /// assert!(!docs.allows("https://www.example.com.other.test/docs/start"), "a wildcard stays in its component");
    /// assert!(!docs.allows("https://www.example.com/private"));
    ///
    /// let blocked = UriPattern::compile("https://example.com/*")?;
    /// assert!(blocked.refuses("http://EXAMPLE.com:8080/a"), "a refusal covers other ports and spellings");
    /// assert!(!blocked.refuses("https://example.org/a"));
    /// # Ok::<(), policy::RuleError>(())
    /// ```
    pub fn compile(pattern: &str) -> Result<Self, RuleError> {
        let glob = TextGlob::compile(&pattern.replace('\\', r"\\"))?;
        let parts = match pattern.split_once("://") {
            Some((scheme, "*")) if scheme.eq_ignore_ascii_case("file") => UriParts::from_path(scheme, "/")?,
            Some((scheme, path)) if path.starts_with('/') => UriParts::from_path(scheme, path)?,
            Some((scheme, rest)) => UriParts::from_address(scheme, rest),
            None => UriParts::Glob,
        };
        Ok(Self { glob, parts })
    }

    /// Returns `true` if the pattern covers a URI in order to allow it. A pattern without wildcards covers only the
    /// identical URI. With wildcards, the URI must be in normal spelling and match component by component.
    #[must_use]
    pub fn allows(&self, uri: &str) -> bool {
        if matches!(self.glob.glob(), GlobPattern::Exactly(own) if own == uri) {
            return true;
        }
        match &self.parts {
            UriParts::Glob => self.glob.judge(uri) == MatchVerdict::Fits,
            UriParts::Address { allows, .. } => {
                self.glob.judge(uri) == MatchVerdict::Fits && allows.judge(uri) == MatchVerdict::Fits
            }
            UriParts::Path { scheme, path } => {
                let rest = uri.split_once("://").filter(|(own, _)| own == scheme).map(|(_, rest)| rest);
                let is_plain = |rest: &&str| !rest.contains(['?', '#']) && !rest.contains(char::is_control);
                self.glob.glob().matches(uri)
                    && rest
                        .filter(is_plain)
                        .is_some_and(|rest| path.judge(rest, &ResolvedPaths::Elsewhere) == MatchVerdict::Fits)
            }
        }
    }

    /// Returns `true` if the pattern covers a URI in order to refuse it: in any spelling, with any port and any web
    /// scheme.
    #[must_use]
    pub fn refuses(&self, uri: &str) -> bool {
        let may_fit = |uri: &str| !matches!(self.glob.judge(uri), MatchVerdict::Differs(_));
        let url = Url::parse(uri).ok();
        let bare = url.as_ref().and_then(|url| normalized_url(url.clone()));
        if may_fit(uri) || bare.is_some_and(|bare| may_fit(bare.as_str())) {
            return true;
        }
        match &self.parts {
            UriParts::Glob => false,
            UriParts::Address { refuses, .. } => !matches!(
                refuses.judge(uri),
                MatchVerdict::Differs(_) | MatchVerdict::Doubtful(JudgementReason::NotAddress)
            ),
            UriParts::Path { scheme, path } => {
                let lies =
                    |text: &str| !matches!(path.judge(text, &ResolvedPaths::Elsewhere), MatchVerdict::Differs(_));
                match &url {
                    Some(url) if url.scheme() == scheme.to_ascii_lowercase() => {
                        let written = &uri.trim_start()[scheme.len().min(uri.trim_start().len())..];
                        lies(url.path()) || lies(&format!("/{}", written.trim_start_matches([':', '/', '\\'])))
                    }
                    Some(_) => false,
                    None => uri.starts_with('/') && lies(uri),
                }
            }
        }
    }
}

impl UriParts {
    fn from_path(scheme: &str, path: &str) -> Result<Self, RuleError> {
        Ok(Self::Path { scheme: scheme.to_owned(), path: PathPattern::compile(path)? })
    }

    /// Compiles an address pattern if it can be compared component by component, which is not the case for, say, a host
    /// with a wildcard in its middle.
    fn from_address(scheme: &str, rest: &str) -> Self {
        // `/*` covers all pages of the host, including the root page.
        let rest = rest.strip_suffix("/*").filter(|host| !host.contains('/')).unwrap_or(rest);
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
        let port = if has_port { "" } else { ":*" };
        let is_web = default_port(&scheme.to_ascii_lowercase()).is_some();
        let wide = if is_web { "*" } else { scheme };
        let allows = AddressPattern::compile(&format!("{scheme}://{rest}"));
        let refuses = AddressPattern::compile(&format!("{wide}://{authority}{port}/{path}"));
        match (allows, refuses) {
            (Ok(allows), Ok(refuses)) => Self::Address { allows, refuses },
            _ => Self::Glob,
        }
    }
}

/// Returns the address with the default port and a normalized host.
fn normalized_url(mut url: Url) -> Option<Url> {
    let host = normalized_host(url.host_str()?)?;
    url.set_port(None).ok()?;
    url.set_host(Some(&host)).ok()?;
    Some(url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn allowed_uri_matches_within_each_part() {
        for (pattern, uri, expected) in [
            ("*", "https://user@evil//..", true),
            ("https://*.example.com/*", "https://a.example.com/b/c", true),
            ("https://*.example.com/*", "https://a.example.com/", true),
            ("https://*.example.com/*", "https://a.example.com/b?c=https://x/#d", true),
            ("https://*.example.com/*", "https://attacker.test/x.example.com/y", false),
            ("https://*.example.com/*", "https://attacker.test?x.example.com/y", false),
            ("https://*.example.com/*", "https://attacker.test/?x.example.com/y", false),
            ("https://*.example.com/*", "https://attacker.test#x.example.com/y", false),
            ("https://*.example.com/*", "https://attacker.test/#x.example.com/y", false),
            ("https://*.example.com/*", r"https://attacker.test\x.example.com/y", false),
            ("https://*.example.com/*", "https://a.example.com@attacker.test/", false),
            ("https://*.example.com/*", "https://a.example.com:8443/", false),
            ("https://*.example.com/*", "http://a.example.com/", false),
            ("https://a*.example.com/*", "https://ab.example.com/y", true),
            ("https://a*.example.com/*", "https://attacker.test/x.example.com/y", false),
            ("https://*", "https://example.com/a", true),
            ("https://example.com/*/public", "https://example.com/a/public", true),
            ("https://example.com/*/public", "https://example.com/admin?x=/public", false),
            ("https://example.com/pub/*", "https://example.com/pub/../admin", false),
            ("https://example.com/pub/*", "https://example.com/pub/%2e%2e/admin", false),
            ("https://example.com/pub/*", "https://example.com/pub/..%2fadmin", false),
            ("https://login.example.com", "https://login.example.com", true),
            ("https://login.example.com", "https://login.example.com/tenant", false),
            ("https://example.com/page?id=*", "https://example.com/page?id=1", true),
            ("https://example.com/page?id=*", "https://attacker.test/page?id=1", false),
            ("file:///srv/*", "file:///srv/a/b", true),
            ("file:///srv/*", "file:///srv/a%20b", true),
            ("file:///srv/*", "file:///srv/../etc/shadow", false),
            ("file:///srv/*", "file:///srv/%2e%2e/etc/shadow", false),
            ("file:///srv/*", "file:///srv/..%2fetc/shadow", false),
            ("file:///srv/*", r"file:///srv/..\etc\shadow", false),
            ("file:///srv/*", "file:///srv/a?b", false),
            ("file:///srv/*", "file:///etc/shadow", false),
            ("file:///srv/*.md", "file:///srv/a.md", true),
            ("file:///srv/*.md", "file:///srv/a/b.md", false),
            ("file://*", "file:///etc/hosts", true),
            ("notes:///a/*", "notes:///a/b", true),
            ("notes:///a/*", "other:///a/b", false),
            ("note://Inbox/*", "note://Inbox/1", true),
            ("note:*", "note:1", true),
            ("note:1", "note:1", true),
            ("note://a//b", "note://a//b", true),
            ("note://a//b", "note://a/b", false),
        ] {
            assert_eq!(UriPattern::compile(pattern).unwrap().allows(uri), expected, "{pattern} and {uri}");
        }
        assert!(UriPattern::compile("file:///srv/../etc").is_err(), "a path with `..` is not a pattern");
    }

    #[test]
    fn refusal_covers_equivalent_spellings_and_ports() {
        for (pattern, uri, expected) in [
            ("https://evil.test/*", "https://evil.test/", true),
            ("https://evil.test/*", "https://evil.test", true),
            ("https://evil.test/*", "https://evil.test./x", true),
            ("https://evil.test/*", "https://evil.test:8443/x", true),
            ("https://evil.test/*", "https://evil.test.:8443/x", true),
            ("https://evil.test/*", "HTTPS://EVIL.test/x", true),
            ("https://evil.test/*", "http://evil.test/x", true),
            ("https://evil.test/*", "https://user@evil.test/x", true),
            ("https://evil.test/*", "https://\u{ff45}vil.test/x", true),
            ("https://evil.test/*", "evil.test/x", true),
            ("https://evil.test/*", "https://good.test/", false),
            ("https://evil.test/*", "file:///srv/a", false),
            ("https://evil.test:8443/*", "https://evil.test:8443/x", true),
            ("https://evil.test:8443/*", "http://evil.test:8443/x", true),
            ("https://evil.test:8443/*", "http://evil.test:81/x", false),
            ("https://[::1]/*", "http://[::1]:8443/x", true),
            ("https://evil*.test/*", "https://evil1.test:8443/x", true),
            ("https://*.evil.test/*", "https://a.evil.test:81/x", true),
            ("https://evil*/*", "https://evil.test.:8443/x", true),
            ("https://evil.test/a/*", "https://evil.test/%61/b", true),
            ("https://evil.test/a/*", "https://evil.test/b/../a/b", true),
            ("https://evil.test/a/*", "https://evil.test/b", false),
            ("file:///srv/*", "file:///srv/a", true),
            ("file:///srv/*", "FILE:/srv/a", true),
            ("file:///srv/*", "file://localhost/srv/a", true),
            ("file:///srv/*", "file:///etc/../srv/a", true),
            ("file:///srv/*", "file:///%73rv/a", true),
            ("file:///srv/*", "/srv/a", true),
            ("file:///srv/*", "/etc/a", false),
            ("file:///srv/*", "srv/a", false),
            ("file:///srv/*", "file:///etc/a", false),
            ("file:///srv/*", "https://x/srv/a", false),
            ("*evil*", "https://EVIL.test/", true),
            ("*", "note:1", true),
        ] {
            assert_eq!(UriPattern::compile(pattern).unwrap().refuses(uri), expected, "{pattern} and {uri}");
        }
    }
}
