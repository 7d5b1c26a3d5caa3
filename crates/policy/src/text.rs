//! Globs and regular expressions over strings. Strings that are paths or addresses are compared in several spellings: a
//! rule that denies or asks also matches alternative spellings, and a rule that allows matches only the normal one.

use std::collections::BTreeSet;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use url::Url;

use crate::RuleError;
use crate::fold::{folded, folded_glob, narrowed};
use crate::pattern::{Glob, climbs};
use crate::spelling::{
    address, has_others, is_normal_address, is_normal_path, looks_like_path, normal_path, spellings,
};
use crate::verdict::{JudgedReason, Verdict};

/// A glob over strings.
#[derive(Debug, Clone)]
pub(crate) struct GlobOn {
    own: Glob,
    /// The glob in its own normal spelling, if that differs.
    normal: Option<Glob>,
    /// The glob in folded letters, with backslashes as slashes.
    folded: Option<Glob>,
    /// Set if the glob contains `://`, and is therefore about addresses.
    of_addresses: bool,
    /// The glob split into the components of an address.
    parts: Option<AddressShape>,
}

impl GlobOn {
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        let own = Glob::compile(glob)?;
        let normal = Some(normal_glob(glob)).filter(|normal| normal != glob);
        let parts = if matches!(own, Glob::Shape { .. }) { Some(AddressShape::compile(glob)?) } else { None };
        // A glob whose normal spelling is invalid, because its backslashes are escapes, is compared as written only.
        let normal = normal.and_then(|normal| Glob::compile(&normal).ok());
        let folded = Glob::compile(&folded_glob(glob, with_slashes)).ok();
        Ok(Self { own, normal, folded, of_addresses: glob.contains("://"), parts })
    }

    pub(crate) fn glob(&self) -> &Glob {
        &self.own
    }

    pub(crate) fn judge(&self, text: &str) -> Verdict {
        let of_paths = match &self.own {
            Glob::Anything => return Verdict::Fits,
            Glob::Exactly(own) if own == text => return Verdict::Fits,
            Glob::Exactly(own) => own.contains(['/', '\\']),
            Glob::Shape { of_paths, .. } => *of_paths,
        };
        let candidate =
            Candidate { text, of_paths, of_addresses: self.of_addresses, fits_as_written: self.own.fits(text) };
        let fits = |text: &str| self.own.fits(text) || self.normal.as_ref().is_some_and(|normal| normal.fits(text));
        let fits_folded = |text: &str| self.folded.as_ref().is_some_and(|own| own.fits(&with_slashes(text)));
        let is_spread = |url: &Url| self.parts.as_ref().is_some_and(|parts| !parts.fits(url));
        candidate.judge(fits, fits_folded, is_spread)
    }
}

/// A regular expression over strings.
#[derive(Debug, Clone)]
pub(crate) struct RegexOn {
    pub(crate) expression: Regex,
    /// Set if the expression contains a slash, and is therefore about paths.
    pub(crate) of_paths: bool,
}

impl RegexOn {
    pub(crate) fn judge(&self, text: &str) -> Verdict {
        let fits = |text: &str| self.expression.is_match(text);
        // The author of an expression chooses case folding with `(?i)`.
        let fits_folded = |text: &str| fits(&text.nfkc().collect::<String>());
        let candidate = Candidate {
            text,
            of_paths: self.of_paths,
            of_addresses: self.expression.as_str().contains("://"),
            fits_as_written: fits(text),
        };
        candidate.judge(fits, fits_folded, |_| false)
    }
}

/// An address that no rule names. A pattern that matches it is about any address, or about none.
const ANY_ADDRESS: &str = "https://any.invalid/";

/// A string that is compared with a pattern.
struct Candidate<'a> {
    text: &'a str,
    /// Set if the pattern is about paths.
    of_paths: bool,
    /// Set if the pattern is about addresses.
    of_addresses: bool,
    fits_as_written: bool,
}

