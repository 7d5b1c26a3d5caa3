//! The transport and the revision that a server had when it ran last. Caller: `owner/known.rs`.

use domain::Millis;
use mcp_proto::Revision;
use mcp_transport::driver::TransportFound;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// How long it is believed. A server that has learned a newer revision meanwhile often still answers as before, and only
/// finding out anew shows it. In milliseconds.
const BELIEVED: Millis = 7 * 24 * 60 * 60 * 1000;

/// The transport and the revision of one server, as they were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::owner) struct KnownSession {
    /// Over its configuration: another address or command under the same name is another server.
    pub(in crate::owner) config: Hash,
    /// None for a local server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::owner) transport: Option<TransportFound>,
    pub(in crate::owner) revision: Revision,
    /// When.
    #[serde(default)]
    pub(in crate::owner) found: Millis,
}

impl KnownSession {
    pub(in crate::owner) fn is_believed(&self, now: Millis) -> bool {
        now.saturating_sub(self.found) < BELIEVED
    }

    pub(in crate::owner) fn says_the_same(&self, other: &Self) -> bool {
        (&self.config, self.transport, self.revision) == (&other.config, other.transport, other.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_believed_for_a_week() {
        let found =
            |found| KnownSession { config: Hash::of_bytes(b"x"), transport: None, revision: Revision::NEWEST, found };
        let now = 2 * BELIEVED;
        assert!(found(now).is_believed(now), "just found");
        assert!(found(now - BELIEVED + 1).is_believed(now), "not yet a week ago");
        assert!(!found(now - BELIEVED).is_believed(now), "a week ago");
        assert!(!found(0).is_believed(now), "at a time that nobody knows");
        assert!(found(1).says_the_same(&found(2)), "whenever it was found");
    }
}
