//! Texts that are normalized for searching, with a map from each position to the original text. Used by `flags.rs`.

use foreign::is_hidden;
use unicode_security::skeleton;

use super::deceptive_letters::is_presentation_selector;

/// A text that is normalized for searching phrases, with the positions of its characters in the original text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FoldedText {
    text: String,
    /// For each byte of the normalized text, the byte offset of its character in the original.
    origins: Vec<usize>,
}

impl FoldedText {
    /// Normalizes a text: converts it to lower case, removes invisible characters, and replaces each sequence of
    /// blanks, `_` and `-` by one space.
    pub(super) fn new(text: &str) -> Self {
        Self::from_chars(text.char_indices())
    }

    /// Decodes the Unicode tag characters in a text to ASCII, and normalizes it. Returns `None` if there are no tag
    /// characters.
    pub(super) fn from_tag_characters(text: &str) -> Option<Self> {
        let spelled = |(at, c): (usize, char)| {
            let c = char::from_u32(u32::from(c).checked_sub(0xe_0000)?)?;
            c.is_ascii().then_some((at, c))
        };
        let folded = Self::from_chars(text.char_indices().filter_map(spelled));
        (!folded.text.is_empty()).then_some(folded)
    }

    fn from_chars(chars: impl Iterator<Item = (usize, char)>) -> Self {
        let mut folded = Self::default();
        for (at, c) in chars.filter(|(_, c)| !is_hidden(*c) && !is_presentation_selector(*c)) {
            if c.is_whitespace() || c == '_' || c == '-' {
                if !folded.text.ends_with(' ') {
                    folded.push(' ', at);
                }
            } else {
                let c = if matches!(c, '\u{2018}' | '\u{2019}') { '\'' } else { c };
                for c in c.to_lowercase() {
                    folded.push(c, at);
                }
            }
        }
        folded
    }

    /// Returns the visual skeleton of the text (UTS 39, section 4), in which letters of other scripts are replaced by
    /// similar ones.
    pub(super) fn visual_skeleton(&self) -> Self {
        let mut drawn = Self::default();
        let mut chars = self.text.char_indices().peekable();
        let mut part = String::new();
        while let Some((at, c)) = chars.next() {
            part.clear();
            part.push(c);
            // Combining marks are reordered together with the character that they modify.
            while let Some((_, mark)) = chars.next_if(|(_, c)| is_combining_mark(*c)) {
                part.push(mark);
            }
            for c in skeleton(&part) {
                drawn.push(c, self.origins[at]);
            }
        }
        drawn
    }

    fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origins.resize(self.text.len(), origin);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Converts a byte offset in the normalized text to one in the original.
    pub(super) fn original_offset(&self, at: usize) -> usize {
        self.origins.get(at).copied().unwrap_or_default()
    }
}

/// Returns `true` for Unicode combining marks.
fn is_combining_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
        || matches!(c, '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_characters_map_to_their_offset_in_the_original_text() {
        let text = "\u{200b}İ__A\u{e0042}é б";
        let folded = FoldedText::new(text);
        assert_eq!(
            folded.text(),
            "i\u{307} aé б",
            "the text is in lower case, with single spaces and without invisible characters"
        );
        for (part, origin) in [("i", "İ"), ("a", "A"), ("é", "é"), ("б", "б")] {
            let at = folded.text().find(part).unwrap();
            assert_eq!(
                folded.original_offset(at),
                text.find(origin).unwrap(),
                "{part:?} maps to the position of {origin:?}"
            );
            let drawn = folded.visual_skeleton();
            let found = drawn.origins.contains(&text.find(origin).unwrap());
            assert!(found, "the skeleton contains the position of {origin:?}");
        }
        let tags = FoldedText::from_tag_characters(text).unwrap();
        assert_eq!(
            (tags.text(), tags.original_offset(0)),
            ("b", text.find('\u{e0042}').unwrap()),
            "the text in tag characters is decoded"
        );
        assert_eq!(FoldedText::from_tag_characters("plain"), None, "a text without tag characters has no decoded text");
    }
}
