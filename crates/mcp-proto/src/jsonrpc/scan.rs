//! Moves over the bytes of JSON and checks them on the way: nothing is copied, nothing recurses.
//!
//! Servers send megabytes in one message, so strings are passed over in blocks.

mod bytes;

use std::borrow::Cow;

use bytes::{key, number, space, string, word};

use super::spans::{Recorder, Span};
use super::{MAX_DEPTH, MAX_VALUES};

/// A place in a text of JSON. `None` from one of its functions means that the text is not valid there.
#[derive(Debug, Clone)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    at: usize,
    values: usize,
    /// Large values of this text that were passed before: each is passed in one step. Sorted.
    known: &'a [Span],
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Scan<'a> {
        Scan::again(text, &[])
    }

    /// A text that was found valid before, where `known` was recorded.
    pub(super) fn again(text: &'a str, known: &'a [Span]) -> Scan<'a> {
        Scan { text, at: 0, values: 1, known }
    }

    /// The same text from another place on.
    pub(crate) fn placed_at(mut self, at: usize) -> Scan<'a> {
        self.at = at;
        // Found at once, as a text may have many such places and much before them.
        let passed = self.known.partition_point(|span| span.start() < at);
        self.known = self.known.get(passed..).unwrap_or_default();
        self
    }

    /// How many bytes were passed.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What was passed since `at`.
    pub(crate) fn since(&self, at: usize) -> &'a str {
        self.text.get(at..self.at).unwrap_or_default()
    }

    /// Passes `null`, if it is next.
    pub(crate) fn null(&mut self) -> bool {
        self.passes(b"null")
    }

    /// Passes `true` or `false`, if it is next.
    pub(crate) fn flag(&mut self) -> Option<bool> {
        if self.passes(b"true") { Some(true) } else { self.passes(b"false").then_some(false) }
    }

    fn passes(&mut self, literal: &[u8]) -> bool {
        self.peek();
        word(self.bytes(), self.at, literal).map(|end| self.at = end).is_some()
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// The next byte that is no white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.at = space(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    /// Passes `byte`, if it is the next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Passes a string.
    pub(crate) fn string(&mut self) -> Option<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at;
        let escapes = match self.known_end() {
            // Only strings without escapes are recorded.
            Some(end) => {
                self.at = end;
                false
            }
            None => {
                let (end, escapes) = string(self.bytes(), start + 1)?;
                self.at = end;
                escapes
            }
        };
        Some(Quoted { text: self.text.get(start..self.at)?, escapes })
    }

    /// Begins an object or array: whether it has anything inside.
    pub(crate) fn enter(&mut self, open: u8, close: u8) -> Option<bool> {
        if !self.take(open) {
            return None;
        }
        self.count()?;
        Some(!self.take(close))
    }

    /// After a member or element: whether another one follows.
    pub(crate) fn more(&mut self, close: u8) -> Option<bool> {
        match self.peek()? {
            b',' => {
                self.at += 1;
                self.count()?;
                Some(true)
            }
            byte if byte == close => {
                self.at += 1;
                Some(false)
            }
            _ => None,
        }
    }

    /// The key of a member; what follows is the value.
    pub(crate) fn key(&mut self) -> Option<Quoted<'a>> {
        let bytes = self.bytes();
        let start = space(bytes, self.at);
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        // Keys are not recorded.
        let (end, escapes) = string(bytes, start + 1)?;
        let colon = space(bytes, end);
        if bytes.get(colon) != Some(&b':') {
            return None;
        }
        self.at = colon + 1;
        Some(Quoted { text: self.text.get(start..end)?, escapes })
    }

    /// Passes one value of any kind and returns it.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.peek();
        match self.known_end() {
            Some(end) => {
                let start = std::mem::replace(&mut self.at, end);
                self.text.get(start..end)
            }
            None => self.walk(&mut ()),
        }
    }

    /// Passes one value as [`Scan::value`] does, and records what is large inside of it.
    pub(super) fn value_recorded(&mut self, recorder: &mut impl Recorder) -> Option<&'a str> {
        self.walk(recorder)
    }

    /// Where the value that is next ends, if that was recorded.
    fn known_end(&mut self) -> Option<usize> {
        if self.known.is_empty() {
            return None;
        }
        let passed = self.known.iter().take_while(|span| span.start() < self.at).count();
        self.known = self.known.get(passed..)?;
        self.known.first().filter(|span| span.start() == self.at).map(Span::end)
    }

    fn walk(&mut self, recorder: &mut impl Recorder) -> Option<&'a str> {
        let bytes = self.bytes();
        let start = space(bytes, self.at);
        let mut at = start;
        // Which of the open ones are objects, the innermost in the lowest bit.
        let mut objects = 0_u128;
        let mut depth = 0;
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    let (end, escapes) = string(bytes, at + 1)?;
                    if !escapes {
                        recorder.string(depth, at - start, end - start);
                    }
                    at = end;
                }
                open @ (b'{' | b'[') => {
                    depth += 1;
                    // This value is itself inside of something.
                    if depth >= MAX_DEPTH {
                        return None;
                    }
                    self.count()?;
                    recorder.opened(depth, at - start);
                    let object = open == b'{';
                    at = space(bytes, at + 1);
                    if bytes.get(at) != Some(&(open + CLOSES)) {
                        objects = objects << 1 | u128::from(object);
                        if object {
                            at = key(bytes, at)?;
                        }
                        continue;
                    }
                    at += 1;
                    recorder.closed(depth, at - start);
                    depth -= 1;
                }
                b't' => at = word(bytes, at, b"true")?,
                b'f' => at = word(bytes, at, b"false")?,
                b'n' => at = word(bytes, at, b"null")?,
                _ => at = number(bytes, at)?,
            }
            loop {
                if depth == 0 {
                    self.at = at;
                    return self.text.get(start..at);
                }
                let object = objects & 1 == 1;
                at = space(bytes, at);
                match *bytes.get(at)? {
                    b',' => {
                        self.count()?;
                        at = space(bytes, at + 1);
                        if object {
                            at = key(bytes, at)?;
                        }
                        break;
                    }
                    close if close == if object { b'}' } else { b']' } => {
                        at += 1;
                        recorder.closed(depth, at - start);
                        depth -= 1;
                        objects >>= 1;
                    }
                    _ => return None,
                }
            }
        }
    }

    fn count(&mut self) -> Option<()> {
        self.values += 1;
        (self.values <= MAX_VALUES).then_some(())
    }
}

/// How far the byte that closes an object or array is from the one that opens it.
const CLOSES: u8 = b'}' - b'{';
const _: () = assert!(b'[' + CLOSES == b']');

/// A string as it stands in JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    /// With its quotes.
    text: &'a str,
    escapes: bool,
}

impl<'a> Quoted<'a> {
    /// The text that it is. Nothing is copied unless it has escapes.
    pub(crate) fn plain(&self) -> Option<Cow<'a, str>> {
        if self.escapes {
            return serde_json::from_str(self.text).ok().map(Cow::Owned);
        }
        self.text.get(1..self.text.len() - 1).map(Cow::Borrowed)
    }

    /// How many bytes it has on the wire.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

/// The text of a string of JSON, if it is one.
pub(crate) fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    Scan::new(quoted).string()?.plain()
}

#[cfg(test)]
mod tests;
