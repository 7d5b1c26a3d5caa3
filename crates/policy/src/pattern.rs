//! Globs and regular expressions over text. Compiled once, and matched without allocation.

use regex::{Regex, RegexBuilder};

use crate::RuleError;

/// Maximum length of a glob, regular expression or path pattern in a rule, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 1_024;
/// Maximum memory that a compiled regular expression may use, in bytes.
const MAX_COMPILED_REGEX_BYTES: usize = 256 * 1024;

/// A glob, compiled to the fastest way in which it can be matched.
#[derive(Debug, Clone)]
pub(crate) enum GlobPattern {
    /// A literal text without wildcards.
    Exactly(String),
    /// The glob `*`, which matches any text.
    Anything,
    /// A glob that contains wildcards and is not `*` alone.
    WithWildcards {
        /// The glob as a regular expression.
        expression: Regex,
        /// Set if the glob contains a slash, and is therefore intended for paths.
        is_for_paths: bool,
    },
}

impl GlobPattern {
    /// Compiles a glob: `*` matches any characters, `?` one character, and `\` escapes `*`, `?` and `\`. A backslash
    /// before any other character is an error: the author of `C:\secret` means a literal backslash, and would not
    /// notice that the rule never applies.
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        if glob.len() > MAX_PATTERN_BYTES {
            return Err(RuleError::TooLong { part: "pattern", most: MAX_PATTERN_BYTES });
        }
        if glob == "*" {
            return Ok(Self::Anything);
        }
        let (mut exactly, mut shape, mut has_wildcard) = (String::new(), String::from(r"\A"), false);
        let mut characters = glob.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' => shape.push_str(".*"),
                '?' => shape.push('.'),
                other => {
                    let literal = match other {
                        '\\' => characters
                            .next()
                            .filter(|next| matches!(next, '*' | '?' | '\\'))
                            .ok_or_else(|| RuleError::Backslash(glob.to_owned()))?,
                        other => other,
                    };
                    exactly.push(literal);
                    shape.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
                    continue;
                }
            }
            has_wildcard = true;
        }
        if !has_wildcard {
            return Ok(Self::Exactly(exactly));
        }
        shape.push_str(r"\z");
        let built = RegexBuilder::new(&shape).dot_matches_new_line(true).size_limit(MAX_COMPILED_REGEX_BYTES).build();
        let expression = built.map_err(|error| regex_rule_error(glob, &error))?;
        Ok(Self::WithWildcards { expression, is_for_paths: exactly.contains(['/', '\\']) })
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exactly(exactly) => exactly == text,
            Self::Anything => true,
            Self::WithWildcards { expression, .. } => expression.is_match(text),
        }
    }
}

/// Returns a glob that matches exactly this text.
#[must_use]
pub fn escape_glob(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

/// Compiles a regular expression. It may match anywhere in a text, or with `whole` must match the whole text, as in a
/// rule that allows.
pub(crate) fn compile_regex(text: &str, whole: bool) -> Result<Regex, RuleError> {
    if text.len() > MAX_PATTERN_BYTES {
        return Err(RuleError::TooLong { part: "expression", most: MAX_PATTERN_BYTES });
    }
    if text.is_empty() {
        return Err(RuleError::EmptyExpression);
    }
    // Compiled separately first, so that an unbalanced parenthesis can't end the anchoring group.
    let found = RegexBuilder::new(text)
        .size_limit(MAX_COMPILED_REGEX_BYTES)
        .build()
        .map_err(|error| regex_rule_error(text, &error))?;
    if !whole {
        return Ok(found);
    }
    RegexBuilder::new(&format!(r"\A(?:{text})\z"))
        .size_limit(MAX_COMPILED_REGEX_BYTES)
        .build()
        .map_err(|error| regex_rule_error(text, &error))
}

fn regex_rule_error(expression: &str, error: &regex::Error) -> RuleError {
    RuleError::Expression { expression: expression.to_owned(), cause: error.to_string() }
}

/// Returns `true` if a text, read as a path, contains `..` or a NUL byte, so that its real location may differ from the
/// written one.
pub(crate) fn may_escape_folder(text: &str) -> bool {
    text.contains('\0') || text.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn glob_matches_the_whole_text() {
        let fits = |glob: &str, text: &str| GlobPattern::compile(glob).unwrap().matches(text);
        for (glob, text) in [
            ("*", ""),
            ("send", "send"),
            ("send_*", "send_"),
            ("send_*", "send_\nmail"),
            ("*_file", "delete_file"),
            ("?et", "get"),
            ("a*c*e", "abcde"),
            (r"\*", "*"),
            ("a.b+c", "a.b+c"),
        ] {
            assert!(fits(glob, text), "{glob:?} fits {text:?}");
        }
        for (glob, text) in
            [("send", "send2"), ("send", "Send"), ("send_*", "resend_x"), ("?et", "et"), (r"\*", "x"), ("a.b", "axb")]
        {
            assert!(!fits(glob, text), "{glob:?} does not fit {text:?}");
        }
    }

    #[test]
    fn unescaped_backslash_is_rejected() {
        assert!(GlobPattern::compile(r"C:\\secret\\*").unwrap().matches(r"C:\secret\a"), "a path of Windows");
        for bad in [r"C:\secret\\*", r"x\"] {
            assert_eq!(
                GlobPattern::compile(bad).unwrap_err(),
                RuleError::Backslash(bad.to_owned()),
                "{bad:?} is refused"
            );
        }
    }

    #[test]
    fn escaped_text_matches_literally() {
        for text in ["plain", "*", "a?b", r"back\slash", r"\*", ""] {
            let glob = GlobPattern::compile(&escape_glob(text)).unwrap();
            assert!(matches!(&glob, GlobPattern::Exactly(own) if own == text), "{text:?} is a literal: {glob:?}");
        }
    }

    #[test]
    fn oversized_patterns_are_rejected() {
        assert!(GlobPattern::compile(&"a".repeat(MAX_PATTERN_BYTES + 1)).is_err(), "a glob longer than the maximum");
        assert!(compile_regex(r"(\w{100}){100}", false).is_err(), "an expression that would take much memory");
        assert!(compile_regex("(", false).is_err(), "an invalid expression");
        assert!(
            compile_regex("a)|(b", true).is_err(),
            "an expression that is valid only inside of the anchoring group"
        );
        assert_eq!(
            compile_regex("", false).unwrap_err(),
            RuleError::EmptyExpression,
            "an expression that matches every text"
        );
        assert!(
            !compile_regex("/safe/", true).unwrap().is_match("/etc/x#/safe/"),
            "a rule that allows must match the whole text"
        );
    }
}
