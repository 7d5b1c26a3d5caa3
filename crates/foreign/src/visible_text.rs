//! Escapes and detects characters that affect a terminal or deceive a reader.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces control characters (except tab), bidirectional controls, zero-width characters and Unicode tags with
/// escapes such as `\x1b` or `\u{202e}`. Returns other text unchanged.
///
/// # Examples
///
/// ```
/// use foreign::escape_invisible;
///
/// // A terminal would hide the first word, and a browser would show the second one reversed.
/// let message = "\u{1b}[8mignore\u{1b}[0m \u{202e}gpj.exe";
/// assert_eq!(escape_invisible(message), r"\x1b[8mignore\x1b[0m \u{202e}gpj.exe");
/// assert_eq!(escape_invisible("Größe: 12\t漢字"), "Größe: 12\t漢字");
/// ```
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(must_be_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if !must_be_escaped(character) {
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

fn must_be_escaped(character: char) -> bool {
    matches!(character,
        '\u{00}'..='\u{08}' | '\u{0a}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns `true` if a character is invisible or changes the text direction: controls except tab, line feed and
/// carriage return, default ignorable characters (UAX 44) except the variation selectors of emoji, and a few more.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
        )
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::escape_invisible;

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        assert_eq!(
            escape_invisible("\x1b[31mred\x07\r"),
            "\\x1b[31mred\\x07\\x0d",
            "terminal escapes must be replaced"
        );
        assert_eq!(
            escape_invisible("a\u{202e}b\u{e0041}"),
            "a\\u{202e}b\\u{e0041}",
            "bidirectional and invisible characters must be replaced"
        );
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        assert_eq!(escape_invisible("tab\there, ü, 漢字"), "tab\there, ü, 漢字", "ordinary text must not change");
    }
}
