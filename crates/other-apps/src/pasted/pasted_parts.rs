//! Finds the parts of pasted text that may describe a server.

use super::command_line;
use crate::json_text::JsonText;

/// A part of a pasted text that may describe a server.
#[derive(Debug)]
pub(super) enum PastedPart<'t> {
    /// A complete JSON value in the pasted text.
    Json(JsonText<'t>),
    /// Properties of a JSON object without the braces around them.
    Fragment { text: &'t str, lines_before: u32 },
    /// A command line, with its line number in the pasted text.
    Command { text: String, line: u32 },
}

impl PastedPart<'_> {
    /// Returns `true` for a command line that starts a server, and `false` for one that adds a server to an app.
    pub(super) fn is_plain_command(&self) -> bool {
        matches!(self, Self::Command { text, .. } if !command_line::is_mcp_add_command(text))
    }
}

/// A section of the pasted text, with the number of lines before it.
#[derive(Clone, Copy)]
struct TextSection<'t> {
    text: &'t str,
    lines_before: u32,
}

impl<'t> TextSection<'t> {
    /// Returns the part of the section that begins at a byte offset.
    fn starting_at(self, offset: usize) -> Self {
        let (before, text) = self.text.split_at_checked(offset).unwrap_or(("", self.text));
        Self { text, lines_before: self.lines_before + count_lines(before) }
    }
}

/// Finds the parts of a pasted text that may describe a server. Only the code blocks of a Markdown text are searched,
/// if it has any. A part is JSON or, where there is none, a command line.
pub(super) fn split_pasted_parts(text: &str) -> Vec<PastedPart<'_>> {
    let blocks = code_blocks(text);
    match blocks[..] {
        [] => split_section(TextSection { text, lines_before: 0 }, true),
        [block] => split_section(block, true),
        _ => blocks.into_iter().flat_map(|block| split_section(block, false)).collect(),
    }
}

/// Returns the contents of fenced code blocks (CommonMark 4.5). A block without a closing fence extends to the end of
/// the text.
fn code_blocks(text: &str) -> Vec<TextSection<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize, usize, u32)> = None;
    let (mut offset, mut number) = (0, 0);
    for line in text.split_inclusive('\n') {
        let (start, end) = (offset, offset + line.len());
        (offset, number) = (end, number + 1);
        let trimmed = line.trim_start_matches([' ', '>', '\t']);
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match (open, mark) {
            (None, Some(mark)) if length >= 3 => open = Some((mark, length, end, number)),
            (Some((fence, least, from, lines_before)), Some(mark))
                if mark == fence && length >= least && trimmed.trim_end().chars().all(|c| c == mark) =>
            {
                blocks.push(TextSection { text: &text[from..start], lines_before });
                open = None;
            }
            _ => {}
        }
    }
    if let Some((_, _, from, lines_before)) = open {
        blocks.push(TextSection { text: &text[from..], lines_before });
    }
    blocks
}

fn split_section(piece: TextSection<'_>, alone: bool) -> Vec<PastedPart<'_>> {
    let Some(offset) = find_json_start(piece.text) else { return command_parts(piece, alone) };
    let TextSection { text, lines_before } = piece.starting_at(offset);
    let text = text[..find_json_end(text).unwrap_or(text.len())].trim_end();
    vec![if text.starts_with('"') {
        PastedPart::Fragment { text: text.trim_end_matches(','), lines_before }
    } else {
        PastedPart::Json(JsonText { lines_before, ..JsonText::without_file(text) })
    }]
}

/// Returns the byte offset at which JSON begins: a line that opens an object or a list of objects, or a property name
/// with a value.
fn find_json_start(text: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with('{')
            || trimmed.starts_with('[') && looks_like_list(trimmed)
            || starts_with_property(trimmed, &text[offset..])
        {
            return Some(offset + indent);
        }
        offset += line.len();
    }
    None
}

/// Returns `true` if a line begins a list of objects, as opposed to a heading in square brackets.
fn looks_like_list(line: &str) -> bool {
    line[1..].trim_start().is_empty() || line[1..].trim_start().starts_with('{')
}

fn starts_with_property(line: &str, rest: &str) -> bool {
    let Some(name) = line.strip_prefix('"') else { return false };
    let Some((name, _)) = name.split_once('"') else { return false };
    let after = rest.trim_start().get(name.len() + 2..).unwrap_or_default().trim_start();
    after.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with(['{', '"', '[']))
}

/// Returns the byte offset at which the JSON at the beginning of a text ends, determined by its brackets. A fragment
/// ends before a closing bracket that it did not open.
fn find_json_end(text: &str) -> Option<usize> {
    let fragment = text.starts_with('"');
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    let mut characters = text.char_indices().peekable();
    while let Some((index, c)) = characters.next() {
        if in_text {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' | '\n' => in_text = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => in_text = true,
            '/' if characters.peek().is_some_and(|(_, next)| *next == '/') => {
                while characters.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            '{' | '[' => depth += 1,
            '}' | ']' if depth == 0 => return Some(index),
            '}' | ']' => {
                depth -= 1;
                if depth == 0 && !fragment {
                    return Some(index + c.len_utf8());
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the command lines of a section, with continued lines joined, and comments and prompts removed. `alone` is
/// `true` if the pasted text has no other section. Of several lines, only those that add a server to an app are
/// returned, since the others install something or are prose. The same applies to a single line if `alone` is `false`,
/// unless the line begins with a program that is commonly used to start servers.
fn command_parts(piece: TextSection<'_>, alone: bool) -> Vec<PastedPart<'_>> {
    let mut lines: Vec<(String, u32)> = Vec::new();
    let mut continues = false;
    for (number, line) in (piece.lines_before + 1..).zip(piece.text.lines()) {
        let mut line = line.trim();
        if !continues {
            line = ["$ ", "> ", "% "].iter().find_map(|prompt| line.strip_prefix(prompt)).unwrap_or(line).trim_start();
            if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
                continue;
            }
        }
        let part = line.strip_suffix('\\').unwrap_or(line);
        match lines.last_mut() {
            Some((last, _)) if continues => {
                last.push(' ');
                last.push_str(part);
            }
            _ => lines.push((part.to_owned(), number)),
        }
        continues = part.len() < line.len();
    }
    let single = lines.len() == 1;
    lines.retain(|(line, _)| {
        command_line::is_mcp_add_command(line) || single && (alone || command_line::starts_with_server_launcher(line))
    });
    lines.into_iter().map(|(text, line)| PastedPart::Command { text, line }).collect()
}

fn count_lines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}
