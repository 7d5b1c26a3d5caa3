//! Patterns of paths, and the resolved locations of paths. This module doesn't access the disk: callers resolve the
//! symbolic links.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use crate::RuleError;
use crate::case_folding::narrow_full_width_separators;
use crate::components_pattern::{ComponentsPattern, resolve_dot_components};
use crate::folder_path::{
    PathRoot, is_in_alias_folder, is_name_altered_by_windows, is_windows_device_path, path_components, split_path_root,
};
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::pattern::MAX_PATTERN_BYTES;

/// Maximum number of nested percent-encodings in a text that are decoded.
const MAX_PERCENT_DECODING_ROUNDS: usize = 3;

/// Resolved locations of paths, with all symbolic links followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResolvedPaths {
    /// The paths are on another computer, and are compared by name alone.
    #[default]
    Elsewhere,
    /// Resolved location of each path that was looked up, or `None` if it could not be resolved. A path without an
    /// entry counts as unresolved.
    Here(HashMap<String, Option<String>>),
}

impl ResolvedPaths {
    fn resolved_path(&self, path: &str) -> Option<&str> {
        match self {
            Self::Elsewhere => None,
            Self::Here(known) => known.get(path)?.as_deref(),
        }
    }
}

/// A pattern of absolute paths. It covers the location that it names and everything below.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    root: PathRoot,
    is_windows_device_path: bool,
    parts: ComponentsPattern,
    /// Path components of the pattern before the first component with a wildcard.
    literal_components: Vec<String>,
    /// The part of the pattern before its first wildcard, as a path whose symbolic links are resolved.
    pub(crate) beginning: String,
}

impl PathPattern {
    pub(crate) fn compile(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(RuleError::TooLong { part: "path", most: MAX_PATTERN_BYTES });
        }
        let bad = || RuleError::Path(text.to_owned());
        let (root, rest) = split_path_root(text).ok_or_else(bad)?;
        let parts: Vec<&str> = path_components(root, rest).collect();
        if parts.contains(&"..") || text.contains('\0') {
            return Err(bad());
        }
        let literal_components = parts.iter().take_while(|part| !part.contains(['*', '?', '\\']));
        let literal_components: Vec<String> = literal_components.map(|&part| part.to_owned()).collect();
        let (drive, separator) = match root {
            PathRoot::Slash => (String::new(), "/"),
            PathRoot::Drive(letter) => (format!("{}:", char::from(letter)), "\\"),
            PathRoot::Share => ("\\".to_owned(), "\\"),
        };
        let beginning = format!("{drive}{separator}{}", literal_components.join(separator));
        Ok(Self {
            root,
            is_windows_device_path: is_windows_device_path(root, rest),
            parts: ComponentsPattern::compile(parts)?,
            literal_components,
            beginning,
        })
    }

    pub(crate) fn judge(&self, text: &str, facts: &ResolvedPaths) -> MatchVerdict {
        let (moved, forms) = (self.with_resolved_prefix(facts), possible_path_spellings(text));
        if text.contains('\0') || forms.iter().any(|form| form.contains('\0')) {
            return MatchVerdict::Doubtful(JudgementReason::Climbs);
        }
        let Some(first) = forms.first() else { return MatchVerdict::Doubtful(JudgementReason::NotWhole) };
        let by_names = forms[1..].iter().fold(self.judge_spelling(first, moved.as_ref()), |verdict, form| {
            verdict.and(self.judge_spelling(form, moved.as_ref()), JudgementReason::Respelled)
        });
        if matches!(by_names, MatchVerdict::Doubtful(_)) {
            return by_names;
        }
        match facts {
            ResolvedPaths::Elsewhere if has_parent_component(text) => MatchVerdict::Doubtful(JudgementReason::Climbs),
            ResolvedPaths::Elsewhere => by_names,
            ResolvedPaths::Here(_) => match facts.resolved_path(text) {
                Some(real) => by_names.and(self.judge_spelling(real, moved.as_ref()), JudgementReason::LeadsElsewhere),
                None => MatchVerdict::Doubtful(JudgementReason::Unresolved),
            },
        }
    }

    /// Returns the pattern in which the resolved location of its beginning replaces the beginning, or `None` if they
    /// are equal.
    fn with_resolved_prefix(&self, facts: &ResolvedPaths) -> Option<(PathRoot, ComponentsPattern)> {
        let real = facts.resolved_path(&self.beginning).filter(|real| *real != self.beginning)?;
        let (root, rest) = split_path_root(real)?;
        let first: Vec<&str> = path_components(root, rest).collect();
        Some((root, self.parts.with_replaced_prefix(&first, self.literal_components.len())))
    }

    /// Compares one form of a path with the pattern, by names only. `moved` is the relocated pattern, if the resolved
    /// location of its beginning differs.
    fn judge_spelling(&self, path: &str, moved: Option<&(PathRoot, ComponentsPattern)>) -> MatchVerdict {
        let Some((root, rest)) = split_path_root(path) else {
            return MatchVerdict::Doubtful(JudgementReason::NotWhole);
        };
        if path_components(root, rest).any(|part| is_name_altered_by_windows(root, part)) {
            return MatchVerdict::Doubtful(JudgementReason::Respelled);
        }
        let names = resolve_dot_components(path_components(root, rest));
        let own = match (self.root, root) {
            _ if self.is_windows_device_path != is_windows_device_path(root, rest) => {
                MatchVerdict::Doubtful(JudgementReason::NotWhole)
            }
            (own, other) if own == other => self.parts.judge(&names),
            (PathRoot::Drive(_), PathRoot::Drive(_)) => MatchVerdict::Differs(JudgementReason::Differs),
            _ => MatchVerdict::Doubtful(JudgementReason::NotWhole),
        };
        let moved = moved.filter(|(own, _)| *own == root).map(|(_, parts)| parts.judge(&names));
        match (own, moved) {
            (MatchVerdict::Fits, _) | (_, Some(MatchVerdict::Fits)) => MatchVerdict::Fits,
            (MatchVerdict::Differs(_), Some(doubt @ MatchVerdict::Doubtful(_))) => doubt,
            (MatchVerdict::Differs(_), _) if is_in_alias_folder(&names) => {
                MatchVerdict::Doubtful(JudgementReason::SecondName)
            }
            (own, _) => own,
        }
    }
}

