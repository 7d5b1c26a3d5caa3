//! HTTP headers that revision 2026-07-28 derives from the body of a request (`basic/transports/streamable-http`). The
//! session builds them because it has the body, and the transport in `mcp-transport` writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::revision::Revision;

/// HTTP headers of a POST request whose values depend on the JSON-RPC message in its body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpPostHeaders {
    /// Protocol revision to send in the `MCP-Protocol-Version` header, or `None` to send no such header.
    pub revision: Option<Revision>,
    /// Value of the `Mcp-Method` header, since 2026-07-28.
    pub method: Option<String>,
    /// Value of the `Mcp-Name` header, since 2026-07-28. Already encoded by [`encode_header_value`].
    pub name: Option<String>,
    /// Name and encoded value of each `Mcp-Param-*` header, which repeats an argument of a tool call, since 2026-07-28.
    pub params: Vec<(String, String)>,
}

const BASE64_HEADER_VALUE_PREFIX: &str = "=?base64?";
const BASE64_HEADER_VALUE_SUFFIX: &str = "?=";

/// Encodes `text` as the value of an HTTP header. Returns printable ASCII unchanged. Returns `=?base64?...?=` if the
/// text has other characters, begins or ends with white space, or looks encoded already.
///
/// # Examples
///
/// ```
/// use mcp_proto::encode_header_value;
///
/// assert_eq!(encode_header_value("read_file"), "read_file");
/// assert_eq!(encode_header_value("Grüße"), "=?base64?R3LDvMOfZQ==?=");
/// // Text that looks encoded is encoded again, so that decoding restores it.
/// assert_eq!(encode_header_value("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
/// ```
pub fn encode_header_value(text: &str) -> String {
    let fits = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let looks_encoded = text.starts_with(BASE64_HEADER_VALUE_PREFIX) && text.ends_with(BASE64_HEADER_VALUE_SUFFIX);
    let plain = fits && !padded && !looks_encoded;
    if plain {
        text.to_owned()
    } else {
        format!("{BASE64_HEADER_VALUE_PREFIX}{}{BASE64_HEADER_VALUE_SUFFIX}", STANDARD.encode(text))
    }
}
