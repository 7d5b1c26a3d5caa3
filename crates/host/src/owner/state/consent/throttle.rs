//! The count of refusals of one server: after so many in a row the server is muted, and what was refused unseen is counted. Caller:
//! `owner/cool_down.rs`.

use std::time::Duration;

use domain::Millis;
use tokio::time::Instant;

use crate::connection::RunId;

/// So many refusals in a row mute a server for a while.
pub(in crate::owner) const REFUSALS: u32 = 3;
/// Refusals that lie further apart are not in a row.
const IN_A_ROW: Duration = Duration::from_secs(10 * 60);

/// Refusals of what one server asks for.
#[derive(Debug, Default)]
pub(in crate::owner) struct RequestThrottle {
    /// Refusals in a row, and when the last one was.
    refusals: u32,
    last: Option<Instant>,
    /// Until when it is muted for them.
    pub(in crate::owner) muted_until: Option<Millis>,
    /// The run that the next number is about.
    run: Option<RunId>,
    /// The number of requests of that run that were refused unseen because they were too many, and of those before the user denied all.
    unseen: u64,
    before: u64,
    /// The number of requests that were refused unseen because it is muted.
    muted: u64,
}

impl RequestThrottle {
    /// The number of its requests that were refused unseen, since the user last denied all.
    pub(in crate::owner) const fn refused_unseen(&self) -> u64 {
        (self.unseen - self.before) + self.muted
    }

    /// The user approved something: the refusals before are in no row with those that follow.
    pub(in crate::owner) const fn approved(&mut self) {
        self.refusals = 0;
    }

    /// Counts a refusal by the user. Returns true if there were so many in a row that the server is to be muted.
    pub(in crate::owner) fn refused(&mut self, now: Instant) -> bool {
        if self.last.is_some_and(|last| now.duration_since(last) > IN_A_ROW) {
            self.refusals = 0;
        }
        self.refusals += 1;
        self.last = Some(now);
        self.refusals >= REFUSALS
    }

    /// The server is muted for its refusals until then. They count no more.
    pub(in crate::owner) const fn mute_until(&mut self, until: Millis) {
        self.refusals = 0;
        self.muted_until = Some(until);
    }

    /// A connection refused requests unseen; `refused` in all of this run.
    pub(in crate::owner) fn refused_by_connection(&mut self, run: RunId, refused: u64) {
        if self.run != Some(run) {
            (self.run, self.before) = (Some(run), 0);
        }
        self.unseen = refused.max(self.before);
    }

    /// Counts a request that was refused because the server is muted. Returns the number so far if it is to be written down: few are,
    /// so that such a server can't push all else out of the log.
    pub(in crate::owner) const fn refused_while_muted(&mut self) -> Option<u64> {
        self.muted += 1;
        if self.muted.is_power_of_two() { Some(self.muted) } else { None }
    }

    /// The number of requests that were refused because the server is muted, if it is not written down yet.
    pub(in crate::owner) const fn not_written_down(&self) -> Option<u64> {
        if self.muted > 0 && !self.muted.is_power_of_two() { Some(self.muted) } else { None }
    }

    /// The user has dealt with all that the server asked: the numbers begin anew. With `mute` it is muted until the user unmutes it.
    pub(in crate::owner) const fn dealt_with(&mut self, mute: bool) {
        (self.before, self.muted) = (self.unseen, 0);
        if mute {
            self.muted_until = None;
        }
    }

    /// The server may ask again.
    pub(in crate::owner) const fn unmuted(&mut self) {
        (self.refusals, self.muted_until, self.muted) = (0, None, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_in_a_row_mute_a_server() {
        let (mut throttle, begin) = (RequestThrottle::default(), Instant::now());
        assert!(!throttle.refused(begin), "one is no row");
        assert!(!throttle.refused(begin + IN_A_ROW), "nor are two");
        assert!(throttle.refused(begin + 2 * IN_A_ROW), "the third in a row mutes");
        throttle.mute_until(1);
        assert!(!throttle.refused(begin + 2 * IN_A_ROW), "the row begins anew after that");
        let later = begin + 3 * IN_A_ROW + Duration::from_secs(1);
        assert!(!throttle.refused(later), "what lies further apart is in no row");
        assert!(!throttle.refused(later), "so this is the second");
        throttle.approved();
        assert!(!throttle.refused(later), "an approval makes up for both");
    }

    #[test]
    fn the_number_refused_unseen_begins_anew_when_the_user_has_dealt_with_it() {
        let mut throttle = RequestThrottle::default();
        throttle.refused_by_connection(RunId(1), 5);
        assert_eq!(throttle.refused_unseen(), 5, "all of this run");
        throttle.dealt_with(false);
        assert_eq!(throttle.refused_unseen(), 0, "the user knows of these");
        throttle.refused_by_connection(RunId(1), 7);
        assert_eq!(throttle.refused_unseen(), 2, "the connection counts on");
        throttle.refused_by_connection(RunId(2), 1);
        assert_eq!(throttle.refused_unseen(), 1, "another run has its own count");
    }

    #[test]
    fn a_muted_server_fills_no_log() {
        let mut throttle = RequestThrottle::default();
        let written = (1..=9).filter_map(|_| throttle.refused_while_muted()).collect::<Vec<_>>();
        assert_eq!(written, [1, 2, 4, 8], "few of many are written down");
        assert_eq!(throttle.not_written_down(), Some(9), "the last number is written when it ends");
        throttle.unmuted();
        assert_eq!(throttle.not_written_down(), None, "and only once");
    }
}
