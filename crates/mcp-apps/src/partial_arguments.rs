//! Arguments of a tool call whose JSON text is still arriving, repaired to a valid JSON object.

use mcp_proto::types::Map;

/// Maximum size in bytes of the text from which partial arguments are recovered.
pub const MAX_PARTIAL_ARGUMENTS_BYTES: usize = 64 * 1024;
/// Maximum nesting depth of the text from which partial arguments are recovered.
pub const MAX_PARTIAL_ARGUMENTS_DEPTH: usize = 64;

/// JSON text of a tool call's arguments, which arrives in fragments.
///
/// [`to_object`](Self::to_object) closes what is open in the text so far, and contains only what later text can't take
/// back: strings and lists may continue, members may be added, and everything else is final. So numbers and literals are
/// contained only once their end is known, and members only once their value has begun.
///
/// Each byte of the text is examined once. Text that exceeds the limits yields nothing.
///
/// # Examples
///
/// ```
/// use mcp_apps::PartialArguments;
/// use serde_json::json;
///
/// let mut arguments = PartialArguments::default();
/// arguments.push(r#"{"city":"Os"#);
/// assert_eq!(arguments.to_object().map(|object| json!(object)), Some(json!({ "city": "Os" })));
/// arguments.push(r#"lo","days":[1,2"#);
/// assert_eq!(arguments.to_object().map(|object| json!(object)), Some(json!({ "city": "Oslo", "days": [1] })));
/// ```
#[derive(Debug, Clone, Default)]
pub struct PartialArguments {
    text: String,
    position: Position,
    /// Closing brackets of the objects and lists that are open, the outermost first.
    open: Vec<u8>,
    /// Length of the longest prefix of the text that becomes valid JSON by closing what is open.
    complete: usize,
    /// Start of the last escape sequence of a string.
    escape_start: usize,
}

/// Position of the end of the text in the grammar of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Position {
    /// Before the object.
    #[default]
    Start,
    /// Before the name of a member, or the end of the object.
    Name,
    /// Between the name of a member and the colon.
    Colon,
    /// Before a value, or the end of a list.
    Value,
    /// In a number or literal.
    Scalar,
    /// In the name of a member, or a string.
    Text { is_name: bool, escape: Escape },
    /// After a value in an object or list.
    Next,
    /// After the object.
    End,
    /// The text is not an object, or exceeds a limit.
    Unusable,
}

/// Position of the end of the text in an escape sequence of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// Not in an escape sequence.
    Outside,
    /// After a backslash.
    Kind { is_second: bool },
    /// In the digits of a UTF-16 code unit.
    Digits { count: u8, unit: u32, is_second: bool },
    /// After the first of two code units that form a character.
    SecondUnit,
}

impl PartialArguments {
    /// Appends a fragment of the text.
    pub fn push(&mut self, fragment: &str) {
        let start = self.text.len();
        if self.position == Position::Unusable || start + fragment.len() > MAX_PARTIAL_ARGUMENTS_BYTES {
            *self = Self { position: Position::Unusable, ..Self::default() };
            return;
        }
        self.text.push_str(fragment);
        for (offset, byte) in fragment.bytes().enumerate() {
            self.position = self.next_position(byte, start + offset);
            if self.position == Position::Unusable {
                *self = Self { position: Position::Unusable, ..Self::default() };
                return;
            }
        }
    }

    /// Returns the arguments so far, or `None` if the text contains none yet, is not an object, or exceeds a limit.
    #[must_use]
    pub fn to_object(&self) -> Option<Map> {
        let (end, closing_quote) = match self.position {
            Position::Start | Position::Unusable => return None,
            Position::Text { is_name: false, escape: Escape::Outside } => (self.text.len(), "\""),
            Position::Text { is_name: false, .. } => (self.escape_start, "\""),
            _ => (self.complete, ""),
        };
        let mut text = self.text.get(..end)?.to_owned();
        text.push_str(closing_quote);
        text.extend(self.open.iter().rev().map(|bracket| char::from(*bracket)));
        // The text is checked only as far as its structure requires, and may still be invalid.
        serde_json::from_str(&text).ok()
    }

    /// Returns the position after `byte`, which is at index `at` of the text.
    fn next_position(&mut self, byte: u8, at: usize) -> Position {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.position {
            Position::Text { is_name, escape } => self.next_in_text(byte, at, is_name, escape),
            Position::Scalar => match byte {
                b',' | b'}' | b']' => {
                    self.complete = at;
                    self.next_after_value(byte, at)
                }
                _ if is_space => {
                    self.complete = at;
                    Position::Next
                }
                _ => Position::Scalar,
            },
            same if is_space => same,
            Position::Start if byte == b'{' => self.open_bracket(b'}', at),
            Position::Name => match byte {
                b'"' => Position::Text { is_name: true, escape: Escape::Outside },
                b'}' => self.close_bracket(byte, at),
                _ => Position::Unusable,
            },
            Position::Colon if byte == b':' => Position::Value,
            Position::Value => match byte {
                b'"' => Position::Text { is_name: false, escape: Escape::Outside },
                b'{' => self.open_bracket(b'}', at),
                b'[' => self.open_bracket(b']', at),
                b']' => self.close_bracket(byte, at),
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => Position::Scalar,
                _ => Position::Unusable,
            },
            Position::Next => self.next_after_value(byte, at),
            Position::Start | Position::Colon | Position::End | Position::Unusable => Position::Unusable,
        }
    }

    fn next_after_value(&mut self, byte: u8, at: usize) -> Position {
        match (byte, self.open.last()) {
            (b',', Some(b'}')) => Position::Name,
            (b',', Some(_)) => Position::Value,
            (b'}' | b']', _) => self.close_bracket(byte, at),
            _ => Position::Unusable,
        }
    }

    fn next_in_text(&mut self, byte: u8, at: usize, is_name: bool, escape: Escape) -> Position {
        let escape = match escape {
            Escape::Outside => match byte {
                b'"' if is_name => return Position::Colon,
                b'"' => {
                    self.complete = at + 1;
                    return Position::Next;
                }
                b'\\' => {
                    self.escape_start = at;
                    Escape::Kind { is_second: false }
                }
                _ => Escape::Outside,
            },
            Escape::Kind { is_second } if byte == b'u' => Escape::Digits { count: 0, unit: 0, is_second },
            Escape::Kind { is_second: false } => Escape::Outside,
            Escape::Digits { count, unit, is_second } => {
                let Some(digit) = char::from(byte).to_digit(16) else { return Position::Unusable };
                let (count, unit) = (count + 1, unit * 16 + digit);
                match count {
                    4 if !is_second && (0xD800..0xDC00).contains(&unit) => Escape::SecondUnit,
                    4 => Escape::Outside,
                    _ => Escape::Digits { count, unit, is_second },
                }
            }
            Escape::SecondUnit if byte == b'\\' => Escape::Kind { is_second: true },
            Escape::Kind { is_second: true } | Escape::SecondUnit => return Position::Unusable,
        };
        Position::Text { is_name, escape }
    }

    fn open_bracket(&mut self, bracket: u8, at: usize) -> Position {
        if self.open.len() == MAX_PARTIAL_ARGUMENTS_DEPTH {
            return Position::Unusable;
        }
        self.open.push(bracket);
        self.complete = at + 1;
        if bracket == b'}' { Position::Name } else { Position::Value }
    }

    fn close_bracket(&mut self, bracket: u8, at: usize) -> Position {
        if self.open.pop() != Some(bracket) {
            return Position::Unusable;
        }
        self.complete = at + 1;
        if self.open.is_empty() { Position::End } else { Position::Next }
    }
}
