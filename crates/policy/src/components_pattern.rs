//! Patterns over the components of a path, either of a file or of an address. A pattern covers the location that it
//! names and everything below.

use crate::RuleError;
use crate::case_folding::fold_glob_literals;
use crate::folder_path::fold_file_name;
use crate::match_verdict::{JudgementReason, MatchVerdict};
use crate::pattern::GlobPattern;

/// Maximum number of components of a path that are compared with a pattern.
pub(crate) const MAX_PATH_COMPONENTS: usize = 512;

/// A pattern as a list of patterns for single path components.
#[derive(Debug, Clone)]
pub(crate) struct ComponentsPattern(Vec<ComponentPattern>);

#[derive(Debug, Clone)]
enum ComponentPattern {
    /// `**`: any number of components, including none.
    Any,
    One {
        exactly: GlobPattern,
        /// The glob that is compared with folded names, in which case, width and Unicode composition are normalized.
        folded: GlobPattern,
    },
}

impl ComponentsPattern {
    /// Compiles each component as a glob whose wildcards don't cross separators. `**` alone stands for any number of
    /// components.
    pub(crate) fn compile<'a>(parts: impl IntoIterator<Item = &'a str>) -> Result<Self, RuleError> {
        let compile = |part: &str| match part {
            "**" => Ok(ComponentPattern::Any),
            part => Ok(ComponentPattern::One {
                exactly: GlobPattern::compile(part)?,
                folded: GlobPattern::compile(&fold_glob_literals(part, |letters| fold_file_name(letters).collect()))?,
            }),
        };
        Ok(Self(parts.into_iter().map(compile).collect::<Result<_, _>>()?))
    }

    /// Returns the pattern in which the literal components `first` replace the first `in_place_of` components.
    pub(crate) fn with_replaced_prefix(&self, first: &[&str], in_place_of: usize) -> Self {
        let exactly = |name: &str| ComponentPattern::One {
            exactly: GlobPattern::Exactly(name.to_owned()),
            folded: GlobPattern::Exactly(fold_file_name(name).collect()),
        };
        let rest = self.0.iter().skip(in_place_of).cloned();
        Self(first.iter().map(|name| exactly(name)).chain(rest).collect())
    }

    /// Compares path components with the pattern.
    pub(crate) fn judge(&self, names: &[&str]) -> MatchVerdict {
        if names.len() > MAX_PATH_COMPONENTS {
            return MatchVerdict::Doubtful(JudgementReason::TooLong);
        }
        if self.matches_prefix(names, |part, name| part.matches(name)) {
            return MatchVerdict::Fits;
        }
        let names: Vec<String> = names.iter().map(|name| fold_file_name(name).collect()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if self.matches_prefix(&names, |part, name| part.matches_folded(name)) {
            MatchVerdict::Doubtful(JudgementReason::Letters)
        } else {
            MatchVerdict::Differs(JudgementReason::Differs)
        }
    }

    /// Returns `true` if the whole pattern matches the first components of a path. Tracks the set of reachable pattern
    /// positions, so that the time is bounded for every pattern.
    fn matches_prefix(&self, names: &[&str], fits: impl Fn(&ComponentPattern, &str) -> bool) -> bool {
        let mut places = vec![false; self.0.len() + 1];
        places[0] = true;
        self.mark_positions_after_wildcards(&mut places);
        for name in names {
            if places[self.0.len()] {
                return true;
            }
            let mut next = vec![false; places.len()];
            for (at, part) in self.0.iter().enumerate().filter(|(at, _)| places[*at]) {
                match part {
                    ComponentPattern::Any => next[at] = true,
                    part => next[at + 1] |= fits(part, name),
                }
            }
            self.mark_positions_after_wildcards(&mut next);
            places = next;
        }
        places[self.0.len()]
    }

    /// Marks the pattern positions that are reachable because a component `**` may match no path component.
    fn mark_positions_after_wildcards(&self, places: &mut [bool]) {
        for (at, part) in self.0.iter().enumerate() {
            if places[at] && matches!(part, ComponentPattern::Any) {
                places[at + 1] = true;
            }
        }
    }
}

