//! Scanner that validates JSON text while it advances, without copies and without recursion.
//!
//! Servers send megabytes in one message, so strings are scanned in blocks.

mod bytes;

use std::borrow::Cow;

use bytes::{key_and_colon_end, literal_end, number_end, skip_whitespace, string_end};

use super::value_spans::{JsonValueRecorder, ValueSpan};
use super::{MAX_JSON_DEPTH, MAX_JSON_VALUES};

/// Cursor that validates a JSON text while it advances. Methods that return `Option` return `None` if the text at the
/// cursor is invalid.
#[derive(Debug, Clone)]
pub(crate) struct JsonScanner<'a> {
    text: &'a str,
    at: usize,
    values: usize,
    /// Positions of large values that an earlier scan recorded, sorted by start. Each such value is skipped in one
    /// step.
    known: &'a [ValueSpan],
}

impl<'a> JsonScanner<'a> {
    pub(crate) fn new(text: &'a str) -> JsonScanner<'a> {
        JsonScanner::with_known_value_spans(text, &[])
    }

    /// Returns a scanner of a text that is valid JSON. Values whose positions are in `known` are skipped in one step.
    pub(super) fn with_known_value_spans(text: &'a str, known: &'a [ValueSpan]) -> JsonScanner<'a> {
        JsonScanner { text, at: 0, values: 1, known }
    }

