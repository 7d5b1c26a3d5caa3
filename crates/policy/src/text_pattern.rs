//! Globs and regular expressions for strings. Strings that are paths or addresses are compared in several spellings: a
//! rule that denies or asks also matches alternative spellings, and a rule that allows matches only the normal one.

use std::collections::BTreeSet;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use url::Url;

use crate::RuleError;
use crate::case_folding::{fold_case_and_width, fold_glob_literals, narrow_full_width_separators};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::pattern::{GlobPattern, may_escape_folder};
use crate::spelling::{
    alternative_spellings, is_normalized_address, is_normalized_path, looks_like_path, may_have_other_spellings,
    normalize_path, parse_as_url,
};

/// A glob that a rule compares with strings. Paths and addresses are compared in several spellings.
#[derive(Debug, Clone)]
pub(crate) struct TextGlob {
    own: GlobPattern,
    /// The glob with its paths or addresses in normal spelling, or `None` if they already are.
    normal: Option<GlobPattern>,
    /// The glob after folding its letters and replacing backslashes with slashes.
    folded: Option<GlobPattern>,
    /// Set if the glob contains `://`, and is therefore intended for addresses.
    is_for_addresses: bool,
    /// The glob split into the components of an address, or `None` if it has no wildcards.
    parts: Option<AddressGlob>,
}

impl TextGlob {
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        let own = GlobPattern::compile(glob)?;
        let normal = Some(glob_of_normalized_spellings(glob)).filter(|normal| normal != glob);
        let parts =
            if matches!(own, GlobPattern::WithWildcards { .. }) { Some(AddressGlob::compile(glob)?) } else { None };
        // A glob whose normal spelling is invalid, because its backslashes are escapes, is compared as written only.
        let normal = normal.and_then(|normal| GlobPattern::compile(&normal).ok());
        let folded = GlobPattern::compile(&fold_glob_literals(glob, fold_and_unify_slashes)).ok();
        Ok(Self { own, normal, folded, is_for_addresses: glob.contains("://"), parts })
    }

    pub(crate) fn glob(&self) -> &GlobPattern {
        &self.own
    }

    pub(crate) fn judge(&self, text: &str) -> MatchVerdict {
        let is_for_paths = match &self.own {
            GlobPattern::Anything => return MatchVerdict::Fits,
            GlobPattern::Exactly(own) if own == text => return MatchVerdict::Fits,
            GlobPattern::Exactly(own) => own.contains(['/', '\\']),
            GlobPattern::WithWildcards { is_for_paths, .. } => *is_for_paths,
        };
        let candidate = ArgumentText {
            text,
            is_for_paths,
            is_for_addresses: self.is_for_addresses,
            fits_as_written: self.own.matches(text),
        };
        let fits =
            |text: &str| self.own.matches(text) || self.normal.as_ref().is_some_and(|normal| normal.matches(text));
        let fits_folded =
            |text: &str| self.folded.as_ref().is_some_and(|own| own.matches(&fold_and_unify_slashes(text)));
        let is_spread = |url: &Url| self.parts.as_ref().is_some_and(|parts| !parts.matches(url));
        candidate.judge(fits, fits_folded, is_spread)
    }
}

/// A regular expression that a rule compares with strings, which may be paths or addresses.
#[derive(Debug, Clone)]
pub(crate) struct TextRegex {
    pub(crate) expression: Regex,
    /// Set if the expression contains a slash, and is therefore intended for paths.
    pub(crate) is_for_paths: bool,
}

impl TextRegex {
    pub(crate) fn judge(&self, text: &str) -> MatchVerdict {
        let fits = |text: &str| self.expression.is_match(text);
        // Case is not folded, because the author of an expression can request that with `(?i)`.
        let fits_folded = |text: &str| fits(&text.nfkc().collect::<String>());
        let candidate = ArgumentText {
            text,
            is_for_paths: self.is_for_paths,
            is_for_addresses: self.expression.as_str().contains("://"),
            fits_as_written: fits(text),
        };
        candidate.judge(fits, fits_folded, |_| false)
    }
}

/// An address that rules don't contain. A pattern that matches it, such as `*` or `https://*`, matches any address.
const SAMPLE_OF_ANY_ADDRESS: &str = "https://any.invalid/";

