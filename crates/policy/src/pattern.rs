//! What texts and paths look like: globs, regular expressions, folders. Compiled once, and matched without allocating.

use regex::{Regex, RegexBuilder};

use crate::RuleError;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_024;
/// The most memory that one compiled expression takes, in bytes.
const MAX_COMPILED: usize = 256 * 1024;

/// A glob.
#[derive(Debug, Clone)]
pub(crate) enum Glob {
    /// This very text.
    Exactly(String),
    /// Any text.
    Anything,
    /// Whatever this fits.
    Shape(Regex),
}

impl Glob {
    /// Compiles a glob: `*` is any characters, `?` one, and `\` takes the next as it is.
    pub(crate) fn compile(glob: &str) -> Result<Self, RuleError> {
        if glob.len() > MAX_PATTERN {
            return Err(RuleError::TooLong { part: "pattern", most: MAX_PATTERN });
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
                    let literal = if other == '\\' { characters.next().unwrap_or('\\') } else { other };
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
        let built = RegexBuilder::new(&shape).dot_matches_new_line(true).size_limit(MAX_COMPILED).build();
        built.map(Self::Shape).map_err(|error| bad_expression(glob, &error))
    }

    pub(crate) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Exactly(exactly) => exactly == text,
            Self::Anything => true,
            Self::Shape(shape) => shape.is_match(text),
        }
    }
}

/// The glob that fits this text and no other.
#[must_use]
pub fn exactly(text: &str) -> String {
    let mut glob = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '\\') {
            glob.push('\\');
        }
        glob.push(character);
    }
    glob
}

/// A regular expression, found anywhere in a text.
pub(crate) fn expression(text: &str) -> Result<Regex, RuleError> {
    if text.len() > MAX_PATTERN {
        return Err(RuleError::TooLong { part: "expression", most: MAX_PATTERN });
    }
    RegexBuilder::new(text).size_limit(MAX_COMPILED).build().map_err(|error| bad_expression(text, &error))
}

fn bad_expression(expression: &str, error: &regex::Error) -> RuleError {
    RuleError::Expression { expression: expression.to_owned(), cause: error.to_string() }
}

/// A folder, by its parts from the root on.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    parts: Vec<String>,
    /// A drive such as `C:`, or `\\` for a share; empty for the one root of other systems.
    root: String,
}

/// Whether a path lies in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    /// It does, letter by letter.
    Inside,
    /// It does on systems that take capital and small letters for the same.
    PerhapsInside,
    Outside,
    /// Where the path leads to can't be said.
    Unclear,
}

impl Folder {
    pub(crate) fn compile(path: &str) -> Result<Self, RuleError> {
        if path.len() > MAX_PATTERN {
            return Err(RuleError::TooLong { part: "folder", most: MAX_PATTERN });
        }
        let bad = || RuleError::Folder(path.to_owned());
        let (root, rest) = root_of(path).ok_or_else(bad)?;
        let parts: Vec<String> = parts_of(root, rest).map(str::to_owned).collect();
        if parts.iter().any(|part| part == "..") {
            return Err(bad());
        }
        Ok(Self { parts, root: root.to_owned() })
    }

    pub(crate) fn lies(&self, path: &str) -> Lies {
        let Some((root, rest)) = root_of(path) else { return Lies::Unclear };
        // A name with a zero byte ends there for some programs, and not for others.
        if path.contains('\0') || parts_of(root, rest).any(|part| part == "..") {
            return Lies::Unclear;
        }
        if !root.eq_ignore_ascii_case(&self.root) {
            return Lies::Outside;
        }
        let (mut parts, mut is_exact) = (parts_of(root, rest), true);
        for own in &self.parts {
            match parts.next() {
                Some(part) if part == own => {}
                Some(part) if same_letters(part, own) => is_exact = false,
                _ => return Lies::Outside,
            }
        }
        if is_exact { Lies::Inside } else { Lies::PerhapsInside }
    }
}

/// Whether two names differ at most in capital and small letters.
fn same_letters(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

/// The root that a whole path begins at, and what follows; none for a relative path or a URL.
fn root_of(path: &str) -> Option<(&str, &str)> {
    let bytes = path.as_bytes();
    if path.starts_with("\\\\") {
        return path.split_at_checked(2);
    }
    if bytes.first() == Some(&b'/') {
        return Some(("", path));
    }
    let is_drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if is_drive && matches!(bytes[2], b'/' | b'\\') { path.split_at_checked(2) } else { None }
}

/// The names in a path, without empty ones and `.`.
fn parts_of<'a>(root: &str, rest: &'a str) -> impl Iterator<Item = &'a str> {
    let is_windows = !root.is_empty();
    rest.split(move |c| c == '/' || (is_windows && c == '\\')).filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn globs_fit_whole_texts() {
        let fits = |glob: &str, text: &str| Glob::compile(glob).unwrap().fits(text);
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
    fn a_text_can_be_made_a_glob_of_its_own() {
        for text in ["plain", "*", "a?b", r"back\slash", r"\*", ""] {
            let glob = Glob::compile(&exactly(text)).unwrap();
            assert!(matches!(&glob, Glob::Exactly(own) if own == text), "{text:?} stands for itself: {glob:?}");
        }
    }

    #[test]
    fn a_folder_holds_what_lies_in_it() {
        let home = Folder::compile("/home/ann/").unwrap();
        for (path, lies) in [
            ("/home/ann", Lies::Inside),
            ("/home/ann/a.txt", Lies::Inside),
            ("/home//ann/./a", Lies::Inside),
            ("/home/Ann/a", Lies::PerhapsInside),
            ("/home/anna", Lies::Outside),
            ("/home", Lies::Outside),
            ("/etc/passwd", Lies::Outside),
            ("/home/ann/../bob", Lies::Unclear),
            ("ann/a.txt", Lies::Unclear),
            ("~/a.txt", Lies::Unclear),
            ("file:///home/ann/a", Lies::Unclear),
            ("/home/ann/a\0b", Lies::Unclear),
            ("", Lies::Unclear),
        ] {
            assert_eq!(home.lies(path), lies, "{path:?}");
        }
        let drive = Folder::compile(r"C:\Users\Ann").unwrap();
        assert_eq!(drive.lies("c:/users/ann/a"), Lies::PerhapsInside, "drives, and both kinds of slashes");
        assert_eq!(drive.lies(r"D:\Users\Ann"), Lies::Outside, "another drive");
        for bad in ["", "home", "~/x", "/home/../etc", "file:///x"] {
            assert!(Folder::compile(bad).is_err(), "{bad:?} is no folder");
        }
    }

    #[test]
    fn what_is_too_large_is_refused() {
        assert!(Glob::compile(&"a".repeat(MAX_PATTERN + 1)).is_err(), "a long glob");
        assert!(expression(r"(\w{100}){100}").is_err(), "an expression that would take much memory");
        assert!(expression("(").is_err(), "one that is none");
    }
}
