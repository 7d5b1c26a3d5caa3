//! The transport and protocol revision of a server's last session. Used by `host/src/owner/last_session_facts.rs`.

use domain::Millis;
use mcp_proto::Revision;
use mcp_transport::driver::DetectedTransport;
use policy::Hash;
use serde::{Deserialize, Serialize};

/// Time in milliseconds after which transport and revision are detected again. An updated server often still accepts
/// the old revision, so a newer one is only found by a new detection.
const SESSION_FACTS_LIFETIME: Millis = 7 * 24 * 60 * 60 * 1000;

/// The detected transport and the negotiated protocol revision of one server's last session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSessionFacts {
    /// Hash of the server's configuration. The data doesn't apply to other configurations, since another address or
    /// command is a different server.
    pub config: Hash,
    /// Detected transport, or `None` for a local server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<DetectedTransport>,
    /// Protocol revision that was negotiated with the server.
    pub revision: Revision,
    /// Time at which transport and revision were detected.
    #[serde(default)]
    pub found: Millis,
}

impl LastSessionFacts {
    /// Returns `true` if the transport and revision have not expired at the time `now`.
    pub fn is_valid_at(&self, now: Millis) -> bool {
        now.saturating_sub(self.found) < SESSION_FACTS_LIFETIME
    }

    /// Returns `true` if both sessions have the same configuration, transport and protocol revision, regardless of the
    /// time of detection.
    pub fn is_equal_except_time(&self, other: &Self) -> bool {
        (&self.config, self.transport, self.revision) == (&other.config, other.transport, other.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_session_facts_expire_after_a_week() {
        let found = |found| LastSessionFacts {
            config: Hash::of_bytes(b"x"),
            transport: None,
            revision: Revision::NEWEST,
            found,
        };
        let now = 2 * SESSION_FACTS_LIFETIME;
        assert!(found(now).is_valid_at(now), "new facts are valid");
        assert!(found(now - SESSION_FACTS_LIFETIME + 1).is_valid_at(now), "facts are valid for almost a week");
        assert!(!found(now - SESSION_FACTS_LIFETIME).is_valid_at(now), "facts expire after a week");
        assert!(!found(0).is_valid_at(now), "facts of unknown age are expired");
        assert!(found(1).is_equal_except_time(&found(2)), "the time of detection is not compared");
    }
}
