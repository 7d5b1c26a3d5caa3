//! Contents of resources, for as long as their server lets them be kept (`server/utilities/caching`, 2026-07-28). Caller: reads in the
//! owner of `host`.
//!
//! Nothing is shared between servers, and what an address says holds for exactly its headers: so a private result never
//! reaches another identity. Lists are kept in the same way (`ttlMs`): those that are no longer fresh are read again when somebody looks at them,
//! and the old ones serve until then (`host/src/owner/state/registry.rs`).

use std::collections::HashMap;
use std::time::Duration;

use domain::Millis;
use mcp_proto::session::CacheHint;
use mcp_proto::types::ResourceContents;
use policy::Hash;
use ports::time::after;
use tokio::time::Instant;

/// The most results that are kept.
const MOST: usize = 1_000;
/// The most bytes that are kept in all.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes that are kept of one.
const LARGEST: usize = 4 * 1024 * 1024;

/// A resource that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// Its parts.
    pub contents: Vec<ResourceContents>,
    /// Whether this was read before and kept.
    pub cached: bool,
    /// Until when it counts as fresh, if the server says so.
    pub fresh_until: Option<Millis>,
}

/// Whose words they are: the server, and over how it is set up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    server: String,
    identity: Hash,
    uri: String,
}

#[derive(Debug)]
struct Kept {
    contents: Vec<ResourceContents>,
    bytes: usize,
    at: Instant,
    ttl: Duration,
    fresh_until: Millis,
}

/// What is kept.
#[derive(Debug, Default)]
pub struct Reads {
    kept: HashMap<Key, Kept>,
    bytes: usize,
}

impl Reads {
    /// What a resource said, if that is still fresh. The span is measured by tokio's clock: the time of day may be set back.
    pub fn fresh(&mut self, server: &str, identity: &Hash, uri: &str, now: Instant) -> Option<Read> {
        let key = Key { server: server.to_owned(), identity: identity.clone(), uri: uri.to_owned() };
        let kept = self.kept.get(&key)?;
        if now.saturating_duration_since(kept.at) >= kept.ttl {
            self.remove(&key);
            return None;
        }
        Some(Read { contents: kept.contents.clone(), cached: true, fresh_until: Some(kept.fresh_until) })
    }

    /// Keeps what a resource said, if the server allows it. Gives until when it counts as fresh.
    pub fn keep(
        &mut self,
        server: &str,
        identity: Hash,
        uri: &str,
        (contents, hint): (&[ResourceContents], CacheHint),
        (now, at): (Millis, Instant),
    ) -> Option<Millis> {
        let key = Key { server: server.to_owned(), identity, uri: uri.to_owned() };
        self.remove(&key);
        if hint.ttl.is_zero() {
            return None;
        }
        let fresh_until = after(now, hint.ttl);
        let bytes = serde_json::to_string(contents).map_or(usize::MAX, |json| json.len());
        if bytes <= LARGEST {
            self.kept.insert(key, Kept { contents: contents.to_vec(), bytes, at, ttl: hint.ttl, fresh_until });
            self.bytes += bytes;
            self.make_room();
        }
        Some(fresh_until)
    }

