//! Large texts and bytes are taken out of bodies, to be kept once by their hash, and put back.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// A text beyond this is taken out, in bytes.
const LARGE: usize = 4 << 10;

/// A text beyond this comes only when it is asked for, in bytes.
const VERY_LONG: u64 = 64 << 10;

/// The hash by which bytes are kept.
pub(super) type Hash = [u8; 32];

/// What was taken out of a body, where an empty text is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TakenOut {
    /// Its place, as a JSON Pointer.
    pub(super) pointer: String,
    pub(super) hash: Hash,
    pub(super) bytes: Vec<u8>,
    /// Whether the bytes stood there in base64.
    pub(super) base64: bool,
}

/// A body without what is large in it, and that.
pub(super) fn take_out(body: &Value) -> (Value, Vec<TakenOut>) {
    let mut taken = Vec::new();
    let body = light(body, &mut String::new(), &mut taken);
    (body, taken)
}

fn light(value: &Value, pointer: &mut String, taken: &mut Vec<TakenOut>) -> Value {
    let place = pointer.len();
    match value {
        Value::String(text) if text.len() > LARGE => {
            let (bytes, base64) = match BASE64_STANDARD.decode(text) {
                Ok(bytes) if BASE64_STANDARD.encode(&bytes) == *text => (bytes, true),
                _ => (text.clone().into_bytes(), false),
            };
            taken.push(TakenOut { pointer: pointer.clone(), hash: hash_of(&bytes), bytes, base64 });
            Value::String(String::new())
        }
        Value::Array(values) => {
            let mut light_values = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&at.to_string());
                light_values.push(light(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Array(light_values)
        }
        Value::Object(members) => {
            let mut light_members = serde_json::Map::with_capacity(members.len());
            for (name, value) in members {
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                light_members.insert(name.clone(), light(value, pointer, taken));
                pointer.truncate(place);
            }
            Value::Object(light_members)
        }
        other => other.clone(),
    }
}

/// Puts back what was taken out. Whether there is such a place.
pub(super) fn put_back(body: &mut Value, pointer: &str, bytes: Vec<u8>, base64: bool) -> bool {
    let Some(place) = body.pointer_mut(pointer) else { return false };
    let text = if base64 { Some(BASE64_STANDARD.encode(&bytes)) } else { String::from_utf8(bytes).ok() };
    let Some(text) = text else { return false };
    *place = Value::String(text);
    true
}

/// Whether pages of items come without what stood there, as the page asks for it when it shows it: bytes of a picture, a sound or
/// a file, and very long texts.
pub(super) fn is_left_out(pointer: &str, base64: bool, size: u64) -> bool {
    let is_media = base64 && (pointer.ends_with("/data") || pointer.ends_with("/blob"));
    is_media || size > VERY_LONG
}

pub(super) fn hash_of(bytes: &[u8]) -> Hash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_large_goes_out_and_comes_back() {
        let (text, bytes) = ("ä".repeat(LARGE), BASE64_STANDARD.encode([7_u8; LARGE]));
        let body = json!({"a/b~": [{"text": text, "n": 1}, {"data": bytes}], "small": "x", "blob": {"blob": "x"}});
        let (mut light, taken) = take_out(&body);
        assert_eq!(
            light,
            json!({"a/b~": [{"text": "", "n": 1}, {"data": ""}], "small": "x", "blob": {"blob": "x"}}),
            "an empty text is left where something large stood, and nothing else changes"
        );
        let places: Vec<_> = taken.iter().map(|taken| (taken.pointer.as_str(), taken.base64)).collect();
        assert_eq!(places, [("/a~1b~0/0/text", false), ("/a~1b~0/1/data", true)], "each place is known");
        assert_eq!(taken[1].bytes, [7_u8; LARGE], "base64 is kept as the bytes it stands for");
        for TakenOut { pointer, bytes, base64, .. } in taken {
            assert!(put_back(&mut light, &pointer, bytes, base64), "its place is there: {pointer}");
        }
        assert_eq!(light, body, "the whole comes back exactly");
        assert!(!put_back(&mut light, "/none", vec![], false), "no place, no text");
    }
}
