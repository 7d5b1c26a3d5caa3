//! Globs and regular expressions on texts. Where a text is a path or an address they go by more than its letters: a rule that denies
//! or asks fits other spellings too, and one that allows only fits the normal one.

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

/// A glob on texts.
#[derive(Debug, Clone)]
pub(crate) struct GlobOn {
    own: Glob,
    /// The same with its own spelling made normal, if it has another.
    normal: Option<Glob>,
    /// The same in folded letters, with slashes for backslashes.
    folded: Option<Glob>,
    /// Whether it is about addresses, as it has a `://`.
    of_addresses: bool,
    /// Its parts, to be held against those of an address.
    parts: Option<AddressShape>,
}

impl GlobOn {
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        let own = Glob::compile(glob)?;
        let normal = Some(normal_glob(glob)).filter(|normal| normal != glob);
        let parts = if matches!(own, Glob::Shape { .. }) { Some(AddressShape::compile(glob)?) } else { None };
        // A glob whose normal spelling is none, as its backslashes stand for something, has only its own.
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

/// A regular expression on texts.
#[derive(Debug, Clone)]
pub(crate) struct RegexOn {
    pub(crate) expression: Regex,
    /// Whether it speaks of paths, as it has a slash.
    pub(crate) of_paths: bool,
}

impl RegexOn {
    pub(crate) fn judge(&self, text: &str) -> Verdict {
        let fits = |text: &str| self.expression.is_match(text);
        // An expression says itself which case it means, with `(?i)`.
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

/// An address that no rule names: whatever fits it is about any address, or about none.
const ANY_ADDRESS: &str = "https://any.invalid/";

/// A text before a pattern.
struct Candidate<'a> {
    text: &'a str,
    /// Whether the pattern is about paths.
    of_paths: bool,
    /// Whether the pattern is about addresses.
    of_addresses: bool,
    fits_as_written: bool,
}

impl Candidate<'_> {
    /// `fits` is whether another spelling fits, `fits_folded` whether it does in folded letters, and `is_spread` whether a wildcard
    /// covers more than one part of an address.
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
        // `/safe/*` must not allow `/safe/../etc`, nor `/secret/*` miss `/safe/../secret`, wherever the links on the way lead.
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

    /// Whether a text is no address to a pattern, although a program could put a scheme before it: a word, to a pattern that any
    /// address would fit.
    fn is_plain(&self, fits: impl Fn(&str) -> bool) -> bool {
        let is_host = self.of_addresses && folded(self.text).contains('.');
        !has_others(self.text) && !is_host && fits(ANY_ADDRESS)
    }
}

/// Folded letters, with slashes for backslashes.
fn with_slashes(text: &str) -> String {
    folded(text).replace('\\', "/")
}

/// A glob as its author would have written it for the normal spelling of a path or an address.
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

/// The parts of a glob, as far as they are those of an address.
#[derive(Debug, Clone)]
struct AddressShape {
    /// Of scheme and authority together, if the glob does not tell them apart.
    origin: Glob,
    /// Of all that follows; none if nothing may.
    rest: Option<Glob>,
}

impl AddressShape {
    fn compile(glob: &str) -> Result<Self, RuleError> {
        let begin = glob.find("://").map_or(0, |at| at + "://".len());
        let cut = glob[begin..].find(['/', '#']).map_or(glob.len(), |at| begin + at);
        let (origin, rest) = glob.split_at(cut);
        // `https://api.x*` is about what follows the host. A host that is a wildcard itself stays one.
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
