//! Limits the rate of requests and token renewals that an MCP server can cause.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

/// Maximum number of requests that one authorization sends within [`BUDGET_WINDOW`].
pub(crate) const MAX_REQUESTS_PER_WINDOW: usize = 20;
/// Maximum number of token renewals within [`BUDGET_WINDOW`] that the server causes by refusing unexpired tokens. A
/// renewal takes about four requests: the refused request, two for the renewal, and the repeated request.
pub(crate) const MAX_RENEWALS_AFTER_REFUSAL_PER_WINDOW: usize = 3;
/// Length of the sliding window in which operations are counted.
const BUDGET_WINDOW: Duration = Duration::from_secs(60);

/// Rate limit over a sliding window of one minute. Contains the times at which operations, such as requests, were
/// counted.
#[derive(Debug, Default)]
pub(crate) struct RequestBudget(VecDeque<SystemTime>);

impl RequestBudget {
    /// Counts an operation and returns `true`, unless `most` operations were counted within the last minute. Times in
    /// the future, from a clock that was set back, are dropped because they would block for too long.
    pub(crate) fn try_take(&mut self, most: usize, now: SystemTime) -> bool {
        self.0.retain(|sent| now.duration_since(*sent).is_ok_and(|age| age < BUDGET_WINDOW));
        if self.0.len() >= most {
            return false;
        }
        self.0.push_back(now);
        true
    }

    /// Removes the latest counted operation, because its outcome shows that it must not count.
    pub(crate) fn refund(&mut self) {
        self.0.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_auth_requests_per_minute_are_allowed() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut budget = RequestBudget::default();
        let sent = (0..300)
            .filter(|second| budget.try_take(MAX_REQUESTS_PER_WINDOW, start + Duration::from_secs(*second / 5)))
            .count();
        assert_eq!(sent, MAX_REQUESTS_PER_WINDOW, "X51: of 300 requests within a minute, twenty must be allowed");
        assert!(
            !budget.try_take(MAX_REQUESTS_PER_WINDOW, start + Duration::from_secs(59)),
            "no request within a minute after the first"
        );
        assert!(
            budget.try_take(MAX_REQUESTS_PER_WINDOW, start + Duration::from_secs(60)),
            "a request a minute after the first must be allowed"
        );
    }

    #[test]
    fn clock_set_back_does_not_exhaust_the_request_budget() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut budget = RequestBudget::default();
        assert_eq!(
            (0..300).filter(|_| budget.try_take(MAX_REQUESTS_PER_WINDOW, start)).count(),
            MAX_REQUESTS_PER_WINDOW,
            "the limit must be reached"
        );
        let before = start - Duration::from_secs(3_600);
        let sent = (0..300).filter(|_| budget.try_take(MAX_REQUESTS_PER_WINDOW, before)).count();
        assert_eq!(sent, MAX_REQUESTS_PER_WINDOW, "X51: the same limit must apply after the clock is set back");
    }
}
