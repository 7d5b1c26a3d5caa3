//! Caching hints of results (`server/utilities/caching`, 2026-07-28).

use std::time::Duration;

use serde_json::Value;

use crate::types::Map;

/// Maximum time that a server's result counts as fresh, even if the server's caching hint is longer.
const MAX_CACHE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Hint of the server on how long, and for whom, a result may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHint {
    /// Time after arrival during which the result is fresh, at most 24 hours. Zero disables caching.
    pub ttl: Duration,
    /// Clients and users that may share the cached result.
    pub scope: CacheScope,
}

/// Clients among which a cached result may be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// All users and all clients.
    Public,
    /// Only the client that sent the request, with the same server and the same authorization.
    Private,
}

impl CacheHint {
    /// Reads the caching hint from the members of a result. Absent or invalid members get the most restrictive value:
    /// no caching, and private scope.
    pub(super) fn parse(body: &Map) -> CacheHint {
        let ttl =
            body.get("ttlMs").and_then(Value::as_u64).map_or(Duration::ZERO, Duration::from_millis).min(MAX_CACHE_TTL);
        let public = body.get("cacheScope").and_then(Value::as_str) == Some("public");
        CacheHint { ttl, scope: if public { CacheScope::Public } else { CacheScope::Private } }
    }
}
