//! Encoding of bytes, texts and numbers in requests and answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::MessagePart;

/// Encodes bytes in standard base64 with padding.
pub(super) fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Encodes bytes as a `data:` URL.
pub(super) fn encode_data_url(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", encode_base64(bytes))
}

/// Joins the texts in a tool result with line breaks.
pub(super) fn join_tool_result_texts(parts: &[MessagePart]) -> String {
    let texts =
        parts.iter().filter_map(|part| if let MessagePart::Text(text) = part { Some(text.as_str()) } else { None });
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns the provider's value stored with reasoning, if the API named `wire` created it, or else `None`. Other
/// providers do not understand the value.
pub(super) fn opaque_data_written_by_wire<'v>(opaque: Option<&'v Value>, wire: &str) -> Option<&'v Value> {
    opaque.filter(|value| value["wire"] == wire)
}

/// Parses a token count. Returns `None` if it is negative or implausibly large.
pub(super) fn parse_token_count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count < 1 << 40)
}

/// Parses a number of tokens as a size limit. Returns `None` unless it is positive.
pub(super) fn parse_positive_token_count(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
}
