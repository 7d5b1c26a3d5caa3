//! The body of an activity log entry, in a separate allocation. It is compressed if it is long and its content is
//! stored elsewhere as well.

use std::borrow::Cow;
use std::sync::Arc;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Minimum size of a body that is compressed, in bytes.
const MIN_BODY_BYTES_TO_COMPRESS: usize = 512;
/// Maximum size of a body that is compressed, in bytes. Compressing larger bodies would take too long.
const MAX_BODY_BYTES_TO_COMPRESS: usize = 64 * 1024;
/// Compression level from 0 to 10. Higher levels take much longer and save little memory.
const COMPRESSION_LEVEL: u8 = 4;

/// The bytes of a message as received, possibly compressed. Clones share the bytes.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum EntryBody {
    Plain(Arc<[u8]>),
    Packed(Arc<[u8]>),
}

impl EntryBody {
    /// Creates an uncompressed body with a copy of the bytes, because a slice of the read buffer would keep the whole
    /// buffer in memory.
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self::Plain(bytes.into())
    }

    /// Compresses the body, unless that would make it larger.
    pub(super) fn compress(&mut self) {
        if let Self::Plain(plain) = self
            && (MIN_BODY_BYTES_TO_COMPRESS..=MAX_BODY_BYTES_TO_COMPRESS).contains(&plain.len())
        {
            let packed = compress_to_vec(plain, COMPRESSION_LEVEL);
            if packed.len() < plain.len() {
                *self = Self::Packed(packed.into());
            }
        }
    }

    /// Returns the memory used by the body, in bytes.
    pub(super) fn memory_used(&self) -> usize {
        match self {
            Self::Plain(bytes) | Self::Packed(bytes) => bytes.len(),
        }
    }

    /// Returns the body as text, with invalid UTF-8 replaced.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Plain(bytes) => String::from_utf8_lossy(bytes),
            Self::Packed(_) => Cow::Owned(String::from_utf8_lossy(&self.bytes()).into_owned()),
        }
    }

    /// Returns the first `most` characters of the body.
    pub(super) fn first_chars_of_body(&self, most: usize) -> String {
        // A character has at most four bytes in UTF-8.
        let enough = most * 4;
        let bytes = match self {
            Self::Plain(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(enough)]),
            Self::Packed(bytes) => Cow::Owned(
                // The error for output beyond the limit is expected, because only the beginning is needed.
                decompress_to_vec_with_limit(bytes, enough).unwrap_or_else(|error| error.output),
            ),
        };
        String::from_utf8_lossy(&bytes).chars().take(most).collect()
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Plain(bytes) => Cow::Borrowed(bytes),
            // Data that this module compressed can always be decompressed.
            Self::Packed(bytes) => {
                Cow::Owned(decompress_to_vec_with_limit(bytes, MAX_BODY_BYTES_TO_COMPRESS).unwrap_or_default())
            }
        }
    }
}

impl std::fmt::Debug for EntryBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_body_is_restored_unchanged() {
        let tool = |n: u64| format!(r#"{{"name":"tool-{n}","description":"ü","inputSchema":{{"type":"object"}}}}"#);
        let text = (0..100).map(tool).collect::<Vec<_>>().join(",");
        let mut body = EntryBody::new(text.as_bytes());
        body.compress();
        assert!(
            body.memory_used() * 3 < text.len(),
            "a list must be compressed to less than a third: {} of {}",
            body.memory_used(),
            text.len()
        );
        assert_eq!(body.text(), text, "the compressed text must be restored");
        assert_eq!(
            body.first_chars_of_body(30),
            text.chars().take(30).collect::<String>(),
            "the first characters must be restored"
        );
    }

    #[test]
    fn incompressible_body_is_stored_uncompressed() {
        let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(4_000).collect();
        for bytes in [&noise[..], b"short".repeat(20).as_slice(), "long".repeat(MAX_BODY_BYTES_TO_COMPRESS).as_bytes()]
        {
            let mut body = EntryBody::new(bytes);
            body.compress();
            assert_eq!(body.memory_used(), bytes.len(), "the body must be stored uncompressed");
        }
    }

    #[test]
    fn invalid_utf8_in_an_entry_body_is_replaced() {
        let body = EntryBody::new(b"a\xffb");
        assert_eq!(
            (&*body.text(), &*body.first_chars_of_body(2)),
            ("a\u{fffd}b", "a\u{fffd}"),
            "invalid bytes must be replaced"
        );
        assert_eq!(
            EntryBody::new("üüü".as_bytes()).first_chars_of_body(2),
            "üü",
            "characters must be counted, not bytes"
        );
    }
}
