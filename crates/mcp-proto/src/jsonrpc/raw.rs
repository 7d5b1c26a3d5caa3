//! JSON that is not parsed yet: a slice of the received message.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;

use super::json_scanner::JsonScanner;
use super::value_spans::LargeValueSpans;

/// Text of one JSON value, exactly as it was received.
///
/// Cloning is cheap and keeps the whole received message in memory. The text is valid JSON within the limits of this
/// crate.
#[derive(Clone)]
pub struct RawJson {
    text: ByteString,
    /// Positions of large values in `text`, recorded when the message was validated, or `None` if there are none.
    large: Option<LargeValueSpans>,
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RawJson {}

impl RawJson {
    pub(super) fn new(text: ByteString, large: Option<LargeValueSpans>) -> RawJson {
        RawJson { text, large }
    }

    /// Returns a copy of `text`, which must be valid JSON.
    pub(crate) fn copy_of(text: &str) -> RawJson {
        RawJson { text: text.into(), large: None }
    }

    /// Returns a scanner of this JSON text that skips each recorded large value in one step.
    pub(crate) fn scanner(&self) -> JsonScanner<'_> {
        JsonScanner::with_known_value_spans(&self.text, self.large.as_deref().map_or(&[], Vec::as_slice))
    }

    /// Returns `part`, which must be a slice of this value's text, without copying it. The result keeps the whole
    /// received message in memory.
    pub(crate) fn shared_slice(&self, part: &str) -> ByteString {
        self.text.slice_ref(part)
    }

    /// Returns the JSON text exactly as received.
    pub fn get(&self) -> &str {
        &self.text
    }

    /// Returns the UTF-8 bytes of the JSON text.
    pub fn bytes(&self) -> &Bytes {
        self.text.as_bytes()
    }

    /// Deserializes the JSON text as a `T`, which may borrow from it.
    ///
    /// # Errors
    /// Returns an error if the text does not deserialize as a `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }
}

impl fmt::Debug for RawJson {
    /// Omits the contents because they may be large or secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.text.len())
    }
}
