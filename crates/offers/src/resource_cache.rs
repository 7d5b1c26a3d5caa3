//! A cache of resource contents that respects the server's cache hints (`server/utilities/caching`, 2026-07-28). Used
//! by the owner in `host` when it reads resources.
//!
//! Entries are never shared between servers. An entry applies only to the same settings of the server, including its
//! headers, so that a private result is never returned to another identity. Lists are cached in a similar way
//! (`ttlMs`): a stale list is read again when it is displayed, and the old one is used until then
//! (`host/src/owner/state/registry.rs`).

use std::collections::HashMap;
use std::time::Duration;

use domain::Millis;
use mcp_proto::session::CacheHint;
use mcp_proto::types::ResourceContents;
use policy::Hash;
use ports::time::time_after;
use tokio::time::Instant;

/// Maximum number of cached results of `resources/read`.
const MAX_CACHED_RESOURCES: usize = 1_000;
/// Maximum total size of the cached results, in bytes.
const MAX_CACHED_TOTAL_BYTES: usize = 16 * 1024 * 1024;
/// Maximum size of one cached result, in bytes.
const MAX_CACHED_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// Contents of a resource, read from the server or from the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceReadResult {
    /// Contents of the resource.
    pub contents: Vec<ResourceContents>,
    /// Set if the contents were read from the cache.
    pub cached: bool,
    /// Time until which the contents are fresh, in milliseconds since 1970, or `None` if the server sent no cache hint.
    pub fresh_until: Option<Millis>,
}

/// Cache key: the server, the hash of its settings, and the URI of the resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ResourceCacheKey {
    server: String,
    identity: Hash,
    uri: String,
}

/// Cached contents of one resource, with their size, the time at which they were read, and how long they are fresh.
#[derive(Debug)]
struct CachedResource {
    contents: Vec<ResourceContents>,
    bytes: usize,
    at: Instant,
    ttl: Duration,
    fresh_until: Millis,
}

/// A bounded cache of resource contents.
#[derive(Debug, Default)]
pub struct ResourceCache {
    entries: HashMap<ResourceCacheKey, CachedResource>,
    bytes: usize,
}

impl ResourceCache {
    /// Returns the contents of a resource from the cache if they are fresh. `identity` is the hash of the server's
    /// settings.
    ///
    /// Freshness is measured with tokio's clock, since the system clock may be set back.
    pub fn get_fresh(&mut self, server: &str, identity: &Hash, uri: &str, now: Instant) -> Option<ResourceReadResult> {
        let key = ResourceCacheKey { server: server.to_owned(), identity: identity.clone(), uri: uri.to_owned() };
        let entry = self.entries.get(&key)?;
        if now.saturating_duration_since(entry.at) >= entry.ttl {
            self.remove(&key);
            return None;
        }
        Some(ResourceReadResult {
            contents: entry.contents.clone(),
            cached: true,
            fresh_until: Some(entry.fresh_until),
        })
    }

    /// Caches the contents of a resource if the server allows it. Returns the time until which they are fresh.
    ///
    /// Contents larger than 4 MiB are not cached, but the time is returned nevertheless.
    pub fn insert(
        &mut self,
        server: &str,
        identity: Hash,
        uri: &str,
        (contents, hint): (&[ResourceContents], CacheHint),
        (now, at): (Millis, Instant),
    ) -> Option<Millis> {
        let key = ResourceCacheKey { server: server.to_owned(), identity, uri: uri.to_owned() };
        self.remove(&key);
        if hint.ttl.is_zero() {
            return None;
        }
        let fresh_until = time_after(now, hint.ttl);
        let bytes = serde_json::to_string(contents).map_or(usize::MAX, |json| json.len());
        if bytes <= MAX_CACHED_RESULT_BYTES {
            self.entries
                .insert(key, CachedResource { contents: contents.to_vec(), bytes, at, ttl: hint.ttl, fresh_until });
            self.bytes += bytes;
            self.remove_oldest_beyond_limits();
        }
        Some(fresh_until)
    }

