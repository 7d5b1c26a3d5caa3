//! Hashes of a server's configuration. Approvals, grants and pins are bound to them.

use std::path::Path;

use mcp_proto::types::Tool;
use policy::Hash;
use serde_json::{Value, json};

use super::{HttpConfig, HttpKind, ServerConfig, ServerTransport, StdioConfig};

/// Hashes the configuration of a server. The required protocol revision is not included, because it doesn't change
/// which server is contacted. The filter of tools for models is not included either: it changes neither the server nor
/// what is sent to it. Nor is the setting that starts the server with Drawbridge.
pub fn config_hash(config: &ServerConfig) -> Hash {
    match &config.transport {
        ServerTransport::Stdio(config) => stdio_hash(config),
        ServerTransport::Http(config) => address_hash(config),
    }
}

/// Hashes the command of a local server, with its environment, working directory and sandbox.
pub fn stdio_hash(config: &StdioConfig) -> Hash {
    let mut command = json!({
        "command": config.command,
        "args": config.args,
        "env": config.env,
        "cwd": config.cwd.as_deref().map(path_to_json),
    });
    // A missing sandbox is omitted, because hashes of older approvals don't include it.
    if let Some(sandbox) = &config.sandbox {
        command["sandbox"] = sandbox.to_json();
    }
    Hash::of_json(&command)
}

/// Hashes the settings of a remote server that determine which server is contacted and what is sent to it: URL,
/// configured headers, transport, and sign-in settings.
pub fn address_hash(config: &HttpConfig) -> Hash {
    let mut address = json!({
        "url": config.url,
        "headers": config.headers,
        "kind": config.kind.map(HttpKind::name),
    });
    // Missing sign-in settings are omitted, because hashes of older approvals don't include them.
    if let Some(auth) = &config.auth {
        address["auth"] = auth.settings_by_key().into();
    }
    Hash::of_json(&address)
}

/// Hashes the whole definition of a tool together with the configuration of its server. Grants for tools are bound to
/// this hash, so a tool of another server or command requires a new grant. The hash that a review refers to covers the
/// definition alone, and is the `definition_hash` of a consent request for the page.
pub fn grant_hash(config: &ServerConfig, tool: &Tool) -> Hash {
    Hash::of_json(&json!({ "command": config_hash(config), "definition": tool }))
}

/// Converts a path to JSON so that different paths have different values: a path that is not UTF-8 is written as bytes.
pub fn path_to_json(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!({ "bytes": path.as_os_str().as_encoded_bytes() }), |text| json!(text))
}
