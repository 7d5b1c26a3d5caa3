//! Hashes that bind approvals to exact content.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// The two hexadecimal digits of each byte value.
static HEX_PAIRS: [[u8; 2]; 256] = {
    const HEX_DIGITS: [u8; 16] = *b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [HEX_DIGITS[byte >> 4], HEX_DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// SHA-256 hash of bytes, or of the canonical JSON of a value, in hexadecimal. Clones share the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(Arc<str>);

impl Hash {
    /// Hashes a value. Equal JSON values have the same hash, regardless of the order of keys.
    #[must_use]
    pub fn of_json(value: &Value) -> Self {
        Self::of_bytes(canonical_json(value).as_bytes())
    }

    /// Hashes raw bytes with SHA-256.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from_digest(&Sha256::digest(bytes).into())
    }

    fn from_digest(digest: &[u8; 32]) -> Self {
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(digest) {
            *pair = HEX_PAIRS[usize::from(*byte)];
        }
        // Never fails, because all bytes are ASCII digits.
        Self(str::from_utf8(&text).unwrap_or_default().into())
    }

    /// Returns the hash in lower-case hexadecimal.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A hash of bytes whose beginning is known in advance, so that the beginning is hashed only once.
#[derive(Debug, Clone)]
pub struct PartialHash(Sha256);

impl PartialHash {
    /// Starts a hash with these first bytes.
    #[must_use]
    pub fn from_prefix(bytes: &[u8]) -> Self {
        Self(Sha256::new_with_prefix(bytes))
    }

    /// Returns the hash of the first bytes followed by these bytes.
    #[must_use]
    pub fn finish_with(&self, bytes: &[u8]) -> Hash {
        Hash::from_digest(&self.0.clone().chain_update(bytes).finalize().into())
    }
}

/// Serializes a value as canonical JSON, with sorted keys and without whitespace: equal values have equal text.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_canonical_value(value, &mut text);
    text
}

/// Serializes an object as canonical JSON, without creating a [`Value`].
#[must_use]
pub fn canonical_json_object(members: &Map<String, Value>) -> String {
    let mut text = String::with_capacity(128);
    write_object(members, &mut text);
    text
}

fn write_canonical_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => write_object(members, text),
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                write_canonical_value(item, text);
            }
            text.push(']');
        }
        Value::String(string) => write_string(string, text),
        other => text.push_str(&other.to_string()),
    }
}

fn write_object(members: &Map<String, Value>, text: &mut String) {
    if members.keys().is_sorted() {
        write_members(members.iter(), text);
    } else {
        let mut sorted: Vec<_> = members.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        write_members(sorted.into_iter(), text);
    }
}

fn write_members<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>, text: &mut String) {
    text.push('{');
    for (i, (key, value)) in members.enumerate() {
        if i > 0 {
            text.push(',');
        }
        write_string(key, text);
        text.push(':');
        write_canonical_value(value, text);
    }
    text.push('}');
}

fn write_string(string: &str, text: &mut String) {
    if string.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        text.push_str(&json!(string).to_string());
    } else {
        text.push('"');
        text.push_str(string);
        text.push('"');
    }
}
