//! Text that may be large, such as a file or a base64-encoded image.

use std::fmt;
use std::ops::Deref;

use bytestring::ByteString;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Immutable text that is cheap to clone.
///
/// A large text without escapes is a slice of the received message. The whole message remains in memory until the last
/// slice is dropped.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct SharedText(ByteString);

impl SharedText {
    /// Returns a shared text that refers to the memory of `text` instead of copying it.
    pub(crate) fn from_shared(text: ByteString) -> SharedText {
        SharedText(text)
    }

    /// Returns the complete text, without copying.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for SharedText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<String> for SharedText {
    fn from(text: String) -> SharedText {
        SharedText(text.into())
    }
}

impl From<&str> for SharedText {
    fn from(text: &str) -> SharedText {
        SharedText(text.into())
    }
}

impl From<SharedText> for String {
    fn from(text: SharedText) -> String {
        text.as_str().to_owned()
    }
}

impl PartialEq<str> for SharedText {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for SharedText {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for SharedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(SharedText::from)
    }
}
