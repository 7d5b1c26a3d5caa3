//! Converts Markdown that a model wrote to Markdown that keeps most formatting, but can't load or run anything or
//! imitate parts of the exported file. Used by [`super::export`].
//!
//! Emphasis, lists, tables, quotes, inline code and code blocks are retained. Images, links, HTML, headings and
//! reference definitions are escaped, so that a viewer shows their source. The result does not depend on how a viewer
//! parses the input: code is written between new delimiters, and in all other text each character that starts one of
//! those constructs is escaped.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Languages of code blocks that Markdown viewers highlight but never render. Blocks in other languages, such as
/// `mermaid`, are written without a language.
const HIGHLIGHTED_LANGUAGES: [&str; 28] = [
    "bash",
    "c",
    "cpp",
    "css",
    "diff",
    "go",
    "html",
    "java",
    "javascript",
    "js",
    "json",
    "kotlin",
    "php",
    "python",
    "rb",
    "ruby",
    "rust",
    "sh",
    "shell",
    "sql",
    "svelte",
    "swift",
    "text",
    "toml",
    "ts",
    "typescript",
    "xml",
    "yaml",
];

/// Returns Markdown in which every construct that loads a resource, links to a target, or looks like a heading of the
/// exported file is escaped.
#[must_use]
pub(super) fn to_inert_markdown(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len() + markdown.len() / 8);
    // A viewer also ends a line at a lone carriage return.
    let markdown = if markdown.contains('\r') {
        Cow::Owned(markdown.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(markdown)
    };
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        match CodeFence::parse_opening(line) {
            Some(fence) => {
                let code: Vec<&str> = lines.by_ref().take_while(|line| !fence.is_closed_by(line)).collect();
                push_code_block(&mut text, fence.language, &code.join("\n"));
            }
            None => {
                push_prose_line(&mut text, line);
                text.push('\n');
            }
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Escapes the constructs of [`to_inert_markdown`] in text that is inserted into a line, where no code block can start.
#[must_use]
pub(super) fn escape_inline_markdown(words: &str) -> String {
    let mut text = String::with_capacity(words.len() + words.len() / 8);
    push_prose_line(&mut text, words);
    text
}

/// Appends a code block whose fence is longer than any sequence of backticks in the code.
pub(super) fn push_code_block(text: &mut String, language: &str, code: &str) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // Writing to a `String` can't fail.
    let _ = write!(text, "{fence}{language}\n{}\n{fence}\n", code.trim_end());
}

/// The opening fence of a code block in the Markdown of a model.
struct CodeFence<'a> {
    mark: char,
    length: usize,
    language: &'a str,
}

