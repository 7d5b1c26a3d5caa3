//! Hashes over a server as it is configured. Approvals, grants and pins rest on them.

use std::path::Path;

use mcp_proto::types::Tool;
use policy::Hash;
use serde_json::{Value, json};

use super::{HttpConfig, HttpKind, ServerConfig, ServerTransport, StdioConfig};

/// Over a server as it is configured. The pinned revision is no part of it: it changes how is spoken, not with whom.
pub fn config_hash(config: &ServerConfig) -> Hash {
    match &config.transport {
        ServerTransport::Stdio(config) => stdio_hash(config),
        ServerTransport::Http(config) => address_hash(config),
    }
}

/// The same for a command alone.
pub fn stdio_hash(config: &StdioConfig) -> Hash {
    let mut command = json!({
        "command": config.command,
        "args": config.args,
        "env": config.env,
        "cwd": config.cwd.as_deref().map(path_in_json),
    });
    // A command that says nothing of it was approved before there were sandboxes.
    if let Some(sandbox) = &config.sandbox {
        command["sandbox"] = sandbox.in_json();
    }
    Hash::of(&command)
}

/// Over all that decides what is connected to, and what it is told: URL, headers as they are configured, transport, and the
/// settings of the sign-in as they are shown.
pub fn address_hash(config: &HttpConfig) -> Hash {
    let mut address = json!({
        "url": config.url,
        "headers": config.headers,
        "kind": config.kind.map(HttpKind::name),
    });
    // An address that says nothing of it was approved before there was signing in.
    if let Some(auth) = &config.auth {
        address["auth"] = auth.terms_by_key().into();
    }
    Hash::of(&address)
}

/// What a standing approval of a tool rests on: its whole definition, and the command of the server that offers it.
pub fn definition_hash(config: &ServerConfig, tool: &Tool) -> Hash {
    Hash::of(&json!({ "command": config_hash(config), "definition": tool }))
}

/// A path, so that two different ones never give the same: one that is no text is written byte by byte.
pub fn path_in_json(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!({ "bytes": path.as_os_str().as_encoded_bytes() }), |text| json!(text))
}
