//! How often more scopes were asked for, so that a server cannot ask for ever (`basic/authorization`, step-up).

use std::time::{Duration, SystemTime};

/// The most step-ups for one resource and operation within [`MEMORY`]; with the first sign-in, a user is asked three times.
pub(crate) const MOST: u32 = 2;
/// How long they count.
const MEMORY: Duration = Duration::from_secs(600);
/// The most operations that are remembered.
const OPERATIONS: usize = 64;

/// Step-ups, by operation; the resource is that of the authorization that this belongs to.
#[derive(Debug, Default)]
pub(crate) struct StepUps(Vec<(String, u32, SystemTime)>);

impl StepUps {
    /// Whether there may be one more.
    pub(crate) fn may(&mut self, operation: &str, now: SystemTime) -> bool {
        self.0.retain(|(_, _, since)| now.duration_since(*since).is_ok_and(|age| age < MEMORY));
        match self.0.iter().find(|(known, ..)| known == operation) {
            Some((_, count, _)) => *count < MOST,
            None => self.0.len() < OPERATIONS,
        }
    }

    /// Counts one that came to its end, whichever that was. One that was broken off does not count.
    pub(crate) fn count(&mut self, operation: &str, now: SystemTime) {
        match self.0.iter_mut().find(|(known, ..)| known == operation) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((operation.to_owned(), 1, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_for_an_operation_and_no_more() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let mut step_ups = StepUps::default();
        let mut take = |operation: &str, now| {
            let may = step_ups.may(operation, now);
            if may {
                step_ups.count(operation, now);
            }
            may
        };
        let taken = (0..10).filter(|_| take("tools/call", now)).count();
        assert_eq!(taken, 2, "[auth-stepup-retry-limit] X51: two of ten");
        assert!(take("resources/read", now), "[auth-stepup-track] another operation has its own count");
        let others = (0..1000).filter(|number| take(&format!("other/{number}"), now)).count();
        assert_eq!(others, OPERATIONS - 2, "no more than the bound are remembered");
        assert!(take("tools/call", now + MEMORY), "ten minutes later it may be tried again");
    }
}
