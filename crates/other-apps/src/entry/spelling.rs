//! The words that settings files have for one thing: how a server is reached.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;
use ports::server_config::{ConfigProblem, HttpKind};

use crate::json_text::{JsonText, given, kind as kind_of};

/// The key of the revision that is to be spoken and no other.
pub const PIN: &str = "protocolVersion";

/// Where an entry of `mcp.json` has the URL of a remote server.
pub const OWN_URLS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Where other apps have it.
pub(crate) const URLS: [&str; 8] =
    ["url", "serverUrl", "httpUrl", "server_url", "uri", "baseUrl", "base_url", "endpoint"];

/// How an entry is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// By starting a program.
    Stdio,
    /// By URL, with this transport if one is named.
    Http(Option<HttpKind>),
    /// In a way that is not known here.
    Unknown,
}

/// How an entry says that it is reached. `urls` are the keys that a URL may stand under.
pub fn reached(entry: &Object<'_>, urls: &[&str]) -> Reached {
    let transport = entry.get_string("type").or_else(|| entry.get_string("transport"));
    let transport = transport.map(|literal| literal.value.to_lowercase());
    let is_url = || !is_local(entry) && urls.iter().any(|key| given(entry, key).is_some());
    match (transport.as_deref(), kind_named(transport.as_deref())) {
        (Some("ws" | "websocket"), _) => Reached::Unknown,
        (Some(_), Some(kind)) => Reached::Http(kind),
        (Some("stdio" | "local"), _) => Reached::Stdio,
        _ if is_url() => Reached::Http(None),
        _ => Reached::Stdio,
    }
}

/// The transport over HTTP that a word means, in the words of many programs: none to find out. No word means the same.
/// Nothing if it means none over HTTP.
pub fn kind_named(transport: Option<&str>) -> Option<Option<HttpKind>> {
    match transport.map(str::to_lowercase).as_deref() {
        None | Some("remote") => Some(None),
        Some("http" | "streamable-http" | "streamablehttp" | "streamable_http") => Some(Some(HttpKind::Http)),
        Some("sse") => Some(Some(HttpKind::Sse)),
        Some(_) => None,
    }
}

/// Where apps have the program of a local server.
pub(crate) const COMMANDS: [&str; 2] = ["command", "cmd"];

/// True if an entry names a program.
fn is_local(entry: &Object<'_>) -> bool {
    COMMANDS.iter().any(|key| given(entry, key).is_some())
}

/// A text that can be given to a program.
///
/// # Errors
/// With its place, if the value is no text, or has a NUL character.
pub fn words<'v>(
    text: &JsonText<'_>,
    value: &'v Value<'_>,
    what: &str,
    expected: &str,
) -> Result<&'v str, ConfigProblem> {
    match value {
        Value::StringLit(literal) if literal.value.contains('\0') => {
            Err(text.problem(literal.range.start, format!("{what} has a NUL character, which no program takes")))
        }
        Value::StringLit(literal) => Ok(&literal.value),
        Value::NumberLit(literal) => {
            let message = format!("{what} must be {expected}, found a number; write \"{}\"", literal.value);
            Err(text.problem_at(value, message))
        }
        other => Err(text.problem(other.range().start, format!("{what} must be {expected}, found {}", kind_of(other)))),
    }
}
