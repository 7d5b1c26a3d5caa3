//! Globs and regular expressions on texts. Where a text is a path or an address they go by more than its letters: a rule that denies
//! or asks fits other spellings too, and one that allows only fits the normal one.

use regex::Regex;
use url::Url;

use crate::RuleError;
use crate::pattern::{Glob, climbs};
use crate::spelling::{
    address, has_others, is_normal_address, is_normal_path, looks_like_path, normal_path, spellings,
};
use crate::verdict::{Reason, Verdict};

/// A glob on texts.
#[derive(Debug, Clone)]
pub(crate) struct GlobOn {
    own: Glob,
    /// The same with its own spelling made normal, if it has another.
    normal: Option<Glob>,
    /// Its parts, to be held against those of an address.
    parts: Option<AddressShape>,
}

impl GlobOn {
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        let own = Glob::compile(glob)?;
        let normal = Some(normal_glob(glob)).filter(|normal| normal != glob);
        let parts = if matches!(own, Glob::Shape { .. }) { Some(AddressShape::compile(glob)?) } else { None };
        // A glob whose normal spelling is none, as its backslashes stand for something, has only its own.
        Ok(Self { own, normal: normal.and_then(|normal| Glob::compile(&normal).ok()), parts })
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
        let fits = |text: &str| self.own.fits(text) || self.normal.as_ref().is_some_and(|normal| normal.fits(text));
        let is_spread = |url: &Url| self.parts.as_ref().is_some_and(|parts| !parts.fits(url));
        judge(text, of_paths, self.own.fits(text), fits, is_spread)
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
        judge(text, self.of_paths, fits(text), fits, |_| false)
    }
}