impl Candidate<'_> {
    /// Compares the string in all spellings. `fits` matches an alternative spelling, `fits_folded` matches it in folded
    /// letters, and `is_spread` returns `true` if a wildcard covers more than one component of an address.
    fn judge(
        &self,
        fits: impl Fn(&str) -> bool,
        fits_folded: impl Fn(&str) -> bool,
        is_spread: impl Fn(&Url) -> bool,
    ) -> Verdict {
        let Self { text, of_paths, .. } = *self;
        if self.fits_as_written && !has_others(text) {
            return Verdict::Fits;
        }
        // `/safe/*` must not allow `/safe/../etc`, and `/secret/*` must not miss `/safe/../secret`, wherever symbolic
        // links on the way lead.
        let climbs = climbs(text) || climbs(&narrowed(text));
        if !self.fits_as_written {
            let spellings = if self.is_plain(&fits) { BTreeSet::new() } else { spellings(text) };
            return if spellings.iter().any(|text| fits(text)) {
                Verdict::Doubtful(JudgedReason::Respelled)
            } else if climbs && of_paths {
                Verdict::Doubtful(JudgedReason::Climbs)
            } else if fits_folded(text) || spellings.iter().any(|text| fits_folded(text)) {
                Verdict::Doubtful(JudgedReason::Letters)
            } else {
                Verdict::Differs(JudgedReason::Differs)
            };
        }
        match address(text) {
            _ if climbs => Verdict::Doubtful(JudgedReason::Climbs),
            Some(url) if !is_normal_address(text, &url) => Verdict::Doubtful(JudgedReason::Respelled),
            Some(url) if is_spread(&url) => Verdict::Doubtful(JudgedReason::CrossesParts),
            Some(_) => Verdict::Fits,
            None if (of_paths || looks_like_path(text)) && !is_normal_path(text) => {
                Verdict::Doubtful(JudgedReason::Respelled)
            }
            None => Verdict::Fits,
        }
    }

    /// Returns `true` if the string is not treated as an address although a program could add a scheme to it: a plain
    /// word, with a pattern that matches any address.
    fn is_plain(&self, fits: impl Fn(&str) -> bool) -> bool {
        let is_host = self.of_addresses && folded(self.text).contains('.');
        !has_others(self.text) && !is_host && fits(ANY_ADDRESS)
    }
}

/// Folds letters, and replaces backslashes by slashes.
fn with_slashes(text: &str) -> String {
    folded(text).replace('\\', "/")
}

/// Returns the glob that matches the normal spelling of the paths or addresses that this glob matches.
fn normal_glob(glob: &str) -> String {
    let Some((scheme, rest)) = glob.split_once("://") else { return normal_path(glob) };
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let scheme = scheme.to_ascii_lowercase();
    let labels: Vec<String> = authority
        .split('.')
        .map(|label| if label.is_ascii() { label.to_ascii_lowercase() } else { url::quirks::domain_to_ascii(label) })
        .collect();
    let mut authority = labels.join(".");
    if let Some(port) = crate::address::usual_port(&scheme)
        && let Some(bare) = authority.strip_suffix(&format!(":{port}"))
    {
        authority = bare.to_owned();
    }
    let path = if path.is_empty() { String::new() } else { normal_path(path) };
    format!("{scheme}://{authority}{path}")
}

/// A glob split into the components of an address, as far as possible.
#[derive(Debug, Clone)]
struct AddressShape {
    /// Glob over the origin: scheme and authority together.
    origin: Glob,
    /// Glob over everything after the origin, or `None` if nothing may follow.
    rest: Option<Glob>,
}

impl AddressShape {
    fn compile(glob: &str) -> Result<Self, RuleError> {
        let begin = glob.find("://").map_or(0, |at| at + "://".len());
        let cut = glob[begin..].find(['/', '#']).map_or(glob.len(), |at| begin + at);
        let (origin, rest) = glob.split_at(cut);
        // `https://api.x*` is about the part after the host. A host that is itself a wildcard stays one.
        let bare = origin.trim_end_matches('*');
        let is_open = rest.is_empty() && bare.len() < origin.len() && !bare.ends_with('\\');
        let has_name = bare.len() > begin && !bare.ends_with('.');
        let origin = if is_open && has_name { bare } else { origin };
        let rest = match rest {
            "" if is_open => Some(Glob::Anything),
            "" => None,
            rest => Some(Glob::compile(rest)?),
        };
        Ok(Self { origin: Glob::compile(origin)?, rest })
    }

