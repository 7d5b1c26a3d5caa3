//! JSON that is not parsed yet: a slice of the frame in which it came.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;

/// The text of one JSON value, as it came.
///
/// Cloning it copies nothing, and keeps the whole frame in memory: what stays for long should be a
/// [`RawJson::detached`] copy. Whether the text is valid JSON is found by whoever reads it.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(ByteString);

impl RawJson {
    pub(super) fn new(text: ByteString) -> RawJson {
        RawJson(text)
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text's bytes, which are UTF-8.
    pub fn bytes(&self) -> &Bytes {
        self.0.as_bytes()
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
        RawJson(self.get().into())
    }
}

impl fmt::Debug for RawJson {
    /// Without contents: they may be large or secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawJson({} bytes)", self.0.len())
    }
}