    fn remove_oldest_beyond_limits(&mut self) {
        while self.entries.len() > MAX_CACHED_RESOURCES || self.bytes > MAX_CACHED_TOTAL_BYTES {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.at).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &ResourceCacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    /// Removes a changed resource from the cache, and all entries whose URI is a prefix or an extension of its URI.
    pub fn remove_changed(&mut self, server: &str, uri: &str) {
        self.remove_matching(|key| {
            key.server == server && (key.uri.starts_with(uri) || uri.starts_with(key.uri.as_str()))
        });
    }

    /// Removes all entries of a server.
    pub fn forget_server(&mut self, server: &str) {
        self.remove_matching(|key| key.server == server);
    }

    fn remove_matching(&mut self, which: impl Fn(&ResourceCacheKey) -> bool) {
        let removed: Vec<ResourceCacheKey> = self.entries.keys().filter(|key| which(key)).cloned().collect();
        for key in removed {
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_proto::session::CacheScope;

    use super::*;

    const WALL_TIME: Millis = 1_000_000;

    fn resource_with_text(text: &str) -> Vec<ResourceContents> {
        vec![ResourceContents { uri: "a:1".into(), text: Some(text.into()), ..ResourceContents::default() }]
    }

    fn cache_hint_with_ttl(secs: u64) -> CacheHint {
        CacheHint { ttl: Duration::from_secs(secs), scope: CacheScope::Private }
    }

    fn identity_hash(text: &str) -> Hash {
        Hash::of_bytes(text.as_bytes())
    }

    #[test]
    fn cached_resource_is_fresh_for_its_ttl_and_scope() {
        let (start, mut reads) = (Instant::now(), ResourceCache::default());
        assert!(
            reads
                .insert(
                    "s",
                    identity_hash("one"),
                    "a:1",
                    (&resource_with_text("x"), cache_hint_with_ttl(10)),
                    (WALL_TIME, start)
                )
                .is_some(),
            "a cached result has a time until which it is fresh"
        );
        let after = |secs: u64| start + Duration::from_secs(secs);
        let read = reads.get_fresh("s", &identity_hash("one"), "a:1", after(9)).unwrap();
        assert_eq!(
            (read.contents, read.cached),
            (resource_with_text("x"), true),
            "[cache-ttl-positive] fresh contents are returned from the cache"
        );
        for (server, identity, uri, what) in [
            ("t", "one", "a:1", "another server"),
            ("s", "two", "a:1", "another identity"),
            ("s", "one", "a:2", "another resource"),
        ] {
            assert_eq!(
                reads.get_fresh(server, &identity_hash(identity), uri, after(1)),
                None,
                "[cache-key] [cache-private] {what} doesn't share the cached contents"
            );
        }
        assert_eq!(
            reads.get_fresh("s", &identity_hash("one"), "a:1", after(10)),
            None,
            "[cache-stale-refetch] expired contents are not returned"
        );
        assert_eq!(reads.bytes, 0, "expired contents are removed");
        reads.insert(
            "s",
            identity_hash("one"),
            "a:1",
            (&resource_with_text("x"), cache_hint_with_ttl(10)),
            (WALL_TIME, start),
        );
        assert!(
            reads.get_fresh("s", &identity_hash("one"), "a:1", after(9)).is_some(),
            "freshness doesn't depend on the system clock"
        );
        assert_eq!(
            reads.insert(
                "s",
                identity_hash("one"),
                "a:1",
                (&resource_with_text("x"), cache_hint_with_ttl(0)),
                (WALL_TIME, start)
            ),
            None,
            "a time to live of zero has no expiry"
        );
        assert_eq!(
            reads.get_fresh("s", &identity_hash("one"), "a:1", start),
            None,
            "[cache-ttl-zero] contents with a time to live of zero are not cached"
        );
    }

    #[test]
    fn change_notification_invalidates_the_cached_resource() {
        let (start, mut reads) = (Instant::now(), ResourceCache::default());
        for uri in ["dir:/a", "dir:/a/b", "dir:/c"] {
            reads.insert(
                "s",
                identity_hash("one"),
                uri,
                (&resource_with_text("x"), cache_hint_with_ttl(10)),
                (WALL_TIME, start),
            );
        }
        reads.remove_changed("s", "dir:/a/b");
        let fresh = |reads: &mut ResourceCache, uri| reads.get_fresh("s", &identity_hash("one"), uri, start).is_some();
        assert!(!fresh(&mut reads, "dir:/a/b"), "[cache-notification-invalidates] a changed resource is removed");
        assert!(!fresh(&mut reads, "dir:/a"), "a resource that contains the changed one is removed");
        assert!(fresh(&mut reads, "dir:/c"), "other resources remain cached");
        reads.forget_server("s");
        assert!(!fresh(&mut reads, "dir:/c"), "all entries of a removed server are removed");
    }

    #[test]
    fn resource_cache_is_bounded() {
        let (start, mut reads) = (Instant::now(), ResourceCache::default());
        let large = resource_with_text(&"x".repeat(3 * 1024 * 1024));
        for n in 0..20_u64 {
            reads.insert(
                "s",
                identity_hash("one"),
                &format!("a:{n}"),
                (&large, cache_hint_with_ttl(100)),
                (WALL_TIME, start + Duration::from_secs(n)),
            );
            assert!(reads.bytes <= MAX_CACHED_TOTAL_BYTES, "the total size is within the bound");
        }
        let last = start + Duration::from_secs(20);
        assert!(reads.get_fresh("s", &identity_hash("one"), "a:19", last).is_some(), "the newest entry remains cached");
        assert!(
            reads.get_fresh("s", &identity_hash("one"), "a:0", last).is_none(),
            "the oldest entry is removed first"
        );
        let huge = resource_with_text(&"x".repeat(MAX_CACHED_RESULT_BYTES + 1));
        reads.insert("s", identity_hash("one"), "a:huge", (&huge, cache_hint_with_ttl(100)), (WALL_TIME, last));
        assert!(
            reads.get_fresh("s", &identity_hash("one"), "a:huge", last).is_none(),
            "contents that are too large are not cached"
        );
    }
}