    /// Returns the scanner, moved to the byte offset `at` of its text.
    pub(crate) fn moved_to_offset(mut self, at: usize) -> JsonScanner<'a> {
        self.at = at;
        // Binary search, as a text may have many such positions and many spans before them.
        let passed = self.known.partition_point(|span| span.start() < at);
        self.known = self.known.get(passed..).unwrap_or_default();
        self
    }

    /// Returns the number of consumed bytes.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns the part of the scanned JSON text between the byte offset `at` and the cursor.
    pub(crate) fn text_since(&self, at: usize) -> &'a str {
        self.text.get(at..self.at).unwrap_or_default()
    }

    /// Consumes the literal `null` if it is next. Returns `true` if it was consumed.
    pub(crate) fn consume_null(&mut self) -> bool {
        self.consume_literal(b"null")
    }

    /// Consumes the literal `true` or `false` and returns its value.
    pub(crate) fn consume_bool(&mut self) -> Option<bool> {
        if self.consume_literal(b"true") { Some(true) } else { self.consume_literal(b"false").then_some(false) }
    }

    fn consume_literal(&mut self, literal: &[u8]) -> bool {
        self.peek();
        literal_end(self.bytes(), self.at, literal).map(|end| self.at = end).is_some()
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Skips white space and returns the next byte without consuming it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.at = skip_whitespace(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    /// Skips white space and consumes `byte` if it is next. Returns `true` if it was consumed.
    pub(crate) fn consume_byte(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Skips white space and returns `true` if the end of the text is reached.
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Consumes a string and returns it.
    pub(crate) fn consume_string(&mut self) -> Option<QuotedString<'a>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at;
        let escapes = match self.recorded_value_end() {
            // Recorders are called for strings without escapes only.
            Some(end) => {
                self.at = end;
                false
            }
            None => {
                let (end, escapes) = string_end(self.bytes(), start + 1)?;
                self.at = end;
                escapes
            }
        };
        Some(QuotedString { text: self.text.get(start..self.at)?, escapes })
    }

    /// Consumes the opening byte of an object or array, and returns `true` if a member or element follows. If the
    /// object or array is empty, also consumes its closing byte and returns `false`.
    pub(crate) fn open_container(&mut self, open: u8, close: u8) -> Option<bool> {
        if !self.consume_byte(open) {
            return None;
        }
        self.count_value()?;
        Some(!self.consume_byte(close))
    }

    /// Consumes the comma or the closing byte `close` after a member or element. Returns `true` if it was a comma, so
    /// that another member or element follows.
    pub(crate) fn consume_separator(&mut self, close: u8) -> Option<bool> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                self.count_value()?;
                Some(true)
            }
            byte if byte == close => {
                self.at += 1;
                Some(false)
            }
            _ => None,
        }
    }

    /// Consumes the key of a member and its colon, and returns the key.
    pub(crate) fn consume_key(&mut self) -> Option<QuotedString<'a>> {
        let bytes = self.bytes();
        let start = skip_whitespace(bytes, self.at);
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        // Keys are not recorded.
        let (end, escapes) = string_end(bytes, start + 1)?;
        let colon = skip_whitespace(bytes, end);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        self.at = colon + 1;
        Some(QuotedString { text: self.text.get(start..end)?, escapes })
    }

    /// Consumes one value of any type and returns its text.
    pub(crate) fn consume_value(&mut self) -> Option<&'a str> {
        self.peek();
        match self.recorded_value_end() {
            Some(end) => {
                let start = std::mem::replace(&mut self.at, end);
                self.text.get(start..end)
            }
            None => self.scan_value(&mut ()),
        }
    }

    /// Consumes one value as [`JsonScanner::consume_value`] does, and reports the values nested in it to `recorder`.
    pub(super) fn consume_value_with_recorder(&mut self, recorder: &mut impl JsonValueRecorder) -> Option<&'a str> {
        self.scan_value(recorder)
    }

    /// Returns the end offset of the next value if an earlier scan recorded its position.
    fn recorded_value_end(&mut self) -> Option<usize> {
        if self.known.is_empty() {
            return None;
        }
        let passed = self.known.iter().take_while(|span| span.start() < self.at).count();
        self.known = self.known.get(passed..)?;
        self.known.first().filter(|span| span.start() == self.at).map(ValueSpan::end)
    }

    fn scan_value(&mut self, recorder: &mut impl JsonValueRecorder) -> Option<&'a str> {
        let bytes = self.bytes();
        let start = skip_whitespace(bytes, self.at);
        let mut at = start;
        // Stack of the open containers, one bit each: 1 for an object, the innermost in the lowest bit.
        let mut objects = 0_u128;
        let mut depth = 0;
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    let (end, escapes) = string_end(bytes, at + 1)?;
                    if !escapes {
                        recorder.on_string(depth, at - start, end - start);
                    }
                    at = end;
                }
                open @ (b'{' | b'[') => {
                    depth += 1;
                    // The value itself is nested in at least one container.
                    if depth >= MAX_JSON_DEPTH {
                        return None;
                    }
                    self.count_value()?;
                    recorder.on_container_start(depth, at - start);
                    let object = open == b'{';
                    at = skip_whitespace(bytes, at + 1);
                    if bytes.get(at) != Some(&(open + CLOSING_BRACKET_OFFSET)) {
                        objects = objects << 1 | u128::from(object);
                        if object {
                            at = key_and_colon_end(bytes, at)?;
                        }
                        continue;
                    }
                    at += 1;
                    recorder.on_container_end(depth, at - start);
                    depth -= 1;
                }
                b't' => at = literal_end(bytes, at, b"true")?,
                b'f' => at = literal_end(bytes, at, b"false")?,
                b'n' => at = literal_end(bytes, at, b"null")?,
                _ => at = number_end(bytes, at)?,
            }
            loop {
                if depth == 0 {
                    self.at = at;
                    return self.text.get(start..at);
                }
                let object = objects & 1 == 1;
                at = skip_whitespace(bytes, at);
                match *bytes.get(at)? {
                    b',' => {
                        self.count_value()?;
                        at = skip_whitespace(bytes, at + 1);
                        if object {
                            at = key_and_colon_end(bytes, at)?;
                        }
                        break;
                    }
                    close if close == if object { b'}' } else { b']' } => {
                        at += 1;
                        recorder.on_container_end(depth, at - start);
                        depth -= 1;
                        objects >>= 1;
                    }
                    _ => return None,
                }
            }
        }
    }

    fn count_value(&mut self) -> Option<()> {
        self.values += 1;
        (self.values <= MAX_JSON_VALUES).then_some(())
    }
}

/// Difference between the ASCII codes of a closing brace or bracket and of the opening one.
const CLOSING_BRACKET_OFFSET: u8 = b'}' - b'{';
const _: () = assert!(b'[' + CLOSING_BRACKET_OFFSET == b']');

/// A JSON string with its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotedString<'a> {
    /// JSON text of the string, including its quotes.
    text: &'a str,
    escapes: bool,
}

impl<'a> QuotedString<'a> {
    /// Returns the content of the string without its quotes and escapes, or `None` if an escape is invalid. Copies only
    /// if the string has escapes.
    pub(crate) fn unescape(&self) -> Option<Cow<'a, str>> {
        if self.escapes {
            return serde_json::from_str(self.text).ok().map(Cow::Owned);
        }
        self.text.get(1..self.text.len() - 1).map(Cow::Borrowed)
    }

    /// Returns the length of the JSON text in bytes, including the quotes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

/// Returns the content of a JSON string without its quotes and escapes, or `None` if `quoted` is not a valid string.
pub(crate) fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    JsonScanner::new(quoted).consume_string()?.unescape()
}

#[cfg(test)]
mod tests;
