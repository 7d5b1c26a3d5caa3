//! JSON that is not parsed yet: a slice of the frame in which it came.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;

use super::scan::Scan;
use super::spans::Large;

/// The text of one JSON value, as it came.
///
/// Cloning it copies nothing, and keeps the whole frame in memory: what stays for long should be a
/// [`RawJson::detached`] copy. The text is valid JSON, within
/// the bounds of this crate.
#[derive(Clone)]
pub struct RawJson {
    text: ByteString,
    /// Where large values in it lie.
    large: Option<Large>,
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RawJson {}

impl RawJson {
    pub(super) fn new(text: ByteString, large: Option<Large>) -> RawJson {
        RawJson { text, large }
    }

    /// A copy of `text`, which must be JSON.
    pub(crate) fn copy_of(text: &str) -> RawJson {
        RawJson { text: text.into(), large: None }
    }

    /// The place before its first byte.
    pub(crate) fn scan(&self) -> Scan<'_> {
        Scan::again(&self.text, self.large.as_deref().map_or(&[], Vec::as_slice))
    }

    /// A part of this text. It keeps the frame in memory as well.
    pub(crate) fn share(&self, part: &str) -> ByteString {
        self.text.slice_ref(part)
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.text
    }

    /// The text's bytes, which are UTF-8.
    pub fn bytes(&self) -> &Bytes {
        self.text.as_bytes()
    }

    /// Reads it as a `T`, which may borrow from the text.
    ///
    /// # Errors
    /// If it is no valid JSON, or no `T`.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// A copy that does not keep the frame in memory.
    #[must_use]
    pub fn detached(&self) -> RawJson {
        RawJson::copy_of(self.get())
    }
}

impl fmt::Debug for RawJson {
    /// Without contents: they may be large or secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.text.len())
    }
}
