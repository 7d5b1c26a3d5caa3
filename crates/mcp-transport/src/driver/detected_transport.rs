//! Transport of a remote server that the module `http` detected. The session's owner stores it for later sessions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// MCP transport of the connection to a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DetectedTransport {
    /// Streamable HTTP, since revision 2025-03-26.
    StreamableHttp,
    /// HTTP+SSE of revision 2024-11-05.
    HttpSse,
}

impl fmt::Display for DetectedTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DetectedTransport::StreamableHttp => "Streamable HTTP",
            DetectedTransport::HttpSse => "HTTP+SSE",
        })
    }
}