/// `fits_as_written` is whether the text itself fits, `fits` whether another spelling does, and `is_spread` whether a wildcard
/// covers more than one part of an address.
fn judge(
    text: &str,
    of_paths: bool,
    fits_as_written: bool,
    fits: impl Fn(&str) -> bool,
    is_spread: impl Fn(&Url) -> bool,
) -> Verdict {
    if !has_others(text) {
        return if fits_as_written { Verdict::Fits } else { Verdict::Differs(Reason::Differs) };
    }
    // `/safe/*` must not allow `/safe/../etc`, nor `/secret/*` miss `/safe/../secret`, wherever the links on the way lead.
    let climbs = climbs(text);
    if !fits_as_written {
        return if spellings(text).iter().any(|text| fits(text)) {
            Verdict::Doubtful(Reason::Respelled)
        } else if climbs && of_paths {
            Verdict::Doubtful(Reason::Climbs)
        } else {
            Verdict::Differs(Reason::Differs)
        };
    }
    match address(text) {
        _ if climbs => Verdict::Doubtful(Reason::Climbs),
        Some(url) if !is_normal_address(text, &url) => Verdict::Doubtful(Reason::Respelled),
        Some(url) if is_spread(&url) => Verdict::Doubtful(Reason::CrossesParts),
        Some(_) => Verdict::Fits,
        None if (of_paths || looks_like_path(text)) && !is_normal_path(text) => Verdict::Doubtful(Reason::Respelled),
        None => Verdict::Fits,
    }
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
    has_scheme: bool,
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
        Ok(Self { origin: Glob::compile(origin)?, has_scheme: begin > 0, rest })
    }

    fn fits(&self, url: &Url) -> bool {
        let before = &url[..url::Position::BeforePath];
        let rest = &url[url::Position::BeforePath..];
        // A glob with a scheme has the `://` at the same place, as no scheme has a wildcard's worth of it.
        let is_origin = self.origin.fits(before) && (!self.has_scheme || before.matches("://").count() == 1);
        is_origin
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
    const DIFFERS: Verdict = Verdict::Differs(Reason::Differs);

    fn doubt(reason: Reason) -> Verdict {
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
            ("/secret/*", "//secret/x", doubt(Reason::Respelled)),
            ("/secret/*", "/./secret/x", doubt(Reason::Respelled)),
            ("/secret/*", "/secret//x", doubt(Reason::Respelled)),
            ("/secret/*", "/a/../secret/x", doubt(Reason::Respelled)),
            ("/secret/*", "/%73ecret/x", doubt(Reason::Respelled)),
            ("/secret/*", r"\secret\x", doubt(Reason::Respelled)),
            ("/secret/*", "/secret/../x", doubt(Reason::Climbs)),
            ("/secret/*", "/x/../y", doubt(Reason::Climbs)),
            ("/secret/*", "/public/x", DIFFERS),
            ("//secret/./*", "/secret/x", doubt(Reason::Respelled)),
            ("/secret/x", "/secret/x", FITS),
            ("/secret/x", "//secret/x", doubt(Reason::Respelled)),
            ("/secret/x", "/secret/x/", doubt(Reason::Respelled)),
            ("/secret/x", "/secret/y/../x", doubt(Reason::Respelled)),
            ("/secret/x", "/link/../y", doubt(Reason::Climbs)),
            ("/secret/x", "/secret/y", DIFFERS),
            ("main", "a/../main", doubt(Reason::Respelled)),
            ("main", "a/../other", DIFFERS),
            ("*.md", "a/b.md", FITS),
            ("*.md", "/a//b.md", doubt(Reason::Respelled)),
            ("*.md", "see //b.md", FITS),
            ("*/b.md", "see //b.md", doubt(Reason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/a", FITS),
            ("https://api.x/public/*", "https://api.x/public/%2e%2e/admin", doubt(Reason::Respelled)),
            ("https://api.x/public/*", "https://api.x/public/..%2fadmin", doubt(Reason::Respelled)),
            ("https://api.x/public/*", "HTTPS://API.X/public/a", doubt(Reason::Respelled)),
            ("https://api.x/public/*", "https://api.x/admin", DIFFERS),
            ("https://API.x:443/public/*", "https://api.x/public/a", doubt(Reason::Respelled)),
            ("https://b\u{fc}cher.x/*", "https://xn--bcher-kva.x/a", doubt(Reason::Respelled)),
            ("https://*.x.com/*", "https://a.x.com/b", FITS),
            ("https://*.x.com/*", "https://evil/a.x.com/", doubt(Reason::CrossesParts)),
            ("https://*.x.com/*", "https://evil?a.x.com/", doubt(Reason::Respelled)),
            ("https://*.x.com/*", "https://evil/?a.x.com/", doubt(Reason::CrossesParts)),
            ("*.x.com/*", "https://a.x.com/b", FITS),
            ("*.x.com/*", "https://evil/a.x.com/", doubt(Reason::CrossesParts)),
            ("https://api.x*", "https://api.x/a", FITS),
            ("https://api.x*", "https://api.x", FITS),
            ("https://api.x*", "https://api.x@evil/", doubt(Reason::Respelled)),
            ("https://api.x*", "https://api.x.evil/", doubt(Reason::CrossesParts)),
            ("https://api.*/v1", "https://api.x/v1", FITS),
            ("https://*", "https://a.b/c", FITS),
            ("https://*", "http://a.b/c", DIFFERS),
            ("https://a.*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://a.b/c", FITS),
            ("*://a.b/*", "https://evil/?u=x://a.b/c", doubt(Reason::CrossesParts)),
            ("https://a.?", "https://a.b", FITS),
            ("https://a.?", "https://a.b/", doubt(Reason::Respelled)),
            ("https://a?b", "https://a/b", doubt(Reason::CrossesParts)),
            ("https://a.b#*", "https://a.b#c", doubt(Reason::Respelled)),
            ("*evil*", "https://%65vil.x/", doubt(Reason::Respelled)),
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
            ("^/secret/", "//secret/x", doubt(Reason::Respelled)),
            ("^/secret/", "/x/../y", doubt(Reason::Climbs)),
            ("^/secret/", "/x", DIFFERS),
            ("^secret$", "secret", FITS),
            (r"^https://evil\.x/", "HTTPS://evil.x/", doubt(Reason::Respelled)),
        ] {
            assert_eq!(of(expression).judge(text), expected, "{expression} and {text:?}");
        }
    }
}
