//! Extracts large texts and bytes from bodies, to store them once by their hash, and restores them.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// Length of a text, in bytes, above which it is extracted.
const LARGE: usize = 4 << 10;

/// Length of a text, in bytes, above which it is sent only on request.
const VERY_LONG: u64 = 64 << 10;

/// Hash that identifies stored bytes.
pub(super) type ContentHash = [u8; 32];

/// A value that was extracted from a body. An empty text is left in its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExtractedContent {
    /// Location in the body, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) hash: ContentHash,
    pub(super) bytes: Vec<u8>,
    /// Set if the bytes were encoded in base64.
    pub(super) base64: bool,
}

/// Returns a body without its large values, and these values.
pub(super) fn take_out(body: &Value) -> (Value, Vec<ExtractedContent>) {
    let mut taken = Vec::new();
    let body = without_large(body, &mut String::new(), &mut taken);
    (body, taken)
}

fn without_large(value: &Value, pointer: &mut String, taken: &mut Vec<ExtractedContent>) -> Value {
    let place = pointer.len();
    match value {
        Value::String(text) if text.len() > LARGE => {
            let (bytes, base64) = match BASE64_STANDARD.decode(text) {
                Ok(bytes) if BASE64_STANDARD.encode(&bytes) == *text => (bytes, true),
                _ => (text.clone().into_bytes(), false),
            };
            taken.push(ExtractedContent { pointer: pointer.clone(), hash: hash_of(&bytes), bytes, base64 });
            Value::String(String::new())
        }
        Value::Array(values) => {
            let mut light_values = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                light_values.push(without_large(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Array(light_values)
        }
        Value::Object(members) => {
            let mut light_members = serde_json::Map::with_capacity(members.len());
            for (name, value) in members {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                light_members.insert(name.clone(), without_large(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Object(light_members)
        }
        other => other.clone(),
    }
}

/// Restores an extracted value. Returns `false` if the location does not exist.
pub(super) fn put_back(body: &mut Value, pointer: &str, bytes: Vec<u8>, base64: bool) -> bool {
    let Some(place) = body.pointer_mut(pointer) else { return false };
    let text = if base64 { Some(BASE64_STANDARD.encode(&bytes)) } else { String::from_utf8(bytes).ok() };
    let Some(text) = text else { return false };
    *place = Value::String(text);
    true
}

/// Returns `true` if pages of items omit a value, which the page requests when it shows it: bytes of an image, audio or
/// file, and very long texts.
pub(super) fn is_left_out(pointer: &str, base64: bool, size: u64) -> bool {
    let is_media = base64 && (pointer.ends_with("/data") || pointer.ends_with("/blob"));
    is_media || size > VERY_LONG
}

pub(super) fn hash_of(bytes: &[u8]) -> ContentHash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_content_is_extracted_and_restored() {
        let (text, bytes) = ("ä".repeat(LARGE), BASE64_STANDARD.encode([7_u8; LARGE]));
        let body = json!({"a/b~": [{"text": text, "n": 1}, {"data": bytes}], "small": "x", "blob": {"blob": "x"}});
        let (mut light, taken) = take_out(&body);
        assert_eq!(
            light,
            json!({"a/b~": [{"text": "", "n": 1}, {"data": ""}], "small": "x", "blob": {"blob": "x"}}),
            "an empty text must replace each large value, and nothing else must change"
        );
        let places: Vec<_> = taken.iter().map(|taken| (taken.pointer.as_str(), taken.base64)).collect();
        assert_eq!(places, [("/a~1b~0/0/text", false), ("/a~1b~0/1/data", true)], "each location must be recorded");
        assert_eq!(taken[1].bytes, [7_u8; LARGE], "base64 must be decoded");
        for ExtractedContent { pointer, bytes, base64, .. } in taken {
            assert!(put_back(&mut light, &pointer, bytes, base64), "the location must exist: {pointer}");
        }
        assert_eq!(light, body, "the body must be restored exactly");
        assert!(!put_back(&mut light, "/none", vec![], false), "a missing location must be reported");
    }
}
