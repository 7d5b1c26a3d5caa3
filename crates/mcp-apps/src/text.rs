//! Excerpts of untrusted text, for display in faults and error messages.

use std::fmt;

/// Maximum length of an excerpt in characters, before escaping.
pub(crate) const MAX_EXCERPT_CHARS: usize = 80;

/// Beginning of an untrusted text, in quotation marks, with hidden characters escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedTextExcerpt(String);

impl UntrustedTextExcerpt {
    pub(crate) fn of(text: &str) -> Self {
        let mut characters = text.chars();
        let beginning: String = characters.by_ref().take(MAX_EXCERPT_CHARS).collect();
        let more = if characters.next().is_some() { "…" } else { "" };
        Self(format!("\"{}{more}\"", foreign::escape_invisible(&beginning)))
    }
}

/// Returns `true` if a text has no hidden characters and no white space.
pub(crate) fn has_only_visible_characters(text: &str) -> bool {
    !text.chars().any(|character| character.is_whitespace() || foreign::is_hidden(character))
}

impl fmt::Display for UntrustedTextExcerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the longest prefix of a text that has at most `limit` bytes and ends between two characters.
pub(crate) fn truncated(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpt_is_bounded_and_shows_hidden_characters() {
        let text = format!("\u{202e}{}", "a".repeat(500));
        let excerpt = UntrustedTextExcerpt::of(&text).to_string();
        assert!(excerpt.starts_with(r#""\u{202e}aaa"#), "the direction mark should be escaped: {excerpt}");
        assert!(excerpt.ends_with("…\""));
        assert!(excerpt.chars().count() < 100, "the excerpt should be short");
    }

    #[test]
    fn truncation_keeps_characters_whole() {
        assert_eq!(truncated("aé", 2), "a");
        assert_eq!(truncated("aé", 3), "aé");
        assert_eq!(truncated("", 3), "");
    }
}
