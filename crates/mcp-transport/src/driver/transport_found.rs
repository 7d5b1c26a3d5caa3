//! The transport that a remote server was found to speak. `http` finds it out, and the owner remembers it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The transport that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TransportFound {
    /// Streamable HTTP, since 2025-03-26.
    StreamableHttp,
    /// HTTP+SSE, of 2024-11-05.
    HttpSse,
}

impl fmt::Display for TransportFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TransportFound::StreamableHttp => "Streamable HTTP",
            TransportFound::HttpSse => "HTTP+SSE",
        })
    }
}