impl ComponentPattern {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::One { exactly, .. } => exactly.matches(name),
        }
    }

    fn matches_folded(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::One { folded, .. } => folded.matches(name),
        }
    }
}

/// Resolves `.`, `..` and empty components by names alone.
pub(crate) fn resolve_dot_components<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut left = Vec::new();
    for name in names {
        match name {
            "" | "." => {}
            ".." => {
                left.pop();
            }
            name => left.push(name),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn pattern_covers_itself_and_its_descendants() {
        let judge = |pattern: &str, path: &str| {
            let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
            ComponentsPattern::compile(pattern.split('/').filter(|part| !part.is_empty())).unwrap().judge(&names)
        };
        let (fits, differs) = (MatchVerdict::Fits, MatchVerdict::Differs(JudgementReason::Differs));
        let letters = MatchVerdict::Doubtful(JudgementReason::Letters);
        for (pattern, path, expected) in [
            ("", "", fits),
            ("", "a", fits),
            ("a", "", differs),
            ("a", "a", fits),
            ("a", "a/b", fits),
            ("a", "ab", differs),
            ("a/b", "a", differs),
            ("a/*", "a", differs),
            ("a/*", "a/b", fits),
            ("a/*", "a/b/c", fits),
            ("a/*.md", "a/b/c.md", differs),
            ("a/*.md", "a/c.md", fits),
            ("a/*.md", "a/C.MD", letters),
            ("a/b?", "a/b", differs),
            ("a/**", "a", fits),
            ("**/c", "a/b/c/d", fits),
            ("**/c", "c", fits),
            ("**/c", "a/b", differs),
            ("a/**/c", "a/b/b/c", fits),
            ("a/**/c", "a/c", fits),
            ("a/**/c", "b/c", differs),
            ("a/**/b/**/c", "a/b/x/b/c", fits),
            ("a/**/b/**/c", "a/x/c", differs),
            ("A", "a", letters),
        ] {
            assert_eq!(judge(pattern, path), expected, "{pattern} and {path}");
        }
        let deep = vec!["a"; MAX_PATH_COMPONENTS];
        assert_eq!(ComponentsPattern::compile(["a"]).unwrap().judge(&deep), fits, "a path of the maximum depth");
        let deeper = vec!["a"; MAX_PATH_COMPONENTS + 1];
        assert_eq!(
            ComponentsPattern::compile(["b"]).unwrap().judge(&deeper),
            MatchVerdict::Doubtful(JudgementReason::TooLong),
            "a path beyond the maximum depth must not be checked"
        );
    }

    #[test]
    fn rebased_pattern_has_a_literal_prefix() {
        let moved = ComponentsPattern::compile(["tmp", "*.md"]).unwrap().with_replaced_prefix(&["private", "tmp*"], 1);
        assert_eq!(moved.judge(&["private", "tmp*", "a.md"]), MatchVerdict::Fits, "the new prefix is literal");
        assert_eq!(
            moved.judge(&["private", "tmpx", "a.md"]),
            MatchVerdict::Differs(JudgementReason::Differs),
            "the new prefix is not a pattern"
        );
        assert_eq!(
            moved.judge(&["tmp", "a.md"]),
            MatchVerdict::Differs(JudgementReason::Differs),
            "the old prefix is replaced"
        );
        assert_eq!(
            moved.judge(&["Private", "tmp*", "a.md"]),
            MatchVerdict::Doubtful(JudgementReason::Letters),
            "another case of the prefix"
        );
    }

    #[test]
    fn dot_segments_are_collapsed() {
        let collapse = |path: &str| resolve_dot_components(path.split('/')).join("/");
        for (path, expected) in
            [("/a//b/./c/", "a/b/c"), ("/a/../b", "b"), ("/../../b", "b"), ("a/b/../../..", ""), ("a/...", "a/...")]
        {
            assert_eq!(collapse(path), expected, "{path}");
        }
    }
}
