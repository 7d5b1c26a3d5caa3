//! How many requests one server may make us send on its behalf.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

/// The most requests within [`WINDOW`].
pub(crate) const MOST: usize = 20;
/// Over which time they are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// The times of the last requests.
#[derive(Debug, Default)]
pub(crate) struct Budget(VecDeque<SystemTime>);

impl Budget {
    /// Takes one request out of the budget; false if none is left. A clock that was set back counts as no time passed.
    pub(crate) fn take(&mut self, now: SystemTime) -> bool {
        while self.0.front().is_some_and(|sent| now.duration_since(*sent).is_ok_and(|age| age >= WINDOW)) {
            self.0.pop_front();
        }
        if self.0.len() >= MOST {
            return false;
        }
        self.0.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_in_any_minute_and_no_more() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut budget = Budget::default();
        let sent = (0..300).filter(|second| budget.take(start + Duration::from_secs(*second / 5))).count();
        assert_eq!(sent, MOST, "X51: of 300 requests within a minute, twenty are sent");
        assert!(!budget.take(start + Duration::from_secs(59)), "not yet a minute after the first");
        assert!(budget.take(start + Duration::from_secs(60)), "a minute after the first there is room again");
    }
}
