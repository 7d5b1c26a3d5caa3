//! Grants that the user just revoked, and may restore for a short time. Used by `host/src/owner/decisions/grants.rs`.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::{Millis, StoreError};
use policy::{Grant, GrantId, Hash, ReviewState};
use ports::server_config::ServerConfig;

use crate::HostClosed;

/// Time after a revocation in which the grant can be restored, in milliseconds. The page offers the restoration for a
/// shorter time.
const GRANT_RESTORE_PERIOD: Millis = 15_000;
/// Maximum number of revoked grants that can be restored. Beyond it, the oldest one is dropped.
const MAX_RESTORABLE_GRANTS: usize = 64;

/// Error of restoring a grant. The grant stays revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreGrantError {
    /// No recently revoked grant has this identifier.
    #[error("this approval was not revoked just now")]
    NotRevoked,
    /// The grant was revoked too long ago, or has expired.
    #[error("it is too late to undo this; approve it again when it requests consent")]
    TooLate,
    /// The settings of the server, the definition of the tool, its review state or the grants for it have changed.
    #[error("the server or the tool changed since; approve it again when it requests consent")]
    Changed,
    /// The restored grant can't be written. It is effective until Drawbridge exits.
    #[error("the approval is valid until Drawbridge closes, because it can't be saved: {0}")]
    Store(#[from] StoreError),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

/// Server settings and tool definition that a grant was based on when it was revoked. The grant can be restored only
/// while both are unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantBasis {
    /// Settings of the grant's server, or `None` if the server is not configured.
    pub config: Option<Arc<ServerConfig>>,
    /// Hash and review state of the granted tool's definition. `None` for a grant that permits starts, and if the
    /// server doesn't list the tool.
    pub definition: Option<(Hash, ReviewState)>,
}

/// The grants that the user revoked recently and can restore, oldest first.
#[derive(Debug, Default)]
pub struct RevokedGrants(VecDeque<(Grant, GrantBasis, Millis)>);

impl RevokedGrants {
    /// Stores a grant that was revoked at `now`, and drops the oldest one if there are too many.
    pub fn push(&mut self, grant: Grant, basis: GrantBasis, now: Millis) {
        if self.0.len() >= MAX_RESTORABLE_GRANTS {
            self.0.pop_front();
        }
        self.0.push_back((grant, basis, now));
    }

    /// Drops the revoked grants of a removed server, since another server may get the same name.
    pub fn forget_server(&mut self, server: &str) {
        self.0.retain(|(grant, ..)| grant.server != server);
    }

    /// Removes and returns a revoked grant, with the settings and definition at its revocation.
    ///
    /// # Errors
    ///
    /// Returns [`RestoreGrantError::NotRevoked`] if it is not stored, and [`RestoreGrantError::TooLate`] if it was revoked too
    /// long ago, was revoked in the future because the clock was set back, or has expired.
    pub fn take(&mut self, id: GrantId, now: Millis) -> Result<(Grant, GrantBasis), RestoreGrantError> {
        let at = self.0.iter().position(|(grant, ..)| grant.id == id).ok_or(RestoreGrantError::NotRevoked)?;
        let (grant, basis, revoked) = self.0.remove(at).ok_or(RestoreGrantError::NotRevoked)?;
        let is_recent = now.checked_sub(revoked).is_some_and(|passed| passed <= GRANT_RESTORE_PERIOD);
        if is_recent && !grant.has_expired(now) { Ok((grant, basis)) } else { Err(RestoreGrantError::TooLate) }
    }
}

#[cfg(test)]
mod tests {
    use policy::{ApprovalScope, GrantSubject};

    use super::*;

    fn grant(id: u64, expires_at: Option<Millis>) -> Grant {
        Grant {
            id: GrantId(id),
            server: "files".to_owned(),
            subject: GrantSubject::Command,
            rests_on: Hash::of_bytes(b"command"),
            scope: ApprovalScope::Always,
            conversation: None,
            since: 0,
            expires_at,
            words: String::new(),
            last_use: None,
        }
    }

    const EMPTY_GRANT_BASIS: GrantBasis = GrantBasis { config: None, definition: None };

    fn take_revoked_grant(now: Millis, expires_at: Option<Millis>) -> Result<GrantId, RestoreGrantError> {
        let mut revoked = RevokedGrants::default();
        revoked.push(grant(7, expires_at), EMPTY_GRANT_BASIS, 1_000);
        revoked.take(GrantId(7), now).map(|(grant, _)| grant.id)
    }

    #[test]
    fn grant_can_be_restored_for_a_short_time_only() {
        assert_eq!(take_revoked_grant(1_000 + GRANT_RESTORE_PERIOD, None), Ok(GrantId(7)));
        assert_eq!(take_revoked_grant(1_001 + GRANT_RESTORE_PERIOD, None), Err(RestoreGrantError::TooLate));
        assert_eq!(take_revoked_grant(999, None), Err(RestoreGrantError::TooLate), "the clock was set back");
        assert_eq!(take_revoked_grant(1_500, Some(1_500)), Err(RestoreGrantError::TooLate), "the grant has expired");
    }

    #[test]
    fn revoked_grant_can_be_restored_once_and_the_oldest_is_dropped() {
        let mut revoked = RevokedGrants::default();
        for id in 0..=MAX_RESTORABLE_GRANTS as u64 {
            revoked.push(grant(id, None), EMPTY_GRANT_BASIS, 1_000);
        }
        assert_eq!(revoked.take(GrantId(0), 1_000), Err(RestoreGrantError::NotRevoked), "the oldest one is dropped");
        assert!(revoked.take(GrantId(1), 1_000).is_ok());
        assert_eq!(revoked.take(GrantId(1), 1_000), Err(RestoreGrantError::NotRevoked), "once");
    }
}
