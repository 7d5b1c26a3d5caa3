//! Removes comments and literals from Rust code, so that rules do not mistake their text for code.

/// Returns the code with comments and the contents of string and character literals replaced by spaces, so that lines
/// and columns stay the same.
pub(super) fn without_comments_and_strings(text: &str) -> String {
    blank_out_literals(text, true)
}

/// Returns the code with only the contents of string and character literals replaced by spaces.
pub(super) fn without_strings(text: &str) -> String {
    blank_out_literals(text, false)
}

fn blank_out_literals(text: &str, comments: bool) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let (end, hidden) = match read_token(&characters, at) {
            RustToken::Comment(end) => (end, comments),
            RustToken::Literal(end) => (end, true),
            RustToken::Code => (at + 1, false),
        };
        let end = end.min(characters.len());
        for character in &characters[at..end] {
            result.push(if hidden && *character != '\n' { ' ' } else { *character });
        }
        at = end;
    }
    result
}

/// Kind of the token at a position in Rust code, with the position of its end.
enum RustToken {
    Comment(usize),
    Literal(usize),
    Code,
}

fn read_token(text: &[char], at: usize) -> RustToken {
    let starts = |words: &str| text[at..].iter().copied().take(words.chars().count()).eq(words.chars());
    let inside_word = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    match text[at] {
        '/' if starts("//") => RustToken::Comment(first_matching_index(text, at, |rest| rest[0] == '\n')),
        '/' if starts("/*") => RustToken::Comment(end_of_block_comment(text, at)),
        '"' => RustToken::Literal(end_of_string(text, at + 1)),
        'r' if !inside_word => read_raw_string(text, at + 1),
        'b' | 'c' if !inside_word && text.get(at + 1) == Some(&'r') => read_raw_string(text, at + 2),
        '\'' => match (text.get(at + 1), text.get(at + 2)) {
            (Some('\\'), _) => RustToken::Literal(first_matching_index(text, at + 3, |rest| rest[0] == '\'') + 1),
            (Some(_), Some('\'')) => RustToken::Literal(at + 3),
            // Not a character literal but a lifetime.
            _ => RustToken::Code,
        },
        _ => RustToken::Code,
    }
}

/// Returns the first position at or after `from` where `fits` accepts the following text, or the end of the text.
fn first_matching_index(text: &[char], from: usize, fits: impl Fn(&[char]) -> bool) -> usize {
    (from..text.len()).find(|at| fits(&text[*at..])).unwrap_or(text.len())
}

fn end_of_string(text: &[char], from: usize) -> usize {
    let mut at = from;
    while at < text.len() && text[at] != '"' {
        at += if text[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

/// Parses a raw string literal whose `r` precedes `from`. Returns [`RustToken::Code`] if there is none.
fn read_raw_string(text: &[char], from: usize) -> RustToken {
    let hashes = text[from..].iter().take_while(|character| **character == '#').count();
    if text.get(from + hashes) != Some(&'"') {
        return RustToken::Code;
    }
    let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let end = first_matching_index(text, from + hashes + 1, |rest| rest.starts_with(&closing));
    RustToken::Literal((end + closing.len()).min(text.len()))
}

fn end_of_block_comment(text: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < text.len() {
        if text[at..].starts_with(&['/', '*']) {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with(&['*', '/']) {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let cases = [
            ("a(\"b\")", "a(   )"),
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            ("r#\"a\"b\"#;", "        ;"),
            ("br\"a\" c", "      c"),
            ("var\"a\"", "var   "),
            ("'\"' a", "    a"),
            ("'\\'' a", "     a"),
            ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
            ("\"\\\"\" a", "     a"),
            ("r#type", "r#type"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_comments_and_strings(text), expected, "for {text}");
        }
    }

    #[test]
    fn unterminated_literal_ends_with_the_text() {
        for text in ["\"a", "\"a\\", "r#\"a", "/* a", "'\\"] {
            assert_eq!(without_comments_and_strings(text).trim(), "", "for {text}");
        }
    }

    #[test]
    fn comments_are_kept_by_without_strings() {
        assert_eq!(
            without_strings("a(\"b\") // c"),
            "a(   ) // c",
            "only the contents of the string should be removed"
        );
    }
}