    fn fits(&self, url: &Url) -> bool {
        let before = &url[..url::Position::BeforePath];
        let rest = &url[url::Position::BeforePath..];
        self.origin.fits(before)
            && match &self.rest {
                None => rest == "/",
                Some(own) => own.fits(rest),
            }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const FITS: Verdict = Verdict::Fits;
    const DIFFERS: Verdict = Verdict::Differs(JudgedReason::Differs);

    fn doubt(reason: JudgedReason) -> Verdict {
        Verdict::Doubtful(reason)
    }

    #[test]
    fn a_glob_goes_by_more_than_letters() {
        for (glob, text, expected) in [
            ("*", "https://user@evil//..", FITS),
            ("a", "a", FITS),
            ("a*", "ab", FITS),
            ("a*", "b", DIFFERS),
            ("/secret/*", "/secret/x", FITS),
            ("/secret/*", "//secret/x", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/./secret/x", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/secret//x", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/a/../secret/x", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/%73ecret/x", doubt(JudgedReason::Respelled)),
            ("/secret/*", r"\secret\x", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/secret/../x", doubt(JudgedReason::Climbs)),
            ("/secret/*", "/x/../y", doubt(JudgedReason::Climbs)),
            ("/secret/*", "/public/x", DIFFERS),
            ("//secret/./*", "/secret/x", doubt(JudgedReason::Respelled)),
            ("/secret/x", "/secret/x", FITS),
            ("/secret/x", "//secret/x", doubt(JudgedReason::Respelled)),
            ("/secret/x", "/secret/x/", doubt(JudgedReason::Respelled)),
            ("/secret/x", "/secret/y/../x", doubt(JudgedReason::Respelled)),
            ("/secret/x", "/link/../y", doubt(JudgedReason::Climbs)),
            ("/link/../y", "/link/../y", FITS),
            ("https://user@a.b/", "https://user@a.b/", FITS),
            ("/secret/x", "/secret/y", DIFFERS),
            ("main", "a/../main", doubt(JudgedReason::Respelled)),
            ("main", "a/../other", DIFFERS),
            ("*.md", "a/b.md", FITS),
            ("*.md", "/a//b.md", doubt(JudgedReason::Respelled)),
            ("*.md", "see //b.md", FITS),
            ("*/b.md", "see //b.md", doubt(JudgedReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/a", FITS),
            ("https://api.x/public/*", "https://api.x/public/%2e%2e/admin", doubt(JudgedReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/..%2fadmin", doubt(JudgedReason::Respelled)),
            ("https://api.x/public/*", "HTTPS://API.X/public/a", doubt(JudgedReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/admin", DIFFERS),
            ("https://API.x:443/public/*", "https://api.x/public/a", doubt(JudgedReason::Respelled)),
            ("https://b\u{fc}cher.x/*", "https://xn--bcher-kva.x/a", doubt(JudgedReason::Respelled)),
            ("https://*.x.com/*", "https://a.x.com/b", FITS),
            ("https://*.x.com/*", "https://evil/a.x.com/", doubt(JudgedReason::CrossesParts)),
            ("https://*.x.com/*", "https://evil?a.x.com/", doubt(JudgedReason::Respelled)),
            ("https://*.x.com/*", "https://evil/?a.x.com/", doubt(JudgedReason::CrossesParts)),
            ("*.x.com/*", "https://a.x.com/b", FITS),
            ("*.x.com/*", "https://evil/a.x.com/", doubt(JudgedReason::CrossesParts)),
            ("https://api.x*", "https://api.x/a", FITS),
            ("https://api.x*", "https://api.x", FITS),
            ("https://api.x*", "https://api.x@evil/", doubt(JudgedReason::Respelled)),
            ("https://api.x*", "https://api.x.evil/", doubt(JudgedReason::CrossesParts)),
            ("https://api.*/v1", "https://api.x/v1", FITS),
            ("https://api*/v1", "https://api.x/v1", FITS),
            ("https://api*.x", "https://api1.x", FITS),
            ("https://api*.x", "https://api.x/secret.x", doubt(JudgedReason::CrossesParts)),
            ("https://*", "https://a.b/c", FITS),
            ("https://*", "http://a.b/c", DIFFERS),
            ("https://a.*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://evil/?u=x://a.b/c", doubt(JudgedReason::CrossesParts)),
            ("https://a.?", "https://a.b", FITS),
            ("https://a.?", "https://a.b/", doubt(JudgedReason::Respelled)),
            ("https://a?b", "https://a/b", doubt(JudgedReason::CrossesParts)),
            ("https://a.b#*", "https://a.b#c", doubt(JudgedReason::Respelled)),
            ("*evil*", "https://%65vil.x/", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "evil.x", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "EVIL.x:443", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "\u{ff45}vil.x", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "https://evil.x.:443/", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "view-source:https://evil.x/", doubt(JudgedReason::Respelled)),
            ("https://evil.x*", "good.x", DIFFERS),
            ("https://*", "good.x", doubt(JudgedReason::Respelled)),
            ("https://*", "plain", DIFFERS),
            ("http*", "plain.txt", DIFFERS),
            ("*evil.x*", "EVIL.x", doubt(JudgedReason::Respelled)),
            ("*evil.x*", "see \u{ff25}\u{ff36}\u{ff29}\u{ff2c}.x", doubt(JudgedReason::Letters)),
            ("Drop*", "DROP table", doubt(JudgedReason::Letters)),
            ("drop", "DROP", doubt(JudgedReason::Letters)),
            ("/secret/*", "//SECRET/x", doubt(JudgedReason::Letters)),
            ("*a/./b", "A/./B", doubt(JudgedReason::Letters)),
            ("/s\u{e9}cret/*", "/se\u{301}cret/k", doubt(JudgedReason::Letters)),
            ("/s\u{e9}cret/*", "/S\u{c9}CRET/k", doubt(JudgedReason::Letters)),
            ("/s\u{e9}cret/*", "/s%C3%A9cret/k", doubt(JudgedReason::Respelled)),
            ("/secret/*", "file:///secret/k", doubt(JudgedReason::Respelled)),
            ("/secret/*", "file:/%73ecret/k", doubt(JudgedReason::Respelled)),
            ("/secret/*", "FILE://localhost/secret/k", doubt(JudgedReason::Respelled)),
            ("/secret/*", " /secret/k", doubt(JudgedReason::Respelled)),
            ("/secret/*", "/\u{200b}secret/k", doubt(JudgedReason::Letters)),
            (r"C:\\Secret\\*", "c:/secret/k", doubt(JudgedReason::Letters)),
            ("/pub/*", "/pub/\u{ff0e}\u{ff0e}/secret", doubt(JudgedReason::Climbs)),
            ("/pub/*", "/pub/\u{898b}\u{ff0f}\u{ff11}", FITS),
            ("\u{ff0a}x*", "\u{ff0a}x y", FITS),
            ("\u{ff0a}x*", "y x y", DIFFERS),
            (r"a\*b/*", "a*b/c", FITS),
            (r"https://a.b/\*", "https://a.b/*", FITS),
        ] {
            assert_eq!(GlobOn::compile(glob).unwrap().judge(text), expected, "{glob} and {text:?}");
        }
    }

    #[test]
    fn an_expression_goes_by_more_than_letters() {
        let of = |text: &str| RegexOn { expression: Regex::new(text).unwrap(), of_paths: text.contains('/') };
        for (expression, text, expected) in [
            ("^/secret/", "/secret/x", FITS),
            ("^/secret/", "//secret/x", doubt(JudgedReason::Respelled)),
            ("^/secret/", "/x/../y", doubt(JudgedReason::Climbs)),
            ("^/secret/", "/x", DIFFERS),
            ("^secret$", "secret", FITS),
            ("^secret$", "\u{ff53}ecret", doubt(JudgedReason::Letters)),
            ("^secret$", "SECRET", DIFFERS),
            ("^https://evil", "evil.x", doubt(JudgedReason::Respelled)),
            (r"^https://evil\.x/", "HTTPS://evil.x/", doubt(JudgedReason::Respelled)),
        ] {
            assert_eq!(of(expression).judge(text), expected, "{expression} and {text:?}");
        }
    }
}
