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
    position: PartialJsonState,
    /// Closing brackets of the objects and lists that are open, the outermost first.
    open: Vec<u8>,
    /// Length of the longest prefix of the text that becomes valid JSON by closing what is open.
    complete: usize,
    /// Start of the last escape sequence of a string.
    escape_start: usize,
}

/// Position of the end of the text in the grammar of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PartialJsonState {
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
    Text { is_name: bool, escape: StringEscapeState },
    /// After a value in an object or list.
    Next,
    /// After the object.
    End,
    /// The text is not an object, or exceeds a limit.
    Unusable,
}

/// Position of the end of the text in an escape sequence of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringEscapeState {
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
        if self.position == PartialJsonState::Unusable || start + fragment.len() > MAX_PARTIAL_ARGUMENTS_BYTES {
            *self = Self { position: PartialJsonState::Unusable, ..Self::default() };
            return;
        }
        self.text.push_str(fragment);
        for (offset, byte) in fragment.bytes().enumerate() {
            self.position = self.next_state(byte, start + offset);
            if self.position == PartialJsonState::Unusable {
                *self = Self { position: PartialJsonState::Unusable, ..Self::default() };
                return;
            }
        }
    }

    /// Returns the arguments so far, or `None` if the text contains none yet, is not an object, or exceeds a limit.
    #[must_use]
    pub fn to_object(&self) -> Option<Map> {
        let (end, closing_quote) = match self.position {
            PartialJsonState::Start | PartialJsonState::Unusable => return None,
            PartialJsonState::Text { is_name: false, escape: StringEscapeState::Outside } => (self.text.len(), "\""),
            PartialJsonState::Text { is_name: false, .. } => (self.escape_start, "\""),
            _ => (self.complete, ""),
        };
        let mut text = self.text.get(..end)?.to_owned();
        text.push_str(closing_quote);
        text.extend(self.open.iter().rev().map(|bracket| char::from(*bracket)));
        // The text is checked only as far as its structure requires, and may still be invalid.
        serde_json::from_str(&text).ok()
    }

    /// Returns the position after `byte`, which is at index `at` of the text.
    fn next_state(&mut self, byte: u8, at: usize) -> PartialJsonState {
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.position {
            PartialJsonState::Text { is_name, escape } => self.next_state_in_string(byte, at, is_name, escape),
            PartialJsonState::Scalar => match byte {
                b',' | b'}' | b']' => {
                    self.complete = at;
                    self.next_state_after_value(byte, at)
                }
                _ if is_space => {
                    self.complete = at;
                    PartialJsonState::Next
                }
                _ => PartialJsonState::Scalar,
            },
            same if is_space => same,
            PartialJsonState::Start if byte == b'{' => self.open_bracket(b'}', at),
            PartialJsonState::Name => match byte {
                b'"' => PartialJsonState::Text { is_name: true, escape: StringEscapeState::Outside },
                b'}' => self.close_bracket(byte, at),
                _ => PartialJsonState::Unusable,
            },
            PartialJsonState::Colon if byte == b':' => PartialJsonState::Value,
            PartialJsonState::Value => match byte {
                b'"' => PartialJsonState::Text { is_name: false, escape: StringEscapeState::Outside },
                b'{' => self.open_bracket(b'}', at),
                b'[' => self.open_bracket(b']', at),
                b']' => self.close_bracket(byte, at),
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => PartialJsonState::Scalar,
                _ => PartialJsonState::Unusable,
            },
            PartialJsonState::Next => self.next_state_after_value(byte, at),
            PartialJsonState::Start | PartialJsonState::Colon | PartialJsonState::End | PartialJsonState::Unusable => {
                PartialJsonState::Unusable
            }
        }
    }

    fn next_state_after_value(&mut self, byte: u8, at: usize) -> PartialJsonState {
        match (byte, self.open.last()) {
            (b',', Some(b'}')) => PartialJsonState::Name,
            (b',', Some(_)) => PartialJsonState::Value,
            (b'}' | b']', _) => self.close_bracket(byte, at),
            _ => PartialJsonState::Unusable,
        }
    }

    fn next_state_in_string(
        &mut self,
        byte: u8,
        at: usize,
        is_name: bool,
        escape: StringEscapeState,
    ) -> PartialJsonState {
        let escape = match escape {
            StringEscapeState::Outside => match byte {
                b'"' if is_name => return PartialJsonState::Colon,
                b'"' => {
                    self.complete = at + 1;
                    return PartialJsonState::Next;
                }
                b'\\' => {
                    self.escape_start = at;
                    StringEscapeState::Kind { is_second: false }
                }
                _ => StringEscapeState::Outside,
            },
            StringEscapeState::Kind { is_second } if byte == b'u' => {
                StringEscapeState::Digits { count: 0, unit: 0, is_second }
            }
            StringEscapeState::Kind { is_second: false } => StringEscapeState::Outside,
            StringEscapeState::Digits { count, unit, is_second } => {
                let Some(digit) = char::from(byte).to_digit(16) else { return PartialJsonState::Unusable };
                let (count, unit) = (count + 1, unit * 16 + digit);
                match count {
                    4 if !is_second && (0xD800..0xDC00).contains(&unit) => StringEscapeState::SecondUnit,
                    4 => StringEscapeState::Outside,
                    _ => StringEscapeState::Digits { count, unit, is_second },
                }
            }
            StringEscapeState::SecondUnit if byte == b'\\' => StringEscapeState::Kind { is_second: true },
            StringEscapeState::Kind { is_second: true } | StringEscapeState::SecondUnit => {
                return PartialJsonState::Unusable;
            }
        };
        PartialJsonState::Text { is_name, escape }
    }

    fn open_bracket(&mut self, bracket: u8, at: usize) -> PartialJsonState {
        if self.open.len() == MAX_PARTIAL_ARGUMENTS_DEPTH {
            return PartialJsonState::Unusable;
        }
        self.open.push(bracket);
        self.complete = at + 1;
        if bracket == b'}' { PartialJsonState::Name } else { PartialJsonState::Value }
    }

    fn close_bracket(&mut self, bracket: u8, at: usize) -> PartialJsonState {
        if self.open.pop() != Some(bracket) {
            return PartialJsonState::Unusable;
        }
        self.complete = at + 1;
        if self.open.is_empty() { PartialJsonState::End } else { PartialJsonState::Next }
    }
}
