//! Extracts large texts and bytes from items' bodies, to store each content once under its hash, and restores them.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// Length of a text, in bytes, above which the text is moved out of an item's body and stored separately.
const MIN_EXTRACTED_BYTES: usize = 4 << 10;

/// Length of a text, in bytes, above which the items that Drawbridge's page requests omit the text. The page requests
/// the text separately when it shows it.
const MIN_OMITTED_BYTES: u64 = 64 << 10;

/// Hash of a value's bytes that identifies a value stored separately from the item's body. In an encrypted history it
/// is a keyed hash.
pub(super) type ContentHash = [u8; 32];

/// A large value that was extracted from an item's body, in which an empty string replaces it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExtractedContent {
    /// Location of the extracted value in the item's body, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) hash: ContentHash,
    pub(super) bytes: Vec<u8>,
    /// Set if the value is a base64 text in the body. The decoded bytes are stored.
    pub(super) base64: bool,
}

/// Replaces the large values of an item's body with empty strings. Returns the new body and the extracted values.
pub(super) fn extract_large_values(body: &Value) -> (Value, Vec<ExtractedContent>) {
    let mut taken = Vec::new();
    let body = extract_from_value(body, &mut String::new(), &mut taken);
    (body, taken)
}

fn extract_from_value(value: &Value, pointer: &mut String, taken: &mut Vec<ExtractedContent>) -> Value {
    let place = pointer.len();
    match value {
        Value::String(text) if text.len() > MIN_EXTRACTED_BYTES => {
            let (bytes, base64) = match BASE64_STANDARD.decode(text) {
                Ok(bytes) if BASE64_STANDARD.encode(&bytes) == *text => (bytes, true),
                _ => (text.clone().into_bytes(), false),
            };
            taken.push(ExtractedContent { pointer: pointer.clone(), hash: content_hash(&bytes), bytes, base64 });
            Value::String(String::new())
        }
        Value::Array(values) => {
            let mut light_values = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                light_values.push(extract_from_value(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Array(light_values)
        }
        Value::Object(members) => {
            let mut light_members = serde_json::Map::with_capacity(members.len());
            for (name, value) in members {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                light_members.insert(name.clone(), extract_from_value(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Object(light_members)
        }
        other => other.clone(),
    }
}

/// Puts an extracted value back into an item's body, at the JSON Pointer `pointer`. Returns `false` if the body has no
/// such location.
pub(super) fn restore_extracted_value(body: &mut Value, pointer: &str, bytes: Vec<u8>, base64: bool) -> bool {
    let Some(place) = body.pointer_mut(pointer) else { return false };
    let text = if base64 { Some(BASE64_STANDARD.encode(&bytes)) } else { String::from_utf8(bytes).ok() };
    let Some(text) = text else { return false };
    *place = Value::String(text);
    true
}

/// Returns `true` if pages of a conversation omit this extracted value, because it is an image, audio, a file or a very
/// long text. Drawbridge's page requests such a value when it shows it.
pub(super) fn is_omitted_from_pages(pointer: &str, base64: bool, size: u64) -> bool {
    let is_media = base64 && (pointer.ends_with("/data") || pointer.ends_with("/blob"));
    is_media || size > MIN_OMITTED_BYTES
}

pub(super) fn content_hash(bytes: &[u8]) -> ContentHash {
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
        let (text, bytes) = ("ä".repeat(MIN_EXTRACTED_BYTES), BASE64_STANDARD.encode([7_u8; MIN_EXTRACTED_BYTES]));
        let body = json!({"a/b~": [{"text": text, "n": 1}, {"data": bytes}], "small": "x", "blob": {"blob": "x"}});
        let (mut light, taken) = extract_large_values(&body);
        assert_eq!(
            light,
            json!({"a/b~": [{"text": "", "n": 1}, {"data": ""}], "small": "x", "blob": {"blob": "x"}}),
            "an empty text must replace each large value, and nothing else must change"
        );
        let places: Vec<_> = taken.iter().map(|taken| (taken.pointer.as_str(), taken.base64)).collect();
        assert_eq!(places, [("/a~1b~0/0/text", false), ("/a~1b~0/1/data", true)], "each location must be recorded");
        assert_eq!(taken[1].bytes, [7_u8; MIN_EXTRACTED_BYTES], "base64 must be decoded");
        for ExtractedContent { pointer, bytes, base64, .. } in taken {
            assert!(restore_extracted_value(&mut light, &pointer, bytes, base64), "the location must exist: {pointer}");
        }
        assert_eq!(light, body, "the body must be restored exactly");
        assert!(!restore_extracted_value(&mut light, "/none", vec![], false), "a missing location must be reported");
    }
}
