//! Makes characters visible that would otherwise act on a terminal or deceive a reader.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces control characters (except tab), bidirectional controls, zero-width characters and
/// Unicode tags by escapes such as `\x1b` or `\u{202e}`. Other text is returned as it is.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if !is_hidden(character) {
            shown.push(character);
        } else if (character as u32) < 0x100 {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\x{:02x}", character as u32);
        } else {
            let _ = write!(shown, "{}", character.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{00}'..='\u{08}' | '\u{0a}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        assert_eq!(
            visible("\x1b[31mred\x07\r"),
            "\\x1b[31mred\\x07\\x0d",
            "terminal escapes must not reach a terminal"
        );
        assert_eq!(visible("a\u{202e}b\u{e0041}"), "a\\u{202e}b\\u{e0041}", "text that turns or hides must be seen");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        assert_eq!(visible("tab\there, ü, 漢字"), "tab\there, ü, 漢字", "plain text must not change");
    }
}
