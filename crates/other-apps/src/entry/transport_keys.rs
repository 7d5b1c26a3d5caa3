//! The keys and values in settings files that determine the transport of a server, and related keys.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use ports::server_config::{ConfigProblem, HttpKind};

use crate::json_text::{JsonText, present_property, value_type_name as kind_of};

/// Key of the setting that fixes the MCP protocol revision for a server.
pub const PROTOCOL_REVISION_KEY: &str = "protocolVersion";

/// Key of the allow list of tools: only these are offered to models.
pub const ENABLED_TOOLS_KEY: &str = "enabledTools";

/// Key of the deny list of tools, which are not offered to models.
pub const DISABLED_TOOLS_KEY: &str = "disabledTools";

/// Key of the switch that starts a server with Drawbridge, which is on if it is missing.
pub const AUTOSTART_KEY: &str = "autostart";

/// Keys of a remote server's URL in `mcp.json`.
pub const MCP_JSON_URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Keys of a remote server's URL in other apps.
pub(crate) const URL_KEYS: [&str; 8] =
    ["url", "serverUrl", "httpUrl", "server_url", "uri", "baseUrl", "base_url", "endpoint"];

/// The transport that a server's entry specifies or implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTransport {
    /// A local program that communicates over its standard input and output.
    Stdio,
    /// A remote server. Contains the HTTP transport if the entry specifies one.
    Http(Option<HttpKind>),
    /// A transport that Drawbridge does not support, such as WebSocket.
    Unknown,
}

/// Determines the transport of an entry from its keys and values. `urls` are the keys that may contain a URL.
pub fn entry_transport(entry: &Object<'_>, urls: &[&str]) -> EntryTransport {
    let transport = entry.get_string("type").or_else(|| entry.get_string("transport"));
    let transport = transport.map(|literal| literal.value.to_lowercase());
    let is_url = || !is_local(entry) && urls.iter().any(|key| present_property(entry, key).is_some());
    match (transport.as_deref(), parse_http_kind(transport.as_deref())) {
        (Some("ws" | "websocket"), _) => EntryTransport::Unknown,
        (Some(_), Some(kind)) => EntryTransport::Http(kind),
        (Some("stdio" | "local"), _) => EntryTransport::Stdio,
        _ if is_url() => EntryTransport::Http(None),
        _ => EntryTransport::Stdio,
    }
}

/// Parses the name of an HTTP transport, in any common spelling. Returns `Some(None)` if `transport` is `None` or does
/// not say which HTTP transport is used, and `None` for other transports.
pub fn parse_http_kind(transport: Option<&str>) -> Option<Option<HttpKind>> {
    match transport.map(str::to_lowercase).as_deref() {
        None | Some("remote") => Some(None),
        Some("http" | "streamable-http" | "streamablehttp" | "streamable_http") => Some(Some(HttpKind::Http)),
        Some("sse") => Some(Some(HttpKind::Sse)),
        Some(_) => None,
    }
}

/// Keys whose value is the program of a local server.
pub(crate) const COMMAND_KEYS: [&str; 2] = ["command", "cmd"];

/// Returns `true` if an entry has a key for the program of a local server.
fn is_local(entry: &Object<'_>) -> bool {
    COMMAND_KEYS.iter().any(|key| present_property(entry, key).is_some())
}

/// Returns the string in `value`, which is a program or an argument in a server's entry, after checking that it can be
/// passed to a process.
///
/// # Errors
/// Returns [`ConfigProblem`] with its position if the value is not a string, or contains a NUL character.
pub fn command_text<'v>(
    text: &JsonText<'_>,
    value: &'v Value<'_>,
    what: &str,
    expected: &str,
) -> Result<&'v str, ConfigProblem> {
    match value {
        Value::StringLit(literal) if literal.value.contains('\0') => {
            Err(text.problem(literal.range.start, format!("{what} has a NUL character, which no program accepts")))
        }
        Value::StringLit(literal) => Ok(&literal.value),
        Value::NumberLit(literal) => {
            let message = format!("{what} must be {expected}, found a number; write \"{}\"", literal.value);
            Err(text.value_problem(value, message))
        }
        other => Err(text.problem(other.range().start, format!("{what} must be {expected}, found {}", kind_of(other)))),
    }
}
