//! Escapes untrusted text for a terminal: characters that a terminal interprets or does not show are replaced.

use offers::review::is_valid_variation_selector;
use serde_json::Value;

/// Maximum number of consecutive spaces that are printed, since more of them could push text out of view. A longer run
/// is replaced by its length.
const MAX_CONSECUTIVE_SPACES: usize = 40;

/// Returns `true` for characters that a terminal interprets or does not show: control characters, and marks that
/// reorder, join or hide text.
fn is_interpreted_by_terminal(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
        )
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{e0000}'..='\u{e0fff}')
        || matches!(c, '\u{fe00}'..='\u{fe0d}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
}

/// Returns `true` if `c` must be escaped between its neighbors. A variation selector is permitted after an emoji.
fn must_escape_between(before: char, c: char, after: Option<char>) -> bool {
    is_interpreted_by_terminal(c)
        || (matches!(c, '\u{fe0e}' | '\u{fe0f}') && !is_valid_variation_selector(before, c, after))
}

/// Escapes a value for printing within a line, and quotes it if it is empty or begins or ends with invisible characters
/// or a quote.
pub(crate) fn escape_value(text: &str) -> String {
    let has_invisible_end = text.trim() != text || text.is_empty();
    if has_invisible_end || text.starts_with('"') { format!("\"{}\"", escape_line(text)) } else { escape_line(text) }
}

/// Escapes a text, including its line breaks, for printing within one line.
pub(crate) fn escape_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut spaces = 0;
    let (mut before, mut left) = (' ', text.chars().peekable());
    while let Some(c) = left.next() {
        let acts = must_escape_between(std::mem::replace(&mut before, c), c, left.peek().copied());
        if c == ' ' {
            spaces += 1;
            continue;
        }
        push_pending_spaces(&mut shown, &mut spaces);
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c if acts || c.is_whitespace() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    push_pending_spaces(&mut shown, &mut spaces);
    shown
}

/// Escapes a text except for its line breaks and tabs, for example a fragment of a model's reply.
pub(crate) fn escape_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if is_interpreted_by_terminal(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

fn push_pending_spaces(shown: &mut String, spaces: &mut usize) {
    match std::mem::take(spaces) {
        few @ 0..=MAX_CONSECUTIVE_SPACES => shown.extend(std::iter::repeat_n(' ', few)),
        many => shown.push_str(&format!("⟨{many} spaces⟩")),
    }
}

/// Escapes a text and starts each of its lines with a prefix, so that the text can't imitate other output. Replaces a
/// long run of empty lines by their number.
pub(crate) fn escape_and_prefix_lines(text: &str, prefix: &str) -> String {
    let mut shown = String::new();
    let mut lines = text.trim_end_matches('\n').split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).peekable();
    while let Some(text) = lines.next() {
        let mut empty = usize::from(text.trim().is_empty());
        while empty > 0 && lines.next_if(|next| next.trim().is_empty()).is_some() {
            empty += 1;
        }
        let text = if empty > 3 { format!("⟨{empty} empty lines⟩") } else { escape_line(text) };
        for _ in 0..if empty > 3 { 1 } else { empty.max(1) } {
            shown.push_str(prefix);
            shown.push_str(&text);
            shown.push('\n');
        }
    }
    shown
}

/// Formats a value as JSON on one line, with JSON escapes for characters that a terminal interprets. The JSON still
/// parses to the same value, since such characters only occur in strings.
pub(crate) fn escape_json(value: &Value) -> String {
    escape_json_text(&value.to_string())
}

/// Formats a value as indented JSON, with the same escapes as [`escape_json`].
pub(crate) fn pretty_json(value: &Value) -> String {
    escape_json_text(&format!("{value:#}"))
}

fn escape_json_text(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let (mut before, mut left) = (' ', json.chars().peekable());
    while let Some(c) = left.next() {
        if must_escape_between(std::mem::replace(&mut before, c), c, left.peek().copied()) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_with_invisible_ends_is_quoted() {
        let cases = [("/x/a", "/x/a"), ("/x/a ", "\"/x/a \""), (" a", "\" a\""), ("", "\"\""), ("\"a", "\"\"a\"")];
        for (text, shown) in cases {
            assert_eq!(escape_value(text), shown, "X12: {text:?}");
        }
    }

    #[test]
    fn terminal_control_characters_are_escaped() {
        // Texts of the attack cases X11, X12 and X14.
        let cases = [
            ("plain ä 漢 🦀", "plain ä 漢 🦀"),
            ("\u{1b}[2J\u{7}", "\\u{1b}[2J\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\r\n\tb", "a\\r\\n\\tb"),
            ("\u{202e}gpj.exe\u{2066}", "\\u{202e}gpj.exe\\u{2066}"),
            ("a\u{e0041}\u{200b}b", "a\\u{e0041}\\u{200b}b"),
            ("a\u{fe01}\u{e0101}\u{2800}b", "a\\u{fe01}\\u{e0101}\\u{2800}b"),
            ("❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}"),
            ("❤\u{fe0f}\u{fe0e}", "❤\u{fe0f}\\u{fe0e}"),
            ("a\u{fe0e}1\u{fe0f}\u{fffc}", "a\\u{fe0e}1\\u{fe0f}\\u{fffc}"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape_line(text), shown, "how {text:?} is shown");
        }
        let pushed = format!("ls{}; rm -r x", " ".repeat(10_000));
        assert_eq!(escape_line(&pushed), "ls⟨10000 spaces⟩; rm -r x", "many spaces should be replaced by their number");
        assert_eq!(escape_line("a\u{a0}b\u{3000}"), "a\\u{a0}b\\u{3000}", "other kinds of spaces should be escaped");
    }

    #[test]
    fn every_line_of_prefixed_text_has_its_prefix() {
        assert_eq!(
            escape_and_prefix_lines("a\nb\u{1b}\n", "| "),
            "| a\n| b\\u{1b}\n",
            "each line should have the prefix"
        );
        let pushed = format!("a{}b", "\n".repeat(5_000));
        assert_eq!(
            escape_and_prefix_lines(&pushed, "| "),
            "| a\n| ⟨4999 empty lines⟩\n| b\n",
            "many empty lines should be replaced by their number"
        );
        assert_eq!(escape_and_prefix_lines("a\n\n\nb", ""), "a\n\n\nb\n", "a few empty lines should be preserved");
        assert_eq!(escape_and_prefix_lines("", "| "), "| \n", "an empty text should be one line");
    }

    #[test]
    fn escaped_json_parses_to_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[2J\u{202e}\u{e0041}ä\u{fe0f}\n"});
        let text = escape_json(&value);
        assert!(
            !text.contains(is_interpreted_by_terminal) && !text.contains('\u{fe0f}'),
            "no character of {text:?} should be interpreted"
        );
        let read: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(read, value, "the value should be unchanged");
    }
}
