//! How many requests one server may make us send on its behalf.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

/// The most requests within [`WINDOW`].
pub(crate) const MOST: usize = 20;
/// The most renewals within [`WINDOW`] because the server refused a token that should be good. Each is about four requests: the
/// refused one, two to renew, and the same again.
pub(crate) const REFUSALS: usize = 3;
/// Over which time they are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// When what is bounded was last done.
#[derive(Debug, Default)]
pub(crate) struct Budget(VecDeque<SystemTime>);

impl Budget {
    /// Whether there may be one more than within the last minute, of at most so many; if so, it counts. What was in the future,
    /// because the clock was set back since, does not: nobody would wait until that is over.
    pub(crate) fn take(&mut self, most: usize, now: SystemTime) -> bool {
        self.0.retain(|sent| now.duration_since(*sent).is_ok_and(|age| age < WINDOW));
        if self.0.len() >= most {
            return false;
        }
        self.0.push_back(now);
        true
    }

    /// The last one does not count after all.
    pub(crate) fn give_back(&mut self) {
        self.0.pop_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_in_any_minute_and_no_more() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut budget = Budget::default();
        let sent = (0..300).filter(|second| budget.take(MOST, start + Duration::from_secs(*second / 5))).count();
        assert_eq!(sent, MOST, "X51: of 300 requests within a minute, twenty are sent");
        assert!(!budget.take(MOST, start + Duration::from_secs(59)), "not yet a minute after the first");
        assert!(budget.take(MOST, start + Duration::from_secs(60)), "a minute after the first there is room again");
    }

    #[test]
    fn a_clock_that_is_set_back_blocks_nothing() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut budget = Budget::default();
        assert_eq!((0..300).filter(|_| budget.take(MOST, start)).count(), MOST, "all of it is taken");
        let before = start - Duration::from_secs(3_600);
        let sent = (0..300).filter(|_| budget.take(MOST, before)).count();
        assert_eq!(sent, MOST, "X51: an hour back there is room, and no more of it than at any time");
    }
}
