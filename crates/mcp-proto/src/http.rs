//! Headers that 2026-07-28 derives from the body of a request (`basic/transports/streamable-http`).
//! The session makes them, because it knows the body; the transport writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::revision::Revision;

/// What a message needs in the head of its POST, besides what every POST has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpHead {
    /// `MCP-Protocol-Version`; `None` before a legacy revision is agreed on, and where it has no such header.
    pub revision: Option<Revision>,
    /// `Mcp-Method`, since 2026-07-28.
    pub method: Option<String>,
    /// `Mcp-Name`, since 2026-07-28. Already encoded as a header value.
    pub name: Option<String>,
    /// Full names of `Mcp-Param-*` headers with encoded values, since 2026-07-28.
    pub params: Vec<(String, String)>,
}

const OPENS: &str = "=?base64?";
const CLOSES: &str = "?=";

/// `text` as the value of a header: as it is, or as `=?base64?...?=` if it would not survive that or
/// looks like such a value itself.
pub fn header_value(text: &str) -> String {
    let fits = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let looks_encoded = text.starts_with(OPENS) && text.ends_with(CLOSES);
    let plain = fits && !padded && !looks_encoded;
    if plain { text.to_owned() } else { format!("{OPENS}{}{CLOSES}", STANDARD.encode(text)) }
}