    fn make_room(&mut self) {
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.at).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { return };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(kept) = self.kept.remove(key) {
            self.bytes -= kept.bytes;
        }
    }

    /// A resource changed: it, and what lies below it, is no longer fresh.
    pub fn changed(&mut self, server: &str, uri: &str) {
        self.forget(|key| key.server == server && (key.uri.starts_with(uri) || uri.starts_with(key.uri.as_str())));
    }

    /// Forgets all that a server said.
    pub fn forget_server(&mut self, server: &str) {
        self.forget(|key| key.server == server);
    }

    fn forget(&mut self, which: impl Fn(&Key) -> bool) {
        let gone: Vec<Key> = self.kept.keys().filter(|key| which(key)).cloned().collect();
        for key in gone {
            self.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_proto::session::CacheScope;

    use super::*;

    const WALL: Millis = 1_000_000;

    fn text(text: &str) -> Vec<ResourceContents> {
        vec![ResourceContents { uri: "a:1".into(), text: Some(text.into()), ..ResourceContents::default() }]
    }

    fn hint(secs: u64) -> CacheHint {
        CacheHint { ttl: Duration::from_secs(secs), scope: CacheScope::Private }
    }

    fn id(text: &str) -> Hash {
        Hash::of_bytes(text.as_bytes())
    }

    #[test]
    fn a_result_is_fresh_for_its_time_and_for_whom_it_was_meant() {
        let (start, mut reads) = (Instant::now(), Reads::default());
        assert!(
            reads.keep("s", id("one"), "a:1", (&text("x"), hint(10)), (WALL, start)).is_some(),
            "it is fresh for a while"
        );
        let after = |secs: u64| start + Duration::from_secs(secs);
        let read = reads.fresh("s", &id("one"), "a:1", after(9)).unwrap();
        assert_eq!(
            (read.contents, read.cached),
            (text("x"), true),
            "[cache-ttl-positive] it need not be asked for again"
        );
        for (server, identity, uri, what) in [
            ("t", "one", "a:1", "another server"),
            ("s", "two", "a:1", "another identity"),
            ("s", "one", "a:2", "another resource"),
        ] {
            assert_eq!(
                reads.fresh(server, &id(identity), uri, after(1)),
                None,
                "[cache-key] [cache-private] {what} has nothing of it"
            );
        }
        assert_eq!(
            reads.fresh("s", &id("one"), "a:1", after(10)),
            None,
            "[cache-stale-refetch] it is not used beyond its time"
        );
        assert_eq!(reads.bytes, 0, "and then it is gone");
        reads.keep("s", id("one"), "a:1", (&text("x"), hint(10)), (WALL, start));
        assert!(reads.fresh("s", &id("one"), "a:1", after(9)).is_some(), "whatever the time of day is");
        assert_eq!(
            reads.keep("s", id("one"), "a:1", (&text("x"), hint(0)), (WALL, start)),
            None,
            "no time means not to keep it"
        );
        assert_eq!(reads.fresh("s", &id("one"), "a:1", start), None, "[cache-ttl-zero] so it is not kept");
    }

    #[test]
    fn a_change_ends_freshness() {
        let (start, mut reads) = (Instant::now(), Reads::default());
        for uri in ["dir:/a", "dir:/a/b", "dir:/c"] {
            reads.keep("s", id("one"), uri, (&text("x"), hint(10)), (WALL, start));
        }
        reads.changed("s", "dir:/a/b");
        let fresh = |reads: &mut Reads, uri| reads.fresh("s", &id("one"), uri, start).is_some();
        assert!(!fresh(&mut reads, "dir:/a/b"), "[cache-notification-invalidates] what changed is asked for again");
        assert!(!fresh(&mut reads, "dir:/a"), "and so is what it lies in");
        assert!(fresh(&mut reads, "dir:/c"), "the others stay");
        reads.forget_server("s");
        assert!(!fresh(&mut reads, "dir:/c"), "nothing stays of a server that is gone");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (start, mut reads) = (Instant::now(), Reads::default());
        let large = text(&"x".repeat(3 * 1024 * 1024));
        for n in 0..20_u64 {
            reads.keep("s", id("one"), &format!("a:{n}"), (&large, hint(100)), (WALL, start + Duration::from_secs(n)));
            assert!(reads.bytes <= MOST_BYTES, "the bytes of all stay within the bound");
        }
        let last = start + Duration::from_secs(20);
        assert!(reads.fresh("s", &id("one"), "a:19", last).is_some(), "the latest is kept");
        assert!(reads.fresh("s", &id("one"), "a:0", last).is_none(), "the oldest went first");
        let huge = text(&"x".repeat(LARGEST + 1));
        reads.keep("s", id("one"), "a:huge", (&huge, hint(100)), (WALL, last));
        assert!(reads.fresh("s", &id("one"), "a:huge", last).is_none(), "one that is too large is not kept");
    }
}
