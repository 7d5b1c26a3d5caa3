//! Transport that the module `http` detected for a remote server, which the session's owner stores for later sessions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Transport that a remote server supports.
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