/// Returns `true` if a path contains `..`, with a slash or a backslash as separator.
fn has_parent_component(text: &str) -> bool {
    crate::pattern::may_escape_folder(text)
}

/// Returns all forms in which programs may parse an absolute path, starting with the path itself: as written,
/// percent-decoded, with full-width separators, dots and percent signs replaced, and with backslashes as slashes.
pub(crate) fn possible_path_spellings(text: &str) -> Vec<String> {
    if split_path_root(text).is_none() {
        return Vec::new();
    }
    let mut forms = vec![text.to_owned()];
    for narrow in [str::to_owned, narrow_full_width_separators] {
        let mut last = text.to_owned();
        for _ in 0..=MAX_PERCENT_DECODING_ROUNDS {
            let narrow = narrow(&last);
            let next = percent_decode_str(&narrow).decode_utf8_lossy().into_owned();
            for form in [narrow, next.clone()] {
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
            if next == last {
                break;
            }
            last = next;
        }
    }
    let slashed = |text: &String| (text.starts_with('/') && text.contains('\\')).then(|| text.replace('\\', "/"));
    let slashed: Vec<String> = forms.iter().filter_map(slashed).collect();
    forms.extend(slashed);
    forms
}

/// Returns the normalized forms of a path, for display.
pub(crate) fn normalized_path_spellings(text: &str, facts: &ResolvedPaths) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    for form in possible_path_spellings(text) {
        let Some((root, rest)) = split_path_root(&form) else { continue };
        let names = resolve_dot_components(path_components(root, rest));
        shown.push(match root {
            PathRoot::Slash => format!("/{}", names.join("/")),
            PathRoot::Drive(letter) => format!("{}:\\{}", char::from(letter), names.join("\\")),
            PathRoot::Share => format!("\\\\{}", names.join("\\")),
        });
    }
    shown.extend(facts.resolved_path(text).map(str::to_owned));
    shown.dedup();
    shown
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

    fn resolved_paths(known: &[(&str, Option<&str>)]) -> ResolvedPaths {
        let own = |(path, real): &(&str, Option<&str>)| ((*path).to_owned(), real.map(str::to_owned));
        ResolvedPaths::Here(known.iter().map(own).collect())
    }

    #[test]
    fn unresolved_paths_are_matched_by_name() {
        let secret = PathPattern::compile("/secret/*").unwrap();
        for (path, expected) in [
            ("/secret/x", FITS),
            ("/secret/x/y", FITS),
            ("//secret/x", FITS),
            ("/./secret//x/.", FITS),
            ("/secret", DIFFERS),
            ("/secrets/x", DIFFERS),
            ("/public/x", DIFFERS),
            ("/public/../secret/x", doubtful(JudgementReason::Climbs)),
            ("/secret/../public", doubtful(JudgementReason::Climbs)),
            ("/Secret/x", doubtful(JudgementReason::Letters)),
            ("/%73ecret/x", doubtful(JudgementReason::Respelled)),
            ("/%2573ecret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/x%20y", FITS),
            ("/a%2f..%2fsecret/x", doubtful(JudgementReason::Respelled)),
            ("/secret/a%2f..%2f..%2fx", doubtful(JudgementReason::Respelled)),
            (r"/a\..\secret\x", doubtful(JudgementReason::Respelled)),
            ("/%ff/x", DIFFERS),
            ("/secret/%ff/..%2f..%2fx", doubtful(JudgementReason::Respelled)),
            ("/secret/\u{ff0e}\u{ff0e}/x", doubtful(JudgementReason::Respelled)),
            ("/secret/\u{ff05}2e./x", doubtful(JudgementReason::Respelled)),
            ("secret/x", doubtful(JudgementReason::NotWhole)),
            ("~/x", doubtful(JudgementReason::NotWhole)),
            ("file:///secret/x", doubtful(JudgementReason::NotWhole)),
            (r"C:\secret\x", doubtful(JudgementReason::NotWhole)),
            ("/secret/x\0", doubtful(JudgementReason::Climbs)),
            ("/secret/x%00y", doubtful(JudgementReason::Climbs)),
            ("\0", doubtful(JudgementReason::Climbs)),
            ("/proc/self/root/secret/x", doubtful(JudgementReason::SecondName)),
            ("/dev/fd/3", doubtful(JudgementReason::SecondName)),
            ("/dev/null", DIFFERS),
        ] {
            assert_eq!(secret.judge(path, &ResolvedPaths::Elsewhere), expected, "{path:?}");
        }
        let proc = PathPattern::compile("/proc/1/*").unwrap();
        assert_eq!(proc.judge("/proc/1/status", &ResolvedPaths::Elsewhere), FITS, "a pattern below /proc");
        let through_root = proc.judge("/proc/self/root/proc/1/status", &ResolvedPaths::Elsewhere);
        assert_eq!(through_root, doubtful(JudgementReason::SecondName), "the same under another name");
        let drive = PathPattern::compile(r"C:\Users\*").unwrap();
        for (path, expected) in [
            (r"C:\Users\Ann", FITS),
            ("c:/Users/Ann", FITS),
            (r"c:\users\Ann", doubtful(JudgementReason::Letters)),
            (r"D:\Users\Ann", DIFFERS),
            (r"C:\Users.\Ann", doubtful(JudgementReason::Respelled)),
            ("/Users/Ann", doubtful(JudgementReason::NotWhole)),
            (r"C:Users\Ann", doubtful(JudgementReason::NotWhole)),
            (r"\\?\UNC\localhost\C$\Users\Ann", doubtful(JudgementReason::NotWhole)),
            (r"\??\C:\Users\Ann", doubtful(JudgementReason::NotWhole)),
        ] {
            assert_eq!(drive.judge(path, &ResolvedPaths::Elsewhere), expected, "{path:?}");
        }
        let share = PathPattern::compile(r"\\host\share\*").unwrap();
        for (path, expected) in [
            (r"\\host\share\a", FITS),
            (r"\\host\other\a", DIFFERS),
            (r"\\?\UNC\host\share\a", doubtful(JudgementReason::NotWhole)),
            (r"\\.\UNC\host\share\a", doubtful(JudgementReason::NotWhole)),
            ("//./UNC/host/share/a", doubtful(JudgementReason::NotWhole)),
        ] {
            assert_eq!(share.judge(path, &ResolvedPaths::Elsewhere), expected, "{path:?}");
        }
    }

    #[test]
    fn resolved_links_are_matched_as_well() {
        let safe = PathPattern::compile("/safe/*").unwrap();
        let facts = resolved_paths(&[
            ("/safe", Some("/safe")),
            ("/safe/a", Some("/safe/a")),
            ("/safe/link", Some("/etc/passwd")),
            ("/other/link", Some("/safe/a")),
            ("/other/a", Some("/other/a")),
            ("/safe/x/../a", Some("/safe/a")),
            ("/safe/link/../a", Some("/etc/a")),
            ("/other/hidden", None),
        ]);
        for (path, expected) in [
            ("/safe/a", FITS),
            ("/safe/link", doubtful(JudgementReason::LeadsElsewhere)),
            ("/other/link", doubtful(JudgementReason::LeadsElsewhere)),
            ("/other/a", DIFFERS),
            ("/safe/x/../a", FITS),
            ("/safe/link/../a", doubtful(JudgementReason::LeadsElsewhere)),
            ("/other/hidden", doubtful(JudgementReason::Unresolved)),
            ("/not/looked/for", doubtful(JudgementReason::Unresolved)),
        ] {
            assert_eq!(safe.judge(path, &facts), expected, "{path:?}");
        }
        assert_eq!(normalized_path_spellings("/safe/x/../link", &facts), ["/safe/link"], "collapsed by names");
        assert_eq!(
            normalized_path_spellings("/safe/link", &facts),
            ["/safe/link", "/etc/passwd"],
            "with the resolved location"
        );
        assert_eq!(normalized_path_spellings("//a/%62", &facts), ["/a/%62", "/a/b"], "decoded");
        assert_eq!(normalized_path_spellings("C:/a/./b", &facts), [r"c:\a\b"], "of Windows");
        assert_eq!(normalized_path_spellings(r"\\host\a", &facts), [r"\\host\a"], "a share");
    }

    #[test]
    fn resolved_prefix_of_a_path_pattern_is_used() {
        let tmp = PathPattern::compile("/tmp/*.md").unwrap();
        assert_eq!(tmp.beginning, "/tmp", "the path to resolve");
        assert_eq!(PathPattern::compile(r"C:\Users\Ann\*").unwrap().beginning, r"c:\Users\Ann", "a Windows path");
        assert_eq!(PathPattern::compile(r"\\host\share\*").unwrap().beginning, r"\\host\share", "a share");
        let facts = resolved_paths(&[
            ("/tmp", Some("/private/tmp")),
            ("/tmp/a.md", Some("/private/tmp/a.md")),
            ("/private/tmp/a.md", Some("/private/tmp/a.md")),
            ("/private/tmp/a.MD", Some("/private/tmp/a.MD")),
            ("/private/a.md", Some("/private/a.md")),
        ]);
        assert_eq!(tmp.judge("/tmp/a.md", &facts), FITS, "through the link");
        assert_eq!(tmp.judge("/private/tmp/a.md", &facts), FITS, "at the resolved location");
        assert_eq!(tmp.judge("/private/tmp/a.MD", &facts), doubtful(JudgementReason::Letters), "in another case");
        assert_eq!(tmp.judge("/private/a.md", &facts), DIFFERS, "elsewhere");
        let odd = resolved_paths(&[("/tmp", Some("nowhere")), ("/tmp/a.md", Some("/tmp/a.md"))]);
        assert_eq!(tmp.judge("/tmp/a.md", &odd), FITS, "a beginning that resolves to a relative path is ignored");
    }

    #[test]
    fn relative_or_invalid_path_pattern_is_rejected() {
        for bad in ["", "secret", "~/x", "/a/../b", "file:///x", "/a\0", r"/a\b"] {
            assert!(PathPattern::compile(bad).is_err(), "{bad:?}");
        }
        assert!(
            PathPattern::compile(&format!("/{}", "a".repeat(MAX_PATTERN_BYTES))).is_err(),
            "one byte more than the maximum"
        );
        assert!(
            PathPattern::compile(&format!("/{}", "a".repeat(MAX_PATTERN_BYTES - 1))).is_ok(),
            "a pattern of the maximum length"
        );
    }
}