/// A string argument that is compared with a glob or regular expression.
struct ArgumentText<'a> {
    text: &'a str,
    /// Set if the pattern contains a slash, and is therefore intended for paths.
    is_for_paths: bool,
    /// Set if the pattern contains `://`, and is therefore intended for addresses.
    is_for_addresses: bool,
    fits_as_written: bool,
}

impl ArgumentText<'_> {
    /// Compares the string in all spellings. `fits` matches an alternative spelling, `fits_folded` matches it with
    /// folded letters, and `is_spread` returns `true` if a wildcard covers more than one component of an address.
    fn judge(
        &self,
        fits: impl Fn(&str) -> bool,
        fits_folded: impl Fn(&str) -> bool,
        is_spread: impl Fn(&Url) -> bool,
    ) -> MatchVerdict {
        let Self { text, is_for_paths, .. } = *self;
        if self.fits_as_written && !may_have_other_spellings(text) {
            return MatchVerdict::Fits;
        }
        // `/safe/*` must not allow `/safe/../etc`, and `/secret/*` must not miss `/safe/../secret`, whatever symbolic
        // links the path contains.
        let climbs = may_escape_folder(text) || may_escape_folder(&narrow_full_width_separators(text));
        if !self.fits_as_written {
            let spellings = if self.is_plain_word_and_pattern_matches_any_address(&fits) {
                BTreeSet::new()
            } else {
                alternative_spellings(text)
            };
            return if spellings.iter().any(|text| fits(text)) {
                MatchVerdict::Doubtful(JudgementReason::Respelled)
            } else if climbs && is_for_paths {
                MatchVerdict::Doubtful(JudgementReason::Climbs)
            } else if fits_folded(text) || spellings.iter().any(|text| fits_folded(text)) {
                MatchVerdict::Doubtful(JudgementReason::Letters)
            } else {
                MatchVerdict::Differs(JudgementReason::Differs)
            };
        }
        match parse_as_url(text) {
            _ if climbs => MatchVerdict::Doubtful(JudgementReason::Climbs),
            Some(url) if !is_normalized_address(text, &url) => MatchVerdict::Doubtful(JudgementReason::Respelled),
            Some(url) if is_spread(&url) => MatchVerdict::Doubtful(JudgementReason::CrossesParts),
            Some(_) => MatchVerdict::Fits,
            None if (is_for_paths || looks_like_path(text)) && !is_normalized_path(text) => {
                MatchVerdict::Doubtful(JudgementReason::Respelled)
            }
            None => MatchVerdict::Fits,
        }
    }

    /// Returns `true` if the string is a plain word and the pattern matches any address. Such a string is not compared
    /// as an address, although a program could add a scheme to it.
    fn is_plain_word_and_pattern_matches_any_address(&self, fits: impl Fn(&str) -> bool) -> bool {
        let is_host = self.is_for_addresses && fold_case_and_width(self.text).contains('.');
        !may_have_other_spellings(self.text) && !is_host && fits(SAMPLE_OF_ANY_ADDRESS)
    }
}

/// Folds the letters of a text, and replaces backslashes with slashes.
fn fold_and_unify_slashes(text: &str) -> String {
    fold_case_and_width(text).replace('\\', "/")
}

/// Returns the glob that matches the normal spellings of the paths or addresses that this glob matches.
fn glob_of_normalized_spellings(glob: &str) -> String {
    let Some((scheme, rest)) = glob.split_once("://") else { return normalize_path(glob) };
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
    if let Some(port) = crate::address::default_port(&scheme)
        && let Some(bare) = authority.strip_suffix(&format!(":{port}"))
    {
        authority = bare.to_owned();
    }
    let path = if path.is_empty() { String::new() } else { normalize_path(path) };
    format!("{scheme}://{authority}{path}")
}

/// A glob that was split into the components of an address.
#[derive(Debug, Clone)]
struct AddressGlob {
    /// Glob for the origin: scheme and authority together.
    origin: GlobPattern,
    /// Glob for the part after the origin, or `None` if the address must end with the origin.
    rest: Option<GlobPattern>,
}

