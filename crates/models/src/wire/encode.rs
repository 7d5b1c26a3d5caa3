//! How bytes and texts stand on the wires.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::Part;

/// Bytes in base64.
pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as a `data:` URL.
pub(super) fn data_url(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", base64(bytes))
}

/// The texts of a tool's result, one to a line.
pub(super) fn joined_texts(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}

/// What was kept of a thought, if it is of this wire. Others' mean nothing to it.
pub(super) fn of_wire<'v>(opaque: Option<&'v Value>, wire: &str) -> Option<&'v Value> {
    opaque.filter(|value| value["wire"] == wire)
}

/// A number of tokens, if it is one.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count < 1 << 40)
}

/// A number of tokens as models have it.
pub(super) fn size(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
}
