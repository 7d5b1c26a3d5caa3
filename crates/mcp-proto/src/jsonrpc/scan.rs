//! Moves over the bytes of JSON and checks them on the way: nothing is copied, nothing recurses.
//!
//! Servers send megabytes in one message, so strings are passed over in blocks.

use std::borrow::Cow;

use super::{MAX_DEPTH, MAX_VALUES};

/// A place in a text of JSON. `None` from one of its functions means that the text is not valid there.
#[derive(Debug, Clone)]
pub(crate) struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str) -> Scan<'a> {
        Scan { text, bytes: text.as_bytes(), at: 0, values: 1 }
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
        self.peek() == Some(b'n') && self.word(b"null").is_some()
    }

    /// The next byte that is no white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
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
        if !self.take(b'"') {
            return None;
        }
        let start = self.at - 1;
        let escapes = self.rest_of_string()?;
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
        let key = self.string()?;
        self.take(b':').then_some(key)
    }

    /// Passes one value of any kind and returns it.
    pub(crate) fn value(&mut self) -> Option<&'a str> {
        self.peek();
        let start = self.at;
        // Which of the open ones are objects, the innermost in the lowest bit.
        let mut objects = 0_u128;
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.rest_of_string()?;
                }
                open @ (b'{' | b'[') => {
                    depth += 1;
                    // This value is itself inside of something.
                    if depth >= MAX_DEPTH {
                        return None;
                    }
                    let object = open == b'{';
                    if self.enter(open, if object { b'}' } else { b']' })? {
                        objects = objects << 1 | u128::from(object);
                        if object {
                            self.key()?;
                        }
                        continue;
                    }
                    depth -= 1;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            loop {
                if depth == 0 {
                    return self.text.get(start..self.at);
                }
                let object = objects & 1 == 1;
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.key()?;
                    }
                    break;
                }
                depth -= 1;
                objects >>= 1;
            }
        }
    }

    fn count(&mut self) -> Option<()> {
        self.values += 1;
        (self.values <= MAX_VALUES).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let zero = self.bytes.get(self.at) == Some(&b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return None;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        (self.at > start).then(|| self.at - start)
    }

    /// Passes a string whose opening quote was passed, and tells whether it has escapes.
    fn rest_of_string(&mut self) -> Option<bool> {
        let mut escapes = false;
        loop {
            self.plain();
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some(escapes),
                b'\\' => {
                    self.escape()?;
                    escapes = true;
                }
                // A raw control character.
                _ => return None,
            }
        }
    }

    /// Passes what is neither a quote, nor an escape, nor a control character.
    fn plain(&mut self) {
        for _ in 0..4 {
            let Some(word) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<8>) else { break };
            let found = special(u64::from_le_bytes(*word));
            if found != 0 {
                self.at += (found.trailing_zeros() / 8) as usize;
                return;
            }
            self.at += 8;
        }
        while let Some(block) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<64>) {
            if block.iter().fold(false, |found, byte| found | (*byte < b' ') | (*byte == b'"') | (*byte == b'\\')) {
                break;
            }
            self.at += 64;
        }
        while let Some(byte) = self.bytes.get(self.at) {
            if *byte < b' ' || *byte == b'"' || *byte == b'\\' {
                return;
            }
            self.at += 1;
        }
    }

    /// Passes an escape whose backslash was passed. Half of a surrogate pair is none.
    fn escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                let unit = self.code_unit()?;
                if (0xd800..0xdc00).contains(&unit) {
                    self.word(b"\\")?;
                    if !(0xdc00..0xe000).contains(&self.code_unit()?) {
                        return None;
                    }
                } else if (0xdc00..0xe000).contains(&unit) {
                    return None;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Passes `uXXXX`.
    fn code_unit(&mut self) -> Option<u32> {
        let [b'u', digits @ ..] = self.bytes.get(self.at..)?.first_chunk::<5>()? else { return None };
        self.at += 5;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    }
}

/// A mask whose lowest bit set tells the first quote, backslash or control character of eight bytes.
/// Higher ones may tell of bytes that are none of these.
const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xff;
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONES * limit as u64) & !word & (ONES << 7)
    }
    below(word, b' ') | below(word ^ (ONES * b'"' as u64), 1) | below(word ^ (ONES * b'\\' as u64), 1)
}

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
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde::de::IgnoredAny;

    use super::*;

    fn is_valid(text: &str) -> bool {
        let mut scan = Scan::new(text);
        scan.value().is_some() && scan.is_done()
    }

    #[test]
    fn a_string_ends_at_its_quote_wherever_that_is() {
        for length in 0..200 {
            for (end, valid) in [("\"", true), ("", false), ("\u{1}\"", false), ("\\n\"", true), ("\\\"", false)] {
                let text = format!("\"{}{end}", "é".repeat(length));
                assert_eq!(is_valid(&text), valid, "{text:?}");
                let text = format!("\"{}{end}", "x".repeat(length));
                assert_eq!(is_valid(&text), valid, "{text:?}");
            }
        }
    }

    #[test]
    fn what_is_valid_is_what_serde_holds_for_valid() {
        for text in [
            "0",
            "-0",
            "-",
            "01",
            "1.",
            ".5",
            "1.5e+7",
            "1e",
            "1E-3",
            "+1",
            "true",
            "tru",
            "nulll",
            "[]",
            "[ ]",
            "[,]",
            "[1,]",
            "[1 2]",
            "{}",
            "{ }",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{a:1}"#,
            r#"{"a":1"b":2}"#,
            r#"[{"a":[{}]},[]]"#,
            "[}",
            "{]",
            r#""\u00e9\ud83d\ude00""#,
            r#""\u+0e9""#,
            r#""\x""#,
            r#""\"#,
            "",
            " ",
            "[1]]",
        ] {
            let serde = serde_json::from_str::<IgnoredAny>(text).is_ok();
            assert_eq!(is_valid(text), serde, "{text}");
        }
        assert!(!is_valid(r#""\ud800""#) && !is_valid(r#""\udc00\ud800""#), "X37: half of a pair is no character");
    }
}
