//! The tools of a server that models may use: `enabledTools` and `disabledTools` of its entry.

use serde::{Deserialize, Serialize};

/// Maximum length of a pattern on tool names, in bytes.
const MAX_TOOL_PATTERN_BYTES: usize = 1_000;

/// The tools of a server that are available to models, by patterns on their names. In a pattern, `*` matches any text,
/// including an empty one, and every other character matches only itself. Case matters, and there is no escape
/// character. A tool that the server renames is a new tool, which requires a review. Calls by the user are not
/// affected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ToolFilter {
    /// Patterns of the tools that are available to models, or `None` for all tools.
    pub enabled: Option<Vec<String>>,
    /// Patterns of the tools that are not available, even if `enabled` matches them.
    #[serde(default)]
    pub disabled: Vec<String>,
}

impl ToolFilter {
    /// Maximum number of patterns in each list of a filter.
    pub const MAX_PATTERNS: usize = 1_000;

    /// Returns `true` if the tool is available to models.
    #[must_use]
    pub fn admits(&self, tool: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches_tool_pattern(pattern, tool));
        self.enabled.as_deref().is_none_or(is_in) && !is_in(&self.disabled)
    }

    /// Restricts the filter to tools that `other` admits as well. If both filters have enabled patterns, a pattern
    /// remains if a pattern of the other filter covers it. Patterns that only overlap are dropped, so the result never
    /// admits more.
    pub fn restrict(&mut self, other: Self) {
        self.enabled = match (self.enabled.take(), other.enabled) {
            (Some(own), Some(other)) => {
                let is_covered =
                    |pattern: &String, by: &[String]| by.iter().any(|wider| matches_tool_pattern(wider, pattern));
                let mut both: Vec<String> = own.iter().filter(|name| is_covered(name, &other)).cloned().collect();
                both.extend(other.into_iter().filter(|name| !own.contains(name) && is_covered(name, &own)));
                Some(both)
            }
            (own, other) => own.or(other),
        };
        for pattern in other.disabled {
            if !self.disabled.contains(&pattern) {
                self.disabled.push(pattern);
            }
        }
    }

    /// Returns `true` if the filter has no patterns, so that all tools are available.
    #[must_use]
    pub const fn admits_all_tools(&self) -> bool {
        self.enabled.is_none() && self.disabled.is_empty()
    }

    /// Returns the reason why the patterns are invalid, or `None` if they are valid.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let lists = [self.enabled.as_deref().unwrap_or_default(), &self.disabled];
        if lists.iter().any(|list| list.len() > Self::MAX_PATTERNS) {
            return Some(format!("a list of its tools has more than {} names", Self::MAX_PATTERNS));
        }
        let is_bad = |name: &String| name.is_empty() || name.len() > MAX_TOOL_PATTERN_BYTES;
        let is_any_bad = lists.into_iter().flatten().any(is_bad);
        is_any_bad
            .then(|| format!("the name of a tool must not be empty or longer than {MAX_TOOL_PATTERN_BYTES} bytes"))
    }
}

/// Returns `true` if a pattern matches a tool's name. Scans the name once, from its start to its end.
fn matches_tool_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first occurrence of each part leaves the most text for the next one.
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_filter(enabled: Option<&[&str]>, disabled: &[&str]) -> ToolFilter {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        ToolFilter { enabled: enabled.map(texts), disabled: texts(disabled) }
    }

    #[test]
    fn star_in_tool_pattern_matches_any_text() {
        let cases = [
            ("read", "read", true),
            ("read", "read_file", false),
            ("read", "Read", false),
            ("read*", "read_file", true),
            ("read*", "read", true),
            ("read*", "pread", false),
            ("*_file", "read_file", true),
            ("*_file", "read_file_", false),
            ("*", "", true),
            ("*", "anything", true),
            ("**", "anything", true),
            ("a*b", "ab", true),
            ("a*b", "a", false),
            ("ab*ba", "aba", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("a*bb*b", "abbb", true),
            ("a*bb*b", "abb", false),
            ("r?ad", "read", false),
            ("r?ad", "r?ad", true),
            ("*é*", "café au lait", true),
            ("*", "a\nb", true),
            ("delete", "delete\u{200b}", false),
            ("delete*", "delete\u{200b}", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches_tool_pattern(pattern, name), expected, "{pattern:?} and {name:?}");
        }
    }

    #[test]
    fn pattern_with_many_stars_is_matched_in_bounded_time() {
        let (pattern, name) = ("*a".repeat(MAX_TOOL_PATTERN_BYTES / 2), "a".repeat(100_000));
        assert!(matches_tool_pattern(&pattern, &name), "each part is found");
        assert!(!matches_tool_pattern(&format!("{pattern}b"), &name), "the end differs");
    }

    #[test]
    fn tool_is_available_if_it_is_enabled_and_not_disabled() {
        let cases = [
            (tool_filter(None, &[]), "read", true),
            (tool_filter(None, &["read"]), "read", false),
            (tool_filter(None, &["read"]), "write", true),
            (tool_filter(Some(&["read"]), &[]), "read", true),
            (tool_filter(Some(&["read"]), &[]), "write", false),
            (tool_filter(Some(&[]), &[]), "read", false),
            (tool_filter(Some(&["*"]), &["del*"]), "delete", false),
            (tool_filter(Some(&["*"]), &["del*"]), "read", true),
        ];
        for (filter, tool, expected) in cases {
            assert_eq!(filter.admits(tool), expected, "{tool} by {filter:?}");
        }
    }

    #[test]
    fn restricted_filter_admits_tools_that_both_filters_admit() {
        let cases = [
            (tool_filter(None, &[]), tool_filter(None, &[]), tool_filter(None, &[])),
            (tool_filter(None, &["a"]), tool_filter(Some(&["b"]), &["a", "c"]), tool_filter(Some(&["b"]), &["a", "c"])),
            (tool_filter(Some(&["b"]), &[]), tool_filter(None, &[]), tool_filter(Some(&["b"]), &[])),
            (tool_filter(Some(&["a", "b"]), &[]), tool_filter(Some(&["b", "c"]), &[]), tool_filter(Some(&["b"]), &[])),
            (
                tool_filter(Some(&["read*", "x"]), &[]),
                tool_filter(Some(&["read_*", "*"]), &[]),
                tool_filter(Some(&["read*", "x", "read_*"]), &[]),
            ),
            (tool_filter(Some(&["a*"]), &[]), tool_filter(Some(&["*b"]), &[]), tool_filter(Some(&[]), &[])),
        ];
        for (first, second, expected) in cases {
            let mut restricted = first.clone();
            restricted.restrict(second.clone());
            assert_eq!(restricted, expected, "{first:?} and {second:?}");
            for tool in ["a", "b", "c", "ab", "x", "read", "read_all"] {
                let by_both = first.admits(tool) && second.admits(tool);
                assert!(by_both || !restricted.admits(tool), "{tool} by {first:?} and {second:?}");
            }
        }
    }

    #[test]
    fn number_and_length_of_tool_patterns_are_bounded() {
        assert_eq!(tool_filter(Some(&[]), &["*"]).problem(), None, "an empty list is valid");
        assert!(tool_filter(None, &[""]).problem().is_some(), "an empty name must be invalid");
        let long = "x".repeat(MAX_TOOL_PATTERN_BYTES + 1);
        assert!(tool_filter(Some(&[long.as_str()]), &[]).problem().is_some(), "a long name must be invalid");
        assert!(
            tool_filter(None, &vec!["x"; ToolFilter::MAX_PATTERNS + 1]).problem().is_some(),
            "a long list must be invalid"
        );
    }
}
