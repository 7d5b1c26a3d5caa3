//! The transport and the revision of a server's last session. Used by `host/src/owner/known_sessions.rs`.

use domain::Millis;
use mcp_proto::Revision;
use mcp_transport::driver::DetectedTransport;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// Lifetime of the facts, in milliseconds. An updated server often still accepts its old revision, so only a new
/// detection discovers the newer one.
const BELIEVED: Millis = 7 * 24 * 60 * 60 * 1000;

/// The detected transport and revision of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSession {
    /// Hash of the configuration: another address or command under the same name is a different server.
    pub config: Hash,
    /// Detected transport, or `None` for a local server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<DetectedTransport>,
    /// Negotiated revision of the protocol.
    pub revision: Revision,
    /// Time of the detection.
    #[serde(default)]
    pub found: Millis,
}

impl KnownSession {
    /// Returns `true` if the facts are not expired at this time.
    pub fn is_believed(&self, now: Millis) -> bool {
        now.saturating_sub(self.found) < BELIEVED
    }

    /// Returns `true` if both have the same configuration, transport and revision, whenever they were found.
    pub fn says_the_same(&self, other: &Self) -> bool {
        (&self.config, self.transport, self.revision) == (&other.config, other.transport, other.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_session_facts_expire_after_a_week() {
        let found =
            |found| KnownSession { config: Hash::of_bytes(b"x"), transport: None, revision: Revision::NEWEST, found };
        let now = 2 * BELIEVED;
        assert!(found(now).is_believed(now), "new facts are valid");
        assert!(found(now - BELIEVED + 1).is_believed(now), "facts are valid for almost a week");
        assert!(!found(now - BELIEVED).is_believed(now), "facts expire after a week");
        assert!(!found(0).is_believed(now), "facts of unknown age are expired");
        assert!(found(1).says_the_same(&found(2)), "the time of detection is not compared");
    }
}