impl AddressGlob {
    fn compile(glob: &str) -> Result<Self, RuleError> {
        let begin = glob.find("://").map_or(0, |at| at + "://".len());
        let cut = glob[begin..].find(['/', '#']).map_or(glob.len(), |at| begin + at);
        let (origin, rest) = glob.split_at(cut);
        // The wildcard in `https://api.x*` stands for the part after the host. A host that consists of a wildcard is
        // not changed.
        let bare = origin.trim_end_matches('*');
        let is_open = rest.is_empty() && bare.len() < origin.len() && !bare.ends_with('\\');
        let has_name = bare.len() > begin && !bare.ends_with('.');
        let origin = if is_open && has_name { bare } else { origin };
        let rest = match rest {
            "" if is_open => Some(GlobPattern::Anything),
            "" => None,
            rest => Some(GlobPattern::compile(rest)?),
        };
        Ok(Self { origin: GlobPattern::compile(origin)?, rest })
    }

    fn matches(&self, url: &Url) -> bool {
        let before = &url[..url::Position::BeforePath];
        let rest = &url[url::Position::BeforePath..];
        self.origin.matches(before)
            && match &self.rest {
                None => rest == "/",
                Some(own) => own.matches(rest),
            }
    }
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

    #[test]
    fn glob_detects_equivalent_spellings() {
        for (glob, text, expected) in [
            ("*", "https://user@evil//..", FITS),
            ("a", "a", FITS),
            ("a*", "ab", FITS),
            ("a*", "b", DIFFERS),
            ("/secret/*", "/secret/x", FITS),
            ("/secret/*", "//secret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/./secret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/secret//x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/a/../secret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/%73ecret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", r"\secret\x", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/secret/../x", doubtful(JudgementReason::Climbs)),
            ("/secret/*", "/x/../y", doubtful(JudgementReason::Climbs)),
            ("/secret/*", "/public/x", DIFFERS),
            ("//secret/./*", "/secret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/x", "/secret/x", FITS),
            ("/secret/x", "//secret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/x", "/secret/x/", doubtful(JudgementReason::Respelled)),
            ("/secret/x", "/secret/y/../x", doubtful(JudgementReason::Respelled)),
            ("/secret/x", "/link/../y", doubtful(JudgementReason::Climbs)),
            ("/link/../y", "/link/../y", FITS),
            ("https://user@a.b/", "https://user@a.b/", FITS),
            ("/secret/x", "/secret/y", DIFFERS),
            ("main", "a/../main", doubtful(JudgementReason::Respelled)),
            ("main", "a/../other", DIFFERS),
            ("*.md", "a/b.md", FITS),
            ("*.md", "/a//b.md", doubtful(JudgementReason::Respelled)),
            ("*.md", "see //b.md", FITS),
            ("*/b.md", "see //b.md", doubtful(JudgementReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/a", FITS),
            ("https://api.x/public/*", "https://api.x/public/%2e%2e/admin", doubtful(JudgementReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/..%2fadmin", doubtful(JudgementReason::Respelled)),
            ("https://api.x/public/*", "HTTPS://API.X/public/a", doubtful(JudgementReason::Respelled)),
            ("https://api.x/public/*", "https://api.x/admin", DIFFERS),
            ("https://API.x:443/public/*", "https://api.x/public/a", doubtful(JudgementReason::Respelled)),
            ("https://b\u{fc}cher.x/*", "https://xn--bcher-kva.x/a", doubtful(JudgementReason::Respelled)),
            ("https://*.x.com/*", "https://a.x.com/b", FITS),
            ("https://*.x.com/*", "https://evil/a.x.com/", doubtful(JudgementReason::CrossesParts)),
            ("https://*.x.com/*", "https://evil?a.x.com/", doubtful(JudgementReason::Respelled)),
            ("https://*.x.com/*", "https://evil/?a.x.com/", doubtful(JudgementReason::CrossesParts)),
            ("*.x.com/*", "https://a.x.com/b", FITS),
            ("*.x.com/*", "https://evil/a.x.com/", doubtful(JudgementReason::CrossesParts)),
            ("https://api.x*", "https://api.x/a", FITS),
            ("https://api.x*", "https://api.x", FITS),
            ("https://api.x*", "https://api.x@evil/", doubtful(JudgementReason::Respelled)),
            ("https://api.x*", "https://api.x.evil/", doubtful(JudgementReason::CrossesParts)),
            ("https://api.*/v1", "https://api.x/v1", FITS),
            ("https://api*/v1", "https://api.x/v1", FITS),
            ("https://api*.x", "https://api1.x", FITS),
            ("https://api*.x", "https://api.x/secret.x", doubtful(JudgementReason::CrossesParts)),
            ("https://*", "https://a.b/c", FITS),
            ("https://*", "http://a.b/c", DIFFERS),
            ("https://a.*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://evil/?u=x://a.b/c", doubtful(JudgementReason::CrossesParts)),
            ("https://a.?", "https://a.b", FITS),
            ("https://a.?", "https://a.b/", doubtful(JudgementReason::Respelled)),
            ("https://a?b", "https://a/b", doubtful(JudgementReason::CrossesParts)),
            ("https://a.b#*", "https://a.b#c", doubtful(JudgementReason::Respelled)),
            ("*evil*", "https://%65vil.x/", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "evil.x", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "EVIL.x:443", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "\u{ff45}vil.x", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "https://evil.x.:443/", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "view-source:https://evil.x/", doubtful(JudgementReason::Respelled)),
            ("https://evil.x*", "good.x", DIFFERS),
            ("https://*", "good.x", doubtful(JudgementReason::Respelled)),
            ("https://*", "plain", DIFFERS),
            ("http*", "plain.txt", DIFFERS),
            ("*evil.x*", "EVIL.x", doubtful(JudgementReason::Respelled)),
            ("*evil.x*", "see \u{ff25}\u{ff36}\u{ff29}\u{ff2c}.x", doubtful(JudgementReason::Letters)),
            ("Drop*", "DROP table", doubtful(JudgementReason::Letters)),
            ("drop", "DROP", doubtful(JudgementReason::Letters)),
            ("/secret/*", "//SECRET/x", doubtful(JudgementReason::Letters)),
            ("*a/./b", "A/./B", doubtful(JudgementReason::Letters)),
            ("/s\u{e9}cret/*", "/se\u{301}cret/k", doubtful(JudgementReason::Letters)),
            ("/s\u{e9}cret/*", "/S\u{c9}CRET/k", doubtful(JudgementReason::Letters)),
            ("/s\u{e9}cret/*", "/s%C3%A9cret/k", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "file:///secret/k", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "file:/%73ecret/k", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "FILE://localhost/secret/k", doubtful(JudgementReason::Respelled)),
            ("/secret/*", " /secret/k", doubtful(JudgementReason::Respelled)),
            ("/secret/*", "/\u{200b}secret/k", doubtful(JudgementReason::Letters)),
            (r"C:\\Secret\\*", "c:/secret/k", doubtful(JudgementReason::Letters)),
            ("/pub/*", "/pub/\u{ff0e}\u{ff0e}/secret", doubtful(JudgementReason::Climbs)),
            ("/pub/*", "/pub/\u{898b}\u{ff0f}\u{ff11}", FITS),
            ("\u{ff0a}x*", "\u{ff0a}x y", FITS),
            ("\u{ff0a}x*", "y x y", DIFFERS),
            (r"a\*b/*", "a*b/c", FITS),
            (r"https://a.b/\*", "https://a.b/*", FITS),
        ] {
            assert_eq!(TextGlob::compile(glob).unwrap().judge(text), expected, "{glob} and {text:?}");
        }
    }

    #[test]
    fn regex_detects_equivalent_spellings() {
        let of = |text: &str| TextRegex { expression: Regex::new(text).unwrap(), is_for_paths: text.contains('/') };
        for (expression, text, expected) in [
            ("^/secret/", "/secret/x", FITS),
            ("^/secret/", "//secret/x", doubtful(JudgementReason::Respelled)),
            ("^/secret/", "/x/../y", doubtful(JudgementReason::Climbs)),
            ("^/secret/", "/x", DIFFERS),
            ("^secret$", "secret", FITS),
            ("^secret$", "\u{ff53}ecret", doubtful(JudgementReason::Letters)),
            ("^secret$", "SECRET", DIFFERS),
            ("^https://evil", "evil.x", doubtful(JudgementReason::Respelled)),
            (r"^https://evil\.x/", "HTTPS://evil.x/", doubtful(JudgementReason::Respelled)),
        ] {
            assert_eq!(of(expression).judge(text), expected, "{expression} and {text:?}");
        }
    }
}
