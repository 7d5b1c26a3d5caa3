//! Counters of one server's denied requests. Consecutive denials by the user mute the server for a while, and requests
//! that are refused automatically are counted. Used by `host/src/owner/muting.rs`.

use std::time::Duration;

use domain::Millis;
use tokio::time::Instant;

use crate::RunId;

/// Number of consecutive denials after which a server is muted for a while.
pub const DENIALS_UNTIL_MUTE: u32 = 3;
/// Maximum interval between two denials that count as consecutive.
const MAX_CONSECUTIVE_DENIAL_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// Counters of one server's denied and automatically refused requests.
#[derive(Debug, Default)]
pub struct RequestThrottle {
    /// Number of consecutive denials by the user.
    consecutive_denials: u32,
    /// Time of the last denial by the user, or `None` if there was none.
    last_denial: Option<Instant>,
    /// End of the temporary mute, or `None` if the server is not temporarily muted.
    pub muted_until: Option<Millis>,
    /// Run of the server that `rate_limited` and `rate_limited_before_reset` refer to.
    run: Option<RunId>,
    /// Number of requests in `run` that were refused because of the rate limit.
    rate_limited: u64,
    /// Value of `rate_limited` when the user last reset the counters.
    rate_limited_before_reset: u64,
    /// Number of requests that were refused because the server was muted, since the last reset.
    refused_while_muted: u64,
}

impl RequestThrottle {
    /// Returns the number of automatically refused requests since the user last reset the counters.
    pub const fn refused_since_reset(&self) -> u64 {
        (self.rate_limited - self.rate_limited_before_reset) + self.refused_while_muted
    }

    /// Resets the number of consecutive denials after an approval.
    pub const fn on_approval(&mut self) {
        self.consecutive_denials = 0;
    }

    /// Counts a denial by the user. Returns `true` if there were enough consecutive denials to mute the server.
    pub fn count_denial(&mut self, now: Instant) -> bool {
        if self.last_denial.is_some_and(|last| now.duration_since(last) > MAX_CONSECUTIVE_DENIAL_INTERVAL) {
            self.consecutive_denials = 0;
        }
        self.consecutive_denials += 1;
        self.last_denial = Some(now);
        self.consecutive_denials >= DENIALS_UNTIL_MUTE
    }

    /// Sets the end of a temporary mute, and resets the number of consecutive denials.
    pub const fn mute_until(&mut self, until: Millis) {
        self.consecutive_denials = 0;
        self.muted_until = Some(until);
    }

    /// Updates the number of requests that the connection has refused in this run because of the rate limit.
    pub fn set_refused_by_connection(&mut self, run: RunId, refused: u64) {
        if self.run != Some(run) {
            (self.run, self.rate_limited_before_reset) = (Some(run), 0);
        }
        self.rate_limited = refused.max(self.rate_limited_before_reset);
    }

    /// Counts a request that is refused because the server is muted. Returns the count if it is a power of two, in
    /// which case it should be logged. Logging each request would let the server displace other log entries.
    pub const fn count_refusal_while_muted(&mut self) -> Option<u64> {
        self.refused_while_muted += 1;
        if self.refused_while_muted.is_power_of_two() { Some(self.refused_while_muted) } else { None }
    }

    /// Returns the count of requests that were refused during a mute if it has not been logged yet.
    pub const fn unlogged_refusals(&self) -> Option<u64> {
        if self.refused_while_muted > 0 && !self.refused_while_muted.is_power_of_two() {
            Some(self.refused_while_muted)
        } else {
            None
        }
    }

    /// Resets the counts of automatically refused requests when the user denies all pending requests of the server.
    /// With `mute` set, a temporary mute is removed, because the server is muted until the user unmutes it.
    pub const fn reset_refusal_counts(&mut self, mute: bool) {
        (self.rate_limited_before_reset, self.refused_while_muted) = (self.rate_limited, 0);
        if mute {
            self.muted_until = None;
        }
    }

    /// Resets the counters of denials and of the mute when the server is unmuted.
    pub const fn reset_on_unmute(&mut self) {
        (self.consecutive_denials, self.muted_until, self.refused_while_muted) = (0, None, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_consecutive_denials_mute_a_server() {
        let (mut throttle, begin) = (RequestThrottle::default(), Instant::now());
        assert!(!throttle.count_denial(begin), "one denial doesn't mute");
        assert!(!throttle.count_denial(begin + MAX_CONSECUTIVE_DENIAL_INTERVAL), "two denials don't mute");
        assert!(throttle.count_denial(begin + 2 * MAX_CONSECUTIVE_DENIAL_INTERVAL), "three consecutive denials mute");
        throttle.mute_until(1);
        assert!(!throttle.count_denial(begin + 2 * MAX_CONSECUTIVE_DENIAL_INTERVAL), "the counter is reset by a mute");
        let later = begin + 3 * MAX_CONSECUTIVE_DENIAL_INTERVAL + Duration::from_secs(1);
        assert!(!throttle.count_denial(later), "a long interval resets the counter");
        assert!(!throttle.count_denial(later), "the second denial after the reset doesn't mute");
        throttle.on_approval();
        assert!(!throttle.count_denial(later), "an approval resets the counter");
    }

    #[test]
    fn count_of_refused_requests_is_reset_by_the_user() {
        let mut throttle = RequestThrottle::default();
        throttle.set_refused_by_connection(RunId(1), 5);
        assert_eq!(throttle.refused_since_reset(), 5, "requests of the run are counted");
        throttle.reset_refusal_counts(false);
        assert_eq!(throttle.refused_since_reset(), 0, "the counter is reset when the user has dealt with them");
        throttle.set_refused_by_connection(RunId(1), 7);
        assert_eq!(throttle.refused_since_reset(), 2, "further requests of the run are counted");
        throttle.set_refused_by_connection(RunId(2), 1);
        assert_eq!(throttle.refused_since_reset(), 1, "another run is counted separately");
    }

    #[test]
    fn refusals_during_a_mute_are_logged_sparsely() {
        let mut throttle = RequestThrottle::default();
        let written = (1..=9).filter_map(|_| throttle.count_refusal_while_muted()).collect::<Vec<_>>();
        assert_eq!(written, [1, 2, 4, 8], "only powers of two are logged");
        assert_eq!(throttle.unlogged_refusals(), Some(9), "the final count is logged at the end of the mute");
        throttle.reset_on_unmute();
        assert_eq!(throttle.unlogged_refusals(), None, "the final count is logged once");
    }
}
