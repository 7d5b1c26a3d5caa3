//! Conversion of hashes to and from hexadecimal.

use std::fmt::Write as _;

/// Returns the bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a `String` can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Parses a SHA-256 hash in hexadecimal, or returns `None` if it is invalid.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != hash.len() * 2 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}