impl<'a> CodeFence<'a> {
    fn parse_opening(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // A line such as "```x```" is inline code.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().unwrap_or_default();
        let language =
            HIGHLIGHTED_LANGUAGES.into_iter().find(|known| language.eq_ignore_ascii_case(known)).unwrap_or_default();
        Some(Self { mark, length, language })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Appends a line that is not part of a code block, with all constructs escaped that load a resource, link to a target,
/// or form a heading.
fn push_prose_line(text: &mut String, line: &str) {
    // Such a line turns the previous line into a heading, or starts a metadata block that hides the text after it.
    let delimits = line.chars().all(|c| matches!(c, '=' | '-' | '+' | '>' | ' ' | '\t'));
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            let after = rest.trim_start_matches('`');
            let run = &rest[..rest.len() - after.len()];
            // Viewers split table cells before they look for code.
            if let Some(length) =
                find_closing_backticks(after, run.len()).filter(|length| !after[..*length].contains('|'))
            {
                text.push_str(run);
                text.push_str(&after[..length + run.len()]);
                rest = &after[length + run.len()..];
                // A directly following backtick would extend the closing delimiter.
                if rest.starts_with('`') {
                    text.push(' ');
                }
            } else {
                run.chars().for_each(|c| push_escaped_markdown_char(text, c));
                rest = after;
            }
            continue;
        }
        if matches!(c, '\\' | '[' | ']' | '<' | '#' | '$') || (delimits && matches!(c, '=' | '-' | '+')) {
            push_escaped_markdown_char(text, c);
        } else {
            text.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
}

fn push_escaped_markdown_char(text: &mut String, c: char) {
    text.push('\\');
    text.push(c);
}

/// Returns the byte index of the first sequence of exactly `length` backticks in a line.
fn find_closing_backticks(line: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = line[at..].find('`').map(|found| at + found) {
        let run = line[start..].len() - line[start..].trim_start_matches('`').len();
        if run == length {
            return Some(start);
        }
        at = start + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn s13_lone_carriage_return_ends_a_line() {
        assert_eq!(to_inert_markdown("User\r---"), "User\n\\-\\-\\-", "S13: no heading can be forged");
        assert_eq!(
            to_inert_markdown("a\r```\rb ```\r\nc"),
            "a\n````\nb ```\nc\n````",
            "S13: an opened block is closed"
        );
    }

    #[test]
    fn s13_metadata_block_is_escaped() {
        assert_eq!(
            to_inert_markdown("a\n\n+++\nb\n\n---"),
            "a\n\n\\+\\+\\+\nb\n\n\\-\\-\\-",
            "S13: the following turns are visible"
        );
        assert_eq!(to_inert_markdown("+ a\n+ b"), "+ a\n+ b", "S13: a list is retained");
    }

    #[test]
    fn s13_images_links_and_headings_are_escaped() {
        for (markdown, expected) in [
            ("![](https://evil.example/?x)", r"!\[\](https://evil.example/?x)"),
            ("\\![a](b)", r"\\!\[a\](b)"),
            ("![a][r]\n\n[r]: https://evil.example", "!\\[a\\]\\[r\\]\n\n\\[r\\]: https://evil.example"),
            ("## User", r"\#\# User"),
            ("- # User", r"- \# User"),
            ("User\n---", "User\n\\-\\-\\-"),
            ("> User\n> =", "> User\n> \\="),
            ("<img src=x>", r"\<img src=x>"),
            ("| `x | ![](y)` |", r"| \`x | !\[\](y)\` |"),
            ("$\\href{x}{y}$", r"\$\\href{x}{y}\$"),
        ] {
            assert_eq!(to_inert_markdown(markdown), expected, "S13: {markdown}");
        }
    }

    #[test]
    fn ordinary_markdown_formatting_is_unchanged() {
        for markdown in [
            "It is **bold**, *slanted* and `code [1]`.",
            "- one\n- two\n  1. three",
            "> quoted",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "```rust\nlet a = [1];\n```",
            "Use ``a ` b`` here",
        ] {
            assert_eq!(to_inert_markdown(markdown), markdown, "unchanged");
        }
        assert_eq!(to_inert_markdown("~~~mermaid\ngraph\n~~~"), "```\ngraph\n```", "a diagram is shown as its source");
        assert_eq!(to_inert_markdown("```js\nlet a"), "```js\nlet a\n```", "a block that is not closed is closed");
    }

    /// Returns the text outside of code according to rules that all viewers share: fences at the start of a line, and
    /// inline delimiters of equal length.
    fn text_outside_of_code(text: &str) -> String {
        let (mut outside, mut fence) = (String::new(), None);
        for line in text.lines() {
            let ticks = line.len() - line.trim_start_matches('`').len();
            match fence {
                None if ticks >= 3 && !line[ticks..].contains('`') => fence = Some(ticks),
                None => {
                    let mut rest = line;
                    while let Some(c) = rest.chars().next() {
                        // Escaped characters and code are replaced by a placeholder letter.
                        let (shown, width) = match c {
                            '\\' => ('x', 1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
                            '`' => {
                                let run = rest.len() - rest.trim_start_matches('`').len();
                                let end = find_closing_backticks(&rest[run..], run)
                                    .filter(|end| !rest[run..run + end].contains('|'));
                                (if end.is_some() { 'x' } else { '`' }, end.map_or(run, |at| run + at + run))
                            }
                            c => (c, c.len_utf8()),
                        };
                        outside.push(shown);
                        rest = &rest[width..];
                    }
                    outside.push('\n');
                }
                Some(open) if ticks >= open && line.len() == ticks => fence = None,
                Some(_) => {}
            }
        }
        assert_eq!(fence, None, "S13: each block is closed: {text:?}");
        outside
    }

    proptest! {
        #[test]
        fn s13_no_active_markup_remains_outside_of_code(markdown in "([|`~\\\\!<#=> a\\-]|\\[|\\]|\n|```|~~~|\\(u\\)){0,40}") {
            let text = to_inert_markdown(&markdown);
            let outside = text_outside_of_code(&text);
            prop_assert!(!outside.contains(['[', ']', '<', '#', '`']), "{markdown:?} gives {text:?}");
            for line in outside.lines() {
                let is_underline = line.contains(['-', '=']) && line.chars().all(|c| matches!(c, '=' | '-' | '>' | ' '));
                prop_assert!(!is_underline, "{markdown:?} gives {text:?}");
            }
        }
    }
}
