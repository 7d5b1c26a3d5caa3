//! How long a result may be kept (`server/utilities/caching`, 2026-07-28).

use std::time::Duration;

use serde_json::Value;

use crate::types::Map;

/// No result is kept longer, whatever the server says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A server's word on how long, and for whom, a result may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHint {
    /// How long after its arrival the result counts as fresh; zero means not at all. At most 24 hours.
    pub ttl: Duration,
    /// Who may see it.
    pub scope: CacheScope,
}

/// Who may see a kept result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// Only whoever asked: the same server with the same authorization.
    Private,
}

impl CacheHint {
    /// The hint in the body of a result. What is absent or makes no sense counts as the most careful:
    /// not kept, and private.
    pub(super) fn of(body: &Map) -> CacheHint {
        let ttl = body.get("ttlMs").and_then(Value::as_u64).map_or(Duration::ZERO, Duration::from_millis).min(LONGEST);
        let public = body.get("cacheScope").and_then(Value::as_str) == Some("public");
        CacheHint { ttl, scope: if public { CacheScope::Public } else { CacheScope::Private } }
    }
}
